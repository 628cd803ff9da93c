/* status_line.c: "[120/800, 1 failed, 40/175 programs] about 12 s left:
 * net_test 1.2 s", while programs run side by side.
 *
 * A program that has the terminal to itself paints its own line.
 */
#include <inttypes.h>
#include <unistd.h>

#include "harness/criterion/watch/jobs.h"
#include "harness/criterion/watch/progress.h"
#include "harness/criterion/watch/supervisor.h"
#include "harness/machine/now.h"
#include "harness/run/model/model.h"
#include "run.h"

static bool shown;

void runners_status_begin(const struct schedule *schedule)
{
    shown = !schedule->in_turn && test_log_progress_suits(schedule->options);
}

bool runners_status_shown(void)
{
    return shown;
}

/* The time left for a running program, and for a waiting one. */
static uint64_t time_left(const struct program *program, uint64_t now)
{
    uint64_t spent = 0;

    if (program->state == PROGRAM_RUNNING && now > program->started)
        spent = (now - program->started) * program->jobs;
    return program->time > spent ? program->time - spent : 0;
}

static void add_running(struct trace_text *text,
                        const struct programs *programs, uint64_t now)
{
    const char *between = ": ";

    for (size_t i = 0; i < programs->count; i++) {
        const struct program *program = &programs->all[i];

        if (program->state != PROGRAM_RUNNING)
            continue;
        trace_text_printf(text, "%s%s %.1f s", between, program->name,
                          (double)(now - program->started) / 1e9);
        between = ", ";
    }
}

void runners_status_text(struct trace_text *text,
                         const struct schedule *schedule, uint64_t now)
{
    const struct programs *programs = schedule->programs;
    size_t done = schedule->run->count, all = done, ended = 0, unknown = 0;
    size_t failed = test_log_run_sums(schedule->run).failed;
    uint64_t left = 0;

    for (size_t i = 0; i < programs->count; i++) {
        const struct program *program = &programs->all[i];
        bool runs = program->state == PROGRAM_RUNNING;
        size_t sent = runs ? program->child.handover.tests : 0;

        if (!runs && program->state != PROGRAM_WAITING) {
            ended++;
            continue;
        }
        done += sent;
        all += program->tests > sent ? program->tests : sent;
        unknown += !program->tests;
        left += time_left(program, now);
    }
    trace_text_printf(text, "[%zu/%zu", done, all);
    if (failed)
        trace_text_printf(text, ", %zu failed", failed);
    trace_text_printf(text, ", %zu/%zu programs]", ended, programs->count);
    left /= schedule->limit;
    if (left && unknown * 2 < programs->count)
        trace_text_printf(text, " about %" PRIu64 " s left",
                          (left + 999999999) / 1000000000);
    add_running(text, programs, now);
}

/* Whether a program has the terminal. */
static bool runs_alone(const struct programs *programs)
{
    for (size_t i = 0; i < programs->count; i++)
        if (programs->all[i].state == PROGRAM_RUNNING &&
            programs->all[i].serial)
            return true;
    return false;
}

void runners_status_paint(const struct schedule *schedule)
{
    struct trace_text text = {0};

    if (!shown || runs_alone(schedule->programs))
        return;
    runners_status_text(&text, schedule, test_log_now());
    test_log_progress_put(&text);
    trace_text_free(&text);
}

void runners_status_erase(void)
{
    test_log_progress_erase();
}

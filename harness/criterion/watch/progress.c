/* progress.c: the status line, "[12/40, 1 failed] 3 s left: suite/test 1.2 s".
 *
 * It is shown only on a terminal, and only if the output of all tests is
 * captured: the line must be erased before anything else is printed.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "harness/criterion/watch/supervisor.h"
#include "harness/machine/notice.h"
#include "harness/options/options.h"
#include "jobs.h"
#include "progress.h"

static struct test_log_others others;
static bool shown;   /* there is a status line */
static bool painted; /* and it is on the terminal */

/* ---- The line ---- */

/* Estimates the time that is left from the durations of the last run; 0 if most
 * of them are unknown. */
static uint64_t time_left(const struct test_log_runner *runner,
                          const struct test_log_others *more, uint64_t now)
{
    size_t jobs = runner->options->jobs, open = 0, known = 0;
    uint64_t left = more->time;

    for (size_t i = 0; i < runner->job_count; i++) {
        const struct test_log_job *job = &runner->jobs[i];
        const struct test_log_past *past;
        uint64_t spent = job->started ? now - job->started : 0;

        if (job->result->outcome != TEST_LOG_OUTCOME_NONE)
            continue;
        open++;
        past = test_log_history_of(runner->history, job->result->program,
                                   test_log_name(job->result));
        if (!past || !past->duration)
            continue;
        known++;
        left += past->duration > spent ? past->duration - spent : 0;
    }
    if (known * 2 < open || (!known && !more->time))
        return 0;
    return left / (jobs ? jobs : (size_t)sysconf(_SC_NPROCESSORS_ONLN));
}

static void add_running(struct trace_text *text,
                        const struct test_log_runner *runner, uint64_t now)
{
    const char *between = ": ";

    for (size_t i = 0; i < runner->job_count; i++) {
        const struct test_log_job *job = &runner->jobs[i];

        if (!test_log_job_runs(job))
            continue;
        trace_text_printf(text, "%s%s %.1f s", between,
                          test_log_name(job->result),
                          (double)(now - job->started) / 1e9);
        between = ", ";
    }
}

static void cut(struct trace_text *text, size_t size)
{
    if (!text->data || text->size <= size)
        return;
    text->size = size;
    text->data[size] = '\0';
}

void test_log_progress_line(struct trace_text *text,
                            const struct test_log_runner *runner,
                            const struct test_log_others *more, uint64_t now,
                            size_t width)
{
    unsigned long long done = more->done, failed = more->failed;
    uint64_t left = time_left(runner, more, now);
    size_t from = text->size;

    for (size_t i = 0; i < runner->job_count; i++) {
        done += runner->run->results[i].outcome != TEST_LOG_OUTCOME_NONE;
        failed += test_log_failed(&runner->run->results[i]);
    }
    trace_text_printf(text, "[%llu/%llu", done,
                      more->done + runner->job_count + more->to_come);
    if (failed)
        trace_text_printf(text, ", %llu failed", failed);
    if (more->count > 1)
        trace_text_printf(text, ", program %u/%u", more->number, more->count);
    trace_text_string(text, "]");
    if (left)
        trace_text_printf(text, " about %" PRIu64 " s left",
                          (left + 999999999) / 1000000000);
    add_running(text, runner, now);
    cut(text, from + width);
}

/* ---- The terminal ---- */

static size_t columns(void)
{
    struct winsize size = {.ws_col = 0};
    const char *given = test_log_variable("COLUMNS");

    if (!ioctl(fileno(test_log_stream()), TIOCGWINSZ, &size) && size.ws_col > 1)
        return size.ws_col - 1u;
    return given && atoi(given) > 1 ? (size_t)atoi(given) - 1 : 79;
}

bool test_log_progress_suits(const struct test_log_options *options)
{
    const char *term = test_log_variable("TERM");

    return isatty(fileno(test_log_stream())) && term && strcmp(term, "dumb") &&
           !test_log_variable("CI") && !options->output.quiet &&
           !options->output.live;
}

static bool captures_all(const struct test_log_runner *runner)
{
    for (size_t i = 0; i < runner->job_count; i++)
        if (!runner->jobs[i].result->folder && !runner->jobs[i].left_out)
            return false;
    return runner->job_count != 0;
}

void test_log_progress_begin(const struct test_log_runner *runner)
{
    others = test_log_others_given();
    shown = test_log_progress_suits(runner->options) && captures_all(runner);
}

bool test_log_progress_shown(void)
{
    return shown;
}

static const char erase[] = "\r\033[K"; /* the row */

static void put(const char *text, size_t size)
{
    fflush(test_log_stream());
    /* A status line that cannot be written is no loss. */
    if (write(fileno(test_log_stream()), text, size) < 0)
        shown = false;
}

void test_log_progress_put(const struct trace_text *line)
{
    struct trace_text text = {0};

    trace_text_string(&text, erase);
    trace_text_add(&text, line->data, line->size);
    cut(&text, strlen(erase) + columns());
    if (!text.failed)
        put(text.data, text.size);
    painted = true;
    trace_text_free(&text);
}

void test_log_progress_paint(const struct test_log_runner *runner, uint64_t now)
{
    struct trace_text text = {0};

    if (!shown)
        return;
    trace_text_string(&text, erase);
    test_log_progress_line(&text, runner, &others, now, columns());
    if (!text.failed)
        put(text.data, text.size);
    painted = true;
    trace_text_free(&text);
}

void test_log_progress_erase(void)
{
    if (painted)
        put(erase, sizeof(erase) - 1);
    painted = false;
}

void test_log_progress_end(void)
{
    test_log_progress_erase();
    shown = false;
}

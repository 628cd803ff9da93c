/* progress.c: the status line, "[12/40, 1 failed] 3 s left: suite/test 1.2 s".
 *
 * It is shown on a terminal only, and only if all that tests print is captured:
 * whatever else is printed must find it gone.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "harness/watch.h"

#define VARIABLE "TESTLOG_OTHERS"

static const struct test_log_run *run; /* NULL: there is no status line */
static const struct test_log_history *last;
static struct test_log_others others;
static size_t jobs;
static bool painted;

/* ---- Other programs of the same run ---- */

void test_log_others_export(const struct test_log_others *given)
{
    char text[128];

    snprintf(text, sizeof(text), "%llu %llu %llu %llu %u %u", given->done,
             given->failed, given->to_come, given->time, given->number,
             given->count);
    setenv(VARIABLE, text, 1);
}

static void import_others(void)
{
    const char *text = test_log_variable(VARIABLE);

    others = (struct test_log_others){.count = 0};
    if (text && sscanf(text, "%llu %llu %llu %llu %u %u", &others.done,
                       &others.failed, &others.to_come, &others.time,
                       &others.number, &others.count) != 6)
        others = (struct test_log_others){.count = 0};
    unsetenv(VARIABLE);
}

/* ---- The line ---- */

/* What is left, from how long tests took last time; 0 if that is not known of
 * most of them. */
static uint64_t time_left(const struct test_log_run *of,
                          const struct test_log_others *more,
                          const struct test_log_history *past, size_t at_once,
                          uint64_t now)
{
    uint64_t left = more->time;
    size_t open = 0, known = 0;

    for (size_t i = 0; i < of->count; i++) {
        const struct test_log_result *result = &of->results[i];
        const struct test_log_past *before;
        uint64_t spent = result->started ? now - result->started : 0;

        if (result->outcome != TEST_LOG_OUTCOME_NONE)
            continue;
        open++;
        before =
            test_log_history_of(past, result->program, test_log_name(result));
        if (!before || !before->duration)
            continue;
        known++;
        left += before->duration > spent ? before->duration - spent : 0;
    }
    if (known * 2 < open || (!known && !more->time))
        return 0;
    return left / (at_once ? at_once : 1);
}

static void add_running(struct trace_text *text, const struct test_log_run *of,
                        uint64_t now)
{
    const char *between = ": ";

    for (size_t i = 0; i < of->count; i++) {
        const struct test_log_result *result = &of->results[i];

        if (!result->running || result->outcome != TEST_LOG_OUTCOME_NONE)
            continue;
        trace_text_printf(text, "%s%s %.1f s", between, test_log_name(result),
                          (double)(now - result->started) / 1e9);
        between = ", ";
    }
}

void test_log_progress_line(struct trace_text *text,
                            const struct test_log_run *of,
                            const struct test_log_others *more,
                            const struct test_log_history *past, size_t at_once,
                            uint64_t now, size_t width)
{
    unsigned long long done = more->done, failed = more->failed;
    uint64_t left = time_left(of, more, past, at_once, now);
    size_t from = text->size;

    for (size_t i = 0; i < of->count; i++) {
        done += of->results[i].outcome != TEST_LOG_OUTCOME_NONE;
        failed += test_log_outcome_bad(of->results[i].outcome);
    }
    trace_text_printf(text, "[%llu/%llu", done,
                      more->done + of->count + more->to_come);
    if (failed)
        trace_text_printf(text, ", %llu failed", failed);
    if (more->count > 1)
        trace_text_printf(text, ", program %u/%u", more->number, more->count);
    trace_text_string(text, "]");
    if (left)
        trace_text_printf(text, " about %" PRIu64 " s left",
                          (left + 999999999) / 1000000000);
    add_running(text, of, now);
    if (text->data && text->size - from > width) {
        text->size = from + width;
        text->data[text->size] = '\0';
    }
}

/* ---- The terminal ---- */

static size_t columns(void)
{
    struct winsize size = {.ws_col = 0};
    const char *given = test_log_variable("COLUMNS");

    if (!ioctl(fileno(test_log_out), TIOCGWINSZ, &size) && size.ws_col > 1)
        return size.ws_col - 1u;
    return given && atoi(given) > 1 ? (size_t)atoi(given) - 1 : 79;
}

static bool suits(const struct test_log_options *options)
{
    const char *term = test_log_variable("TERM");

    return test_log_out && isatty(fileno(test_log_out)) && term &&
           strcmp(term, "dumb") && !test_log_variable("CI") &&
           !options->quiet && !options->live;
}

static bool captures_all(const struct test_log_run *of)
{
    for (size_t i = 0; i < of->count; i++)
        if (!of->results[i].folder && !of->results[i].left)
            return false;
    return of->count != 0;
}

void test_log_progress_begin(const struct test_log_run *of,
                             const struct test_log_options *options,
                             const struct test_log_history *past)
{
    import_others();
    run = suits(options) && captures_all(of) ? of : NULL;
    last = past;
    jobs =
        options->jobs ? options->jobs : (size_t)sysconf(_SC_NPROCESSORS_ONLN);
}

bool test_log_progress_shown(void)
{
    return run != NULL;
}

static const char erase[] = "\r\033[K"; /* the row */

static void put(const char *text, size_t size)
{
    fflush(test_log_out);
    /* A terminal that takes nothing misses nothing. */
    if (write(fileno(test_log_out), text, size) < 0)
        run = NULL;
}

void test_log_progress_paint(uint64_t now)
{
    struct trace_text text = {0};

    if (!run)
        return;
    trace_text_string(&text, erase);
    test_log_progress_line(&text, run, &others, last, jobs, now, columns());
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
    run = NULL;
}

/* soak_signals_test.c: signal handlers log at any moment, at new and at known
 * call sites, or jump out of a record. `make soak` has more.
 */
#include "tests/support/support.h"

#include "tests/support/e2e.h"

#include <stdlib.h>

E2E_FOLDER

static void begin(void)
{
    const char *seed = getenv("SOAK_SEED");

    e2e_begin();
    test_seed(seed && *seed ? strtoull(seed, NULL, 10) : 1);
}

TestSuite(soak_signals, .init = begin, .timeout = 300);

static unsigned rounds(void)
{
    return getenv("SOAK") ? 15 : 2;
}

#define RECORDS "testlog-runs/latest/tests/storm_test/storm."

/* Runs one test of programs/storm.c; returns its recording. */
static struct trace_reader *run(const char *test, unsigned lines,
                                const char *flags)
{
    unsigned every = 20 + test_below(200);
    const struct e2e *result =
        e2e_run("STORM_LINES=%u STORM_EVERY=%u exec %s --trace-limit 2G "
                "--trace-options=compress=0 --filter storm/%s %s",
                lines, every, e2e_program("storm", E2E_TRACED), test, flags);
    struct trace_reader *reader =
        trace_reader_open(test[9] == 'l' ? RECORDS "handlers_log/recording"
                                         : RECORDS "handlers_jump/recording");

    cr_assert_eq(result->code, 0, "every %u us: %.2000s", every, result->err);
    cr_assert_not_null(reader);
    return reader;
}

/* The number in the only line with that format. */
static size_t number_in(struct trace_reader *reader, const char *format)
{
    struct trace_entry entry;
    struct trace_values values;
    struct trace_value value;

    cr_assert(test_find(reader, TRACE_ENTRY_EVENT, format, &entry));
    values = trace_values_of(&entry);
    cr_assert(trace_values_next(&values, &value));
    return (size_t)value.as.u;
}

static void expect_lines(const char *flags)
{
    unsigned lines = 20000;
    struct trace_reader *reader = run("handlers_log", lines, flags);
    size_t handled = number_in(reader, "handled %u");
    struct trace_summary summary = trace_reader_summary(reader);
    size_t recorded =
        test_count(reader, TRACE_ENTRY_EVENT, "of a handler, known %u") +
        test_count(reader, TRACE_ENTRY_EVENT, "of a handler, fresh %u");

    /* Only handlers' lines may be lost, and each loss is counted. */
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, "own line %u"),
                 4 * lines);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EXIT, "step"), 4 * lines);
    cr_expect_eq(recorded + summary.dropped, handled, "%zu of %zu, %zu dropped",
                 recorded, handled, (size_t)summary.dropped);
    cr_log_info("%zu signals, %zu dropped", handled, (size_t)summary.dropped);
    trace_reader_close(reader);
}

Test(soak_signals, handlers_lose_only_their_own_lines)
{
    for (unsigned i = 0; i < rounds(); i++)
        expect_lines("");
}

static void expect_jumps(const char *flags)
{
    struct trace_reader *reader = run("handlers_jump", 5000, flags);
    size_t jumps = number_in(reader, "jumped %d");

    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, "after jump %d"), jumps);
    cr_expect_eq(trace_reader_summary(reader).dropped, 0);
    /* Each jump leaves at most one step open. */
    cr_expect_eq(test_count(reader, TRACE_ENTRY_SPAN, "step"),
                 test_count(reader, TRACE_ENTRY_EXIT, "step"));
    trace_reader_close(reader);
}

Test(soak_signals, records_again_after_each_jump)
{
    for (unsigned i = 0; i < rounds(); i++)
        expect_jumps("");
}

Test(soak_signals, prints_live_lines_after_each_jump)
{
    if (e2e_sanitized())
        cr_skip_test("a jump may leave the sanitizer's locks held");
    for (unsigned i = 0; i < rounds(); i++)
        expect_jumps("--nocapture --log=off,storm=info 2>/dev/null");
}

/* e2e_ops_test.c: the table of operations that testlog export --ops-csv writes,
 * with played back records.
 */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define OPS "'" BUILD_DIR "/testlog' export --ops-csv"

E2E_FOLDER

/* `root` looks like a machine with a driver. */
TestSuite(e2e_ops, .init = e2e_begin_gpu, .timeout = 300);

static const char *table(void)
{
    const struct e2e *result = e2e_exits(0, OPS);

    return result->out;
}

/* Plays records back into a test and returns the table of the run. */
static const char *played(const char *fixture, const char *variables)
{
    e2e_run("TESTLOG_GPU_LIBRARY='" BUILD_DIR "/libtestlog-gpu.so' "
            "TESTLOG_GPU_ROOT=$PWD/root "
            "TRACE_CUPTI='" BUILD_DIR "/tests/playback.so' "
            "PLAYBACK_FIXTURE='" TESTS_DIR "/playback/%s.fixture' %s "
            "'%s' --filter gpu/uses_it",
            fixture, variables, e2e_program("gpu", E2E_TRACED));
    return table();
}

enum { COLUMNS = 21, CELL = 256 };

/* The columns, in their order. */
enum column {
    SEQ,
    TEST,
    SPANS,
    KIND,
    NAME,
    DEVICE,
    STREAM,
    HOST_START,
    HOST_END,
    HOST_TIME,
    DELAY,
    START,
    END,
    TIME,
    GRID,
    BLOCK,
    REGISTERS,
    SHARED,
    BYTES,
    CORRELATION,
    LOCATION,
};

/* Copies a cell without its quotes; returns what follows it. */
static const char *read_cell(const char *at, char cell[CELL])
{
    bool quoted = *at == '"';
    size_t size = 0;

    for (at += quoted; *at; at++) {
        if (quoted && at[0] == '"' && *++at != '"')
            break;
        if (!quoted && (*at == ',' || *at == '\n'))
            break;
        if (size + 1 < CELL)
            cell[size++] = *at;
    }
    cell[size] = '\0';
    return *at ? at + 1 : at;
}

static char cells[COLUMNS][CELL];

/* Finds the row with that value in a column, and sets `cells`. */
static bool find_row(const char *text, enum column column, const char *value)
{
    for (const char *at = strchr(text, '\n') + 1; *at;) {
        for (int i = 0; i < COLUMNS; i++)
            at = read_cell(at, cells[i]);
        cr_assert_eq(at[-1], '\n', "%s", text);
        if (!strcmp(cells[column], value))
            return true;
    }
    return false;
}

static long long number(enum column column)
{
    return atoll(cells[column]);
}

/* The text behind `key` in a line, up to `end`. */
static const char *part(const char *line, const char *key, char end)
{
    static char value[CELL];
    const char *at = strstr(line, key);

    if (at && at > strchr(line, '\n'))
        at = NULL;
    snprintf(value, sizeof(value), "%s", at ? at + strlen(key) : "");
    value[strcspn(value, (char[]){end, '\n', '\0'})] = '\0';
    return value;
}

/* Ticks become nanoseconds, which may differ by one. */
static void expect_time(enum column column, long long time)
{
    cr_expect_leq(llabs(number(column) - time), 1, "%s: %s instead of %lld",
                  cells[NAME], cells[column], time);
}

/* Compares a row with a line that oracle.py has written. */
static void expect_operation(const char *line)
{
    e2e_expect_is(cells[STREAM], strrchr(part(line, "device=", ' '), '/') + 1);
    e2e_expect_is(cells[DEVICE], "0");
    expect_time(TIME, atoll(part(line, " dur=", ' ')));
    cr_expect_eq(number(END) - number(START), number(TIME));
    cr_expect_eq(number(HOST_END) - number(HOST_START), number(HOST_TIME));
    expect_time(DELAY, number(START) - number(HOST_START));
    e2e_expect_is(cells[BYTES], part(line, " bytes=", ' '));
    e2e_expect_is(cells[REGISTERS], part(line, " registers=", ' '));
    e2e_expect_is(cells[SHARED], part(line, " shared=", ' '));
    e2e_expect_has(cells[GRID], part(line, "{count=", ')'));
}

static bool is_operation(const char *line)
{
    return !strncmp(line, "TRACE KERNEL ", 13) ||
           !strncmp(line, "TRACE MEM", 9);
}

/* Every kernel, copy and set that oracle.py finds in the fixture has a row. */
Test(e2e_ops, has_a_row_for_each_operation_of_a_device)
{
    const char *text = played("plain", "");
    const char *line = e2e_read(TESTS_DIR "/playback/plain.expect");
    size_t rows = 0;

    for (; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        if (!is_operation(line))
            continue;
        cr_assert(find_row(text, CORRELATION, part(line, " corr=", ' ')), "%s",
                  text);
        expect_operation(line);
        rows++;
    }
    cr_expect_eq(rows, 12);
    cr_expect_eq(e2e_count(text, "\n"), rows + 1, "%s", text);
}

Test(e2e_ops, joins_a_kernel_with_its_call_and_its_span)
{
    const char *text = played("plain", "");

    cr_assert(find_row(text, CORRELATION, "10"), "%s", text);
    e2e_expect_is(cells[TEST], "gpu/uses_it");
    e2e_expect_is(cells[SPANS], "step");
    e2e_expect_is(cells[KIND], "kernel");
    e2e_expect_is(cells[NAME], "identity_f16");
    e2e_expect_is(cells[BLOCK], "(256, 1, 1)");
    expect_time(HOST_TIME, 1000);
    expect_time(DELAY, 1300);
    e2e_expect_has(cells[LOCATION], "programs/gpu.c:");
    cr_assert(find_row(text, CORRELATION, "11"));
    e2e_expect_is(cells[LOCATION], "");
}

Test(e2e_ops, has_compilations_with_the_times_of_the_host)
{
    const char *text = played("jit", "");

    cr_assert(find_row(text, KIND, "compile"), "%s", text);
    e2e_expect_is(cells[DEVICE], "");
    e2e_expect_is(cells[START], "");
    cr_expect_eq(number(HOST_END) - number(HOST_START), number(HOST_TIME));
    cr_expect_gt(number(HOST_TIME), 0);
}

Test(e2e_ops, numbers_the_rows)
{
    const char *text = played("plain", "");

    cr_assert(find_row(text, NAME, "Memcpy HtoD"));
    e2e_expect_is(cells[SEQ], "1");
    cr_assert(find_row(text, SEQ, "12"));
    e2e_expect_is(cells[NAME], "Memcpy DtoH");
}

Test(e2e_ops, has_a_row_for_a_signpost)
{
    e2e_run("'%s'", e2e_program("slow", E2E_TRACED));
    cr_assert(find_row(table(), KIND, "signpost"));
    e2e_expect_is(cells[NAME], "phase: begins");
    e2e_expect_is(cells[TEST], "slow/logs_and_waits");
    e2e_expect_is(cells[SPANS], "waiting");
    e2e_expect_is(cells[HOST_TIME], "0");
    e2e_expect_has(cells[LOCATION], "programs/slow.c:");
}

/* ---- What is missing ---- */

Test(e2e_ops, reports_records_that_the_gpu_dropped)
{
    const char *text = played("plain", "PLAYBACK_DROPPED=3");

    cr_assert(find_row(text, KIND, "dropped"), "%s", text);
    e2e_expect_is(cells[NAME], "3 records of the GPU were dropped");
    e2e_expect_has(e2e_run(OPS)->err, "testlog: export: gpu/uses_it: 3 records "
                                      "of the GPU were dropped\n");
}

Test(e2e_ops, reports_records_that_a_limit_dropped)
{
    const char *text;

    e2e_run("TRACE_LIMIT=256K LARGE_EVENTS=20000 '%s' --filter "
            "large/records_much",
            e2e_program("large", E2E_TRACED));
    text = table();
    cr_assert(find_row(text, KIND, "dropped"), "%s", text);
    e2e_expect_has(cells[NAME], " records were lost after TRACE_LIMIT was "
                                "reached; raise --trace-limit");
}

Test(e2e_ops, has_only_its_head_without_operations)
{
    e2e_run("'%s' --filter small/passes", e2e_program("small", E2E_TRACED));
    cr_expect_eq(e2e_count(table(), "\n"), 1);
    cr_expect_eq(e2e_count(table(), ","), COLUMNS - 1);
}

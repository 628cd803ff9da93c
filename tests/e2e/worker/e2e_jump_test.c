/* e2e_jump_test.c: programs that jump out of a record, or whose malloc is
 * annotated.
 */
#include "tests/support/e2e.h"

E2E_FOLDER

TestSuite(e2e_jump, .init = e2e_begin, .timeout = 300);

static const struct e2e *run(int code, const char *program, const char *flags)
{
    return e2e_exits(code, "exec %s %s", e2e_program(program, E2E_TRACED),
                     flags);
}

Test(e2e_jump, records_lines_after_a_jump)
{
    const struct e2e *result = run(1, "jumping", "--trace-limit 1G");

    e2e_expect_closing(result, "2 passed, 1 failed, 0 skipped");
    e2e_expect_has(
        result->err,
        "ERROR programs::jumping: assertion failed: within a printer");
}

Test(e2e_jump, prints_lines_after_a_jump)
{
    const struct e2e *result =
        run(1, "jumping", "--trace-limit 1G --nocapture --log=info -j3");

    e2e_expect_has(result->err, "INFO programs::jumping: from a thread",
                   "INFO programs::jumping: after it");
    e2e_expect_has(e2e_last(result->out), "2 passed, 1 failed, 0 skipped");
}

static void skip_if_sanitized(void)
{
    if (e2e_sanitized())
        cr_skip_test("sanitizers replace malloc");
}

Test(e2e_jump, records_an_annotated_malloc)
{
    const struct e2e *result;

    skip_if_sanitized();
    result = run(1, "allocator", "");

    e2e_expect_closing(result, "1 passed, 1 failed, 0 skipped");
    e2e_expect_has(result->err, "as it should");
    cr_expect_eq(e2e_number(e2e_latest("allocator/gives_memory"), "dropped"),
                 0);
}

Test(e2e_jump, prints_an_annotated_malloc)
{
    const struct e2e *result;

    skip_if_sanitized();
    result = run(0, "allocator", "--nocapture --log=trace --filter '*gives*'");

    e2e_expect_has(result->err, "malloc{size=100 bytes}: programs::allocator: "
                                "malloc(100)");
}

/* e2e_symbols_test.c: .ci/symbols, which make lint runs. */
#include "tests/support/e2e.h"

E2E_FOLDER

TestSuite(e2e_symbols, .init = e2e_begin);

static void compile(const char *file, const char *code)
{
    const struct e2e *result =
        e2e_run("mkdir -p $(dirname %s) && echo '%s' >%s.c && cc -c -o %s.o "
                "%s.c",
                file, code, file, file, file);

    cr_assert_eq(result->code, 0, "%s", result->err);
}

static const char *look(void)
{
    const struct e2e *result;

    e2e_need("python3");
    result = e2e_exits(1, "'" SOURCE_DIR "/.ci/symbols' \"$PWD\"");
    return result->err;
}

Test(e2e_symbols, refuses_a_reference_to_a_higher_room)
{
    const char *found;

    compile("trace/base/low", "int high(void); int low(void) {return high();}");
    compile("log/lines/high", "int high(void) {return 1;}");
    found = look();
    e2e_expect_has(found, "symbols: trace/base/low.c refers to high of "
                          "log/lines/high.c, which is not in a lower room\n");
    e2e_expect_lacks(found, "in a circle");
}

Test(e2e_symbols, allows_a_reference_to_a_lower_room)
{
    compile("trace/base/low", "int low(void) {return 1;}");
    compile("log/lines/high", "int low(void); int high(void) {return low();}");
    e2e_expect_lacks(look(), "refers to");
}

Test(e2e_symbols, refuses_a_reference_to_a_room_beside)
{
    compile("log/devices/one", "int one(void) {return 1;}");
    compile("log/expect/other",
            "int one(void); int other(void) {return one();}");
    e2e_expect_has(look(), "log/expect/other.c refers to one of "
                           "log/devices/one.c, which is not in a lower room\n");
}

Test(e2e_symbols, refuses_a_circle_of_files)
{
    compile("log/lines/a", "int b(void); int a(void) {return b();}");
    compile("log/lines/b", "int c(void); int b(void) {return c();}");
    compile("log/lines/c", "int a(void); int c(void) {return a();}");
    compile("log/lines/d", "int a(void); int d(void) {return a();}");
    e2e_expect_has(look(), "symbols: files refer to each other in a circle:\n"
                           "  log/lines/a.c refers to b of log/lines/b.c\n"
                           "  log/lines/b.c refers to c of log/lines/c.c\n"
                           "  log/lines/c.c refers to a of log/lines/a.c\n"
                           "symbols: no such circle any more: ");
}

Test(e2e_symbols, refuses_a_room_without_a_place)
{
    compile("trace/other/file",
            "int low(void); int high(void) {return low();}");
    compile("trace/base/low", "int low(void) {return 1;}");
    e2e_expect_has(look(), "symbols: trace/other has no place in the order of "
                           "rooms; add it to ROOMS\n");
}

Test(e2e_symbols, ignores_objects_whose_source_is_gone)
{
    compile("trace/base/low", "int high(void); int low(void) {return high();}");
    compile("log/lines/high", "int high(void) {return 1;}");
    e2e_run("rm trace/base/low.c");
    e2e_expect_lacks(look(), "refers to");
}

Test(e2e_symbols, needs_objects)
{
    e2e_expect_has(look(), " has no objects; run make first\n");
}

/* e2e_races_test.c: data races, found by valgrind's helgrind and DRD. */
#include "e2e.h"

#include <stdio.h>
#include <string.h>

E2E_FOLDER

TestSuite(e2e_races, .init = e2e_begin, .timeout = 300);

static void need_valgrind(void)
{
    if (e2e_sanitized())
        cr_skip_test("valgrind cannot run a sanitized program");
    if (e2e_run("command -v valgrind")->code)
        cr_skip_test("valgrind is not installed");
}

/* Expects that only the planted race is found. */
static void expect_planted(const char *tool)
{
    const struct e2e *run;

    need_valgrind();
    run = e2e_run("valgrind -q --tool=%s --trace-children=yes "
                  "--suppressions='%s/harness/valgrind.supp' "
                  "--log-file=valgrind.log.%%p %s -j1",
                  tool, SOURCE_DIR, e2e_program("races", E2E_TRACED));
    e2e_expect_code(run, 1);
    e2e_expect_closing(run, "3 passed, 1 failed, 0 skipped");
    e2e_expect_has(run->err, "races/planted: failed: valgrind found 1 error\n");
    run = e2e_run("cat valgrind.log.* >all; cat all; "
                  "test $(grep -c 'Possible data race\\|Conflicting' all) = 1");
    e2e_expect_code(run, 0); /* neither the runner nor another test has one */
    e2e_expect_has(run->out, ": write_last (races.c:");
}

Test(e2e_races, helgrind_finds_only_the_planted_race)
{
    expect_planted("helgrind");
}

Test(e2e_races, drd_finds_only_the_planted_race)
{
    expect_planted("drd");
}

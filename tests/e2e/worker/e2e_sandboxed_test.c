/* e2e_sandboxed_test.c: tests that crash in a seccomp sandbox. */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <string.h>

E2E_FOLDER

TestSuite(e2e_sandboxed, .init = e2e_begin, .timeout = 300);

#define NOTE ", without a stack because of a seccomp sandbox"

/* As with plain Criterion, no test waits for a timeout: it has none. */
Test(e2e_sandboxed, reports_the_crash_and_its_signal)
{
    static const char *const names[] = {"strict",        "kills_thread",
                                        "kills_process", "traps",
                                        "fails",         "other_thread"};
    const struct e2e *run;
    const cJSON *json;

    if (e2e_sanitized())
        cr_skip_test("a sanitizer handles the signals");
    run = e2e_run("%s", e2e_program("sandboxed", E2E_TRACED));
    if (strstr(run->err, "no seccomp here") || !strstr(run->err, "sandboxed/"))
        cr_skip_test("no seccomp filters on this machine");
    e2e_expect_code(run, 1);
    e2e_expect_closing(run, "1 passed, 6 failed, 0 skipped");
    e2e_expect_lacks(run->err, "child process");
    json = e2e_run_json();
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        char name[64];
        const char *reason;

        snprintf(name, sizeof(name), "sandboxed/%s", names[i]);
        reason = e2e_text(e2e_result(json, name), "reason");
        e2e_expect_is(e2e_text(e2e_result(json, name), "outcome"), "crashed");
        cr_expect(!strncmp(reason, "SIGSEGV, ", 9), "%s: %s", name, reason);
        if (strcmp(names[i], "fails") != 0)
            e2e_expect_has(reason, NOTE);
    }
}

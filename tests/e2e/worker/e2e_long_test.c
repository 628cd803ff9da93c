/* e2e_long_test.c: failures with very long messages, which Criterion's runner
 * would not receive. */
#include "tests/support/e2e.h"

#include <string.h>

E2E_FOLDER

TestSuite(e2e_long, .init = e2e_begin, .timeout = 300);

enum { MOST = (64 << 10) + 1024 };

static const char *program(const char *name)
{
    return e2e_program(name, E2E_TRACED);
}

static void expect_failed(const char *name, const char *note)
{
    const cJSON *result = e2e_latest(name);
    const char *reason = e2e_text(result, "reason");

    e2e_expect_is(e2e_text(result, "outcome"), "failed");
    cr_expect_lt(strlen(reason), MOST, "%s: %zu bytes", name, strlen(reason));
    cr_expect(strstr(reason, "beginxxx"), "%s: %.80s", name, reason);
    if (note)
        e2e_expect_has(reason, note);
}

static const char *const failing[] = {
    "long/message",      "long/expectations", "long/strings",
    "long/redirected",   "long/in_teardown",  "long/parameter[0]",
    "long/parameter[1]", "long/theory",
};

Test(e2e_long, cuts_the_message_of_a_failed_assertion)
{
    const struct e2e *run = e2e_exits(1, "%s", program("long"));

    e2e_expect_closing(run, "1 passed, 10 failed, 1 skipped");
    for (size_t i = 0; i < sizeof(failing) / sizeof(*failing); i++)
        expect_failed(failing[i], " bytes left out; see output.txt");
    expect_failed("long/not_annotated", " bytes left out");
}

Test(e2e_long, keeps_the_whole_message_in_the_output)
{
    const struct e2e *run;
    const char *text;

    e2e_exits(1, "%s --filter long/message", program("long"));
    text =
        e2e_read("testlog-runs/latest/tests/long_test/long.message/output.txt");
    cr_expect_eq(strlen(text), (3 << 20) + 1);
    cr_expect(strstr(text, "xend\n"));
    run = e2e_exits(1, "%s --filter long/message --nocapture", program("long"));
    cr_expect_lt(strlen(run->err), 4 * MOST);
    expect_failed("long/message", " bytes left out; see the recording");
    run = e2e_run("'" BUILD_DIR "/testlog' log --filter=trace | grep -c xend");
    e2e_expect_is(run->out, "1\n");
}

/* The third message exceeds what is kept of a test. */
Test(e2e_long, keeps_no_endless_output)
{
    const struct e2e *run = e2e_run(
        "LONG_SIZE=60000000 %s --filter long/expectations", program("long"));

    e2e_expect_closing(run, "0 passed, 1 failed, 0 skipped");
    e2e_expect_has(run->err, " bytes left out; see output.txt\n");
    run = e2e_run("stat -c %%s testlog-runs/latest/tests/long_test/"
                  "long.expectations/output.txt");
    e2e_expect_is(run->out, "120000006\n");
}

Test(e2e_long, cuts_reasons_everywhere)
{
    static const char *const files[] = {"run.json", "junit.xml",
                                        "results.jsonl", "results.tap"};
    const struct e2e *run =
        e2e_run("%s --filter long/message --filter long/skip", program("long"));

    e2e_expect_closing(run, "0 passed, 1 failed, 1 skipped");
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
        cr_expect_lt(strlen(e2e_read("testlog-runs/latest/%s", files[i])),
                     6 * MOST, "%s", files[i]);
    cr_expect_lt(strlen(run->err), 8 * MOST);
    e2e_expect_is(e2e_text(e2e_latest("long/skip"), "outcome"), "skipped");
}

Test(e2e_long, cuts_the_values_of_newer_assertions)
{
    const struct e2e *run = e2e_run("%s", program("long_new"));

    e2e_expect_closing(run, "0 passed, 3 failed, 0 skipped");
    e2e_expect_is(e2e_text(e2e_latest("long_new/strings"), "outcome"),
                  "failed");
    expect_failed("long_new/message", " bytes left out; see output.txt");
    e2e_expect_is(e2e_text(e2e_latest("long_new/nested"), "outcome"), "failed");
    cr_expect_lt(strlen(run->err), 16 * MOST);
}

/* Sizes around the limit, and one beyond all others. */
Test(e2e_long, cuts_at_the_limit)
{
    static const struct {
        unsigned size;
        bool cut;
    } rows[] = {{65536, false},  {65664, false},  {65665, true},
                {1048576, true}, {1048577, true}, {100000000, true}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        e2e_exits(1, "LONG_SIZE=%u %s --filter long/message --keep=2",
                  rows[i].size, program("long"));
        expect_failed("long/message", NULL);
        cr_expect_eq(e2e_count(e2e_text(e2e_latest("long/message"), "reason"),
                               " bytes left out"),
                     rows[i].cut, "%u", rows[i].size);
    }
}

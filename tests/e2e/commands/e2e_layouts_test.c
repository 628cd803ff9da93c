/* e2e_layouts_test.c: the layouts of lines, and lines about spans. */
#include "tests/support/e2e.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <testlog/log.h>

E2E_FOLDER

TestSuite(e2e_layouts, .init = e2e_begin, .timeout = 300);

static const struct e2e *run(const char *flags, const char *tests)
{
    return e2e_run("%s %s --filter '%s'", e2e_program("traced", E2E_TRACED),
                   flags, tests);
}

static const char *log_of(const char *test)
{
    return e2e_read("testlog-runs/latest/tests/traced_test/%s/log.txt", test);
}

static const char line_FULL[] =
    " INFO outer{number=7 text=\"a \\\"b\\\"\\n\"}:inner{ratio=0.5}: "
    "programs::traced: 1 of many\n";

static const char line_COMPACT[] =
    " INFO outer:inner: programs::traced: 1 of many "
    "number=7 text=\"a \\\"b\\\"\\n\" ratio=0.5\n";

static const char line_PRETTY[] =
    "   INFO programs::traced: 1 of many\n"
    "    at programs/traced.c:LINE\n"
    "    in programs::traced::inner with ratio: 0.5\n"
    "    in programs::traced::outer with number: 7, text: \"a \\\"b\\\"\\n\"\n"
    "\n";

static const char line_JSON[] =
    "{\"level\":\"INFO\",\"fields\":{\"message\":\"1 of many\"},"
    "\"target\":\"programs::traced\","
    "\"span\":{\"ratio\":0.5,\"name\":\"inner\"},"
    "\"spans\":[{\"number\":7,\"text\":\"a \\\"b\\\"\\n\",\"name\":\"outer\"},"
    "{\"ratio\":0.5,\"name\":\"inner\"}]}\n";

/* What --log-fields=thread,location,pid makes of it. */
static const char detailed_FULL[] =
    " INFO ProcessId(N) traced_test ThreadId(N) "
    "outer{number=7 text=\"a \\\"b\\\"\\n\"}:inner{ratio=0.5}: "
    "programs::traced: programs/traced.c:LINE: 1 of many\n";

static const char detailed_COMPACT[] =
    " INFO ProcessId(N) traced_test ThreadId(N) outer:inner: "
    "programs::traced: programs/traced.c:LINE: 1 of many number=7 "
    "text=\"a \\\"b\\\"\\n\" ratio=0.5\n";

static const char detailed_PRETTY[] =
    "   INFO programs::traced: 1 of many\n"
    "    at programs/traced.c:LINE on ProcessId(N) traced_test ThreadId(N)\n";

static const char detailed_JSON[] =
    "\"threadName\":\"traced_test\",\"threadId\":\"ThreadId(N)\",\"pid\":N}\n";

static const struct {
    const char *word, *line, *detailed;
} layouts[] = {
#define X(name, word, layout) {word, line_##name, detailed_##name},
    LOG_FORMATS(X)
#undef X
};

enum { LAYOUTS = sizeof(layouts) / sizeof(*layouts) };

/* Removes line numbers, and the folders before file names. */
static const char *placeless(const char *text)
{
    static const char file[] = "programs/traced.c:";
    static char lines[1 << 16];
    size_t size = 0;

    for (const char *at; (at = strstr(text, file));) {
        int before = (int)(at - text);

        while (before && text[before - 1] != ' ')
            before--;
        size += (size_t)snprintf(lines + size, sizeof(lines) - size,
                                 "%.*s%sLINE", before, text, file);
        cr_assert_lt(size, sizeof(lines));
        text = at + strlen(file);
        text += strspn(text, "0123456789");
    }
    snprintf(lines + size, sizeof(lines) - size, "%s", text);
    return lines;
}

Test(e2e_layouts, prints_each_layout_to_files_blocks_and_live)
{
    char flags[128];

    for (size_t i = 0; i < LAYOUTS; i++) {
        snprintf(flags, sizeof(flags),
                 "--show-output --log=debug --log-time=none --log-format=%s",
                 layouts[i].word);

        const struct e2e *held = run(flags, "traced/nests");

        e2e_expect_code(held, 0);
        e2e_expect_has(placeless(held->err), layouts[i].line);
        e2e_expect_has(placeless(log_of("traced.nests")), layouts[i].line);
        snprintf(flags, sizeof(flags),
                 "--nocapture -j1 --log=debug --log-time=none --log-format=%s",
                 layouts[i].word);
        e2e_expect_has(placeless(run(flags, "traced/nests")->err),
                       layouts[i].line);
    }
}

Test(e2e_layouts, variables_choose_layouts_and_flags_win)
{
    const char *program = e2e_program("traced", E2E_TRACED);
    const struct e2e *by_variable, *by_flag;

    by_variable =
        e2e_run("LOG=debug LOG_FORMAT=json LOG_TIME=none LOG_SPAN_EVENTS=new "
                "%s --show-output --filter traced/nests",
                program);
    e2e_expect_has(by_variable->err, line_JSON,
                   "\"fields\":{\"message\":\"new\"}");
    by_flag =
        e2e_run("LOG=debug LOG_FORMAT=json LOG_TIME=utc LOG_SPAN_EVENTS=new "
                "%s --show-output --filter traced/nests --log-time=none "
                "--log-format=full --log-span-events=none",
                program);
    e2e_expect_has(by_flag->err, line_FULL);
    e2e_expect_lacks(by_flag->err, "new");
}

/* ---- Threads, places and processes ---- */

/* Replaces the numbers of threads and processes. */
static const char *numberless(const char *text)
{
    static char lines[1 << 16];
    size_t size = 0;

    text = placeless(text);
    for (const char *at = text; *at; at++) {
        bool number =
            isdigit(at[0]) && at > text && (at[-1] == '(' || at[-1] == ':');

        cr_assert_lt(size + 2, sizeof(lines));
        lines[size++] = number ? 'N' : *at;
        at += number ? strspn(at, "0123456789") - 1 : 0;
    }
    lines[size] = '\0';
    return lines;
}

Test(e2e_layouts, adds_thread_location_and_pid_on_demand)
{
    const char *program = e2e_program("traced", E2E_TRACED);

    for (size_t i = 0; i < LAYOUTS; i++) {
        const char *format = layouts[i].word, *line = layouts[i].detailed;
        const struct e2e *live, *again;

        live = e2e_run("LOG_FIELDS=thread,location,pid %s --nocapture -j1 "
                       "--log=debug --log-time=none --log-format=%s "
                       "--filter=traced/nests",
                       program, format);
        e2e_expect_has(numberless(live->err), line);
        e2e_expect_has(numberless(log_of("traced.nests")), line);
        again = e2e_run("'%s/testlog' log traced/nests --time=none "
                        "--fields=thread,location,pid --format=%s",
                        BUILD_DIR, format);
        e2e_expect_has(numberless(again->out), line);
    }
    e2e_expect_has(log_of("traced.nests"), "\"filename\":\"",
                   "\"line_number\":");
}

Test(e2e_layouts, tells_forked_children_apart_by_pid)
{
    const char *pid = "ProcessId(", *text, *parent;

    run("--log-fields=pid --log-time=none", "traced/forks_and_exits");
    text = log_of("traced.forks_and_exits");
    parent = e2e_between(text, pid, ")");
    cr_assert_gt(atoi(parent), 0, "%s", text);
    e2e_expect_has(e2e_line(text, "after the fork"), parent);
    e2e_expect_has(e2e_line(text, "the child says exit"), pid);
    e2e_expect_lacks(e2e_line(text, "the child says exit"), parent);
}

/* ---- JSON ---- */

/* Expects that every line that begins with "{" is an object; returns their
 * number. */
static size_t check_json(const char *text, const char *test)
{
    char *copy = strdup(text), *rest = copy, *line;
    size_t count = 0;

    while ((line = strsep(&rest, "\n"))) {
        if (line[0] != '{')
            continue;

        cJSON *object = cJSON_Parse(line);

        cr_assert_not_null(object, "%s", line);
        cr_expect_eq(strncmp(e2e_text(object, "test"), test, strlen(test)), 0,
                     "%s", line);
        cr_expect_eq(cJSON_HasObjectItem(object, "test"), test[0] != '\0');
        cJSON_Delete(object);
        count++;
    }
    free(copy);
    return count;
}

Test(e2e_layouts, prints_every_json_line_as_an_object)
{
    const struct e2e *held = run("--log-format=json --log=trace "
                                 "--log-span-events=full --show-output",
                                 "traced/*s");

    cr_expect_gt(check_json(held->err, ""), 20);
    cr_expect_gt(check_json(log_of("traced.logs_all_levels"), ""), 8);
}

Test(e2e_layouts, names_the_test_in_live_json)
{
    const struct e2e *live = run("--log-format=json --log=trace --nocapture "
                                 "-j2 --log-span-events=full",
                                 "traced/*s");

    cr_expect_gt(check_json(live->err, "traced/"), 20);
    e2e_expect_lacks(live->err, "[traced/");
}

/* ---- A prefix ---- */

Test(e2e_layouts, prefixes_every_live_pretty_line)
{
    const struct e2e *live =
        run("--log=debug --log-format=pretty --log-time=none "
            "--nocapture -j2",
            "traced/@(nests|logs_all_levels)");

    e2e_expect_has(placeless(live->err),
                   "[traced/nests]     in programs::traced::inner with ratio: "
                   "0.5\n[traced/nests]     in programs::traced::outer with ");
    e2e_expect_lacks(live->err, "\n    at ", "\n    in ");
    e2e_expect_has(live->err, "\n[traced/logs_all_levels] \n");
}

Test(e2e_layouts, writes_a_live_pretty_event_in_one_call)
{
    const char *writes =
        e2e_writes("%s --log=debug --log-format=pretty --log-time=none "
                   "--nocapture -j1 --filter traced/nests",
                   e2e_program("traced", E2E_TRACED))
            ->out;

    e2e_expect_has(writes, "text: \"a \\\"b\\\"\\n\"\n\n\036");
    e2e_expect_lacks(writes, "1 of many\n\036");
}

/* ---- Lines about spans ---- */

static const char lives[] =
    " INFO outer{number=7 text=\"a \\\"b\\\"\\n\"}: programs::traced: new\n"
    " INFO outer{number=7 text=\"a \\\"b\\\"\\n\"}: programs::traced: enter\n"
    "DEBUG outer{number=7 text=\"a \\\"b\\\"\\n\"}:inner{ratio=0.5}: "
    "programs::traced: new\n"
    "DEBUG outer{number=7 text=\"a \\\"b\\\"\\n\"}:inner{ratio=0.5}: "
    "programs::traced: enter\n"
    " INFO outer{number=7 text=\"a \\\"b\\\"\\n\"}:inner{ratio=0.5}: "
    "programs::traced: 1 of many\n"
    " WARN outer{number=7 text=\"a \\\"b\\\"\\n\"}:inner{ratio=0.5}: "
    "programs::traced: happened age=3\n"
    "DEBUG outer{number=7 text=\"a \\\"b\\\"\\n\"}:inner{ratio=0.5}: "
    "programs::traced: exit\n"
    "DEBUG outer{number=7 text=\"a \\\"b\\\"\\n\"}:inner{ratio=0.5}: "
    "programs::traced: close\n"
    " INFO outer{number=7 text=\"a \\\"b\\\"\\n\"}: programs::traced: exit\n"
    " INFO outer{number=7 text=\"a \\\"b\\\"\\n\"}: programs::traced: close\n";

Test(e2e_layouts, prints_the_same_span_lines_captured_and_live)
{
    const char *flags = "--log=debug --log-time=none --log-span-events=full";
    char live[128];

    run(flags, "traced/nests");
    e2e_expect_is(log_of("traced.nests"), lives);
    snprintf(live, sizeof(live), "%s --nocapture -j1", flags);
    e2e_expect_has(run(live, "traced/nests")->err, lives);
}

Test(e2e_layouts, prints_busy_and_idle_times_at_close)
{
    const struct e2e *held = run(
        "--log=debug --log-span-events=close --show-output", "traced/nests");
    e2e_expect_has(
        e2e_line(held->err,
                 "inner{ratio=0.5}: programs::traced: close time.busy="),
        "s time.idle=");
}

/* A failed assertion closes its spans; a killed process doesn't. */
Test(e2e_layouts, prints_close_only_for_closed_spans)
{
    const char *flags = "--log-time=none --log-span-events=close";
    const char *failed = run(flags, "traced/fails_in_a_span")->err;

    e2e_expect_has(failed, " INFO outer:judged: programs::traced: close\n"
                           " INFO outer: programs::traced: close\n");
    e2e_expect_lacks(run(flags, "traced/dies_in_spans")->err, "close");
}

/* The child of a fork doesn't close its parent's spans. */
Test(e2e_layouts, closes_each_span_once_across_forks)
{
    static const char *const flags[] = {
        "--log-time=none --log-span-events=close --show-output",
        "--log-time=none --log-span-events=close --nocapture -j1",
    };

    for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
        const struct e2e *result = run(flags[i], "traced/forks_and_exits");

        e2e_expect_code(result, 0);
        cr_expect_eq(e2e_count(result->err, " INFO parent: programs::traced: "
                                            "close\n"),
                     1, "%s", result->err);
    }
}

/* In C, 'x' is an int and a char is a number. */
Test(e2e_layouts, prints_characters_in_cxx)
{
    const struct e2e *result = e2e_exits(0, "%s --show-output --log-time=none",
                                         e2e_program("chars_cxx", E2E_TRACED));

    e2e_expect_has(result->err, ": literal c=\"x\"\n",
                   ": odd quote=\"\\\"\" end=\"\\0\"",
                   ": bytes small=-3 byte=7\n", " late{c=\"z\"}: ");
}

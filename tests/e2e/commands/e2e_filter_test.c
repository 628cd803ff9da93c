/* e2e_filter_test.c: the command testlog filter. */
#include "tests/support/e2e.h"

#include "tests/support/cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

E2E_FOLDER

TestSuite(e2e_filter, .init = e2e_begin, .timeout = 300);

#define TESTLOG "'" BUILD_DIR "/testlog' "
#define CASES   TESTS_DIR "/cases/filter/"

/* ---- The recorded cases ---- */

/* The answer that we give: the recorded one, except for deviations. */
static const char *expected(const char *filter, const char *recorded,
                            size_t *differ)
{
    const char *ours = case_deviation(filter);

    *differ += ours != NULL;
    return ours ? ours : recorded;
}

/* Cuts the next line off a text; NULL at its end. */
static char *next_line(char **rest)
{
    char *line = strsep(rest, "\n");

    return line && (*line || *rest) ? line : NULL;
}

/* Compares the answers to all cases of a file; returns their number. */
static size_t compare(const char *name, size_t *differ)
{
    char *answers =
        strdup(e2e_run(TESTLOG "filter --batch <'" CASES "%s.tsv'", name)->out);
    char *recorded = strdup(e2e_read(CASES "%s.expected", name));
    char *cases = strdup(e2e_read(CASES "%s.tsv", name));
    char *rest = cases, *ours = answers, *theirs = recorded, *line;
    size_t count = 0;

    while ((line = next_line(&rest))) {
        if (!*line || !strncmp(line, "##", 2))
            continue;

        const char *answer = next_line(&ours), *right = next_line(&theirs);
        char *filter = strsep(&line, "\t");

        cr_assert(answer && right, "there are only %zu answers", count);
        cr_expect_str_eq(answer, expected(filter, right, differ), "%s\t%s",
                         filter, line);
        count++;
    }
    cr_expect_null(next_line(&ours));
    free(answers);
    free(recorded);
    free(cases);
    return count;
}

Test(e2e_filter, answers_4000_random_cases_like_the_original)
{
    size_t differ = 0;

    cr_expect_eq(compare("random", &differ), 4000);
    cr_expect_eq(differ, 0);
}

Test(e2e_filter, answers_upstream_cases_except_for_deviations)
{
    size_t differ = 0;

    cr_expect_eq(compare("upstream", &differ), 300);
    cr_expect_eq(differ, 20);
}

/* We ignore spaces and accept "!x", so these two lines differ from the
 * original's. Messages about expressions are PCRE2's. */
Test(e2e_filter, names_each_error_with_strict)
{
    const struct e2e *result = e2e_exits(
        0, TESTLOG "filter --batch --strict <'" CASES "malformed.tsv'");

    e2e_expect_is(
        result->out,
        "0\t-\toff\t\t\n"
        "1\t-\tinfo\tinfo\t\n"
        "E\t-\t-\t-\tinvalid filter directive\n"
        "E\t-\t-\t-\terror parsing level filter: expected one of \"off\", "
        "\"error\", \"warn\", \"info\", \"debug\", \"trace\", or a number 0-5\n"
        "E\t-\t-\t-\terror parsing level filter: expected one of \"off\", "
        "\"error\", \"warn\", \"info\", \"debug\", \"trace\", or a number 0-5\n"
        "E\t-\t-\t-\terror parsing level filter: expected one of \"off\", "
        "\"error\", \"warn\", \"info\", \"debug\", \"trace\", or a number 0-5\n"
        "E\t-\t-\t-\tinvalid field filter: bad regular expression: missing "
        "closing "
        "parenthesis in\n"
        "0\t-\toff\t\t\n"
        "0\t-\toff\t\t\n"
        "1\t-\tinfo\tinfo\t\n");
}

Test(e2e_filter, answers_cases_of_our_own_directives)
{
    static const char cases[] =
        "trace,!net\\ttrace\\tnet::tcp\\n"
        "trace,!net\\ttrace\\tkv\\n"
        "trace,![health]\\terror\\tm\\thealth\\n"
        "trace,![r{n=1}]\\terror\\tm\\tr{n=i:1}\\n"
        "trace,![r{n=1}]\\terror\\tm\\tr{n=i:2}\\n"
        "trace,![r{n=1}]\\terror\\tm\\tr{n}+{n=i:1}\\n"
        "trace,^[s]=warn\\tinfo\\tm\\ts\\n"
        "trace,^[s]=warn\\twarn\\tm\\ts\\n"
        "trace,^net=warn\\tinfo\\tnetwork\\n"
        "warn,~net::=trace\\ttrace\\tnet::tcp\\n"
        "warn,~net::=trace\\ttrace\\tnetwork\\n"
        "warn,~*::tcp=debug\\tdebug\\tnet::tcp\\n"
        "off,/time.*out/=info\\tinfo\\tm\\t\\tmessage=s:a timed out b\\n"
        "off,{n>5}=info\\tinfo\\tm\\t\\tn=i:6\\n"
        "off,{n>5}=info\\tinfo\\tm\\t\\tn=i:5\\n"
        "trace,!{user=root}\\terror\\tm\\t\\tuser=s:root\\n"
        "trace,!{user=root}\\terror\\tm\\t\\tuser=s:toor\\n"
        "![a]\\terror\\tm\\n"
        "off,[s{n>=500}]=trace\\ttrace\\tm\\ts{n=i:503}\\n";
    const struct e2e *result =
        e2e_run("printf '%s' | " TESTLOG "filter --batch", cases);

    e2e_expect_is(result->out, "0\t-\ttrace\n"
                               "1\t-\ttrace\n"
                               "0\t0\ttrace\n"
                               "0\t0\ttrace\n"
                               "1\t1\ttrace\n"
                               "0\t1\ttrace\n"
                               "0\t1\ttrace\n"
                               "1\t1\ttrace\n"
                               "0\t-\ttrace\n"
                               "1\t-\ttrace\n"
                               "0\t-\ttrace\n"
                               "1\t-\tdebug\n"
                               "1\t-\tinfo\n"
                               "1\t-\tinfo\n"
                               "0\t-\tinfo\n"
                               "0\t-\ttrace\n"
                               "1\t-\ttrace\n"
                               "1\t-\terror\n"
                               "1\t1\ttrace\n");
}

Test(e2e_filter, reports_a_line_that_is_not_a_case)
{
    const struct e2e *result = e2e_exits(
        2, "printf 'info\\tinfo\\tm\\n\\ninfo\\n' | " TESTLOG "filter --batch");

    e2e_expect_is(result->out, "1\t-\tinfo\n");
    e2e_expect_has(result->err, "line 3 is not a case");
}

Test(e2e_filter, fails_if_cases_cannot_be_read)
{
    const struct e2e *result = e2e_exits(1, TESTLOG "filter --batch </");

    e2e_expect_is(result->err, "testlog: filter: cannot read standard input: "
                               "Is a directory\n");
    e2e_exits(1, TESTLOG "filter --batch <&-");
}

/* ---- In words ---- */

Test(e2e_filter, explains_a_filter_in_words)
{
    const struct e2e *result = e2e_exits(
        0, TESTLOG "filter "
                   "'info,kv=debug,[request{id=417}]=trace,^[tick]=warn,!net::"
                   "tcp,~db::,/time.*out/=debug,{k>5},!{user=root}'");

    e2e_expect_is(
        result->out,
        "  kv=debug\n"
        "      spans and events whose target begins with \"kv\": debug and "
        "more severe\n"
        "  [request{id=417}]=trace\n"
        "      spans \"request\" whose id is 417: these, and within them every "
        "level\n"
        "  info\n"
        "      everything: info and more severe\n"
        "  /time.*out/=debug\n"
        "      events whose message matches time.*out: also debug and more "
        "severe\n"
        "  {k>5}\n"
        "      events whose k is greater than 5: also every level\n"
        "  ~db::\n"
        "      spans and events of the module \"db\" and those within it: also "
        "every level\n"
        "  ^[tick]=warn\n"
        "      spans \"tick\": within them at most warn and more severe\n"
        "  !net::tcp\n"
        "      spans and events whose target begins with \"net::tcp\": never\n"
        "  !{user=root}\n"
        "      events whose user equals root: never\n"
        "The most verbose level that it can show is trace.\n");
    e2e_expect_is(result->err, "");
}

Test(e2e_filter, advises_and_exits_with_0)
{
    const struct e2e *result =
        e2e_exits(0, TESTLOG "filter '[order{id==1}]=info'");

    e2e_expect_is(result->err,
                  "testlog: FILTER: [order{id==1}]=info: a second \"=\" leaves "
                  "an empty expression; write id=1\n");
    e2e_expect_has(result->out, "that it can show is info.\n");
}

Test(e2e_filter, points_at_a_mistake)
{
    const struct e2e *result =
        e2e_exits(2, TESTLOG "filter 'info,net=warning'");

    e2e_expect_is(result->err,
                  "testlog: FILTER: unknown level \"warning\"; did you mean "
                  "\"warn\"? (directive ignored)\n"
                  "    info,net=warning\n"
                  "             ^\n");
    e2e_expect_has(result->out, "everything: info and more severe\n");
}

/* ---- With a program ---- */

Test(e2e_filter, lists_counters_by_name)
{
    const struct e2e *result = e2e_exits(
        0,
        "echo '#include <testlog/test_log.h>\n"
        "TEST_LOG(a, b) { trace_counter(\"queue depth\", 2); "
        "trace_signpost(\"here\", \"%%d\", 1); }' >counts.c && cc -DTRACING %s "
        "-I'%s/include' counts.c -o counts '%s/libtestlog.a' -lcriterion "
        "-lpcre2-8 -lpthread && " TESTLOG "filter info ./counts",
        SANITIZE_FLAGS, BUILD_DIR, BUILD_DIR);

    e2e_expect_has(result->out, "counts.c:2  counter \"queue depth\"  <- ",
                   "counts.c:2  signpost ");
    e2e_expect_lacks(result->out, "event");
}

Test(e2e_filter, lists_a_programs_call_sites)
{
    const char *program = e2e_program("traced", E2E_TRACED);
    const struct e2e *result = e2e_exits(
        0, TESTLOG "filter 'info,[outer]=trace,nowhere=debug,inner=off' '%s'",
        program);
    const char *sites = e2e_run("'%s' --list-sites", program)->out;

    e2e_expect_has(
        result->out, program, "span \"outer\"",
        " call sites: ", "nowhere=debug matches none of these call sites.\n",
        "inner=off matches none of these call sites; did you mean ![inner]?\n");
    cr_expect_eq(e2e_count(result->out, "traced.c:"),
                 e2e_count(sites, "\"line\":"));
}

/* No code of the program runs. */
Test(e2e_filter, lists_call_sites_of_cxx_code)
{
    const char *program = e2e_program("annotated_cxx", E2E_TRACED);
    const struct e2e *result = e2e_exits(
        0, TESTLOG "filter '[outer]=trace,nowhere=debug' '%s'", program);

    e2e_expect_has(result->out, "span \"outer\" {name, size}  <- ",
                   "event \"lambda\" {value}");
    cr_expect_eq(e2e_count(result->out, "span \"twice\""), 1,
                 "instances of a template: %s", result->out);
    result = e2e_exits(
        0, "strip -o stripped '%s' && " TESTLOG "filter info ./stripped",
        program);
    e2e_expect_has(result->out, "0 call sites",
                   "if\n  the program is stripped.");
}

Test(e2e_filter, accepts_directives_for_cxx_code_that_did_not_run)
{
    const struct e2e *result =
        e2e_exits(0,
                  "echo '#include <testlog/test_log.h>\n"
                  "void idle() { trace_span(DEBUG, \"idle\"); }\n"
                  "TEST_LOG(a, b) { log_info(\"here\"); }' >idle.cpp && c++ "
                  "-std=c++17 -DTRACING %s -I'%s/include' idle.cpp -o idle "
                  "'%s/libtestlog.a' -lcriterion -lpcre2-8 -lpthread && ./idle "
                  "--log='[idle]=debug,[idel]=debug'",
                  SANITIZE_FLAGS, BUILD_DIR, BUILD_DIR);

    e2e_expect_lacks(result->err, "[idle]=debug matched no call site");
    e2e_expect_has(result->err, "[idel]=debug matched no call site; did you "
                                "mean [idle]=debug?");
}

/* PATH contains a program with the same name. */
Test(e2e_filter, prefers_a_path_to_a_program_in_PATH)
{
    const struct e2e *result =
        e2e_exits(0, "ln -s '%s' true && " TESTLOG "filter info true",
                  e2e_program("traced", E2E_TRACED));

    e2e_expect_has(result->out, "span \"outer\"");
}

Test(e2e_filter, refuses_other_programs)
{
    const struct e2e *result = e2e_exits(2, TESTLOG "filter info ./nothing");

    e2e_expect_has(result->err, "./nothing: No such file or directory");
    result = e2e_exits(2, TESTLOG "filter info /bin/false");
    e2e_expect_has(result->err, "linked with -ltestlog?");
    result = e2e_exits(0, TESTLOG "filter info /bin/true");
    e2e_expect_has(result->out, "0 call sites");
}

Test(e2e_filter, refuses_unknown_arguments)
{
    static const struct {
        const char *arguments, *error;
    } rows[] = {
        {"", "a filter is missing: write, for "},
        {"--strict", "--strict: it needs --batch"},
        {"--batch info", "it reads filters from standard input only"},
        {"--bach", "unknown flag --bach; did you mean --batch?"},
        {"--", "a filter is missing: write, for "},
        {"info --batch", "--batch: write flags before the filter"},
        {"info /bin/true --help", "--help: write flags before the filter"},
        {"--batch -- info", "it reads filters from standard input only"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        e2e_expect_has(
            e2e_exits(2, TESTLOG "filter %s", rows[i].arguments)->err,
            rows[i].error);
}

/* Writes a shell script. */
static void write_script(const char *name, const char *text)
{
    e2e_run("printf '#!/bin/sh\\n%s\\n' >%s && chmod +x %s", text, name, name);
}

Test(e2e_filter, kills_a_program_that_does_not_end)
{
    const struct e2e *result;

    write_script("hangs", "sleep 1000");
    result = e2e_exits(2, TESTLOG "filter info ./hangs");
    e2e_expect_has(result->err, "./hangs: it listed no call sites within 10",
                   "is it a test program");
    write_script("floods", "exec yes");
    result = e2e_exits(2, TESTLOG "filter info ./floods");
    e2e_expect_has(result->err, "./floods: it listed no call sites within 10");
    write_script("reads", "exec cat");
    e2e_exits(0, TESTLOG "filter info ./reads");
}

Test(e2e_filter, names_at_most_ten_unmatched_directives)
{
    const struct e2e *result =
        e2e_run(TESTLOG "filter \"info;x=1,$(seq -s, 100 199),"
                        "$(printf '!\\033'),!y,!y\" /bin/true");

    e2e_expect_lacks(result->out, "\x1b[");
    cr_expect_eq(e2e_count(result->out, " matches none of these"), 10);
    e2e_expect_has(result->out, "92 more directives match none of these "
                                "call sites.\n");
}

Test(e2e_filter, accepts_two_dashes_before_the_filter)
{
    e2e_expect_has(
        e2e_exits(0, TESTLOG "filter -- 'info;x=1' /bin/true")->out,
        "info;x=1 matches none of these call sites; did you mean info,x=1?\n");
}

/* ---- In a run ---- */

/* The lines of traced/nests under some settings, without times. */
static const char *lines_of(const char *settings)
{
    const struct e2e *result = e2e_exits(
        0, "%s LOG_TIME=none '%s' --show-output --filter traced/nests",
        settings, e2e_program("traced", E2E_TRACED));

    return e2e_between(result->err, "\nlog:\n", "trace: ");
}

Test(e2e_filter, filters_what_a_run_shows)
{
    static const struct {
        const char *settings, *lines;
    } rows[] = {
        {"LOG=info",
         " INFO outer{number=7 text=\"a \\\"b\\\"\\n\"}: programs::traced: 1 "
         "of many\n"
         " WARN outer{number=7 text=\"a \\\"b\\\"\\n\"}: programs::traced: "
         "happened age=3\n"},
        {"LOG='[inner{ratio=0.5}]=info'",
         " INFO inner{ratio=0.5}: programs::traced: 1 of many\n"
         " WARN inner{ratio=0.5}: programs::traced: happened age=3\n"},
        {"LOG='[inner{ratio=0.6}]=info'", ""},
        {"LOG='info,![outer]'", ""},
        {"LOG='off,[inner],^[inner]=warn'",
         " WARN inner{ratio=0.5}: programs::traced: happened age=3\n"},
        {"LOG='off,{age>2}'", " WARN programs::traced: happened age=3\n"},
        {"LOG='off,/of man/'", " INFO programs::traced: 1 of many\n"},
        {"LOG='off,~*::traced=info,!{age=3},![outer{number>7}]'",
         " INFO outer{number=7 text=\"a \\\"b\\\"\\n\"}: programs::traced: 1 "
         "of many\n"},
        {"LOG='off,[outer]=warn'", ""}, /* outer itself is of level info */
        {"TRACE_FILTER='![inner]' LOG='off,[outer]=info,![inner{ratio=1.0}]'",
         " INFO outer{number=7 text=\"a \\\"b\\\"\\n\"}: programs::traced: 1 "
         "of many\n"
         " WARN outer{number=7 text=\"a \\\"b\\\"\\n\"}: programs::traced: "
         "happened age=3\n"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        cr_expect_str_eq(lines_of(rows[i].settings), rows[i].lines, "%s:\n%s",
                         rows[i].settings, lines_of(rows[i].settings));
}

Test(e2e_filter, filters_what_a_run_records)
{
    e2e_exits(0, "LOG=off TRACE_FILTER='![inner]' '%s' --filter traced/nests",
              e2e_program("traced", E2E_TRACED));
    const char *trace = e2e_read("testlog-runs/latest/trace.json");

    e2e_expect_has(trace, "\"name\":\"outer\"", "\"name\":\"second\"");
    e2e_expect_lacks(trace, "\"name\":\"inner\"", "\"name\":\"happened\"");
}

Test(e2e_filter, exclusions_apply_to_a_tests_own_default)
{
    static const char text[] = "shown by the test's own default";
    const char *capture = e2e_program("capture", E2E_TRACED);

    e2e_expect_has(
        e2e_run("LOG='!kv' '%s' --fail-log=0 --filter capture/has_a_default",
                capture)
            ->err,
        text);
    e2e_expect_lacks(
        e2e_run(
            "LOG='!programs' '%s' --fail-log=0 --filter capture/has_a_default",
            capture)
            ->err,
        text);
}

Test(e2e_filter, reports_directives_that_match_nothing)
{
    const struct e2e *result =
        e2e_run("LOG='info,[outer],[inner{n=1}],~programs::,!kv,/x/,{age>9},"
                "{nothing=1}' '%s' --filter traced/nests",
                e2e_program("traced", E2E_TRACED));

    cr_expect_eq(e2e_count(result->err, "matched no call site"), 3, "%s",
                 result->err);
    e2e_expect_has(result->err, "[inner{n=1}] matched no call site",
                   "!kv matched no call site",
                   "{nothing=1} matched no call site");
}

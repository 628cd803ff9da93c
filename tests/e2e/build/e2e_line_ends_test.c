/* e2e_line_ends_test.c: counts of lines, in code that control leaves in many
 * ways, are those of gcov; what is not certain is "at most".
 */
#include "tests/support/e2e.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

E2E_FOLDER

TestSuite(e2e_line_ends, .init = e2e_begin, .timeout = 300);

enum { LINES = 500 };

/* How often lines ran, by number; -1: there is no code. */
struct counts {
    long gcov[LINES], most[LINES], least[LINES];
    char *text[LINES];
};

/* A way to build the program: the compiler of C, or of C++, and its flags. */
struct way {
    const char *compiler, *source, *flags;
};

static struct counts counts;

/* Calls a function with each line of a text, which it changes. */
static void each_line(char *text, void (*take)(char *line))
{
    char *rest = text;

    while ((text = strsep(&rest, "\n")))
        take(text);
}

/* "       5*:   12:    source"; "-": no code, "#####" or "=====": never. */
static void take_gcov(char *line)
{
    static bool ours;
    char *number = strchr(line, ':'), *text;
    size_t at = number ? strtoul(number + 1, &text, 10) : 0;

    if (number && !at && !strncmp(text, ":Source:", 8))
        ours = !strncmp(text + 8, "ends.c", 6);
    if (!ours || !at || at >= LINES)
        return;
    counts.text[at] = text + 1;
    line += strspn(line, " ");
    if (*line != '-' && atol(line) > counts.gcov[at])
        counts.gcov[at] = atol(line);
    else if (*line != '-' && counts.gcov[at] < 0)
        counts.gcov[at] = 0;
}

/* "count,total,average,file,line,source,at least" */
static void take_ours(char *line)
{
    char *comma = line;
    size_t at;

    for (int i = 0; comma && i < 4; i++)
        comma = strchr(comma + 1, ',');
    at = comma ? strtoul(comma + 1, NULL, 10) : 0;
    if (!at || at >= LINES)
        return;
    counts.most[at] = atol(line);
    counts.least[at] = atol(strrchr(line, ',') + 1);
}

static char *output_of(const struct e2e *run)
{
    cr_assert_eq(run->code, 0, "%s", run->err);
    return strdup(run->out);
}

/* Counts the lines of a run of the program: it has "crash" as an argument, or
 * none. */
static void count(const struct way *way, const char *argument)
{
    bool is_clang = strstr(way->compiler, "clang");

    for (size_t i = 0; i < LINES; i++)
        counts.gcov[i] = counts.most[i] = counts.least[i] = -1;
    each_line(output_of(e2e_run(
                  "cp '" TESTS_DIR "/programs/ends.c' %s && rm -f ends.gc* && "
                  "%s -g -O0 -D_GNU_SOURCE -DGCOV --coverage %s -o ends "
                  "-lpthread && { ./ends %s; gcov -t ends.gcda; }",
                  way->source, strstr(way->source, "cpp") ? "g++" : "gcc",
                  way->source, argument)),
              take_gcov);
    each_line(output_of(e2e_run(
                  "%s -g %s %s -D_GNU_SOURCE %s -o ends -L '" BUILD_DIR
                  "/shared' -Wl,-rpath,'" BUILD_DIR "/shared' -ltestlog-core "
                  "-lpthread && rm -rf testlog-runs && "
                  "{ '" BUILD_DIR "/testlog' record --lines=%s:1-500 "
                  "./ends %s; '" BUILD_DIR "/testlog' stat --lines --csv; }",
                  way->compiler, way->flags,
                  is_clang ? LINES_CFLAGS_CLANG : LINES_CFLAGS, way->source,
                  way->source, argument)),
              take_ours);
}

/* Returns whether both tools count a line in the same way. */
static bool is_comparable(const struct way *way, size_t line)
{
    const char *text = counts.text[line];

    if (counts.gcov[line] < 0 || counts.most[line] < 0 || strstr(text, "/* ~"))
        return false;
    return !strstr(text, "/* clang ~") || !strstr(way->compiler, "clang");
}

/* Expects that no line is said to have run more often than it did, and, unless
 * the optimizer has moved lines, that none is said to have run less often. */
static void expect_counts(const struct way *way, const char *argument)
{
    bool is_exact =
        !strstr(way->compiler, "clang") || strstr(way->flags, "-O0");
    size_t compared = 0, certain = 0;

    e2e_need(way->compiler);
    if (e2e_sanitized())
        cr_skip_test("sanitizers change blocks");
    count(way, argument);
    for (size_t i = 1; i < LINES; i++) {
        if (!is_comparable(way, i))
            continue;
        compared++;
        certain += counts.least[i] == counts.most[i];
        cr_expect(counts.least[i] <= counts.gcov[i] &&
                      (!is_exact || counts.gcov[i] <= counts.most[i]),
                  "%zu: gcov has %ld, testlog %ld to %ld: %s", i,
                  counts.gcov[i], counts.least[i], counts.most[i],
                  counts.text[i]);
    }
    cr_expect_gt(compared, 80);
    cr_expect_gt(certain, compared * 3 / 4);
}

/* X(name, compiler, source, flags) */
#define WAYS(X)                                                                \
    X(gcc_0, "gcc", "ends.c", "-O0")                                           \
    X(gcc_g, "gcc", "ends.c", "-Og")                                           \
    X(gcc_0_without_pie, "gcc", "ends.c", "-O0 -fno-pie -no-pie")              \
    X(gcc_0_pic, "gcc", "ends.c", "-O0 -fPIC")                                 \
    X(gcc_0_without_plt, "gcc", "ends.c", "-O0 -fno-plt")                      \
    X(gxx_0, "g++", "ends.cpp", "-O0")                                         \
    X(gxx_g, "g++", "ends.cpp", "-Og")                                         \
    X(clang_0, "clang", "ends.c", "-O0")                                       \
    X(clang_g, "clang", "ends.c", "-Og")                                       \
    X(clangxx_0, "clang++", "ends.cpp", "-O0")                                 \
    X(clangxx_g, "clang++", "ends.cpp", "-Og")

#define TEST(name, compiler, source, flags)                                    \
    Test(e2e_line_ends, counts_as_gcov_in_code_of_##name)                      \
    {                                                                          \
        expect_counts(&(struct way){compiler, source, flags}, "");             \
    }

WAYS(TEST)
#undef TEST

static size_t line_of(const char *text)
{
    for (size_t i = 1; i < LINES; i++)
        if (counts.text[i] && strstr(counts.text[i], text))
            return i;
    cr_assert_fail("no line has \"%s\"", text);
    return 0;
}

/* gcov counts the whole block. */
Test(e2e_line_ends, does_not_claim_what_follows_a_crash)
{
    if (e2e_sanitized())
        cr_skip_test("sanitizers change blocks");
    count(&(struct way){"gcc", "ends.c", "-O0"}, "crash");
    cr_expect_eq(counts.gcov[line_of("sink = 35;")], 1);
    cr_expect_eq(counts.least[line_of("sink = 35;")], 0);
    cr_expect_eq(counts.most[line_of("sink = 35;")], 1);
    cr_expect_eq(counts.least[line_of("sink = 36;")], 0);
    cr_expect_eq(counts.most[line_of("sink = 36;")], 0);
    e2e_expect_has(
        e2e_line(e2e_run("'" BUILD_DIR "/testlog' stat --lines")->out,
                 "sink = 35;"),
        "at most 1 ");
}

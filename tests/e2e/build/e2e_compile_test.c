/* e2e_compile_test.c: the code that annotations compile to, and the mistakes
 * that compilers reject. */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

E2E_FOLDER

TestSuite(e2e_compile, .init = e2e_begin, .timeout = 300);

/* Flags for all compilers, without `-MF` and the like. */
#define FLAGS                                                                  \
    "-D_GNU_SOURCE -I '" BUILD_DIR "/include' "                                \
    "$(pkg-config --cflags criterion 2>/dev/null)"

static const char *const compilers[][2] = {{"gcc", "g++"},
                                           {"clang", "clang++"}};
static const char *const standards[] = {"-std=gnu11", "-std=c++17"};

static bool has(const char *compiler)
{
    if (!e2e_run("command -v %s", compiler)->code)
        return true;
    cr_log_warn("%s is not installed: skipped", compiler);
    return false;
}

/* ---- Annotations that are compiled out ---- */

/* A sed command that empties marked lines. */
#define DROP(marks) "s,.*/\\* \\(" marks "\\) \\*/.*,,;"

/* A span that is compiled out still takes a number, which changes the names
 * after it. */
#define DROP_DEBUG                                                             \
    "s,^ *trace_\\(span\\|function\\|span_in\\)(.*/\\* debug \\*/.*,"          \
    "(void)sizeof(char[__COUNTER__ + 1]);,;" DROP("debug")

/* A file with annotations and the same file without: how sed edits each, and
 * its flags. */
static const struct pair {
    const char *with, *with_flags;
    const char *without, *without_flags;
} untraced = {"", "", DROP("gone\\|debug\\|kept"), ""},
  traced = {"", "-DTRACING", DROP("gone\\|debug\\|kept"), ""},
  static_off = {DROP("kept"), "-DTRACING -DLOG_STATIC_MAX=off",
                DROP("gone\\|debug\\|kept"), ""},
  static_info = {"", "-DTRACING -DLOG_STATIC_MAX=info", DROP_DEBUG,
                 "-DTRACING -DLOG_STATIC_MAX=info"};

static void write_both(const struct pair *pair, const char *name)
{
    const struct e2e *result =
        e2e_run("mkdir -p with without && "
                "sed -e '%s' '%s/programs/%s' >with/%s && "
                "sed -e '%s' -e 's/^TEST_LOG_DEFAULT(\"[^\"]*\", /Test(/' "
                "-e 's/^PARAMETERIZED_TEST_LOG(/ParameterizedTest(/' "
                "-e 's/^THEORY_LOG(/Theory(/' -e 's/^TEST_LOG(/Test(/' "
                "'%s/programs/%s' >without/%s",
                pair->with, TESTS_DIR, name, name, pair->without, TESTS_DIR,
                name, name);

    cr_assert_eq(result->code, 0, "%s", result->err);
    e2e_expect_has(e2e_read("with/%s", name), "log_info(");
    e2e_expect_lacks(e2e_read("without/%s", name), "TEST_LOG", "log_debug(");
}

static const char *object(const char *folder, const char *compiler,
                          const char *flags, const char *name)
{
    const struct e2e *result = e2e_exits(
        0, "cd %s && %s " FLAGS " %s -c -o %s.o %s && sha256sum <%s.o", folder,
        compiler, flags, name, name, name);

    return result->out;
}

/* Whether a file compiles to the same with and without annotations. */
static bool same(const struct pair *pair, const char *compiler,
                 const char *flags, const char *name)
{
    char all[128];
    const char *with;

    snprintf(all, sizeof(all), "%s %s", flags, pair->with_flags);
    with = object("with", compiler, all, name);
    snprintf(all, sizeof(all), "%s %s", flags, pair->without_flags);
    return !strcmp(with, object("without", compiler, all, name));
}

static void expect_same(const struct pair *pair, int language, const char *name)
{
    static const char *const optimizations[] = {"-O0", "-O2"};
    char flags[64];

    write_both(pair, name);
    for (int c = 0; c < 2; c++)
        for (int o = 0; o < 2 && has(compilers[c][language]); o++) {
            snprintf(flags, sizeof(flags), "%s %s", standards[language],
                     optimizations[o]);
            cr_expect(same(pair, compilers[c][language], flags, name),
                      "%s %s %s %s leaves code", compilers[c][language], flags,
                      pair->with_flags, name);
            if (!*pair->without_flags)
                e2e_expect_is(e2e_run("nm with/%s.o | grep -E ' U "
                                      "(_Z[0-9]*)?(trace|log|test_log)_'",
                                      name)
                                  ->out,
                              "");
        }
}

Test(e2e_compile, annotations_leave_no_code_in_c)
{
    expect_same(&untraced, 0, "annotated.c");
    expect_same(&untraced, 0, "library.c");
    expect_same(&untraced, 0, "expecting.c");
}

Test(e2e_compile, annotations_leave_no_code_in_cxx)
{
    expect_same(&untraced, 1, "annotated_cxx.cpp");
    expect_same(&untraced, 1, "library_cxx.cpp");
    expect_same(&untraced, 1, "expecting_cxx.cpp");
}

Test(e2e_compile, annotations_leave_no_code_with_static_max_off)
{
    expect_same(&static_off, 0, "library.c");
    expect_same(&static_off, 1, "library_cxx.cpp");
}

Test(e2e_compile, levels_above_static_max_leave_no_code)
{
    expect_same(&static_info, 0, "library.c");
    expect_same(&static_info, 1, "library_cxx.cpp");
}

Test(e2e_compile, annotations_leave_code_with_tracing)
{
    write_both(&traced, "annotated.c");
    cr_expect_not(same(&traced, "cc", "-O2", "annotated.c"));
    write_both(&traced, "library_cxx.cpp");
    cr_expect_not(same(&traced, "c++", "-O2", "library_cxx.cpp"));
}

/* The lines of small.c whose call sites remain. */
static const char *lines_left(const char *max)
{
    e2e_exits(0,
              "cc " FLAGS " -Wundef -Werror -DTRACING -DLOG_STATIC_MAX=%s -c "
              "-o small.o '%s/programs/small.c'",
              max, TESTS_DIR);
    return e2e_run("strings -n 3 small.o | sort | tr '\\n' ' ' | "
                   "grep -oE '\\b(bad|careful|plain|fine|finest)\\b' | "
                   "tr '\\n' ' '")
        ->out;
}

Test(e2e_compile, static_max_keeps_its_level_and_more_severe_ones)
{
    static const char *const rows[][3] = {
        {"off", "OFF", ""},
        {"error", "ERROR", "bad "},
        {"warn", "WARN", "bad careful "},
        {"info", "INFO", "bad careful plain "},
        {"debug", "DEBUG", "bad careful fine plain "},
        {"trace", "TRACE", "bad careful fine finest plain "},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        for (int word = 0; word < 2; word++)
            e2e_expect_is(lines_left(rows[i][word]), rows[i][2]);
    e2e_expect_is(lines_left("debug -DDEBUG=1 -DINFO=2 -Dfine=1"), rows[4][2]);
}

Test(e2e_compile, compiles_as_with_criterions_headers_alone)
{
    write_both(&untraced, "annotated.c");
    cr_assert_eq(
        e2e_run("sed -i 's/<testlog.test_log.h>/<criterion\\/criterion.h>\\n"
                "#include <criterion\\/parameterized.h>\\n"
                "#include <criterion\\/theories.h>\\n#line 7/' "
                "without/annotated.c")
            ->code,
        0);
    cr_expect(same(&untraced, "cc", "-O2", "annotated.c"));
}

/* ---- Mistakes ---- */

#define BAD_LEVEL "write the level as ERROR, WARN, INFO, DEBUG or TRACE"

#define FIELDS_16                                                              \
    "(x), (x), (x), (x), (x), (x), (x), (x), (x), (x), (x), (x), (x), (x), "   \
    "(x), (x)"

static const struct {
    const char *text;  /* in a function of int x */
    const char *error; /* "": any; NULL: it compiles */
    int languages;     /* 1: C, 2: C++ */
} snippets[] = {
    {"if (x) trace_span(INFO, \"s\");", "", 3},
    {"if (x) trace_function(INFO);", "", 3},
    {"if (x) trace_span(INFO, \"s\", (x)); else x = 2;", "", 3},
    {"while (x) trace_span(INFO, \"s\");", "", 3},
    {"switch (x) { case 1: trace_span(INFO, \"s\"); }", "", 1},
    {"if (x) { trace_span(INFO, \"s\"); }", NULL, 3},
    {"if (x) log_info(\"a\"); else log_info(\"b\");", NULL, 3},
    {"if (x) trace_event(INFO, \"a\"); else x = 2;", NULL, 3},
    {"if (x) trace_event(INFO, \"a\", (x)); else x = 2;", NULL, 3},
    {"log_info(\"%s\", x);", "format", 3},
    {"log_info(\"%d %d\", x);", "format", 3},
    {"log_at(WARN, \"%s\", x);", "format", 3},
    {"log_info(\"%d\", x);", NULL, 3},
    {"log_debug(\"%s\", x);", "format", 3},
    {"log_trace(\"%d %d\", x);", "format", 3},
    {"log_trace(\"%d\", x, x);", "format", 3},
    {"log_at(DEBUG, \"%ld\", x);", "format", 3},
    {"log_debug(\"%d\", x);", NULL, 3},
    {"log_info(\"plain\");", NULL, 3},
    {"log_info(\"%d\", unheard_of_1);", "unheard_of_1", 3},
    {"trace_event(INFO, \"e\", (unheard_of_2));", "unheard_of_2", 3},
    {"trace_event(DEBUG, \"e\", (unheard_of_3));", "unheard_of_3", 3},
    {"trace_span(TRACE, \"e\", (\"v\", unheard_of_4));", "unheard_of_4", 3},
    {"trace_function(DEBUG, (unheard_of_5));", "unheard_of_5", 3},
    {"trace_event(INFO, \"e\", (*x));", "", 3},
    {"trace_event(TRACE, \"e\", (\"v\", *x));", "", 3},
    {"trace_event(TRACE, x);", "", 3},
    {"trace_span_in(x, INFO, \"s\");", "", 3},
    {"trace_span_in(x, DEBUG, \"s\");", "", 3},
    {"trace_span_end(trace_span_new(DEBUG, \"s\", (*x)));", "", 3},
    {"trace_span_end(trace_span_begin(TRACE, x));", "", 3},
    {"trace_span_enter(x);", "", 3},
    {"trace_span_end(x);", "", 3},
    {"trace_record(x, (\"v\", 1));", "", 3},
    {"trace_record(trace_span_current(), (*x));", "", 3},
    {"trace_stack_restore(x);", "", 3},
    {"trace_stack_restore(trace_stack_save());", NULL, 3},
    {"if (trace_start(x, \"\")) x = 2;", "", 3},
    {"if (trace_start(\"dir\", x)) x = 2;", "", 3},
    {"if (trace_start(\"dir\", 0) || trace_stop()) x = 2;", NULL, 3},
    {"trace_start(\"dir\", 0); trace_stop();", NULL, 3},
    {"if (log_enabled(DEBUG) || log_enabled(ERROR)) x = 2;", NULL, 3},
    {"trace_disable(); log_debug(\"%d\", x); trace_enable();", NULL, 3},
    {"trace_record(trace_span_current(), (x));", NULL, 3},
    {"trace_span_end(trace_span_new(DEBUG, \"s\", (x)));", NULL, 3},
    {"trace_span_in(trace_span_current(), TRACE, \"s\", (x));", NULL, 3},
    {"trace_counter(x, 1);", "", 3},
    {"log_expect_contains(x);", "", 3},
    {"log_expect_event(\"a\", x);", "", 3},
    {"log_expect_count(\"a\", \"a\");", "", 3},
    {"log_expect_span_shorter(\"a\", \"a\");", "", 3},
    {"log_expect_span(unheard_of_6);", "unheard_of_6", 3},
    {"log_expect_lacks(\"a\", \"b\");", "", 3},
    {"log_expect_count(\"a\");", "", 3},
    {"if (x) log_expect_lacks(\"a\"); else x = 2;", NULL, 3},
    {"log_expect_event_count(x, \"a\", \"b\", \"c\");", NULL, 3},
    {"log_expect_event(\"=warn\"); log_expect_event(\"a\");", NULL, 3},
    {"log_expect_span_longer(0.5f, \"a\");", NULL, 3},
    {"trace_span(LOUD, \"s\");", BAD_LEVEL, 3},
    {"trace_event(LOUD1, \"s\");", BAD_LEVEL, 3},
    {"trace_function(LOUD2);", BAD_LEVEL, 3},
    {"trace_span_in(trace_span_current(), LOUD3, \"s\");", BAD_LEVEL, 3},
    {"trace_span_end(trace_span_begin(LOUD4, \"s\"));", BAD_LEVEL, 3},
    {"log_at(LOUD5, \"%d\", x);", BAD_LEVEL, 3},
    {"if (log_enabled(LOUD6)) x = 2;", BAD_LEVEL, 3},
    {"trace_event(OFF, \"e\");", BAD_LEVEL, 3},
    {"log_at(info, \"e\");", BAD_LEVEL, 3},
    {"trace_span(DEBUG, \"s\", (x)); trace_event(DEBUG, \"e\");", NULL, 3},
    {"log_at(INFO, \"a\"); log_debug(\"b\");", NULL, 3},
    {"trace_span(INFO, \"s\"); trace_span(INFO, \"t\");", NULL, 3},
    {"trace_span(INFO, \"s\"); { trace_span(INFO, \"s\"); }", NULL, 3},
    {"trace_event(INFO, \"e\", " FIELDS_16 ");", NULL, 3},
    {"trace_event(INFO, \"e\", " FIELDS_16 ", (x));", "write at most 16 fields",
     3},
    {"trace_span(INFO, \"s\", " FIELDS_16 ", (x));", "write at most 16 fields",
     3},
};

enum { SNIPPETS = sizeof(snippets) / sizeof(*snippets) };

/* Writes each snippet to the line of its number. */
static void write_snippets(const char *path, int language)
{
    FILE *file = fopen(path, "we");

    cr_assert_not_null(file);
    fprintf(file, "#include <testlog/test_log.h>\n#line 1\n");
    for (int i = 0; i < SNIPPETS; i++)
        if (snippets[i].languages & 1 << language)
            fprintf(file, "int f%d(int x); int f%d(int x) { %s return x; }\n",
                    i, i, snippets[i].text);
        else
            fputc('\n', file);
    cr_assert_eq(fclose(file), 0);
}

static void compile_snippets(const char *compiler, int language,
                             const char *build)
{
    const char *path = language ? "snippets.cpp" : "snippets.c";
    char place[64];

    write_snippets(path, language);

    const struct e2e *result =
        e2e_run("%s " FLAGS " %s %s -Wall -Wextra -Wshadow -Wundef -Werror "
                "-DDEBUG=1 -DINFO=2 -DTRACE= -DON=1 -DPAIR -DSHORT %s "
                "-fsyntax-only %s 2>&1",
                compiler, standards[language], build,
                strncmp(compiler, "clang", 5) ? "" : "-ferror-limit=0", path);

    for (int i = 0; i < SNIPPETS; i++) {
        const char *error = snippets[i].error;

        if (!(snippets[i].languages & 1 << language))
            continue;
        snprintf(place, sizeof(place), "%s:%d:", path, i + 1);
        cr_expect_eq(strstr(result->out, place) != NULL, error != NULL,
                     "%s %s: %s\n%.4000s", compiler, build, snippets[i].text,
                     strstr(result->out, place));
        if (error)
            e2e_expect_has(result->out, error);
    }
}

/* What gets one error that says what to write, in a function of int x, struct s
 * s and const char *text. A new macro has NAME_1, which records, NAME_0, which
 * only checks types, and NAME_no, which rejects a word that is no level;
 * TRACE_USE_ chooses, TRACE_ASSERT_ explains. Its lines in tests/programs/
 * library.c and library_cxx.cpp must leave no code. */
static const struct {
    const char *text, *advice;
} explained[] = {
    {"log_at(info, \"a\");", BAD_LEVEL},
    {"trace_span(Debug, \"a\");", BAD_LEVEL},
    {"trace_function(debug);", BAD_LEVEL},
    {"trace_event(trace, \"a\", (x));", BAD_LEVEL},
    {"trace_span_in(trace_span_current(), info, \"a\");", BAD_LEVEL},
    {"trace_span_end(trace_span_begin(info, \"a\"));", BAD_LEVEL},
    {"if (x) log_at(LOUD, \"a\"); else if (log_enabled(INFO)) x = 2;",
     BAD_LEVEL},
    {"while (log_enabled(warn)) x = 2;", BAD_LEVEL},
    {"trace_event(INFO, \"a\", \"key\", x);",
     "write each field in parentheses"},
    {"trace_span(INFO, \"a\", x);", "write each field in parentheses"},
    {"trace_function(INFO, (x), \"key\", x);", "write each field in par"},
    {"trace_record(trace_span_current(), \"k\", x);",
     "write each field in par"},
    {"trace_event(INFO, \"a\", (\"key\", s), (x));", "values of this type"},
    {"trace_span_end(trace_span_new(WARN, \"a\", (s)));",
     "values of this type"},
    {"trace_counter(\"a\", s);", "values of this type"},
    {"log_info(text);", "write the format as a literal"},
    {"if (x) log_at(DEBUG, text, x);", "write the format as a literal"},
    {"trace_signpost(\"a\", text);", "write the format as a literal"},
    {"trace_event(INFO, \"a\", " FIELDS_16 ", (x));",
     "write at most 16 fields"},
};

static void expect_one_error(const char *compiler, int language,
                             const char *build, const char *text,
                             const char *advice)
{
    const struct e2e *result = e2e_run(
        "%s " FLAGS " %s %s -w -fsyntax-only -x%s - 2>&1 <<'END'\n"
        "#include <testlog/log.h>\n"
        "struct s { int member; };\n"
        "int f(int x, struct s s, const char *text);\n"
        "int f(int x, struct s s, const char *text)\n"
        "{ %s (void)s; (void)text; return x; }\nEND",
        compiler, standards[language], build, language ? "c++" : "c", text);

    cr_expect_eq(e2e_count(result->out, "error: "), 1, "%s", result->command);
    e2e_expect_has(result->out, advice);
    cr_expect_leq(e2e_count(result->out, "\n"), 45, "%s", result->out);
}

static void expect_one_error_each(const char *build)
{
    for (int language = 0; language < 2; language++)
        for (int c = 0; c < 2; c++)
            for (size_t i = 0, all = sizeof(explained) / sizeof(*explained);
                 i < all && has(compilers[c][language]); i++)
                expect_one_error(compilers[c][language], language, build,
                                 explained[i].text, explained[i].advice);
}

Test(e2e_compile, explains_mistakes_with_one_error_without_tracing)
{
    expect_one_error_each("");
}

Test(e2e_compile, explains_mistakes_with_one_error_with_tracing)
{
    expect_one_error_each("-DTRACING");
}

static void compile_all(const char *build)
{
    for (int language = 0; language < 2; language++)
        for (int c = 0; c < 2; c++)
            if (has(compilers[c][language]))
                compile_snippets(compilers[c][language], language, build);
}

Test(e2e_compile, rejects_mistakes_without_tracing)
{
    compile_all("");
}

Test(e2e_compile, rejects_mistakes_with_tracing)
{
    compile_all("-DTRACING");
}

/* Headers are system headers if they are installed in a default folder; GCC
 * treats all of ours so with -std=c11. */
Test(e2e_compile, rejects_a_label_before_a_span_of_system_headers)
{
    static const char *const builds[] = {
        "-isystem '" BUILD_DIR "/include'", "-std=c11",
        "-DTRACING -isystem '" BUILD_DIR "/include'", "-DTRACING -std=c11"};

    e2e_run(
        "echo '#include <testlog/trace.h>' >a.c; echo 'void f(int x); "
        "void f(int x) { switch (x) { case 1: trace_span(INFO, \"a\"); } }' "
        ">>a.c");
    for (int build = 0; build < 4; build++)
        e2e_expect_has(e2e_run("gcc %s -I'" BUILD_DIR "/include' -fsyntax-only "
                               "a.c 2>&1",
                               builds[build])
                           ->out,
                       "a.c:2:64: error: a label can only be part of");
}

/* Our pragmas end with the macro. */
Test(e2e_compile, causes_no_warning_in_later_headers)
{
    e2e_run("echo '#include <testlog/trace.h>' >a.c; echo 'void f(void); "
            "void f(void) { trace_span(INFO, \"a\"); }' >>a.c; "
            "echo '#include <wchar.h>' >>a.c");
    for (int trace = 0; trace < 2; trace++)
        e2e_exits(0,
                  "gcc %s -O2 -I'" BUILD_DIR
                  "/include' -Wall -Wextra -Wredundant-decls -Werror "
                  "-fsyntax-only a.c",
                  trace ? "-DTRACING" : "");
}

Test(e2e_compile, rejects_mistakes_below_static_max)
{
    compile_all("-DTRACING -DLOG_STATIC_MAX=info");
}

Test(e2e_compile, rejects_mistakes_at_static_max_off)
{
    compile_all("-DTRACING -DLOG_STATIC_MAX=off");
}

Test(e2e_compile, compiles_without_pedantic_warnings)
{
    static const char *const all[][2] = {
        {"gcc", "g++"}, {"clang", "clang++"}, {"clang-19", "clang++-19"}};
    static const char *const builds[][2] = {
        {"-std=c11", "annotated.c expecting.c small.c"},
        {"-std=gnu17", "annotated.c expecting.c small.c"},
        {"-std=c++17", "annotated_cxx.cpp library_cxx.cpp expecting_cxx.cpp"},
        {"-std=c++20", "annotated_cxx.cpp library_cxx.cpp expecting_cxx.cpp"}};

    for (int build = 0; build < 4; build++)
        for (int c = 0; c < 3 && has(all[c][build / 2]); c++)
            for (int trace = 0; trace < 2; trace++)
                e2e_exits(0,
                          "cd '%s/programs' && %s " FLAGS
                          " %s %s -Wall -Wextra -Wpedantic -Wconversion "
                          "-Wshadow -Werror -fsyntax-only %s",
                          TESTS_DIR, all[c][build / 2], builds[build][0],
                          trace ? "-DTRACING" : "", builds[build][1]);
}

static const struct {
    const char *define, *header;
} frameworks[] = {{"GTEST", "gtest/gtest.h"},
                  {"CATCH", "catch2/catch.hpp"},
                  {"DOCTEST", "doctest/doctest.h"},
                  {"CRITERION", "criterion/criterion.h"}};

static void wrap(int c, int language, const char *define)
{
    for (int trace = 0; trace < 2; trace++)
        e2e_exits(0,
                  "cd '%s/programs' && %s " FLAGS
                  " %s %s -D%s -Wall -Wextra -Werror -fsyntax-only wrapped%s",
                  TESTS_DIR, compilers[c][language], standards[language],
                  trace ? "-DTRACING" : "", define,
                  language ? "_cxx.cpp" : ".c");
}

Test(e2e_compile, annotations_fit_into_assertions_in_c)
{
    for (int c = 0; c < 2 && has(compilers[c][0]); c++)
        wrap(c, 0, "CRITERION");
}

Test(e2e_compile, annotations_fit_into_assertions_in_cxx)
{
    for (size_t f = 0; f < sizeof(frameworks) / sizeof(*frameworks); f++) {
        if (e2e_run("echo '#include <%s>' | g++ " FLAGS " -fsyntax-only -xc++ "
                    "-std=c++17 -",
                    frameworks[f].header)
                ->code) {
            cr_log_warn("no %s: skipped", frameworks[f].header);
            continue;
        }
        for (int c = 0; c < 2 && has(compilers[c][1]); c++)
            wrap(c, 1, frameworks[f].define);
    }
}

Test(e2e_compile, rejects_a_static_max_that_is_not_a_level)
{
    static const char *const words[] = {
        "", "3", "0", "loud", "Info", "off_", "DEBUG -DDEBUG=1", "warn -Dwarn"};

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        for (int language = 0; language < 2; language++)
            for (int c = 0; c < 2 && has(compilers[c][language]); c++) {
                const struct e2e *result =
                    e2e_run("echo '#include <testlog/trace.h>' | %s " FLAGS
                            " %s -DLOG_STATIC_MAX=%s -fsyntax-only -x%s -",
                            compilers[c][language], standards[language],
                            words[i], language ? "c++" : "c");

                cr_expect_neq(result->code, 0, "%s", result->command);
                e2e_expect_has(result->err,
                               "LOG_STATIC_MAX must be off, error, warn, info, "
                               "debug or trace");
            }
}

Test(e2e_compile, applies_static_max_of_a_single_file)
{
    const struct e2e *result = e2e_exits(
        0,
        "{ echo '#define LOG_STATIC_MAX warn'; cat '%s/programs/small.c'; } "
        ">own.c && cc " FLAGS " -DTRACING -c -o own.o own.c && strings own.o",
        TESTS_DIR);

    e2e_expect_has(result->out, "careful\n");
    e2e_expect_lacks(result->out, "plain\n");
}

/* As testlog(3) recommends for CMake, which passes absolute paths to
 * compilers. */
Test(e2e_compile, derives_the_same_target_under_any_build_system)
{
    static const char *const ways[] = {
        "src/deep/a.c",
        "-fmacro-prefix-map=$PWD/= $PWD/src/deep/a.c",
        "-I. build/../src/deep/a.c -fmacro-prefix-map=build/../=",
    };

    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
        const struct e2e *result =
            e2e_exits(0,
                      "mkdir -p src/deep build && cp '%s/programs/small.c' "
                      "src/deep/a.c && cc " FLAGS " " SANITIZE_FLAGS
                      " -DTRACING -o small %s -L'%s' -ltestlog -lcriterion "
                      "-lpcre2-8 -lpthread && ./small --list-sites",
                      TESTS_DIR, ways[i], BUILD_DIR);

        e2e_expect_has(result->out, "\"src::deep::a\"");
    }
}

/* CMake gives compilers absolute paths. */
Test(e2e_compile, prints_absolute_sources_relative_to_the_working_directory)
{
    const struct e2e *result = e2e_run(
        "mkdir -p src && cat >src/own.c <<'END'\n"
        "#include <testlog/test_log.h>\n"
        "static void check(void) { cr_expect(0, \"no\"); }\n"
        "TEST_LOG(own, fails) { check(); }\n"
        "TEST_LOG(own, crashes) { *(volatile int *)8 = 1; }\n"
        "END\n"
        "cc -g " FLAGS " " SANITIZE_FLAGS
        " -DTRACING $PWD/src/own.c -o own -L'%s' -ltestlog -lcriterion "
        "-lpcre2-8 -lpthread && TESTLOG_STACKS='%s/testlog-stacks' ./own -j1",
        BUILD_DIR, BUILD_DIR);
    const cJSON *run;

    e2e_expect_closing(result, "0 passed, 2 failed, 0 skipped");
    e2e_expect_has(result->err, "\nsrc/own.c:2: no\n",
                   "\nsrc/own.c:2: own/fails: failed: no\n");
    e2e_expect_lacks(result->err, "/src/own.c");
    run = e2e_run_json();
    cr_expect_str_eq(e2e_text(e2e_result(run, "own/fails"), "reason"),
                     "src/own.c:2: no");
    cr_expect_str_eq(e2e_text(e2e_result(run, "own/fails"), "file"),
                     "src/own.c");
    e2e_expect_lacks(e2e_read("testlog-runs/latest/junit.xml"), "/src/own.c");
    e2e_expect_lacks(e2e_read("testlog-runs/latest/results.tap"), "/src/own.c");
}

/* ---- Linking ---- */

static const struct e2e *link_in_order(const char *libraries)
{
    return e2e_run("cc " FLAGS " " SANITIZE_FLAGS
                   " -DTRACING '%s/programs/small.c' -o linked_test -L'%s' %s "
                   "-lpthread",
                   TESTS_DIR, BUILD_DIR, libraries);
}

Test(e2e_compile, criterions_main_asks_for_testlog_first)
{
    const struct e2e *result;

    cr_assert_eq(link_in_order("-no-pie -lcriterion -ltestlog -lpcre2-8")->code,
                 0);
    e2e_expect_has(e2e_run("./linked_test")->err,
                   "put -ltestlog before -lcriterion\n");
    cr_assert_eq(link_in_order("-lcriterion -ltestlog -lpcre2-8")->code, 0);
    result = e2e_exits(0, "./linked_test");
    cr_expect_eq(e2e_count(result->err, "testlog: "), 1, "%s", result->err);
    e2e_expect_has(result->err, "put -ltestlog before -lcriterion\n",
                   "Tested: 16 | Passing: 16 |");
}

#define OWN_MAIN                                                               \
    "#include <criterion/criterion.h>\n"                                       \
    "#include <testlog/test_log.h>\n"                                          \
    "TEST_LOG(own, passes) { log_info(\"here\"); }\n"                          \
    "int main(int argc, char **argv) {\n"                                      \
    "#ifdef OURS\n"                                                            \
    "return test_log_main(argc, argv);\n"                                      \
    "#else\n"                                                                  \
    "struct criterion_test_set *set = criterion_initialize();\n"               \
    "int code = !criterion_handle_args(argc, argv, true) ||\n"                 \
    "    criterion_run_all_tests(set);\n"                                      \
    "criterion_finalize(set); return !code;\n"                                 \
    "#endif\n"                                                                 \
    "}\n"

static const struct e2e *run_own_main(const char *flags, const char *folder)
{
    cr_assert_eq(
        e2e_run("cat >own.c <<'END'\n" OWN_MAIN "END\n"
                "cc " FLAGS " " SANITIZE_FLAGS " -DTRACING %s own.c -o own "
                "-L'%s%s' -Wl,-rpath,'%s%s' -ltestlog -lcriterion -lpcre2-8 "
                "-lpthread",
                flags, BUILD_DIR, folder, BUILD_DIR, folder)
            ->code,
        0);
    return e2e_run("./own");
}

Test(e2e_compile, advises_a_custom_main_to_call_test_log_main)
{
    static const char *const ways[][2] = {
        {"", ""}, {"", "/shared"}, {"-no-pie", ""}, {"-no-pie", "/shared"}};

    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
        const struct e2e *result = run_own_main(ways[i][0], ways[i][1]);
        char flags[64];

        e2e_expect_code(result, 0);
        e2e_expect_lacks(result->err, "-lcriterion");
        e2e_expect_has(result->err,
                       "testlog: this program has its own main, so "
                       "nothing is recorded: call test_log_main(argc, argv)");
        snprintf(flags, sizeof(flags), "-DOURS %s", ways[i][0]);
        result = run_own_main(flags, ways[i][1]);
        e2e_expect_closing(result, "1 passed, 0 failed, 0 skipped");
        e2e_expect_lacks(result->err, "main");
    }
}

Test(e2e_compile, rejects_TRACING_0)
{
    static const char *const flags[] = {"-DTRACING=0", "-DTRACING=1",
                                        "-DTRACING=", "-UTRACING"};

    for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
        const struct e2e *result =
            e2e_run("cc -Wundef -Werror " FLAGS
                    " %s -fsyntax-only '%s/programs/small.c'",
                    flags[i], TESTS_DIR);

        cr_expect_eq(result->code == 0, i != 0, "%s: %s", flags[i],
                     result->err);
        cr_expect_eq(strstr(result->err, "TRACING is 0: leave") != NULL,
                     i == 0);
    }
}

Test(e2e_compile, links_with_testlog_before_criterion)
{
    cr_assert_eq(link_in_order("-ltestlog -lcriterion -lpcre2-8")->code, 0);
    e2e_expect_closing(e2e_run("./linked_test"),
                       "16 passed, 0 failed, 0 skipped");
}

/* Optimizations that discard code keep all tests. */
Test(e2e_compile, tests_survive_gc_sections_and_lto)
{
    static const char *const flags[] = {
        "-ffunction-sections -fdata-sections -Wl,--gc-sections -ltestlog "
        "-lcriterion -lpcre2-8",
        "-O2 -flto -ltestlog -lcriterion -lpcre2-8",
        "-fvisibility=hidden -ltestlog -lcriterion -lpcre2-8",
        "-no-pie -fno-pie -ltestlog -lcriterion -lpcre2-8"};

    if (e2e_sanitized())
        cr_skip_test("sanitizers link in their own way");
    for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
        cr_assert_eq(link_in_order(flags[i])->code, 0, "%s", flags[i]);
        e2e_expect_closing(e2e_run("./linked_test --filter small/passes"),
                           "1 passed, 0 failed, 0 skipped");
    }
}

Test(e2e_compile, arguments_are_evaluated_only_with_tracing)
{
    for (int build = E2E_PLAIN; build <= E2E_INFO; build++) {
        const char *c = e2e_program("annotated", (enum e2e_build)build);
        const char *cxx = e2e_program("annotated_cxx", (enum e2e_build)build);

        e2e_expect_closing(e2e_run("%s", c), "9 passed, 0 failed, 0 skipped");
        e2e_expect_closing(e2e_run("%s", cxx), "6 passed, 0 failed, 0 skipped");
        c = e2e_program("expecting", (enum e2e_build)build);
        cxx = e2e_program("expecting_cxx", (enum e2e_build)build);
        e2e_expect_closing(e2e_run("%s", c), "3 passed, 0 failed, 0 skipped");
        e2e_expect_closing(e2e_run("%s", cxx), "1 passed, 0 failed, 0 skipped");
    }
}

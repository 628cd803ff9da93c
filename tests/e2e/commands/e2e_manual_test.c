/* e2e_manual_test.c: the manual and completion describe all flags, variables,
 * exit codes and macros, and no others. */
#include "tests/support/e2e.h"

#include <glob.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <testlog/log.h>

#include "runners/export/export.h"
#include "trace/backends.h"

E2E_FOLDER

TestSuite(e2e_manual, .init = e2e_begin, .timeout = 300);

enum { WORDS = 512, WORD = 64 };

/* The words of a text, without repetitions. */
struct words {
    char all[WORDS][WORD];
    size_t count;
};

static bool has_word(const struct words *words, const char *word)
{
    for (size_t i = 0; i < words->count; i++)
        if (!strcmp(words->all[i], word))
            return true;
    return false;
}

static void add_word(struct words *words, const char *word, size_t size)
{
    char copy[WORD];

    cr_assert_lt(size, (size_t)WORD);
    snprintf(copy, sizeof(copy), "%.*s", (int)size, word);
    if (has_word(words, copy))
        return;
    cr_assert_lt(words->count, (size_t)WORDS);
    memcpy(words->all[words->count++], copy, sizeof(copy));
}

/* Adds the first group of each match of `expression`. */
static void find_words(struct words *words, const char *text,
                       const char *expression)
{
    regmatch_t match[2];
    regex_t regex;

    cr_assert_eq(regcomp(&regex, expression, REG_EXTENDED | REG_NEWLINE), 0,
                 "%s", expression);
    for (int flags = 0; !regexec(&regex, text, 2, match, flags);
         flags = REG_NOTBOL) {
        add_word(words, text + match[1].rm_so,
                 (size_t)(match[1].rm_eo - match[1].rm_so));
        text += match[0].rm_eo;
    }
    regfree(&regex);
}

/* Expects each word of `all` in `some`; `what` says where it is missing. */
static void expect_words(const struct words *all, const struct words *some,
                         const char *what)
{
    cr_expect_gt(all->count, (size_t)0, "nothing found: %s", what);
    for (size_t i = 0; i < all->count; i++)
        cr_expect(has_word(some, all->all[i]), "%s: %s", what, all->all[i]);
}

/* ---- Pages ---- */

static const glob_t *files(const char *pattern)
{
    static glob_t found;
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/%s", SOURCE_DIR, pattern);
    cr_assert_eq(glob(path, GLOB_BRACE, NULL, &found), 0, "%s", path);
    return &found;
}

static const glob_t *pages(void)
{
    return files("*/*.[137]");
}

/* A page's source with its escapes resolved, valid until the next call. */
static const char *page(const char *path)
{
    static const struct {
        const char *escape, *text;
    } escapes[] = {{"\\-", "-"},    {"\\(ti", "~"}, {"\\(ha", "^"},
                   {"\\(dq", "\""}, {"\\(aq", "'"}, {"\\&", ""},
                   {"\\e", "\\"}};
    const char *from = e2e_read("%s/%s", SOURCE_DIR, path);
    static char *text;
    char *to;
    size_t i, size;

    free(text);
    to = text = malloc(strlen(from) + 1);
    cr_assert_not_null(text);
    while (*from) {
        for (i = 0; i < sizeof(escapes) / sizeof(*escapes); i++) {
            size = strlen(escapes[i].escape);
            if (!strncmp(from, escapes[i].escape, size))
                break;
        }
        if (i == sizeof(escapes) / sizeof(*escapes)) {
            *to++ = *from++;
        } else {
            to = stpcpy(to, escapes[i].text);
            from += size;
        }
    }
    *to = '\0';
    return text;
}

Test(e2e_manual, pages_are_well_formed)
{
    const glob_t *all = pages();
    bool man = !e2e_run("command -v man && command -v groff")->code;
    bool mandoc = !e2e_run("command -v mandoc")->code;

    if (!man && !mandoc)
        cr_skip_test("needs man with groff, or mandoc");
    for (size_t i = 0; i < all->gl_pathc; i++) {
        if (man)
            e2e_expect_is(e2e_run("man --warnings -E UTF-8 -l -Tutf8 -Z %s "
                                  "2>&1 >lines",
                                  all->gl_pathv[i])
                              ->out,
                          "");
        if (mandoc)
            e2e_expect_is(
                e2e_run("mandoc -Tlint -Wwarning %s", all->gl_pathv[i])->out,
                "");
    }
}

Test(e2e_manual, pages_refer_only_to_existing_pages)
{
    const glob_t *all = pages();
    static struct words there, named;

    for (size_t i = 0; i < all->gl_pathc; i++) {
        char name[WORD];
        const char *base = strrchr(all->gl_pathv[i], '/') + 1;

        snprintf(name, sizeof(name), "%s", base);
        *strrchr(name, '.') = ' ';
        add_word(&there, name, strlen(name));
        find_words(&named, e2e_read("%s", all->gl_pathv[i]),
                   "^\\.Xr (testlog[a-z-]* [0-9])");
        e2e_expect_has(e2e_read("%s", all->gl_pathv[i]), "\n.Sh EXAMPLES\n");
    }
    expect_words(&named, &there, "no such page");
    expect_words(&there, &named, "no page refers to");
}

static bool has_section(const char *path, const char *name)
{
    const char *text = e2e_read("%s", path);
    char heading[2 * WORD];

    snprintf(heading, sizeof(heading), "\n.Ss %s\n", name);
    if (strstr(text, heading))
        return true;
    snprintf(heading, sizeof(heading), "\n.Sh %s\n", name);
    return strstr(text, heading);
}

/* The path of a page such as "testlog-gpu 7", or NULL. */
static const char *path_of(const glob_t *all, const char *name, size_t size)
{
    for (size_t i = 0; i < all->gl_pathc; i++) {
        const char *base = strrchr(all->gl_pathv[i], '/') + 1;

        if (strlen(base) == size && !strncmp(base, name, size - 2) &&
            base[size - 1] == name[size - 1])
            return all->gl_pathv[i];
    }
    return NULL;
}

/* Expects the sections that a page names, in itself or "in" another page. */
static void check_sections(const glob_t *all, const char *path)
{
    static const char reference[] = "^\\.Sx (.*[A-Za-z])( [^A-Za-z]*)?\n"
                                    "(in\n\\.Xr (testlog[a-z-]* [0-9]))?";
    char *text = strdup(e2e_read("%s", path)), *at = text;
    regmatch_t match[5];
    regex_t regex;

    cr_assert_eq(regcomp(&regex, reference, REG_EXTENDED | REG_NEWLINE), 0);
    for (; !regexec(&regex, at, 5, match, 0); at += match[0].rm_eo - 1) {
        const char *where = path;
        char name[WORD];

        snprintf(name, sizeof(name), "%.*s",
                 (int)(match[1].rm_eo - match[1].rm_so), at + match[1].rm_so);
        if (match[4].rm_so >= 0)
            where = path_of(all, at + match[4].rm_so,
                            (size_t)(match[4].rm_eo - match[4].rm_so));
        cr_expect(where && has_section(where, name), "%s: no section %s", path,
                  name);
    }
    regfree(&regex);
    free(text);
}

Test(e2e_manual, pages_refer_only_to_existing_sections)
{
    const glob_t *all = pages();

    for (size_t i = 0; i < all->gl_pathc; i++)
        check_sections(all, all->gl_pathv[i]);
}

/* ---- Flags, variables, exit codes ---- */

static const struct {
    const char *page, *help;
} helps[] = {
    {"harness/testlog-flags.7", NULL},
    {"runners/testlog-run.1", "run"},
    {"runners/testlog-record.1", "record"},
    {"runners/testlog-capture.1", "capture"},
    {"runners/testlog-log.1", "log"},
    {"runners/testlog-show.1", "show"},
    {"runners/testlog-export.1", "export"},
    {"runners/testlog-import.1", "import"},
    {"runners/testlog-report.1", "report"},
    {"runners/testlog-stat.1", "stat"},
    {"runners/testlog-list.1", "list"},
    {"runners/testlog-flaky.1", "flaky"},
    {"runners/testlog-bisect.1", "bisect"},
    {"runners/testlog-diff.1", "diff"},
    {"runners/testlog-merge.1", "merge"},
    {"runners/testlog-view.1", "view"},
    {"runners/testlog-clean.1", "clean"},
    {"runners/testlog-pack.1", "pack"},
    {"runners/testlog-filter.1", "filter"},
};

static const char *help_of(const char *command)
{
    return (command
                ? e2e_run("%s/testlog %s --help", BUILD_DIR, command)
                : e2e_run("%s --help=all", e2e_program("small", E2E_TRACED)))
        ->out;
}

static void check_flags(const char *name, const char *help)
{
    const char *text = page(name);
    struct words *listed = calloc(1, sizeof(*listed));
    struct words *told = calloc(1, sizeof(*told));

    /* Every command has these flags, listed or not. */
    add_word(listed, "-help", strlen("-help"));
    add_word(told, "-help", strlen("-help"));
    add_word(listed, "h", 1);
    add_word(told, "h", 1);
    find_words(listed, help, "^  -([A-Za-z]), --");
    find_words(listed, help, "^ {6}-(-[a-z-]+)");
    find_words(listed, help, "^  -., -(-[a-z-]+)");
    find_words(told, text, "^\\.It Fl ([A-Za-z])( |$)");
    find_words(told, text, "^\\.It Fl (-[a-z-]+)");
    find_words(told, text, "^\\.It Fl [A-Za-z] , (-[a-z-]+)");
    expect_words(listed, told, name);
    expect_words(told, listed, help);
    free(listed);
    free(told);
}

Test(e2e_manual, pages_describe_exactly_the_existing_flags)
{
    for (size_t i = 0; i < sizeof(helps) / sizeof(*helps); i++)
        check_flags(helps[i].page, help_of(helps[i].help));
}

/* The pages about the options and variables of test programs. */
static const char *const about_tests[] = {"harness/testlog-flags.7",
                                          "harness/testlog-gpu.7"};

/* Adds the first group of each match in these pages, of which each is in one
 * page. */
static void find_in_pages(struct words *told, const char *expression)
{
    for (size_t i = 0; i < sizeof(about_tests) / sizeof(*about_tests); i++) {
        struct words *here = calloc(1, sizeof(*here));

        find_words(here, page(about_tests[i]), expression);
        for (size_t k = 0; k < here->count; k++) {
            cr_expect_not(has_word(told, here->all[k]), "in two pages: %s",
                          here->all[k]);
            add_word(told, here->all[k], strlen(here->all[k]));
        }
        free(here);
    }
}

Test(e2e_manual, pages_describe_exactly_the_profiler_options)
{
    static struct words listed, told;

    find_words(&listed, help_of(NULL), "^ +([a-z_]+)=");
    find_in_pages(&told, "^\\.It Li ([a-z_]+) Ns = ");
    expect_words(&listed, &told, "not in testlog-flags.7 or testlog-gpu.7");
    expect_words(&told, &listed, "not in --help");
}

/* ---- The words that a flag takes ---- */

/* Adds the words of a form such as "tap:FILE|junit:FILE|off|DIR|0..3": what is
 * in small letters, up to a colon. */
static void add_form(struct words *words, const char *form)
{
    while (*form) {
        size_t size = strcspn(form, "|");
        size_t word = strspn(form, "abcdefghijklmnopqrstuvwxyz-");

        if (form[0] != '-' && word && (word == size || form[word] == ':'))
            add_word(words, form, word);
        form += size + (form[size] == '|');
    }
}

/* Adds the words that --help has for "--flag" or "option". */
static void find_help_words(struct words *words, const char *help,
                            const char *name)
{
    static struct words forms;
    char expression[128];

    forms.count = 0;
    snprintf(expression, sizeof(expression),
             "^  [-A-Za-z, ]{0,4}%s\\[?=([^] ]+)", name);
    find_words(&forms, help, expression);
    for (size_t i = 0; i < forms.count; i++)
        add_form(words, forms.all[i]);
}

/* Adds the words after "Cm" in a line of a page. */
static void add_line(struct words *words, const char *line, size_t size)
{
    char *copy = strndup(line, size), *rest = copy, *token;
    bool follows = false;

    while ((token = strsep(&rest, " ")))
        if (!strcmp(token, "Cm") || !strcmp(token, ".Cm"))
            follows = true;
        else if (*token >= 'A' && *token <= 'Z')
            follows = false;
        else if (follows)
            add_form(words, token);
    free(copy);
}

static bool begins(const char *line, const char *with)
{
    return !strncmp(line, with, strlen(with));
}

/* Tells whether a line of a page begins the item of a flag or an option. */
static bool begins_item(const char *line)
{
    static const char option[] = ".It Li ";

    if (!begins(line, option))
        return begins(line, ".It Fl ");
    line += strlen(option);
    return begins(line + strspn(line, "abcdefghijklmnopqrstuvwxyz_"), " Ns = ");
}

/* Adds the words of the item that begins where `first` matches. It may be the
 * item of several flags, and contain lists. */
static void find_item_words(struct words *words, const char *text,
                            const char *first)
{
    bool described = false;
    regmatch_t match;
    regex_t regex;
    size_t size;
    int depth = 0;

    cr_assert_eq(regcomp(&regex, first, REG_EXTENDED | REG_NEWLINE), 0);
    if (regexec(&regex, text, 1, &match, 0))
        match.rm_so = (regoff_t)strlen(text);
    regfree(&regex);
    for (const char *line = text + match.rm_so; *line;
         line += size + (line[size] == '\n')) {
        size = strcspn(line, "\n");
        depth += begins(line, ".Bl") - begins(line, ".El");
        if (depth < 0 || (described && begins_item(line)))
            break;
        described |= !begins_item(line);
        if (begins(line, ".It ") || begins(line, ".Cm "))
            add_line(words, line, size);
    }
}

/* Expects the words of "--flag" or "option" in --help and in pages to be the
 * same. */
static void expect_same(const char *name, const struct words *listed,
                        const struct words *told)
{
    for (size_t i = 0; i < listed->count; i++)
        cr_expect(has_word(told, listed->all[i]), "%s: %s is in no page", name,
                  listed->all[i]);
    for (size_t i = 0; i < told->count; i++)
        cr_expect(has_word(listed, told->all[i]), "%s: %s is not in --help",
                  name, told->all[i]);
}

/* A page that has no word of a flag refers to testlog-flags(7). */
static void check_flag_words(const char *text, const char *general,
                             const char *flag, const char *help)
{
    static struct words listed, told;
    char item[2 * WORD];

    listed.count = told.count = 0;
    snprintf(item, sizeof(item), "^\\.It Fl (. , )?%s( |$)", flag + 1);
    find_help_words(&listed, help, flag);
    find_item_words(&told, text, item);
    if (listed.count && !told.count)
        find_item_words(&told, general, item);
    expect_same(flag, &listed, &told);
}

Test(e2e_manual, pages_name_exactly_the_words_that_flags_take)
{
    for (size_t i = 0; i < sizeof(helps) / sizeof(*helps); i++) {
        struct words *flags = calloc(1, sizeof(*flags));
        const char *help = help_of(helps[i].help);
        char *text = strdup(page(helps[i].page)), flag[WORD + 1] = "-";
        const char *general = page(about_tests[0]);

        find_words(flags, text, "^\\.It Fl (-[a-z-]+)");
        find_words(flags, text, "^\\.It Fl [A-Za-z] , (-[a-z-]+)");
        for (size_t k = 0; k < flags->count; k++) {
            strcpy(flag + 1, flags->all[k]);
            check_flag_words(text, general, flag, help);
        }
        free(flags);
        free(text);
    }
}

Test(e2e_manual, pages_name_exactly_the_words_that_profiler_options_take)
{
    const char *help = help_of(NULL);
    static struct words options, listed, told;

    find_words(&options, help, "^ +([a-z_]+)=");
    for (size_t i = 0; i < options.count; i++) {
        char item[2 * WORD];

        listed.count = told.count = 0;
        snprintf(item, sizeof(item), "^\\.It Li %s Ns = ", options.all[i]);
        find_help_words(&listed, help, options.all[i]);
        for (size_t k = 0; k < sizeof(about_tests) / sizeof(*about_tests); k++)
            find_item_words(&told, page(about_tests[k]), item);
        expect_same(options.all[i], &listed, &told);
    }
}

/* Expects that a flag refuses another word and names those of --help. */
static void check_refusal(const char *command, const char *flag,
                          const struct words *listed)
{
    const char *program = e2e_program("small", E2E_TRACED);
    const struct e2e *result;
    char error[512];
    int size = snprintf(error, sizeof(error),
                        "testlog: %s: unknown value \"x\"; write ", flag);

    for (size_t i = 0; i < listed->count; i++)
        size += snprintf(error + size, sizeof(error) - (size_t)size, "%s%s",
                         !i                      ? ""
                         : i < listed->count - 1 ? ", "
                                                 : " or ",
                         listed->all[i]);
    if (command)
        result =
            e2e_run("%s/testlog %s %s=x %s", BUILD_DIR, command, flag, program);
    else
        result = e2e_run("%s %s=x", program, flag);
    e2e_expect_code(result, 2);
    e2e_expect_is(e2e_last(result->err), error);
}

Test(e2e_manual, flags_take_exactly_the_words_of_their_help)
{
    static const char only_words[] =
        "^  [-A-Za-z, ]{0,4}(--[a-z-]+)\\[?=[a-z|]+\\]?( |$)";
    static struct words listed;

    for (size_t i = 0; i < sizeof(helps) / sizeof(*helps); i++) {
        struct words *flags = calloc(1, sizeof(*flags));
        char *help = strdup(help_of(helps[i].help));

        find_words(flags, help, only_words);
        for (size_t k = 0; k < flags->count; k++) {
            listed.count = 0;
            find_help_words(&listed, help, flags->all[k]);
            check_refusal(helps[i].help, flags->all[k], &listed);
        }
        free(help);
        free(flags);
    }
}

Test(e2e_manual, every_command_has_a_page)
{
    const char *help = e2e_run("%s/testlog --help", BUILD_DIR)->out;
    static struct words listed, told;

    find_words(&listed, help, "^  ([a-z]+) ");
    find_words(&told, page("runners/testlog.1"), "^\\.It Cm ([a-z]+)$");
    expect_words(&listed, &told, "not in testlog.1");
    expect_words(&told, &listed, "not in testlog --help");
    for (size_t i = 0; i < listed.count; i++)
        cr_expect(
            e2e_exists("%s/runners/testlog-%s.1", SOURCE_DIR, listed.all[i]),
            "%s", listed.all[i]);
}

/* Variables between a program and the processes that it starts. */
static bool is_private(const char *variable)
{
    return !strncmp(variable, "TESTLOG_", strlen("TESTLOG_")) &&
           strcmp(variable, "TESTLOG_GPU_LIBRARY") != 0 &&
           strcmp(variable, "TESTLOG_SAMPLE_LIBRARY") != 0 &&
           strcmp(variable, "TESTLOG_STACKS") != 0;
}

Test(e2e_manual, pages_describe_exactly_the_existing_variables)
{
    const glob_t *sources =
        files("{harness,runners,trace/capture}{,/*,/*/*}/*.c");
    static struct words read, told, known;

    for (size_t i = 0; i < sources->gl_pathc; i++) {
        const char *text = e2e_read("%s", sources->gl_pathv[i]);

        find_words(&read, text, "variable\\(\"([A-Z0-9_]+)\"");
        find_words(&read, text, "getenv\\(\"([A-Z0-9_]+)\"");
        find_words(&read, text, "^    \\{\"--[a-z-]+\", \"([A-Z_]+)\",");
        find_words(&read, text, "^    \\{NULL, \"([A-Z_]+)\",");
        find_words(&read, text, "^    X\\(\"([A-Z_]+)\", \"[A-Z_]+\"");
        find_words(&read, text, "^    X\\(\"[A-Z_]+\", \"([A-Z_]+)\"");
        find_words(&read, text, "^    X\\(\"[A-Z_\", ]+, \"([A-Z_]+)\"");
    }
#define TRACE_X(folder, variable) add_word(&read, variable, strlen(variable));
    TRACE_LOADERS(TRACE_X)
#undef TRACE_X
    find_in_pages(&told, "^\\.It Ev ([A-Z0-9_]+)");
    for (size_t i = 0; i < read.count; i++)
        if (!is_private(read.all[i]))
            add_word(&known, read.all[i], strlen(read.all[i]));
    expect_words(&known, &told, "not in testlog-flags.7 or testlog-gpu.7");
    expect_words(&told, &known, "no source reads it");
}

Test(e2e_manual, page_describes_exactly_the_exit_codes)
{
    const char *codes =
        e2e_between(e2e_read("%s/harness/options/options.h", SOURCE_DIR),
                    "enum test_log_exit {", "}");
    static struct words known, told;

    find_words(&known, codes, "= ([0-9]+)");
    find_words(&told, page("harness/testlog-program.7"), "^\\.It ([0-9]+)$");
    expect_words(&known, &told, "not in testlog-program.7");
    expect_words(&told, &known, "not an exit code");
}

/* ---- Macros ---- */

static const char *const headers[] = {"trace/trace.h", "trace/zone.h",
                                      "log/log.h", "harness/test_log.h"};

Test(e2e_manual, page_describes_exactly_the_existing_macros)
{
    static const char prefix[] =
        "define ((trace|log|TEST_LOG|PARAMETERIZED_TEST_LOG|THEORY_LOG)";
    const char *text = page("harness/testlog.3");
    static struct words defined, told, anything;
    char expression[128];

    snprintf(expression, sizeof(expression), "%s([A-Za-z_]*[A-Za-z])?)[( ]",
             prefix);
    for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++) {
        const char *header = e2e_read("%s/%s", SOURCE_DIR, headers[i]);

        find_words(&defined, header, expression);
        find_words(&defined, header, "struct trace_value (trace_[a-z]+)\\(");
        find_words(&defined, header, "^TRACE_X\\((trace_[a-z]+),");
        find_words(&defined, header, "^# *ifn?def (LOG_[A-Z_]+|TRACING)$");
        find_words(&anything, header,
                   "((trace|(test_)?log)_[a-z_]+|[A-Z_]*LOG[A-Z_]*|TRACING)");
    }
    find_words(&told, text, "^\\.It.* Fn ([A-Za-z_]+)");
    find_words(&told, text, "^\\.It Fn ([A-Za-z_]+)");
    find_words(&told, text, "^\\.It Dv ([A-Z_]+)");
    expect_words(&defined, &told, "not in testlog.3");
    expect_words(&told, &anything, "not in the headers");
}

/* ---- The filter language ---- */

Test(e2e_manual, examples_of_filters_can_be_parsed)
{
    const char *examples = e2e_between(page("log/testlog-filter.7"),
                                       ".Sh EXAMPLES", ".Sh SEE ALSO");
    static struct words filters;

    find_words(&filters, examples, "^\\.It Li ([^ ]+)$");
    cr_expect_geq(filters.count, (size_t)5);
    for (size_t i = 0; i < filters.count; i++)
        e2e_exits(0, "%s/testlog filter '%s'", BUILD_DIR, filters.all[i]);
}

/* ---- README ---- */

/* testlog(1) has those of the commands. */
Test(e2e_manual, readme_links_every_other_page)
{
    const char *readme = e2e_read("%s/README.md", SOURCE_DIR);
    const glob_t *all = pages();

    for (size_t i = 0; i < all->gl_pathc; i++) {
        char link[PATH_MAX];

        snprintf(link, sizeof(link), "](%s)",
                 all->gl_pathv[i] + strlen(SOURCE_DIR "/"));
        if (!strstr(link, "/testlog-") || !strstr(link, ".1)"))
            e2e_expect_has(readme, link);
    }
}

/* Builds the source of an example. */
static void build_example(const char *name, const char *source)
{
    char path[64];
    FILE *file;

    snprintf(path, sizeof(path), "%s.c", name);
    file = fopen(path, "w");
    cr_assert_not_null(file);
    fputs(source, file);
    cr_assert_eq(fclose(file), 0);
    e2e_exits(0,
              "${CC:-cc} %s -DTRACING -I '%s/include' -o %s %s "
              "'%s/libtestlog.a' $(pkg-config --cflags --libs criterion "
              "2>/dev/null || echo -lcriterion) -lpcre2-8 -lpthread",
              SANITIZE_FLAGS, BUILD_DIR, name, path, BUILD_DIR);
}

Test(e2e_manual, readme_shows_what_its_example_prints)
{
    const char *readme = e2e_read("%s/README.md", SOURCE_DIR);
    const char *shown =
        e2e_between(readme, "$ ./ring_test --log=debug\n", "```");

    build_example("ring_test", e2e_between(readme, "```c\n", "```"));
    e2e_expect_is(e2e_normal(e2e_run("./ring_test --log=debug 2>&1")->out),
                  e2e_normal(shown));
}

/* testlog-start(7) has a test that fails, what it prints, and a span. */
Test(e2e_manual, the_first_page_shows_what_its_example_prints)
{
    const char *source = e2e_between(page("harness/testlog-start.7"),
                                     ".Bd -literal -offset indent\n", ".Ed");

    build_example("cart_test", source);
    e2e_expect_has(e2e_exits(1, "./cart_test")->err,
                   "cart_test.c:18: The expression (total(prices, 2, 10)) == "
                   "(315) is false.\nlog:\n",
                   "DEBUG cart_test: price 250, so far 350");
    e2e_exits(0,
              "sed -i 's/^    int sum = 0;/&\\n"
              "    trace_function(DEBUG, (count), (discount));/' cart_test.c");
    build_example("cart_test", e2e_read("cart_test.c"));
    e2e_expect_has(e2e_run("./cart_test --log=debug")->err,
                   "DEBUG total{count=2 discount=10}: cart_test: price 100, so "
                   "far 100");
}

/* ---- The site ---- */

Test(e2e_manual, make_writes_a_site_whose_links_lead_somewhere)
{
    if (e2e_run("command -v mandoc && command -v cmark-gfm")->code)
        cr_skip_test("no mandoc or no cmark-gfm");
    e2e_expect_has(e2e_exits(0, "'" SOURCE_DIR "/.ci/site' $PWD/site")->out,
                   " pages in ");
    e2e_expect_has(e2e_read("site/index.html"),
                   "href=\"harness/testlog-build.7.html\"");
    e2e_expect_has(e2e_read("site/runners/testlog-run.1.html"),
                   "href=\"../harness/testlog-flags.7.html\"");
    e2e_expect_has(e2e_read("site/examples/store_test.c.html"), "TEST_LOG(");
}

/* ---- Installation ---- */

Test(e2e_manual, make_installs_pages_and_completion)
{
    const glob_t *all = pages();
    e2e_exits(
        0, "make -s -C %s install-manual PREFIX=/usr DESTDIR=\"$PWD/the pkg\"",
        SOURCE_DIR);

    for (size_t i = 0; i < all->gl_pathc; i++) {
        const char *path = all->gl_pathv[i];

        e2e_expect_is(e2e_read("the pkg/usr/share/man/man%c/%s",
                               path[strlen(path) - 1], strrchr(path, '/') + 1),
                      e2e_read("%s", path));
    }
    e2e_expect_is(
        e2e_read("the pkg/usr/share/bash-completion/completions/testlog"),
        e2e_read("%s/runners/testlog.bash", SOURCE_DIR));
}

/* ---- The makefile ---- */

Test(e2e_manual, make_help_lists_the_goals)
{
    static const char *const goals[] = {
        "deps",          "all",     "test", "check-all", "demo",
        "demo-failures", "bench",   "lint", "soak",      "fuzz",
        "format",        "install", "clean"};
    const char *help = e2e_run("make -s -C %s help", SOURCE_DIR)->out;
    char line[WORD];

    for (size_t i = 0; i < sizeof(goals) / sizeof(*goals); i++) {
        snprintf(line, sizeof(line), "\n  %s ", goals[i]);
        e2e_expect_has(help, line);
    }
}

Test(e2e_manual, make_builds_library_testlog_and_examples)
{
    static const char *const made[] = {"libtestlog.a ", "testlog ",
                                       "examples/store_test ",
                                       "examples/failures_test "};
    const char *commands =
        e2e_run("make -s -n -B -C %s TRACING=0", SOURCE_DIR)->out;
    char path[WORD];

    for (size_t i = 0; i < sizeof(made) / sizeof(*made); i++) {
        snprintf(path, sizeof(path), " build/base/%s", made[i]);
        e2e_expect_has(commands, path);
    }
}

/* ---- Completion ---- */

/* What completion offers for a line, each followed by a space. */
static const char *offers(const char *function, const char *line)
{
    e2e_need("bash");
    return e2e_run("PATH=%s:$PATH bash -c '. %s/runners/testlog.bash; "
                   "COMP_LINE=$1 COMP_POINT=${#1}; %s; "
                   "printf \"%%s \" \"${COMPREPLY[@]}\"' - \"%s\"",
                   BUILD_DIR, SOURCE_DIR, function, line)
        ->out;
}

#define EXPORT_FLAG(format, flag, values, help) "--" flag " "

static const struct {
    const char *line, *offers;
} completions[] = {
    {"testlog ",
     "run record capture import log show export report stat list flaky diff "
     "bisect merge view clean pack "
     "filter --help --version "},
    {"testlog rec", "record "},
    {"testlog capture --trace-f", "--trace-filter "},
    {"testlog capture --trace-filter=net=de", "debug "},
    {"testlog record --o", "--output "},
    {"testlog record --log-format p", "pretty "},
    {"testlog record --log=net=de", "debug "},
    {"testlog record -- ", " "},
    {"testlog record -- true --o", " "},
    {"testlog ex", "export "},
    {"testlog log --f", "--filter --final-values --format --fields --follow "},
    {"testlog log --fields=thread,l", "thread,location "},
    {"testlog log --span-events new,c", "new,close "},
    {"testlog log --log=net=de", "debug "},
    {"PROGRAM --log-fields=pid,t", "pid,thread "},
    {"testlog log --format p", "pretty "},
    {"testlog log --filter=net=de", "debug "},
    {"testlog report --", "--against --output --open --help "},
    {"testlog export -",
     RUNNERS_EXPORT_FORMATS(EXPORT_FLAG) "-o --output -h --help "},
    {"testlog list --j", "--json "},
    {"testlog stat --by=t", "target test "},
    {"testlog stat --",
     "--by --tree --lines --critical --from --to --csv --json --help "},
    {"testlog diff --",
     "--fail-over --fail-noisy --by --any-flavour --json --help "},
    {"testlog merge --", "--output --allow-missing --align --history --help "},
    {"testlog view --", "--port --socket --open --help "},
    {"testlog clean --d", "--dry-run "},
    {"testlog pack --", "--output --extract --help "},
    {"testlog filter --b", "--batch "},
    {"testlog filter in", "info "},
    {"testlog run --pr", "--preload --profile "},
    {"testlog run PROGRAM -- --log-t", "--log-time "},
    {"testlog run PROGRAM -- --filter=other/", "other/passes "},
    {"PROGRAM --nocap", "--nocapture "},
    {"PROGRAM --filter small/p", "small/passes "},
    {"PROGRAM small/p", "small/passes "},
    {"testlog run PROGRAM -- other/", "other/passes "},
    {"PROGRAM --log-span-events=new,e", "new,enter new,exit "},
    {"PROGRAM --report=j", "junit: jsonl: "},
    {"PROGRAM --trace-options=d", "device_tracer_level= "},
    {"PROGRAM --trace-options=compress=true,gpu_l", "true,gpu_leaks= "},
    {"PROGRAM --trace-options=gpu_leaks=", "off warn fail "},
    {"testlog record --trace-options h", "host_tracer_level= "},
    {"PROGRAM --log=info,programs::sm", "small "},
    {"PROGRAM --color=n", "never "},
    {"PROGRAM --shard=", "auto "},
    {"PROGRAM --shard-by=h", "hash "},
};

Test(e2e_manual, completion_offers_matching_words)
{
    const char *program = e2e_program("small", E2E_TRACED);

    for (size_t i = 0; i < sizeof(completions) / sizeof(*completions); i++) {
        const char *line = completions[i].line, *at = strstr(line, "PROGRAM");
        char text[PATH_MAX];

        snprintf(text, sizeof(text), "%.*s%s%s",
                 (int)(at ? at - line : (long)strlen(line)), line,
                 at ? program : "", at ? at + strlen("PROGRAM") : "");
        e2e_expect_is(
            offers(at == line ? "_testlog_program" : "_testlog", text),
            completions[i].offers);
    }
}

#define WORD_OF(id, word)                word " "
#define WORD_OF_FORMAT(id, word, layout) word " "
#define WORD_OF_EVENT(id, word, bits)    word " "
#define WORD_OF_DETAIL(word, bits)       word " "
#define WORD_OF_LEVEL(id, number, word)  word " "

Test(e2e_manual, completion_offers_every_word_of_a_flag)
{
    const char *program = e2e_program("small", E2E_TRACED);
    char line[PATH_MAX];

    snprintf(line, sizeof(line), "%s --log-format=", program);
    e2e_expect_is(offers("_testlog_program", line),
                  LOG_FORMATS(WORD_OF_FORMAT));
    e2e_expect_is(offers("_testlog", "testlog log --time "),
                  LOG_TIMES(WORD_OF));
    snprintf(line, sizeof(line), "%s --log-span-events ", program);
    e2e_expect_is(offers("_testlog_program", line),
                  LOG_SPAN_EVENTS(WORD_OF_EVENT));
    e2e_expect_is(offers("_testlog", "testlog log --fields "),
                  LOG_DETAILS(WORD_OF_DETAIL));
    e2e_expect_is(offers("_testlog_program", "x --log "),
                  "off " TRACE_LEVELS(WORD_OF_LEVEL));
}

Test(e2e_manual, completion_offers_runs_and_their_tests)
{
    e2e_run("%s -q", e2e_program("small", E2E_TRACED));
    e2e_expect_is(offers("_testlog", "testlog log testlog-runs/l"),
                  "testlog-runs/latest ");
    e2e_expect_is(offers("_testlog", "testlog log small/p"), "small/passes ");
    e2e_expect_is(offers("_testlog", "testlog export small/sizes[07"),
                  "small/sizes\\[07\\] ");
    e2e_expect_is(offers("_testlog", "testlog log testlog-runs/latest other"),
                  "other/passes ");
    e2e_expect_is(offers("_testlog", "testlog diff l"), "latest ");
    e2e_expect_has(offers("_testlog", "testlog diff 2"), "T");
    e2e_expect_is(offers("_testlog", "testlog merge testlog-runs/l"),
                  "testlog-runs/latest ");
}

/* fish and zsh take testlog's own answer: a tab precedes the help. */
Test(e2e_manual, completion_of_any_shell_gets_help_of_each_word)
{
    static const char *const answers[][2] = {
        {"rec", "record\trecord what any program does\n"},
        {"log --fo", "--follow\tcontinue until the run ends\n"},
        {"run --lo", "--log\twhich lines are shown\n"},
        {"run --log-time=", "--log-time=utc\n--log-time=uptime\n"},
        {"run -j", "-j\trun N tests at the same time\n"},
        {"stat --by ''", "\nkernel\n"},
        {"view x --p", "--port\tthe port; default: a free one\n"},
        {"record --trace-options=gpu_leaks=", "gpu_leaks=warn\n"},
    };

    for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
        const struct e2e *result =
            e2e_exits(0, "%s/testlog __complete %s", BUILD_DIR, answers[i][0]);

        e2e_expect_has(result->out, answers[i][1]);
        e2e_expect_is(result->err, "");
    }
    e2e_expect_is(
        e2e_run("%s/testlog __complete record -- true --o", BUILD_DIR)->out,
        "");
    e2e_expect_is(e2e_run("%s/testlog __complete log -o ''", BUILD_DIR)->err,
                  "");
}

/* Names come from programs: a shell must not run what they contain. */
Test(e2e_manual, completion_quotes_names)
{
    e2e_exits(0,
              "printf '#!/bin/sh\n"
              "echo \"$LINE\" >&$TESTLOG_RESULTS\n"
              "echo \"$END\" >&$TESTLOG_RESULTS\n' >hostile; chmod +x hostile; "
              "LINE='{\"schema\":1,\"event\":\"test\",\"name\":\"s/$(touch "
              "started)\",\"outcome\":\"passed\"}' "
              "END='{\"schema\":1,\"event\":\"run\"}' %s/testlog run ./hostile",
              BUILD_DIR);
    e2e_expect_is(offers("_testlog", "testlog log s/"),
                  "s/\\$\\(touch\\ started\\) ");
    cr_expect_not(e2e_exists("started"));
}

Test(e2e_manual, completion_runs_only_test_programs)
{
    e2e_run("printf '#!/bin/sh\\ntouch started\\n' >other; chmod +x other");
    e2e_exits(0, "./other && rm started");
    e2e_expect_is(offers("_testlog", "testlog run ./other -- --filter="), " ");
    e2e_expect_is(offers("_testlog_program", "./other --l"), " ");
    cr_expect_not(e2e_exists("started"));
}

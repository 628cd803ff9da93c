/* log_parse_test.c: parses whole filters and reports their mistakes. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz_filter.c"
#include "tests/support/support.h"

#include "log/filter/filter.h"

static struct log_filter *parse(const char *text, const char *fallback)
{
    struct log_filter *filter = log_filter_parse(text, fallback, "LOG", NULL);

    cr_assert_not_null(filter);
    return filter;
}

static bool shows(const struct log_filter *filter, const char *target,
                  unsigned level)
{
    struct trace_site site = {.target = target, .level = (uint8_t)level};

    struct log_verdict verdict;
    bool shown;

    cr_assert(log_verdict_make(&verdict, filter, &site));
    shown = log_verdict_event(&verdict, (struct trace_scope){0, 0}, NULL);
    log_verdict_free(&verdict);
    return shown;
}

static bool text_shows(const char *text, const char *target, unsigned level)
{
    struct log_filter *filter = parse(text, NULL);
    bool shown = shows(filter, target, level);

    log_filter_free(filter);
    return shown;
}

static char *complaints_of(const char *text)
{
    struct trace_text complaints = {0};

    log_filter_free(log_filter_parse(text, NULL, "LOG", &complaints));
    return test_keep(complaints.data ? complaints.data : strdup(""));
}

/* Unlike upstream, white space alone is no mistake here. */
Test(log_parse, reports_mistakes_where_strict_parsing_fails)
{
    struct test_cases row, answer;
    size_t compared = 0;

    test_cases_open(&row, "filter/malformed.tsv");
    test_cases_open(&answer, "filter/malformed.expected");
    while (test_cases_next(&row) && test_cases_next(&answer)) {
        char *complaints = complaints_of(row.columns[0]);
        bool fails = answer.columns[0][0] == 'E' && row.columns[0][0] != ' ';

        cr_assert_eq(complaints[0] != '\0', fails, "\"%s\": %s", row.columns[0],
                     complaints);
        compared++;
    }
    cr_assert_not(test_cases_next(&answer));
    cr_assert_eq(compared, 10);
}

/* ---- Levels and targets ---- */

Test(log_parse, accepts_levels_as_words_and_numbers)
{
    static const struct {
        const char *text;
        const char *target; /* of an event that is shown */
        unsigned shown;     /* the least severe that is shown */
    } rows[] = {
        {"0", "m", 0},
        {"5", "m", 5},
        {"005", "m", 5},
        {"m=+3", "m", 3},
        {"+3", "m", 0},
        {"00000000000000000000000000000002", "m", 2},
        {"eRRoR", "m", 1},
        {"off", "m", 0},
        {"6", "m", 0},
        {"6", "6", 5},
        {"+", "m", 0},
        {"4294967296", "4294967296", 5},
        {"4294967297", "4294967297", 5},
        {"18446744073709551617", "18446744073709551617", 5},
        {"m=18446744073709551617,error", "m", 1},
        {"m=4294967299,error", "m", 1},
        {"m=", "m", 5},
        {"m=5,m=2", "m", 2},
        {"m=2,error,m=4", "m", 4},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        for (unsigned level = 1; level <= TRACE_LEVEL_TRACE; level++)
            cr_assert_eq(text_shows(rows[i].text, rows[i].target, level),
                         level <= rows[i].shown, "\"%s\" at level %u",
                         rows[i].text, level);
}

Test(log_parse, prefers_the_longest_target)
{
    static const char text[] = "a::b::c=error,a=trace,warn,a::b=off";

    cr_assert(text_shows(text, "a::x", TRACE_LEVEL_TRACE));
    cr_assert_not(text_shows(text, "a::b", TRACE_LEVEL_ERROR));
    cr_assert(text_shows(text, "a::b::cd", TRACE_LEVEL_ERROR));
    cr_assert_not(text_shows(text, "a::b::cd", TRACE_LEVEL_WARN));
    cr_assert(text_shows(text, "b", TRACE_LEVEL_WARN));
    cr_assert_not(text_shows(text, "b", TRACE_LEVEL_INFO));
}

Test(log_parse, trims_white_space_everywhere)
{
    static const char text[] = " \t net :: tcp\t=\n debug \v, \r warn ,, ";

    cr_assert(text_shows(text, "net :: tcp", TRACE_LEVEL_DEBUG));
    cr_assert(text_shows(text, "m", TRACE_LEVEL_WARN));
    cr_assert_not(text_shows(text, "m", TRACE_LEVEL_INFO));
}

Test(log_parse, falls_back_only_when_no_directive_is_left)
{
    static const struct {
        const char *text, *fallback;
        bool shown; /* an event at INFO of "m" */
    } rows[] = {
        {"", "info", true},
        {"", NULL, false},
        {" , ,", "info", true},
        {"=x", "info", true},
        {"=x", NULL, false},
        {"other=x", "info", true},
        {"=x,off", "info", false},
        {"other", "info", false},
        {"=x", "=x", false},
        {"!other", "info", true},
        {"!m", "info", false},
        {"^=warn", "info", false},
        {"^other=warn", "info", true},
        {"^m=info,!other", "info", true},
        {"!m", NULL, false},
        {"!other", NULL, false},
        {"!other,other", "info", false},
        {"!other,~x", "info", false},
        {"!other,=x", "info", true},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct log_filter *filter = parse(rows[i].text, rows[i].fallback);

        cr_assert_eq(shows(filter, "m", TRACE_LEVEL_INFO), rows[i].shown,
                     "\"%s\"", rows[i].text);
        log_filter_free(filter);
    }
}

Test(log_parse, holds_200_directives)
{
    struct trace_text text = {0};

    for (int i = 0; i < 200; i++)
        trace_text_printf(&text, "%st%03d=%d", i ? "," : "", i, i % 6);

    struct log_filter *filter = parse(text.data, NULL);

    for (int i = 0; i < 200; i++) {
        char target[32];

        snprintf(target, sizeof(target), "t%03d::x", i);
        for (unsigned level = 1; level <= 5; level++)
            cr_assert_eq(shows(filter, target, level),
                         level <= (unsigned)i % 6);
    }
    log_filter_free(filter);
    trace_text_free(&text);
}

/* ---- Mistakes ---- */

Test(log_parse, shows_the_position_and_the_nearest_word)
{
    static const struct {
        const char *text, *complaint;
    } rows[] = {
        {"net=warning", "LOG: unknown level \"warning\"; did you mean \"warn\"?"
                        " (directive ignored)\n"
                        "    net=warning\n"
                        "        ^\n"},
        {"info, a = inof ,b=debug",
         "LOG: unknown level \"inof\"; did you mean \"info\"?"
         " (directive ignored)\n"
         "    info, a = inof ,b=debug\n"
         "              ^\n"},
        {"a=7", "LOG: unknown level \"7\" (directive ignored)\n"
                "    a=7\n"
                "      ^\n"},
        {"info,.a", "LOG: no directive starts with \".a\" (directive ignored)\n"
                    "    info,.a\n"
                    "         ^\n"},
        {"net[s=info",
         "LOG: unclosed bracket in \"net[s=info\" (directive ignored)\n"
         "    net[s=info\n"
         "       ^\n"},
        {"\xc3\xa9=info,net=x", "LOG: unknown level \"x\" (directive ignored)\n"
                                "    \xc3\xa9=info,net=x\n"
                                "               ^\n"},
        {"\x1b=info,net=\x1b[31m",
         "LOG: no directive starts with \"\\x1b=info\" (directive "
         "ignored)\n"
         "    \\x1b=info,net=\\x1b[31m\n"
         "    ^\n"
         "LOG: unknown level \"\\x1b[31m\" (directive ignored)\n"
         "    \\x1b=info,net=\\x1b[31m\n"
         "                  ^\n"},
        {"net=info", ""},
        {"warning", ""},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char *complaints = complaints_of(rows[i].text);

        cr_expect_str_eq(complaints, rows[i].complaint, "\"%s\": %s",
                         rows[i].text, complaints);
    }
}

Test(log_parse, shows_only_the_part_of_a_long_filter_around_a_mistake)
{
    struct trace_text text = {0};
    char *complaints, *line, *caret;

    for (int i = 0; i < 100; i++)
        trace_text_string(&text, "\xc3\xa9t=info,");
    trace_text_string(&text, "net=warning");
    for (int i = 0; i < 100; i++)
        trace_text_string(&text, ",\xc3\xa9t=info");
    complaints = complaints_of(text.data);
    line = strchr(complaints, '\n') + 1;
    caret = strchr(line, '\n') + 1;
    cr_expect_lt(strlen(complaints), 400, "%s", complaints);
    cr_expect(!strncmp(line, "    ...", 7), "%s", complaints);
    cr_expect(!strncmp(caret - 4, "...", 3), "%s", complaints);

    const char *at = line;

    for (size_t i = strspn(caret, " "); i--; at++)
        while (((unsigned char)at[1] & 0xc0) == 0x80)
            at++;
    cr_expect(!strncmp(at, "warning", 7), "%s", complaints);
    trace_text_free(&text);
}

Test(log_parse, aligns_the_caret_after_a_tab)
{
    char *complaints = complaints_of("a\t,net=x");

    cr_expect(strstr(complaints, "\n    a\t,net=x\n     \t     ^\n"), "%s",
              complaints);
}

/* Characters stay whole; invalid bytes may be cut anywhere. */
Test(log_parse, cuts_a_long_word)
{
    static const struct {
        const char *character, *last;
    } rows[] = {
        {"x", "xxx...\" ("},
        {"\xe3\x80\x81", "\xe3\x80\x81...\" ("},
        {"\x80", "\\x80...\" ("},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct trace_text text = {0};
        char *complaints;

        trace_text_string(&text, i == 2 ? "net=" : "net=z");
        while (text.size < 5000)
            trace_text_string(&text, rows[i].character);
        complaints = complaints_of(text.data);
        cr_expect_lt(strlen(complaints), 1000, "%s", complaints);
        cr_expect(strstr(complaints, rows[i].last), "%s", complaints);
        trace_text_free(&text);
    }
}

Test(log_parse, shows_ten_mistakes_and_counts_the_rest)
{
    struct trace_text text = {0};
    size_t lines = 0;

    for (int i = 0; i < 100000; i++)
        trace_text_string(&text, "a=x,");

    char *complaints = complaints_of(text.data);

    for (const char *c = complaints; *c; c++)
        lines += *c == '\n';
    cr_expect_eq(lines, 31);
    cr_expect(strstr(complaints, "LOG: 99990 more directives are ignored\n"));
    trace_text_free(&text);
}

/* ---- Directives without a match ---- */

Test(log_parse, lists_directives_that_matched_no_call_site)
{
    struct log_filter *filter =
        parse("info, net = debug ,nte=debug,gpu=trace,gpu::x=5,gpux=1", NULL);
    struct trace_site site = {.target = "net::tcp", .level = TRACE_LEVEL_TRACE};
    size_t from = 0;

    log_filter_seen(filter, &site);
    cr_expect_str_eq(log_filter_unmatched(filter, &from), "gpux=1");
    cr_expect_str_eq(log_filter_unmatched(filter, &from), "nte=debug");
    cr_expect_null(log_filter_unmatched(filter, &from));
    log_filter_free(filter);
}

Test(log_parse, finds_the_most_verbose_level_of_a_filter)
{
    static const struct {
        const char *text;
        unsigned most, hint;
    } rows[] = {
        {"", TRACE_LEVEL_OFF, TRACE_LEVEL_OFF},
        {"off", TRACE_LEVEL_OFF, TRACE_LEVEL_OFF},
        {"warn", TRACE_LEVEL_WARN, TRACE_LEVEL_WARN},
        {"info,net=debug,kv=off", TRACE_LEVEL_DEBUG, TRACE_LEVEL_DEBUG},
        {"debug,info", TRACE_LEVEL_INFO, TRACE_LEVEL_DEBUG},
        {"shop=trace,shop=info", TRACE_LEVEL_INFO, TRACE_LEVEL_TRACE},
        {"error,net", TRACE_LEVEL_TRACE, TRACE_LEVEL_TRACE},
        {"[order{id=1}]=info", TRACE_LEVEL_INFO, TRACE_LEVEL_TRACE},
        {"error,{n>5}=debug", TRACE_LEVEL_DEBUG, TRACE_LEVEL_DEBUG},
        {"error,~net::=debug", TRACE_LEVEL_DEBUG, TRACE_LEVEL_DEBUG},
        {"debug,^info", TRACE_LEVEL_INFO, TRACE_LEVEL_INFO},
        {"debug,^net=info,!kv", TRACE_LEVEL_DEBUG, TRACE_LEVEL_DEBUG},
        {"^info", TRACE_LEVEL_OFF, TRACE_LEVEL_OFF},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct log_filter *filter = parse(rows[i].text, NULL);

        cr_expect_eq(log_filter_most(filter), rows[i].most, "%s", rows[i].text);
        cr_expect_eq(log_filter_hint(filter), rows[i].hint, "%s", rows[i].text);
        log_filter_free(filter);
    }
}

Test(log_parse, lists_repeated_directives_once)
{
    struct log_filter *filter =
        parse("!b,a,! b,^c=info,^c=warn,~d,~d,{e>1},{e>1},{e>2}", NULL);
    size_t from = 0, count = 0;

    while (log_filter_unmatched(filter, &from))
        count++;
    cr_expect_eq(count, 6);
    log_filter_free(filter);
}

Test(log_parse, shortens_a_filter_to_one_line_of_200_columns)
{
    static const struct {
        const char *text, *brief;
    } rows[] = {
        {"", ""}, {"info,a=b", "info,a=b"}, {"\x1b[1m\n", "\\x1b[1m\\n"}};
    char text[2001] = "";

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct trace_text brief = {0};

        log_filter_brief(&brief, rows[i].text);
        cr_expect_str_eq(brief.data ? brief.data : "", rows[i].brief);
        trace_text_free(&brief);
    }
    for (size_t i = 0; i + 2 < sizeof(text); i += 2)
        memcpy(text + i, "\xc3\xa9", 2);
    for (size_t from = sizeof(text) - 1; from; from -= 100) {
        struct trace_text brief = {0};
        size_t size = sizeof(text) - 1 - (from - 100);

        log_filter_brief(&brief, text + from - 100);
        cr_expect_eq(brief.size, size <= 400 ? size : 403);
        cr_expect(!memcmp(brief.data, text, size <= 400 ? size : 400));
        trace_text_free(&brief);
    }
}

static const char *const field_names[] = {"id", "user"};

/* The call sites of a program: one event, one span, and late fields. */
static const struct trace_site known[] = {
    TEST_SITE(EVENT, INFO, "ready", "net::tcp", field_names, 1),
    TEST_SITE(SPAN, INFO, "request", "net", field_names, 2),
    TEST_SITE(FIELDS, INFO, "late", "db", field_names, 2),
};

static const struct {
    const char *directive;
    bool seen;
} known_or_not[] = {
    {"net", true},
    {"net::tcp=off", true},
    {"netx", false},
    {"db", false},
    {"[request]", true},
    {"[requests]", false},
    {"[ready]", false},
    {"net[request]", true},
    {"net::tcp[request]", false},
    {"[request{user}]", true},
    {"[request{user=root}]", true},
    {"[request{name}]", false},
    {"[{user}]", true},
    {"[{id}]", true},
    {"[{name}]", false},
    {"net::tcp[{user}]", false},
    {"net::tcp[{id}]", true},
    {"~net::", true},
    {"~n*p", true},
    {"~n*q", false},
    {"~n*[request]", true},
    {"~*tcp[request]", false},
    {"~net[{id}]", true},
    {"{id}", true},
    {"{id>5}", true},
    {"{user=root}", false},
    {"{message=x}", true},
    {"/x/", true},
    {"!net", true},
    {"!netx", false},
    {"![request]", true},
    {"![requests]", false},
    {"!{id}", true},
    {"!{name}", false},
    {"!/x/", true},
    {"^net=info", true},
    {"^netx=info", false},
    {"^[request]=info", true},
    {"^[{name}]=info", false},
    {"^{id=5}=info", true},
    {"^{name}=info", false},
    {"info", true},
    {"^info", true},
    {"^=info", true},
    {"gpu", true},
    {"gpu::sm=debug", true},
    {"~gpu::", true},
    {"~gpu*=debug", true},
    {"gpus", false},
};

Test(log_parse, finds_unmatched_directives_of_every_kind)
{
    for (size_t i = 0; i < sizeof(known_or_not) / sizeof(*known_or_not); i++) {
        struct log_filter *filter = parse(known_or_not[i].directive, NULL);
        size_t from = 0;
        const char *unmatched;

        for (size_t k = 0; k < sizeof(known) / sizeof(*known); k++)
            log_filter_seen(filter, &known[k]);
        unmatched = log_filter_unmatched(filter, &from);
        cr_expect_eq(unmatched == NULL, known_or_not[i].seen, "\"%s\"",
                     known_or_not[i].directive);
        if (unmatched)
            cr_expect_str_eq(unmatched, known_or_not[i].directive);
        log_filter_free(filter);
    }
}

/* ---- Any input ---- */

static void take_soup(size_t limit, int rounds)
{
    static const char likely[] =
        "aaas=,[]{}<>\"\\ \t!^~/*?.|;0126id:_-\xc2\xa0\x80\xc3\xff";
    static const char *const words[] = {
        "[s{", "}]=",   "info", "{id>",    "net::",    "~=",
        "!=",  "user=", "/=",   "\"a,b\"", "[request", "err=ENOENT",
        ",",   "debug", "^[",   "!{",
    };
    char *soup = malloc(limit + 16);

    for (int round = 0; round < rounds; round++) {
        size_t size = test_below((uint32_t)limit);

        test_random_bytes(soup, size);
        for (size_t i = 0; round % 3 && i < size; i++)
            soup[i] = likely[(unsigned char)soup[i] % (sizeof(likely) - 1)];
        for (size_t i = 0; round % 3 == 2 && i < size; i += test_below(12)) {
            const char *word = words[test_below(16)];

            memcpy(soup + i, word, strlen(word));
        }
        LLVMFuzzerTestOneInput((const uint8_t *)soup, size);
    }
    free(soup);
}

Test(log_parse, survives_any_bytes)
{
    test_seed(1);
    take_soup(64, 20000);
    take_soup(4096, 300);
}

Test(log_parse, survives_every_piece_of_the_corpus)
{
    static const char *const files[] = {
        "bytes", "events", "globs", "messages", "mistakes",
        "space", "spans",  "takes", "targets",  "values",
    };

    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
        char path[256];
        size_t size;

        snprintf(path, sizeof(path), "%s/fuzz/corpus/filter/%s", TESTS_DIR,
                 files[i]);

        char *text = test_load(path, &size);

        cr_assert_gt(size, 10, "%s", path);
        for (size_t from = 0; from < size; from++)
            for (size_t to = from; to <= size; to++)
                LLVMFuzzerTestOneInput((const uint8_t *)text + from, to - from);
    }
}

Test(log_parse, holds_100000_directives)
{
    struct trace_text text = {0};
    struct log_filter *filter;

    for (int i = 0; i < 100000; i++)
        trace_text_printf(&text, "t%d%s=%d,", i, i % 3 ? "" : "[s{k=x}]",
                          i % 6);
    filter = parse(text.data, NULL);
    cr_expect_eq(filter->count, 100000);
    cr_expect(shows(filter, "t99998", TRACE_LEVEL_WARN));
    cr_expect_not(shows(filter, "t99998", TRACE_LEVEL_INFO));
    log_filter_free(filter);
    trace_text_free(&text);
}

Test(log_parse, survives_a_lack_of_memory)
{
    if (!test_can_fail_memory())
        cr_skip_test("a sanitizer owns the memory");
    for (size_t nth = 1; nth < 120; nth++) {
        struct trace_text complaints = {0};

        test_fail_memory(nth, nth % 2);
        log_filter_free(log_filter_parse(
            "a=info,b=x,!,c,[s{a=b.*,c>\"5\"}]=debug,/(/,/x/,{d<0.5,e}", "info",
            "LOG", &complaints));
        trace_text_free(&complaints);
        test_fail_memory(0, false);
    }
}

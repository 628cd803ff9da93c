/* log_directive_test.c: parses, delimits and rejects single directives. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/support.h"

#include "log/filter/filter.h"

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))
#define BRACES                                                                 \
    "braces in a value need \"~=\" and quotes, as in {f~=\"a{2}\"}:"           \
    " "

static const char *const signs[] = {
#define LOG_X(name, sign, words) sign,
    LOG_OPERATIONS(LOG_X)
#undef LOG_X
};

/* Describes a parsed directive: "target [span] {field sign value} level". */
static void describe(struct trace_text *out, const struct log_directive *d)
{
    static const char *const effects[] = {"", "^", "!"};

    trace_text_string(out, effects[d->effect]);
    trace_text_string(out, d->glob ? "~" : "");
    trace_text_printf(out, "'%s'", d->target);
    if (d->of_spans)
        trace_text_printf(out, " [%s]", d->span ? d->span : "any");
    if (d->of_events)
        trace_text_string(out, " event");
    for (size_t i = 0; i < d->field_count; i++)
        trace_text_printf(out, " {%s%s%s}", d->fields[i].name,
                          signs[d->fields[i].operation],
                          d->fields[i].text ? d->fields[i].text : "");
    trace_text_printf(out, " %u", d->level);
}

/* Parses a filter; returns a description of its directives in order, which is
 * kept. */
static char *reading_of(const char *text, char **complaints)
{
    struct trace_text said = {0}, read = {0};
    struct log_filter *filter = log_filter_parse(text, NULL, "LOG", &said);

    cr_assert_not_null(filter);
    for (size_t i = 0; i < filter->count; i++) {
        trace_text_string(&read, i ? "; " : "");
        describe(&read, &filter->directives[i]);
    }
    log_filter_free(filter);
    if (complaints)
        *complaints = said.data ? said.data : strdup("");
    else
        trace_text_free(&said);
    return test_keep(read.data ? read.data : strdup(""));
}

struct row {
    const char *text, *read; /* "": rejected */
};

static void check(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char *complaints, *read = reading_of(rows[i].text, &complaints);

        cr_expect_str_eq(read, rows[i].read, "\"%s\": %s", rows[i].text, read);
        cr_expect_eq(complaints[0] != '\0', rows[i].read[0] == '\0',
                     "\"%s\": %s", rows[i].text, complaints);
        free(complaints);
    }
}

/* ---- EnvFilter's state machine ---- */

Test(log_directive, parses_targets_and_levels_as_env_filter)
{
    static const struct row rows[] = {
        {"a", "'a' 5"},
        {"info", "'' 3"},
        {"INFO", "'' 3"},
        {"3", "'' 3"},
        {"a=", "'a' 5"},
        {"a=3", "'a' 3"},
        {"info=3", "'info' 3"},
        {"warning", "'warning' 5"},
        {"-=1", "'-' 1"},
        {"::=1", "'::' 1"},
        {"_", "'_' 5"},
        {"\xc3\xa9=1", "'\xc3\xa9' 1"},
        {"a.b/c*d]}\"e f=1", "'a.b/c*d]}\"e f' 1"},
        {"a{b=1", "'a{b' 1"},
        {"a~b!c^=1", "'a~b!c^' 1"},
        {"net/**=debug", "'net/**' 4"},
        {"net:debug", "'net:debug' 5"},
        {"=1", ""},
        {".a=1", ""},
        {"]", ""},
        {"}", ""},
        {"a==1", ""},
        {"a=b", ""},
        {"a=1=2", ""},
        {"a=6", ""},
    };

    check(rows, COUNT(rows));
}

Test(log_directive, parses_spans_as_env_filter)
{
    static const struct row rows[] = {
        {"[s]", "'' [s] 5"},
        {"[s]=", "'' [s] 5"},
        {"[s]=off", "'' [s] 0"},
        {"a[s]=1", "'a' [s] 1"},
        {"info[s]", "'info' [s] 5"},
        {"[]", "'' [] 5"},
        {"a[]=1", "'a' [] 1"},
        {"[a b=c\"[]", "'' [a b=c\"[] 5"},
        {"[s", ""},
        {"a[", ""},
        {"[s]a", ""},
        {"[s]]", ""},
        {"[s][t]", ""},
        {"[s]a=1", ""},
        {"[request id=5]", "'' [request id=5] 5"},
    };

    check(rows, COUNT(rows));
}

Test(log_directive, parses_fields_as_env_filter)
{
    static const struct row rows[] = {
        {"[{f}]", "'' [any] {f} 5"},
        {"[s{f}]=1", "'' [s] {f} 1"},
        {"[s{f=}]", "'' [s] {f=} 5"},
        {"[s{=5}]", "'' [s] {=5} 5"},
        {"[s{=}]", "'' [s] {=} 5"},
        {"[s{a=b=c}]", "'' [s] {a=b} 5"},
        {"[s{a==b}]", "'' [s] {a=} 5"},
        {"[s{url=http://x.y=1}]", "'' [s] {url=http://x.y} 5"},
        {"[s{f=[a]}]", "'' [s] {f=[a]} 5"},
        {"[s{f=\"bob\"}]", "'' [s] {f=\"bob\"} 5"},
        {"[s{f={a}]", "'' [s] {f={a} 5"},
        {"[s{a.b=x y}]", "'' [s] {a.b=x y} 5"},
        {"[s{}]", ""},
        {"[s{f}", ""},
        {"[s{f", ""},
        {"[s{f}}]", ""},
        {"[s{f}x]", ""},
        {"[s{f}]x", ""},
        {"[s{f=(}]", ""},
        {"a[s{f=1}]=3", "'a' [s] {f=1} 3"},
    };

    check(rows, COUNT(rows));
}

/* ---- Extensions ---- */

Test(log_directive, trims_white_space_around_tokens)
{
    static const struct row rows[] = {
        {" a = 1 ", "'a' 1"},
        {"\u3000"
         "a\u3000=\u3000"
         "1\u3000",
         "'a' 1"},
        {" a [ s { f = v } ] = 1 ", "'a' [s] {f=v} 1"},
        {"[ s ]", "'' [s] 5"},
        {"[ ]", "'' [] 5"},
        {"[ { f } ]", "'' [any] {f} 5"},
        {"! a", "!'a' 5"},
        {"^ a = 1", "^'a' 1"},
        {"^ = 1", "^'' 1"},
        {"~ a * = 1", "~'a *' 1"},
        {"{ f >= 5 } = 1", "'' event {f>=5} 1"},
        {"{ f = \" x \" }", "'' event {f= x } 5"},
        {"/ x / = 1", "'' event {message~= x } 1"},
        {"[s{f=\"a,b\" }]", "'' [s] {f=\"a,b\"} 5"},
    };

    check(rows, COUNT(rows));
}

Test(log_directive, parses_several_fields)
{
    static const struct row rows[] = {
        {"[s{a,b=1,c>2}]=1", "'' [s] {a} {b=1} {c>2} 1"},
        {"[s{a=\"x,y\",b}]", "'' [s] {a=\"x,y\"} {b} 5"},
        {"[s{a=\"x}y\"}]", "'' [s] {a=\"x}y\"} 5"},
        {"[s{a=\"x=y\"}]", "'' [s] {a=\"x=y\"} 5"},
        {"[s{a=\"x\\\"},b\"}]", "'' [s] {a=\"x\\\"},b\"} 5"},
        {"[s{a=x\"y}]", "'' [s] {a=x\"y} 5"},
        {"[s{a=\"}]", "'' [s] {a=\"} 5"},
        {"{a,b}", "'' event {a} {b} 5"},
        {"{a,}", ""},
        {"{,a}", ""},
        {"{a,,b}", ""},
        {"[s{a,}]", ""},
    };

    check(rows, COUNT(rows));
}

Test(log_directive, parses_every_operator)
{
    static const struct row rows[] = {
        {"{a}", "'' event {a} 5"},
        {"{a=1}", "'' event {a=1} 5"},
        {"{a!=1}=2", "'' event {a!=1} 2"},
        {"{a<1}", "'' event {a<1} 5"},
        {"{a<=1}", "'' event {a<=1} 5"},
        {"{a>1}", "'' event {a>1} 5"},
        {"{a>=1}", "'' event {a>=1} 5"},
        {"{a~=1}", "'' event {a~=1} 5"},
        {"[s{a~=b=c}]", "'' [s] {a~=b=c} 5"},
        {"{a~=b=c}", "'' event {a~=b=c} 5"},
        {"{a=b>c}", "'' event {a=b>c} 5"},
        {"{a>b=c}", "'' event {a>b=c} 5"},
        {"{a=\"==\"}", "'' event {a===} 5"},
        {"{a!b=1}", "'' event {a!b=1} 5"},
        {"{a=}", "'' event {a=} 5"},
        {"{a==1}", ""},
        {"{a=~1}", ""},
        {"{a=>1}", ""},
        {"{a=<1}", ""},
        {"{a<>1}", ""},
        {"{=1}", ""},
        {"{>1}", ""},
        {"{}", ""},
        {"{ }", ""},
        {"{a}b", ""},
        {"{a}[s]", ""},
        {"{a", ""},
        {"{", ""},
    };

    check(rows, COUNT(rows));
}

Test(log_directive, parses_exclusions_and_caps)
{
    static const struct row rows[] = {
        {"!a", "!'a' 5"},
        {"![s]", "!'' [s] 5"},
        {"!a[s{f=1}]", "!'a' [s] {f=1} 5"},
        {"!~a*", "!~'a*' 5"},
        {"!{user=root}", "!'' event {user=root} 5"},
        {"!/x/", "!'' event {message~=x} 5"},
        {"^a=off", "^'a' 0"},
        {"^[s]=warn", "^'' [s] 2"},
        {"^info", "^'' 3"},
        {"^=info", "^'' 3"},
        {"^a=", "^'a' 5"},
        {"^~a::=1", "^~'a::' 1"},
        {"^/x/=1", "^'' event {message~=x} 1"},
        {"^{f}=1", "^'' event {f} 1"},
        {"!", ""},
        {"^", ""},
        {"! ", ""},
        {"!a=1", ""},
        {"!a=", ""},
        {"!info", ""},
        {"!=info", ""},
        {"^a", ""},
        {"^[s]", ""},
        {"^{f}", ""},
        {"^/x/", ""},
        {"!!a", ""},
        {"!^a=1", ""},
        {"^!a=1", ""},
    };

    check(rows, COUNT(rows));
}

Test(log_directive, parses_globs_and_messages)
{
    static const struct row rows[] = {
        {"~a", "~'a' 5"},
        {"~*=1", "~'*' 1"},
        {"~net::=1", "~'net::' 1"},
        {"~info", "~'info' 5"},
        {"~a*[s]=1", "~'a*' [s] 1"},
        {"~a?[{f=1}]", "~'a?' [any] {f=1} 5"},
        {"/a, b=c/=1", "'' event {message~=a, b=c} 1"},
        {"/a\\/b/", "'' event {message~=a\\/b} 5"},
        {"/\\\\/", "'' event {message~=\\\\} 5"},
        {"//=1", "'' event {message~=} 1"},
        {"/[,]{1,2}/=1", "'' event {message~=[,]{1,2}} 1"},
        {"~", ""},
        {"~=1", ""},
        {"~[s]", ""},
        {"/a", ""},
        {"/a\\/", ""},
        {"/(/", ""},
        {"/a/i", ""},
        {"/a/ x", ""},
        {"/", ""},
    };

    check(rows, COUNT(rows));
}

/* ---- Where a directive ends ---- */

Test(log_directive, ends_at_the_first_comma_outside_brackets)
{
    static const struct {
        const char *text;
        size_t extent;
    } rows[] = {
        {"", 0},
        {",", 0},
        {"a", 1},
        {"a,b", 1},
        {"a=1,b", 3},
        {"a[s{x,y}]=1,b", 11},
        {"[s{x=\"}\",y}],b", 12},
        {"[s{x=\",\"}],b", 10},
        {"[s,t],b", 2},
        {"{x,y}=1,b", 7},
        {" ! {x,y},b", 8},
        {"^[s{x,y}]=1,b", 11},
        {"~a[s{x,y}],b", 10},
        {"/a,b/=1,c", 7},
        {"!/a,b/,c", 6},
        {"/a\\/,b/,c", 7},
        {"/a,b", 2},
        {"/a\\", 3},
        {"{a,b", 2},
        {"[s{a,b]", 4},
        {"a=[s{x,y}]", 6},
        {"a/b,c/", 3},
        {"a{x,y}", 3},
        {"{a=\"x,y}", 8},
        {"{a=\"x,y", 5},
        {"{a=\"x\\\",y\"},b", 11},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        bool unclosed = false;
        size_t extent = log_directive_extent(rows[i].text, &unclosed);

        cr_expect_eq(extent, rows[i].extent, "\"%s\": %zu", rows[i].text,
                     extent);
    }
}

Test(log_directive, keeps_the_directives_after_an_unclosed_brace)
{
    static const struct row rows[] = {
        {"{a,b=1", "'b' 1"}, {"[s{a=1,b=2", "'b' 2"}, {"/a,b=1", "'b' 1"},
        {"[s,b=1", "'b' 1"}, {"{a,{b,c=1", "'c' 1"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char *read = reading_of(rows[i].text, NULL);

        cr_expect_str_eq(read, rows[i].read, "\"%s\": %s", rows[i].text, read);
    }
}

/* Rescanning the rest for each of these would take hours. */
Test(log_directive, parses_long_filters_in_linear_time)
{
    static const char *const pieces[] = {
        "[",      "{",       "(",          "/",
        "a,",     ",",       "=",          "\"",
        "!",      "^",       "~",          "\\",
        " ",      "{,",      "[{,",        "{a,",
        "[s{a,",  "/,",      "!{,",        "~a[{",
        "{a=\",", "{a=\"\\", "[s{a=\"",    "{a=1},",
        "/\\/,",  "a=x,",    "{a<\"}\",",  "\xe3\x80\x80",
        "\xff",   "{a=\" ,", "{a=\"\"  ,",
    };

    for (size_t i = 0; i < COUNT(pieces); i++)
        for (size_t closed = 0; closed < 2; closed++) {
            struct trace_text text = {0};
            char *complaints;

            while (text.size < 300000)
                trace_text_string(&text, pieces[i]);
            trace_text_string(&text, closed ? ",{a=\"}\"" : "");
            reading_of(text.data, &complaints);
            cr_expect_lt(strlen(complaints), 10000, "\"%s\"...", pieces[i]);
            free(complaints);
            trace_text_free(&text);
        }
}

/* ---- Messages ---- */

/* Every message, and the column of its caret. */
static const struct {
    const char *text, *what;
    size_t caret;
} mistakes[] = {
    {"a=warning", "unknown level \"warning\"; did you mean \"warn\"?", 2},
    {"a=7", "unknown level \"7\"", 2},
    {"a=all", "unknown level \"all\"; did you mean \"trace\"?", 2},
    {"a= none", "unknown level \"none\"; did you mean \"off\"?", 3},
    {"a==debug", "unknown level \"=debug\"; did you mean \"debug\"?", 2},
    {"a=\"debug\"", "unknown level \"\"debug\"\"; did you mean \"debug\"?", 2},
    {"a='t>", "unknown level \"'t>\"", 2},
    {"a='debug;b=info",
     "unknown level \"'debug;b=info\"; did you mean \"debug,b=info\"?", 2},
    {"a=debug;b=info",
     "unknown level \"debug;b=info\"; did you mean \"debug,b=info\"?", 2},
    {"a=debug b=info",
     "unknown level \"debug b=info\"; did you mean \"debug,b=info\"?", 2},
    {"a=debug;", "unknown level \"debug;\"; did you mean \"debug\"?", 2},
    {"a=debug[s{f=1}]",
     "unknown level \"debug[s{f=1}]\"; did you mean \"a[s{f=1}]=debug\"?", 2},
    {"[s]=debug|info",
     "unknown level \"debug|info\"; did you mean \"debug,info\"?", 4},
    {"debug=net",
     "the level must follow \"=\" in \"debug=net\"; did you "
     "mean "
     "\"net=debug\"?",
     6},
    {"net{id=5}=info",
     "a span's fields must be in brackets in \"net{id=5}=info\"; "
     "did "
     "you mean \"net[{id=5}]=info\"?",
     3},
    {"!a=info", "\"!\" takes no level; use \"^\" to limit levels: \"!a=info\"",
     3},
    {"!info",
     "\"!\" cannot exclude a level; use \"^\" to limit levels: \"!info\"", 1},
    {"^net", "\"^\" needs a level, as in ^net=info: \"^net\"", 4},
    {"^[s]", "\"^\" needs a level, as in ^net=info: \"^[s]\"", 4},
    {"*=debug",
     "\"~\" must precede a glob in \"*=debug\"; "
     "did "
     "you mean \"~*=debug\"?",
     0},
    {"!*a",
     "\"~\" must precede a glob in \"!*a\"; did "
     "you "
     "mean \"!~*a\"?",
     1},
    {"=info", "no directive starts with \"=info\"; did you mean \"info\"?", 0},
    {"=x", "no directive starts with \"=x\"", 0},
    {"\"net=info\"",
     "a directive must not be quoted: \"\"net=info\"\"; did you "
     "mean \"net=info\"?",
     0},
    {".a", "no directive starts with \".a\"", 0},
    {"!", "a directive must follow \"!\"", 1},
    {"^", "a directive must follow \"^\"", 1},
    {"{customer=\"bob}", "unclosed quote in \"{customer=\"bob}\"", 10},
    {"{m~=\"bob\\\"}", "unclosed quote in \"{m~=\"bob\\\"}\"", 4},
    {"{a=\"}", "unclosed quote in \"{a=\"}\"", 3},
    {"{a=1,b=\"x}", "unclosed quote in \"{a=1,b=\"x}\"", 7},
    {"{price>}", "a value is missing in \"{price>}\"", 7},
    {"{a>= ,b}", "a value is missing in \"{a>= ,b}\"", 5},
    {"[order{customer=a{2}}]", BRACES "\"[order{customer=a{2}}]\"", 17},
    {"[s{f=(a{2,3})}]", BRACES "\"[s{f=(a{2,3})}]\"", 7},
    {"{f~=a{2}}=info", BRACES "\"{f~=a{2}}=info\"", 5},
    {"[s{f~=\"a{2}\"}x", "\"]\" must follow the fields in \"[s{f~=\"a{2}\"}x\"",
     13},
    {"a[s", "unclosed bracket in \"a[s\"", 1},
    {"[s{a=1", "unclosed brace in \"[s{a=1\"", 2},
    {"{id=5", "unclosed brace in \"{id=5\"", 0},
    {"/ab", "a closing \"/\" is missing in \"/ab\"", 0},
    {"[s{a}x", "\"]\" must follow the fields in \"[s{a}x\"", 5},
    {"[s{}]", "a field's name is missing in \"[s{}]\"", 3},
    {"{a,,b}", "a field's name is missing in \"{a,,b}\"", 3},
    {"{>5}", "a field's name is missing in \"{>5}\"", 1},
    {"[s]x", "only \"=\" and a level can follow here in \"[s]x\"", 3},
    {"/a/i=1", "only \"=\" and a level can follow here in \"/a/i=1\"", 3},
    {"{a} b", "only \"=\" and a level can follow here in \"{a} b\"", 4},
    {"~=1", "a target must follow \"~\" in \"~=1\"", 1},
    {"{id==5}", "unknown operator \"==\"; did you mean \"=\"?", 3},
    {"{a=~x}", "unknown operator \"=~\"; did you mean \"~=\"?", 2},
    {"/a(b/", "bad regular expression: missing closing parenthesis in \"a(b\"",
     4},
    {"{k~=\"a)b\"}",
     "bad regular expression: unmatched closing parenthesis in \"a)b\"", 6},
    {"[s{k=*}]",
     "bad regular expression: quantifier does not follow a repeatable item in "
     "\"*\"",
     5},
};

Test(log_directive, reports_each_mistake_with_a_caret_and_a_correction)
{
    for (size_t i = 0; i < COUNT(mistakes); i++) {
        struct trace_text expected = {0};
        char *complaints;

        reading_of(mistakes[i].text, &complaints);
        trace_text_printf(&expected,
                          "LOG: %s (directive ignored)\n    %s\n"
                          "    %*s^\n",
                          mistakes[i].what, mistakes[i].text,
                          (int)mistakes[i].caret, "");
        cr_expect_str_eq(complaints, expected.data, "\"%s\": %s",
                         mistakes[i].text, complaints);
        trace_text_free(&expected);
        free(complaints);
    }
}

Test(log_directive, suggests_directives_that_parse)
{
    static const char *const texts[] = {
        "debug=net", "net{id=5}=info", "a=debug[s{f=1}]", "*=debug",
        "!*a",       "\"net=info\"",   "=info",           "'a[s]=1'",
    };

    for (size_t i = 0; i < COUNT(texts); i++) {
        char *complaints, *meant, *more;

        reading_of(texts[i], &complaints);
        meant = strstr(complaints, "did you mean \"");
        cr_assert_not_null(meant, "%s", complaints);
        meant += strlen("did you mean \"");
        *strstr(meant, "\"?") = '\0';
        reading_of(meant, &more);
        cr_expect_str_empty(more, "%s: %s", meant, more);
        free(complaints);
        free(more);
    }
}

/* ---- Targets ---- */

Test(log_directive, matches_targets_by_prefix_or_glob)
{
    static const struct {
        const char *directive, *target;
        bool matches;
    } rows[] = {
        {"net", "net", true},
        {"net", "network", true},
        {"net", "net::tcp", true},
        {"net", "ne", false},
        {"net", "xnet", false},
        {"net", "NET", false},
        {"net::", "net", false},
        {"net::", "net::tcp", true},
        {"net*", "network", false},
        {"net*", "net*x", true},
        {"~net", "net", true},
        {"~net", "network", false},
        {"~net", "net::tcp", false},
        {"~net::", "net", true},
        {"~net::", "net::tcp::in", true},
        {"~net::", "network", false},
        {"~net::", "net:", false},
        {"~n?t::", "nut::x", true},
        {"~*::tcp::", "net::tcp", true},
        {"~*::tcp::", "a::tcp::b", true},
        {"~*::tcp::", "net::tcpx", false},
        {"~net*", "network::tcp", true},
        {"~*", "", true},
        {"~**", "x", true},
        {"~?", "", false},
        {"~?", "\xc3\xa9", true},
        {"~??", "\xc3\xa9", false},
        {"~a*b*c", "aXbXbc", true},
        {"~a*b*c", "aXbXbd", false},
        {"~a::b", "a::b", true},
        {"~*a", "baa", true},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct log_filter *filter =
            log_filter_parse(rows[i].directive, NULL, "LOG", NULL);

        cr_assert_eq(filter->count, 1);
        cr_expect_eq(
            log_directive_targets(&filter->directives[0], rows[i].target,
                                  strlen(rows[i].target)),
            rows[i].matches, "%s and %s", rows[i].directive, rows[i].target);
        log_filter_free(filter);
    }
}

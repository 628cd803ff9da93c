/* log_suggest_test.c: suggestions for words and directives. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/support.h"

/* A call site of a kind, name and target. */
#define SITE(of, called, in)                                                   \
    ((struct trace_site){                                                      \
        .kind = TRACE_SITE_##of, .name = (called), .target = (in)})

static const struct trace_site no_site[] = {{.name = NULL}};

/* Expects the suggestion for a directive, given call sites up to one without a
 * target. */
static void expect_guess(const char *directive, const char *meant,
                         const struct trace_site *sites)
{
    struct log_suggestion suggestion = {.directive = directive};

    for (; sites->target; sites++)
        log_suggest_site(&suggestion, sites);
    cr_expect_eq(log_suggest_end(&suggestion), meant != NULL, "%s", directive);
    cr_expect_str_eq(suggestion.text.data ? suggestion.text.data : "",
                     meant ? meant : "", "%s", directive);
    trace_text_free(&suggestion.text);
}

Test(log_suggest, suggests_the_span_of_that_name)
{
    static const struct {
        const char *directive, *meant;
    } rows[] = {
        {"healthcheck", "[healthcheck]"},
        {"healthcheck=debug", "[healthcheck]=debug"},
        {"healthcheck=off", "![healthcheck]"},
        {"healthcheck = 0", "![healthcheck]"},
        {"!healthcheck", "![healthcheck]"},
        {"^healthcheck=warn", "^[healthcheck]=warn"},
        {"^healthcheck=off", "^[healthcheck]=off"},
        {"healthchecks", NULL},
        {"health=off", NULL},
        {"~healthcheck", NULL},
        {"healthcheck[s]", NULL},
        {"[healthcheck]", NULL},
        {"", NULL},
    };

    const struct trace_site sites[] = {
        SITE(EVENT, "health", "web"),
        SITE(SPAN, "healthcheck", "web"),
        {.name = NULL},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        expect_guess(rows[i].directive, rows[i].meant, sites);
}

Test(log_suggest, suggests_similar_names)
{
    static const struct {
        const char *directive, *meant;
    } rows[] = {
        {"cahe=debug", "cache=debug"},
        {"cahe::lru=debug", "cache::lru=debug"},
        {"cachee", "cache"},
        {"!Cachee", "!cache"},
        {"^cache::lrus=info", "^cache::lru=info"},
        {"cahce::map::x", NULL},
        {"[lru_pt]=trace", "[lru_put]=trace"},
        {"cache[lru_pt{key=5}]", "cache[lru_put{key=5}]"},
        {"[evicte]", NULL}, /* that is an event's name */
        {"cache/map.c", "cache::map"},
        {"cach:debug", "cach=debug"}, /* similar names come first */
        {"far=debug", NULL},
        {"wxyz::longer=debug", NULL},
        {"inof", NULL}, /* resembles a level */
        {"~cach", NULL},
        {"{cach}", NULL},
        {"!~cach", NULL},
        {"[", NULL},
    };
    const struct trace_site sites[] = {
        SITE(EVENT, "evicted", "cache::lru"), SITE(EVENT, "", "into"),
        SITE(SPAN, "lru_put", "cache::lru"),  SITE(SPAN, NULL, "cache::map"),
        SITE(SPAN, "lru_get", "cache::lru"),  {.name = NULL},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        expect_guess(rows[i].directive, rows[i].meant, sites);
}

Test(log_suggest, suggests_by_form)
{
    static const struct {
        const char *directive, *meant;
    } rows[] = {
        {"net:debug", "net=debug"},
        {"net::tcp:5", "net::tcp=5"},
        {"net::debug", NULL},
        {"info;shop=debug", "info,shop=debug"},
        {"info shop=debug", "info,shop=debug"},
        {"info ; shop\tkv=debug", "info,shop,kv=debug"},
        {"shop kv[s]", NULL},
        {"info kv[s]", "info,kv[s]"},
        {"INFO|shop", "INFO,shop"},
        {"shop kv", NULL},
        {"a_very_long_target_of_a_program shop", NULL},
        {"shop;", NULL},
        {";shop=debug", NULL},
        {"shop;=debug", NULL},
        {"shop::*=debug", "~shop::*=debug"},
        {":debug", NULL},
        {"net:tcp", NULL},
        {"[request id]", NULL},
        {"[a b]", NULL},
        {"[request{id=5 x}]", NULL},
        {"net/**", "~net::**"},
        {"net/*=debug", "~net::*=debug"},
        {"net::*=debug", "~net::*=debug"},
        {"net*=debug", "~net*=debug"},
        {"n?t::tcp", "~n?t::tcp"},
        {"a/*/b", "~a::*::b"},
        {"net*[s]=info", "~net*[s]=info"},
        {"kv/store", "kv::store"},
        {"kv/store.c=debug", "kv::store=debug"},
        {"store.cpp", "store"},
        {"store.cx", NULL},
        {".c", NULL},
        {"a=*", NULL},
        {"net", NULL},
        {"", NULL},
        {"~a/b", NULL},
        {"/a/", NULL},
        {"!a*", NULL},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        expect_guess(rows[i].directive, rows[i].meant, no_site);
}

Test(log_suggest, suggests_directives_that_parse)
{
    static const char *const directives[] = {
        "net:debug",
        "net/**",
        "a/*/b=info",
        "kv/store.c",
    };

    for (size_t i = 0; i < sizeof(directives) / sizeof(*directives); i++) {
        struct log_suggestion suggestion = {.directive = directives[i]};
        struct trace_text said = {0};

        cr_assert(log_suggest_end(&suggestion));
        log_filter_free(
            log_filter_parse(suggestion.text.data, NULL, "LOG", &said));
        cr_expect_eq(said.size, 0, "%s", said.data);
        trace_text_free(&suggestion.text);
        trace_text_free(&said);
    }
}

/* ---- Words ---- */

Test(log_suggest, compares_words_in_any_case)
{
    cr_expect(log_same_word("NaN", "nan"));
    cr_expect(log_same_word("", ""));
    cr_expect_not(log_same_word("nan", "nana"));
    cr_expect_not(log_same_word("nana", "nan"));
    cr_expect_not(log_same_word("[", "{"));
    cr_expect_not(log_same_word("@", "`"));
}

Test(log_suggest, finds_the_nearest_level)
{
    static const struct {
        const char *word, *nearest;
    } rows[] = {
        {"warning", "warn"},
        {"WARM", "warn"},
        {"err", "error"},
        {"eror", "error"},
        {"errors", "error"},
        {"inf", "info"},
        {"information", "info"},
        {"inof", "info"},
        {"debgu", "debug"},
        {"dbg", "debug"},
        {"of", "off"},
        {"tarce", "trace"},
        {"tr", "trace"},
        {"ALL", "trace"},
        {"*", "trace"},
        {"verbose", "trace"},
        {"none", "off"},
        {"Fatal", "error"},
        {"critical", "error"},
        {"notice", "info"},
        {"x", NULL},
        {"", NULL},
        {"e", NULL},
        {"purple", NULL},
        {"7", NULL},
        {"net", NULL},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const char *nearest = log_nearest_level(rows[i].word);

        if (rows[i].nearest)
            cr_expect_str_eq(nearest ? nearest : "none", rows[i].nearest, "%s",
                             rows[i].word);
        else
            cr_expect_null(nearest, "%s: %s", rows[i].word, nearest);
    }
}

Test(log_suggest, suggests_levels_within_two_edits)
{
    cr_expect_str_eq(log_nearest_level("wran"), "warn");
    cr_expect_str_eq(log_nearest_level("information"), "info");
    cr_expect_null(log_nearest_level("server"));
    cr_expect_null(log_nearest_level("net"));
}

Test(log_suggest, accepts_words_of_any_length)
{
    static const char long_word[] = "a-word-of-more-than-thirty-one-letters";
    const char *const words[] = {long_word, "warn", NULL};
    static char huge[100000];

    memset(huge, 'a', sizeof(huge) - 1);
    cr_expect_str_eq(log_nearest("wran", words), "warn");
    cr_expect_str_eq(log_nearest("rnu", (const char *[]){"run", NULL}), "run");
    cr_expect_null(log_nearest("rup", (const char *[]){"log", NULL}));
    cr_expect_str_eq(log_nearest(long_word, words), long_word);
    cr_expect_null(log_nearest(huge, words));
}

/* ---- Advice ---- */

static char *advice_of(const char *text, bool *advised)
{
    struct trace_text out = {0};
    struct log_filter *filter = log_filter_parse(text, NULL, "LOG", NULL);

    cr_assert_not_null(filter);
    *advised = log_filter_advise(filter, "LOG", &out);
    log_filter_free(filter);
    return test_keep(out.data ? out.data : strdup(""));
}

#define QUOTES                                                                 \
    "a value in quotes matches only text that is printed in quotes; write "
#define SECOND "the text after the second \"=\" is ignored; write "

Test(log_suggest, warns_about_values_that_envfilter_parses_differently)
{
    static const struct {
        const char *text, *advice;
    } rows[] = {
        {"[s{f=\"bob\"}]", QUOTES "f=bob, or f~=\"bob\""},
        {"info,m[{f = \"bob\"}]=debug", QUOTES "f=bob, or f~=\"bob\""},
        {"[s{f=\"a,b\"}]", QUOTES "f~=\"a,b\""},
        {"[s{f=\"a b\"}]", QUOTES "f~=\"a b\""},
        {"[s{f==1}]", "a second \"=\" leaves an empty expression; write f=1"},
        {"[s{f== 1}]", "a second \"=\" leaves an empty expression; write f=1"},
        {"[s{f=1 g=bob}]", SECOND "f~=\"1 g=bob\""},
        {"[s{f=1  g= bob}]", SECOND "f~=\"1  g=bob\""},
        {"[s{f=a=b}]", SECOND "f~=\"a=b\""},
        {"![s{a,f=a=b}]", SECOND "f~=\"a=b\""},
        {"[s{f=bob}]", NULL},
        {"[s{f=\"}]", NULL},
        {"[s{f=\"\"}]", NULL},
        {"[s{f=}]", NULL},
        {"[s{f~=\"bob\"}]", NULL},
        {"[s{f!=\"bob\"}]", NULL},
        {"[s{f>=1}]", NULL},
        {"{f=\"bob\"}", NULL},
        {"{f~=a=b}", NULL},
        {"info,net=debug,/a=b=c/", NULL},
        {"", NULL},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        bool advised;
        char *advice = advice_of(rows[i].text, &advised);

        cr_expect_eq(advised, rows[i].advice != NULL, "%s", rows[i].text);
        cr_expect_eq(advice[0] != '\0', advised);
        if (rows[i].advice)
            cr_expect(strstr(advice, rows[i].advice), "%s: %s", rows[i].text,
                      advice);
    }
}

Test(log_suggest, names_the_directive_in_its_advice)
{
    bool advised;

    cr_expect_str_eq(
        advice_of("info,[s{f==\x1b}]=debug,[t{g==1}]", &advised),
        "LOG: [t{g==1}]: a second \"=\" leaves an empty expression; write g=1\n"
        "LOG: [s{f==\\x1b}]=debug: a second \"=\" leaves an empty expression; "
        "write f=\\x1b\n");
}

/* log_meant_test.c: what was meant by a directive that was about nothing. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* A site of that kind, name and target. */
#define SITE(of, called, in)                                                   \
    ((struct trace_site){                                                      \
        .kind = TRACE_SITE_##of, .name = (called), .target = (in)})

static const struct trace_site no_site[] = {{.name = NULL}};

/* What is guessed with some call sites, up to one without a target. */
static void expect_guess(const char *directive, const char *meant,
                         const struct trace_site *sites)
{
    struct log_guess guess = {.directive = directive};

    for (; sites->target; sites++)
        log_guess_site(&guess, sites);
    cr_expect_eq(log_guess_end(&guess), meant != NULL, "%s", directive);
    cr_expect_str_eq(guess.meant.data ? guess.meant.data : "",
                     meant ? meant : "", "%s", directive);
    trace_text_free(&guess.meant);
}

Test(log_meant, knows_a_span_by_its_name)
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

Test(log_meant, knows_what_is_spelled_nearly_so)
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
        {"[evicte]", NULL}, /* an event is called so */
        {"cache/map.c", "cache::map"},
        {"cach:debug", "cach=debug"}, /* what it looks like comes first */
        {"far=debug", NULL},
        {"wxyz::longer=debug", NULL},
        {"inof", NULL}, /* was a level */
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

Test(log_meant, knows_what_was_meant)
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
        {"shop::*=debug", "~shop::=debug"},
        {":debug", NULL},
        {"net:tcp", NULL},
        {"[request id=5]", "[request{id=5}]"},
        {"net[request  id=5]=info", "net[request{id=5}]=info"},
        {"[request(id=5)]", "[request{id=5}]"},
        {"[request id]", NULL},
        {"[a b]", NULL},
        {"[request{id=5 x}]", NULL},
        {"net/**", "~net::"},
        {"net/*=debug", "~net::=debug"},
        {"net::*=debug", "~net::=debug"},
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

/* What is suggested is no mistake. */
Test(log_meant, what_was_meant_can_be_read)
{
    static const char *const directives[] = {
        "net:debug", "[request id=5]", "net/**", "a/*/b=info", "kv/store.c",
    };

    for (size_t i = 0; i < sizeof(directives) / sizeof(*directives); i++) {
        struct log_guess guess = {.directive = directives[i]};
        struct trace_text said = {0};

        cr_assert(log_guess_end(&guess));
        log_filter_free(log_filter_parse(guess.meant.data, NULL, "LOG", &said));
        cr_expect_eq(said.size, 0, "%s", said.data);
        trace_text_free(&guess.meant);
        trace_text_free(&said);
    }
}

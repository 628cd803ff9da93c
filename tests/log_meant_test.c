/* log_meant_test.c: what was meant by a directive that was about nothing. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

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

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct trace_text meant = {0};

        cr_expect_eq(
            log_filter_meant_span(rows[i].directive, "healthcheck", &meant),
            rows[i].meant != NULL, "%s", rows[i].directive);
        cr_expect_str_eq(meant.data ? meant.data : "",
                         rows[i].meant ? rows[i].meant : "");
        trace_text_free(&meant);
    }
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

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct trace_text meant = {0};
        bool known = log_filter_meant(rows[i].directive, &meant);

        cr_expect_eq(known, rows[i].meant != NULL, "%s", rows[i].directive);
        cr_expect_str_eq(meant.data ? meant.data : "",
                         rows[i].meant ? rows[i].meant : "", "%s: %s",
                         rows[i].directive, meant.data);
        trace_text_free(&meant);
    }
}

/* What is suggested is no mistake. */
Test(log_meant, what_was_meant_can_be_read)
{
    static const char *const directives[] = {
        "net:debug", "[request id=5]", "net/**", "a/*/b=info", "kv/store.c",
    };

    for (size_t i = 0; i < sizeof(directives) / sizeof(*directives); i++) {
        struct trace_text meant = {0}, said = {0};

        cr_assert(log_filter_meant(directives[i], &meant));
        log_filter_free(log_filter_parse(meant.data, NULL, "LOG", &said));
        cr_expect_eq(said.size, 0, "%s", said.data);
        trace_text_free(&meant);
        trace_text_free(&said);
    }
}

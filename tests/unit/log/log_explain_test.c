/* log_explain_test.c: filters in words, as text, and what decides on a site. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/support.h"

#include "log/filter/filter.h"

TestSuite(log_explain);

static struct log_filter *parse(const char *text)
{
    struct trace_text complaints = {0};
    struct log_filter *filter =
        log_filter_parse(text, NULL, "LOG", &complaints);

    cr_assert_eq(complaints.size, 0, "%s", complaints.data);
    return filter;
}

static char *text_of(void (*put)(const struct log_filter *,
                                 struct trace_text *),
                     const char *text)
{
    struct log_filter *filter = parse(text);
    struct trace_text out = {0};

    put(filter, &out);
    log_filter_free(filter);
    return test_keep(out.data ? out.data : strdup(""));
}

/* ---- As text ---- */

Test(log_explain, prints_filters_as_text)
{
    static const struct {
        const char *filter, *text;
    } rows[] = {
        {"info", "info"},
        {"net", "net=trace"},
        {"net = debug , info", "net=debug,info"},
        {"5", "trace"},
        {"[request{id=5}]=warn", "[request{id=5}]=warn"},
        {"kv[get]", "kv[get]=trace"},
        {"^net=warn,info", "info,^net=warn"},
        {"!net", "!net"},
        {"~a::*=info", "~a::*=info"},
        {"/time.*out/", "/time.*out/=trace"},
        {"{n>5}=debug", "{n>5}=debug"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char *text = text_of(log_filter_text, rows[i].filter);

        cr_expect_str_eq(text, rows[i].text, "%s: %s", rows[i].filter, text);
    }
}

/* ---- In words ---- */

Test(log_explain, explains_each_directive)
{
    static const struct {
        const char *filter, *words;
    } rows[] = {
        {"info", "everything: info and more severe"},
        {"error", "everything: error alone"},
        {"off", "everything: nothing"},
        {"net", "spans and events whose target begins with \"net\": every "
                "level"},
        {"~net::", "spans and events of the module \"net\" and those within "
                   "it: also every level"},
        {"~n*", "spans and events whose target matches \"n*\": also every "
                "level"},
        {"[req]=warn", "spans \"req\": these, and within them warn and more "
                       "severe"},
        {"kv[req{id=5}]", "spans \"req\" whose target begins with \"kv\" "
                          "whose id is 5: these, and within them every level"},
        {"![req]", "spans \"req\": never, nor anything within them"},
        {"^[req]=warn", "spans \"req\": within them at most warn and more "
                        "severe"},
        {"^net=info", "spans and events whose target begins with \"net\": at "
                      "most info and more severe"},
        {"!{n!=1}", "events whose n differs from 1: never"},
        {"{n}", "events that have a field \"n\": also every level"},
        {"/x y/=info", "events whose message matches x y: also info and more "
                       "severe"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char *text = text_of(log_filter_explain, rows[i].filter), *line;

        cr_assert((line = strstr(text, "\n      ")), "%s", text);
        line += 7;
        line[strcspn(line, "\n")] = '\0';
        cr_expect_str_eq(line, rows[i].words, "%s", rows[i].filter);
    }
}

Test(log_explain, escapes_terminal_control_bytes)
{
    char *text = text_of(log_filter_explain, "[a{f=\x1bm}]");

    cr_expect_null(strchr(text, '\x1b'));
    cr_expect(strstr(text, "\\x1bm"), "%s", text);
}

/* ---- Call sites ---- */

static const char *const fields[] = {"n"};

Test(log_explain, names_the_directive_that_decides_on_a_call_site)
{
    static const struct {
        const char *filter;
        enum log_state state;
        const char *why;
    } rows[] = {
        {"info", LOG_STATE_ON, "info"},
        {"warn", LOG_STATE_OFF, "warn"},
        {"warn,net=info", LOG_STATE_ON, "net=info"},
        {"info,net::tcp=warn", LOG_STATE_OFF, "net::tcp=warn"},
        {"info,kv=trace", LOG_STATE_ON, "info"},
        {"info,!net", LOG_STATE_OFF, "!net"},
        {"info,^net=warn", LOG_STATE_OFF, "^net=warn"},
        {"info,^net=info", LOG_STATE_ON, "info"},
        {"warn,~*::tcp", LOG_STATE_ON, "~*::tcp"},
        {"warn,{n=1}", LOG_STATE_SOMETIMES, "{n=1}"},
        {"info,!{n=1}", LOG_STATE_SOMETIMES, "info !{n=1}"},
        {"warn,[req]", LOG_STATE_SOMETIMES, "[req]"},
        {"info,{other=1}", LOG_STATE_ON, "info"},
    };
    struct trace_site site =
        TEST_SITE(EVENT, INFO, "connected", "net::tcp", fields, 1);

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct log_filter *filter = parse(rows[i].filter);
        struct trace_text why = {0};

        cr_expect_eq(log_filter_judge(filter, &site, &why), rows[i].state, "%s",
                     rows[i].filter);
        cr_expect_str_eq(why.data ? why.data : "", rows[i].why, "%s: %s",
                         rows[i].filter, why.data);
        trace_text_free(&why);
        log_filter_free(filter);
    }
}

Test(log_explain, reports_a_site_as_undecided_without_memory)
{
    struct trace_site site =
        TEST_SITE(EVENT, INFO, "connected", "net::tcp", fields, 1);
    struct log_filter *filter = parse("{n=1}");
    struct trace_text why = {0};

    if (!test_can_fail_memory())
        cr_skip_test("a sanitizer owns the memory");
    test_fail_memory(1, true);
    cr_expect_eq(log_filter_judge(filter, &site, &why), LOG_STATE_SOMETIMES);
    test_fail_memory(0, false);
    log_filter_free(filter);
}

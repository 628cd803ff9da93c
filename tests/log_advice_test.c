/* log_advice_test.c: what EnvFilter reads otherwise than it was meant. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

static char *advice_of(const char *text, bool *advised)
{
    struct trace_text out = {0};
    struct log_filter *filter = log_filter_parse(text, NULL, "LOG", NULL);

    cr_assert_not_null(filter);
    *advised = log_filter_advise(filter, "LOG", &out);
    log_filter_free(filter);
    return out.data ? out.data : strdup("");
}

#define QUOTES                                                                 \
    "a value in quotes matches only text that is shown in quotes; write "
#define SECOND "what follows the second \"=\" is not looked at; write "

Test(log_advice, is_given_on_values_that_are_read_otherwise)
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
        {"[s{f=1 g=bob}]", SECOND "f=1,g=bob"},
        {"[s{f=1  g= bob}]", SECOND "f=1,g=bob"},
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
        free(advice);
    }
}

Test(log_advice, is_a_line_that_names_the_directive)
{
    bool advised;
    char *advice = advice_of("info,[s{f==\x1b}]=debug,[t{g==1}]", &advised);

    cr_expect_str_eq(advice,
                     "LOG: [t{g==1}]: a second \"=\" leaves an empty "
                     "expression; write g=1\n"
                     "LOG: [s{f==\\x1b}]=debug: a second \"=\" leaves an empty "
                     "expression; write f=\\x1b\n");
    free(advice);
}

Test(log_advice, is_not_a_flood)
{
    struct trace_text text = {0};
    bool advised;
    char *advice;
    size_t lines = 0;

    for (int i = 0; i < 1000; i++)
        trace_text_printf(&text, "[s{f%d==1}],", i);
    advice = advice_of(text.data, &advised);
    for (const char *c = advice; *c; c++)
        lines += *c == '\n';
    cr_expect_eq(lines, 11);
    cr_expect(strstr(advice, "LOG: there is advice on 990 more directives\n"));
    free(advice);
    trace_text_free(&text);
}

/* log_expect_read_test.c: conditions and paths of expectations. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/support.h"

#include "log/expect/expect.h"

TestSuite(log_expect_read);

static const struct kind of_events = {"event", EVENTS, SOME, ""};
static const struct kind of_spans = {"span", SPANS, SOME, ""};

static struct search search;
static struct log_expectation expectation;
static struct trace_text why;

static bool read_texts(const struct kind *kind, const char *const *texts)
{
    trace_text_clear(&why);
    expectation = (struct log_expectation){.texts = texts};
    search = (struct search){.expectation = &expectation, .kind = kind};
    return log_search_read(&search, &why);
}

#define read_all(kind, ...)                                                    \
    read_texts(kind, (const char *const[]){__VA_ARGS__, NULL})

static void forget(void)
{
    for (size_t i = 0; i < search.condition_count; i++) {
        log_replay_free(search.conditions[i].replay);
        log_filter_free(search.conditions[i].filter);
    }
    for (size_t i = 0; i < search.path_count; i++) {
        free(search.path[i].name);
        log_directive_free(&search.path[i].fields);
    }
    free(search.conditions);
    free(search.path);
}

Test(log_expect_read, splits_a_path_at_single_colons)
{
    static const struct {
        const char *path;
        size_t count;
        const char *names[3];
        size_t fields[3];
    } rows[] = {
        {"fill", 1, {"fill"}, {0}},
        {"outer:fill", 2, {"outer", "fill"}, {0, 0}},
        {"kv::store:fill{n=3}", 2, {"kv::store", "fill"}, {0, 1}},
        {"a{t=\"x:y\"}:b{n=1,m=2}:c", 3, {"a", "b", "c"}, {1, 2, 0}},
        {"{id=5}", 1, {""}, {1}},
        {"a b", 1, {"a b"}, {0}},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        cr_assert(read_all(&of_spans, rows[i].path), "%s: %s", rows[i].path,
                  why.data);
        cr_assert_eq(search.path_count, rows[i].count, "%s", rows[i].path);
        for (size_t k = 0; k < search.path_count; k++) {
            cr_expect_str_eq(search.path[k].name, rows[i].names[k]);
            cr_expect_eq(search.path[k].fields.field_count, rows[i].fields[k],
                         "%s: %zu", rows[i].path, k);
        }
        forget();
    }
}

Test(log_expect_read, rejects_bad_paths)
{
    static const struct {
        const char *path, *why;
    } rows[] = {
        {"", "a span without a name or fields"},
        {"outer:", "a span without a name or fields"},
        {":inner", "a span without a name or fields"},
        {"fill{n", "not a span: fill{n"},
        {"fill{n=3}x", "not a span: fill{n=3}x"},
        {"fill{=3}", "not a span: fill{=3}"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        cr_expect_not(read_all(&of_spans, rows[i].path), "%s", rows[i].path);
        cr_expect(strstr(why.data, rows[i].why), "%s: %s", rows[i].path,
                  why.data);
        cr_expect(strstr(why.data, "a path is like outer{id=5}:inner"));
        forget();
    }
}

Test(log_expect_read, parses_levels_and_filters)
{
    cr_assert(read_all(&of_events, "=warn", "info,kv=trace"));
    cr_assert_eq(search.condition_count, 2);
    cr_expect_eq(search.conditions[0].level, TRACE_LEVEL_WARN);
    cr_expect_null(search.conditions[0].filter);
    cr_expect_eq(search.conditions[1].level, 0);
    cr_expect(search.conditions[1].filter && search.conditions[1].replay);
    forget();
}

Test(log_expect_read, rejects_a_level_that_does_not_stand_alone)
{
    cr_expect_not(read_all(&of_events, "=error,db"));
    cr_expect_str_eq(why.data, "\"=error\" must be a filter of its own; "
                               "write \"=error\", \"db\"");
    forget();
    cr_expect_not(read_all(&of_events, "db,=error"));
    forget();
    cr_expect_not(read_all(&of_events, "=loud,db"));
    forget();
}

/* A test may not pass because its condition was ignored. */
Test(log_expect_read, rejects_a_filter_with_a_bad_directive)
{
    cr_expect_not(read_all(&of_events, "info,kv=loud"));
    cr_expect(strstr(why.data, "unknown level \"loud\""), "%s", why.data);
    cr_expect_null(strstr(why.data, "ignored"), "%s", why.data);
    forget();
}

Test(log_expect_read, does_not_parse_text)
{
    static const struct kind of_lines = {"contains", LINES, SOME, ""};

    cr_expect(read_all(&of_lines, "[{:"));
    cr_expect_eq(search.condition_count + search.path_count, 0);
}

Test(log_expect_read, gives_no_reason_without_memory)
{
    bool ok = false;

    if (!test_can_fail_memory())
        cr_skip_test("a sanitizer owns the memory");
    for (size_t nth = 1; !ok; nth++) {
        test_fail_memory(nth, true);
        ok = read_all(&of_spans, "a{n=1}:b");
        test_fail_memory(0, false);
        cr_expect_eq(why.size, 0, "%zu: %s", nth, why.data);
        forget();
    }
}

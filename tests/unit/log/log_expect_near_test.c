/* log_expect_near_test.c: the records nearest to an expectation. */
#include <criterion/criterion.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/support.h"

#include "log/expect/expect.h"

TestSuite(log_expect_near);

static const struct kind of_lines = {"contains", LINES, SOME, ""};
static const struct kind of_events = {"event", EVENTS, SOME, ""};

static struct log_expectation expectation;

static struct search search_for(const struct kind *kind,
                                const char *const *text)
{
    expectation = (struct log_expectation){.texts = text};
    return (struct search){.expectation = &expectation, .kind = kind};
}

static void offer(struct search *search, const char *line, int nearness)
{
    trace_text_clear(&search->line);
    trace_text_string(&search->line, line);
    log_search_offer(search, nearness);
}

static int distance(struct search *search, const char *line)
{
    int nearness = 0;

    trace_text_clear(&search->line);
    trace_text_string(&search->line, line);
    cr_assert(log_search_distance(search, &nearness));
    return -nearness;
}

static char *near_lines(struct search *search)
{
    struct trace_text why = {0};

    log_search_put_near(search, &why);
    for (size_t i = 0; i < search->near_count; i++)
        free(search->near[i].line);
    trace_text_free(&search->line);
    return test_keep(why.data ? why.data : strdup(""));
}

Test(log_expect_near, counts_edits_at_any_place_of_a_line)
{
    static const char *const text[] = {"evicted", NULL};
    struct search search = search_for(&of_lines, text);

    cr_expect_eq(distance(&search, "evicted"), 0);
    cr_expect_eq(distance(&search, "kv: evicted key=1"), 0);
    cr_expect_eq(distance(&search, "kv: evictd key=1"), 1);
    cr_expect_eq(distance(&search, "kv: evoctd key=1"), 2);
    cr_expect_eq(distance(&search, ""), 7);
    trace_text_free(&search.line);
}

Test(log_expect_near, stops_comparing_after_some_megabytes)
{
    static const char *const text[] = {"x", NULL};
    struct search search = search_for(&of_lines, text);
    int nearness = 7;

    search.compared = COMPARED_MAX - 2;
    cr_expect_eq(distance(&search, "yyx"), 1, "only two bytes are compared");
    cr_expect_not(log_search_distance(&search, &nearness));
    cr_expect_eq(nearness, 7);
    trace_text_free(&search.line);
}

Test(log_expect_near, keeps_the_five_nearest_in_their_order)
{
    static const char *const text[] = {"a long text to find", NULL};
    struct search search = search_for(&of_lines, text);

    offer(&search, "far", -9);
    for (int i = 0; i < 6; i++) {
        char line[] = {(char)('a' + i), '\0'};

        offer(&search, line, -1);
    }
    cr_expect_str_eq(near_lines(&search),
                     "\n  nearest: a\n  nearest: b\n  nearest: c\n  nearest: "
                     "d\n  nearest: e");
}

Test(log_expect_near, shows_only_matches_if_there_are_any)
{
    static const char *const text[] = {"evicted", NULL};
    struct search search = search_for(&of_lines, text);

    search.matched = 1;
    offer(&search, "no such thing", -7);
    offer(&search, "evicted", INT_MAX);
    cr_expect_str_eq(near_lines(&search), "\n  found:   evicted");
}

Test(log_expect_near, shows_some_records_if_none_is_near)
{
    static const char *const text[] = {"evicted", NULL};
    struct search search = search_for(&of_lines, text);

    offer(&search, "no such thing", -7);
    cr_expect_str_eq(near_lines(&search), "\n  nearest: no such thing");
}

Test(log_expect_near, shows_events_that_meet_the_most_conditions)
{
    static const char *const texts[] = {"kv", "=warn", NULL};
    struct search search = search_for(&of_events, texts);

    offer(&search, "meets none", 0);
    offer(&search, "meets one", 1);
    cr_expect_str_eq(near_lines(&search), "\n  nearest: meets one");
}

Test(log_expect_near, cuts_long_lines_between_characters)
{
    static const char *const text[] = {"x", NULL};
    struct search search = search_for(&of_lines, text);
    struct trace_text line = {0};
    char *lines;

    trace_text_string(&line, "x");
    while (line.size <= NEAR_BYTES + 10)
        trace_text_string(&line, "\xe2\x82\xac");
    offer(&search, line.data, INT_MAX);
    lines = near_lines(&search);
    cr_expect_lt(strlen(lines), NEAR_BYTES + 20);
    cr_expect_str_eq(lines + strlen(lines) - 6, "\xe2\x82\xac...");
    trace_text_free(&line);
}

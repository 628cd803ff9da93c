/* expect_near.c: finds the records nearest to an expectation. */
#include <limits.h>
#include <stdlib.h>

#include "expect.h"

/* Returns the number of edits that make `text` a part of `line`: Sellers'
 * variant of Levenshtein's algorithm, which may start at any place of the line.
 */
static int distance_within(const char *text, const char *line, size_t size)
{
    int row[256], least, n = (int)strnlen(text, 255);

    for (int j = 0; j <= n; j++)
        row[j] = j;
    least = n;
    for (size_t i = 0; i < size; i++) {
        int corner = 0;

        for (int j = 1; j <= n; j++) {
            int changed = corner + (line[i] != text[j - 1]);
            int around = row[j] < row[j - 1] ? row[j] : row[j - 1];

            corner = row[j];
            row[j] = changed < around + 1 ? changed : around + 1;
        }
        least = row[n] < least ? row[n] : least;
    }
    return least;
}

bool log_search_distance(struct search *search, int *nearness)
{
    const struct trace_text *line = &search->line;

    size_t left = COMPARED_MAX - search->compared;
    size_t size = line->size < left ? line->size : left;

    if (!left)
        return false;
    search->compared += size;
    *nearness = -distance_within(search->expectation->texts[0],
                                 line->data ? line->data : "", size);
    return true;
}

static char *shortened(const char *line)
{
    size_t size = strnlen(line, NEAR_BYTES + 1);
    bool cut = size > NEAR_BYTES;
    char *text = NULL;

    if (asprintf(&text, "%.*s%s",
                 (int)(cut ? trace_utf8_boundary(line, NEAR_BYTES) : size),
                 line, cut ? "..." : "") < 0)
        return NULL;
    return text;
}

/* Among equally near records the first ones stay. */
void log_search_offer(struct search *search, int nearness)
{
    size_t least = 0;

    for (size_t i = 1; i < search->near_count; i++)
        if (search->near[i].nearness <= search->near[least].nearness)
            least = i;
    if (search->near_count == NEAR_MAX) {
        if (nearness <= search->near[least].nearness)
            return;
        free(search->near[least].line);
        search->near_count--;
        memmove(&search->near[least], &search->near[least + 1],
                (search->near_count - least) * sizeof(*search->near));
    }
    search->near[search->near_count++] =
        (struct near){nearness, search->refused,
                      shortened(search->line.data ? search->line.data : "?")};
}

/* Returns whether a record is near enough to print. If none is near, a few
 * records are printed anyway. */
static bool is_near(const struct search *search, int nearness)
{
    int best = INT_MIN, size;

    for (size_t i = 0; i < search->near_count; i++)
        if (search->near[i].nearness != INT_MAX &&
            search->near[i].nearness > best)
            best = search->near[i].nearness;
    if (nearness == INT_MAX)
        return true;
    if (search->kind->looked_at == EVENTS)
        return nearness == best && (best || !search->matched);
    size = (int)strlen(search->expectation->texts[0]);
    return nearness >= best + (best < -2 ? best : -2) &&
           (!search->matched || 2 * -best <= size);
}

/* A single filter needs no name. */
static void put_refused(const struct search *search, const struct near *near,
                        struct trace_text *why)
{
    const char *before = "\n             refused by ";

    if (near->nearness == INT_MAX || search->condition_count < 2)
        return;
    for (size_t i = 0; i < search->condition_count && i < 32; i++) {
        if (!(near->refused >> i & 1))
            continue;
        trace_text_string(why, before);
        log_expectation_quote(why, search->expectation->texts[i]);
        before = ", ";
    }
}

void log_search_put_near(const struct search *search, struct trace_text *why)
{
    for (size_t i = 0; i < search->near_count; i++) {
        const struct near *near = &search->near[i];

        if (!is_near(search, near->nearness))
            continue;
        trace_text_printf(why, "\n  %s %s",
                          near->nearness == INT_MAX ? "found:  " : "nearest:",
                          near->line ? near->line : "?");
        put_refused(search, near, why);
    }
}

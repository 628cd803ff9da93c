/* view_search.c: finds tests by name and lines by text, in one run. The page
 * asks for one run after the other.
 *
 * A recording gets a second at most, and a run some, so that a huge one keeps
 * nobody waiting. The answer says what was left out.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "harness/run/page/attempts.h"
#include "log/lines/layout.h"
#include "log/replay/entry_text.h"
#include "runners/commands/report_page.h"
#include "runners/runs/find.h"
#include "runners/runs/run_json.h"
#include "trace/base/clock.h"
#include "trace/base/strings.h"
#include "view.h"

#define SECOND UINT64_C(1000000000) /* ns */

enum {
    HITS_MOST = 500,
    RECORDING_SECONDS = 1, /* that may be spent on it */
    RUN_SECONDS = 5,
    CLOCK_EVERY = 4096, /* entries between looks at the clock */
    TEXT_MOST = 400,    /* bytes of a line that are sent */
    TEXT_BEFORE = 100,  /* of these, before the place that matches */
};

struct search {
    const struct view_wanted *wanted;
    const struct test_log_run *run;
    uint64_t began; /* ns */
    cJSON *tests;
    size_t hits;
    size_t unsearched; /* tries, for lack of time */
    size_t cut;        /* tries that were searched in part, for the same */
    size_t unreadable; /* tries */
    struct log_memory memory;
    struct trace_text text; /* of a line */
};

static bool is_full(const struct search *search)
{
    return search->hits >= search->wanted->most;
}

static bool is_over(uint64_t began, uint64_t ns)
{
    return trace_clock_ns(CLOCK_MONOTONIC) - began >= ns;
}

/* ---- Hits ---- */

static cJSON *add_test(struct search *search,
                       const struct test_log_attempt *attempt)
{
    cJSON *test = cJSON_CreateObject();

    runners_json_add_text(test, "program", attempt->result->program);
    runners_json_add_text(test, "name", test_log_name(attempt->result));
    runners_json_add_text(test, "title", test_log_title(attempt->result));
    cJSON_AddStringToObject(test, "outcome",
                            test_log_outcome_word(attempt->outcome));
    cJSON_AddNumberToObject(test, "try", (double)attempt->attempt);
    cJSON_AddArrayToObject(test, "lines");
    cJSON_AddItemToArray(search->tests, test);
    return test;
}

/* Adds a long line's part around the place that matches. */
static void add_text(cJSON *line, const struct trace_text *text, size_t at)
{
    size_t from = at > TEXT_BEFORE ? at - TEXT_BEFORE : 0, to = text->size;
    struct trace_text part = {0};

    if (text->size <= TEXT_MOST)
        from = 0;
    if (to - from > TEXT_MOST)
        to = from + TEXT_MOST;
    from = from ? trace_utf8_boundary(text->data, from) : 0;
    to = to < text->size ? trace_utf8_boundary(text->data, to) : to;
    trace_text_string(&part, from ? "…" : "");
    trace_text_add(&part, text->data + from, to - from);
    trace_text_string(&part, to < text->size ? "…" : "");
    runners_json_add_text(line, "text", part.data);
    trace_text_free(&part);
}

static void add_line(struct search *search, cJSON *test,
                     const struct trace_entry *entry, uint64_t zero, size_t at)
{
    cJSON *line = cJSON_CreateObject();
    double t = entry->time < zero ? -(double)(zero - entry->time)
                                  : (double)(entry->time - zero);

    cJSON_AddNumberToObject(line, "t", t);
    cJSON_AddNumberToObject(line, "level", entry->site->level);
    add_text(line, &search->text, at);
    cJSON_AddItemToArray(cJSON_GetObjectItemCaseSensitive(test, "lines"), line);
    search->hits++;
}

/* ---- Recordings ---- */

/* Returns the place in an event's line that matches, -1 if none does. */
static ssize_t match(struct search *search, const struct trace_entry *entry)
{
    const char *found;

    if (!log_is_event(entry))
        return -1;
    trace_text_clear(&search->text);
    log_event_text(&search->memory, entry, &search->text);
    found = search->text.data
                ? strcasestr(search->text.data, search->wanted->text)
                : NULL;
    return found ? found - search->text.data : -1;
}

static void search_recording(struct search *search, cJSON *test,
                             const struct test_log_attempt *attempt,
                             struct trace_reader *reader)
{
    uint64_t zero = test_log_attempt_zero(search->run, attempt, reader);
    uint64_t began = trace_clock_ns(CLOCK_MONOTONIC);
    struct trace_entry entry;
    size_t entries = 0;
    ssize_t at;

    while (!is_full(search) && trace_reader_next(reader, &entry)) {
        if (++entries % CLOCK_EVERY == 0 &&
            is_over(began, search->wanted->recording_ns)) {
            search->cut++;
            return;
        }
        at = match(search, &entry);
        if (at < 0)
            continue;
        if (!test)
            test = add_test(search, attempt);
        add_line(search, test, &entry, zero, (size_t)at);
    }
}

static void search_lines(struct search *search, cJSON *test,
                         const struct test_log_attempt *attempt)
{
    struct trace_reader *reader;

    if (is_over(search->began, search->wanted->run_ns)) {
        search->unsearched++;
        return;
    }
    reader = runners_open_own(search->run, attempt->folder);
    if (reader)
        search_recording(search, test, attempt, reader);
    else if (errno != ENOENT)
        search->unreadable++;
    trace_reader_close(reader);
}

/* ---- The run ---- */

/* Puts the hits in all tries of all tests. The outcome of a hit in a test's
 * name is that of the last try. */
static void put_hits(struct search *search, FILE *out)
{
    const struct test_log_run *run = search->run;
    cJSON *document = cJSON_CreateObject(), *test;
    size_t searched = 0;
    char *text;

    cJSON_AddNumberToObject(document, "schema", 1);
    cJSON_AddStringToObject(document, "run", search->wanted->run);
    search->tests = cJSON_AddArrayToObject(document, "tests");
    for (; searched < run->count && !is_full(search); searched++) {
        const struct test_log_result *result = &run->results[searched];

        for (size_t i = 0; i <= result->earlier_count; i++) {
            struct test_log_attempt attempt = {.number = searched};
            bool recorded = test_log_attempt_of(&attempt, run, searched, i);

            test = NULL;
            if (!i &&
                (strcasestr(test_log_name(result), search->wanted->text) ||
                 strcasestr(test_log_title(result), search->wanted->text))) {
                test = add_test(search, &attempt);
                search->hits++;
            }
            if (recorded && !is_full(search))
                search_lines(search, test, &attempt);
        }
    }
    cJSON_AddNumberToObject(document, "hits", (double)search->hits);
    cJSON_AddBoolToObject(document, "full", is_full(search));
    cJSON_AddNumberToObject(
        document, "unsearched",
        (double)(search->unsearched + run->count - searched));
    cJSON_AddNumberToObject(document, "cut", (double)search->cut);
    cJSON_AddNumberToObject(document, "unreadable", (double)search->unreadable);
    text = cJSON_PrintUnformatted(document);
    fputs(text ? text : "{}", out);
    cJSON_free(text);
    cJSON_Delete(document);
}

int view_search(const struct view *view, const void *context, FILE *out)
{
    const struct view_wanted *wanted = context;
    struct report_page page = {.run = {.open = runners_open_own}};
    struct search search = {
        .wanted = wanted,
        .run = &page.run,
        .began = trace_clock_ns(CLOCK_MONOTONIC),
    };
    char path[PATH_MAX];

    if (!view_find_run(view, wanted->run, path)) {
        errno = ENOENT;
        return -1;
    }
    runners_page_read(&page, path);
    put_hits(&search, out);
    trace_text_free(&search.memory.message);
    trace_text_free(&search.text);
    runners_page_free(&page);
    return 0;
}

/* ---- The request ---- */

static size_t most_of(const struct view_request *request)
{
    char *text = view_argument(request, "most");
    unsigned long most = text ? strtoul(text, NULL, 10) : HITS_MOST;

    free(text);
    return most < HITS_MOST ? most : HITS_MOST;
}

view_result view_send_search(const struct view_request *request)
{
    struct view_wanted wanted = {
        .run = view_argument(request, "run"),
        .text = view_argument(request, "text"),
        .most = most_of(request),
        .run_ns = RUN_SECONDS * SECOND,
        .recording_ns = RECORDING_SECONDS * SECOND,
    };
    view_result result;

    if (wanted.run && wanted.text && wanted.text[0])
        result = view_render(request,
                             &(struct view_source){.write = view_search,
                                                   .context = &wanted,
                                                   .type = "application/json"});
    else
        result = view_refuse(request, MHD_HTTP_BAD_REQUEST);
    free(wanted.run);
    free(wanted.text);
    return result;
}

/* chrome.c: parses exported traces. */
#include "chrome.h"

#include "trace/chrome/chrome.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

cJSON *chrome_parse(char *text, size_t size)
{
    cJSON *json = cJSON_ParseWithLength(text, size);

    cr_assert_not_null(json, "%.2000s", text);
    free(text);
    return test_keep(json);
}

cJSON *chrome_export(struct trace_reader *reader, const char *const *metadata)
{
    struct trace_chrome chrome;
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    cr_assert_not_null(stream);
    trace_chrome_begin(&chrome, stream);
    cr_assert_eq(trace_chrome_add(&chrome, reader, 7, "a \"name\""), 0);
    trace_chrome_end(&chrome, metadata);
    fclose(stream);
    return chrome_parse(text, size);
}

void chrome_export_without_memory(struct trace_reader *reader, size_t most)
{
    FILE *null = fopen("/dev/null", "we");

    for (size_t nth = 1; nth < most; nth++) {
        struct trace_chrome chrome;

        test_fail_memory(nth, nth % 2);
        trace_chrome_begin(&chrome, null);
        trace_chrome_add(&chrome, reader, 1, "name");
        trace_chrome_end(&chrome, NULL);
        test_fail_memory(0, false);
    }
    fclose(null);
}

const char *chrome_text(const cJSON *object, const char *key)
{
    const char *text =
        cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));

    return text ? text : "";
}

double chrome_number(const cJSON *object, const char *key)
{
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(object, key);

    cr_assert(cJSON_IsNumber(number), "%s", key);
    return number->valuedouble;
}

double chrome_end(const cJSON *event)
{
    return chrome_number(event, "ts") + chrome_number(event, "dur");
}

static bool is_called(const cJSON *event, const char *phase, const char *name)
{
    return !strcmp(chrome_text(event, "ph"), phase) &&
           !strcmp(chrome_text(event, "name"), name);
}

const cJSON *chrome_event(const cJSON *json, const char *phase,
                          const char *name)
{
    const cJSON *event;

    cJSON_ArrayForEach(event, cJSON_GetObjectItem(json, "traceEvents"))
    {
        if (is_called(event, phase, name))
            return event;
    }
    cr_assert_fail("no %s with the name %s", phase, name);
    return NULL;
}

const cJSON *chrome_args(const cJSON *json, const char *phase, const char *name)
{
    return cJSON_GetObjectItem(chrome_event(json, phase, name), "args");
}

size_t chrome_count(const cJSON *json, const char *phase, const char *name)
{
    const cJSON *event;
    size_t count = 0;

    cJSON_ArrayForEach(event, cJSON_GetObjectItem(json, "traceEvents")) count +=
        is_called(event, phase, name);
    return count;
}

/* ---- Checks for every export ---- */

void chrome_check_keys(const cJSON *object)
{
    const cJSON *item, *other;

    cJSON_ArrayForEach(item, object)
    {
        if (cJSON_IsObject(object))
            for (other = item->next; other; other = other->next)
                cr_assert_str_neq(item->string, other->string);
        chrome_check_keys(item);
    }
}

/* Two complete events on a track are nested or disjoint, up to a nanosecond of
 * rounding. */
static void check_pair(const cJSON *a, const cJSON *b)
{
    double from = chrome_number(b, "ts"), to = chrome_end(b);

    if (chrome_number(a, "tid") != chrome_number(b, "tid") ||
        chrome_number(a, "pid") != chrome_number(b, "pid"))
        return;
    cr_assert(from + 0.0005 >= chrome_end(a) || to <= chrome_end(a) + 0.0005,
              "%s and %s overlap", chrome_text(a, "name"),
              chrome_text(b, "name"));
}

void chrome_check_nesting(const cJSON *events)
{
    const cJSON *a, *b;

    cJSON_ArrayForEach(a, events)
    {
        if (strcmp(chrome_text(a, "ph"), "X") != 0)
            continue;
        for (b = a->next; b; b = b->next)
            if (!strcmp(chrome_text(b, "ph"), "X"))
                check_pair(a, b);
    }
}

/* ---- Arrows ---- */

static const cJSON *flow_of(const cJSON *json, const char *phase, double id)
{
    const cJSON *event;

    cJSON_ArrayForEach(event, cJSON_GetObjectItem(json, "traceEvents"))
    {
        if (!strcmp(chrome_text(event, "ph"), phase) &&
            chrome_number(event, "id") == id)
            return event;
    }
    cr_assert_fail("no %s of flow %g", phase, id);
    return NULL;
}

/* Whether a slice or instant of the flow's track contains the flow's time. */
static bool is_in_slice(const cJSON *json, const cJSON *flow)
{
    const cJSON *event;
    double time = chrome_number(flow, "ts");

    cJSON_ArrayForEach(event, cJSON_GetObjectItem(json, "traceEvents"))
    {
        bool slice = !strcmp(chrome_text(event, "ph"), "X");

        if ((slice || !strcmp(chrome_text(event, "ph"), "i")) &&
            chrome_number(event, "pid") == chrome_number(flow, "pid") &&
            chrome_number(event, "tid") == chrome_number(flow, "tid") &&
            chrome_number(event, "ts") <= time &&
            time <= (slice ? chrome_end(event) : chrome_number(event, "ts")) +
                        0.0005)
            return true;
    }
    return false;
}

size_t chrome_check_arrows(const cJSON *json, const char *name)
{
    size_t starts = chrome_count(json, "s", name);
    const cJSON *event;

    cr_assert_eq(chrome_count(json, "f", name), starts);
    cJSON_ArrayForEach(event, cJSON_GetObjectItem(json, "traceEvents"))
    {
        const cJSON *end;

        if (strcmp(chrome_text(event, "ph"), "s") != 0 ||
            strcmp(chrome_text(event, "name"), name) != 0)
            continue;
        end = flow_of(json, "f", chrome_number(event, "id"));
        cr_assert_eq(flow_of(json, "s", chrome_number(event, "id")), event,
                     "two arrows share an id");
        cr_assert_geq(chrome_number(end, "ts"), chrome_number(event, "ts"));
        cr_assert_str_eq(chrome_text(end, "bp"), "e");
        cr_assert_str_eq(chrome_text(event, "cat"), name);
        cr_assert(is_in_slice(json, event));
        cr_assert(is_in_slice(json, end));
    }
    return starts;
}

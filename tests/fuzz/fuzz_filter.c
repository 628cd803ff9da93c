/* fuzz_filter.c: feeds any bytes as a filter, which then judges a few call
 * sites.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <testlog/log.h>

#include "log/filter/filter.h"
#include "log/replay/replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const fuzz_names[] = {"id", "user", "ok", "f", "err", "b"};

#define FUZZ_SITE(kind_, level_, target_, name_)                               \
    {                                                                          \
        .kind = TRACE_SITE_##kind_, .level = TRACE_LEVEL_##level_,             \
        .target = (target_), .name = (name_), .fields = fuzz_names,            \
        .field_count = 6                                                       \
    }

static const struct trace_site fuzz_sites[] = {
    FUZZ_SITE(EVENT, ERROR, "net::tcp", "connected"),
    FUZZ_SITE(EVENT, DEBUG, "net", NULL),
    FUZZ_SITE(EVENT, TRACE, "", ""),
    FUZZ_SITE(EVENT, INFO, "gpu", "%d"),
    FUZZ_SITE(SPAN, INFO, "net::tcp", "request"),
    FUZZ_SITE(SPAN, TRACE, "a", "s"),
    FUZZ_SITE(FIELDS, TRACE, "a", "s"),
};

enum { FUZZ_SITES = sizeof(fuzz_sites) / sizeof(*fuzz_sites) };

static void fuzz_values(struct trace_value *values, unsigned round)
{
    values[0] = round & 1 ? trace_u64_(5) : trace_i64_(-5);
    values[1] = trace_string("ro\xffot \"x\", a/b\n", round & 2 ? 16 : 4);
    values[2] = trace_bool(round & 1);
    values[3] = trace_f64_(round & 2 ? NAN : 0.5);
    values[4] = trace_errno(round & 1 ? ENOENT : 12345);
    values[5] = round & 2 ? trace_bytes("\0\1\2", 3) : trace_empty();
}

/* Judges a span at its beginning and after late values. */
static struct trace_scope fuzz_span(const struct log_verdict *verdict,
                                    struct trace_scope inside)
{
    struct trace_table tracked = {0};
    struct log_span *span = log_tracked_add(&tracked, 7, verdict);
    struct trace_scope own = {0, 0};
    struct trace_value values[6];
    struct log_fields fields = {verdict->site, 6, values, NULL};

    fuzz_values(values, 1);
    if (span) {
        log_span_begin(span, inside, &fields);
        own = log_span_scope(span);
        fuzz_values(values, 2);
        log_span_fields(span, &fields);
        own = log_span_scope(span);
    }
    log_tracked_free(&tracked);
    return own;
}

static void fuzz_event(const struct log_verdict *verdict,
                       struct trace_scope inside)
{
    struct trace_value values[6];
    struct log_fields fields = {verdict->site, 6, values, NULL};

    for (unsigned round = 0; round < 4; round++) {
        fields.message = round % 2 ? "connected to 10.0.0.1:80" : "";
        fuzz_values(values, round);
        log_verdict_event(verdict, inside, &fields);
    }
}

static void fuzz_ask(struct log_filter *filter)
{
    struct trace_scope inside = {0, 0};
    size_t from = 0;

    for (int i = FUZZ_SITES; i--;) {
        const struct trace_site *site = &fuzz_sites[i];
        struct log_verdict verdict;

        if (i % 2)
            log_filter_seen(filter, site);
        if (!log_verdict_make(&verdict, filter, site))
            continue;
        log_verdict_reaches(&verdict);
        if (site->kind == TRACE_SITE_SPAN)
            inside = fuzz_span(&verdict, inside);
        else
            fuzz_event(&verdict, inside);
        log_verdict_free(&verdict);
    }
    while (log_filter_unmatched(filter, &from))
        ;
}

/* Returns the number of columns of a line. */
static size_t fuzz_columns(const char *line, size_t size)
{
    size_t columns = 0;

    while (size--)
        columns += ((unsigned char)line[size] & 0xc0) != 0x80;
    return columns;
}

static void fuzz_need(bool holds, const char *complaints)
{
    if (!holds) {
        fprintf(stderr, "malformed messages:\n%s\n", complaints);
        abort();
    }
}

/* Each mistake has three lines: a message, the filter, and a caret that points
 * into it. After ten, one line counts the rest. */
static void fuzz_check(const char *complaints)
{
    const char *line = complaints;

    for (size_t i = 0; line && *line; i++) {
        size_t size[3] = {0};
        const char *lines[3] = {line, line, line};

        for (int j = 0; j < 3 && *line; j++) {
            lines[j] = line;
            size[j] = strcspn(line, "\n");
            fuzz_need(line[size[j]] == '\n', complaints);
            line += size[j] + 1;
        }
        fuzz_need(!strncmp(lines[0], "LOG: ", 5), complaints);
        if (i == 10) {
            fuzz_need(!*line && strstr(lines[0], " more "), complaints);
            return;
        }
        fuzz_need(size[2] > 4 && strspn(lines[2], " \t") + 1 == size[2] &&
                      lines[2][size[2] - 1] == '^',
                  complaints);
        fuzz_need(size[2] - 1 <= fuzz_columns(lines[1], size[1]), complaints);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace_text complaints = {.ceiling = 1 << 20};
    char *text = malloc(size + 1);

    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';

    struct log_filter *filter =
        log_filter_parse(text, "error", "LOG", &complaints);

    if (filter)
        fuzz_ask(filter);
    fuzz_check(complaints.data);
    log_filter_free(filter);
    trace_text_free(&complaints);
    free(text);
    return 0;
}

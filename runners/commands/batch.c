/* batch.c: testlog filter --batch: answers whether filters show events.
 *
 *  FILTER <tab> LEVEL <tab> TARGET [<tab> SPANS [<tab> FIELDS]]
 *
 * asks whether an event of that level and target, with FIELDS, is shown inside
 * SPANS, outermost first, separated by ";": name[@target][!LEVEL]{field=value,
 * ...}[+{recorded before it is entered}][>{recorded after}]. Values are i:
 * u: f: b: s: d: (shown as it is) q: (shown in quotes), or guessed; %XX is a
 * byte. The answer is RESULT <tab> SPANBITS <tab> HINT: "1", "0", or "E" for a
 * mistake when --strict; a bit for each span; the most verbose level.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness/machine/tsv.h"
#include "log/filter/filter.h"
#include "log/replay/entry_text.h"
#include "runners/runners.h"

enum { FIELDS_MAX = 64, SPANS_MAX = 64, COLUMNS = 5 };

/* The columns of a case; they point into its line. */
struct fields {
    const char *names[FIELDS_MAX];
    struct trace_value values[FIELDS_MAX];
    size_t count;
    struct trace_text quoted[FIELDS_MAX]; /* of q: values */
};

struct scene {
    struct log_filter *filter;
    struct trace_scope inside;
    char bits[SPANS_MAX + 1];
    size_t depth;
};

/* ---- Reading a case ---- */

static char hexadecimal(const char *digits)
{
    char text[] = {digits[0], digits[1], '\0'};

    return (char)strtoul(text, NULL, 16);
}

static char *decode(char *text)
{
    char *from = text, *to = text;

    while (*from)
        if (*from == '%' && isxdigit((unsigned char)from[1]) &&
            isxdigit((unsigned char)from[2])) {
            *to++ = hexadecimal(from + 1);
            from += 3;
        } else {
            *to++ = *from++;
        }
    *to = '\0';
    return text;
}

/* A value without a prefix: bool, integer, double or text. */
static struct trace_value guess(const char *text)
{
    char *end;
    long long i = strtoll(text, &end, 10);

    if (*text && !*end)
        return trace_i64_(i);
    if (!strcmp(text, "true") || !strcmp(text, "false"))
        return trace_bool(*text == 't');

    double f = strtod(text, &end);

    return *text && !*end ? trace_f64_(f) : trace_text_(text);
}

static struct trace_value value_of(char *text, struct trace_text *quoted)
{
    const char *rest = decode(text) + 2;
    struct trace_value value;

    if (!text[0] || text[1] != ':')
        return guess(text);
    switch (text[0]) {
    case 'i':
        return trace_i64_(strtoll(rest, NULL, 10));
    case 'u':
        return trace_u64_(strtoull(rest, NULL, 10));
    case 'f':
        return trace_f64_(strtod(rest, NULL));
    case 'b':
        return trace_bool(*rest == 't');
    case 's':
        return trace_text_(rest);
    case 'q':
        value = trace_text_(rest);
        log_value(quoted, &value);
        rest = quoted->data ? quoted->data : "";
        /* fall through */
    case 'd':
        value = trace_text_(rest);
        value.type = TRACE_TYPE_DISPLAY;
        return value;
    default:
        return guess(text);
    }
}

/* Reads "field[=value],..." up to a "}" or the end; returns what follows. */
static char *read_fields(char *text, struct fields *fields)
{
    char *rest = text + strcspn(text, "}"), *field;

    if (*rest)
        *rest++ = '\0';
    while ((field = strsep(&text, ",")) && fields->count < FIELDS_MAX) {
        char *value = strchr(field, '=');
        size_t i = fields->count;

        if (!*field)
            continue;
        if (value)
            *value++ = '\0';
        fields->names[i] = decode(field);
        fields->values[i] =
            value ? value_of(value, &fields->quoted[i]) : trace_empty();
        fields->count++;
    }
    return rest;
}

static void free_fields(struct fields *fields)
{
    for (size_t i = 0; i < fields->count; i++)
        trace_text_free(&fields->quoted[i]);
    fields->count = 0;
}

/* ---- Answering it ---- */

static struct trace_site site_of(const char *name, const char *target,
                                 unsigned level, const struct fields *fields)
{
    return (struct trace_site){.name = name,
                               .target = target,
                               .fields = fields->names,
                               .level = (uint8_t)level,
                               .field_count = (uint8_t)fields->count};
}

static struct log_fields as_fields(const struct trace_site *site,
                                   const struct fields *fields)
{
    return (struct log_fields){site, fields->count, fields->values, NULL};
}

/* Values that are recorded late. */
static char *record(char *text, struct log_span *span)
{
    struct fields fields = {.count = 0};
    char *rest = read_fields(text, &fields);
    struct trace_site site = site_of(NULL, "", 0, &fields);
    struct log_fields late = as_fields(&site, &fields);

    log_span_fields(span, &late);
    free_fields(&fields);
    return rest;
}

/* Begins and enters a span. `rest` lists the values that are recorded late. */
static bool enter(struct scene *scene, const struct trace_site *site,
                  const struct fields *fields, char *rest)
{
    struct log_fields first = as_fields(site, fields);
    struct log_verdict verdict = {0};
    struct log_span *span;
    struct trace_scope own;

    if (!log_verdict_make(&verdict, scene->filter, site))
        return false;
    span = calloc(1, sizeof(*span) + verdict.patterns);
    if (span) {
        span->verdict = &verdict;
        scene->bits[scene->depth++] =
            log_span_begin(span, scene->inside, &first) ? '1' : '0';
        if (rest[0] == '+' && rest[1] == '{')
            record(rest + 2, span);
        own = log_span_scope(span);
        if (own.adds > scene->inside.adds)
            scene->inside.adds = own.adds;
        if (own.takes > scene->inside.takes)
            scene->inside.takes = own.takes;
    }
    free(span);
    log_verdict_free(&verdict);
    return span != NULL;
}

static bool play_span(struct scene *scene, char *text, const char *target)
{
    struct fields fields = {.count = 0};
    unsigned level = TRACE_LEVEL_INFO;
    char *brace = text + strcspn(text, "{"), *rest = brace, *word;
    struct trace_site site;
    bool ok;

    if (*brace) {
        *brace = '\0';
        rest = read_fields(brace + 1, &fields);
    }
    word = strchr(text, '!');
    if (word) {
        *word = '\0';
        ok = log_level_of(word + 1, &level);
        if (!ok)
            return false;
    }
    word = strchr(text, '@');
    if (word) {
        *word = '\0';
        target = decode(word + 1);
    }
    site = site_of(decode(text), target, level, &fields);
    site.kind = TRACE_SITE_SPAN;
    ok = enter(scene, &site, &fields, rest);
    free_fields(&fields);
    return ok;
}

/* An event without fields is a message. */
static int play_event(struct scene *scene, const char *target, unsigned level,
                      char *text)
{
    struct fields fields = {.count = 0};
    struct log_verdict verdict = {0};
    struct trace_site site;
    int shown = -1;

    read_fields(text, &fields);
    site = site_of(fields.count ? "" : "message", target, level, &fields);
    if (log_verdict_make(&verdict, scene->filter, &site)) {
        struct log_fields given = as_fields(&site, &fields);

        given.message = fields.count ? NULL : site.name;
        shown = log_verdict_event(&verdict, scene->inside, &given);
    }
    log_verdict_free(&verdict);
    free_fields(&fields);
    return shown;
}

/* Answers a case; false if the line is not a case. */
static bool play(struct scene *scene, char **columns, bool strict)
{
    char *spans = columns[3], *span;
    unsigned level;
    int shown;

    if (!log_level_of(columns[1], &level))
        return false;
    while ((span = strsep(&spans, ";")))
        if (*span &&
            (scene->depth == SPANS_MAX || !play_span(scene, span, columns[2])))
            return false;
    shown = play_event(scene, columns[2], level, columns[4]);
    printf("%c\t%s\t%s", shown > 0 ? '1' : '0',
           scene->depth ? scene->bits : "-",
           trace_level_word(log_filter_hint(scene->filter)));
    if (strict) {
        struct trace_text text = {0};

        log_filter_text(scene->filter, &text);
        printf("\t%s\t", text.data ? text.data : "");
        trace_text_free(&text);
    }
    putchar('\n');
    return shown >= 0;
}

static bool answer(char *line, bool strict)
{
    static const char *const texts[] = {"",
#define LOG_X(name, text) text,
                                        LOG_MISTAKES(LOG_X)
#undef LOG_X
    };
    struct log_mistake first = {LOG_MISTAKE_NONE};
    struct scene scene = {.depth = 0};
    char *columns[COLUMNS];
    bool ok = true;

    test_log_tsv_cut(line, columns, COLUMNS);
    scene.filter = log_filter_read(columns[0], strict ? NULL : "error",
                                   "FILTER", NULL, &first);
    if (!scene.filter)
        return false;
    if (strict && first.kind) {
        printf("E\t-\t-\t-\t%s", texts[first.kind]);
        if (first.kind == LOG_MISTAKE_FIELD)
            printf(": %s", first.what);
        putchar('\n');
    } else {
        ok = play(&scene, columns, strict);
    }
    log_filter_free(scene.filter);
    return ok;
}

int runners_batch(bool strict)
{
    char *line = NULL;
    size_t room = 0, number = 0;
    ssize_t size;
    bool ok = true;
    int error;

    while (ok && (size = getline(&line, &room, stdin)) >= 0) {
        number++;
        if (size && line[size - 1] == '\n')
            line[--size] = '\0';
        if (size && strncmp(line, "##", 2) != 0)
            ok = answer(line, strict);
    }
    error = ferror(stdin) ? errno : 0;
    free(line);
    if (ok && !error)
        return 0;
    fflush(stdout);
    if (ok) {
        fprintf(stderr, "testlog: filter: cannot read standard input: %s\n",
                strerror(error));
        return 1;
    }
    fprintf(stderr,
            "testlog: filter: line %zu is not a case; write FILTER, "
            "LEVEL, TARGET, SPANS and FIELDS, separated by tabs\n",
            number);
    return 2;
}

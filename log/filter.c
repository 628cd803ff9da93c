/* filter.c: which call sites are wanted.
 *
 * The language is that of tracing-subscriber's EnvFilter; what a filter decides
 * for a call site is fixed when it is set.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "internal.h"

struct directive {
    const char *target; /* "" = all */
    size_t size;
    unsigned level;
    const char *text; /* as it was written */
    bool seen;
};

struct log_filter {
    struct directive *directives; /* the longest target first */
    size_t count;
    char *text; /* what the directives point into */
};

/* ---- Words ---- */

static const char *const level_words[] = {
    "off",
#define TRACE_X(name, number, word) word,
    TRACE_LEVELS(TRACE_X)
#undef TRACE_X
        NULL,
};

/* Levenshtein's distance, of words of at most 31 bytes. */
static size_t distance(const char *a, const char *b)
{
    size_t row[32], n = strlen(b);

    if (n > 31)
        return 99;
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t corner = row[0];

        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t same = corner + (tolower((unsigned char)a[i - 1]) !=
                                    tolower((unsigned char)b[j - 1]));
            size_t least = row[j] + 1 < row[j - 1] + 1 ? row[j] : row[j - 1];

            corner = row[j];
            row[j] = same < least + 1 ? same : least + 1;
        }
    }
    return row[n];
}

const char *log_nearest(const char *word, const char *const *words)
{
    const char *nearest = NULL;
    size_t least = strlen(word) / 2 + 1;

    for (; *words; words++) {
        size_t d = distance(word, *words);

        if (!strncasecmp(word, *words, strlen(*words)) && d > 1)
            d = 1; /* "warning" */
        if (d < least) {
            least = d;
            nearest = *words;
        }
    }
    return nearest;
}

const char *log_nearest_level(const char *word)
{
    return log_nearest(word, level_words);
}

/* Reads a level as LevelFilter::from_str does: a number, or a word in any
 * case. */
static bool level_of(const char *text, unsigned *level)
{
    const char *digits = text[0] == '+' ? text + 1 : text;

    if (*digits && strspn(digits, "0123456789") == strlen(digits)) {
        unsigned long number = strtoul(digits, NULL, 10);

        *level = (unsigned)number;
        return number <= TRACE_LEVEL_TRACE;
    }
    for (unsigned i = 0; level_words[i]; i++)
        if (!strcasecmp(text, level_words[i])) {
            *level = i;
            return true;
        }
    return false;
}

/* ---- Complaints ---- */

struct parser {
    struct log_filter *filter;
    const char *whole;  /* the filter as it was written */
    const char *origin; /* "LOG" */
    struct trace_text *complaints;
};

/* The columns that the first `size` bytes of a text take once shown. */
static int columns(const char *text, size_t size)
{
    struct trace_text shown = {0};
    int count = 0;

    log_plain(&shown, text, size);
    for (size_t i = 0; i < shown.size; i++)
        count += (shown.data[i] & 0xc0) != 0x80;
    trace_text_free(&shown);
    return count;
}

/* Says what is wrong at `offset` of the filter. */
static void complain(const struct parser *parser, size_t offset,
                     const char *what, const char *word, const char *instead)
{
    struct trace_text *out = parser->complaints;

    if (!out)
        return;
    trace_text_printf(out, "%s: %s \"", parser->origin, what);
    log_plain(out, word, strlen(word));
    trace_text_string(out, instead ? "\"; did you mean \"" : "\".");
    if (instead)
        trace_text_printf(out, "%s\"?", instead);
    trace_text_string(out, " This directive is left out.\n    ");
    log_plain(out, parser->whole, strlen(parser->whole));
    trace_text_printf(out, "\n    %*s^\n", columns(parser->whole, offset), "");
}

/* ---- Parsing ---- */

static char *trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;

    char *end = text + strlen(text);

    while (end > text && isspace((unsigned char)end[-1]))
        *--end = '\0';
    return text;
}

static bool begins_target(char c)
{
    return isalnum((unsigned char)c) || c == '-' || c == ':' || c == '_' ||
           (unsigned char)c >= 0x80;
}

/* The last directive for a target replaces earlier ones. */
static bool add(struct log_filter *filter, const struct directive *directive)
{
    for (size_t i = 0; i < filter->count; i++)
        if (!strcmp(filter->directives[i].target, directive->target)) {
            filter->directives[i] = *directive;
            return true;
        }

    void *grown = realloc(filter->directives,
                          (filter->count + 1) * sizeof(*filter->directives));

    if (!grown)
        return false;
    filter->directives = grown;
    filter->directives[filter->count++] = *directive;
    return true;
}

/* Reads one directive, which it may cut up; `offset` is where it stands and
 * `text` what is to be shown of it. */
static bool parse_one(struct parser *parser, char *piece, size_t offset,
                      const char *text)
{
    struct directive directive = {.target = "", .text = text};
    char *equals = strchr(piece, '=');
    const char *bracket = strchr(piece, '[');

    if (!begins_target(*piece) || (bracket && (!equals || bracket < equals))) {
        complain(parser, offset + (bracket ? (size_t)(bracket - piece) : 0),
                 "not a directive", text, NULL);
        return true;
    }
    directive.level = TRACE_LEVEL_TRACE;
    if (equals) {
        char *word = trim(equals + 1);

        *equals = '\0';
        directive.target = trim(piece);
        if (*word && !level_of(word, &directive.level)) {
            complain(parser, offset + (size_t)(word - piece), "unknown level",
                     word, log_nearest_level(word));
            return true;
        }
    } else if (!level_of(piece, &directive.level)) {
        directive.level = TRACE_LEVEL_TRACE;
        directive.target = piece;
    }
    directive.size = strlen(directive.target);
    return add(parser->filter, &directive);
}

/* Reads all directives of `copy`, which it cuts up; `kept` is the same text, to
 * be cut into what is shown of each. */
static bool parse_all(struct parser *parser, char *copy, char *kept)
{
    char *at = copy;
    bool ok = true;

    while (ok && at) {
        char *comma = strchr(at, ',');

        if (comma) {
            *comma = '\0';
            kept[comma - copy] = '\0';
        }

        char *text = trim(kept + (at - copy));
        char *piece = trim(at);

        if (*piece)
            ok = parse_one(parser, piece, (size_t)(piece - copy), text);
        at = comma ? comma + 1 : NULL;
    }
    return ok;
}

static int by_specificity(const void *a, const void *b)
{
    const struct directive *x = a, *y = b;

    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return strcmp(y->target, x->target);
}

struct log_filter *log_filter_parse(const char *text, const char *fallback,
                                    const char *origin,
                                    struct trace_text *complaints)
{
    size_t size = strlen(text) + 1;
    struct log_filter *filter = calloc(1, sizeof(*filter));
    struct parser parser = {filter, text, origin, complaints};

    if (!filter)
        return NULL;
    filter->text = malloc(2 * size);
    if (filter->text) {
        memcpy(filter->text, text, size);
        memcpy(filter->text + size, text, size);
    }
    if (!filter->text ||
        !parse_all(&parser, filter->text, filter->text + size)) {
        log_filter_free(filter);
        return NULL;
    }
    if (!filter->count && fallback) {
        log_filter_free(filter);
        return log_filter_parse(fallback, NULL, origin, NULL);
    }
    if (filter->count)
        qsort(filter->directives, filter->count, sizeof(*filter->directives),
              by_specificity);
    return filter;
}

bool log_filter_is_empty(const struct log_filter *filter)
{
    return !filter->count;
}

void log_filter_free(struct log_filter *filter)
{
    if (!filter)
        return;
    free(filter->directives);
    free(filter->text);
    free(filter);
}

/* ---- Deciding ---- */

static bool about(const struct directive *directive,
                  const struct trace_site *site)
{
    return !strncmp(site->target, directive->target, directive->size);
}

bool log_filter_shows(const struct log_filter *filter,
                      const struct trace_site *site)
{
    for (size_t i = 0; i < filter->count; i++)
        if (about(&filter->directives[i], site))
            return filter->directives[i].level >= site->level;
    return false;
}

void log_filter_seen(struct log_filter *filter, const struct trace_site *site)
{
    for (size_t i = 0; i < filter->count; i++)
        if (about(&filter->directives[i], site))
            filter->directives[i].seen = true;
}

/* Targets of devices exist whether a device is there or not. */
static bool of_device(const struct directive *directive)
{
    return !strncmp(directive->target, "gpu", 3) &&
           (directive->size == 3 || directive->target[3] == ':');
}

const char *log_filter_unseen(const struct log_filter *filter, size_t *from)
{
    while (*from < filter->count) {
        const struct directive *directive = &filter->directives[(*from)++];

        if (!directive->seen && directive->size && !of_device(directive))
            return directive->text;
    }
    return NULL;
}

/* meant.c: what a directive that was about nothing was probably meant to be.
 *
 * EnvFilter takes nearly any text for a target or a span's name, so these are
 * no mistakes; but no call site is called so.
 */
#include <string.h>

#include "internal.h"

/* "info;net=debug", "info net=debug" */
static bool meant_list(const char *text, struct trace_text *out)
{
    static const char separators[] = " \t;|&";
    size_t size = strcspn(text, "=[{"), first = strcspn(text, separators);
    size_t next = first + strspn(text + first, separators);
    char word[16];
    unsigned level;

    if (!first || next >= size)
        return false;
    snprintf(word, sizeof(word), "%.*s", (int)first, text);
    if (text[size] != '=' &&
        (first >= sizeof(word) || !log_level_of(word, &level)))
        return false;
    for (size_t at = 0; at < size; at += first + next) {
        first = strcspn(text + at, separators);
        if (at + first > size)
            first = size - at;
        trace_text_add(out, text + at, first);
        next = at + first < size ? strspn(text + at + first, separators) : 0;
        if (next && at + first + next < size)
            trace_text_char(out, ',');
    }
    trace_text_string(out, text + size);
    return true;
}

/* "net:debug" */
static bool meant_level(const char *text, struct trace_text *out)
{
    const char *colon = strrchr(text, ':');
    unsigned level;

    if (!colon || colon == text || colon[-1] == ':' ||
        !log_level_of(colon + 1, &level))
        return false;
    trace_text_add(out, text, (size_t)(colon - text));
    trace_text_printf(out, "=%s", colon + 1);
    return true;
}

/* "[request id=5]" */
static bool meant_fields(const char *text, struct trace_text *out)
{
    const char *name = text + strcspn(text, "["), *blank, *end;

    if (!*name)
        return false;
    end = name + strcspn(name, "]{");
    blank = name + strcspn(name, " (");
    if (*end != ']' || blank >= end ||
        !memchr(blank, '=', (size_t)(end - blank)))
        return false;
    trace_text_add(out, text, (size_t)(blank - text));
    trace_text_char(out, '{');
    blank += strspn(blank, " (");
    trace_text_add(out, blank, strcspn(blank, ")]"));
    trace_text_printf(out, "}%s", end);
    return true;
}

/* The size of a file's path without its suffix, if it has one of ours. */
static size_t without_suffix(const char *path, size_t size)
{
    static const char *const suffixes[] = {".c", ".h", ".cc", ".cpp", ".cxx"};

    for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
        size_t length = strlen(suffixes[i]);

        if (size > length && !memcmp(path + size - length, suffixes[i], length))
            return size - length;
    }
    return size;
}

/* "kv/store.c=debug", "net::*", "net/" followed by stars, "n?t" */
static bool meant_target(const char *text, struct trace_text *out)
{
    size_t size = strcspn(text, "=["), end = without_suffix(text, size);
    size_t wild = strcspn(text, "*?");

    if (wild >= size && end == size && !memchr(text, '/', size))
        return false;
    if (wild < size)
        trace_text_char(out, '~');
    /* Of a module all that is within has a sign of its own. */
    while (end && wild + strspn(text + wild, "*") == size && wild >= 2 &&
           (text[wild - 1] == '/' || text[wild - 1] == ':') && end > wild)
        end--;
    for (size_t i = 0; i < end; i++)
        if (text[i] == '/')
            trace_text_string(out, "::");
        else
            trace_text_char(out, text[i]);
    trace_text_string(out, text + size);
    return true;
}

static bool meant_otherwise(const char *directive, struct trace_text *out)
{
    if (strchr("~!^/{", directive[0]))
        return false;
    return meant_list(directive, out) || meant_fields(directive, out) ||
           meant_level(directive, out) || meant_target(directive, out);
}

/* ---- By what there is ---- */

/* "healthcheck=debug", where a span is called so; "healthcheck=off" was to
 * silence it. */
static bool meant_span(const char *directive, const char *span,
                       struct trace_text *out)
{
    const char *target = directive + strspn(directive, "!^");
    size_t size = strcspn(target, " \t=");
    const char *equals = strchr(target + size, '=');
    unsigned level = TRACE_LEVEL_TRACE;

    if (!size || strlen(span) != size || memcmp(target, span, size) != 0 ||
        target[size + strspn(target + size, " \t=")] == '[')
        return false;
    if (equals && target == directive &&
        log_level_of(equals + 1 + strspn(equals + 1, " \t"), &level) &&
        level == TRACE_LEVEL_OFF) {
        trace_text_printf(out, "![%s]", span);
        return true;
    }
    trace_text_add(out, directive, (size_t)(target - directive));
    trace_text_printf(out, "[%s]%s", span, target + size);
    return true;
}

/* The name in a directive that a call site must have: a span's, or a target. */
struct name {
    const char *at;
    size_t size;
    bool of_span;
};

static struct name name_in(const char *directive)
{
    const char *at = directive + strspn(directive, "!^");
    const char *end = at + strcspn(at, " \t=[");

    if (strchr("~/{", *at))
        return (struct name){0};
    if (*end != '[')
        return (struct name){at, (size_t)(end - at), false};
    return (struct name){end + 1, strcspn(end + 1, " \t{]"), true};
}

/* The size of as many of a target's modules as there are in a name. */
static size_t modules(const char *target, const struct name *name)
{
    size_t colons = 0, size = 0;

    for (size_t i = 0; i < name->size; i++)
        colons += name->at[i] == ':';
    while (target[size] && (target[size] != ':' || colons--))
        size++;
    return size;
}

/* Whether it is a word that was rather meant to be a level. */
static bool is_level(const char *directive)
{
    return !strpbrk(directive, "=[") && log_mistyped_level(directive);
}

/* How many letters of two names differ; SIZE_MAX where it is plain that more
 * than `most` do, as between most names. */
static size_t near_distance(const struct name *name, const char *other,
                            size_t size, size_t most)
{
    if (size > name->size + most || name->size > size + most)
        return SIZE_MAX;
    return log_distance(name->at, name->size, other, size);
}

/* Takes what is spelled nearly so. */
static void guess_near(struct log_guess *guess, const struct trace_site *site)
{
    const struct name name = name_in(guess->directive);
    const char *other = name.of_span ? site->name : site->target;
    size_t size, distance, most = name.size / 2 < 3 ? name.size / 2 : 3;

    if (!most || !other || (name.of_span && site->kind != TRACE_SITE_SPAN))
        return;
    size = name.of_span ? strlen(other) : modules(other, &name);
    distance = near_distance(&name, other, size, most);
    if (!distance || distance > most || is_level(guess->directive) ||
        (guess->meant.size && distance >= guess->distance))
        return;
    guess->distance = distance;
    trace_text_clear(&guess->meant);
    trace_text_add(&guess->meant, guess->directive,
                   (size_t)(name.at - guess->directive));
    trace_text_add(&guess->meant, other, size);
    trace_text_string(&guess->meant, name.at + name.size);
}

static void take(struct log_guess *guess, struct trace_text meant)
{
    trace_text_free(&guess->meant);
    guess->meant = meant;
    guess->distance = 0;
}

void log_guess_site(struct log_guess *guess, const struct trace_site *site)
{
    struct trace_text exact = {0};

    if (guess->meant.size && !guess->distance)
        return;
    if (site->kind != TRACE_SITE_SPAN || !site->name ||
        !meant_span(guess->directive, site->name, &exact)) {
        guess_near(guess, site);
        return;
    }
    take(guess, exact);
}

bool log_guess_end(struct log_guess *guess)
{
    struct trace_text meant = {0};

    if ((!guess->meant.size || guess->distance) &&
        meant_otherwise(guess->directive, &meant))
        take(guess, meant);
    return guess->meant.size && !guess->meant.failed;
}

/* suggest.c: suggests what a mistyped word or directive was meant to be. */
#include <string.h>

#include "filter.h"

enum { BRIEF_MAX = 200 }; /* columns of a filter or directive in a line */

/* ---- Words ---- */

/* Returns the nearest word at a distance below `least`, NULL if there is none.
 * A prefix counts as one edit: "warning", "err". */
static const char *nearest_within(const char *word, const char *const *words,
                                  size_t least)
{
    const char *nearest = NULL;
    size_t size = strlen(word);

    for (; *words; words++) {
        size_t length = strlen(*words);
        size_t d = trace_distance(word, size, *words, length);

        if (d > 1 &&
            trace_same_bytes(word, *words, size < length ? size : length))
            d = 1;
        if (d < least) {
            least = d;
            nearest = *words;
        }
    }
    return nearest;
}

const char *log_nearest(const char *word, const char *const *words)
{
    return nearest_within(word, words, strlen(word) / 2 + 1);
}

/* Other programs' names of levels. */
static const char *const synonyms[][2] = {
    {"all", "trace"},   {"verbose", "trace"}, {"*", "trace"},
    {"dbg", "debug"},   {"notice", "info"},   {"critical", "error"},
    {"fatal", "error"}, {"none", "off"},      {"false", "off"},
};

const char *log_nearest_level(const char *word)
{
    const char *words[TRACE_LEVEL_TRACE + 2] = {NULL};
    size_t least = strlen(word) / 2 + 1;

    for (size_t i = 0; i < sizeof(synonyms) / sizeof(*synonyms); i++)
        if (log_same_word(word, synonyms[i][0]))
            return synonyms[i][1];
    for (unsigned level = 0; level <= TRACE_LEVEL_TRACE; level++)
        words[level] = trace_level_word(level);
    return nearest_within(word, words, least < 3 ? least : 3);
}

/* ---- Directives that matched nothing, by their form ---- */

/* "info;net=debug", "info net=debug": commas were meant. */
static bool suggest_commas(const char *text, struct trace_text *out)
{
    static const char separators[] = " \t;|&";
    size_t size = strcspn(text, "=[{"), first = strcspn(text, separators);
    char word[16];
    unsigned level;

    snprintf(word, sizeof(word), "%.*s", (int)first, text);
    if (!first || first + strspn(text + first, separators) >= size ||
        (text[size] != '=' &&
         (first >= sizeof(word) || !log_level_of(word, &level))))
        return false;
    for (size_t i = 0; i < size; i++)
        if (!strchr(separators, text[i]))
            trace_text_char(out, text[i]);
        else if (i + strspn(text + i, separators) < size &&
                 !strchr(separators, text[i - 1]))
            trace_text_char(out, ',');
    trace_text_string(out, text + size);
    return true;
}

/* "net:debug": an equals sign was meant. */
static bool suggest_equals(const char *text, struct trace_text *out)
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

/* The size of a path without the suffix of a source file. */
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

/* "kv/store.c=debug": the file's target was meant; "net::*": a glob. */
static bool suggest_target(const char *text, struct trace_text *out)
{
    size_t size = strcspn(text, "=["), end = without_suffix(text, size);
    bool glob = strcspn(text, "*?") < size;

    if (!glob && end == size && !memchr(text, '/', size))
        return false;
    trace_text_string(out, glob ? "~" : "");
    for (size_t i = 0; i < end; i++)
        if (text[i] == '/')
            trace_text_string(out, "::");
        else
            trace_text_char(out, text[i]);
    trace_text_string(out, text + size);
    return true;
}

/* ---- Directives that matched nothing, by the call sites that exist ---- */

/* "healthcheck=debug", where a span has that name. Its "off" was meant to
 * silence the span. */
static bool suggest_span(const char *directive, const char *span,
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

/* The name that a directive looks for: a span's, or a target. */
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

/* The size of a target's beginning that has as many modules as a name. */
static size_t modules(const char *target, const struct name *name)
{
    size_t colons = 0, size = 0;

    for (size_t i = 0; i < name->size; i++)
        colons += name->at[i] == ':';
    while (target[size] && (target[size] != ':' || colons--))
        size++;
    return size;
}

/* Keeps a name that differs in few letters, if it is the nearest yet. */
static void suggest_near(struct log_suggestion *suggestion,
                         const struct trace_site *site)
{
    const char *directive = suggestion->directive;
    const struct name name = name_in(directive);
    const char *other = name.of_span ? site->name : site->target;
    size_t size, distance, most = name.size / 2 < 3 ? name.size / 2 : 3;

    if (!most || !other || (name.of_span && site->kind != TRACE_SITE_SPAN) ||
        (!strpbrk(directive, "=[") && log_nearest_level(directive)))
        return;
    size = name.of_span ? strlen(other) : modules(other, &name);
    if (size > name.size + most || name.size > size + most)
        return; /* most names differ: no need to compare their letters */
    distance = trace_distance(name.at, name.size, other, size);
    if (!distance || distance > most ||
        (suggestion->text.size && distance >= suggestion->distance))
        return;
    suggestion->distance = distance;
    trace_text_clear(&suggestion->text);
    trace_text_add(&suggestion->text, directive, (size_t)(name.at - directive));
    trace_text_add(&suggestion->text, other, size);
    trace_text_string(&suggestion->text, name.at + name.size);
}

static void take(struct log_suggestion *suggestion, struct trace_text text)
{
    trace_text_free(&suggestion->text);
    suggestion->text = text;
    suggestion->distance = 0;
}

void log_suggest_site(struct log_suggestion *suggestion,
                      const struct trace_site *site)
{
    struct trace_text exact = {0};

    if (suggestion->text.size && !suggestion->distance)
        return;
    if (site->kind == TRACE_SITE_SPAN && site->name &&
        suggest_span(suggestion->directive, site->name, &exact))
        take(suggestion, exact);
    else
        suggest_near(suggestion, site);
}

bool log_suggest_end(struct log_suggestion *suggestion)
{
    const char *directive = suggestion->directive;
    struct trace_text text = {0};

    if ((!suggestion->text.size || suggestion->distance) &&
        !strchr("~!^/{", directive[0]) &&
        (suggest_commas(directive, &text) || suggest_equals(directive, &text) ||
         suggest_target(directive, &text)))
        take(suggestion, text);
    return suggestion->text.size && !suggestion->text.failed;
}

/* ---- Values that EnvFilter reads in an unexpected way ---- */

/* `f="v"`: the quotes are part of the expression. */
static void advise_quotes(const struct log_pattern *pattern,
                          struct trace_text *out)
{
    const char *text = pattern->text;
    size_t size = strlen(text) - 2;

    trace_text_string(out, "a value in quotes matches only text that is "
                           "printed in quotes; write ");
    if (strcspn(text + 1, " ,={}\\") > size)
        trace_text_printf(out, "%s=%.*s, or ", pattern->name, (int)size,
                          text + 1);
    trace_text_printf(out, "%s~=%s", pattern->name, text);
}

/* `f==v`, `f=v=w`: the text behind the second "=" is dropped. */
static void advise_dropped(const struct log_pattern *pattern,
                           struct trace_text *out)
{
    const char *dropped = pattern->dropped + strspn(pattern->dropped, " ");

    if (*pattern->text)
        trace_text_printf(out,
                          "the text after the second \"=\" is ignored; "
                          "write %s~=\"%s=%s\"",
                          pattern->name, pattern->text, dropped);
    else
        trace_text_printf(out,
                          "a second \"=\" leaves an empty expression; write "
                          "%s=%s",
                          pattern->name, dropped);
}

/* Returns whether there is advice on a pattern. */
static bool advise(const struct log_pattern *pattern, struct trace_text *out)
{
    const char *text = pattern->text;
    size_t size = text ? strlen(text) : 0;

    if (pattern->operation != LOG_IS)
        return false;
    if (pattern->dropped)
        advise_dropped(pattern, out);
    else if (size > 2 && text[0] == '"' && text[size - 1] == '"')
        advise_quotes(pattern, out);
    else
        return false;
    return true;
}

static void advise_directive(const struct log_directive *directive,
                             const char *origin, struct trace_text *out)
{
    struct trace_text advice = {0};

    for (size_t i = 0; i < directive->field_count; i++) {
        trace_text_clear(&advice);
        if (!advise(&directive->fields[i], &advice))
            continue;
        trace_text_printf(out, "%s: ", origin);
        log_filter_brief(out, directive->text);
        trace_text_string(out, ": ");
        log_filter_brief(out, advice.data ? advice.data : "");
        trace_text_char(out, '\n');
    }
    trace_text_free(&advice);
}

bool log_filter_advise(const struct log_filter *filter, const char *origin,
                       struct trace_text *out)
{
    size_t before = out->size;

    for (size_t i = 0; i < filter->count; i++)
        advise_directive(&filter->directives[i], origin, out);
    return out->size > before;
}

/* ---- For a terminal ---- */

void log_filter_brief(struct trace_text *out, const char *text)
{
    struct trace_text plain = {0};
    size_t columns = 0, size = 0;

    log_plain(&plain, text, strnlen(text, 4 * (BRIEF_MAX + 1)));
    for (; size < plain.size; size++) {
        columns += !trace_utf8_continues(plain.data[size]);
        if (columns > BRIEF_MAX)
            break;
    }
    trace_text_add(out, plain.data ? plain.data : "", size);
    if (size < plain.size)
        trace_text_string(out, "...");
    trace_text_free(&plain);
}

/* directive.c: parses one directive of a filter.
 *
 *  directive  = ("!" / "^") matched ["=" level]
 *  matched    = [target / "~" glob] ["[" [span] ["{" fields "}"] "]"]
 *             / "{" fields "}" / "/" regex "/"
 *  fields     = name [operation value] *("," name [operation value])
 *
 * A directive that does not begin with one of ! ^ ~ { / is parsed as
 * EnvFilter's state machine parses it. The exceptions: white space around
 * tokens is allowed, commas in braces belong to the fields, and a value in
 * quotes may contain any character. A new form begins with a character that
 * EnvFilter rejects, and keeps the answers of tests/cases/filter.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"

/* ---- Extents ---- */

static const char *skip_spaces(const char *at)
{
    size_t size;

    while ((size = log_space(at)))
        at += size;
    return at;
}

/* Returns the end of a value in quotes that begins at `at`, or `at` if it is
 * not one: the closing quote must end the value. */
static const char *quoted_end(const char *at)
{
    const char *end = at + 1, *next;

    if (*at != '"')
        return at;
    while (*end && *end != '"')
        end += *end == '\\' && end[1] ? 2 : 1;
    next = *end ? skip_spaces(end + 1) : end;
    return *next == ',' || *next == '}' ? end + 1 : at;
}

/* Returns the operation at `at` and its size; DECLARED if there is none. */
static enum log_operation operation_at(const char *at, size_t *size)
{
    static const struct {
        const char *sign;
        enum log_operation operation;
    } signs[] = {
        {"=", LOG_IS},       {"!=", LOG_DIFFERS},  {"<=", LOG_AT_MOST},
        {"<", LOG_LESS},     {">=", LOG_AT_LEAST}, {">", LOG_GREATER},
        {"~=", LOG_MATCHES},
    };

    for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++) {
        *size = strlen(signs[i].sign);
        if (!strncmp(at, signs[i].sign, *size))
            return signs[i].operation;
    }
    *size = 0;
    return LOG_DECLARED;
}

/* Returns the end of a field: "," or "}" or the end of the text. */
static const char *field_end(const char *at)
{
    size_t size = 0;

    while (*at && *at != ',' && *at != '}' && !operation_at(at, &size))
        at++;
    if (size)
        at = quoted_end(skip_spaces(at + size));
    return at + strcspn(at, ",}");
}

const char *log_brace_end(const char *open)
{
    const char *at = open;

    do
        at = field_end(at + 1);
    while (*at == ',');
    return *at ? at : NULL;
}

/* Returns the "/" that closes the expression at `open`, NULL if none does. */
static const char *regex_end(const char *open)
{
    const char *at = open + 1;

    while (*at && *at != '/')
        at += *at == '\\' && at[1] ? 2 : 1;
    return *at ? at : NULL;
}

size_t log_directive_extent(const char *text, bool *unclosed)
{
    const char *at = skip_spaces(text), *closing = NULL;

    if (*at == '!' || *at == '^')
        at = skip_spaces(at + 1);
    if (*at == '/')
        closing = regex_end(at);
    else if (*at != '{')
        at += strcspn(at, ",=[");
    if (*at == '[')
        at += strcspn(at, ",]{");
    if (*at == '{' && !*unclosed) {
        closing = log_brace_end(at);
        *unclosed = !closing;
    }
    if (closing)
        at = closing;
    return (size_t)(at + strcspn(at, ",") - text);
}

/* ---- Parsing ---- */

struct reader {
    struct log_directive *directive;
    struct log_mistake *mistake;
    char *begin; /* in the directive's parts */
};

/* Sets the message, which continues with the word or the directive. */
static void say(struct reader *reader, const char *what)
{
    struct log_mistake *mistake = reader->mistake;

    snprintf(mistake->what, sizeof(mistake->what), "%s", what);
}

static enum log_reading refuse(struct reader *reader, const char *what,
                               const char *at)
{
    reader->mistake->kind = LOG_MISTAKE_DIRECTIVE;
    reader->mistake->at = at;
    say(reader, what);
    return LOG_MISTAKEN;
}

/* Sets the suggestion, if it fits. */
TRACE_PRINTF(2, 3)
static void suggest(struct reader *reader, const char *format, ...)
{
    struct log_mistake *mistake = reader->mistake;
    va_list arguments;
    int size;

    va_start(arguments, format);
    size = vsnprintf(mistake->instead, sizeof(mistake->instead), format,
                     arguments);
    va_end(arguments);
    if (size < 0 || (size_t)size >= sizeof(mistake->instead))
        mistake->instead[0] = '\0';
}

static bool is_level(const char *word, size_t size)
{
    char copy[16];
    unsigned level;

    snprintf(copy, sizeof(copy), "%.*s", (int)size, word);
    return size < sizeof(copy) && log_level_of(copy, &level);
}

/* Suggests a replacement for an unknown level: "debug;db=info", "debug[span]",
 * "=debug", "warning". */
static void guess_level(struct reader *reader, const char *word)
{
    size_t size, next;
    char core[16];

    word += strspn(word, "=:>\"'` ");
    size = strcspn(word, "[;|&: \t\n");
    next = size + strspn(word + size, ";|&: \t\n");
    if (word[size] == '[' && is_level(word, size)) {
        if (!reader->directive->of_spans)
            suggest(reader, "%s%s=%.*s", reader->begin, word + size, (int)size,
                    word);
    } else if (word[next] && is_level(word, size)) {
        suggest(reader, "%.*s,%s", (int)size, word, word + next);
    } else if (strlen(word) < sizeof(core)) {
        snprintf(core, sizeof(core), "%.*s", (int)strcspn(word, "\"'`;"), word);
        if (log_nearest_level(core))
            suggest(reader, "%s", log_nearest_level(core));
    }
}

static enum log_reading refuse_level(struct reader *reader, char *word)
{
    const struct log_directive *directive = reader->directive;
    const char *target = directive->target;
    size_t brace = strcspn(target, "{"), end = strcspn(word, "}");
    bool plain = directive->effect == LOG_ADDS && !directive->glob &&
                 !directive->of_spans && !directive->of_events;
    unsigned level;

    refuse(reader, "unknown level", word);
    reader->mistake->kind = LOG_MISTAKE_LEVEL;
    reader->mistake->word = word;
    if (plain && target[brace] && word[end]) {
        reader->mistake->at = reader->begin + brace;
        reader->mistake->word = NULL;
        say(reader, "a span's fields must be in brackets in");
        suggest(reader, "%.*s[%s=%.*s}]%s", (int)brace, target, target + brace,
                (int)end, word, word + end + 1);
    } else if (plain && log_level_of(target, &level)) {
        reader->mistake->word = NULL;
        say(reader, "the level must follow \"=\" in");
        suggest(reader, "%s=%s", word, target);
    } else {
        guess_level(reader, word);
    }
    return LOG_MISTAKEN;
}

/* Parses the text after "=": a level, or nothing, which means all. */
static enum log_reading read_level(struct reader *reader, char *text)
{
    char *word = log_trim(text);

    if (reader->directive->effect == LOG_EXCLUDES)
        return refuse(reader,
                      "\"!\" takes no level; use \"^\" to limit levels:", word);
    if (!*word) {
        reader->directive->level = TRACE_LEVEL_TRACE;
        return LOG_READ;
    }
    if (log_level_of(word, &reader->directive->level))
        return LOG_READ;
    return refuse_level(reader, word);
}

/* Parses the text after a closed part: "=" and a level, or nothing. */
static enum log_reading read_rest(struct reader *reader, char *at)
{
    at = (char *)skip_spaces(at);
    if (*at == '=')
        return read_level(reader, at + 1);
    if (*at)
        return refuse(reader, "only \"=\" and a level can follow here in", at);
    if (reader->directive->effect == LOG_CAPS)
        return refuse(reader, "\"^\" needs a level, as in ^net=info:", at);
    return LOG_READ;
}

/* Refuses other languages' operations in a field of an event. EnvFilter takes
 * them for values. */
static enum log_reading refuse_operation(struct reader *reader,
                                         const char *sign)
{
    static const struct {
        const char *sign, *ours;
    } others[] = {
        {"==", "="}, {"=~", "~="}, {"=>", ">="}, {"=<", "<="}, {"<>", "!="},
    };

    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        if (!strncmp(sign, others[i].sign, 2)) {
            refuse(reader, "unknown operator", sign);
            reader->mistake->word = others[i].sign;
            suggest(reader, "%s", others[i].ours);
            return LOG_MISTAKEN;
        }
    return LOG_READ;
}

static bool is_quote_closed(const char *open)
{
    const char *at = open + 1;

    while (*at && *at != '"')
        at += *at == '\\' && at[1] ? 2 : 1;
    return *at;
}

/* Refuses incomplete values in a field of an event. */
static enum log_reading refuse_value(struct reader *reader,
                                     const struct log_pattern *pattern)
{
    switch (pattern->operation) {
    case LOG_DECLARED:
        return LOG_READ;
    case LOG_EQUALS: /* empty text, too */
    case LOG_DIFFERS:
    case LOG_MATCHES:
        break;
    default:
        if (!*pattern->text)
            return refuse(reader, "a value is missing in", pattern->text);
    }
    if (*pattern->text == '"' && !is_quote_closed(pattern->text))
        return refuse(reader, "unclosed quote in", pattern->text);
    return LOG_READ;
}

/* Parses one field, which ends at `end`. */
static enum log_reading read_field(struct reader *reader, char *at, char *end)
{
    struct log_directive *directive = reader->directive;
    struct log_pattern *pattern = &directive->fields[directive->field_count++];
    size_t size = 0;
    char *sign = at, *second;

    *end = '\0';
    while (*sign && !(pattern->operation = operation_at(sign, &size)))
        sign++;
    if (directive->of_events && refuse_operation(reader, sign) != LOG_READ)
        return LOG_MISTAKEN;
    if (pattern->operation == LOG_IS && directive->of_events)
        pattern->operation = LOG_EQUALS;
    if (pattern->operation)
        pattern->text = log_trim(sign + size);
    /* EnvFilter drops the text after a second "=". */
    if (pattern->operation == LOG_IS && pattern->text[0] != '"' &&
        (second = strchr(pattern->text, '='))) {
        *second = '\0';
        pattern->dropped = second + 1;
    }
    *sign = '\0';
    pattern->name = log_trim(at);
    directive->values |= pattern->operation != LOG_DECLARED;
    if (directive->of_events && !*pattern->name)
        return refuse(reader, "a field's name is missing in", at);
    if (directive->of_events && refuse_value(reader, pattern) != LOG_READ)
        return LOG_MISTAKEN;
    return log_pattern_read(pattern, reader->mistake);
}

/* Allocates as many fields as there may be from `at` to the brace's end. */
static bool make_room(struct log_directive *directive, const char *at,
                      const char *closing)
{
    size_t count = 0;

    for (; at <= closing; at = field_end(at) + 1)
        count++;
    directive->fields = calloc(count, sizeof(*directive->fields));
    return directive->fields != NULL;
}

/* An unquoted value with a brace ends the fields too early. Returns where such
 * a value seems to begin. */
static const char *brace_in_value(const char *open, const char *closing,
                                  bool of_events)
{
    size_t size = (size_t)(closing - open) - 1;
    char next = *skip_spaces(closing + 1);

    if (of_events ? !next || next == '=' : next == ']')
        return NULL;
    return memchr(open + 1, '"', size) ? NULL : memchr(open + 1, '{', size);
}

/* Parses the fields of the brace at `open`; sets `after` to what follows. */
static enum log_reading read_fields(struct reader *reader, char *open,
                                    char **after)
{
    const char *closing = log_brace_end(open);
    enum log_reading reading = LOG_READ;
    const char *inner;
    char *at = open + 1;

    if (!closing)
        return refuse(reader, "unclosed brace in", open);
    inner = brace_in_value(open, closing, reader->directive->of_events);
    if (inner)
        return refuse(reader,
                      "braces in a value need \"~=\" and quotes, as in "
                      "{f~=\"a{2}\"}:",
                      inner);
    if (!make_room(reader->directive, at, closing))
        return LOG_NO_MEMORY;
    *after = (char *)closing + 1;
    while (reading == LOG_READ && at <= closing) {
        char *end = (char *)field_end(at);

        if (skip_spaces(at) == end)
            return refuse(reader, "a field's name is missing in", at);
        reading = read_field(reader, at, end);
        at = end + 1;
    }
    return reading;
}

/* Parses "[span{fields}]" and what follows. */
static enum log_reading read_span(struct reader *reader, char *open)
{
    struct log_directive *directive = reader->directive;
    char *at = open + 1 + strcspn(open + 1, "]{"), *after = at + 1;
    char kind = *at;
    enum log_reading reading = LOG_READ;

    directive->of_spans = true;
    if (!kind)
        return refuse(reader, "unclosed bracket in", open);
    if (kind == '{') {
        reading = read_fields(reader, at, &after);
        if (reading != LOG_READ)
            return reading;
        after = (char *)skip_spaces(after);
        if (*after != ']')
            return refuse(reader, "\"]\" must follow the fields in", after);
        after++;
    }
    *at = '\0';
    directive->span = log_trim(open + 1);
    if (kind == '{' && !*directive->span)
        directive->span = NULL;
    return read_rest(reader, after);
}

static void set_target(struct log_directive *directive, char *text)
{
    directive->target = log_trim(text);
    directive->target_size = strlen(directive->target);
    if (directive->target_size)
        directive->target_end = directive->target[directive->target_size - 1];
}

/* Parses a target, which ends at `end`, and what follows. */
static enum log_reading read_target(struct reader *reader, char *at, char *end)
{
    struct log_directive *directive = reader->directive;
    char kind = *end;

    if (kind == '[') {
        enum log_reading reading = read_span(reader, end);

        *end = '\0';
        set_target(directive, at);
        return reading;
    }
    *end = '\0';
    set_target(directive, at);
    if (kind == '=')
        return read_level(reader, end + 1);
    if (!directive->glob &&
        log_level_of(directive->target, &directive->level)) {
        if (directive->effect == LOG_EXCLUDES)
            return refuse(
                reader,
                "\"!\" cannot exclude a level; use \"^\" to limit levels:", at);
        set_target(directive, end);
        return LOG_READ;
    }
    if (directive->effect == LOG_CAPS)
        return refuse(reader, "\"^\" needs a level, as in ^net=info:", end);
    return LOG_READ;
}

/* Parses "/regex/", an event's message. */
static enum log_reading read_message(struct reader *reader, char *open)
{
    struct log_directive *directive = reader->directive;
    char *closing = (char *)regex_end(open);
    enum log_reading reading;

    if (!closing)
        return refuse(reader, "a closing \"/\" is missing in", open);
    directive->fields = calloc(1, sizeof(*directive->fields));
    if (!directive->fields)
        return LOG_NO_MEMORY;
    *closing = '\0';
    directive->of_events = directive->values = true;
    directive->field_count = 1;
    directive->fields[0] = (struct log_pattern){
        .name = "message", .operation = LOG_MATCHES, .text = open + 1};
    reading = log_pattern_read(directive->fields, reader->mistake);
    return reading == LOG_READ ? read_rest(reader, closing + 1) : reading;
}

/* Rust asks Unicode whether a target begins here. Beyond ASCII, every character
 * may begin one here. */
static bool begins_target(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z') || c == '-' || c == ':' || c == '_' ||
           (unsigned char)c >= 0x80;
}

/* Refuses text that no directive begins with. */
static enum log_reading refuse_beginning(struct reader *reader, char *at)
{
    size_t size = strcspn(at + (*at != '\0'), "\"'`");

    refuse(reader, "no directive starts with", at);
    if (*at == '*') {
        say(reader, "\"~\" must precede a glob in");
        suggest(reader, "%.*s~%s", (int)(at - reader->begin), reader->begin,
                at);
    } else if (*at == '=' && is_level(at + 1, strlen(at + 1))) {
        suggest(reader, "%s", at + 1);
    } else if (*at && strchr("\"'`", *at) && begins_target(at[1])) {
        say(reader, "a directive must not be quoted:");
        suggest(reader, "%.*s", (int)size, at + 1);
    }
    return LOG_MISTAKEN;
}

/* Parses a directive without its effect. */
static enum log_reading read_matched(struct reader *reader, char *at)
{
    struct log_directive *directive = reader->directive;
    enum log_reading reading;
    char *after;

    switch (*at) {
    case '/':
        return read_message(reader, at);
    case '{':
        directive->of_events = true;
        reading = read_fields(reader, at, &after);
        return reading == LOG_READ ? read_rest(reader, after) : reading;
    case '[':
        return read_span(reader, at);
    case '~':
        directive->glob = true;
        at = (char *)skip_spaces(at + 1);
        if (!*at || *at == '=' || *at == '[')
            return refuse(reader, "a target must follow \"~\" in", at);
        return read_target(reader, at, at + strcspn(at, "=["));
    default:
        if (directive->effect == LOG_CAPS && *at == '=')
            return read_level(reader, at + 1);
        if (!begins_target(*at))
            return refuse_beginning(reader, at);
        return read_target(reader, at, at + strcspn(at, "=["));
    }
}

enum log_reading log_directive_read(struct log_directive *directive,
                                    const char *text, size_t size,
                                    struct log_mistake *mistake)
{
    struct reader reader = {directive, mistake, NULL};
    char *at;

    directive->text = strndup(text, size);
    directive->parts = directive->text ? strdup(directive->text) : NULL;
    if (!directive->parts)
        return LOG_NO_MEMORY;
    directive->target = "";
    directive->level = TRACE_LEVEL_TRACE;
    at = reader.begin = directive->parts;
    if (*at == '!' || *at == '^') {
        directive->effect = *at == '!' ? LOG_EXCLUDES : LOG_CAPS;
        at = (char *)skip_spaces(at + 1);
        if (!*at)
            return refuse(&reader, "a directive must follow", at);
    }
    return read_matched(&reader, at);
}

void log_directive_free(struct log_directive *directive)
{
    for (size_t i = 0; i < directive->field_count; i++)
        log_pattern_free(&directive->fields[i]);
    free(directive->fields);
    free(directive->text);
    free(directive->parts);
}

/* ---- Matching ---- */

/* Returns the text after its first character. */
static const char *behind(const char *text, const char *end)
{
    do
        text++;
    while (text < end && trace_utf8_continues(*text));
    return text;
}

/* In a glob, "*" matches any run of characters and "?" any character. */
static bool glob_matches(const char *glob, const char *glob_end,
                         const char *text, const char *end)
{
    const char *star = NULL, *from = text;

    while (text < end) {
        if (glob < glob_end && *glob == '*') {
            star = ++glob;
            from = text;
        } else if (glob < glob_end && *glob == '?') {
            glob++;
            text = behind(text, end);
        } else if (glob < glob_end && *glob == *text) {
            glob++;
            text++;
        } else if (star) {
            glob = star;
            text = ++from;
        } else {
            return false;
        }
    }
    while (glob < glob_end && *glob == '*')
        glob++;
    return glob == glob_end;
}

/* A glob that ends in "::" matches that module and its submodules. */
bool log_glob_targets(const struct log_directive *directive, const char *target,
                      size_t target_size)
{
    const char *glob = directive->target, *end = target + target_size;
    size_t size = directive->target_size;

    if (size < 3 || strcmp(glob + size - 2, "::") != 0)
        return glob_matches(glob, glob + size, target, end);
    for (const char *at = target; at <= end; at++)
        if ((at == end || !strncmp(at, "::", 2)) &&
            glob_matches(glob, glob + size - 2, target, at))
            return true;
    return false;
}

bool log_directive_is_static(const struct log_directive *directive)
{
    return directive->effect == LOG_ADDS && !directive->glob &&
           !directive->of_events && !directive->values && !directive->span;
}

static int order_numbers(size_t a, size_t b)
{
    return a > b ? -1 : a < b;
}

static int order_names(const char *a, const char *b)
{
    if (!a || !b)
        return order_numbers(a != NULL, b != NULL);
    return -strcmp(a, b);
}

static int order_fields(const struct log_directive *a,
                        const struct log_directive *b)
{
    int order = 0;

    for (size_t i = 0; !order && i < a->field_count; i++) {
        const struct log_pattern *x = &a->fields[i], *y = &b->fields[i];

        order = order_names(x->name, y->name);
        if (!order)
            order = order_numbers(x->operation, y->operation);
        if (!order)
            order = order_numbers(x->type, y->type);
        if (!order)
            order = order_names(x->text, y->text);
    }
    return order;
}

/* Orders EnvFilter's own directives as it does: by the length of the target,
 * then by the number of fields, then by name, in reverse. */
int log_directive_order(const struct log_directive *a,
                        const struct log_directive *b)
{
    int order = order_numbers(b->effect, a->effect);

    if (!order)
        order = order_numbers(b->glob, a->glob);
    if (!order)
        order = order_numbers(b->of_events, a->of_events);
    if (!order)
        order = order_numbers(a->target_size, b->target_size);
    if (!order)
        order = order_numbers(a->field_count, b->field_count);
    if (!order)
        order = order_names(a->target, b->target);
    if (!order)
        order = order_numbers(a->of_spans, b->of_spans);
    if (!order)
        order = order_names(a->span, b->span);
    return order ? order : order_fields(a, b);
}

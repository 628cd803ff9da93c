/* markup.c: reads the markup of reports, in place. */
#include "markup.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <testlog/trace.h>

enum { ATTRIBUTES_MOST = 32, CHUNK = 64 << 10 };

struct reader {
    const struct markup *markup;
    char *at, *end;   /* the rest */
    const char *root; /* the name of the outermost element; NULL: none began */
    bool ended;       /* that element has */
    bool cut;         /* one before it has not */
};

/* ---- Characters ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("_-.:", c)) ||
           (unsigned char)c >= 0x80;
}

static bool starts(const struct reader *reader, const char *at,
                   const char *text)
{
    size_t size = strlen(text);

    return (size_t)(reader->end - at) >= size && !memcmp(at, text, size);
}

/* Returns where a text is, or ends with `behind`; NULL: it is cut. */
static char *find(const struct reader *reader, char *from, const char *text,
                  bool behind)
{
    size_t size = strlen(text);
    char *at = memmem(from, (size_t)(reader->end - from), text, size);

    return at && behind ? at + size : at;
}

/* Returns the character of an entity and its size; 0: it is none. Frameworks
 * write ASCII only in this way. */
static char read_entity(const char *at, const char *end, size_t *size)
{
    static const struct {
        const char *text;
        char character;
    } entities[] = {{"&lt;", '<'},
                    {"&gt;", '>'},
                    {"&amp;", '&'},
                    {"&quot;", '"'},
                    {"&apos;", '\''}};
    char digits[8] = "", *rest;
    long number;

    for (size_t i = 0; i < sizeof(entities) / sizeof(*entities); i++) {
        *size = strlen(entities[i].text);
        if ((size_t)(end - at) >= *size && !memcmp(at, entities[i].text, *size))
            return entities[i].character;
    }
    if (end - at < 4 || at[1] != '#')
        return 0;
    for (*size = 2; *size < 8 && at + *size < end && at[*size] != ';'; ++*size)
        digits[*size - 2] = at[*size];
    number = digits[0] == 'x' ? strtol(digits + 1, &rest, 16)
                              : strtol(digits, &rest, 10);
    if (*rest || number <= 0 || number > 0x7f || at + *size >= end ||
        at[*size] != ';')
        return 0;
    ++*size;
    return (char)number;
}

enum kind { VALUE, TEXT, CDATA };

/* Decodes the ends of lines, and entities; returns the new end. */
static char *decode(enum kind kind, char *from, char *end)
{
    char *to = from;

    while (from < end) {
        size_t size = 1;
        char character =
            *from == '&' && kind != CDATA ? read_entity(from, end, &size) : 0;

        if (!character) {
            size = 1;
            character = *from;
            if (character == '\r' && from + 1 < end && from[1] == '\n')
                character = *++from;
            if (kind == VALUE && is_blank(character))
                character = ' ';
        }
        *to++ = character;
        from += size;
    }
    return to;
}

static void put_text(const struct reader *reader, const char *from,
                     const char *end)
{
    if (reader->markup->text && end > from)
        reader->markup->text(reader->markup->context, from,
                             (size_t)(end - from));
}

/* ---- Elements ---- */

static void begin(struct reader *reader, const char *name,
                  const char **attributes)
{
    bool outermost = !reader->root || reader->ended;

    if (outermost || !strcmp(name, reader->root)) {
        reader->cut |= !outermost;
        reader->root = name;
        reader->ended = false;
    }
    if (reader->markup->begin)
        reader->markup->begin(reader->markup->context, name, attributes);
}

static void end(struct reader *reader, const char *name)
{
    reader->ended |= reader->root && !strcmp(name, reader->root);
    if (reader->markup->end)
        reader->markup->end(reader->markup->context, name);
}

/* Whether the value of an attribute ends before `at`, because the tag ends or
 * has another attribute there. */
static bool ends_value(const struct reader *reader, const char *at)
{
    bool blank = at < reader->end && is_blank(*at);

    while (at < reader->end && is_blank(*at))
        at++;
    if (at < reader->end && strchr("/>?", *at))
        return true;
    if (!blank || at == reader->end || !is_name(*at))
        return false;
    while (at < reader->end && is_name(*at))
        at++;
    return starts(reader, at, "=\"") || starts(reader, at, "='");
}

/* Returns the quote that ends a value; NULL: it is cut. */
static char *end_of_value(const struct reader *reader, char *at, char quote)
{
    while ((at = memchr(at, quote, (size_t)(reader->end - at))) &&
           !ends_value(reader, at + 1))
        at++;
    return at;
}

/* Reads an attribute and its value; false if it is cut. */
static bool read_attribute(struct reader *reader, const char **name,
                           const char **value)
{
    char *at = reader->at, *quote;

    *name = at;
    while (at < reader->end && is_name(*at))
        at++;
    *value = "";
    if (at + 1 >= reader->end)
        return false;
    if (*at != '=' || (at[1] != '"' && at[1] != '\'')) {
        reader->at = at + 1; /* it is none */
        *name = NULL;
        return true;
    }
    quote = end_of_value(reader, at + 2, at[1]);
    if (!quote)
        return false;
    *at = '\0';
    *value = at + 2;
    *decode(VALUE, at + 2, quote) = '\0';
    reader->at = quote + 1;
    return true;
}

/* Reads "<name attribute='value' ...>"; false if it is cut. */
static bool read_element(struct reader *reader)
{
    const char *attributes[2 * ATTRIBUTES_MOST + 1];
    char *name = reader->at + 1, *end_of_name = name;
    size_t count = 0;
    bool empty;

    while (end_of_name < reader->end && is_name(*end_of_name))
        end_of_name++;
    for (reader->at = end_of_name;;) {
        while (reader->at < reader->end && is_blank(*reader->at))
            reader->at++;
        if (reader->at == reader->end)
            return false;
        empty = starts(reader, reader->at, "/>");
        if (empty || *reader->at == '>')
            break;
        if (!read_attribute(reader, &attributes[count], &attributes[count + 1]))
            return false;
        if (count < 2 * (ATTRIBUTES_MOST - 1) && attributes[count])
            count += 2;
    }
    reader->at += empty ? 2 : 1;
    *end_of_name = '\0';
    attributes[count] = NULL;
    begin(reader, name, attributes);
    if (empty)
        end(reader, name);
    return true;
}

static bool read_end(struct reader *reader)
{
    char *name = reader->at + 2, *close = find(reader, name, ">", false);
    char *end_of_name = name;

    if (!close)
        return false;
    while (end_of_name < close && is_name(*end_of_name))
        end_of_name++;
    *end_of_name = '\0';
    reader->at = close + 1;
    end(reader, name);
    return true;
}

/* GoogleTest ends CDATA before "]]>" and begins it again; cmocka does not. */
static bool read_cdata(struct reader *reader)
{
    static const char again[] = "]]&gt;<![CDATA[";
    char *from = reader->at + strlen("<![CDATA["), *close = from;

    while ((close = find(reader, close, "]]>", false))) {
        char *next = close + 3;

        if (starts(reader, next, again)) {
            put_text(reader, from, next); /* "]]>" itself */
            from = close = next + strlen(again);
            continue;
        }
        while (next < reader->end && is_blank(*next))
            next++;
        if (next == reader->end || starts(reader, next, "</") ||
            starts(reader, next, "<![CDATA["))
            break;
        close++;
    }
    put_text(reader, from, decode(CDATA, from, close ? close : reader->end));
    reader->at = close ? close + 3 : reader->end;
    return close;
}

/* Reads what begins with "<"; false if it is cut. */
static bool read_tag(struct reader *reader)
{
    const char *stop = starts(reader, reader->at, "<!--") ? "-->"
                       : starts(reader, reader->at, "<?") ? "?>"
                       : starts(reader, reader->at, "<!") ? ">"
                                                          : NULL;

    if (starts(reader, reader->at, "<![CDATA["))
        return read_cdata(reader);
    if (starts(reader, reader->at, "</"))
        return read_end(reader);
    if (stop) {
        reader->at = find(reader, reader->at, stop, true);
        return reader->at;
    }
    if (reader->at + 1 < reader->end && isalpha((unsigned char)reader->at[1]))
        return read_element(reader);
    put_text(reader, reader->at, reader->at + 1);
    reader->at++;
    return true;
}

/* ---- All ---- */

static void load(struct trace_text *bytes, FILE *in)
{
    char chunk[CHUNK];
    size_t size;

    while ((size = fread(chunk, 1, sizeof(chunk), in)))
        trace_text_add(bytes, chunk, size);
    for (size_t i = 0; i < bytes->size; i++)
        if (!bytes->data[i])
            bytes->data[i] = '?';
}

bool runners_markup_read(const struct markup *markup, FILE *in)
{
    struct trace_text bytes = {0};
    struct reader reader = {.markup = markup};
    bool whole = true;

    load(&bytes, in);
    reader.at = bytes.data;
    reader.end = bytes.data + bytes.size;
    while (whole && reader.at < reader.end) {
        char *text = reader.at;

        reader.at = find(&reader, text, "<", false);
        if (!reader.at)
            reader.at = reader.end;
        put_text(&reader, text, decode(TEXT, text, reader.at));
        if (reader.at < reader.end)
            whole = read_tag(&reader);
    }
    whole &= reader.ended && !reader.cut && !bytes.failed;
    trace_text_free(&bytes);
    return whole;
}

const char *runners_markup_attribute(const char **attributes, const char *name)
{
    for (; *attributes; attributes += 2)
        if (!strcmp(attributes[0], name))
            return attributes[1];
    return NULL;
}

/* sanitize_text.c: makes text that tests wrote safe for XML, YAML and JSON. */
#include <string.h>

#include "harness/results/folder/notice.h"
#include "trace/base/text.h"
#include "trace/read/reader.h"

static void add_ascii(struct trace_text *out, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        char c = text[i];

        trace_text_char(
            out, (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\t' ? c : '?');
    }
}

static bool is(const unsigned char *c, unsigned char second,
               unsigned char first, unsigned char last)
{
    return c[1] == second && c[2] >= first && c[2] <= last;
}

/* Returns how many of the `size` bytes are an unwanted character: U+0080 to
 * U+009F; those that reorder text (U+061C, U+200E, U+200F, U+202A to U+202E,
 * U+2066 to U+2069); or U+FFFE and U+FFFF, which are not characters. */
static size_t unwanted(const unsigned char *c, size_t size)
{
    if (size >= 2 &&
        ((c[0] == 0xc2 && c[1] < 0xa0) || (c[0] == 0xd8 && c[1] == 0x9c)))
        return 2;
    if (size >= 3 &&
        ((c[0] == 0xef && is(c, 0xbf, 0xbe, 0xbf)) ||
         (c[0] == 0xe2 && (is(c, 0x80, 0x8e, 0x8f) || is(c, 0x80, 0xaa, 0xae) ||
                           is(c, 0x81, 0xa6, 0xa9)))))
        return 3;
    return 0;
}

/* Adds UTF-8 without unwanted characters. */
static void add_wide(struct trace_text *out, const char *text, size_t size)
{
    size_t from = 0, i = 0;

    while (i < size) {
        size_t bytes = unwanted((const unsigned char *)text + i, size - i);

        if (!bytes) {
            i++;
            continue;
        }
        trace_text_add(out, text + from, i - from);
        trace_text_string(out, "\xef\xbf\xbd");
        from = i += bytes;
    }
    trace_text_add(out, text + from, size - from);
}

void test_log_sanitize(struct trace_text *out, const char *text, size_t size)
{
    struct trace_text json = {0};

    for (size_t i = 0, from; i < size;) {
        for (from = i; i < size && (unsigned char)text[i] < 0x80;)
            i++;
        add_ascii(out, text + from, i - from);
        for (from = i; i < size && (unsigned char)text[i] >= 0x80;)
            i++;
        trace_text_clear(&json); /* JSON's strings are UTF-8 */
        trace_json_string(&json, text + from, i - from);
        if (json.size > 2)
            add_wide(out, json.data + 1, json.size - 2);
    }
    trace_text_free(&json);
}

void test_log_sanitize_line(struct trace_text *out, const char *text)
{
    size_t from = out->size;

    test_log_sanitize(out, text, strlen(text));
    for (size_t i = from; i < out->size; i++)
        if (out->data[i] == '\n' || out->data[i] == '\t')
            out->data[i] = ' ';
}

/* Whether the word contains terminal control bytes. */
static bool is_unclean(const char *word)
{
    struct trace_text clean = {0};
    bool unclean;

    test_log_sanitize_line(&clean, word);
    unclean = clean.data && strcmp(clean.data, word) != 0;
    trace_text_free(&clean);
    return unclean;
}

/* Adds the word as $'...' in printable ASCII. */
static void add_escaped_word(struct trace_text *text, const char *word)
{
    trace_text_string(text, "$'");
    for (; *word; word++)
        if (*word == '\'' || *word == '\\')
            trace_text_printf(text, "\\%c", *word);
        else if (*word < ' ' || *word > '~')
            trace_text_printf(text, "\\%03o", (unsigned char)*word);
        else
            trace_text_char(text, *word);
    trace_text_char(text, '\'');
}

void test_log_add_word(struct trace_text *text, const char *word)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyz0123456789"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ_-+=./:~,@%";

    if (word[0] && strspn(word, safe) == strlen(word)) {
        trace_text_string(text, word);
        return;
    }
    if (is_unclean(word)) {
        add_escaped_word(text, word);
        return;
    }
    trace_text_char(text, '\'');
    for (; *word; word++)
        if (*word == '\'')
            trace_text_string(text, "'\\''");
        else
            trace_text_char(text, *word);
    trace_text_char(text, '\'');
}

void test_log_add_words(struct trace_text *text, char *const *words)
{
    for (; *words; words++) {
        if (text->size)
            trace_text_char(text, ' ');
        test_log_add_word(text, *words);
    }
}

size_t test_log_keep_end(struct trace_text *text, size_t most)
{
    size_t from = text->size - most;
    const char *newline;

    if (text->size <= most)
        return 0;
    newline = memchr(text->data + from, '\n', text->size - 1 - from);
    if (newline)
        from = (size_t)(newline + 1 - text->data);
    text->size -= from;
    memmove(text->data, text->data + from, text->size + 1);
    return from;
}

/* ---- Reasons ---- */

enum { LINE_MOST = 400 };

void test_log_join_lines(char *reason)
{
    char *end = reason ? strchr(reason, '\n') : NULL, *to = end;

    if (!end || end == reason || end[-1] != ':')
        return;
    for (const char *from = end; *from;) {
        size_t blanks = *from == '\n' ? strspn(from, " \n") : 0;

        if (blanks &&
            (size_t)(to - reason) + strcspn(from + blanks, "\n") >= LINE_MOST)
            blanks = 0;
        *to++ = blanks ? ' ' : *from;
        from += blanks ? blanks : 1;
    }
    *to = '\0';
}

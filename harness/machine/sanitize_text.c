/* sanitize_text.c: makes text that tests wrote safe for XML, YAML and JSON. */
#include <string.h>

#include "harness/machine/notice.h"
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

void test_log_sanitize(struct trace_text *out, const char *text, size_t size)
{
    for (size_t i = 0, from; i < size;) {
        uint32_t c;
        size_t bytes;

        for (from = i; i < size && (unsigned char)text[i] < 0x80;)
            i++;
        add_ascii(out, text + from, i - from);
        if (i == size)
            return;
        bytes = trace_utf8_decode(text + i, size - i, &c);
        if (!bytes || trace_deceives(c) || c == 0xfffe || c == 0xffff)
            trace_text_string(out, "\xef\xbf\xbd");
        else
            trace_text_add(out, text + i, bytes);
        i += bytes ? bytes : 1;
    }
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

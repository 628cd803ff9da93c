/* text.c: texts that grow, and the names of levels. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "text.h"
#include "trace/format.h"
#include "trace/read/reader.h"

const char *trace_level_word(unsigned level)
{
    static const char *const words[] = {"off",
#define TRACE_X(name, number, word) word,
                                        TRACE_LEVELS(TRACE_X)
#undef TRACE_X
    };

    return level < sizeof(words) / sizeof(*words) ? words[level] : "?";
}

/* Makes room for `size` more bytes and a NUL. */
static bool grow(struct trace_text *text, size_t size)
{
    size_t needed = text->size + size + 1;

    if (text->failed)
        return false;
    if (needed <= size || (text->ceiling && needed > text->ceiling)) {
        text->failed = true;
        return false;
    }
    if (needed <= text->capacity)
        return true;

    size_t capacity = text->capacity ? text->capacity : 128;

    while (capacity < needed)
        capacity *= 2;
    if (text->ceiling && capacity > text->ceiling)
        capacity = text->ceiling;

    char *data = realloc(text->data, capacity);

    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->capacity = capacity;
    return true;
}

/* Returns whether there is room: a line consists of many small parts. */
static inline bool fits(const struct trace_text *text, size_t size)
{
    return size < text->capacity - text->size && !text->failed;
}

void trace_text_add(struct trace_text *text, const void *bytes, size_t size)
{
    if (!size || (!fits(text, size) && !grow(text, size)))
        return;
    memcpy(text->data + text->size, bytes, size);
    text->size += size;
    text->data[text->size] = '\0';
}

void trace_text_again(struct trace_text *text, size_t from, size_t to)
{
    size_t size = to - from;

    if (!size || (!fits(text, size) && !grow(text, size)))
        return;
    memcpy(text->data + text->size, text->data + from, size);
    text->size += size;
    text->data[text->size] = '\0';
}

void trace_text_string(struct trace_text *text, const char *string)
{
    trace_text_add(text, string, strlen(string));
}

void trace_text_char(struct trace_text *text, char c)
{
    if (!fits(text, 1) && !grow(text, 1))
        return;
    text->data[text->size++] = c;
    text->data[text->size] = '\0';
}

void trace_text_printf(struct trace_text *text, const char *format, ...)
{
    va_list args, again;

    va_start(args, format);
    va_copy(again, args);

    int size = vsnprintf(NULL, 0, format, args);

    if (size < 0)
        text->failed = true;
    else if (grow(text, (size_t)size)) {
        vsnprintf(text->data + text->size, (size_t)size + 1, format, again);
        text->size += (size_t)size;
    }
    va_end(again);
    va_end(args);
}

/* Without memory, the thread's own locale is used. */
locale_t trace_locale_enter(void)
{
    static locale_t plain; /* atomic; never freed */
    locale_t now = __atomic_load_n(&plain, __ATOMIC_ACQUIRE), none = NULL;

    if (!now && (now = newlocale(LC_ALL_MASK, "C", NULL)) &&
        !__atomic_compare_exchange_n(&plain, &none, now, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        freelocale(now);
        now = none;
    }
    return uselocale(now);
}

void trace_locale_leave(locale_t before)
{
    uselocale(before);
}

void trace_text_clear(struct trace_text *text)
{
    text->size = 0;
    text->failed = false;
    if (text->data)
        text->data[0] = '\0';
}

void trace_text_free(struct trace_text *text)
{
    free(text->data);
    *text = (struct trace_text){.ceiling = text->ceiling};
}

void trace_text_moment(struct trace_text *text, uint64_t wall)
{
    time_t seconds = (time_t)(wall / 1000000000);
    struct tm date;
    char iso[32];

    gmtime_r(&seconds, &date);
    strftime(iso, sizeof(iso), "%Y-%m-%dT%H:%M:%S", &date);
    trace_text_printf(text, "%s.%06uZ", iso,
                      (unsigned)(wall % 1000000000 / 1000));
}

/* ---- Characters ---- */

bool trace_deceives(uint32_t c)
{
    return (c >= 0x80 && c < 0xa0) || c == 0x61c || c == 0x200e ||
           c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069);
}

/* ---- Words ---- */

/* ASCII only, in every locale: a Turkish one pairs other letters. */
static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool trace_same_bytes(const char *a, const char *b, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (lower(a[i]) != lower(b[i]))
            return false;
        else if (!a[i])
            return true;
    return true;
}

size_t trace_distance(const char *a, size_t m, const char *b, size_t n)
{
    size_t rows[3][64], *row = rows[0], *last = rows[1], *before = rows[2];

    if (n >= sizeof(rows[0]) / sizeof(rows[0][0]))
        return SIZE_MAX;
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; i <= m; i++) {
        size_t *oldest = before;

        before = last;
        last = row;
        row = oldest;
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t least = last[j] < row[j - 1] ? last[j] + 1 : row[j - 1] + 1;
            size_t changed =
                last[j - 1] + !trace_same_bytes(a + i - 1, b + j - 1, 1);

            row[j] = changed < least ? changed : least;
            if (i > 1 && j > 1 && before[j - 2] + 1 < row[j] &&
                trace_same_bytes(a + i - 1, b + j - 2, 1) &&
                trace_same_bytes(a + i - 2, b + j - 1, 1))
                row[j] = before[j - 2] + 1;
        }
    }
    return row[n];
}

/* columns.c: builds the tables of report.html. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "harness/run/page/columns.h"
#include "trace/base/text.h"

/* ---- Strings ---- */

enum {
    STRING_MOST = 64 << 10,  /* bytes of one string */
    STRINGS_MOST = 64 << 20, /* bytes of all */
};

static size_t begin_of(const struct test_log_strings *strings, size_t number)
{
    return number ? strings->ends[number - 1] : 0;
}

static bool is_string(const struct test_log_strings *strings, size_t number,
                      const char *text, size_t size)
{
    size_t begin = begin_of(strings, number);

    return strings->ends[number] - begin == size &&
           !memcmp(strings->bytes.data + begin, text, size);
}

/* Adds a string that is new; SIZE_MAX without room. */
static size_t append(struct test_log_strings *strings, const char *text,
                     size_t size)
{
    if (strings->bytes.size + size > STRINGS_MOST || strings->bytes.failed ||
        !TRACE_ARRAY_RESERVE(strings->ends, strings->capacity,
                             strings->count + 1))
        return SIZE_MAX;
    trace_text_put(&strings->bytes, text, size);
    strings->ends[strings->count] = strings->bytes.size;
    return strings->bytes.failed ? SIZE_MAX : strings->count++;
}

/* Finds a string, or adds it. A string with the hash of another one takes the
 * next free hash. */
static size_t intern(struct test_log_strings *strings, const char *text,
                     size_t size)
{
    uint64_t hash = trace_hash(TRACE_HASH, text, size);
    uintptr_t number;
    size_t added;

    for (; trace_table_find(&strings->table, hash, &number); hash++)
        if (is_string(strings, number, text, size))
            return number;
    added = append(strings, text, size);
    if (added != SIZE_MAX)
        trace_table_set(&strings->table, hash, added);
    return added;
}

/* Replaces the end of a long string by its size. */
static size_t intern_short(struct test_log_strings *strings, const char *text,
                           size_t size)
{
    size_t kept = trace_utf8_boundary(text, STRING_MOST), number;
    struct trace_text cut = {0};

    trace_text_add(&cut, text, kept);
    trace_text_printf(&cut, "... (%zu more bytes)", size - kept);
    number = cut.failed ? SIZE_MAX : intern(strings, cut.data, cut.size);
    trace_text_free(&cut);
    return number;
}

uint32_t test_log_strings_add(struct test_log_strings *strings,
                              const char *text, size_t size)
{
    size_t number;

    if (!strings->count && append(strings, "", 0) == SIZE_MAX)
        return 0;
    if (!size)
        return 0;
    number = size > STRING_MOST ? intern_short(strings, text, size)
                                : intern(strings, text, size);
    strings->cut += size > STRING_MOST || number == SIZE_MAX;
    return number == SIZE_MAX ? 0 : (uint32_t)number;
}

uint32_t test_log_strings_of(struct test_log_strings *strings, const char *text)
{
    return test_log_strings_add(strings, text, text ? strlen(text) : 0);
}

void test_log_strings_free(struct test_log_strings *strings)
{
    trace_text_free(&strings->bytes);
    free(strings->ends);
    trace_table_free(&strings->table);
    *strings = (struct test_log_strings){.count = 0};
}

static void put_strings(struct trace_text *out,
                        const struct test_log_strings *strings)
{
    trace_text_literal(out, "\"strings\":[\"\"");
    for (size_t i = 1; i < strings->count; i++) {
        size_t begin = begin_of(strings, i);

        trace_text_literal(out, ",");
        trace_json_string(out, strings->bytes.data + begin,
                          strings->ends[i] - begin);
    }
    trace_text_literal(out, "]");
}

/* ---- Tables ---- */

uint64_t test_log_real(double number)
{
    uint64_t bits;

    memcpy(&bits, &number, sizeof(bits));
    return bits;
}

static void put_varint(struct trace_text *out, uint64_t number)
{
    char bytes[10];
    size_t size = 0;

    for (; number >= 0x80; number >>= 7)
        bytes[size++] = (char)(number | 0x80);
    bytes[size++] = (char)number;
    trace_text_put(out, bytes, size);
}

static uint64_t zigzag(uint64_t number)
{
    return number << 1 ^ (number >> 63 ? UINT64_MAX : 0);
}

/* Little endian, whatever the machine is. */
static void put_real(struct trace_text *out, uint64_t bits)
{
    char bytes[8];

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)(bits >> 8 * i);
    trace_text_put(out, bytes, sizeof(bytes));
}

static void put_number(struct trace_text *out, enum test_log_encoding encoding,
                       uint64_t number, uint64_t last)
{
    switch (encoding) {
    case TEST_LOG_NUMBER:
        put_varint(out, number);
        break;
    case TEST_LOG_SIGNED:
        put_varint(out, zigzag(number));
        break;
    case TEST_LOG_DELTA:
        put_varint(out, zigzag(number - last));
        break;
    case TEST_LOG_REAL:
        put_real(out, number);
        break;
    }
}

void test_log_table_add(struct test_log_table *table, const uint64_t *numbers,
                        size_t count)
{
    table->failed |= count != table->kind->count;
    if (table->failed)
        return;
    for (size_t i = 0; i < table->kind->count; i++) {
        struct trace_text *bytes = &table->columns[i].bytes;

        put_number(bytes, table->kind->columns[i].encoding, numbers[i],
                   table->columns[i].last);
        table->columns[i].last = numbers[i];
        table->failed |= bytes->failed;
    }
    table->rows += !table->failed;
}

void test_log_table_free(struct test_log_table *table)
{
    for (size_t i = 0; i < TEST_LOG_COLUMNS_MAX; i++)
        trace_text_free(&table->columns[i].bytes);
    *table = (struct test_log_table){.kind = table->kind};
}

void test_log_table_continue(struct test_log_table *table)
{
    for (size_t i = 0; i < table->kind->count; i++) {
        trace_text_clear(&table->columns[i].bytes);
        table->columns[i].last = 0;
    }
    table->before += table->rows;
    table->rows = 0;
}

/* ---- Blocks ---- */

static void put_columns(struct trace_text *out,
                        const struct test_log_table *table)
{
    static const char *const letters[] = {
#define TEST_LOG_X(name, letter, how) letter,
        TEST_LOG_ENCODINGS(TEST_LOG_X)
#undef TEST_LOG_X
    };

    trace_text_printf(out, "\"%s\":{\"rows\":%zu,\"columns\":[",
                      table->kind->name, table->rows);
    for (size_t i = 0; i < table->kind->count; i++)
        trace_text_printf(out, "%s[\"%s\",\"%s\",%zu]", i ? "," : "",
                          table->kind->columns[i].name,
                          letters[table->kind->columns[i].encoding],
                          table->columns[i].bytes.size);
    trace_text_literal(out, "]}");
}

void test_log_block_put(struct trace_text *out, const char *members,
                        const struct test_log_strings *strings,
                        const struct test_log_table *const *tables,
                        size_t count)
{
    trace_text_literal(out, "{\"format\":1,");
    trace_text_string(out, members);
    put_strings(out, strings);
    trace_text_literal(out, ",\"tables\":{");
    for (size_t i = 0; i < count; i++) {
        trace_text_string(out, i ? "," : "");
        put_columns(out, tables[i]);
    }
    trace_text_put(out, "}}", sizeof("}}")); /* with the NUL */
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < tables[i]->kind->count; k++)
            trace_text_put(out,
                           tables[i]->columns[k].bytes.data
                               ? tables[i]->columns[k].bytes.data
                               : "",
                           tables[i]->columns[k].bytes.size);
}

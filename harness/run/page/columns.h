/* columns.h: the tables of report.html, column by column. Private.
 *
 * A block of data is JSON, a NUL, and the bytes of all columns. The JSON has
 * the strings of the block, and the names, encodings and sizes of the columns.
 * Numbers are varints, because most are small, or differ little from the one
 * before. format.md describes all tables.
 */
#ifndef TESTLOG_COLUMNS_H
#define TESTLOG_COLUMNS_H

#include "trace/read/reader.h"

/* ---- Strings ---- */

/* Each string is kept once; number 0 is "". */
struct test_log_strings {
    struct trace_text bytes;
    size_t *ends; /* in `bytes` */
    size_t count, capacity;
    size_t cut;               /* strings that were shortened or left out */
    struct trace_table table; /* from hashes to numbers */
};

/* test_log_strings_add returns the number of a string. A long one is shortened;
 * once there are too many, and without memory, the number is 0. */
uint32_t test_log_strings_add(struct test_log_strings *, const char *,
                              size_t size);

/* test_log_strings_of does the same for a string that ends with a NUL, or NULL.
 */
uint32_t test_log_strings_of(struct test_log_strings *, const char *);
void test_log_strings_free(struct test_log_strings *);

/* ---- Tables ---- */

/* X(NAME, letter in JSON, what a number becomes) */
#define TEST_LOG_ENCODINGS(X)                                                  \
    X(NUMBER, "n", "a varint (LEB128)")                                        \
    X(SIGNED, "i", "a varint of 2n, or of -2n-1 if negative (zigzag)")         \
    X(DELTA, "d", "as SIGNED, the difference to the row before")               \
    X(REAL, "f", "the eight bytes of a double")

enum test_log_encoding {
#define TEST_LOG_X(name, letter, how) TEST_LOG_##name,
    TEST_LOG_ENCODINGS(TEST_LOG_X)
#undef TEST_LOG_X
};

enum { TEST_LOG_COLUMNS_MAX = 25 };

/* A table's name and columns. */
struct test_log_table_kind {
    const char *name;
    size_t count;
    struct test_log_column {
        const char *name;
        enum test_log_encoding encoding;
    } columns[TEST_LOG_COLUMNS_MAX];
};

struct test_log_table {
    const struct test_log_table_kind *kind;
    size_t before; /* rows of earlier blocks */
    size_t rows;
    bool failed; /* without memory: later rows are missing */
    struct {
        struct trace_text bytes;
        uint64_t last;
    } columns[TEST_LOG_COLUMNS_MAX];
};

/* TEST_LOG_ROW adds a row: a number for each column, or the bits of a double.
 */
#define TEST_LOG_ROW(table, ...)                                               \
    test_log_table_add(table, (const uint64_t[]){__VA_ARGS__},                 \
                       sizeof((const uint64_t[]){__VA_ARGS__}) /               \
                           sizeof(uint64_t))
void test_log_table_add(struct test_log_table *, const uint64_t *numbers,
                        size_t count);
void test_log_table_free(struct test_log_table *);

/* test_log_table_next returns the number of the next row: rows of a recording
 * that grows are counted through all its blocks. test_log_table_continue
 * empties a table for the next block. */
static inline size_t test_log_table_next(const struct test_log_table *table)
{
    return table->before + table->rows;
}

void test_log_table_continue(struct test_log_table *);

/* test_log_real returns the bits of a double. */
uint64_t test_log_real(double);

/* ---- Blocks ---- */

/* test_log_block_put adds a whole block. `members` is JSON, each member of it
 * followed by a comma. */
void test_log_block_put(struct trace_text *out, const char *members,
                        const struct test_log_strings *,
                        const struct test_log_table *const *tables,
                        size_t count);

#endif

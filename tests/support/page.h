/* page.h: reads the blocks of data in report.html, as its page does. */
#ifndef TESTS_PAGE_H
#define TESTS_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>

/* A block, which is kept. */
struct page_block {
    cJSON *json;
    const unsigned char *columns;
    size_t size; /* bytes of all columns */
};

/* page_can_read returns whether zlib is there, without which no block can be
 * read. */
bool page_can_read(void);

/* page_decode reads a block's bytes, page_inflate compressed ones, and
 * page_block the block with an id in an HTML page. They fail the test if that
 * is impossible; page_has tells whether there is such a block. */
struct page_block page_decode(const unsigned char *, size_t size);
struct page_block page_inflate(const unsigned char *, size_t size);
struct page_block page_block(const char *html, const char *id);
bool page_has(const char *html, const char *id);

/* page_rows returns how many rows a table has; page_number a number in one,
 * with its sign; page_real a double; page_text the string that has the
 * number. */
size_t page_rows(const struct page_block *, const char *table);
int64_t page_number(const struct page_block *, const char *table,
                    const char *column, size_t row);
double page_real(const struct page_block *, const char *table,
                 const char *column, size_t row);
const char *page_text(const struct page_block *, const char *table,
                      const char *column, size_t row);

/* page_find returns the first row with a text in a column, SIZE_MAX if there is
 * none. */
size_t page_find(const struct page_block *, const char *table,
                 const char *column, const char *text);

#endif

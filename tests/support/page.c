/* page.c: reads the blocks of data in report.html. */
#include "page.h"
#include "support.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

/* ---- Packing ---- */

enum { BUFFER_ERROR = -5 /* Z_BUF_ERROR */ };

typedef int uncompress(void *, unsigned long *room, const void *,
                       unsigned long size);

static uncompress *zlib_uncompress(void)
{
    void *library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);

    return library ? (uncompress *)dlsym(library, "uncompress") : NULL;
}

bool page_can_read(void)
{
    return zlib_uncompress();
}

struct page_block page_inflate(const unsigned char *bytes, size_t size)
{
    uncompress *inflate = zlib_uncompress();
    unsigned long room;
    int status = BUFFER_ERROR;

    cr_assert_not_null(inflate);
    for (size_t most = size * 2 + 4096; status == BUFFER_ERROR; most *= 2) {
        unsigned char *out = test_keep(malloc(most));

        room = most;
        status = inflate(out, &room, bytes, size);
        if (!status)
            return page_decode(out, room);
    }
    cr_assert_fail("zlib says %d", status);
    return (struct page_block){.json = NULL};
}

static int digit_of(char c)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;

    return at ? (int)(at - digits) : -1;
}

/* Returns how many bytes base64 stands for. */
static size_t decode_base64(unsigned char *out, const char *text, size_t size)
{
    size_t count = 0;

    cr_assert_eq(size % 4, 0);
    for (size_t i = 0; i < size; i += 4) {
        uint32_t word = 0;

        for (size_t k = 0; k < 4; k++)
            word = word << 6 |
                   (uint32_t)(text[i + k] == '=' ? 0 : digit_of(text[i + k]));
        out[count++] = (unsigned char)(word >> 16);
        if (text[i + 2] != '=')
            out[count++] = (unsigned char)(word >> 8);
        if (text[i + 3] != '=')
            out[count++] = (unsigned char)word;
    }
    return count;
}

/* ---- Elements ---- */

static const char *find(const char *html, const char *id, size_t *size)
{
    char mark[128];
    const char *at, *end;

    snprintf(mark, sizeof(mark),
             "\n<script type=\"text/plain\" id=\"%s\" data-size=\"", id);
    at = strstr(html, mark);
    if (!at)
        return NULL;
    *size = strtoul(at + strlen(mark), NULL, 10);
    at = strchr(at, '>') + 1;
    end = strchr(at, '<');
    cr_assert_eq((size_t)(end - at), *size);
    cr_assert_eq(strncmp(end, "</script>\n", 10), 0);
    return at;
}

bool page_has(const char *html, const char *id)
{
    size_t size;

    return find(html, id, &size);
}

struct page_block page_block(const char *html, const char *id)
{
    size_t size = 0;
    const char *text = find(html, id, &size);
    unsigned char *bytes = test_keep(malloc(size + 1));

    cr_assert_not_null(text, "there is no block %s", id);
    return page_inflate(bytes, decode_base64(bytes, text, size));
}

/* ---- Tables ---- */

struct page_block page_decode(const unsigned char *bytes, size_t size)
{
    const unsigned char *end = memchr(bytes, '\0', size);
    struct page_block block = {.json = NULL};

    cr_assert_not_null(end);
    block.json = cJSON_Parse((const char *)bytes);
    cr_assert_not_null(block.json, "%s", (const char *)bytes);
    test_keep(block.json);
    block.columns = end + 1;
    block.size = size - (size_t)(end + 1 - bytes);
    return block;
}

static const cJSON *member(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static size_t bytes_of(const cJSON *column)
{
    return (size_t)cJSON_GetArrayItem(column, 2)->valuedouble;
}

/* A column, and where its bytes are. */
struct column {
    const unsigned char *bytes;
    size_t size;
    char encoding;
};

static struct column column_of(const struct page_block *block,
                               const char *table, const char *name)
{
    const cJSON *tables = member(block->json, "tables"), *one, *column;
    struct column found = {.encoding = 0};
    size_t at = 0;

    cJSON_ArrayForEach(one, tables)
    {
        cJSON_ArrayForEach(column, member(one, "columns"))
        {
            if (!strcmp(one->string, table) &&
                !strcmp(cJSON_GetArrayItem(column, 0)->valuestring, name))
                found = (struct column){
                    block->columns + at, bytes_of(column),
                    cJSON_GetArrayItem(column, 1)->valuestring[0]};
            at += bytes_of(column);
        }
    }
    cr_assert_eq(at, block->size, "columns have %zu bytes of %zu", at,
                 block->size);
    cr_assert(found.encoding, "there is no %s.%s", table, name);
    return found;
}

size_t page_rows(const struct page_block *block, const char *table)
{
    const cJSON *one = member(member(block->json, "tables"), table);

    cr_assert_not_null(one, "there is no table %s", table);
    return (size_t)member(one, "rows")->valuedouble;
}

static uint64_t next_number(struct column *column)
{
    uint64_t number = 0;

    for (unsigned shift = 0; column->size; shift += 7) {
        unsigned char byte = *column->bytes++;

        column->size--;
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return number;
    }
    cr_assert_fail("a column has too few numbers");
    return 0;
}

int64_t page_number(const struct page_block *block, const char *table,
                    const char *column, size_t row)
{
    struct column from = column_of(block, table, column);
    uint64_t number = 0, before = 0;

    cr_assert_lt(row, page_rows(block, table));
    for (size_t i = 0; i <= row; i++) {
        number = next_number(&from);
        if (from.encoding != 'n')
            number = number >> 1 ^ (number & 1 ? UINT64_MAX : 0);
        if (from.encoding == 'd')
            number += before;
        before = number;
    }
    return (int64_t)number;
}

double page_real(const struct page_block *block, const char *table,
                 const char *column, size_t row)
{
    struct column from = column_of(block, table, column);
    double number;

    cr_assert_eq(from.encoding, 'f');
    cr_assert_lt(row * sizeof(number), from.size);
    memcpy(&number, from.bytes + row * sizeof(number), sizeof(number));
    return number;
}

const char *page_text(const struct page_block *block, const char *table,
                      const char *column, size_t row)
{
    int64_t number = page_number(block, table, column, row);
    const cJSON *item =
        cJSON_GetArrayItem(member(block->json, "strings"), (int)number);

    cr_assert_not_null(item, "there is no string %ld", (long)number);
    return item->valuestring;
}

size_t page_find(const struct page_block *block, const char *table,
                 const char *column, const char *text)
{
    for (size_t row = 0; row < page_rows(block, table); row++)
        if (!strcmp(page_text(block, table, column, row), text))
            return row;
    return SIZE_MAX;
}

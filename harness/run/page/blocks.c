/* blocks.c: packs a block of data and writes it as an HTML element.
 *
 * The data is base64 (RFC 4648), so it contains nothing that could end the
 * element, whatever tests have recorded.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness/run/page/blocks.h"

/* ---- Without zlib: stored blocks (RFC 1951, 3.2.4) ---- */

enum {
    STORED_MOST = 65535, /* bytes in a stored block */
    STORED_HEAD = 5,
    ZLIB_HEAD = 2,
    ZLIB_TAIL = 4,
    ADLER = 65521, /* RFC 1950, 8.2 */
};

static uint32_t adler32_of(const unsigned char *bytes, size_t size)
{
    uint32_t a = 1, b = 0;

    for (size_t i = 0; i < size; i++) {
        a = (a + bytes[i]) % ADLER;
        b = (b + a) % ADLER;
    }
    return b << 16 | a;
}

static unsigned char *put_stored(unsigned char *out, const unsigned char *bytes,
                                 size_t size, bool last)
{
    const unsigned char head[STORED_HEAD] = {
        last, (unsigned char)size, (unsigned char)(size >> 8),
        (unsigned char)~size, (unsigned char)(~size >> 8)};

    memcpy(out, head, sizeof(head));
    memcpy(out + sizeof(head), bytes, size);
    return out + sizeof(head) + size;
}

int test_log_store(struct test_log_packed *packed,
                   const struct trace_text *block)
{
    static const unsigned char head[ZLIB_HEAD] = {0x78, 0x01};
    const unsigned char *bytes = (const unsigned char *)block->data;
    size_t size = block->size;
    uint32_t sum = adler32_of(bytes, size);
    const unsigned char tail[ZLIB_TAIL] = {
        (unsigned char)(sum >> 24), (unsigned char)(sum >> 16),
        (unsigned char)(sum >> 8), (unsigned char)sum};
    size_t blocks = size / STORED_MOST + 1;
    unsigned char *out =
        malloc(size + blocks * STORED_HEAD + ZLIB_HEAD + ZLIB_TAIL);

    if (!out)
        return -1;
    packed->bytes = out;
    memcpy(out, head, sizeof(head));
    out += sizeof(head);
    for (; size > STORED_MOST; size -= STORED_MOST, bytes += STORED_MOST)
        out = put_stored(out, bytes, STORED_MOST, false);
    out = put_stored(out, bytes, size, true);
    memcpy(out, tail, sizeof(tail));
    packed->size = (size_t)(out + sizeof(tail) - packed->bytes);
    return 0;
}

int test_log_pack(struct test_log_packed *packed,
                  const struct trace_text *block)
{
    *packed = (struct test_log_packed){.size = 0};
    if (block->failed) {
        errno = ENOMEM;
        return -1;
    }
    packed->bytes = test_log_deflate(block->data, block->size, &packed->size);
    return packed->bytes ? 0 : test_log_store(packed, block);
}

/* ---- Base64 ---- */

static const char digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Adds up to three bytes as four digits. */
static char *put_digits(char *out, const unsigned char *bytes, size_t size)
{
    uint32_t word = (uint32_t)bytes[0] << 16 |
                    (uint32_t)(size > 1 ? bytes[1] : 0) << 8 |
                    (size > 2 ? bytes[2] : 0);

    *out++ = digits[word >> 18];
    *out++ = digits[word >> 12 & 63];
    *out++ = size > 1 ? digits[word >> 6 & 63] : '=';
    *out++ = size > 2 ? digits[word & 63] : '=';
    return out;
}

static void write_base64(FILE *stream, const unsigned char *bytes, size_t size)
{
    char text[4096] = "", *out = text;

    for (size_t i = 0; i < size; i += 3) {
        out = put_digits(out, bytes + i, size - i);
        if (out == text + sizeof(text)) {
            fwrite(text, 1, sizeof(text), stream);
            out = text;
        }
    }
    fwrite(text, 1, (size_t)(out - text), stream);
}

bool test_log_page_element(struct test_log_page_file *file, const char *id,
                           const struct test_log_packed *packed, bool whole)
{
    size_t size = (packed->size + 2) / 3 * 4;
    char head[128];
    uint64_t all;

    snprintf(head, sizeof(head),
             "<script type=\"text/plain\" id=\"%s\" data-size=\"%zu\">", id,
             size);
    all = strlen(head) + size + strlen("</script>\n");
    if (all > file->left && !whole)
        return false;
    file->left -= all < file->left ? all : file->left;
    fputs(head, file->stream);
    write_base64(file->stream, packed->bytes, packed->size);
    fputs("</script>\n", file->stream);
    return true;
}

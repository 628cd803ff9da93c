/* blocks.h: blocks of data in the file report.html. Private. */
#ifndef TESTLOG_BLOCKS_H
#define TESTLOG_BLOCKS_H

#include <stdio.h>

#include "trace/read/reader.h"

/* The file, and how much may still be added. */
struct test_log_page_file {
    FILE *stream;
    uint64_t left; /* bytes */
};

/* A block that is ready to be written: compressed if zlib is there, otherwise
 * stored, but always in zlib's format (RFC 1950). */
struct test_log_packed {
    unsigned char *bytes;
    size_t size;
};

/* test_log_pack packs a block; the caller frees its bytes. -1 with errno. */
int test_log_pack(struct test_log_packed *, const struct trace_text *block);

/* test_log_store does the same without zlib. */
int test_log_store(struct test_log_packed *, const struct trace_text *block);

/* test_log_deflate compresses bytes in zlib's format and returns them, to be
 * freed; NULL without memory or zlib. */
void *test_log_deflate(const void *bytes, size_t size, size_t *deflated);

/* test_log_page_element writes a block as an element with an id. It returns
 * false, and writes nothing, if there is not enough space left; `whole`: it is
 * written nevertheless. */
bool test_log_page_element(struct test_log_page_file *, const char *id,
                           const struct test_log_packed *, bool whole);

#endif

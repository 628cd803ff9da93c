/* gzip.h: zlib, opened at run time. Private. */
#ifndef TESTLOG_GZIP_H
#define TESTLOG_GZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* test_log_gzip_found tells whether zlib is installed. */
bool test_log_gzip_found(void);

/* test_log_gzip compresses `in` to `out`, to which nothing was written yet;
 * false with errno. `context` and `size` are not used. */
bool test_log_gzip(void *context, FILE *in, uint64_t size, FILE *out);

/* test_log_gunzip_open reads a compressed file; `fd` stays the caller's. NULL
 * without memory or zlib. test_log_gunzip returns how many bytes it has read, 0
 * at the end, or -1 if the file is damaged or truncated. */
struct test_log_gunzip;
struct test_log_gunzip *test_log_gunzip_open(int fd);
int test_log_gunzip(struct test_log_gunzip *, void *bytes, unsigned size);
void test_log_gunzip_close(struct test_log_gunzip *);

/* test_log_deflate compresses bytes in zlib's format (RFC 1950) and returns
 * them, to be freed; NULL without memory or zlib. */
void *test_log_deflate(const void *bytes, size_t size, size_t *deflated);

#endif

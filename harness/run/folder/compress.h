/* compress.h: compresses the recordings of a run. Private. */
#ifndef TESTLOG_COMPRESS_H
#define TESTLOG_COMPRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct test_log_run;

/* A way to compress recordings. */
struct test_log_compressor {
    const char *suffix; /* ".zst" */
    /* copy compresses `in` of `size` bytes to `out`; false with errno. */
    bool (*copy)(void *context, FILE *in, uint64_t size, FILE *out);
    void *context;        /* the caller's */
    int (*stopped)(void); /* whether to stop; NULL: never */
};

/* test_log_compress compresses the large recordings of a run that has ended,
 * except those that a process still writes to. If it cannot, it prints why. */
void test_log_compress(const struct test_log_run *,
                       const struct test_log_compressor *);

/* test_log_compress_with_gzip does so with zlib; without zlib, nothing. */
void test_log_compress_with_gzip(const struct test_log_run *);

#endif

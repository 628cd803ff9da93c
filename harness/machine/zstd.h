/* zstd.h: libzstd, which is opened at run time. Private.
 *
 * The functions, structs and numbers are those that zstd.h documents as stable.
 */
#ifndef TEST_LOG_ZSTD_H
#define TEST_LOG_ZSTD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct zstd_in {
    const void *bytes;
    size_t size, at;
};

struct zstd_out {
    void *bytes;
    size_t size, at;
};

struct zstd_compressor;
struct zstd_expander;

/* X(result, name, arguments) */
#define TEST_LOG_ZSTD(X)                                                       \
    X(struct zstd_compressor *, ZSTD_createCCtx, (void))                       \
    X(size_t, ZSTD_freeCCtx, (struct zstd_compressor *))                       \
    X(size_t, ZSTD_CCtx_setParameter,                                          \
      (struct zstd_compressor *, int parameter, int value))                    \
    X(size_t, ZSTD_CCtx_setPledgedSrcSize,                                     \
      (struct zstd_compressor *, unsigned long long size))                     \
    X(size_t, ZSTD_compressStream2,                                            \
      (struct zstd_compressor *, struct zstd_out *, struct zstd_in *,          \
       int directive))                                                         \
    X(struct zstd_expander *, ZSTD_createDCtx, (void))                         \
    X(size_t, ZSTD_freeDCtx, (struct zstd_expander *))                         \
    X(size_t, ZSTD_decompressStream,                                           \
      (struct zstd_expander *, struct zstd_out *, struct zstd_in *))           \
    X(unsigned, ZSTD_isError, (size_t result))                                 \
    X(const char *, ZSTD_getErrorName, (size_t result))

/* Set by test_log_zstd_open, which returns whether libzstd is there. */
extern struct test_log_zstd {
#define X(result, name, arguments) result(*name) arguments;
    TEST_LOG_ZSTD(X)
#undef X
} test_log_zstd;

bool test_log_zstd_open(void);

#define TEST_LOG_ZSTD_MISSING                                                  \
    "libzstd.so.1 is missing; install the package libzstd1"

/* test_log_zstd_begin returns a compressor of a level, which adds a checksum;
 * `size` is that of what it will compress, UINT64_MAX if it is unknown. NULL
 * with errno without memory or libzstd, ENOSYS. test_log_zstd_put compresses
 * bytes and writes what comes out of it to a stream, all of it if it `ends`; it
 * returns what is wrong, or NULL. */
struct zstd_compressor *test_log_zstd_begin(int level, uint64_t size);
const char *test_log_zstd_put(struct zstd_compressor *, const void *bytes,
                              size_t size, bool ends, FILE *);
void test_log_zstd_end(struct zstd_compressor *);

#endif

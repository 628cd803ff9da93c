/* zstd.c: opens libzstd, and compresses streams with it. */
#include <errno.h>
#include <string.h>

#include "harness/machine/zstd.h"
#include "trace/base/shared_library.h"

/* Values of zstd.h. */
enum {
    ZSTD_c_compressionLevel = 100,
    ZSTD_c_checksumFlag = 201,
    ZSTD_e_continue = 0,
    ZSTD_e_end = 2,
};

struct test_log_zstd test_log_zstd;

bool test_log_zstd_open(void)
{
    static struct trace_library library = {.name = "libzstd.so.1"};
    static const char *const names[] = {TEST_LOG_ZSTD(TRACE_LIBRARY_NAME)};

    return trace_library_open(&library, names, sizeof(names) / sizeof(*names),
                              &test_log_zstd);
}

struct zstd_compressor *test_log_zstd_begin(int level, uint64_t size)
{
    struct zstd_compressor *compressor;

    errno = ENOSYS;
    if (!test_log_zstd_open())
        return NULL;
    errno = ENOMEM;
    compressor = test_log_zstd.ZSTD_createCCtx();
    if (!compressor)
        return NULL;
    test_log_zstd.ZSTD_CCtx_setParameter(compressor, ZSTD_c_compressionLevel,
                                         level);
    test_log_zstd.ZSTD_CCtx_setParameter(compressor, ZSTD_c_checksumFlag, 1);
    test_log_zstd.ZSTD_CCtx_setPledgedSrcSize(compressor, size);
    return compressor;
}

const char *test_log_zstd_put(struct zstd_compressor *compressor,
                              const void *bytes, size_t size, bool ends,
                              FILE *stream)
{
    static char block[128 << 10];
    struct zstd_in in = {bytes, size, 0};
    size_t left;

    do {
        struct zstd_out out = {block, sizeof(block), 0};

        left = test_log_zstd.ZSTD_compressStream2(
            compressor, &out, &in, ends ? ZSTD_e_end : ZSTD_e_continue);
        if (test_log_zstd.ZSTD_isError(left)) {
            errno = EINVAL;
            return test_log_zstd.ZSTD_getErrorName(left);
        }
        if (fwrite(block, 1, out.at, stream) < out.at)
            return strerror(errno);
    } while (ends ? left : in.at < in.size);
    return NULL;
}

void test_log_zstd_end(struct zstd_compressor *compressor)
{
    if (compressor)
        test_log_zstd.ZSTD_freeCCtx(compressor);
}

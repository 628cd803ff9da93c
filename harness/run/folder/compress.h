/* compress.h: compresses the recordings of a run. Private. */
#ifndef TESTLOG_COMPRESS_H
#define TESTLOG_COMPRESS_H

struct test_log_run;

/* The end of a compressed recording's name. */
#define TEST_LOG_COMPRESSED ".zst"

/* test_log_compress compresses the large recordings of a run that has ended
 * with zstd, except those that a process still writes to, until `stopped`
 * (NULL: never) says so. Without libzstd they stay as they are. If it cannot,
 * it prints why. */
void test_log_compress(const struct test_log_run *, int (*stopped)(void));

#endif

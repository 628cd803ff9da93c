/* trace_bomb_test.c: the reader needs memory for the records that exist, not
 * for the sizes and numbers that a recording claims.
 */
#include "tests/support/support.h"

#include "trace/format.h"
#include "trace/read/reader.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

TestSuite(trace_bomb, .init = test_folder, .timeout = 60);

enum { HUGE_CHUNKS = 1 << 20 }; /* 64 GiB */

/* A recording of one event whose header claims the largest size. */
static int claim(struct trace_header *header)
{
    int fd;

    test_record();
    log_info("one");
    trace_close();
    fd = open(test_path("recording"), O_RDWR | O_CLOEXEC);
    cr_assert_eq(pread(fd, header, sizeof(*header), 0), sizeof(*header));
    header->limit = header->chunks = header->reserved = HUGE_CHUNKS;
    cr_assert_eq(pwrite(fd, header, sizeof(*header), 0), sizeof(*header));
    if (ftruncate(fd,
                  TRACE_HEADER_SIZE + (off_t)HUGE_CHUNKS * TRACE_CHUNK_SIZE))
        cr_skip_test("the file system has no such large files: %s",
                     strerror(errno));
    return fd;
}

/* Replaces the call site's number by the largest. */
static void claim_site(int fd)
{
    struct trace_record record;
    off_t at = TRACE_HEADER_SIZE;

    do {
        cr_assert_eq(pread(fd, &record, sizeof(record), at), sizeof(record));
        cr_assert(record.slots);
        if (record.kind == TRACE_KIND_SITE || record.kind == TRACE_KIND_EVENT) {
            record.site = UINT32_C(1) << 31;
            cr_assert_eq(pwrite(fd, &record, sizeof(record), at),
                         sizeof(record));
        }
        at += (off_t)record.slots * TRACE_SLOT_SIZE;
    } while (record.kind != TRACE_KIND_EVENT);
}

static void read_in_little_memory(void)
{
    struct rlimit limit = {64 << 20, 64 << 20};
    struct trace_reader *reader;
    struct rusage usage;

    if (!SANITIZE_FLAGS[0] && setrlimit(RLIMIT_DATA, &limit))
        _exit(9);
    reader = trace_reader_open(test_path("recording"));
    if (!reader)
        _exit(errno == ENOMEM ? 1 : 2);
    if (test_count(reader, TRACE_ENTRY_EVENT, NULL) != 1)
        _exit(3);
    getrusage(RUSAGE_SELF, &usage);
    if (!SANITIZE_FLAGS[0] && usage.ru_maxrss > 128 << 10)
        _exit(4);
    trace_reader_close(reader);
}

Test(trace_bomb, opens_a_header_that_claims_64_gib)
{
    struct trace_header header;

    close(claim(&header));
    cr_expect_eq(test_child(read_in_little_memory), 0);
}

Test(trace_bomb, opens_a_call_site_with_the_largest_number)
{
    struct trace_header header;
    int fd = claim(&header);

    claim_site(fd);
    close(fd);
    cr_expect_eq(test_child(read_in_little_memory), 0);
}

Test(trace_bomb, finds_records_behind_a_hole)
{
    struct trace_header header;
    char chunk[TRACE_CHUNK_SIZE];
    int fd = claim(&header);

    cr_assert_eq(pread(fd, chunk, sizeof(chunk), TRACE_HEADER_SIZE),
                 sizeof(chunk));
    cr_assert_eq(pwrite(fd, chunk, sizeof(chunk),
                        TRACE_HEADER_SIZE + (off_t)500000 * TRACE_CHUNK_SIZE),
                 sizeof(chunk));
    close(fd);

    cr_expect_eq(test_count(test_open(), TRACE_ENTRY_EVENT, NULL), 2);
}

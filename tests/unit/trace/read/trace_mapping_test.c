/* trace_mapping_test.c: recordings are mapped for reading. */
#include "tests/support/support.h"

#include "trace/format.h"
#include "trace/read/reader_parts.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(trace_mapping, .init = test_folder);

static bool map(struct trace_reader *reader, const char *name)
{
    *reader = (struct trace_reader){.fd = -1};
    errno = 0;
    return trace_reader_map(reader, AT_FDCWD, test_path(name), false);
}

static void expect_error(const char *name, int error)
{
    struct trace_reader reader;

    cr_expect_not(map(&reader, name), "%s", name);
    cr_expect_eq(errno, error, "%s: %d", name, errno);
    trace_reader_leave_file(&reader);
    trace_reader_unmap(&reader);
}

Test(trace_mapping, refuses_files_that_are_not_recordings)
{
    expect_error("missing", ENOENT);
    test_save(test_path("short"), "testlog\n", 8);
    expect_error("short", EINVAL);
    cr_assert_eq(mkdir(test_path("folder"), 0755), 0);
    expect_error("folder", EINVAL);
}

Test(trace_mapping, maps_a_file_and_preserves_errno)
{
    struct trace_reader reader;

    test_record();
    trace_event(INFO, "hi");
    trace_close();
    cr_assert(map(&reader, "recording"));
    cr_expect_gt(reader.mapped, TRACE_HEADER_SIZE);
    cr_expect_eq(reader.header.ended, 1);
    errno = 7;
    trace_reader_leave_file(&reader);
    cr_expect_eq(errno, 7);
    cr_expect_eq(reader.fd, -1);
    trace_reader_unmap(&reader);
}

/* Beyond the space that was reserved, a store would have been a SIGBUS. */
Test(trace_mapping, reads_only_reserved_space)
{
    struct trace_reader reader;
    struct trace_header *header;
    char *bytes;
    size_t size;

    test_record();
    trace_close();
    bytes = test_load(test_path("recording"), &size);
    header = (struct trace_header *)bytes;
    header->reserved = 0;
    test_save(test_path("unreserved"), bytes, size);
    cr_assert(map(&reader, "unreserved"));
    cr_expect_eq(reader.size, TRACE_HEADER_SIZE);
    trace_reader_leave_file(&reader);
    trace_reader_unmap(&reader);
}

Test(trace_mapping, uses_what_is_mapped_already)
{
    struct trace_reader *reader = trace_reader_open_own();

    cr_expect_null(reader);
    cr_expect_eq(errno, ENOENT);
    test_record();
    cr_assert_not_null(reader = trace_reader_open_own());
    cr_expect_eq(reader->mapped, 0, "would unmap the recorder's mapping");
    trace_reader_close(reader);
    trace_event(INFO, "still recorded");
    trace_close();
}

Test(trace_mapping, skips_holes_of_a_sparse_file)
{
    enum { CHUNKS = 50 };
    struct trace_reader reader;
    uint64_t next;
    char *bytes;
    size_t size;
    int fd;

    test_record();
    trace_close();
    bytes = test_load(test_path("recording"), &size);
    ((struct trace_header *)bytes)->reserved = 2 * CHUNKS;
    test_save(test_path("sparse"), bytes, TRACE_HEADER_SIZE);
    cr_assert_geq(fd = open(test_path("sparse"), O_RDWR), 0);
    cr_assert_eq(
        pwrite(fd, "x", 1, TRACE_HEADER_SIZE + CHUNKS * TRACE_CHUNK_SIZE), 1);
    cr_assert_eq(
        ftruncate(fd, TRACE_HEADER_SIZE + 2 * CHUNKS * TRACE_CHUNK_SIZE), 0);
    close(fd);
    cr_assert(map(&reader, "sparse"));
    next = trace_reader_past_hole(&reader, TRACE_FIRST_PLACE);
    cr_expect_leq(next, TRACE_FIRST_PLACE + CHUNKS * TRACE_CHUNK_SLOTS);
    cr_expect_geq(next, TRACE_FIRST_PLACE);
    cr_expect_eq(
        trace_reader_past_hole(&reader, TRACE_FIRST_PLACE +
                                            (CHUNKS + 5) * TRACE_CHUNK_SLOTS),
        reader.size / TRACE_SLOT_SIZE, "only a hole is left");
    trace_reader_leave_file(&reader);
    cr_expect_eq(trace_reader_past_hole(&reader, 5000), 5000,
                 "without a file it cannot know");
    trace_reader_unmap(&reader);
}

/* trace_reader_test.c: reads recordings in whatever state they are. */
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/fuzz/fuzz_reader.c"
#include "tests/support/support.h"

#include "trace/base/values.h"
#include "trace/chrome/chrome.h"
#include "trace/format.h"
#include "trace/read/reader.h"

TestSuite(trace_reader, .init = test_folder);

static struct trace_site event_site =
    TEST_SITE(EVENT, INFO, "event", "m", NULL, 0);
static struct trace_site span_site =
    TEST_SITE(SPAN, INFO, "span", "m", NULL, 0);

/* ---- Threads ---- */

/* A thread that ends within a span, with its name in what it records. */
static void *end_in_a_span(void *name)
{
    static const char *const fields[] = {"thread"};
    static struct trace_site site =
        TEST_SITE(EVENT, INFO, "from", "m", fields, 1);
    struct trace_value value = trace_text_(name);

    prctl(PR_SET_NAME, name);
    trace_span_open_(&span_site, 0, NULL);
    trace_event_(&site, 1, &value);
    return NULL;
}

/* Kernels that a thread launched are recorded by the thread that decodes. */
static void launch(uint32_t tid)
{
    struct trace_activity kernel;
    uint64_t now = trace_device_host()->now();

    kernel = test_kernel(now, now + 1);
    kernel.at.thread = tid;
    trace_device_put(&kernel);
}

Test(trace_reader, keeps_threads_apart_that_had_the_same_id)
{
    enum { ID = 4000000 };
    static const char *const names[] = {"first", "second", "third"};
    struct trace_value value;
    struct trace_entry entry;
    uint64_t keys[3] = {0};
    size_t events = 0, kernels = 0;

    test_record();
    for (size_t i = 0; i < 3; i++) {
        test_thread(end_in_a_span, (void *)names[i]);
        launch(ID);
    }
    test_reuse_id(ID);

    struct trace_reader *reader = test_open();

    while (trace_reader_next(reader, &entry)) {
        if (entry.kind == TRACE_ENTRY_DEVICE) {
            cr_expect_str_eq(entry.thread->name, names[kernels++]);
            cr_expect_eq(entry.thread->tid, ID);
        } else if (trace_entry_field(&entry, "thread", &value)) {
            cr_expect_str_eq(entry.thread->name, value.as.text);
            keys[events++ % 3] = trace_thread_key(entry.thread);
        }
    }
    cr_expect_eq(kernels, 3);
    cr_assert_eq(events, 3);
    cr_expect(keys[0] != keys[1] && keys[1] != keys[2] && keys[0] != keys[2]);
}

/* ---- Files that are not recordings ---- */

static void expect_refused(const char *path, int error)
{
    errno = 0;
    cr_expect_null(trace_reader_open(path), "%s", path);
    cr_expect_eq(errno, error, "%s: %s", path, strerror(errno));
}

Test(trace_reader, refuses_files_that_are_not_recordings)
{
    char page[TRACE_HEADER_SIZE] = "not a recording";

    expect_refused(test_path("missing"), ENOENT);
    expect_refused(test_path("."), EINVAL);
    expect_refused("/dev/null", EINVAL);
    test_save(test_path("empty"), "", 0);
    expect_refused(test_path("empty"), EINVAL);
    test_save(test_path("short"), page, sizeof(page) - 1);
    expect_refused(test_path("short"), EINVAL);
    test_save(test_path("page"), page, sizeof(page));
    expect_refused(test_path("page"), EINVAL);
}

Test(trace_reader, refuses_another_version)
{
    static const size_t offsets[] = {
        offsetof(struct trace_header, magic),
        offsetof(struct trace_header, version),
        offsetof(struct trace_header, header_size),
        offsetof(struct trace_header, chunk_size),
    };
    size_t size;

    test_record();
    test_read();

    char *bytes = test_load(test_path("recording"), &size);

    for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); i++) {
        bytes[offsets[i]] += 2;
        test_save(test_path("other"), bytes, TRACE_HEADER_SIZE);
        expect_refused(test_path("other"), EINVAL);
        bytes[offsets[i]] -= 2;
    }
}

/* ---- Whole recordings ---- */

Test(trace_reader, reads_an_empty_recording)
{
    struct trace_entry entry;

    test_record();

    struct trace_reader *reader = test_read();

    cr_expect_not(trace_reader_next(reader, &entry));
    cr_expect_not(trace_reader_next(reader, &entry));
    cr_expect(trace_reader_summary(reader).ended);
    cr_expect_eq(trace_reader_summary(reader).pid, (uint32_t)getpid());
    cr_expect_eq(trace_reader_summary(reader).dropped, 0);
    cr_expect_null(trace_reader_site(reader, 0));
    cr_expect_null(trace_reader_site(reader, UINT32_MAX));
    cr_expect_not(trace_reader_span(reader, 0, &entry));
    cr_expect_not(trace_reader_span(reader, UINT32_MAX, &entry));
    trace_reader_close(NULL);
}

Test(trace_reader, returns_the_recording_s_metadata)
{
    static const char *const meta[] = {"suite", "net",    "test", "",
                                       "suite", "second", NULL};
    struct trace_options options = {.meta = meta};

    cr_assert_eq(trace_open(test_path("recording"), &options), 0);

    struct trace_reader *reader = test_read();

    cr_expect_str_eq(trace_reader_meta(reader, "suite"), "second");
    cr_expect_str_eq(trace_reader_meta(reader, "test"), "");
    cr_expect_null(trace_reader_meta(reader, "other"));
}

Test(trace_reader, reads_the_same_entries_after_rewinding)
{
    struct trace_entry entry;
    size_t first = 0, again = 0;

    test_record();
    test_rich();

    struct trace_reader *reader = test_read();

    while (trace_reader_next(reader, &entry))
        first++;
    cr_expect_eq(trace_reader_rewind(reader), 0);
    while (trace_reader_next(reader, &entry))
        again++;
    cr_expect_gt(first, 10);
    cr_expect_eq(first, again);
}

Test(trace_reader, reads_a_recording_that_is_still_written)
{
    test_record();
    trace_span_open_(&span_site, 0, NULL);
    trace_event_(&event_site, 0, NULL);

    struct trace_reader *reader = test_open();

    cr_expect_not(trace_reader_summary(reader).ended);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, "event"), 1);
    trace_event_(&event_site, 0, NULL);

    reader = test_read();
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, "event"), 2);
}

Test(trace_reader, returns_late_fields_in_order_up_to_a_time)
{
    static const char *const names[] = {"n"};
    static struct trace_site late =
        TEST_SITE(FIELDS, TRACE, NULL, "m", names, 1);
    uint64_t times[4];
    struct trace_entry span, entry;

    test_record();

    struct trace_span_ref a = trace_span_open_(&span_site, 0, NULL);
    struct trace_span_ref b = trace_span_open_(&span_site, 0, NULL);

    for (int i = 0; i < 8; i++) {
        struct trace_value value = trace_i64_(i);

        trace_record_(i % 2 ? b : a, &late, 1, &value);
    }

    struct trace_reader *reader = test_read();
    size_t cursor = 0, count = 0;

    cr_assert(test_find(reader, TRACE_ENTRY_SPAN, "span", &span));
    while (trace_reader_late(reader, span.id, UINT64_MAX, &cursor, &entry)) {
        struct trace_values values = trace_values_of(&entry);
        struct trace_value value;

        cr_assert(trace_values_next(&values, &value));
        cr_expect_eq(value.as.i, (int64_t)(2 * count));
        times[count++] = entry.time;
    }
    cr_assert_eq(count, 4);
    cursor = 0;
    cr_expect(trace_reader_late(reader, span.id, times[1], &cursor, &entry));
    cr_expect(trace_reader_late(reader, span.id, times[1], &cursor, &entry));
    cr_expect_not(
        trace_reader_late(reader, span.id, times[1], &cursor, &entry));
}

/* ---- A process that died ---- */

static void die_inside(void)
{
    test_record();
    trace_span_open_(&span_site, 0, NULL);
    trace_event_(&event_site, 0, NULL);
    trace_span_leave_(trace_span_open_(&span_site, 0, NULL));
    raise(SIGKILL);
}

static void check_open(struct trace_reader *reader)
{
    struct trace_entry entry;

    cr_expect_not(trace_reader_summary(reader).ended);
    cr_assert(test_find(reader, TRACE_ENTRY_SPAN, "span", &entry));
    cr_expect_eq(entry.end, UINT64_MAX);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_SPAN, "span"), 2);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EXIT, "span"), 1);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, "event"), 1);
}

Test(trace_reader, returns_the_spans_of_a_killed_process_as_open)
{
    int status = test_child(die_inside);

    cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    check_open(test_open());
    cr_assert_eq(trace_shrink(test_path("recording")), 0);
    check_open(test_open());
}

/* ---- Shrinking ---- */

static off_t size_of(const char *path)
{
    struct stat status;

    cr_assert_eq(stat(path, &status), 0);
    return status.st_size;
}

Test(trace_reader, shrinks_without_losing_entries)
{
    test_record();
    test_rich();

    struct trace_reader *reader = test_read();
    size_t before = walk(reader);

    cr_assert_eq(trace_shrink(test_path("recording")), 0);
    cr_expect_lt(size_of(test_path("recording")), 1 << 20);
    reader = test_read();
    cr_expect_eq(walk(reader), before);
}

Test(trace_reader, refuses_to_shrink_other_files)
{
    cr_expect_eq(trace_shrink(test_path("missing")), -1);
    cr_expect_eq(errno, ENOENT);
    test_save(test_path("text"), "text", 4);
    cr_expect_eq(trace_shrink(test_path("text")), -1);
    cr_expect_eq(size_of(test_path("text")), 4);
}

/* The tested code may have overwritten the mapped header. */
Test(trace_reader, never_lengthens_a_file_by_shrinking)
{
    const uint64_t much = UINT64_C(1) << 20;
    FILE *file;
    off_t size;

    test_record();
    test_read();
    size = size_of(test_path("recording"));
    file = fopen(test_path("recording"), "r+");
    fseek(file, offsetof(struct trace_header, chunks), SEEK_SET);
    fwrite(&much, sizeof(much), 1, file);
    fseek(file, offsetof(struct trace_header, limit), SEEK_SET);
    fwrite(&much, sizeof(much), 1, file);
    fclose(file);
    cr_expect_eq(trace_shrink(test_path("recording")), 0);
    cr_expect_eq(size_of(test_path("recording")), size);
}

static void *one_event(void *unused)
{
    (void)unused;
    trace_event_(&event_site, 0, NULL);
    return NULL;
}

/* Threads that end return the rest of their chunk. */
Test(trace_reader, stores_ten_thousand_short_threads_in_little_space)
{
    test_record();
    for (int i = 0; i < 10000; i++)
        test_thread(one_event, NULL);

    struct trace_reader *reader = test_read();

    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, "event"), 10000);
    cr_expect_eq(trace_reader_summary(reader).dropped, 0);
    cr_assert_eq(trace_shrink(test_path("recording")), 0);
    cr_expect_lt(size_of(test_path("recording")), 4 << 20);
}

/* ---- Damage ---- */

/* Returns the bytes of a shrunk recording with every kind of record. */
static unsigned char *rich_bytes(size_t *size)
{
    test_record();
    test_rich();
    trace_close();
    cr_assert_eq(trace_shrink(test_path("recording")), 0);
    return (unsigned char *)test_load(test_path("recording"), size);
}

/* Returns where a chunk's records end, so that damage hits something. */
static size_t used_end(const unsigned char *bytes, size_t from, size_t size)
{
    size_t at = from;

    while (at + TRACE_SLOT_SIZE <= size) {
        struct trace_record record;

        memcpy(&record, bytes + at, sizeof(record));
        if (!record.slots)
            break;
        at += (size_t)record.slots * TRACE_SLOT_SIZE;
    }
    return at;
}

static size_t random_place(const unsigned char *bytes, size_t size)
{
    size_t chunks = (size - TRACE_HEADER_SIZE) / TRACE_CHUNK_SIZE;
    size_t chunk = test_below((uint32_t)chunks + 1);
    size_t from = TRACE_HEADER_SIZE + (chunk - 1) * TRACE_CHUNK_SIZE;

    if (!chunk)
        return test_below(offsetof(struct trace_header, counters[1]));
    return from +
           test_below((uint32_t)(used_end(bytes, from, size) - from + 64));
}

Test(trace_reader, survives_damaged_bytes)
{
    size_t size, opened = 0;
    unsigned char *bytes = rich_bytes(&size);
    unsigned char *copy = malloc(size);

    test_seed(5);
    for (int round = 0; round < 4000; round++) {
        memcpy(copy, bytes, size);
        for (uint32_t n = 1 + test_below(8); n; n--) {
            size_t place = random_place(bytes, size);

            copy[place] = test_below(2) ? (unsigned char)test_random()
                                        : copy[place] ^ 1u << test_below(8);
        }
        opened += walk_bytes(copy, size, NULL, 0) > 0;
    }
    cr_expect_gt(opened, 1000);
    free(copy);
}

/* Writes extreme numbers into every field of every record. */
Test(trace_reader, survives_extreme_numbers_in_any_field)
{
    static const uint64_t edges[] = {
        0, 1, 0x7fffffff, UINT32_MAX, UINT64_C(1) << 63, UINT64_MAX};
    size_t size;
    unsigned char *bytes = rich_bytes(&size);

    for (size_t at = 0; at < size; at += 4) {
        uint32_t kept;
        uint64_t edge = edges[at / 4 % 6];

        if (at >= used_end(bytes, TRACE_HEADER_SIZE, size))
            break;
        memcpy(&kept, bytes + at, sizeof(kept));
        memcpy(bytes + at, &edge, sizeof(kept));
        walk_bytes(bytes, size, NULL, 0);
        memcpy(bytes + at, &kept, sizeof(kept));
    }
    cr_expect_gt(walk_bytes(bytes, size, NULL, 0), 10);
}

Test(trace_reader, reads_recordings_cut_at_any_length)
{
    size_t size, most = 0;
    unsigned char *bytes = rich_bytes(&size);
    size_t end = used_end(bytes, TRACE_HEADER_SIZE, size);

    for (size_t length = 0; length < end; length++) {
        size_t count = walk_bytes(bytes, length, NULL, 0);

        cr_assert_geq(count, length < TRACE_HEADER_SIZE ? 0 : most);
        most = count;
        if (length < TRACE_HEADER_SIZE - 64)
            length += 61;
    }
    for (size_t length = end; length <= size; length += 4093)
        cr_assert_geq(walk_bytes(bytes, length, NULL, 0), most);
    cr_expect_gt(most, 5);
}

Test(trace_reader, skips_unfinished_records)
{
    size_t size, holes = 0;
    unsigned char *bytes = rich_bytes(&size);
    size_t whole = walk_bytes(bytes, size, NULL, 0);

    for (size_t at = TRACE_HEADER_SIZE;
         at < used_end(bytes, TRACE_HEADER_SIZE, size);) {
        struct trace_record *record = (struct trace_record *)(bytes + at);

        if (record->kind == TRACE_KIND_EVENT) {
            record->time = 0;
            cr_expect_eq(walk_bytes(bytes, size, NULL, 0), whole - ++holes);
        }
        at += (size_t)record->slots * TRACE_SLOT_SIZE;
    }
    cr_expect_geq(holes, 5);
}

Test(trace_reader, survives_any_bytes)
{
    static uint8_t soup[8192];

    test_seed(6);
    for (int round = 0; round < 3000; round++) {
        size_t size = test_below(sizeof(soup));

        test_random_bytes(soup, size);
        for (size_t at = 1; at + 32 <= size; at += 32) {
            soup[at + 24] %= 13; /* kind */
            memset(soup + at + 29, 0, 3);
            soup[at + 28] %= 5; /* slots */
        }
        if (size > 32)
            soup[1 + 24] = TRACE_KIND_THREAD;
        LLVMFuzzerTestOneInput(soup, size);
    }
}

/* ---- Linear time ---- */

/* Appends a record; each chunk begins with a thread's record. */
static void put(struct trace_record *records, size_t *next, uint8_t kind,
                uint64_t end, size_t count, const struct trace_value *values)
{
    size_t bytes = trace_values_size(count, values);
    uint32_t slots = (uint32_t)(1 + (bytes + 31) / 32);
    size_t at = (*next - TRACE_FIRST_PLACE) % TRACE_CHUNK_SLOTS;

    if (at + slots > TRACE_CHUNK_SLOTS)
        *next += TRACE_CHUNK_SLOTS - at;
    if (!at || at + slots > TRACE_CHUNK_SLOTS) {
        records[*next] = (struct trace_record){.time = *next,
                                               .end = UINT64_C(1) << 32 | 1,
                                               .kind = TRACE_KIND_THREAD,
                                               .slots = 1};
        ++*next;
    }
    records[*next] = (struct trace_record){
        .time = *next, .end = end, .kind = kind, .slots = slots};
    trace_values_store(&records[*next + 1], count, values);
    *next += slots;
}

static void put_thread(struct trace_record *records, size_t *next, uint32_t i)
{
    put(records, next, TRACE_KIND_THREAD, UINT64_C(1) << 32 | (1000 + i), 0,
        NULL);
    put(records, next, TRACE_KIND_EVENT, 0, 0, NULL);
}

static void put_meta(struct trace_record *records, size_t *next, uint32_t i)
{
    char name[24];
    struct trace_value pair[] = {trace_text_(""), trace_text_("v")};

    snprintf(name, sizeof(name), "gpu.%u", i);
    pair[0] = trace_text_(name);
    put(records, next, TRACE_KIND_META, 0, 2, pair);
}

static void put_call(struct trace_record *records, size_t *next, uint32_t i)
{
    struct trace_activity_place at = {.begin = *next,
                                      .thread = 10 + i,
                                      .correlation = 5,
                                      .kind = TRACE_ACTIVITY_RUNTIME};
    struct trace_value value = trace_bytes(&at, sizeof(at));

    put(records, next, TRACE_KIND_DEVICE, *next + 1, 1, &value);
}

/* Reads a recording of `count` records and exports it as a Chrome trace. */
static void export_many(uint32_t count, void (*put_one)(struct trace_record *,
                                                        size_t *, uint32_t))
{
    size_t next = TRACE_FIRST_PLACE;
    size_t size =
        TRACE_HEADER_SIZE + (count / 600 + 2) * (size_t)TRACE_CHUNK_SIZE;
    unsigned char *bytes = calloc(1, size);
    struct trace_header header = {.magic = TRACE_MAGIC,
                                  .version = TRACE_FORMAT_VERSION,
                                  .header_size = TRACE_HEADER_SIZE,
                                  .chunk_size = TRACE_CHUNK_SIZE,
                                  .pid = 1,
                                  .chunks = count / 600 + 2,
                                  .reserved = count / 600 + 2};
    FILE *null = fopen("/dev/null", "we");
    struct trace_chrome chrome;
    struct trace_reader *reader;

    memcpy(bytes, &header, sizeof(header));
    for (uint32_t i = 0; i < count; i++)
        put_one((struct trace_record *)bytes, &next, i);
    test_save(test_path("many"), bytes, size);
    free(bytes);
    reader = trace_reader_open(test_path("many"));
    cr_assert(reader);
    trace_chrome_begin(&chrome, null);
    cr_expect_eq(trace_chrome_add(&chrome, reader, 1, "many"), 0);
    trace_chrome_end(&chrome, NULL);
    fclose(null);
    trace_reader_close(reader);
}

Test(trace_reader, reads_many_threads_in_linear_time, .timeout = 150)
{
    export_many(250000, put_thread);
}

Test(trace_reader, reads_much_metadata_in_linear_time, .timeout = 150)
{
    export_many(120000, put_meta);
}

Test(trace_reader, links_many_calls_of_one_correlation_in_linear_time,
     .timeout = 150)
{
    export_many(250000, put_call);
}

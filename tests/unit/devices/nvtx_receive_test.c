/* nvtx_receive_test.c: records what a program annotates with NVTX. The program
 * is our own client of the interface. */
#include "trace/devices/nvtx/nvtx_receiver.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/devices.h"
#include "trace/nvtx/nvtx.h"

static void begin(void)
{
    devices_init();
    test_record();
    cr_assert(nvtx_receive(trace_nvtx_table));
    nvtx_record_to(trace_device_host());
}

TestSuite(nvtx_receive, .init = begin);

/* ---- Calls ---- */

static int push(const char *text)
{
    return ((int (*)(const char *))TRACE_NVTX(RangePushA))(text);
}

static int pop(void)
{
    return ((int (*)(void))TRACE_NVTX(RangePop))();
}

static void mark(const char *text)
{
    ((void (*)(const char *))TRACE_NVTX(MarkA))(text);
}

static uint64_t start(const char *text)
{
    return ((uint64_t(*)(const char *))TRACE_NVTX(RangeStartA))(text);
}

static void finish(uint64_t id)
{
    ((void (*)(uint64_t))TRACE_NVTX(RangeEnd))(id);
}

static nvtx_handle domain(const char *name)
{
    return ((nvtx_handle(*)(const char *))TRACE_NVTX(DomainCreateA))(name);
}

static nvtx_handle string(nvtx_handle in, const char *text)
{
    return ((nvtx_handle(*)(nvtx_handle, const char *))TRACE_NVTX(
        DomainRegisterStringA))(in, text);
}

static int push_in(nvtx_handle in, const struct nvtx_attributes *given)
{
    return ((int (*)(nvtx_handle, const struct nvtx_attributes *))TRACE_NVTX(
        DomainRangePushEx))(in, given);
}

static int pop_in(nvtx_handle in)
{
    return ((int (*)(nvtx_handle))TRACE_NVTX(DomainRangePop))(in);
}

static void mark_in(nvtx_handle in, const struct nvtx_attributes *given)
{
    ((void (*)(nvtx_handle, const struct nvtx_attributes *))TRACE_NVTX(
        DomainMarkEx))(in, given);
}

static struct nvtx_attributes attributes(const char *text)
{
    return (struct nvtx_attributes){.version = NVTX_IS_VERSION,
                                    .size = sizeof(struct nvtx_attributes),
                                    .text_type = NVTX_TEXT_ASCII,
                                    .text.ascii = text};
}

/* ---- What was recorded ---- */

static void expect(const char *lines)
{
    cr_expect_str_eq(test_plain(test_read()), lines);
}

static const char *meta(struct trace_reader *reader, const char *name)
{
    const char *value = trace_reader_meta(reader, name);

    return value ? value : "";
}

/* ---- Ranges ---- */

static struct trace_site ours = TEST_SITE(SPAN, INFO, "ours", "m", NULL, 0);
static struct trace_site inside =
    TEST_SITE(EVENT, INFO, "inside", "m", NULL, 0);

Test(nvtx_receive, nests_ranges_with_spans)
{
    struct trace_span_ref span = trace_span_open_(&ours, 0, NULL);

    cr_expect_eq(push("a"), 0);
    cr_expect_eq(push("b"), 1);
    trace_event_(&inside, 0, NULL);
    cr_expect_eq(pop(), 1);
    trace_event_(&inside, 0, NULL);
    cr_expect_eq(pop(), 0);
    mark("m");
    trace_span_leave_(span);
    expect(" INFO ours:a:b: m: inside\n"
           " INFO ours:a: m: inside\n"
           " INFO ours: nvtx: m\n");
}

Test(nvtx_receive, pops_a_range_of_its_own_domain)
{
    nvtx_handle other = domain("other");
    struct nvtx_attributes given = attributes("o");

    push("a");
    cr_expect_eq(push_in(other, &given), 0);
    cr_expect_eq(push_in(other, &given), 1);
    cr_expect_eq(pop(), 0, "below those of the other domain");
    trace_event_(&inside, 0, NULL);
    cr_expect_eq(pop_in(other), 1);
    trace_event_(&inside, 0, NULL);
    cr_expect_eq(pop_in(other), 0);
    trace_event_(&inside, 0, NULL);
    expect(" INFO a:o:o: m: inside\n"
           " INFO a:o: m: inside\n"
           " INFO m: inside\n");
}

Test(nvtx_receive, counts_ends_without_a_beginning)
{
    uint64_t id = start("s");

    cr_expect_eq(pop(), -1);
    cr_expect_eq(pop_in(domain("none")), -1);
    finish(id);
    finish(id);
    finish(UINT64_MAX);
    finish(UINT64_C(1) << 32 | 77);
    cr_expect_str_eq(meta(test_read(), "gpu.nvtx_strays"), "5");
}

static void *end_it(void *id)
{
    push("elsewhere");
    finish(*(uint64_t *)id);
    trace_event_(&inside, 0, NULL);
    return NULL;
}

Test(nvtx_receive, ends_a_started_range_on_another_thread)
{
    uint64_t first = start("first"), second = start("second");
    struct trace_reader *reader;
    struct trace_entry entry;

    cr_expect_neq(first, second);
    trace_event_(&inside, 0, NULL);
    finish(first);
    test_thread(end_it, &second);
    reader = test_read();
    for (int i = 0; i < 2; i++) {
        cr_assert(test_find(reader, TRACE_ENTRY_SPAN, i ? "second" : "first",
                            &entry));
        cr_expect(entry.beside);
        cr_expect_lt(entry.end, UINT64_MAX);
        cr_expect_eq(entry.thread->tid, (uint32_t)getpid());
    }
    cr_assert(test_find(reader, TRACE_ENTRY_EVENT, "inside", &entry));
    cr_expect_eq(entry.span, 0, "no thread is in it");
}

static void *leave_open(void *unused)
{
    (void)unused;
    push("left");
    push("open");
    return NULL;
}

Test(nvtx_receive, ends_ranges_with_their_thread)
{
    struct trace_reader *reader;
    struct trace_entry entry;

    test_thread(leave_open, NULL);
    test_thread(leave_open, NULL);
    reader = test_read();
    cr_expect_eq(test_count(reader, TRACE_ENTRY_SPAN, "open"), 2);
    cr_assert(test_find(reader, TRACE_ENTRY_SPAN, "left", &entry));
    cr_expect_lt(entry.end, UINT64_MAX);
}

/* ---- Attributes ---- */

Test(nvtx_receive, records_attributes_as_fields)
{
    struct nvtx_attributes given = attributes("m");
    nvtx_handle lib = domain("my.lib");

    ((void (*)(nvtx_handle, uint32_t, const char *))TRACE_NVTX(
        DomainNameCategoryA))(lib, 3, "io");
    given.category = 3;
    given.color_type = NVTX_COLOR_IS_ARGB;
    given.color = 0xff0088ff;
    given.payload_type = NVTX_NUMBER_F64;
    given.payload.f64 = 2.5;
    mark_in(lib, &given);
    mark_in(NULL, &given);
    given.color = 0x80102030;
    given.category = 0;
    given.payload_type = NVTX_NUMBER_I32;
    given.payload.i32 = -5;
    mark_in(lib, &given);
    given.color_type = 0;
    given.payload_type = NVTX_NUMBER_U64;
    given.payload.u64 = UINT64_MAX;
    mark_in(lib, &given);
    expect(" INFO nvtx::my.lib: m payload=2.5 category=\"io\" color=#0088ff\n"
           " INFO nvtx: m payload=2.5 category=3 color=#0088ff\n"
           " INFO nvtx::my.lib: m payload=-5 color=#10203080\n"
           " INFO nvtx::my.lib: m payload=18446744073709551615\n");
}

Test(nvtx_receive, takes_registered_and_wide_texts)
{
    nvtx_handle lib = domain("lib");
    struct nvtx_attributes given = attributes(NULL);
    static const wchar_t wide[] = {'w', 0xe9, 0x20ac, 0x1f600, 0xd800, 0};

    given.text_type = NVTX_TEXT_HANDLE;
    given.text.handle = string(lib, "registered");
    cr_expect_eq(string(lib, "registered"), given.text.handle);
    mark_in(lib, &given);
    given.text_type = NVTX_TEXT_WIDE;
    given.text.wide = wide;
    mark_in(lib, &given);
    ((void (*)(const wchar_t *))TRACE_NVTX(MarkW))(wide);
    ((int (*)(const wchar_t *))TRACE_NVTX(RangePushW))(L"range");
    mark("m");
    cr_expect_eq(
        ((nvtx_handle(*)(const wchar_t *))TRACE_NVTX(DomainCreateW))(L"lib"),
        lib);
    expect(" INFO nvtx::lib: registered\n"
           " INFO nvtx::lib: w\u00e9\u20ac\U0001f600\ufffd\n"
           " INFO nvtx: w\u00e9\u20ac\U0001f600\ufffd\n"
           " INFO range: nvtx: m\n");
}

Test(nvtx_receive, turns_names_of_domains_into_targets)
{
    struct nvtx_attributes given = attributes("m");

    mark_in(domain("a b,c=[d]{e}\"\n"), &given);
    mark_in(domain(""), &given);
    expect(" INFO nvtx::a_b_c__d__e___: m\n"
           " INFO nvtx: m\n");
}

/* ---- Input that is wrong ---- */

Test(nvtx_receive, survives_wrong_arguments)
{
    struct nvtx_attributes given = attributes("m");

    push(NULL);
    mark(NULL);
    mark("");
    push_in(NULL, NULL);
    mark_in((nvtx_handle)(uintptr_t)12345678, NULL);
    given.text_type = NVTX_TEXT_HANDLE;
    given.text.handle = (nvtx_handle)(uintptr_t)-3;
    mark_in((nvtx_handle)(uintptr_t)-1, &given);
    given.text_type = given.payload_type = given.color_type = 99;
    mark_in(NULL, &given);
    given = attributes("not known to a caller so old");
    given.size = 8;
    mark_in(NULL, &given);
    ((void (*)(const wchar_t *))TRACE_NVTX(MarkW))(NULL);
    ((nvtx_handle(*)(nvtx_handle, void *))TRACE_NVTX(DomainResourceCreate))(
        NULL, NULL);
    ((void (*)(uint32_t, const char *))TRACE_NVTX(NameOsThreadA))(1, NULL);
    cr_expect_null(domain(NULL));
    cr_expect_null(string(NULL, NULL));
    expect(" INFO range: nvtx: mark\n"
           " INFO range: nvtx: mark\n"
           " INFO range:range: nvtx: mark\n"
           " INFO range:range: nvtx: mark\n"
           " INFO range:range: nvtx: mark\n"
           " INFO range:range: nvtx: mark\n"
           " INFO range:range: nvtx: mark\n");
}

Test(nvtx_receive, refuses_tables_that_are_not_nvtx_s)
{
    cr_expect_not(nvtx_receive(NULL));
}

/* ---- Limits ---- */

enum { MANY = 20000 };

/* Call sites are limited, their texts are not. */
Test(nvtx_receive, records_any_number_of_messages)
{
    struct trace_reader *reader;
    struct trace_entry entry;
    char text[32], *lines;

    for (int i = 0; i < MANY; i++) {
        snprintf(text, sizeof(text), "step %d.", i);
        mark(text);
    }
    reader = test_read();
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, NULL), MANY);
    cr_assert(test_find(reader, TRACE_ENTRY_EVENT, "mark", &entry));
    lines = test_plain(reader);
    for (int i = 0; i < MANY; i += MANY / 10) {
        snprintf(text, sizeof(text), "step %d.", i);
        cr_expect(strstr(lines, text), "%s", text);
    }
}

Test(nvtx_receive, records_long_messages)
{
    static char text[100001];

    memset(text, 'x', sizeof(text) - 1);
    mark(text);
    cr_expect(strstr(test_plain(test_read()), text));
}

enum { DEEP = 5000 };

Test(nvtx_receive, records_any_depth)
{
    struct trace_reader *reader;
    size_t begun;

    for (int i = 0; i < DEEP; i++)
        push("deep");
    for (int i = 0; i < DEEP; i++)
        cr_expect_geq(pop(), 0);
    cr_expect_eq(pop(), -1);
    reader = test_read();
    begun = test_count(reader, TRACE_ENTRY_SPAN, "deep");
    cr_expect_gt(begun, 1000);
    cr_expect_eq(begun + test_count(reader, TRACE_ENTRY_EVENT, "deep"), DEEP);
    cr_expect_str_eq(meta(reader, "gpu.nvtx_strays"), "1");
}

enum { STARTED = 70000 };

Test(nvtx_receive, records_any_number_of_started_ranges)
{
    static uint64_t ids[STARTED];
    struct trace_reader *reader;
    size_t begun, open = 0;

    for (size_t i = 0; i < STARTED; i++)
        ids[i] = start("s");
    for (size_t i = 0; i < STARTED; i++) {
        finish(ids[i]);
        open += ids[i] != 0;
    }
    finish(start("last"));
    reader = test_read();
    begun = test_count(reader, TRACE_ENTRY_SPAN, "s");
    cr_expect_eq(begun, open);
    cr_expect_eq(begun + test_count(reader, TRACE_ENTRY_EVENT, "s"), STARTED);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_SPAN, "last"), 1);
    cr_expect_str_eq(meta(reader, "gpu.nvtx_strays"), "");
}

Test(nvtx_receive, refuses_too_many_domains_and_strings)
{
    char text[32];
    size_t domains = 0, strings = 0;

    for (int i = 0; i < 2 * NVTX_DOMAINS; i++) {
        snprintf(text, sizeof(text), "%d", i);
        domains += domain(text) != NULL;
    }
    for (int i = 0; i < NVTX_STRINGS + NVTX_STRINGS / 4; i++) {
        snprintf(text, sizeof(text), "%d", i);
        strings += string(NULL, text) != NULL;
    }
    cr_expect_gt(domains, NVTX_DOMAINS / 2);
    cr_expect_lt(domains, NVTX_DOMAINS);
    cr_expect_gt(strings, NVTX_STRINGS / 2);
    cr_expect_leq(strings, NVTX_STRINGS);
}

/* ---- Threads and processes ---- */

Test(nvtx_receive, names_threads)
{
    struct trace_entry entry;

    mark("m");
    ((void (*)(uint32_t, const char *))TRACE_NVTX(NameOsThreadA))(
        (uint32_t)syscall(SYS_gettid), "first");
    ((void (*)(uint32_t, const wchar_t *))TRACE_NVTX(NameOsThreadW))(
        (uint32_t)syscall(SYS_gettid), L"the \u00e4ctor");
    ((void (*)(uint32_t, const char *))TRACE_NVTX(NameOsThreadA))(4000000,
                                                                  "nobody");
    cr_assert(test_find(test_read(), TRACE_ENTRY_EVENT, "m", &entry));
    cr_expect_str_eq(entry.thread->name, "the \u00e4ctor");
}

static void in_child(void)
{
    mark("in the child");
    push("own");
    pop();
    pop(); /* the parent's */
    _exit(0);
}

Test(nvtx_receive, records_forked_children)
{
    push("parent");
    cr_expect_eq(test_child(in_child), 0);
    mark("after");
    pop();
    expect(" INFO parent: nvtx: in the child\n"
           " INFO parent: nvtx: after\n");
}

static void *annotate(void *unused)
{
    char text[32];

    (void)unused;
    for (int i = 0; i < 2000; i++) {
        snprintf(text, sizeof(text), "range %d", i % 97);
        push(text);
        finish(start("started"));
        pop();
    }
    return NULL;
}

Test(nvtx_receive, records_threads_side_by_side)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    struct trace_reader *reader;

    for (int i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, annotate, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    reader = test_read();
    cr_expect_eq(test_count(reader, TRACE_ENTRY_SPAN, "started"),
                 THREADS * 2000);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_SPAN, NULL), THREADS * 4000);
    cr_expect_eq(trace_reader_summary(reader).dropped, 0);
}

/* ---- Recordings ---- */

Test(nvtx_receive, keeps_errno)
{
    errno = 7;
    push("a");
    finish(start("s"));
    mark("m");
    pop();
    cr_expect_eq(errno, 7);
}

Test(nvtx_receive, records_nothing_without_a_recording)
{
    nvtx_record_to(NULL);
    cr_expect_eq(push("a"), 0);
    finish(start("s"));
    mark("m");
    cr_expect_eq(pop(), 0);
    nvtx_record_to(trace_device_host());
    mark("later");
    expect(" INFO nvtx: later\n");
}

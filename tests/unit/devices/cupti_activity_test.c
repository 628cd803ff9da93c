/* cupti_activity_test.c: turns single CUPTI records into activities. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/fuzz/fuzz_activity.h"
#include "tests/support/support.h"

/* The last activity, as text. */
static char text[2048];
static struct trace_activity last;

static void keep(const struct trace_activity *activity)
{
    size_t at = activity->at.launched ? TRACE_LAUNCH_FIELDS : 0;
    int size = snprintf(text, sizeof(text), "%s", activity->name);

    last = *activity;
    for (size_t i = 0; i < activity->field_count; i++) {
        const struct trace_value *value = &activity->values[at + i];

        if (value->type == TRACE_TYPE_DISPLAY)
            size +=
                snprintf(text + size, sizeof(text) - (size_t)size, " %s=%.*s",
                         activity->fields[i], (int)value->size, value->as.text);
        else
            size +=
                snprintf(text + size, sizeof(text) - (size_t)size, " %s=%llu",
                         activity->fields[i], (unsigned long long)value->as.u);
    }
}

static void init(void)
{
    static struct trace_device_host host;

    fuzz_begin();
    host = fuzz_host;
    host.put = keep;
    cupti.host = &host;
    cupti.decoder.clock.last = (struct trace_anchor){5000, 5000, 0};
}

TestSuite(cupti_activity, .init = init);

static _Alignas(8) uint8_t bytes[256];

static void set(enum cupti_field field, uint64_t value)
{
    memcpy(bytes + cupti_layout[field].offset, &value,
           cupti_layout[field].bytes);
}

static const char *described(uint32_t kind, size_t stride)
{
    struct cupti_item item = {.record = {bytes, stride, kind}};

    memcpy(bytes, &kind, sizeof(kind));
    item.times = cupti_times(&cupti.decoder, &item.record);
    item.call = cupti_call_find(
        &cupti.decoder, cupti_correlation(&cupti.decoder, &item.record));
    cupti_put_activity(&cupti.decoder, &item);
    memset(bytes, 0, sizeof(bytes));
    return text;
}

Test(cupti_activity, describes_copies_between_devices)
{
    set(CUPTI_PEER_KIND, 10);
    set(CUPTI_PEER_BYTES, 1000);
    set(CUPTI_PEER_START, 1000);
    set(CUPTI_PEER_END, 1100);
    set(CUPTI_PEER_FROM, 1);
    set(CUPTI_PEER_TO, 2);
    set(CUPTI_PEER_STREAM, 7);
    cr_expect_str_eq(described(CUPTI_KIND_MEMCPY2, 72),
                     "Memcpy PtoP bytes=1000 throughput=10.0 GB/s async=0 "
                     "from=1 to=2 device=0 context=0 stream=7 correlation=0");
    cr_expect_eq(last.at.kind, TRACE_ACTIVITY_MEMCPY);
    cr_expect(last.at.on_device);
}

Test(cupti_activity, describes_a_copy_of_an_unknown_kind)
{
    set(CUPTI_MEMCPY_KIND, 200);
    set(CUPTI_MEMCPY_START, 1);
    set(CUPTI_MEMCPY_END, 1);
    cr_expect_str_eq(described(CUPTI_KIND_MEMCPY, 64),
                     "Memcpy ? bytes=0 async=0 device=0 context=0 stream=0 "
                     "correlation=0");
}

/* Without a valid time, an activity happened now or at the end of its call. */
Test(cupti_activity, estimates_missing_times)
{
    set(CUPTI_MEMSET_START, 300);
    set(CUPTI_MEMSET_END, 200);
    described(CUPTI_KIND_MEMSET, 64);
    cr_expect_eq(last.at.begin, 300);
    cr_expect_eq(last.end, 300);
    cr_expect(strstr(text, " ts_estimated=1"));
    cr_expect_eq(cupti.decoder.counts.bad_times, 1);
    described(CUPTI_KIND_MEMSET, 64);
    cr_expect_eq(last.at.begin, 5000);
    cr_expect_eq(cupti.decoder.counts.bad_times, 2);
}

Test(cupti_activity, describes_overheads)
{
    set(CUPTI_OVERHEAD_KIND, 6 << 16);
    set(CUPTI_OVERHEAD_START, 1);
    set(CUPTI_OVERHEAD_END, 2);
    cr_expect_str_eq(described(CUPTI_KIND_OVERHEAD, 40), "Command buffer full");
    cr_expect_eq(last.at.kind, TRACE_ACTIVITY_OVERHEAD);
    set(CUPTI_OVERHEAD_KIND, 99);
    set(CUPTI_OVERHEAD_START, 1);
    set(CUPTI_OVERHEAD_END, 2);
    cr_expect_str_eq(described(CUPTI_KIND_OVERHEAD, 56), "Overhead");
}

Test(cupti_activity, reads_no_thread_from_the_oldest_jit_record)
{
    set(CUPTI_JIT_START, 1);
    set(CUPTI_JIT_END, 2);
    set(CUPTI_JIT_OPERATION, 1);
    set(CUPTI_JIT_ENTRY, 2);
    set(CUPTI_JIT_THREAD, 77);
    cr_expect_str_eq(described(CUPTI_KIND_JIT, 64),
                     "JIT cache load stage=driver_jit operation=cache_load "
                     "entry=nvvm_ir_to_ptx cache=hit cache_bytes=0 id=0");
    cr_expect_eq(last.at.thread, 0);
}

Test(cupti_activity, describes_waits_for_a_stream_or_an_event)
{
    set(CUPTI_SYNC_TYPE, 1);
    set(CUPTI_SYNC_START, 1);
    set(CUPTI_SYNC_END, 2);
    set(CUPTI_SYNC_CONTEXT, 3);
    set(CUPTI_SYNC_STREAM, UINT32_MAX);
    set(CUPTI_SYNC_EVENT, 12);
    cr_expect_str_eq(described(CUPTI_KIND_SYNCHRONIZATION, 40),
                     "Event sync context=3 event=12");
    cr_expect_eq(last.at.stream, 0);
    cr_expect_not(last.at.on_device);
}

enum { PINNED = 2, DEVICE = 3 };

static const char *memory_of(unsigned operation, unsigned kind, uint64_t size)
{
    set(CUPTI_MEMORY_OPERATION, operation);
    set(CUPTI_MEMORY_KIND, kind);
    set(CUPTI_MEMORY_BYTES, size);
    set(CUPTI_MEMORY_TIME, 1);
    set(CUPTI_MEMORY_DEVICE, 1);
    described(CUPTI_KIND_MEMORY2, 112);
    return strstr(text, "in_use=");
}

/* Memory allocated before the trace began may be released. */
Test(cupti_activity, sums_memory_in_use)
{
    cr_expect_str_eq(memory_of(1, DEVICE, 100), "in_use=100 device=1");
    cr_expect_str_eq(memory_of(1, DEVICE, 50), "in_use=150 device=1");
    cr_expect_str_eq(memory_of(2, DEVICE, 100), "in_use=50 device=1");
    cr_expect_str_eq(memory_of(2, DEVICE, 100), "in_use=0 device=1");
    cr_expect_str_eq(memory_of(1, DEVICE, 7), "in_use=7 device=1");
    cr_expect_null(memory_of(1, PINNED, 7), "counted the host's memory");
}

Test(cupti_activity, ignores_thread_ids_that_are_not_the_kernel_s)
{
    cupti.decoder.library.system_threads = false;
    set(CUPTI_CALL_THREAD, 0x1234);
    set(CUPTI_CALL_START, 1);
    set(CUPTI_CALL_END, 2);
    described(CUPTI_KIND_DRIVER, 40);
    cr_expect_eq(last.at.thread, 0);
}

/* testlog's own wait at the end is not the program's. */
Test(cupti_activity, omits_testlog_s_own_calls)
{
    cupti.decoder.own.thread = 9;
    cupti.decoder.own.begin = 100;
    cupti.decoder.own.end = 200;
    set(CUPTI_CALL_THREAD, 9);
    set(CUPTI_CALL_START, 110);
    set(CUPTI_CALL_END, 190);
    text[0] = '\0';
    cr_expect_str_eq(described(CUPTI_KIND_DRIVER, 40), "");
    set(CUPTI_CALL_THREAD, 8);
    set(CUPTI_CALL_START, 110);
    set(CUPTI_CALL_END, 190);
    cr_expect_str_neq(described(CUPTI_KIND_DRIVER, 40), "");
}

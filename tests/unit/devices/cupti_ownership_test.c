/* cupti_ownership_test.c: finds out whether another tool profiles the process,
 * at the beginning and at the end.
 */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/devices.h"
#include "tests/support/e2e.h"

TestSuite(cupti_ownership, .init = devices_init);

static void expect(struct trace_reader *reader, const char *state,
                   const char *notice)
{
    cr_expect_str_eq(devices_meta(reader, "state"), state);
    cr_expect_str_eq(devices_meta(reader, "notice"), notice);
}

/* ---- Another profiler in this process ---- */

static void *function(const char *name)
{
    void *handle = dlopen(getenv("TRACE_CUPTI"), RTLD_NOW);
    void *found = handle ? dlsym(handle, name) : NULL;

    cr_assert(found, "%s", dlerror());
    return found;
}

static void subscribe(const char *name)
{
    int (*call)(void **, void *, void *, struct cupti_subscriber *) =
        (int (*)(void **, void *, void *, struct cupti_subscriber *))(
            uintptr_t)function("cuptiSubscribe_v2");
    struct cupti_subscriber own = {sizeof(own), name, NULL, 0};
    void *handle;

    cr_assert_eq(call(&handle, NULL, NULL, &own), 0);
}

static void *taken; /* a buffer that was testlog's */

static void give(uint8_t **bytes, size_t *size, size_t *most)
{
    static uint8_t memory[1 << 16];

    *bytes = memory;
    *size = sizeof(memory);
    *most = 0;
}

static void take(void *context, uint32_t stream, uint8_t *bytes, size_t size,
                 size_t valid)
{
    (void)context;
    (void)stream;
    (void)size;
    (void)valid;
    taken = bytes;
}

/* As torch.profiler when it starts. */
static void replace_callbacks(void)
{
    int (*call)(cupti_request *, cupti_complete *) =
        (int (*)(cupti_request *, cupti_complete *))(uintptr_t)function(
            "cuptiActivityRegisterCallbacks");

    cr_assert_eq(call(give, take), 0);
}

/* ---- The beginning ---- */

Test(cupti_ownership, names_the_tool_that_runs_the_program)
{
    devices_set("TOOL", "Nsight Systems");
    devices_begin();
    cr_expect_not(cupti_is_on());
    expect(test_read(), "busy", "GPU trace off: in use by Nsight Systems");
}

Test(cupti_ownership, names_a_subscriber_in_the_program)
{
    subscribe("Godot");
    devices_begin();
    cr_expect_not(cupti_is_on());
    expect(test_read(), "busy", "GPU trace off: in use by Godot");
    e2e_expect_lacks(devices_calls(), "Enable", "RegisterCallbacks",
                     "Unsubscribe");
}

/* Copies playback, and spells the first occurrence of a symbol differently. */
static void play_without(const char *symbol)
{
    size_t size;
    char *bytes = test_load(BUILD_DIR "/tests/playback.so", &size);
    char *at = memmem(bytes, size, symbol, strlen(symbol) + 1);

    cr_assert(at);
    *at = '?';
    test_save(test_path("libcupti.so"), bytes, size);
    setenv("TRACE_CUPTI", test_path("libcupti.so"), 1);
}

/* Before CUDA 13, CUPTI tells no names. */
Test(cupti_ownership, reports_a_subscriber_without_a_name)
{
    play_without("cuptiSubscribe_v2");
    devices_set("TOOL", "cuda-gdb");
    devices_begin();
    expect(test_read(), "busy", "GPU trace off: in use by another profiler");
    e2e_expect_has(devices_calls(), "Subscribe 0\n");
}

/* The program's own profiler may need it. */
Test(cupti_ownership, leaves_the_only_subscription_to_the_program)
{
    devices_begin();
    cr_expect(cupti_is_on());
    subscribe("Godot");
    trace_close();
}

Test(cupti_ownership, starts_although_subscribing_fails_otherwise)
{
    devices_set("FAIL", "2:1");
    devices_begin();
    expect(test_read(), "playback", "GPU trace is playback: made up");
}

/* ---- The end ---- */

static struct trace_reader *reader_after(void (*step)(void))
{
    devices_begin();
    devices_use(0);
    step();
    devices_launch(2);
    return test_read();
}

static void do_nothing(void)
{
}

static void profile(void)
{
    replace_callbacks();
    subscribe("Godot");
}

static void profile_secretly(void)
{
    devices_launch(1);
    replace_callbacks();
}

static void subscribe_only(void)
{
    subscribe("Godot");
}

#define INCOMPLETE "GPU trace incomplete: in use by "

static void expect_warning(struct trace_reader *reader, const char *text)
{
    char *lines = test_plain(reader);

    cr_expect_eq(e2e_count(lines, text), 1, "%s", lines);
}

Test(cupti_ownership, sees_its_own_wait_if_nobody_else_profiles)
{
    struct trace_reader *reader = reader_after(do_nothing);

    cr_expect_eq(e2e_count(devices_calls(), "Subscribe_v2"), 2);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_DEVICE, "launched()"), 2);
    expect(reader, "playback", "GPU trace is playback: made up");
}

Test(cupti_ownership, names_a_profiler_that_took_over)
{
    struct trace_reader *reader = reader_after(profile);

    cr_expect(taken, "the profiler did not get the records");
    expect_warning(reader, INCOMPLETE "Godot");
    expect(reader, "busy", INCOMPLETE "Godot");
}

/* Kineto need not subscribe. */
Test(cupti_ownership, notices_replaced_callbacks)
{
    struct trace_reader *reader = reader_after(profile_secretly);

    expect_warning(reader, INCOMPLETE "another profiler");
    expect(reader, "busy", INCOMPLETE "another profiler");
}

Test(cupti_ownership, suspects_pytorch_if_it_is_loaded)
{
    devices_object("libtorch_cuda.so", "int torch;");
    expect(reader_after(profile_secretly), "busy",
           INCOMPLETE "another profiler, maybe torch.profiler");
}

/* A client that only subscribes takes no records. */
Test(cupti_ownership, keeps_its_records_beside_a_mere_subscriber)
{
    struct trace_reader *reader = reader_after(subscribe_only);

    expect_warning(reader, "Godot is another client of CUPTI: testlog has the "
                           "records of GPUs, and it has none");
    expect(reader, "playback", "GPU trace is playback: made up");
}

/* Without a context there is no wait that could leave a record. */
Test(cupti_ownership, asks_at_the_end_without_a_context)
{
    devices_begin();
    subscribe("Godot");
    expect(test_read(), "busy", INCOMPLETE "Godot");
}

/* The record of our wait may be among those that CUPTI dropped. */
Test(cupti_ownership, does_not_mistake_dropped_records_for_a_profiler)
{
    devices_set("DROPPED", "1");
    expect(reader_after(profile_secretly), "playback",
           "GPU trace is playback: made up");
}

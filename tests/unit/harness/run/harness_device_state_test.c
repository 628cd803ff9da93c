/* harness_device_state_test.c: reads states of devices from recordings, adds
 * them up and writes them. */
#include "harness/run/model/model.h"

#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <criterion/redirect.h>

#include "tests/support/support.h"
#include "trace/device.h"

static struct test_log_gpu all, one;

static void end(void)
{
    test_log_gpu_free(&all);
    test_log_gpu_free(&one);
}

TestSuite(harness_device_state, .init = test_folder, .fini = end);

/* Reads a recording with these pairs. */
static bool read_notes(const char *const *pairs)
{
    struct trace_reader *reader;

    test_record();
    for (; *pairs; pairs += 2)
        trace_device_note(pairs[0], pairs[1]);
    reader = test_read();
    test_log_gpu_free(&one);
    return test_log_gpu_read(&one, reader);
}

static const cJSON *members(const struct test_log_gpu *gpu)
{
    static cJSON *json;
    struct trace_text text = {0};

    trace_text_char(&text, '{');
    test_log_members_put(&text, gpu, test_log_gpu_members);
    trace_text_char(&text, '}');
    cJSON_Delete(json);
    json = cJSON_Parse(text.data);
    cr_assert_not_null(json, "%s", text.data);
    trace_text_free(&text);
    return json;
}

static const cJSON *item(const struct test_log_gpu *gpu, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(members(gpu), name);
}

#define TEXT(literal) ((char *)(uintptr_t)(literal))

/* ---- States ---- */

Test(harness_device_state, converts_states_to_words_and_back)
{
    enum test_log_gpu_state state;

    for (unsigned i = 0; i <= TEST_LOG_GPU_PLAYBACK; i++) {
        cr_assert(test_log_gpu_state_of(
            test_log_gpu_word((enum test_log_gpu_state)i), &state));
        cr_expect_eq((unsigned)state, i);
    }
    cr_expect_not(test_log_gpu_state_of("On", &state));
    cr_expect_not(test_log_gpu_state_of("", &state));
    cr_expect_not(test_log_gpu_state_of(NULL, &state));
}

Test(harness_device_state, keeps_the_most_informative_state)
{
    static const enum test_log_gpu_state order[] = {
        TEST_LOG_GPU_UNUSED,  TEST_LOG_GPU_NO_DRIVER, TEST_LOG_GPU_NO_LIBCUPTI,
        TEST_LOG_GPU_TOO_OLD, TEST_LOG_GPU_BUSY,      TEST_LOG_GPU_DENIED,
        TEST_LOG_GPU_ON,      TEST_LOG_GPU_PLAYBACK};
    enum { COUNT = sizeof(order) / sizeof(*order) };

    for (size_t i = 0; i < COUNT; i++)
        for (size_t k = 0; k < COUNT; k++) {
            struct test_log_gpu sum = {.state = order[i]};

            test_log_members_add(&sum,
                                 &(struct test_log_gpu){.state = order[k]},
                                 test_log_gpu_members);
            cr_expect_eq(sum.state, order[i > k ? i : k]);
        }
}

/* ---- Recordings ---- */

Test(harness_device_state, ignores_a_recording_without_a_state)
{
    static const char *const pairs[] = {"gpu.lost", "3", NULL};
    static const char *const strange[] = {"gpu.state", "asleep", NULL};

    cr_expect_not(read_notes(pairs));
    cr_expect_not(read_notes(strange));
    cr_expect_eq(one.lost, 0);
}

Test(harness_device_state, uses_the_last_note_of_a_name)
{
    static const char *const pairs[] = {
        "gpu.state", "no-driver", "gpu.lost", "3",  "gpu.state",
        "on",        "gpu.lost",  "5",        NULL, NULL};

    cr_assert(read_notes(pairs));
    cr_expect_eq(one.state, TEST_LOG_GPU_ON);
    cr_expect_eq(one.lost, 5);
    cr_expect(one.cuda);
}

Test(harness_device_state, does_not_take_unused_for_cuda)
{
    static const char *const pairs[] = {"gpu.state", "unused", NULL};

    cr_assert(read_notes(pairs));
    cr_expect_not(one.cuda);
}

Test(harness_device_state, reads_only_devices_with_a_plain_number)
{
    static const char *const pairs[] = {"gpu.state",
                                        "on",
                                        "gpu.device.1",
                                        "B",
                                        "gpu.device.1.sms",
                                        "132",
                                        "gpu.device.x",
                                        "no",
                                        "gpu.device.",
                                        "no",
                                        "gpu.device.-1",
                                        "no",
                                        "gpu.device.64",
                                        "no",
                                        "gpu.device.99999999999999999999999",
                                        "no",
                                        NULL};
    const cJSON *devices;

    cr_assert(read_notes(pairs));
    devices = item(&one, "devices");
    cr_assert_eq(cJSON_GetArraySize(devices), 1);
    cr_expect_str_eq(cJSON_GetObjectItem(cJSON_GetArrayItem(devices, 0), "name")
                         ->valuestring,
                     "B");
}

/* ---- Sums ---- */

Test(harness_device_state, adds_counts_and_devices)
{
    struct test_log_gpu a = {.launches = 3, .lost = 1, .devices = {TEXT("A")}};
    struct test_log_gpu b = {
        .launches = 4, .bad_times = 2, .devices = {TEXT("other"), TEXT("B")}};

    test_log_members_add(&all, &a, test_log_gpu_members);
    test_log_members_add(&all, &b, test_log_gpu_members);
    cr_expect_eq(all.launches, 7);
    cr_expect_eq(all.lost, 1);
    cr_expect_eq(all.bad_times, 2);
    cr_expect_str_eq(all.devices[0], "A");
    cr_expect_str_eq(all.devices[1], "B");
}

Test(harness_device_state, keeps_texts_of_the_first_with_the_state)
{
    struct test_log_gpu a = {.state = TEST_LOG_GPU_BUSY,
                             .notice = TEXT("busy"),
                             .library = TEXT("a.so")};
    struct test_log_gpu b = {.state = TEST_LOG_GPU_ON, .library = TEXT("b.so")};
    struct test_log_gpu c = {.state = TEST_LOG_GPU_ON, .library = TEXT("c.so")};

    test_log_members_add(&all, &a, test_log_gpu_members);
    test_log_members_add(&all, &b, test_log_gpu_members);
    test_log_members_add(&all, &c, test_log_gpu_members);
    cr_expect_null(all.notice);
    cr_expect_str_eq(all.library, "b.so");
}

/* ---- Output ---- */

Test(harness_device_state, keeps_where_nvtx_goes)
{
    cr_expect_str_eq(item(&all, "nvtx")->valuestring, "off");
    one.nvtx = TEST_LOG_NVTX_SENDING;
    one.nvtx_tool = strdup("/x/\"tool.so");
    test_log_members_add(&all, &one, test_log_gpu_members);
    one.nvtx = TEST_LOG_NVTX_RECEIVING;
    test_log_members_add(&all, &one, test_log_gpu_members);
    cr_expect_str_eq(item(&all, "nvtx")->valuestring, "sending");
    cr_expect_str_eq(item(&all, "nvtx_tool")->valuestring, "/x/\"tool.so");
}

Test(harness_device_state, writes_kinds_as_words)
{
    struct test_log_gpu some = {.kinds = TEXT("kernel,mem\"cpy,")};
    const cJSON *kinds = item(&some, "kinds");

    cr_assert_eq(cJSON_GetArraySize(kinds), 3);
    cr_expect_str_eq(cJSON_GetArrayItem(kinds, 1)->valuestring, "mem\"cpy");
    cr_expect_null(item(&(struct test_log_gpu){0}, "kinds"));
}

Test(harness_device_state, writes_any_bytes_as_json)
{
    char bytes[200];

    test_seed(7);
    for (int i = 0; i < 100; i++) {
        struct test_log_gpu gpu = {
            .notice = bytes, .kinds = bytes, .devices = {bytes}};

        test_random_bytes(bytes, sizeof(bytes) - 1);
        bytes[sizeof(bytes) - 1] = '\0';
        cr_expect_eq(cJSON_GetArraySize(item(&gpu, "devices")), 1);
    }
}

Test(harness_device_state, prints_the_notice_if_asked_or_if_cuda_is_used,
     .init = cr_redirect_stderr)
{
    struct test_log_gpu gpu = {.notice = TEXT("why")};

    test_log_gpu_print(&gpu);
    gpu.asked = true;
    test_log_gpu_print(&gpu);
    gpu = (struct test_log_gpu){.notice = TEXT("how"), .cuda = true};
    test_log_gpu_print(&gpu);
    gpu.notice = NULL;
    test_log_gpu_print(&gpu);
    fflush(stderr);
    cr_assert_stderr_eq_str("testlog: why\ntestlog: how\n");
}

Test(harness_device_state, survives_a_lack_of_memory)
{
    static const char *const pairs[] = {
        "gpu.state", "on", "gpu.notice", "why", "gpu.device.0", "A", NULL};

    if (!test_can_fail_memory())
        cr_skip_test("sanitizers replace malloc");
    cr_assert(read_notes(pairs));
    for (size_t nth = 1; nth < 8; nth++) {
        test_fail_memory(nth, true);
        test_log_members_add(&all, &one, test_log_gpu_members);
        test_fail_memory(0, false);
        cr_expect_eq(all.state, TEST_LOG_GPU_ON);
        test_log_gpu_free(&all);
    }
}

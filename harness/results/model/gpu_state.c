/* gpu_state.c: reads what recordings contain about GPUs, and adds it up for the
 * run. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/folder/notice.h"
#include "harness/results/model/gpu_state.h"
#include "trace/base/text.h"

static const char *const words[] = {
#define TEST_LOG_X(name, word) word,
    TEST_LOG_GPU_STATES(TEST_LOG_X)
#undef TEST_LOG_X
};

enum { STATES = sizeof(words) / sizeof(*words) };

const char *test_log_gpu_word(enum test_log_gpu_state state)
{
    return words[state];
}

bool test_log_gpu_state_of(const char *word, enum test_log_gpu_state *state)
{
    for (unsigned i = 0; word && i < STATES; i++)
        if (!strcmp(words[i], word)) {
            *state = (enum test_log_gpu_state)i;
            return true;
        }
    return false;
}

static const char *const nvtx_words[] = {
#define TEST_LOG_X(name, word) word,
    TEST_LOG_NVTX_STATES(TEST_LOG_X)
#undef TEST_LOG_X
};

bool test_log_nvtx_state_of(const char *word, enum test_log_nvtx_state *state)
{
    for (unsigned i = 0; word && i < sizeof(nvtx_words) / sizeof(*nvtx_words);
         i++)
        if (!strcmp(nvtx_words[i], word)) {
            *state = (enum test_log_nvtx_state)i;
            return true;
        }
    return false;
}

/* ---- Sums ---- */

void test_log_gpu_device(struct test_log_gpu *gpu, size_t ordinal,
                         const char *name)
{
    if (ordinal >= TEST_LOG_GPU_DEVICES || !name || gpu->devices[ordinal])
        return;
    gpu->devices[ordinal] = strdup(name);
}

void test_log_replace_text(char **to, const char *text)
{
    free(*to);
    *to = text ? strdup(text) : NULL;
}

void test_log_gpu_add(struct test_log_gpu *all, const struct test_log_gpu *one)
{
    if (one->state > all->state) {
        all->state = one->state;
#define TEST_LOG_X(name) test_log_replace_text(&all->name, one->name);
        TEST_LOG_GPU_TEXTS(TEST_LOG_X)
#undef TEST_LOG_X
    }
#define TEST_LOG_X(name) all->name += one->name;
    TEST_LOG_GPU_COUNTS(TEST_LOG_X)
#undef TEST_LOG_X
    for (size_t i = 0; i < TEST_LOG_GPU_DEVICES; i++)
        test_log_gpu_device(all, i, one->devices[i]);
    all->cuda |= one->cuda;
    if (one->nvtx > all->nvtx) {
        all->nvtx = one->nvtx;
        test_log_replace_text(&all->nvtx_notice, one->nvtx_notice);
    }
    if (one->nvtx_tool)
        test_log_replace_text(&all->nvtx_tool, one->nvtx_tool);
}

void test_log_gpu_free(struct test_log_gpu *gpu)
{
#define TEST_LOG_X(name) free(gpu->name);
    TEST_LOG_GPU_TEXTS(TEST_LOG_X)
#undef TEST_LOG_X
    for (size_t i = 0; i < TEST_LOG_GPU_DEVICES; i++)
        free(gpu->devices[i]);
    free(gpu->nvtx_tool);
    free(gpu->nvtx_notice);
    *gpu = (struct test_log_gpu){0};
}

/* ---- Recordings ---- */

char *test_log_meta_text(const struct trace_reader *reader, const char *name)
{
    const char *text = trace_reader_meta(reader, name);

    return text && *text ? strdup(text) : NULL;
}

uint64_t test_log_meta_number(const struct trace_reader *reader,
                              const char *name)
{
    const char *text = trace_reader_meta(reader, name);

    return text ? strtoull(text, NULL, 10) : 0;
}

static void read_devices(struct test_log_gpu *gpu,
                         const struct trace_reader *reader)
{
    static const char prefix[] = "gpu.device.";
    const size_t size = sizeof(prefix) - 1;
    const char *name, *value;
    size_t cursor = 0;

    while (trace_reader_metas(reader, &cursor, &name, &value)) {
        char *end;
        size_t ordinal;

        if (strncmp(name, prefix, size) != 0 ||
            !isdigit((unsigned char)name[size]))
            continue;
        ordinal = strtoul(name + size, &end, 10);
        if (!*end)
            test_log_gpu_device(gpu, ordinal, value);
    }
}

bool test_log_gpu_read(struct test_log_gpu *gpu,
                       const struct trace_reader *reader)
{
    *gpu = (struct test_log_gpu){0};
    gpu->nvtx_notice = test_log_meta_text(reader, "gpu.nvtx_notice");
    if (gpu->nvtx_notice)
        gpu->nvtx = TEST_LOG_NVTX_NOT_LOADED;
    if (!test_log_gpu_state_of(trace_reader_meta(reader, "gpu.state"),
                               &gpu->state))
        return gpu->nvtx_notice;
    /* A program without CUDA always records "unused". */
    gpu->cuda = gpu->state != TEST_LOG_GPU_UNUSED;
#define TEST_LOG_X(name) gpu->name = test_log_meta_text(reader, "gpu." #name);
    TEST_LOG_GPU_TEXTS(TEST_LOG_X)
#undef TEST_LOG_X
#define TEST_LOG_X(name) gpu->name = test_log_meta_number(reader, "gpu." #name);
    TEST_LOG_GPU_COUNTS(TEST_LOG_X)
#undef TEST_LOG_X
    read_devices(gpu, reader);
    return true;
}

/* ---- Output ---- */

void test_log_gpu_print(const struct test_log_gpu *gpu)
{
    if (gpu->nvtx_notice)
        test_log_notice("%s", gpu->nvtx_notice);
    if (!gpu->asked && !gpu->cuda)
        return;
    if (gpu->notice)
        test_log_notice("%s", gpu->notice);
    else if (gpu->state == TEST_LOG_GPU_PLAYBACK)
        test_log_notice("GPU trace: played back, no GPU was used");
}

void test_log_put_text(struct trace_text *text, const char *name,
                       const char *value)
{
    if (!value)
        return;
    trace_text_printf(text, ",\"%s\":", name);
    trace_json_string(text, value, strlen(value));
}

/* Puts "kernel,memcpy" as an array. */
static void put_kinds(struct trace_text *text, const char *kinds)
{
    if (!kinds)
        return;
    trace_text_string(text, ",\"kinds\":[");
    for (;;) {
        size_t size = strcspn(kinds, ",");

        trace_json_string(text, kinds, size);
        kinds += size;
        if (!*kinds++)
            break;
        trace_text_char(text, ',');
    }
    trace_text_char(text, ']');
}

static void put_devices(struct trace_text *text, const struct test_log_gpu *gpu)
{
    bool some = false;

    trace_text_string(text, ",\"devices\":[");
    for (unsigned i = 0; i < TEST_LOG_GPU_DEVICES; i++) {
        if (!gpu->devices[i])
            continue;
        trace_text_printf(text, "%s{\"ordinal\":%u", some ? "," : "", i);
        test_log_put_text(text, "name", gpu->devices[i]);
        trace_text_char(text, '}');
        some = true;
    }
    trace_text_char(text, ']');
}

void test_log_gpu_members(struct trace_text *text,
                          const struct test_log_gpu *gpu)
{
    trace_text_printf(text, "\"state\":\"%s\",\"cuda\":%s",
                      test_log_gpu_word(gpu->state),
                      gpu->cuda ? "true" : "false");
    test_log_put_text(text, "nvtx", nvtx_words[gpu->nvtx]);
    test_log_put_text(text, "nvtx_tool", gpu->nvtx_tool);
    test_log_put_text(text, "nvtx_notice", gpu->nvtx_notice);
    test_log_put_text(text, "notice", gpu->notice);
    test_log_put_text(text, "library", gpu->library);
    test_log_put_text(text, "api", gpu->api);
    put_kinds(text, gpu->kinds);
    test_log_put_text(text, "refused", gpu->refused);
    test_log_put_text(text, "source", gpu->source);
    if (gpu->graph_level)
        trace_text_string(text, ",\"graph_level\":true");
    put_devices(text, gpu);
#define TEST_LOG_X(name)                                                       \
    trace_text_printf(text, ",\"" #name "\":%" PRIu64, gpu->name);
    TEST_LOG_GPU_COUNTS(TEST_LOG_X)
#undef TEST_LOG_X
}

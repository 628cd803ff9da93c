/* device_state.c: reads what recordings contain about OpenCL, and adds it up
 * for the run. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/folder/notice.h"
#include "harness/results/model/device_state.h"

static const char *const words[] = {
#define TEST_LOG_X(name, word) word,
    TEST_LOG_OPENCL_STATES(TEST_LOG_X)
#undef TEST_LOG_X
};

const char *test_log_opencl_word(enum test_log_opencl_state state)
{
    return words[state];
}

enum test_log_opencl_state test_log_opencl_state_of(const char *word)
{
    for (unsigned i = 0; word && i < sizeof(words) / sizeof(*words); i++)
        if (!strcmp(words[i], word))
            return (enum test_log_opencl_state)i;
    return TEST_LOG_OPENCL_UNUSED;
}

static char *clock_of(const struct trace_reader *reader)
{
    char key[32];

    snprintf(key, sizeof(key), "opencl.clock.%d", TRACE_OPENCL_DEVICES);
    return test_log_meta_text(reader, key);
}

void test_log_opencl_read(struct test_log_opencl *opencl,
                          const struct trace_reader *reader)
{
    *opencl = (struct test_log_opencl){
        .state =
            test_log_opencl_state_of(trace_reader_meta(reader, "opencl.state")),
        .notice = test_log_meta_text(reader, "opencl.notice"),
        .clock = clock_of(reader),
#define TEST_LOG_X(name) .name = test_log_meta_number(reader, "opencl." #name),
        TEST_LOG_OPENCL_COUNTS(TEST_LOG_X)
#undef TEST_LOG_X
    };
}

void test_log_opencl_add(struct test_log_opencl *all,
                         const struct test_log_opencl *one)
{
    if (one->state > all->state) {
        all->state = one->state;
        test_log_replace_text(&all->notice, one->notice);
    }
    if (!all->clock)
        test_log_replace_text(&all->clock, one->clock);
#define TEST_LOG_X(name) all->name += one->name;
    TEST_LOG_OPENCL_COUNTS(TEST_LOG_X)
#undef TEST_LOG_X
}

void test_log_opencl_free(struct test_log_opencl *opencl)
{
    free(opencl->notice);
    free(opencl->clock);
    *opencl = (struct test_log_opencl){.notice = NULL};
}

/* ---- Output ---- */

void test_log_opencl_members(struct trace_text *text,
                             const struct test_log_opencl *opencl)
{
    trace_text_printf(text, "\"state\":\"%s\"",
                      test_log_opencl_word(opencl->state));
    test_log_put_text(text, "notice", opencl->notice);
    test_log_put_text(text, "clock", opencl->clock);
#define TEST_LOG_X(name)                                                       \
    trace_text_printf(text, ",\"" #name "\":%" PRIu64, opencl->name);
    TEST_LOG_OPENCL_COUNTS(TEST_LOG_X)
#undef TEST_LOG_X
}

bool test_log_opencl_only(const struct test_log_opencl *opencl,
                          const struct test_log_gpu *gpu)
{
    return opencl->state != TEST_LOG_OPENCL_UNUSED && !gpu->cuda;
}

void test_log_opencl_print(const struct test_log_opencl *opencl)
{
    if (opencl->notice)
        test_log_notice("%s", opencl->notice);
}

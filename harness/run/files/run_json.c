/* run_json.c: writes run.json: what was run, and the results. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <unistd.h>

#ifdef __GLIBC__
#    include <gnu/libc-version.h>
#endif

#include "harness/machine/notice.h"
#include "harness/run/files/writers.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/model/gpu_summary.h"
#include "harness/run/model/test_stacks.h"
#include "harness/version.h"
#include "trace/base/file.h"
#include "trace/base/text.h"

/* ---- Members ---- */

static void put_string(struct trace_text *text, const char *string)
{
    if (string)
        trace_json_string(text, string, strlen(string));
    else
        trace_text_string(text, "null");
}

/* Puts the name of a member, after a comma unless it is the first of an object
 * or line. */
static void put_name_of(struct trace_text *text, const char *name)
{
    char last = text->size ? text->data[text->size - 1] : '{';

    if (!strchr("{,\n", last))
        trace_text_char(text, ',');
    put_string(text, name);
    trace_text_char(text, ':');
}

static void put_text(struct trace_text *text, const char *name,
                     const char *string)
{
    put_name_of(text, name);
    put_string(text, string);
}

static void put_some_text(struct trace_text *text, const char *name,
                          const char *string)
{
    if (string)
        put_text(text, name, string);
}

static void put_number(struct trace_text *text, const char *name,
                       uint64_t number)
{
    put_name_of(text, name);
    trace_json_number(text, number);
}

static void put_some_number(struct trace_text *text, const char *name,
                            uint64_t number)
{
    if (number)
        put_number(text, name, number);
}

/* ---- The machine ---- */

/* The id of the host's boot distinguishes hosts of the same name. */
static void put_boot(struct trace_text *text)
{
    char boot[64] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

    if (file && !fgets(boot, sizeof(boot), file))
        boot[0] = '\0';
    if (file)
        fclose(file);
    boot[strcspn(boot, "\n")] = '\0';
    put_text(text, "boot", boot[0] ? boot : NULL);
}

/* The kernel's bound for the wall clock's error, which it has only if NTP or
 * the like sets the clock. See adjtimex(2). */
static void put_clock(struct trace_text *text)
{
    struct timex clock = {.modes = 0};
    int state = adjtimex(&clock);

    trace_text_string(text, ",\n\"clock\":{\"error_ns\":");
    if (state < 0 || state == TIME_ERROR || clock.maxerror < 0)
        trace_text_string(text, "null}");
    else
        trace_text_printf(text, "%lld}", (long long)clock.maxerror * 1000);
}

/* The name of the processor; null if the kernel has none. */
static void put_processor(struct trace_text *text)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[512], name[256] = "";

    while (file && !name[0] && fgets(line, sizeof(line), file))
        sscanf(line, "model name : %255[^\n]", name);
    if (file)
        fclose(file);
    put_text(text, "processor", name[0] ? name : NULL);
}

static void put_host(struct trace_text *text, const struct test_log_run *run)
{
    struct utsname host;

    if (uname(&host))
        return;
    trace_text_string(text, ",\n\"host\":{");
    put_text(text, "name", host.nodename);
    put_text(text, "system", host.sysname);
    put_text(text, "release", host.release);
    put_text(text, "machine", host.machine);
    put_processor(text);
    put_boot(text);
    trace_text_printf(text, "},\n\"pid\":%ld",
                      (long)(run->process ? run->process : getpid()));
}

/* The compiler is the one that compiled testlog. */
static void put_versions(struct trace_text *text)
{
#ifdef __GLIBC__
    const char *libc = gnu_get_libc_version();
#else
    const char *libc = NULL; /* musl does not tell */
#endif

    trace_text_string(text, ",\n\"versions\":{");
    put_text(text, "testlog", TEST_LOG_VERSION);
    put_text(text, "compiler", TEST_LOG_COMPILER);
    put_text(text, "glibc", libc);
    trace_text_char(text, '}');
}

static void put_gpu_summary(struct trace_text *text,
                            const struct log_device_summary *summary)
{
    if (!summary || !log_device_summary_some(summary))
        return;
    trace_text_string(text, ",\"gpu_summary\":{");
    test_log_gpu_summary_members(text, summary);
    trace_text_char(text, '}');
}

static void put_filters(struct trace_text *text, const struct test_log_run *run)
{
    trace_text_string(text, ",\n\"filters\":{");
#define TEST_LOG_X(name, field) put_text(text, name, run->field);
    TEST_LOG_FILTER_MEMBERS(TEST_LOG_X)
#undef TEST_LOG_X
    put_text(text, "static_max",
             run->annotated ? trace_level_word(run->static_max) : NULL);
    trace_text_string(text, ",\"unseen\":[");
    for (size_t i = 0; i < run->unmatched_count; i++) {
        if (i)
            trace_text_char(text, ',');
        put_string(text, run->unmatched[i]);
    }
    trace_text_string(text, "],\"meant\":[");
    for (size_t i = 0; run->meant && i < run->unmatched_count; i++) {
        if (i)
            trace_text_char(text, ',');
        put_string(text, run->meant[i]);
    }
    trace_text_string(text, "]}");
}

/* ---- Members of tests ---- */

static void put_outcome(struct trace_text *text, const char *name,
                        enum test_log_outcome outcome)
{
    put_text(text, name, test_log_outcome_word(outcome));
}

#define put_folder put_text

/* Puts false if a value is true, otherwise nothing. */
static void put_unless(struct trace_text *text, const char *name, bool value)
{
    if (!value)
        return;
    put_name_of(text, name);
    trace_text_string(text, "false");
}

static void put_name(struct trace_text *text, const char *name,
                     const struct test_log_result *result)
{
    put_text(text, name, test_log_name(result));
}

static void put_usage(struct trace_text *text, const char *name,
                      const struct test_log_result *result)
{
    if (!result->usage.peak)
        return;
    put_name_of(text, name);
    trace_text_char(text, '{');
#define TEST_LOG_X(field, member) put_number(text, member, result->usage.field);
    TEST_LOG_USAGE_MEMBERS(TEST_LOG_X)
#undef TEST_LOG_X
    if (result->usage.instructions) {
        put_number(text, "instructions", result->usage.instructions);
        put_text(text, "counted_by",
                 test_log_counter_words[result->usage.counter]);
    }
    trace_text_char(text, '}');
}

static void put_tries(struct trace_text *text, const char *name,
                      const struct test_log_result *result)
{
    put_number(text, name, result->earlier_count + 1);
}

static void put_flaky(struct trace_text *text, const char *name,
                      const struct test_log_result *result)
{
    put_name_of(text, name);
    trace_text_string(text, test_log_flaky(result) ? "true" : "false");
}

static void put_earlier(struct trace_text *text, const char *name,
                        const struct test_log_result *result)
{
    if (!result->earlier_count)
        return;
    put_name_of(text, name);
    trace_text_char(text, '[');
    for (size_t i = 0; i < result->earlier_count; i++) {
        const struct test_log_try *before = &result->earlier[i];

        trace_text_string(text, i ? ",{" : "{");
#define TEST_LOG_X(kind, name, field) put_##kind(text, name, before->field);
        TEST_LOG_TRY_MEMBERS(TEST_LOG_X)
#undef TEST_LOG_X
        trace_text_char(text, '}');
    }
    trace_text_char(text, ']');
}

const char *test_log_loss_word(enum trace_loss loss)
{
    static const char *const words[] = {
#define TRACE_X(name, word, text) word,
        TRACE_LOSSES(TRACE_X)
#undef TRACE_X
    };

    return words[loss];
}

/* Puts the records that were lost, by cause. */
static void put_lost(struct trace_text *text, const char *name,
                     const struct test_log_result *result)
{
    put_name_of(text, name);
    trace_text_char(text, '{');
    for (int i = 0; i < TRACE_LOSS_COUNT; i++)
        put_some_number(text, test_log_loss_word(i), result->lost[i]);
    trace_text_char(text, '}');
}

static void put_dropped(struct trace_text *text, const char *name,
                        const struct test_log_result *result)
{
    uint64_t dropped = 0;

    for (int i = 0; i < TRACE_LOSS_COUNT; i++)
        dropped += result->lost[i];
    put_number(text, name, dropped);
}

#define PUT_FIELD(kind, name, field) put_##kind(text, name, result->field);
#define PUT_WHOLE(kind, name)        put_##kind(text, name, result);

void test_log_result_members(struct trace_text *text,
                             const struct test_log_result *result)
{
    TEST_LOG_RESULT_MEMBERS(PUT_FIELD, PUT_WHOLE, PUT_WHOLE)
}

static void put_result(struct trace_text *text, const struct test_log_run *run,
                       const struct test_log_result *result)
{
    trace_text_char(text, '{');
    test_log_result_members(text, result);
    TEST_LOG_RECORDED_MEMBERS(PUT_FIELD, PUT_WHOLE, PUT_WHOLE)
    trace_text_printf(text, ",\"gpu\":\"%s\"", test_log_gpu_word(result->gpu));
    if (result->gpu_lost)
        trace_text_printf(text, ",\"gpu_lost\":%" PRIu64, result->gpu_lost);
    for (size_t i = 1; i < TRACE_BACKEND_COUNT; i++)
        if (result->devices[i])
            trace_text_printf(text, ",\"%s\":\"%s\"", trace_backends[i].member,
                              test_log_device_states[result->devices[i]]);
    put_gpu_summary(text, result->gpu_summary);
    if (test_log_outcome_bad(result->outcome))
        test_log_stacks_members(text, run, result);
    trace_text_char(text, '}');
}

/* ---- Merged runs ---- */

static void put_shard(struct trace_text *text, const char *name,
                      struct test_log_shard shard)
{
    put_name_of(text, name);
    test_log_shard_json(text, &shard);
}

static void put_end(struct trace_text *text, const char *name,
                    enum test_log_end end)
{
    put_text(text, name, test_log_end_word(end));
}

static void put_moment(struct trace_text *text, const char *name, uint64_t wall)
{
    put_name_of(text, name);
    trace_text_char(text, '"');
    trace_text_moment(text, wall);
    trace_text_char(text, '"');
}

static void put_offset(struct trace_text *text, const char *name,
                       int64_t offset)
{
    put_name_of(text, name);
    trace_text_printf(text, "%" PRId64, offset);
}

/* Puts null for UINT64_MAX. */
static void put_known(struct trace_text *text, const char *name,
                      uint64_t number)
{
    if (number == UINT64_MAX)
        put_text(text, name, NULL);
    else
        put_number(text, name, number);
}

static void put_parts(struct trace_text *text, const struct test_log_run *run)
{
    if (!run->source_count)
        return;
    trace_text_string(text, ",\n\"merged\":[");
    for (size_t i = 0; i < run->source_count; i++) {
        const struct test_log_merged_run *merged = &run->sources[i];

        trace_text_string(text, i ? ",\n{" : "\n{");
#define TEST_LOG_X(kind, name, field) put_##kind(text, name, merged->field);
        TEST_LOG_SOURCE_MEMBERS(TEST_LOG_X)
#undef TEST_LOG_X
        trace_text_char(text, '}');
    }
    trace_text_string(text, "\n]");
}

/* ---- The run ---- */

void test_log_run_members(struct trace_text *text,
                          const struct test_log_run *run)
{
    struct log_device_summary *devices = test_log_gpu_summary_of_run(run);
    struct test_log_sums sums = test_log_run_sums(run);

    put_text(text, "command", run->command);
    put_text(text, "flavour", test_log_run_flavour(run));
    put_host(text, run);
    put_clock(text);
    if (run->scratch) {
        trace_text_string(text, ",\n");
        put_text(text, "scratch", run->scratch);
    }
    put_versions(text);
    trace_text_string(text, ",\n\"start\":\"");
    trace_text_moment(text, run->start.wall);
    trace_text_printf(text, "\",\n\"duration_ns\":%" PRIu64,
                      test_log_run_time(run));
    put_filters(text, run);
    trace_text_string(text, ",\n");
    test_log_environment_member(text);
    test_log_devices_members(text, run);
    put_gpu_summary(text, devices);
    log_device_summary_free(devices);
    trace_text_string(text, ",\n");
    put_shard(text, "shard", run->shard);
    if (run->rank.total)
        trace_text_printf(text, ",\n\"rank\":{\"index\":%zu,\"total\":%zu}",
                          run->rank.index, run->rank.total);
    put_parts(text, run);
    trace_text_string(text, ",\n");
    put_text(text, "interrupted",
             run->interrupted ? test_log_signal(run->interrupted) : NULL);
    if (run->flagless)
        trace_text_string(text, ",\n\"flags\":false");
    trace_text_printf(text, ",\n\"whole\":%s",
                      run->whole && !run->interrupted ? "true" : "false");
    trace_text_string(text, ",\n");
#define TEST_LOG_X(name) put_number(text, #name, sums.name);
    TEST_LOG_COUNTS(TEST_LOG_X)
#undef TEST_LOG_X
}

/* Adds run.json, and calls `flush` from time to time. */
static void put_run(struct trace_text *text, const struct test_log_run *run,
                    void (*flush)(struct trace_text *, FILE *), FILE *out)
{
    bool some = false;

    trace_text_string(text, "{\"schema\":1,\n");
    test_log_run_members(text, run);
    /* With the tests of each shard, testlog merge notices a missing one. */
    if (run->plan.size) {
        trace_text_string(text, ",\n\"plan\":[");
        trace_text_add(text, run->plan.data, run->plan.size);
        trace_text_char(text, ']');
    }
    trace_text_string(text, ",\n\"tests\":[");
    for (size_t i = 0; i < run->count; i++) {
        /* Tests that did not run have no result, but a merged run lists
         * them. */
        if (run->results[i].outcome == TEST_LOG_OUTCOME_NONE &&
            !run->source_count)
            continue;
        trace_text_string(text, some ? ",\n" : "\n");
        put_result(text, run, &run->results[i]);
        some = true;
        if (flush)
            flush(text, out);
    }
    trace_text_string(text, "\n]}\n");
}

void test_log_run_json(struct trace_text *text, const struct test_log_run *run)
{
    put_run(text, run, NULL, NULL);
}

/* A run may have 100,000 tests. */
static void flush(struct trace_text *text, FILE *out)
{
    enum { MOST = 64 << 10 };

    if (text->failed || text->size < MOST)
        return;
    fwrite(text->data, 1, text->size, out);
    trace_text_clear(text);
}

int test_log_write_run_json(const struct test_log_run *run, const char *name)
{
    struct trace_text text = {0};
    struct trace_file file;
    bool failed;

    if (test_log_create(run, name, &file))
        return -1;
    put_run(&text, run, flush, file.stream);
    failed = text.failed;
    if (!failed)
        fwrite(text.data, 1, text.size, file.stream);
    trace_text_free(&text);
    if (!failed)
        return trace_file_commit(&file);
    trace_file_abandon(&file);
    errno = ENOMEM;
    return -1;
}

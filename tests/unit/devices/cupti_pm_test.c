/* cupti_pm_test.c: samples hardware counters. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/devices.h"
#include "tests/support/e2e.h"
#include "trace/devices/cupti/pm.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* Defines a test that runs for each row of a table. */
#define EACH_ROW(test, rows)                                                   \
    ParameterizedTestParameters(cupti_pm, test)                                \
    {                                                                          \
        static unsigned numbers[COUNT(rows)];                                  \
                                                                               \
        for (unsigned i = 0; i < COUNT(rows); i++)                             \
            numbers[i] = i;                                                    \
        return cr_make_param_array(unsigned, numbers, COUNT(rows));            \
    }                                                                          \
                                                                               \
    ParameterizedTest(unsigned *row, cupti_pm, test)

TestSuite(cupti_pm, .init = devices_init);

/* Records a program that uses its devices for so many milliseconds. */
static struct trace_reader *sampled(const char *options, unsigned ms)
{
    devices_options(options);
    devices_use(0);
    devices_begin();
    devices_launch(1);
    usleep(ms * 1000);
    return test_read();
}

static const char *warning(struct trace_reader *reader)
{
    static char text[1024];
    struct trace_entry entry;

    text[0] = '\0';
    cr_assert_eq(trace_reader_rewind(reader), 0);
    while (trace_reader_next(reader, &entry)) {
        struct trace_values values = trace_values_of(&entry);
        struct trace_value value;

        if (entry.kind == TRACE_ENTRY_EVENT &&
            entry.site->level == TRACE_LEVEL_WARN &&
            trace_values_next(&values, &value))
            snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%.*s",
                     text[0] ? "\n" : "", (int)value.size, value.as.text);
    }
    return text;
}

static unsigned count_calls(const char *name)
{
    char *calls = devices_calls(), *line = calls;
    unsigned count = 0;

    while ((line = strstr(line, name))) {
        count += line == calls || line[-1] == '\n';
        line++;
    }
    return count;
}

static unsigned count_samples(struct trace_reader *reader)
{
    struct trace_entry entry;
    unsigned count = 0;

    cr_assert_eq(trace_reader_rewind(reader), 0);
    while (trace_reader_next(reader, &entry))
        count += entry.kind == TRACE_ENTRY_COUNTERS;
    return count;
}

/* ---- Samples ---- */

Test(cupti_pm, records_the_counters_of_each_interval)
{
    static const char *const names[] = {
        "GPU active %",      "SM active %",       "occupancy %",
        "tensor active %",   "DRAM read %",       "DRAM write %",
        "PCIe read bytes/s", "PCIe write bytes/s"};
    struct trace_reader *reader =
        sampled("gpu_pm_sample_counters=default", 300);
    struct trace_entry entry;
    uint64_t last = 0;
    unsigned count = 0;

    while (trace_reader_next(reader, &entry)) {
        struct trace_values values = trace_values_of(&entry);
        struct trace_value value;

        if (entry.kind != TRACE_ENTRY_COUNTERS)
            continue;
        cr_expect_eq(entry.at.device, 0);
        cr_expect_eq(entry.end - entry.time, 500000);
        cr_expect(!count || entry.time == last, "sample %u", count);
        last = entry.end;
        cr_assert_eq(entry.site->field_count, 8);
        count++;
        for (unsigned i = 0; i < 8; i++) {
            cr_assert(trace_values_next(&values, &value));
            cr_expect_str_eq(entry.site->fields[i], names[i]);
            cr_expect_eq(value.type, TRACE_TYPE_F64);
            cr_expect_eq(value.as.f, 10 * i + 5 * (count % 2));
        }
    }
    cr_expect_gt(count, 100);
    cr_expect_eq(strtoul(devices_meta(reader, "pm_samples"), NULL, 10), count);
    cr_expect_str_eq(devices_meta(reader, "pm_foreign"), "0");
    cr_expect_str_eq(devices_meta(reader, "clocks"), "locked");
    cr_expect(strstr(devices_meta(reader, "device.0.counters"),
                     "dram__read_throughput.avg.pct"));
    cr_expect_str_eq(warning(reader), "");
}

Test(cupti_pm, samples_nothing_unless_it_is_asked_to)
{
    struct trace_reader *reader = sampled("", 20);

    cr_expect_eq(count_samples(reader), 0);
    cr_expect_eq(count_calls("Initialize"), 0);
    cr_expect_str_eq(devices_meta(reader, "clocks"), "");
}

/* Disable may end all of CUPTI. */
Test(cupti_pm, gives_the_device_free_after_the_last_record)
{
    sampled("gpu_pm_sample_counters=default", 50);

    char *calls = devices_calls();
    const char *stop = strstr(calls, "\nStop 0\n");
    const char *flush = strstr(calls, "\nFlushAll 1\n");
    const char *disable = strstr(calls, "\nDisable 0\n");

    cr_assert(stop && flush && disable, "%s", calls);
    cr_expect_lt(stop, flush);
    cr_expect_lt(flush, disable);
    cr_expect_not(strstr(disable, "FlushAll"));
}

Test(cupti_pm, samples_each_device_that_the_options_allow)
{
    struct trace_reader *reader;
    struct trace_entry entry;
    unsigned devices = 0;

    setenv("DRIVER_DEVICES", "3", 1);
    reader = sampled("gpu_pm_sample_counters=default,"
                     "gpu_num_chips_to_profile_per_task=2",
                     50);
    while (trace_reader_next(reader, &entry))
        if (entry.kind == TRACE_ENTRY_COUNTERS)
            devices |= 1U << entry.at.device;
    cr_expect_eq(devices, 3);
}

Test(cupti_pm, passes_its_options_on)
{
    sampled("gpu_pm_sample_counters=default,gpu_pm_sample_interval_us=5000,"
            "gpu_pm_sample_buffer_size_per_gpu_mb=128",
            50);
    cr_expect_eq(count_calls("interval 5000000\n"), 1);
    cr_expect_eq(count_calls("SetConfig 134217728\n"), 1);
    cr_expect_eq(count_calls("GetCounterDataSize 64\n"), 1);
    cr_expect_eq(count_calls("trigger 1\n"), 1);
    cr_expect_eq(count_calls("append 1\n"), 1);
}

static const struct {
    const char *chip, *trigger, *append;
} chips[] = {{"TU102", "trigger 0\n", "append 0\n"},
             {"GA100", "trigger 0\n", "append 1\n"},
             {"GA102", "trigger 1\n", "append 1\n"}};

EACH_ROW(counts_cycles_where_a_chip_cannot_measure_time, chips)
{
    devices_set("PM_CHIP", chips[*row].chip);
    sampled("gpu_pm_sample_counters=default", 20);
    cr_expect_eq(count_calls(chips[*row].trigger), 1);
    cr_expect_eq(count_calls(chips[*row].append), 1);
}

Test(cupti_pm, waits_until_the_driver_has_started)
{
    devices_set("PM_LATE", "3");
    cr_expect_gt(count_samples(sampled("gpu_pm_sample_counters=default", 200)),
                 10);
}

Test(cupti_pm, decodes_again_while_the_image_is_full)
{
    devices_set("PM_ROOM", "7");
    cr_expect_gt(count_samples(sampled("gpu_pm_sample_counters=default", 250)),
                 300);
}

Test(cupti_pm, leaves_out_what_is_no_number)
{
    struct trace_reader *reader;
    struct trace_entry entry;

    devices_set("PM_NAN", "1");
    reader = sampled("gpu_pm_sample_counters=default", 50);
    while (trace_reader_next(reader, &entry)) {
        struct trace_values values = trace_values_of(&entry);
        struct trace_value value;

        if (entry.kind != TRACE_ENTRY_COUNTERS)
            continue;
        cr_expect(trace_values_next(&values, &value));
        cr_expect_eq(value.type, TRACE_TYPE_F64);
        cr_expect(trace_values_next(&values, &value));
        cr_expect_eq(value.type, TRACE_TYPE_EMPTY);
    }
    cr_expect_gt(count_samples(reader), 10);
}

/* ---- Several recordings, and children ---- */

Test(cupti_pm, samples_for_each_recording_of_a_process)
{
    struct trace_reader *reader = sampled("gpu_pm_sample_counters=default", 50);

    test_record();
    devices_launch(1);
    usleep(50000);
    reader = test_read();
    cr_expect_gt(count_samples(reader), 10);
    cr_expect_eq(count_calls("Enable 0"), 2);
    cr_expect_eq(count_calls("GetChipName 0"), 2);
    cr_expect_eq(count_calls("HostInitialize"), 1, "counters are chosen once");
}

Test(cupti_pm, leaves_devices_to_the_parent_in_a_forked_child)
{
    struct trace_reader *reader;
    pid_t pid;

    devices_options("gpu_pm_sample_counters=default");
    devices_use(0);
    devices_begin();
    devices_launch(1);
    usleep(50000);
    pid = fork();
    if (!pid)
        exit(0); /* which flushes */
    cr_assert_eq(waitpid(pid, NULL, 0), pid);
    cr_expect_eq(count_calls("Stop "), 0);
    reader = test_read();
    cr_expect_eq(count_calls("Stop "), 1);
    cr_expect_gt(count_samples(reader), 10);
}

/* ---- Failures ---- */

static const struct {
    const char *name, *value, *options, *warning;
} failures[] = {
    {"PM_FAIL", "Enable:26", "default",
     "counters of GPU 0 are not sampled: another process samples it"},
    {"PM_FAIL", "Enable:35", "default",
     "counters of GPU 0 are not sampled: "
     "https://developer.nvidia.com/ERR_NVGPUCTRPERM: be root, or load the "
     "driver with NVreg_RestrictProfilingToAdminUsers=0"},
    {"PM_FAIL", "Enable:43", "default",
     "counters of GPU 0 are not sampled: it is divided (MIG)"},
    {"PM_FAIL", "Start:27", "default",
     "counters of GPU 0 are not sampled: cuptiPmSamplingStart returned 27 "
     "CUPTI_ERROR_NOT_SUPPORTED"},
    {"PM_FAIL", "Initialize:35", "default",
     "counters of GPU 0 are not sampled: "
     "https://developer.nvidia.com/ERR_NVGPUCTRPERM: be root, or load the "
     "driver with NVreg_RestrictProfilingToAdminUsers=0"},
    {"PM_FAIL", "HostInitialize:999", "default",
     "counters of GPU 0 are not sampled: cuptiProfilerHostInitialize returned "
     "999 CUPTI_ERROR_UNKNOWN"},
    {"PM_LACKS", "vgpu", "default",
     "counters of GPU 0 are not sampled: it is virtual (vGPU)"},
    {"PM_LACKS", "any", "default",
     "counters of GPU 0 are not sampled: CUPTI does not support it"},
    {"PM_OFF", "86400", "default",
     "counters have no sample: its times are of another clock"},
    {"PM_UNKNOWN", "cycle_", "sm__cycle_active+gr__cycles_active.sum",
     "gpu_pm_sample_counters: sm__cycle_active does not exist on GH100; write "
     "sm__cycles_active.avg.pct_of_peak_sustained_elapsed"},
    {"PM_UNKNOWN", "pcie", "default", ""},
    {"PM_PASSES", "two", "a__one.sum+a__two.sum",
     "gpu_pm_sample_counters: a__two.sum needs another pass, and sampling has "
     "one"},
    {"PM_PASSES", "__", "a__b",
     "gpu_pm_sample_counters: a__b needs another pass, and sampling has one"},
};

EACH_ROW(says_why_a_device_is_not_sampled, failures)
{
    char options[256];
    struct trace_reader *reader;

    snprintf(options, sizeof(options), "gpu_pm_sample_counters=%s",
             failures[*row].options);
    devices_set(failures[*row].name, failures[*row].value);
    reader = sampled(options, 500); /* the sampler's thread must have begun */
    cr_expect_str_eq(warning(reader), failures[*row].warning, "%s",
                     failures[*row].value);
}

Test(cupti_pm, names_a_library_that_cannot_sample)
{
    setenv("TRACE_CUPTI", BUILD_DIR "/tests/playback-old.so", 1);
    devices_set("API", "24");
    devices_options("gpu_pm_sample_counters=default");
    devices_begin();
    cupti_begin_flusher(); /* as with the first buffer */
    cr_expect_str_eq(warning(test_read()),
                     "counters of GPUs are not sampled: libcupti 24 lacks PM "
                     "sampling; CUDA 12.6 and newer have it");
}

Test(cupti_pm, says_that_there_is_no_device)
{
    setenv("DRIVER_DEVICES", "0", 1);
    cr_expect_str_eq(
        warning(sampled("gpu_pm_sample_counters=default", 20)),
        "counters of GPUs are not sampled: the driver has no device");
}

Test(cupti_pm, says_that_a_recording_was_too_short)
{
    cr_expect_str_eq(
        warning(sampled(
            "gpu_pm_sample_counters=default,gpu_pm_sample_interval_us=1000000",
            50)),
        "counters have no sample: the recording is shorter than two intervals "
        "of 1000000 µs");
}

/* The session begins again, and samples go on. */
Test(cupti_pm, counts_lost_samples)
{
    struct trace_reader *reader;

    devices_set("PM_OVERFLOW", "1");
    reader = sampled("gpu_pm_sample_counters=default", 300);
    cr_expect_str_eq(devices_meta(reader, "pm_overflows"), "1");
    cr_expect_eq(count_calls("Start 0"), 2);
    cr_expect_gt(count_samples(reader), 100);
    cr_expect_str_eq(warning(reader),
                     "samples of counters were lost 1 time: raise "
                     "gpu_pm_sample_interval_us or "
                     "gpu_pm_sample_buffer_size_per_gpu_mb");
}

Test(cupti_pm, ends_although_cupti_never_answers, .timeout = 60)
{
    struct trace_reader *reader;

    devices_set("PM_HANG", "1");
    reader = sampled("gpu_pm_sample_counters=default", 150);
    cr_expect_str_eq(warning(reader),
                     "CUPTI does not answer; its last samples are lost");
    cr_expect_str_eq(devices_meta(reader, "launched"), "1");
}

/* cupti_pm_versions_test.c: agrees with NVIDIA's headers and libraries about
 * the sampling of counters. These answer without a GPU.
 */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/devices.h"
#include "trace/devices/cupti/pm.h"

TestSuite(cupti_pm_versions, .init = devices_init, .timeout = 120);

static void find_toolkit(char root[PATH_MAX], const char *file,
                         char path[2 * PATH_MAX])
{
    static const char *const folders[] = {"/include", "/lib64", "/lib",
                                          "/extras/CUPTI/include",
                                          "/extras/CUPTI/lib64"};

    if (!devices_toolkit(root))
        cr_skip("no CUDA toolkit");
    for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
        snprintf(path, 2 * PATH_MAX, "%s%s/%s", root, folders[i], file);
        if (!access(path, F_OK))
            return;
    }
    cr_skip("the CUDA toolkit has no %s", file);
}

/* ---- Headers ---- */

/* X(our struct, theirs): the parameters */
#define STRUCTS(X)                                                             \
    X(head, CUpti_Profiler_Initialize_Params)                                  \
    X(support, CUpti_Profiler_DeviceSupported_Params)                          \
    X(chip, CUpti_Device_GetChipName_Params)                                   \
    X(availability, CUpti_PmSampling_GetCounterAvailability_Params)            \
    X(host, CUpti_Profiler_Host_Initialize_Params)                             \
    X(host_end, CUpti_Profiler_Host_Deinitialize_Params)                       \
    X(base_metrics, CUpti_Profiler_Host_GetBaseMetrics_Params)                 \
    X(sub_metrics, CUpti_Profiler_Host_GetSubMetrics_Params)                   \
    X(metrics, CUpti_Profiler_Host_ConfigAddMetrics_Params)                    \
    X(config_size, CUpti_Profiler_Host_GetConfigImageSize_Params)              \
    X(config, CUpti_Profiler_Host_GetConfigImage_Params)                       \
    X(passes, CUpti_Profiler_Host_GetNumOfPasses_Params)                       \
    X(values, CUpti_Profiler_Host_EvaluateToGpuValues_Params)                  \
    X(enable, CUpti_PmSampling_Enable_Params)                                  \
    X(set_config, CUpti_PmSampling_SetConfig_Params)                           \
    X(data_size, CUpti_PmSampling_GetCounterDataSize_Params)                   \
    X(data, CUpti_PmSampling_CounterDataImage_Initialize_Params)               \
    X(start, CUpti_PmSampling_Start_Params)                                    \
    X(stop, CUpti_PmSampling_Stop_Params)                                      \
    X(disable, CUpti_PmSampling_Disable_Params)                                \
    X(decode, CUpti_PmSampling_DecodeData_Params)                              \
    X(info, CUpti_PmSampling_GetCounterDataInfo_Params)                        \
    X(sample, CUpti_PmSampling_CounterData_GetSampleInfo_Params)

#define CUPTI_PM_SIZE_head CUPTI_PM_SIZE_initialize

/* X(our struct, our member, their struct, their member) */
#define MEMBERS(X)                                                             \
    X(support, device, Profiler_DeviceSupported, cuDevice)                     \
    X(support, supported, Profiler_DeviceSupported, isSupported)               \
    X(support, architecture, Profiler_DeviceSupported, architecture)           \
    X(support, sli, Profiler_DeviceSupported, sli)                             \
    X(support, vgpu, Profiler_DeviceSupported, vGpu)                           \
    X(support, confidential, Profiler_DeviceSupported, confidentialCompute)    \
    X(support, cmp, Profiler_DeviceSupported, cmp)                             \
    X(support, wsl, Profiler_DeviceSupported, wsl)                             \
    X(support, api, Profiler_DeviceSupported, api)                             \
    X(chip, device, Device_GetChipName, deviceIndex)                           \
    X(chip, name, Device_GetChipName, pChipName)                               \
    X(availability, device, PmSampling_GetCounterAvailability, deviceIndex)    \
    X(availability, size, PmSampling_GetCounterAvailability,                   \
      counterAvailabilityImageSize)                                            \
    X(availability, image, PmSampling_GetCounterAvailability,                  \
      pCounterAvailabilityImage)                                               \
    X(host, kind, Profiler_Host_Initialize, profilerType)                      \
    X(host, chip, Profiler_Host_Initialize, pChipName)                         \
    X(host, availability, Profiler_Host_Initialize, pCounterAvailabilityImage) \
    X(host, host, Profiler_Host_Initialize, pHostObject)                       \
    X(host_end, host, Profiler_Host_Deinitialize, pHostObject)                 \
    X(base_metrics, host, Profiler_Host_GetBaseMetrics, pHostObject)           \
    X(base_metrics, kind, Profiler_Host_GetBaseMetrics, metricType)            \
    X(base_metrics, names, Profiler_Host_GetBaseMetrics, ppMetricNames)        \
    X(base_metrics, count, Profiler_Host_GetBaseMetrics, numMetrics)           \
    X(sub_metrics, host, Profiler_Host_GetSubMetrics, pHostObject)             \
    X(sub_metrics, kind, Profiler_Host_GetSubMetrics, metricType)              \
    X(sub_metrics, name, Profiler_Host_GetSubMetrics, pMetricName)             \
    X(sub_metrics, count, Profiler_Host_GetSubMetrics, numOfSubmetrics)        \
    X(sub_metrics, names, Profiler_Host_GetSubMetrics, ppSubMetrics)           \
    X(metrics, host, Profiler_Host_ConfigAddMetrics, pHostObject)              \
    X(metrics, names, Profiler_Host_ConfigAddMetrics, ppMetricNames)           \
    X(metrics, count, Profiler_Host_ConfigAddMetrics, numMetrics)              \
    X(config_size, host, Profiler_Host_GetConfigImageSize, pHostObject)        \
    X(config_size, size, Profiler_Host_GetConfigImageSize, configImageSize)    \
    X(config, host, Profiler_Host_GetConfigImage, pHostObject)                 \
    X(config, size, Profiler_Host_GetConfigImage, configImageSize)             \
    X(config, image, Profiler_Host_GetConfigImage, pConfigImage)               \
    X(passes, size, Profiler_Host_GetNumOfPasses, configImageSize)             \
    X(passes, image, Profiler_Host_GetNumOfPasses, pConfigImage)               \
    X(passes, count, Profiler_Host_GetNumOfPasses, numOfPasses)                \
    X(values, host, Profiler_Host_EvaluateToGpuValues, pHostObject)            \
    X(values, image, Profiler_Host_EvaluateToGpuValues, pCounterDataImage)     \
    X(values, size, Profiler_Host_EvaluateToGpuValues, counterDataImageSize)   \
    X(values, index, Profiler_Host_EvaluateToGpuValues, rangeIndex)            \
    X(values, names, Profiler_Host_EvaluateToGpuValues, ppMetricNames)         \
    X(values, count, Profiler_Host_EvaluateToGpuValues, numMetrics)            \
    X(values, values, Profiler_Host_EvaluateToGpuValues, pMetricValues)        \
    X(enable, device, PmSampling_Enable, deviceIndex)                          \
    X(enable, sampler, PmSampling_Enable, pPmSamplingObject)                   \
    X(set_config, sampler, PmSampling_SetConfig, pPmSamplingObject)            \
    X(set_config, size, PmSampling_SetConfig, configSize)                      \
    X(set_config, image, PmSampling_SetConfig, pConfig)                        \
    X(set_config, room, PmSampling_SetConfig, hardwareBufferSize)              \
    X(set_config, interval, PmSampling_SetConfig, samplingInterval)            \
    X(set_config, trigger, PmSampling_SetConfig, triggerMode)                  \
    X(set_config, append, PmSampling_SetConfig, hwBufferAppendMode)            \
    X(data_size, sampler, PmSampling_GetCounterDataSize, pPmSamplingObject)    \
    X(data_size, names, PmSampling_GetCounterDataSize, pMetricNames)           \
    X(data_size, count, PmSampling_GetCounterDataSize, numMetrics)             \
    X(data_size, samples, PmSampling_GetCounterDataSize, maxSamples)           \
    X(data_size, size, PmSampling_GetCounterDataSize, counterDataSize)         \
    X(data, sampler, PmSampling_CounterDataImage_Initialize,                   \
      pPmSamplingObject)                                                       \
    X(data, size, PmSampling_CounterDataImage_Initialize, counterDataSize)     \
    X(data, image, PmSampling_CounterDataImage_Initialize, pCounterData)       \
    X(sampler, sampler, PmSampling_Start, pPmSamplingObject)                   \
    X(sampler, sampler, PmSampling_Stop, pPmSamplingObject)                    \
    X(sampler, sampler, PmSampling_Disable, pPmSamplingObject)                 \
    X(decode, sampler, PmSampling_DecodeData, pPmSamplingObject)               \
    X(decode, image, PmSampling_DecodeData, pCounterDataImage)                 \
    X(decode, size, PmSampling_DecodeData, counterDataImageSize)               \
    X(decode, reason, PmSampling_DecodeData, decodeStopReason)                 \
    X(decode, overflow, PmSampling_DecodeData, overflow)                       \
    X(info, image, PmSampling_GetCounterDataInfo, pCounterDataImage)           \
    X(info, size, PmSampling_GetCounterDataInfo, counterDataImageSize)         \
    X(info, total, PmSampling_GetCounterDataInfo, numTotalSamples)             \
    X(info, populated, PmSampling_GetCounterDataInfo, numPopulatedSamples)     \
    X(info, completed, PmSampling_GetCounterDataInfo, numCompletedSamples)     \
    X(sample, sampler, PmSampling_CounterData_GetSampleInfo,                   \
      pPmSamplingObject)                                                       \
    X(sample, image, PmSampling_CounterData_GetSampleInfo, pCounterDataImage)  \
    X(sample, size, PmSampling_CounterData_GetSampleInfo,                      \
      counterDataImageSize)                                                    \
    X(sample, index, PmSampling_CounterData_GetSampleInfo, sampleIndex)        \
    X(sample, begin, PmSampling_CounterData_GetSampleInfo, startTimestamp)     \
    X(sample, end, PmSampling_CounterData_GetSampleInfo, endTimestamp)

/* A header includes one of C++. */
Test(cupti_pm_versions, has_the_layout_of_the_headers)
{
    char root[PATH_MAX], header[2 * PATH_MAX], command[8 * PATH_MAX];
    struct trace_text code = {0};

    find_toolkit(root, "cupti_pmsampling.h", header);
    *strrchr(header, '/') = '\0';
    trace_text_string(&code, "#include <cstddef>\n"
                             "#include <cupti_target.h>\n"
                             "#include <cupti_profiler_target.h>\n"
                             "#include <cupti_profiler_host.h>\n"
                             "#include <cupti_pmsampling.h>\n");
#define X(ours, theirs)                                                        \
    trace_text_printf(&code, "static_assert(%s_STRUCT_SIZE == %d, \"%s\");\n", \
                      #theirs, CUPTI_PM_SIZE_##ours, #ours);
    STRUCTS(X)
#undef X
#define X(ours, member, theirs, other)                                         \
    trace_text_printf(&code,                                                   \
                      "static_assert(offsetof(CUpti_%s_Params, %s) == %zu && " \
                      "sizeof(((CUpti_%s_Params *)0)->%s) == %zu, \"%s\");\n", \
                      #theirs, #other,                                         \
                      offsetof(struct cupti_pm_##ours, member), #theirs,       \
                      #other, sizeof(((struct cupti_pm_##ours *)0)->member),   \
                      #ours "." #member);
    MEMBERS(X)
#undef X
#define TRACE_X(name, number)                                                  \
    trace_text_printf(&code, "static_assert(CUPTI_ERROR_%s == %d, \"%s\");\n", \
                      #name, number, #name);
    CUPTI_PM_RESULTS(TRACE_X)
#undef TRACE_X
#define TRACE_X(name, theirs, number)                                          \
    trace_text_printf(&code, "static_assert(%s == %d, \"%s\");\n", theirs,     \
                      number, #name);
    CUPTI_PM_CONSTANTS(TRACE_X)
#undef TRACE_X
    test_save(test_path("sizes.cpp"), code.data, code.size);
    snprintf(command, sizeof(command),
             "c++ -std=c++17 -w -I%s -I%s/include "
             "-c -o %s %s",
             header, root, test_path("sizes.o"), test_path("sizes.cpp"));
    cr_expect_eq(system(command), 0);
    trace_text_free(&code);
}

/* ---- The library ---- */

static void load_library(void)
{
    char root[PATH_MAX], path[2 * PATH_MAX];
    void *handle;

    if (dlsym(RTLD_DEFAULT, "__asan_init"))
        cr_skip("ASan does not allow what libcupti loads");
    find_toolkit(root, "libcupti.so", path);
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    cr_assert(handle, "%s", dlerror());
    if (!cupti_pm_load(handle))
        cr_skip("this libcupti cannot sample counters");
}

/* The text about counters that are left out. */
static const char *left_out(struct cupti_pm_counters *counters,
                            const char *list, const char *chip)
{
    static char text[4096];
    struct trace_text out = {0};

    cr_assert_eq(cupti_pm_choose(counters, list, chip, NULL, &out), 0, "%s",
                 chip);
    snprintf(text, sizeof(text), "%s", out.data ? out.data : "");
    trace_text_free(&out);
    return text;
}

Test(cupti_pm_versions, samples_the_default_list_in_one_pass)
{
    static const struct {
        const char *chip;
        size_t count;
    } rows[] = {{"GA100", 8}, {"GA102", 8}, {"AD102", 8},
                {"GH100", 8}, {"GB100", 6}, {"GB202", 8}};
    struct cupti_pm_counters counters;

    load_library();
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        cr_expect_str_eq(left_out(&counters, "default", rows[i].chip), "");
        cr_expect_eq(counters.count, rows[i].count, "%s: %zu", rows[i].chip,
                     counters.count);
        cr_expect_gt(counters.config_size, 0);
    }
}

Test(cupti_pm_versions, adds_to_the_default_list)
{
    struct cupti_pm_counters counters;

    load_library();
    cr_expect_str_eq(
        left_out(&counters,
                 "sm__inst_executed_realtime.sum+"
                 "sm__cycles_active.avg.pct_of_peak_sustained_elapsed",
                 "GH100"),
        "");
    cr_assert_eq(counters.count, 2);
    cr_expect_str_eq(counters.names[0], "sm__inst_executed_realtime.sum");
    cr_expect_str_eq(counters.names[1], "SM active %");
}

Test(cupti_pm_versions, drops_counters_that_do_not_exist)
{
    struct cupti_pm_counters counters;

    load_library();
    cr_expect_str_eq(
        left_out(&counters,
                 "default+sm__cycle_active.avg+nonsense+"
                 "dram__read_throughput.avg.pct_of_peak_elapsed",
                 "GH100"),
        "sm__cycle_active.avg does not exist on GH100; write "
        "sm__cycles_active.avg; nonsense does not exist on GH100; "
        "dram__read_throughput.avg.pct_of_peak_elapsed does not exist on "
        "GH100; write "
        "dram__read_throughput.avg.pct_of_peak_sustained_elapsed");
    cr_expect_eq(counters.count, 8);
}

Test(cupti_pm_versions, cuts_a_list_that_needs_several_passes)
{
    struct cupti_pm_counters counters;

    load_library();
    cr_expect_str_eq(
        left_out(&counters, "sm__throughput.avg.pct_of_peak_sustained_elapsed",
                 "GH100"),
        "sm__throughput.avg.pct_of_peak_sustained_elapsed needs another pass, "
        "and sampling has one");
    cr_expect_eq(counters.count, 0);
    cr_expect_str_eq(
        left_out(&counters, "default+sm__inst_executed_pipe_tensor.sum",
                 "GH100"),
        "sm__inst_executed_pipe_tensor.sum needs another pass, and sampling "
        "has one");
    cr_expect_eq(counters.count, 8);
}

Test(cupti_pm_versions, refuses_an_unknown_chip)
{
    struct cupti_pm_counters counters;
    struct trace_text out = {0};

    load_library();
    cr_expect_neq(cupti_pm_choose(&counters, "default", "XY100", NULL, &out),
                  0);
    trace_text_free(&out);
}

/* trace_profiler_test.c: the table of profiler options, and its parser. */
#include "trace/record/profiler.h"

#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

TestSuite(trace_profiler);

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static struct trace_profiler profiler;
static struct trace_profiler_error error;

static int parse_for(enum trace_profiler_user user, const char *text)
{
    profiler = trace_profiler_default;
    return trace_profiler_read(&profiler, text, user, &error);
}

static int parse(const char *text)
{
    return parse_for(TRACE_PROFILER_OF_TESTS, text);
}

static uint64_t value_of(const struct trace_profiler_option *option)
{
    return *(uint64_t *)((char *)&profiler + option->offset);
}

/* ---- Accepted ---- */

/* XProf's keys and defaults, as its documentation lists them, but NVTX is
 * recorded. */
static const struct {
    const char *key, *value;
} documented[] = {
    {"device_tracer_level", "1"},
    {"python_tracer_level", "0"},
    {"gpu_max_callback_api_events", "2097152"},
    {"gpu_max_activity_api_events", "2097152"},
    {"gpu_max_annotation_strings", "1048576"},
    {"gpu_enable_nvtx_tracking", "True"},
    {"gpu_enable_cupti_activity_graph_trace", "False"},
    {"gpu_dump_graph_node_mapping", "False"},
    {"gpu_num_chips_to_profile_per_task", "0"},
    {"gpu_pm_sample_counters", ""},
    {"gpu_pm_sample_interval_us", "500"},
    {"gpu_pm_sample_buffer_size_per_gpu_mb", "64"},
};

Test(trace_profiler, accepts_the_documented_defaults_for_all_users)
{
    const struct trace_profiler none = {.device_tracer_level = 0};
    char text[128];

    for (size_t i = 0; i < COUNT(documented); i++) {
        snprintf(text, sizeof(text), "%s=%s", documented[i].key,
                 documented[i].value);
        for (enum trace_profiler_user user = TRACE_PROFILER_OF_TESTS;
             user <= TRACE_PROFILER_OF_START; user++) {
            cr_expect_eq(parse_for(user, text), 0, "%s: %s", text, error.why);
            profiler.asks_gpu = none.asks_gpu;
            cr_expect_arr_eq(&profiler, &trace_profiler_default,
                             sizeof(profiler), "%s", text);
        }
    }
}

static const struct {
    const char *text;
    size_t at;
    uint64_t value;
} taken[] = {
#define AT(key) offsetof(struct trace_profiler, key)
    {"host_tracer_level=0", AT(host_tracer_level), 0},
    {"host_tracer_level=3", AT(host_tracer_level), 3},
    {"device_tracer_level=0", AT(device_tracer_level), 0},
    {" device_tracer_level = 00 ", AT(device_tracer_level), 0},
    {"device_tracer_level=0,device_tracer_level=1", AT(device_tracer_level), 1},
    {"gpu_max_callback_api_events=0", AT(gpu_max_callback_api_events), 0},
    {"gpu_max_activity_api_events=4294967295", AT(gpu_max_activity_api_events),
     UINT32_MAX},
    {"gpu_max_annotation_strings=7", AT(gpu_max_annotation_strings), 7},
    {"gpu_num_chips_to_profile_per_task=256",
     AT(gpu_num_chips_to_profile_per_task), 256},
    {"gpu_leaks=off", AT(gpu_leaks), TRACE_GPU_LEAKS_OFF},
    {"gpu_leaks=warn", AT(gpu_leaks), TRACE_GPU_LEAKS_WARN},
    {"gpu_leaks=fail", AT(gpu_leaks), TRACE_GPU_LEAKS_FAIL},
    {"gpu_pm_sample_counters=default", AT(gpu_pm_sample_counters), 1},
    {"gpu_pm_sample_counters=default,gpu_pm_sample_counters=",
     AT(gpu_pm_sample_counters), 0},
    {"gpu_pm_sample_interval_us=100", AT(gpu_pm_sample_interval_us), 100},
    {"gpu_pm_sample_buffer_size_per_gpu_mb=4096",
     AT(gpu_pm_sample_buffer_size_per_gpu_mb), 4096},
    {"compress=0", AT(compress), 0},
#undef AT
};

Test(trace_profiler, reads_each_value)
{
    for (size_t i = 0; i < COUNT(taken); i++) {
        cr_expect_eq(parse(taken[i].text), 0, "%s: %s", taken[i].text,
                     error.why);
        cr_expect_eq(*(uint64_t *)((char *)&profiler + taken[i].at),
                     taken[i].value, "%s", taken[i].text);
    }
}

Test(trace_profiler, reads_the_words_of_a_boolean)
{
    static const char *const on[] = {"1", "true", "True", "TRUE", "on", "On"};
    static const char *const off[] = {"0", "false", "False", "off", "OFF"};
    char text[128];

    for (size_t i = 0; i < COUNT(on); i++) {
        snprintf(text, sizeof(text), "gpu_enable_cupti_activity_graph_trace=%s",
                 on[i]);
        cr_expect_eq(parse(text), 0, "%s", text);
        cr_expect_eq(profiler.gpu_enable_cupti_activity_graph_trace, 1, "%s",
                     text);
    }
    for (size_t i = 0; i < COUNT(off); i++) {
        snprintf(text, sizeof(text), "compress=%s", off[i]);
        cr_expect_eq(parse(text), 0, "%s", text);
        cr_expect_eq(profiler.compress, 0, "%s", text);
    }
}

Test(trace_profiler, reads_names_of_counters)
{
    static const char *const texts[] = {
        "gpu_pm_sample_counters=a__b.avg+c__d",
        "gpu_pm_sample_counters=\"a__b.avg,c__d\",compress=0",
        "compress=0,gpu_pm_sample_counters=\"a__b.avg+c__d\""};
    char text[TRACE_COUNTERS_ROOM + 64];

    for (size_t i = 0; i < COUNT(texts); i++) {
        cr_expect_eq(parse(texts[i]), 0, "%s: %s", texts[i], error.why);
        cr_expect_str_eq(profiler.counters, "a__b.avg+c__d");
    }
    for (int room = -1; room <= 1; room++) {
        snprintf(text, sizeof(text), "gpu_pm_sample_counters=%0*d",
                 TRACE_COUNTERS_ROOM + room, 0);
        cr_expect_eq(parse(text), room < 0 ? 0 : -1);
    }
}

Test(trace_profiler, leaves_the_host_s_level_to_the_filter)
{
    cr_expect_eq(trace_profiler_default.host_tracer_level,
                 TRACE_HOST_LEVEL_UNSET);
    cr_expect_eq(parse("host_tracer_level=4"), -1);
}

Test(trace_profiler, gives_some_options_to_one_user_only)
{
    cr_expect_eq(parse_for(TRACE_PROFILER_OF_START, "limit=1M"), 0);
    cr_expect_eq(profiler.limit, 1 << 20);
    cr_expect_eq(parse_for(TRACE_PROFILER_OF_START, "compress=0"), -1);
    cr_expect_eq(parse_for(TRACE_PROFILER_OF_START, "gpu_leaks=off"), -1);
    cr_expect_eq(parse_for(TRACE_PROFILER_OF_TESTS, "limit=1M"), -1);
}

/* ---- Refused ---- */

static const struct {
    const char *text, *why;
} refused[] = {
    {"", ""},
    {"x=1", ""},
    {"=", ""},
    {"compress=1,", ""},
    {"COMPRESS=1", ""},
    {"tpu_trace_mode=TRACE_ONLY_XLA",
     "tpu_trace_mode is not supported: testlog traces no TPU; leave it out"},
    {"host_tracer_level=4",
     "host_tracer_level: unknown value \"4\"; write 0 to 3"},
    {"host_tracer_level=info",
     "host_tracer_level: unknown value \"info\"; write 0 to 3"},
    {"host_tracer_level", "host_tracer_level: unknown value \"\"; write 0 to "
                          "3"},
    {"device_tracer_level=true",
     "device_tracer_level: unknown value \"true\"; write 0 or 1"},
    {"gpu_max_callback_api_events=4294967296",
     "gpu_max_callback_api_events: unknown value \"4294967296\"; write 0 to "
     "4294967295"},
    {"gpu_max_activity_api_events=99999999999999999999",
     "gpu_max_activity_api_events: unknown value \"99999999999999999999\"; "
     "write 0 to 4294967295"},
    {"gpu_max_annotation_strings=-1",
     "gpu_max_annotation_strings: unknown value \"-1\"; write 0 to 4294967295"},
    {"gpu_max_annotation_strings=1 0",
     "gpu_max_annotation_strings: unknown value \"1 0\"; write 0 to "
     "4294967295"},
    {"gpu_num_chips_to_profile_per_task=257",
     "gpu_num_chips_to_profile_per_task: unknown value \"257\"; write 0 to "
     "256"},
    {"gpu_enable_cupti_activity_graph_trace=2",
     "gpu_enable_cupti_activity_graph_trace: unknown value \"2\"; write false "
     "or true"},
    {"compress=", "compress: unknown value \"\"; write false or true"},
    {"compress=tru", "compress: unknown value \"tru\"; write false or true"},
    {"gpu_leaks=1", "gpu_leaks: unknown value \"1\"; write off, warn or fail"},
    {"python_tracer_level=1",
     "python_tracer_level=1 is not supported: there is no Python in a C test; "
     "leave it out"},
    {"gpu_pm_sample_counters=sm__cycles_active.avg+",
     "gpu_pm_sample_counters: unknown value \"sm__cycles_active.avg+\"; write "
     "default or NAME+NAME"},
    {"gpu_pm_sample_counters=\"a,b",
     "gpu_pm_sample_counters: unknown value \"\"a,b\"; write default or "
     "NAME+NAME"},
    {"gpu_pm_sample_counters=a b",
     "gpu_pm_sample_counters: unknown value \"a b\"; write default or "
     "NAME+NAME"},
    {"gpu_pm_sample_counters=a+++b",
     "gpu_pm_sample_counters: unknown value \"a+++b\"; write default or "
     "NAME+NAME"},
    {"gpu_pm_sample_counters=gr__cycles_active.avg,sm__cycles_active.avg",
     "sm__cycles_active.avg is no option; write + between the names of "
     "counters"},
    {"gpu_pm_sample_interval_us=0",
     "gpu_pm_sample_interval_us: unknown value \"0\"; write 1 to 1000000"},
    {"gpu_pm_sample_interval_us=often",
     "gpu_pm_sample_interval_us: unknown value \"often\"; write 1 to 1000000"},
    {"gpu_pm_sample_buffer_size_per_gpu_mb=63",
     "gpu_pm_sample_buffer_size_per_gpu_mb: unknown value \"63\"; write 64 to "
     "4096"},
};

Test(trace_profiler, says_why_a_text_is_refused)
{
    for (size_t i = 0; i < COUNT(refused); i++) {
        cr_expect_eq(parse(refused[i].text), -1, "%s", refused[i].text);
        cr_expect_str_eq(error.why, refused[i].why, "%s: %s", refused[i].text,
                         error.why);
    }
    cr_expect_eq(parse_for(TRACE_PROFILER_OF_START, "limit=1"), -1);
    cr_expect_str_eq(error.why, "limit: unknown value \"1\"; write 256K to "
                                "64G");
}

Test(trace_profiler, changes_nothing_if_a_later_option_is_refused)
{
    cr_expect_eq(parse("compress=0,device_tracer_level=0,x=1"), -1);
    cr_expect_str_eq(error.key, "x");
    cr_expect_arr_eq(&profiler, &trace_profiler_default, sizeof(profiler));
}

/* ---- Writing ---- */

Test(trace_profiler, writes_the_options_that_are_not_defaults)
{
    static const char given[] =
        "host_tracer_level=2,gpu_max_activity_api_events=5,"
        "gpu_enable_cupti_activity_graph_trace=true,"
        "gpu_pm_sample_counters=default+a__b.sum,gpu_leaks=fail,"
        "compress=false";
    struct trace_text text = {0};

    cr_assert_eq(parse(given), 0);
    trace_profiler_text(&profiler, &text);
    cr_expect_str_eq(text.data, given);
    trace_text_free(&text);
    trace_profiler_text(&trace_profiler_default, &text);
    cr_expect_null(text.data);
}

/* Every option, with each of its values that is supported. */
Test(trace_profiler, reads_what_it_writes)
{
    for (const struct trace_profiler_option *option = trace_profiler_options;
         option->key && !option->only; option++) {
        char value[TRACE_PROFILER_VALUE_SIZE], text[128];

        if (option->type == TRACE_PROFILER_NAMES)
            continue;
        for (uint64_t i = option->least;
             i <= option->most + (option->type == TRACE_PROFILER_SWITCH) &&
             i < option->least + 4 && !option->missing;
             i++) {
            trace_profiler_value(option, i, value);
            snprintf(text, sizeof(text), "%s=%s", option->key, value);
            cr_expect_eq(parse(text), 0, "%s", text);
            cr_expect_eq(value_of(option), i, "%s", text);
        }
    }
}

/* ---- Random texts ---- */

static const char *const parts[] = {"=",
                                    ",",
                                    "true",
                                    "0",
                                    "1",
                                    "18446744073709551616",
                                    " ",
                                    "\t",
                                    "tpu_",
                                    "fail",
                                    "gpu_leaks",
                                    "compress",
                                    "\xff",
                                    "2097152",
                                    "-",
                                    "gpu_max_annotation_strings",
                                    "device_tracer_level",
                                    "host_tracer_level=3",
                                    "gpu_pm_sample_counters=",
                                    "a__b",
                                    "+",
                                    "\"",
                                    "%s%n"};

static void expect_rereadable(void)
{
    struct trace_text text = {0};
    struct trace_profiler again;

    trace_profiler_text(&profiler, &text);
    again = trace_profiler_of(text.data);
    again.asks_gpu = profiler.asks_gpu;
    cr_assert_arr_eq(&again, &profiler, sizeof(again), "%s", text.data);
    trace_text_free(&text);
}

Test(trace_profiler, survives_random_texts)
{
    unsigned accepted = 0, seed = 1;

    for (unsigned i = 0; i < 200000; i++) {
        char text[256] = "";
        size_t size = 0;

        for (unsigned n = (unsigned)rand_r(&seed) % 7; n; n--)
            size +=
                (size_t)snprintf(text + size, sizeof(text) - size, "%s",
                                 parts[(unsigned)rand_r(&seed) % COUNT(parts)]);
        if (!parse(text)) {
            expect_rereadable();
            accepted++;
            continue;
        }
        cr_assert_arr_eq(&profiler, &trace_profiler_default, sizeof(profiler),
                         "%s", text);
    }
    cr_expect_gt(accepted, 0);
}

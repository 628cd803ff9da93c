/* profiler.h: the options of a recording, "key=value,...". Private to the
 * project.
 *
 * One table drives parsing, --help and completion. XProf's keys have its names
 * and defaults (openxla.org/xprof/jax_profiling), except that NVTX is recorded,
 * which is free; a value that asks for what testlog lacks is refused.
 */
#ifndef TRACE_PROFILER_H
#define TRACE_PROFILER_H

#include "trace/recording.h"

/* X(key, default, ...): the rest are members of struct trace_profiler_option.
 * A new option needs no more than a row, and a line in testlog-gpu.7, or in
 * testlog-flags.7 if it is about the host. */
#define TRACE_PROFILER_OPTIONS(X)                                              \
    X(host_tracer_level, TRACE_HOST_LEVEL_UNSET, .most = 3,                    \
      .help = "records nothing, info, debug or trace of the host")             \
    X(device_tracer_level, 1, .most = 1, .gpu = true,                          \
      .help = "1 records GPU activity")                                        \
    X(python_tracer_level, 0, .most = 1,                                       \
      .missing = "there is no Python in a C test")                             \
    X(gpu_max_callback_api_events, 2 << 20, .most = UINT32_MAX, .gpu = true,   \
      .help = "records up to N calls of CUDA")                                 \
    X(gpu_max_activity_api_events, 2 << 20, .most = UINT32_MAX, .gpu = true,   \
      .help = "records up to N other GPU activities")                          \
    X(gpu_max_annotation_strings, 1 << 20, .most = UINT32_MAX, .gpu = true,    \
      .help = "joins GPU activity to up to N spans")                           \
    X(gpu_enable_nvtx_tracking, true, .type = TRACE_PROFILER_SWITCH,           \
      .help = "records NVTX ranges, or sends spans to a tool")                 \
    X(gpu_enable_cupti_activity_graph_trace, false,                            \
      .type = TRACE_PROFILER_SWITCH, .gpu = true,                              \
      .help = "records a graph's launch, not its nodes")                       \
    X(gpu_dump_graph_node_mapping, false, .type = TRACE_PROFILER_SWITCH,       \
      .gpu = true, .help = "records which span made each node of a graph")     \
    X(gpu_raw, false, .type = TRACE_PROFILER_SWITCH, .gpu = true,              \
      .help = "lets CUPTI write into the recording, and decodes it later")     \
    X(gpu_num_chips_to_profile_per_task, 0, .most = 256, .gpu = true,          \
      .help = "records only the first N GPUs; 0: all")                         \
    X(gpu_pm_sample_counters, 0, .type = TRACE_PROFILER_NAMES, .gpu = true,    \
      .words = "default|NAME+NAME",                                            \
      .help = "samples hardware counters of GPUs")                             \
    X(gpu_pm_sample_interval_us, 500, .least = 1, .most = 1000000,             \
      .gpu = true, .help = "samples them every N microseconds")                \
    X(gpu_pm_sample_buffer_size_per_gpu_mb, 64, .least = 64, .most = 4096,     \
      .gpu = true, .help = "keeps samples of a GPU in N MiB")                  \
    X(gpu_leaks, TRACE_GPU_LEAKS_WARN, .type = TRACE_PROFILER_WORD,            \
      .words = "off|warn|fail", .gpu = true, .only = TRACE_PROFILER_OF_TESTS,  \
      .help = "what a test does that leaves device memory")                    \
    X(cpu, false, .type = TRACE_PROFILER_SWITCH,                               \
      .help = "records the processor time of spans")                           \
    X(instructions, false, .type = TRACE_PROFILER_SWITCH,                      \
      .help = "records how many instructions spans execute")                   \
    X(compress, true, .type = TRACE_PROFILER_SWITCH,                           \
      .only = TRACE_PROFILER_OF_TESTS,                                         \
      .help = "compresses large recordings when a run ends")                   \
    X(functions_limit, TRACE_LIMIT_DEFAULT, .type = TRACE_PROFILER_SIZE,       \
      .least = TRACE_LIMIT_LEAST, .most = TRACE_FUNCTIONS_MOST,                \
      .help = "records up to N bytes of calls of functions")                   \
    X(limit, TRACE_LIMIT_DEFAULT, .type = TRACE_PROFILER_SIZE,                 \
      .least = TRACE_LIMIT_LEAST, .most = TRACE_LIMIT_MOST,                    \
      .only = TRACE_PROFILER_OF_START)

/* host_tracer_level without a value: the filter decides what is recorded. */
enum { TRACE_HOST_LEVEL_UNSET = 4 };

enum trace_gpu_leaks {
    TRACE_GPU_LEAKS_OFF,
    TRACE_GPU_LEAKS_WARN,
    TRACE_GPU_LEAKS_FAIL,
};

enum { TRACE_COUNTERS_ROOM = 1024 }; /* for the names of counters */

/* The options; booleans are 0 or 1, words are numbers. */
struct trace_profiler {
#define TRACE_X(key, initial, ...) uint64_t key;
    TRACE_PROFILER_OPTIONS(TRACE_X)
#undef TRACE_X
    bool asks_gpu;                      /* an option about GPUs was given */
    char counters[TRACE_COUNTERS_ROOM]; /* of gpu_pm_sample_counters, "A+B" */
};

extern const struct trace_profiler trace_profiler_default;

enum trace_profiler_type {
    TRACE_PROFILER_NUMBER,
    TRACE_PROFILER_SWITCH,
    TRACE_PROFILER_WORD,
    TRACE_PROFILER_SIZE,  /* as trace_parse_size parses it */
    TRACE_PROFILER_NAMES, /* of counters; 0: none */
};

/* The source of options; some are for one source only. */
enum trace_profiler_user {
    TRACE_PROFILER_OF_US,    /* trace_profiler_text */
    TRACE_PROFILER_OF_TESTS, /* --trace-options */
    TRACE_PROFILER_OF_START, /* trace_start */
};

struct trace_profiler_option {
    const char *key;
    uint64_t initial, least, most;
    enum trace_profiler_type type;
    enum trace_profiler_user only; /* 0: for all */
    bool gpu;
    const char *words;   /* of a word, "off|warn|fail" */
    const char *missing; /* why only the default is accepted; NULL: all are */
    const char *help;
    size_t offset; /* in struct trace_profiler */
};

/* All options; one without a key is the last. */
extern const struct trace_profiler_option trace_profiler_options[];

/* Why a text was refused. */
struct trace_profiler_error {
    char key[64];
    char why[256]; /* empty: there is no such key */
};

/* trace_profiler_read adds the options of a text to those that are set. Commas
 * within quotes separate names. Returns -1 and changes nothing if an option is
 * refused. */
int trace_profiler_read(struct trace_profiler *, const char *text,
                        enum trace_profiler_user,
                        struct trace_profiler_error *);

/* trace_profiler_meters returns those of the options that are meters, as in
 * struct trace_options. */
unsigned trace_profiler_meters(const struct trace_profiler *);

/* trace_profiler_text writes the options that differ from the defaults, so that
 * trace_profiler_read can parse them. */
void trace_profiler_text(const struct trace_profiler *, struct trace_text *);

/* trace_profiler_of returns the options of such a text; the defaults for NULL.
 */
struct trace_profiler trace_profiler_of(const char *text);

/* trace_host_level_set makes the value of host_tracer_level decide what later
 * recordings of the process have. Fails with EBUSY if a subscriber decides
 * that. trace_host_level_unset undoes it. */
int trace_host_level_set(uint64_t level);
void trace_host_level_unset(void);

/* trace_profiler_values writes which values an option can have: "0..3",
 * "off|warn|fail". trace_profiler_value writes one value; "" for names. */
enum { TRACE_PROFILER_VALUE_SIZE = 32 };
void trace_profiler_values(const struct trace_profiler_option *,
                           char text[TRACE_PROFILER_VALUE_SIZE]);
void trace_profiler_value(const struct trace_profiler_option *, uint64_t value,
                          char text[TRACE_PROFILER_VALUE_SIZE]);

#endif

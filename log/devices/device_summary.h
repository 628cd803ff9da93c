/* device_summary.h: what devices did in a recording, in numbers. Private to the
 * project.
 */
#ifndef LOG_DEVICE_SUMMARY_H
#define LOG_DEVICE_SUMMARY_H

#include "log/filter/filter.h"
#include "trace/read/reader.h"

/* X(NAME, key in run.json, word for people) */
#define LOG_DEVICE_WORKS(X)                                                    \
    X(KERNEL, "kernels", "kernels")                                            \
    X(GRAPH, "graphs", "graphs")                                               \
    X(MEMSET, "memsets", "memset")                                             \
    X(COMPILE, "compiles", "compile")                                          \
    X(SYNC, "syncs", "sync")

enum log_device_work_kind {
#define LOG_X(name, key, word) LOG_DEVICE_##name,
    LOG_DEVICE_WORKS(LOG_X)
#undef LOG_X
        LOG_DEVICE_WORK_COUNT
};

/* X(NAME, direction): an activity's name is "Memcpy" and the direction. OTHER
 * has copies of any other name. */
#define LOG_DEVICE_COPIES(X)                                                   \
    X(HTOD, "HtoD")                                                            \
    X(DTOH, "DtoH")                                                            \
    X(DTOD, "DtoD")                                                            \
    X(PTOP, "PtoP")                                                            \
    X(HTOH, "HtoH")                                                            \
    X(OTHER, "other")

enum log_device_copy {
#define LOG_X(name, direction) LOG_DEVICE_COPY_##name,
    LOG_DEVICE_COPIES(LOG_X)
#undef LOG_X
        LOG_DEVICE_COPY_COUNT
};

/* Times are in ns. That of kernels, copies and sets is the sum of their
 * durations. A compilation or wait within another one of its thread adds
 * nothing to either number. */
struct log_device_work {
    uint64_t count, time, bytes;
};

/* Memory that was allocated and not released. */
struct log_device_leaks {
    uint64_t count, bytes;
    uint64_t async; /* bytes that came from memory pools */
    uint64_t largest;
    char *memory; /* the kind of the largest, such as "device" */
    char *spans;  /* around it, or NULL */
};

/* An error of a kernel, which the device reports to a later call. All zero:
 * there was none. */
struct log_device_fault {
    char *error;       /* such as "cudaErrorIllegalAddress" */
    char *call;        /* that returned it */
    uint64_t launches; /* before it, whose work has no record */
    char *spans;       /* around the first of them, or NULL */
};

/* Samples of a counter, summed up. */
struct log_device_counter {
    char *name;     /* with its unit behind a space, "SM active %" */
    double sum;     /* of values, each times its ns */
    double time;    /* ns */
    double most;    /* value */
    uint64_t count; /* samples */
};

struct log_device_counters {
    struct log_device_counter *all;
    size_t count, capacity;
};

/* At any moment between the first and the last activity of a device, a device
 * is busy or all are idle. Strings may be NULL. */
struct log_device_summary {
    struct log_device_work works[LOG_DEVICE_WORK_COUNT];
    struct log_device_work copies[LOG_DEVICE_COPY_COUNT];
    uint64_t longest; /* kernel */
    char *longest_name;
    uint64_t busy, span; /* span: from the first to the last activity */
    uint64_t gap;        /* the longest time in which all were idle */
    char *gap_before;    /* the activity that ended it */
    struct log_device_leaks leaks;
    struct log_device_fault fault; /* the first */
    struct log_device_counters counters;
};

extern const char *const log_device_work_keys[LOG_DEVICE_WORK_COUNT];
extern const char *const log_device_directions[LOG_DEVICE_COPY_COUNT];

/* log_device_summary_read sums up a recording, whose entries it reads from the
 * start; the caller frees the summary. Returns NULL if there was no activity,
 * or without memory. */
struct log_device_summary *log_device_summary_read(struct trace_reader *);

/* log_device_leaks_clear frees what is known about leaks. */
void log_device_leaks_clear(struct log_device_leaks *);

/* log_device_summary_add adds the numbers of `one` to `all`; of gaps, kernels
 * and leaks, the largest one is kept. */
void log_device_summary_add(struct log_device_summary *all,
                            const struct log_device_summary *one);
void log_device_summary_free(struct log_device_summary *);

/* log_device_summary_some returns whether there is anything to print. */
bool log_device_summary_some(const struct log_device_summary *);

/* log_device_busy returns the busy share, from 0 to 1. */
double log_device_busy(const struct log_device_summary *);

/* log_device_rate returns bytes in a second. */
double log_device_rate(const struct log_device_work *);

/* ---- device_counters.c ---- */

/* log_counters_add adds the values of an entry of kind COUNTERS,
 * log_counters_merge those of `one`. Both return false without memory. */
bool log_counters_add(struct log_device_counters *, const struct trace_entry *);
bool log_counters_merge(struct log_device_counters *,
                        const struct log_device_counters *one);
void log_counters_free(struct log_device_counters *);

/* log_counter_mean returns the mean over the time that was sampled. */
double log_counter_mean(const struct log_device_counter *);

/* ---- device_fault.c ---- */

/* log_faults_add adds an activity; they come in order of their begin.
 * log_faults_take returns the fault, and frees the rest. */
struct log_faults {
    struct trace_table launches; /* their spans, by correlation */
    struct trace_entry failed;   /* the call; its `place` is 0: none */
};
void log_faults_add(struct log_faults *, const struct trace_entry *);
struct log_device_fault log_faults_take(struct log_faults *,
                                        const struct trace_reader *);
void log_device_fault_free(struct log_device_fault *);

/* log_device_fault_text adds "cudaErrorIllegalAddress, returned by ...". */
void log_device_fault_text(struct trace_text *out,
                           const struct log_device_fault *);

/* ---- device_summary_text.c ---- */

/* log_bytes adds a number of bytes as "1.0 MiB". */
void log_bytes(struct trace_text *out, uint64_t bytes);

/* log_counter_value adds a value of a counter of that name, "63 %",
 * "1.2 GiB/s". log_counter_title returns how many bytes of the name are before
 * its unit. */
void log_counter_value(struct trace_text *out, const char *name, double value);
size_t log_counter_title(const char *name);

/* log_device_table adds a summary as aligned rows, log_device_line in one line
 * without its newline. */
void log_device_table(struct trace_text *out,
                      const struct log_device_summary *);
void log_device_line(struct trace_text *out, const struct log_device_summary *);

/* log_device_leaks_text adds "2 allocations, 1.0 MiB; the largest ...". */
void log_device_leaks_text(struct trace_text *out,
                           const struct log_device_leaks *);

#endif

/* device_state.h: what was recorded about devices. Private. */
#ifndef TESTLOG_DEVICE_STATE_H
#define TESTLOG_DEVICE_STATE_H

#include "harness/run/model/device_members.h"
#include "trace/backends.h"
#include "trace/record/zones.h"

/* ---- CUDA: "gpu" in run.json ---- */

/* X(NAME, word): in a run, a later state replaces an earlier one. */
#define TEST_LOG_GPU_STATES(X)                                                 \
    X(UNUSED, "unused")                                                        \
    X(OFF, "off")                                                              \
    X(NO_DRIVER, "no-driver")                                                  \
    X(NO_LIBCUPTI, "no-libcupti")                                              \
    X(TOO_OLD, "too-old")                                                      \
    X(BUSY, "busy")                                                            \
    X(DENIED, "denied")                                                        \
    X(ON, "on")                                                                \
    X(PLAYBACK, "playback")

enum test_log_gpu_state {
#define TEST_LOG_X(name, word) TEST_LOG_GPU_##name,
    TEST_LOG_GPU_STATES(TEST_LOG_X)
#undef TEST_LOG_X
};

/* X(NAME, word): what NVTX is used for; in a run, a later state replaces an
 * earlier one. */
#define TEST_LOG_NVTX_STATES(X)                                                \
    X(OFF, "off")                                                              \
    X(RECEIVING, "receiving")                                                  \
    X(SENDING, "sending")                                                      \
    X(NOT_LOADED, "not-loaded")

enum test_log_nvtx_state {
#define TEST_LOG_X(name, word) TEST_LOG_NVTX_##name,
    TEST_LOG_NVTX_STATES(TEST_LOG_X)
#undef TEST_LOG_X
};

/* X(name in the recording, after "gpu.", and in run.json). */
#define TEST_LOG_GPU_COUNTS(X)                                                 \
    X(launches)                                                                \
    X(launched)                                                                \
    X(captured)                                                                \
    X(lost)                                                                    \
    X(orphans)                                                                 \
    X(dropped)                                                                 \
    X(dropped_callback_events)                                                 \
    X(dropped_activity_events)                                                 \
    X(dropped_annotations)                                                     \
    X(undecoded) X(bad_times) X(pm_samples) X(pm_foreign) X(pm_overflows)

/* The state of a test or a run. */
struct test_log_gpu {
    enum test_log_gpu_state state;
    char *notice, *library, *api, *kinds, *refused, *source, *graph_level;
    char *clocks; /* "locked" if counters were sampled, or NULL */
#define TEST_LOG_X(name) uint64_t name;
    TEST_LOG_GPU_COUNTS(TEST_LOG_X)
#undef TEST_LOG_X
    enum test_log_nvtx_state nvtx;
    char *nvtx_tool;                      /* the library that NVTX sends to */
    char *nvtx_notice;                    /* why it was not loaded, or NULL */
    char *devices[TEST_LOG_DEVICE_NAMES]; /* by ordinal; NULL: none */
    bool cuda;     /* a program contains a CUDA library */
    bool asked;    /* the user asks about GPUs */
    bool no_leaks; /* memory left allocated is no leak */
};

extern const struct test_log_member test_log_gpu_members[];

const char *test_log_gpu_word(enum test_log_gpu_state);

/* test_log_gpu_state_of finds the state for a word; false if the word is NULL
 * or unknown. */
bool test_log_gpu_state_of(const char *word, enum test_log_gpu_state *);

/* test_log_gpu_read reads what a recording contains about GPUs, to be freed;
 * false if it contains nothing. */
bool test_log_gpu_read(struct test_log_gpu *, const struct trace_reader *);
void test_log_gpu_free(struct test_log_gpu *);

/* test_log_gpu_print prints why no GPU activity was recorded, if the program
 * uses CUDA or the user asks about GPUs, and why NVTX was not sent. */
void test_log_gpu_print(const struct test_log_gpu *);

/* ---- Other back ends: a member of run.json each ---- */

/* What the back end of a row recorded in a test or a run. The zero value is
 * that of an unused one. */
struct test_log_device {
    unsigned state; /* of test_log_device_states */
    char *notice;   /* NULL: none */
    char *clock;    /* of the first device, and its error; NULL: none */
#define TEST_LOG_X(name) uint64_t name;
    TRACE_BACKEND_COUNTS(TEST_LOG_X)
#undef TEST_LOG_X
};

extern const struct test_log_member test_log_device_members[];
extern const char *const test_log_device_states[];

void test_log_device_read(struct test_log_device *, enum trace_backend_row,
                          struct trace_reader *);

/* ---- Zones of kernels: "zones" in run.json ---- */

/* The counts of a test or a run. The zero value is that of one without rings.
 */
struct test_log_zones {
    char *clock; /* of the first test with rings; NULL: there is none */
#define TEST_LOG_X(name) uint64_t name;
    TRACE_ZONE_COUNTS(TEST_LOG_X)
#undef TEST_LOG_X
};

extern const struct test_log_member test_log_zones_members[];

/* ---- All of a run ---- */

struct test_log_run;

/* test_log_devices_object returns the object `number` of a run, its name in
 * run.json and its members; NULL behind the last one. */
void *test_log_devices_object(struct test_log_run *, size_t number,
                              const char **name,
                              const struct test_log_member **);

/* test_log_devices_members adds all objects as members of a JSON object, each
 * after a comma and a line's end. */
void test_log_devices_members(struct trace_text *, const struct test_log_run *);
void test_log_devices_free(struct test_log_run *);

/* test_log_devices_without_cuda returns whether another device was used and no
 * program uses CUDA: why that was not recorded is then of no interest. */
bool test_log_devices_without_cuda(const struct test_log_run *);

/* test_log_devices_print prints why nothing was recorded of other devices that
 * were used. */
void test_log_devices_print(const struct test_log_run *);

#endif

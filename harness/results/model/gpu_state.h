/* gpu_state.h: what was recorded about GPUs. Private. */
#ifndef TESTLOG_GPU_STATE_H
#define TESTLOG_GPU_STATE_H

#include <testlog/log.h>

#include "trace/read/reader.h"

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

/* X(name in the recording, after "gpu.", and in run.json). Counts are added up.
 */
#define TEST_LOG_GPU_TEXTS(X)                                                  \
    X(notice) X(library) X(api) X(kinds) X(refused) X(source) X(graph_level)
#define TEST_LOG_GPU_COUNTS(X)                                                 \
    X(launches)                                                                \
    X(launched)                                                                \
    X(captured)                                                                \
    X(lost)                                                                    \
    X(orphans)                                                                 \
    X(dropped)                                                                 \
    X(dropped_callback_events)                                                 \
    X(dropped_activity_events) X(dropped_annotations) X(undecoded) X(bad_times)

enum { TEST_LOG_GPU_DEVICES = 64 };

/* The state of a test or a run. The texts of a run come from the first test
 * with the run's state. */
struct test_log_gpu {
    enum test_log_gpu_state state;
#define TEST_LOG_X(name) char *name;
    TEST_LOG_GPU_TEXTS(TEST_LOG_X)
#undef TEST_LOG_X
#define TEST_LOG_X(name) uint64_t name;
    TEST_LOG_GPU_COUNTS(TEST_LOG_X)
#undef TEST_LOG_X
    enum test_log_nvtx_state nvtx;
    char *nvtx_tool;                     /* the library that NVTX sends to */
    char *nvtx_notice;                   /* why it was not loaded, or NULL */
    char *devices[TEST_LOG_GPU_DEVICES]; /* names by ordinal; NULL: none */
    bool cuda;                           /* a program contains a CUDA library */
    bool asked;                          /* the user asks about GPUs */
    bool no_leaks;                       /* memory left allocated is no leak */
};

const char *test_log_gpu_word(enum test_log_gpu_state);

/* test_log_gpu_state_of finds the state for a word; false if the word is NULL
 * or unknown. */
bool test_log_gpu_state_of(const char *word, enum test_log_gpu_state *);

/* test_log_nvtx_state_of does the same for a state of NVTX. */
bool test_log_nvtx_state_of(const char *word, enum test_log_nvtx_state *);

/* test_log_gpu_read reads what a recording contains about GPUs, to be freed;
 * false if it contains nothing. */
bool test_log_gpu_read(struct test_log_gpu *, const struct trace_reader *);
void test_log_gpu_add(struct test_log_gpu *all, const struct test_log_gpu *one);
void test_log_gpu_device(struct test_log_gpu *, size_t ordinal,
                         const char *name);
void test_log_gpu_free(struct test_log_gpu *);

/* test_log_gpu_members adds members of a JSON object; the caller adds the
 * braces. */
void test_log_gpu_members(struct trace_text *, const struct test_log_gpu *);

/* test_log_put_text adds a member whose value is a text, unless that is NULL.
 */
void test_log_put_text(struct trace_text *, const char *name,
                       const char *value);

/* test_log_meta_text returns a recording's metadata, to be freed; NULL if there
 * is none or it is empty. test_log_meta_number returns a number, 0 if there is
 * none. test_log_replace_text replaces a text by a copy of another one, which
 * may be NULL. */
char *test_log_meta_text(const struct trace_reader *, const char *name);
uint64_t test_log_meta_number(const struct trace_reader *, const char *name);
void test_log_replace_text(char **to, const char *text);

/* test_log_gpu_print prints why no GPU activity was recorded, if the program
 * uses CUDA or the user asks about GPUs, and why NVTX was not sent. */
void test_log_gpu_print(const struct test_log_gpu *);

#endif

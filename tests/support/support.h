/* support.h: helpers of the unit tests. */
#ifndef TESTS_SUPPORT_H
#define TESTS_SUPPORT_H

/* Declares the library's functions, whatever flags the tests are built with. */
#ifndef TRACING
#    define TRACING
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <testlog/log.h>
#include <testlog/trace.h>

#include "trace/read/reader.h"

#ifndef TESTS_DIR
#    define TESTS_DIR "tests"
#endif

/* TEST_SITE initializes a call site: kind and level without their prefixes;
 * field names as an array, or NULL. */
#define TEST_SITE(kind_, level_, name_, target_, fields_, count_)              \
    {                                                                          \
        .name = (name_), .target = (target_), .file = "src/lib.rs",            \
        .function = "function", .fields = (fields_), .line = 42,               \
        .level = TRACE_LEVEL_##level_, .kind = TRACE_SITE_##kind_,             \
        .field_count = (count_)                                                \
    }

/* test_keep returns its memory, which is then kept until the process ends, and
 * is no leak. */
void *test_keep(void *memory);

/* test_folder creates a folder for the current test and removes it when the
 * process ends; use it as a suite's .init. */
void test_folder(void);

/* test_remove_tree removes a folder and everything in it. */
void test_remove_tree(const char *path);

/* test_path returns the path of a file in that folder. The text is overwritten
 * after eight calls. */
const char *test_path(const char *name);

/* test_load returns a whole file with a NUL appended, which is kept; test_save
 * writes one. */
char *test_load(const char *path, size_t *size);
void test_save(const char *path, const void *data, size_t size);

/* test_decimal_comma switches to a locale with a decimal comma, that of the
 * build folder if none is installed; returns false if it cannot. */
bool test_decimal_comma(void);

/* ---- Recordings ---- */

/* test_begin creates a folder and begins a recording; use it as a suite's
 * .init. test_record begins one. test_open opens it, test_read ends it first;
 * the reader is closed after 32 others, or when the process ends. */
void test_begin(void);
void test_record(void);
void test_record_limit(uint64_t limit);
struct trace_reader *test_open(void);
struct trace_reader *test_read(void);

/* test_find finds the first entry of a kind whose span or event has that name
 * (NULL: any), from the beginning of the recording. */
bool test_find(struct trace_reader *, enum trace_entry_kind, const char *name,
               struct trace_entry *);

/* test_count counts the entries of a kind with that name. */
size_t test_count(struct trace_reader *, enum trace_entry_kind,
                  const char *name);

/* test_lines returns the recording's lines, which are kept. */
char *test_lines(struct trace_reader *, const char *filter,
                 const struct log_style *);

/* test_plain returns the lines without times and colours, which are kept. */
char *test_plain(struct trace_reader *);

/* test_rich records every kind of entry, on two threads. */
void test_rich(void);

/* test_kernel returns the activity of the kernel "identity" on device 1 and
 * stream 7, launched by this thread. */
struct trace_activity test_kernel(uint64_t begin, uint64_t end);

/* test_block begins a span inside `depth` other blocks, each in a function of
 * its own: a span of `site`, below `span` if that is not NULL; or, without a
 * site, it enters `span`. */
struct trace_span_ref test_block(size_t depth, struct trace_site *site,
                                 const struct trace_span_ref *span,
                                 size_t count, const struct trace_value *);

/* ---- Random numbers, the same in every run ---- */

void test_seed(uint64_t seed);
uint32_t test_random(void);
uint32_t test_below(uint32_t limit);
void test_random_bytes(void *bytes, size_t size);

/* ---- Children and failures ---- */

/* test_child runs `body` in a forked child and returns its wait status. */
int test_child(void (*body)(void));

/* test_thread runs `body` on a new thread and waits for its end. */
void test_thread(void *(*body)(void *), void *context);

/* test_reuse_id ends the recording and gives all threads but the main one the
 * same id, as if the kernel had used it again for each. */
void test_reuse_id(uint32_t tid);

/* test_until_waits returns once a thread of this process waits in the kernel.
 */
void test_until_waits(pid_t thread);

/* test_can_fail_memory returns whether allocations can be made to fail,
 * which a sanitizer prevents. test_fail_memory makes the calling thread's
 * allocation number `nth` (from 1) fail: only that one if `once`, otherwise
 * also all later ones; 0 stops this. It returns the number of allocations
 * since the last call. */
bool test_can_fail_memory(void);
size_t test_fail_memory(size_t nth, bool once);

/* ---- Recorded cases ---- */

enum { TEST_COLUMNS = 5 };

/* A file of tab-separated rows; missing columns are "". */
struct test_cases {
    void *file;
    char *line;
    size_t room;
    char *columns[TEST_COLUMNS];
};

/* test_cases_open opens a file below tests/cases; test_cases_next reads the
 * next row, skipping empty lines and comments, and closes the file at its
 * end. */
void test_cases_open(struct test_cases *, const char *name);
bool test_cases_next(struct test_cases *);

/* test_level returns the number of a level's name, in any case. */
unsigned test_level(const char *word);

#endif

/* support.h: what the unit tests share. */
#ifndef TESTS_SUPPORT_H
#define TESTS_SUPPORT_H

/* The library's functions, whatever the tests are built with. */
#ifndef TRACING
#    define TRACING
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <testlog/log.h>
#include <testlog/trace.h>

#include "trace/reader.h"

#ifndef TESTS_DIR
#    define TESTS_DIR "tests"
#endif

/* TEST_SITE fills a call site by hand: kind and level without their prefixes,
 * the names of the fields as a list in braces at file scope or NULL. */
#define TEST_SITE(kind_, level_, name_, target_, fields_, count_)              \
    {                                                                          \
        .name = (name_), .target = (target_), .file = "src/lib.rs",            \
        .function = "function", .fields = (fields_), .line = 42,               \
        .level = TRACE_LEVEL_##level_, .kind = TRACE_SITE_##kind_,             \
        .field_count = (count_)                                                \
    }

/* test_folder makes a folder of the test's own, for a suite's .init; it is
 * removed when the process ends. */
void test_folder(void);

/* test_remove_tree removes a folder and all that is in it. */
void test_remove_tree(const char *path);

/* test_path returns the path of a file in that folder; it lasts for a few
 * calls. */
const char *test_path(const char *name);

/* test_load reads a whole file, to be freed, with a NUL behind it; test_save
 * writes one. */
char *test_load(const char *path, size_t *size);
void test_save(const char *path, const void *data, size_t size);

/* test_decimal_comma goes over to a locale that has one, made in the test's
 * folder if none is installed; false if there is no way. */
bool test_decimal_comma(void);

/* ---- Recordings ---- */

/* test_record begins a recording, test_read ends it and opens it. */
void test_record(void);
void test_record_limit(uint64_t limit);
struct trace_reader *test_read(void);

/* test_find reads on to the next entry of a kind whose span or event is called
 * `name` (NULL: any), from the beginning of the recording on. */
bool test_find(struct trace_reader *, enum trace_entry_kind, const char *name,
               struct trace_entry *);

/* test_count counts the entries of a kind with that name. */
size_t test_count(struct trace_reader *, enum trace_entry_kind,
                  const char *name);

/* test_lines returns a recording's lines, to be freed. */
char *test_lines(struct trace_reader *, const char *filter,
                 const struct log_style *);

/* test_plain returns the lines without times and colours, to be freed. */
char *test_plain(struct trace_reader *);

/* test_rich records a little of everything there is, on two threads. */
void test_rich(void);

/* test_kernel returns what a back end puts of a kernel: "identity", of device 1
 * and stream 7, by a call of this thread. */
struct trace_activity test_kernel(uint64_t begin, uint64_t end);

/* test_block begins a span as a block does that is within `depth` others, each
 * in a function of its own: a span of `site`, below `span` if that is not NULL,
 * or, without a site, it enters `span`. */
struct trace_span_ref test_block(size_t depth, struct trace_site *site,
                                 const struct trace_span_ref *span,
                                 size_t count, const struct trace_value *);

/* ---- Chance, the same in every run ---- */

void test_seed(uint64_t seed);
uint32_t test_random(void);
uint32_t test_below(uint32_t limit);
void test_random_bytes(void *bytes, size_t size);

/* ---- Children and failures ---- */

/* test_child runs `body` in a forked child and returns its wait status. */
int test_child(void (*body)(void));

/* test_thread runs `body` on a thread of its own, to its end. */
void test_thread(void *(*body)(void *), void *context);

/* test_can_fail_memory tells whether allocations can be made to fail: not when
 * a sanitizer owns them. test_fail_memory makes the calling thread's
 * allocation number `nth`, counted from 1, and all that follow or it alone
 * fail; 0 ends that. It returns how many were asked for since the last call. */
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
 * next row that is not empty and no comment, and closes the file at its end. */
void test_cases_open(struct test_cases *, const char *name);
bool test_cases_next(struct test_cases *);

/* test_level returns the number of a level's word, in any case. */
unsigned test_level(const char *word);

#endif

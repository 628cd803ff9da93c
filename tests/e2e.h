/* e2e.h: running programs as users do, and reading what they see. */
#ifndef TESTS_E2E_H
#define TESTS_E2E_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <criterion/hooks.h>

/* E2E_INFO is traced, but with LOG_STATIC_MAX=info; of the last two, every test
 * is logged and traced. */
enum e2e_build { E2E_PLAIN, E2E_TRACED, E2E_INFO, E2E_ALL, E2E_TRACED_ALL };

/* What a command said, and where it ran. It lasts as long as the test. */
struct e2e {
    int code; /* exit code, or 128 and the signal */
    const char *out, *err;
    char folder[PATH_MAX];
    char command[PATH_MAX];
};

/* E2E_FOLDER, once a file, gives its tests a common folder, in which every test
 * has a folder of its own. */
#define E2E_FOLDER                                                             \
    ReportHook(PRE_ALL)(struct criterion_test_set * set)                       \
    {                                                                          \
        (void)set;                                                             \
        e2e_folder_make();                                                     \
    }

void e2e_folder_make(void);

/* e2e_begin, a suite's .init, makes the test's own folder and goes there. */
void e2e_begin(void);

/* e2e_program returns the path of tests/programs/NAME.c or .cpp, built in one
 * of the ways above. */
const char *e2e_program(const char *name, enum e2e_build);

/* e2e_any returns a program built without testlog and without sanitizers,
 * e2e_stub a stand-in for libtestlog-gpu.so. */
const char *e2e_any(const char *name);
const char *e2e_stub(void);

/* e2e_run runs a command of the shell, without any variable that matters to
 * testlog or Criterion, and kills it after a minute. */
const struct e2e *e2e_run(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* e2e_once does the same once for all tests of a program, in a folder that is
 * called `key`. */
const struct e2e *e2e_once(const char *key, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* e2e_writes runs a command and returns what it wrote to stdout and stderr,
 * with a byte 036 behind whatever was one write(2). */
const struct e2e *e2e_writes(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* ---- Reading ---- */

/* e2e_read returns a file, e2e_json what it means; both fail the test if they
 * cannot. e2e_text is a member's string, "" if it has none. */
const char *e2e_read(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
const cJSON *e2e_json(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
const char *e2e_text(const cJSON *object, const char *member);
double e2e_number(const cJSON *object, const char *member);
bool e2e_exists(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* e2e_result returns the test "suite/test" of a run.json, e2e_results how many
 * of that name there are. */
const cJSON *e2e_result(const cJSON *run, const char *name);
size_t e2e_results(const cJSON *run, const char *name);

/* e2e_count counts how often `part` is in `text`; e2e_last returns the last
 * line, without its newline. */
size_t e2e_count(const char *text, const char *part);
const char *e2e_last(const char *text);

/* e2e_line returns the first line that has `part`, "" if none has. */
const char *e2e_line(const char *text, const char *part);

/* e2e_between returns what stands between two parts, "" if they are missing. */
const char *e2e_between(const char *text, const char *from, const char *to);

/* e2e_normal puts words in place of times, runs, threads, lines and folders. */
const char *e2e_normal(const char *text);

/* These fail the test and show the text. e2e_expect_closing wants stdout to be
 * the closing line and nothing else. */
void e2e_expect_code(const struct e2e *, int code);
void e2e_expect_closing(const struct e2e *, const char *line);
void e2e_expect_has(const char *text, const char *part);
void e2e_expect_lacks(const char *text, const char *part);
void e2e_expect_is(const char *text, const char *expected);

/* e2e_sanitized tells whether a sanitizer takes care of SIGSEGV. */
bool e2e_sanitized(void);

#endif

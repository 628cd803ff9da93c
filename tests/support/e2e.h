/* e2e.h: runs programs as users do, and reads their output. */
#ifndef TESTS_E2E_H
#define TESTS_E2E_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <criterion/hooks.h>

/* E2E_INFO is traced with LOG_STATIC_MAX=info. The next two log and trace every
 * test. E2E_CORE has no Criterion. */
enum e2e_build {
    E2E_PLAIN,
    E2E_TRACED,
    E2E_INFO,
    E2E_ALL,
    E2E_TRACED_ALL,
    E2E_CORE,
};

/* The output of a command, and its folder; valid until the test ends. */
struct e2e {
    int code; /* exit code, or 128 and the signal */
    const char *out, *err;
    char folder[PATH_MAX];
    char command[PATH_MAX];
};

/* E2E_FOLDER, once in a file, gives its tests a common folder, in which each
 * test has its own folder. */
#define E2E_FOLDER                                                             \
    ReportHook(PRE_ALL)(struct criterion_test_set * set)                       \
    {                                                                          \
        (void)set;                                                             \
        e2e_folder_make();                                                     \
    }

void e2e_folder_make(void);

/* e2e_begin, for a suite's .init, creates the test's folder and changes to
 * it. */
void e2e_begin(void);

/* e2e_begin_gpu also makes a folder "root" with a GPU's device file. */
void e2e_begin_gpu(void);

/* e2e_need skips the test if a tool is not installed. */
void e2e_need(const char *tool);

/* e2e_program returns the path of tests/programs/NAME.c or .cpp, built in one
 * of the ways above. It skips the test if make has not built that, because
 * headers or libraries were missing. */
const char *e2e_program(const char *name, enum e2e_build);

/* e2e_link makes a symbolic link at `path` to such a program. */
void e2e_link(const char *name, enum e2e_build, const char *path);

/* e2e_interrupt runs a program that waits for ever in the test waits/for_ever,
 * and sends it SIGINT once that has begun. */
const struct e2e *e2e_interrupt(const char *program);

/* e2e_any returns the path of a program without testlog and sanitizers,
 * e2e_stub that of the stub for libtestlog-gpu.so. */
const char *e2e_any(const char *name);
const char *e2e_stub(void);

/* e2e_run runs a shell command, without the variables of testlog and Criterion,
 * and kills it after 250 seconds, or after those that e2e_allow has set. */
void e2e_allow(int seconds);
const struct e2e *e2e_run(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* e2e_exits does the same, and expects an exit code. */
const struct e2e *e2e_exits(int code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* e2e_once does what e2e_run does once for all tests of a program, in a folder
 * with the name `key`. */
const struct e2e *e2e_once(const char *key, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* e2e_install makes opt/ a link to an installation that the tests of a program
 * share; with E2E_INSTALLED before a command, pkg-config finds it. It skips the
 * test if this is no default build, or there is no pkg-config. */
#define E2E_INSTALLED                                                          \
    "PKG_CONFIG_PATH=$PWD/opt/lib/pkgconfig; export PKG_CONFIG_PATH; "
void e2e_install(void);

/* e2e_writes runs a command and returns what it wrote to stdout and stderr,
 * with a byte 036 after each write(2). */
const struct e2e *e2e_writes(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* e2e_script makes a program of a shell's commands; a folder may be before its
 * name. */
void e2e_script(const char *name, const char *commands);

/* ---- Reading ---- */

/* e2e_read returns the text of a file, e2e_json its parsed JSON; both fail the
 * test on an error. e2e_text returns a member's string, "" if there is none. */
const char *e2e_read(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
const cJSON *e2e_json(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
const char *e2e_text(const cJSON *object, const char *member);
double e2e_number(const cJSON *object, const char *member);
bool e2e_exists(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* e2e_run_json returns the latest run, e2e_latest its test "suite/test". */
const cJSON *e2e_run_json(void);
const cJSON *e2e_latest(const char *name);

/* e2e_result returns the last test "suite/test" of a run.json, e2e_results how
 * many of that name there are. */
const cJSON *e2e_result(const cJSON *run, const char *name);
size_t e2e_results(const cJSON *run, const char *name);

/* e2e_count counts `part` in `text`; e2e_last returns the last line, without
 * its newline. */
size_t e2e_count(const char *text, const char *part);
const char *e2e_last(const char *text);

/* e2e_line returns the first line that contains `part`, "" if none does. */
const char *e2e_line(const char *text, const char *part);

/* e2e_between returns the text between two parts, "" if they are missing. */
const char *e2e_between(const char *text, const char *from, const char *to);

/* e2e_block returns what a run printed of the failed test "suite/test". */
const char *e2e_block(const struct e2e *, const char *name);

/* e2e_normal replaces times, runs, threads, line numbers and addresses with
 * words. */
const char *e2e_normal(const char *text);

/* These fail the test and show the text. e2e_expect_closing expects only the
 * closing line on stdout. e2e_expect_has expects all parts, e2e_expect_lacks
 * none. */
#define e2e_expect_has(text, ...)                                              \
    e2e_expect_parts(text, true, (const char *const[]){__VA_ARGS__, NULL})
#define e2e_expect_lacks(text, ...)                                            \
    e2e_expect_parts(text, false, (const char *const[]){__VA_ARGS__, NULL})
void e2e_expect_code(const struct e2e *, int code);
void e2e_expect_closing(const struct e2e *, const char *line);
void e2e_expect_parts(const char *text, bool has, const char *const *parts);
void e2e_expect_is(const char *text, const char *expected);

/* e2e_sanitized reports whether a sanitizer handles SIGSEGV. */
bool e2e_sanitized(void);

#endif

/* settings.h: testlog.conf, the settings of a project. Private. */
#ifndef TESTLOG_SETTINGS_H
#define TESTLOG_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#define TEST_LOG_SETTINGS_FILE "testlog.conf"

/* A setting of single tests, which only lists of tests show. */
#define TEST_LOG_TAGS "tags"

/* A line "key = value". */
struct test_log_settings_line {
    const char *key, *value;
    const char *origin;  /* "../testlog.conf:3: key" */
    const char *profile; /* of its section; NULL: of none */
    const char *pattern; /* of the tests of its section; NULL: of none */
    const char *program; /* a glob of programs, likewise */
};

struct test_log_settings {
    const char *path; /* NULL: there is no file */
    struct test_log_settings_line *lines;
    size_t count, capacity;
    const char **profiles; /* NULL at the end; NULL: there are none */
    size_t profile_count, profile_capacity;
    char **texts; /* what the others point to */
    size_t text_count, text_capacity;
};

/* test_log_settings_read reads the testlog.conf of the working directory or of
 * the nearest folder above it. One that another user owns or may replace is
 * ignored, with a line unless `quiet`. Returns -1 if it has printed what is
 * wrong; call test_log_settings_free in any case. */
int test_log_settings_read(struct test_log_settings *, bool quiet);
void test_log_settings_free(struct test_log_settings *);

/* test_log_settings_of_program returns the last line of a key that is set for
 * a program, by its path or name; NULL if there is none. */
const struct test_log_settings_line *test_log_settings_of_program(
    const struct test_log_settings *, const char *path, const char *key);

#endif

/* device_members.h: members of objects in run.json that say what recordings
 * contain about devices. Private.
 *
 * An object is a struct and a list of its members, from which it is read,
 * added up, written and freed.
 */
#ifndef TESTLOG_DEVICE_MEMBERS_H
#define TESTLOG_DEVICE_MEMBERS_H

#include <testlog/log.h>

#include "trace/base/text.h"
#include "trace/read/reader.h"

enum { TEST_LOG_DEVICE_NAMES = 64 };

/* The type of a member, and which one the sum of several objects has. */
enum test_log_member_kind {
    TEST_LOG_STATE, /* an enum, which has words: the largest */
    TEST_LOG_TEXT,  /* char *: that of the first object with the sum's state */
    TEST_LOG_WORDS, /* the same; "a,b" is an array in run.json */
    TEST_LOG_FLAG,  /* the same; any text is `true` in run.json */
    TEST_LOG_FIRST, /* char *: the first one */
    TEST_LOG_LAST,  /* char *: the last one */
    TEST_LOG_ANY,   /* bool: whether any is set */
    TEST_LOG_NAMES, /* char *[TEST_LOG_DEVICE_NAMES]: the first of each number;
                     * recordings have other members for them */
    TEST_LOG_COUNT, /* uint64_t: the sum */
};

struct test_log_member {
    const char *name; /* in run.json, and after a prefix in a recording; NULL
                       * ends the list */
    enum test_log_member_kind kind;
    size_t at;                /* offset in the struct */
    size_t state;             /* of a text: offset of the state it belongs to */
    const char *const *words; /* of a state; NULL ends them */
};

/* test_log_member_state finds the state of a word; false if the word is NULL or
 * unknown. */
bool test_log_member_state(const char *const *words, const char *word,
                           unsigned *state);

/* test_log_members_read fills a zeroed struct from a recording.
 * test_log_members_free frees the texts, and leaves the struct as it is. */
void test_log_members_read(void *, const struct test_log_member *,
                           const struct trace_reader *, const char *prefix);
void test_log_members_add(void *all, const void *one,
                          const struct test_log_member *);
void test_log_members_free(void *, const struct test_log_member *);

/* test_log_members_put adds members of a JSON object; the caller adds the
 * braces. */
void test_log_members_put(struct trace_text *, const void *,
                          const struct test_log_member *);

/* test_log_device_name keeps the name of a number, unless it has one. */
void test_log_device_name(char **names, size_t number, const char *name);

/* test_log_meta_text returns a recording's metadata, to be freed; NULL if there
 * is none or it is empty. */
char *test_log_meta_text(const struct trace_reader *, const char *name);

#endif

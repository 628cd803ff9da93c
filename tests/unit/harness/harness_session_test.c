/* harness_session_test.c: passes a session to child processes. */
#include "harness/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#define FIELDS(X)                                                              \
    TEST_LOG_SESSION_PROGRAM(X)                                                \
    TEST_LOG_SESSION_WORKER(X)                                                 \
    X(status)

#define VARIABLE "TESTLOG_SESSION"

static const struct test_log_session all = {
#define FIELD(name) .name = "the " #name ", with = and : and\nnewline",
    FIELDS(FIELD)
#undef FIELD
};

static void begin(void)
{
    unsetenv(VARIABLE);
    test_log_session_forget();
}

TestSuite(harness_session, .init = begin, .fini = test_log_session_forget);

Test(harness_session, passes_every_field)
{
    const struct test_log_session *session;

    test_log_session_export(&all);
    session = test_log_session();
#define FIELD(name) cr_expect_str_eq(session->name, all.name);
    FIELDS(FIELD)
#undef FIELD
    cr_expect_null(session->nested);
}

Test(harness_session, omits_missing_fields)
{
    test_log_session_export(&(struct test_log_session){.show = ""});
    cr_expect_str_eq(test_log_session()->show, "");
    cr_expect_null(test_log_session()->folder);
    cr_expect_not(test_log_session_is_worker(test_log_session()));
}

Test(harness_session, is_empty_without_the_variable)
{
    cr_expect_null(test_log_session()->runner);
    cr_expect_null(getenv(VARIABLE));
}

Test(harness_session, removes_itself_from_the_environment)
{
    test_log_session_export(&all);
    cr_assert_not_null(getenv(VARIABLE));
    test_log_session();
    cr_expect_null(getenv(VARIABLE));
}

Test(harness_session, marks_children_of_a_test_as_nested)
{
    struct test_log_session session = all;

    session.nested = "1";
    test_log_session_export(&session);
    cr_expect_str_eq(test_log_session()->nested, "1");
    cr_expect_str_eq(getenv(VARIABLE), "nested=1:1");
    test_log_session_forget();
    cr_expect_str_eq(test_log_session()->nested, "1");
    cr_expect_null(test_log_session()->show);
}

Test(harness_session, refuses_more_than_a_variable_may_hold)
{
    enum { SIZE = 128 * 1024 };
    static char show[SIZE + 1];

    memset(show, 'x', SIZE);
    errno = 0;
    cr_expect_not(
        test_log_session_export(&(struct test_log_session){.show = show}));
    cr_expect_eq(errno, E2BIG);
    cr_expect_null(getenv(VARIABLE));
    show[SIZE - 100] = '\0';
    cr_expect(
        test_log_session_export(&(struct test_log_session){.show = show}));
    cr_expect_str_eq(test_log_session()->show, show);
}

Test(harness_session, is_a_workers_only_if_complete)
{
    struct test_log_session session = all;

    cr_expect(test_log_session_is_worker(&all));
    session.folder = NULL;
    cr_expect_not(test_log_session_is_worker(&session));
}

Test(harness_session, distinguishes_a_parent_from_other_processes)
{
    struct test_log_session session = {0};
    char text[16];

    cr_expect_not(test_log_session_from_parent(&session));
    session.runner = text;
    snprintf(text, sizeof(text), "%ld", (long)getpid());
    cr_expect_not(test_log_session_from_parent(&session));
    snprintf(text, sizeof(text), "%ld", (long)getppid());
    cr_expect(test_log_session_from_parent(&session));
}

static const char *const damaged[] = {
    "=",         "show",       "show=",          "show=x",
    "show=:",    "show=9:x",   "show=-1:x",      "show=99999999999999999999:x",
    "show=1:xy", "nosuch=1:x", "nested=1:1show", "show=1:x\377=1:y",
};

Test(harness_session, stops_parsing_at_damage)
{
    for (size_t i = 0; i < sizeof(damaged) / sizeof(*damaged); i++) {
        const char *show;

        setenv(VARIABLE, damaged[i], 1);
        test_log_session_forget();
        show = test_log_session()->show;
        cr_expect(!show || strlen(show) <= 1, "%s", damaged[i]);
        cr_expect_not(test_log_session_is_worker(test_log_session()));
    }
}

Test(harness_session, survives_random_text)
{
    static const char letters[] = "show=:0129nested\n\\";

    srand(1);
    for (size_t i = 0; i < 10000; i++) {
        char text[64];
        size_t size = (size_t)rand() % sizeof(text);

        for (size_t at = 0; at < size; at++)
            text[at] = letters[(size_t)rand() % (sizeof(letters) - 1)];
        text[size ? size - 1 : 0] = '\0';
        setenv(VARIABLE, text, 1);
        test_log_session_forget();
        cr_assert_null(test_log_session()->folder);
    }
}

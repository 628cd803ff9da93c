/* harness_session_test.c: what a runner tells its workers arrives. */
#include "harness/session.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#define VALUE(name) char name[] = "the " #name ", with = and\nnewline";
TEST_LOG_SESSION(VALUE)
#undef VALUE

static void export_all(void)
{
    struct test_log_session session = {
#define FIELD(name) .name = name,
        TEST_LOG_SESSION(FIELD)
#undef FIELD
    };

    test_log_session_export(&session);
}

static void free_session(struct test_log_session *session)
{
#define FIELD(name) free(session->name);
    TEST_LOG_SESSION(FIELD)
#undef FIELD
}

Test(harness_session, every_field_arrives)
{
    struct test_log_session session;

    export_all();
    cr_assert(test_log_session_import(&session));
#define FIELD(name) cr_expect_str_eq(session.name, name);
    TEST_LOG_SESSION(FIELD)
#undef FIELD
    free_session(&session);
}

Test(harness_session, is_taken_out_of_the_environment)
{
    struct test_log_session session;

    export_all();
    cr_assert_str_eq(getenv("TESTLOG_SESSION_SHOW_ORIGIN"), show_origin);
    cr_assert(test_log_session_import(&session));
    free_session(&session);
    for (char **variable = environ; *variable; variable++)
        cr_expect(strncmp(*variable, "TESTLOG_SESSION_", 16), "%s", *variable);
    cr_expect_not(test_log_session_import(&session));
    free_session(&session);
}

Test(harness_session, one_missing_field_is_no_session)
{
    struct test_log_session session;

    export_all();
    unsetenv("TESTLOG_SESSION_FOLDER");
    cr_expect_not(test_log_session_import(&session));
    free_session(&session);
}

Test(harness_session, missing_value_is_empty)
{
    struct test_log_session given = {.show = show}, session;

    test_log_session_export(&given);
    cr_assert(test_log_session_import(&session));
    cr_expect_str_eq(session.show, show);
    cr_expect_str_eq(session.folder, "");
    free_session(&session);
}

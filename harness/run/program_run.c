/* program_run.c: begins and ends the run of a program, or its part of a run. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "finish_run.h"
#include "harness/machine/notice.h"
#include "harness/options/filters.h"
#include "harness/options/other_programs.h"
#include "harness/run/files/writers.h"
#include "harness/session.h"
#include "program_run.h"

/* ---- The beginning ---- */

static int number_of(const char *text)
{
    return text ? atoi(text) : 0;
}

static struct test_log_parent parent_of(const struct test_log_session *session)
{
    struct test_log_parent parent = {
        .folder = test_log_variable("TESTLOG_RUN"),
        .token = session->token,
        .output = number_of(session->output),
        .nested = session->nested,
        .beside = test_log_others_given().count > 1,
    };

    parent.shown = parent.folder ? session->run : NULL;
    if (test_log_session_from_parent(session)) {
        parent.results = number_of(session->results);
        parent.share = parent.folder ? (unsigned)number_of(session->joined) : 0;
        parent.process = session->process;
    }
    if (test_log_session_from_parent(session) || session->test)
        parent.program = session->program;
    return parent;
}

/* With `test`, a launcher is between us and testlog. */
static enum test_log_role role_of(const struct test_log_session *session,
                                  const struct test_log_parent *parent)
{
    if (!parent->folder)
        return session->part ? TEST_LOG_ROLE_APART : TEST_LOG_ROLE_WHOLE;
    return session->test ? TEST_LOG_ROLE_RANK : TEST_LOG_ROLE_PART;
}

void test_log_program_begin(struct test_log_run *run, char **argv)
{
    const struct test_log_session *session = test_log_session();
    struct trace_text command = {0};

    test_log_add_words(&command, argv);
    *run = (struct test_log_run){.start = trace_anchor_now(),
                                 .parent = parent_of(session),
                                 .command = command.data,
                                 .argv = argv,
                                 .executable = argv[0],
                                 .static_max = trace_static_max()};
    run->role = role_of(session, &run->parent);
    if (test_log_is_part(run) &&
        session->start) /* all programs count from there */
        run->start = test_log_anchor_of(session->start);
    test_log_handover_begin(run->parent.results);
}

void test_log_open_out(void)
{
    int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);

    test_log_out = fd < 0 ? stderr : fdopen(fd, "w");
    if (!test_log_out)
        test_log_out = stderr;
}

/* ---- The end ---- */

void test_log_program_end(struct test_log_run *run,
                          const struct test_log_options *options,
                          const struct test_log_filters *filters,
                          const struct test_log_history *history, bool any)
{
    struct trace_text rerun = {0}, debug = {0};

    if (!run->flagless) {
        test_log_add_word(&rerun, run->executable);
        test_log_add_deciding(&rerun, run->argv, false);
        test_log_add_word(&debug, run->executable);
        test_log_add_deciding(&debug, run->argv, true);
    }
    test_log_run_finish(run,
                        &(struct test_log_finish){
                            .options = options,
                            .page = {.rerun = rerun.data, .debug = debug.data},
                            .without = TEST_LOG_WITHOUT(LINES),
                            .all = test_log_options_take_all(options)});
    if (!test_log_is_part(run)) { /* `testlog run` prints all of this */
        if (any) {
            test_log_filters_print_compiled_out(filters, run);
            test_log_print_empty_shard(run);
        }
        test_log_run_print(run, options, history, rerun.data, debug.data);
        test_log_run_compress(run, options, NULL);
    }
    trace_text_free(&rerun);
    trace_text_free(&debug);
}

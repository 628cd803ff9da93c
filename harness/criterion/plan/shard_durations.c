/* shard_durations.c: finds the durations by which tests are divided among
 * shards: those of a file, of `testlog run`, or of the history. */
#include <string.h>

#include "harness/criterion/plan/plan.h"
#include "harness/machine/notice.h"
#include "harness/options/options.h"

const char test_log_shard_no_memory[] = "out of memory: --shard has no effect";

static bool is_flag(const char *origin)
{
    return origin && !strncmp(origin, "--", 2);
}

/* Reads the file even if it has no effect, to report a wrong name. A setting of
 * testlog.conf is for all runs, and most of them may lack the file. */
static int read_history(struct test_log_options *options)
{
    const struct test_log_setting *history = &options->history;

    if (!history->value ||
        !(test_log_shard_by_time(&options->shard) || is_flag(history->origin) ||
          test_log_variable(history->origin)))
        return 0;
    return test_log_durations_read(&options->durations, history->value,
                                   history->origin);
}

/* Prints which flag has no effect. Variables and settings of testlog.conf may
 * be for all runs, whether or not they are shards. */
static void print_unused(const struct test_log_options *options)
{
    const struct test_log_shard *shard = &options->shard;
    bool history = is_flag(options->history.origin);
    bool way = is_flag(options->shard_by);

    if (history && shard->way != TEST_LOG_SHARD_TIME)
        test_log_notice("--history has no effect without --shard-by=time");
    else if ((history || way) && !shard->total && !shard->origin)
        test_log_notice("%s has no effect without --shard",
                        way ? "--shard-by" : "--history");
}

int test_log_shard_read_durations(struct test_log_options *options)
{
    const struct test_log_session *session = test_log_session();

    if (test_log_shard_by_time(&options->shard) && session->durations)
        return test_log_durations_read(&options->durations, session->durations,
                                       "run");
    if (session->program) /* `testlog run` has read and reported it */
        return 0;
    if (read_history(options))
        return -1;
    print_unused(options);
    return 0;
}

void test_log_shard_recall(struct test_log_options *options,
                           const struct test_log_history *history,
                           test_log_duration_wanted *wanted,
                           const void *context)
{
    struct test_log_durations *durations = &options->durations;
    bool given = test_log_session()->durations || options->history.value;

    if (!test_log_shard_by_time(&options->shard))
        return;
    if (!given && test_log_durations_recall(durations, history)) {
        test_log_notice("%s", test_log_shard_no_memory);
        options->shard = (struct test_log_shard){.total = 0};
        return;
    }
    test_log_durations_keep(durations, wanted, context);
    options->shard.durations = durations->count;
    options->shard.history = test_log_durations_digest(durations);
}

/* `testlog run` passes the tests of all its programs. */
static bool is_useful(const struct test_log_duration *test, const void *program)
{
    return test_log_session()->durations || !strcmp(test->program, program);
}

void test_log_shard_recall_program(struct test_log_options *options,
                                   const struct test_log_history *history,
                                   const char *program)
{
    test_log_shard_recall(options, history, is_useful, program);
}

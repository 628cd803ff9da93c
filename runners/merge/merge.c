/* merge.c: testlog merge: makes one run of those of several shards or
 * machines. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/machine/remove_tree.h"
#include "harness/options/options.h"
#include "harness/run/finish_run.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/model/gpu_summary.h"
#include "harness/run/terminal/terminal.h"
#include "merge.h"
#include "runners/runners.h"
#include "runners/runs/find.h"

/* ---- The new folder ---- */

/* The path of the parent folder of a new folder. */
static int parent_of(const char *path, char parent[PATH_MAX])
{
    char copy[PATH_MAX];
    size_t size = strlen(path);

    while (size > 1 && path[size - 1] == '/')
        size--;
    while (size && path[size - 1] != '/')
        size--;
    if (snprintf(copy, sizeof(copy), "%.*s", (int)size, path) >= PATH_MAX)
        return -1;
    return realpath(size ? copy : ".", parent) ? 0 : -1;
}

static bool is_inside(const char *path, const char *folder)
{
    size_t size = strlen(folder);

    return !strncmp(path, folder, size) &&
           (path[size] == '/' || path[size] == '\0');
}

/* If a folder cannot be made, prints why. */
static int check_output(const struct merge *merge)
{
    const char *output = merge->output;
    char parent[PATH_MAX];
    struct stat status;

    if (!lstat(output, &status)) {
        test_log_notice("merge: %s exists; name a new folder with -o", output);
        return -1;
    }
    if (parent_of(output, parent)) {
        test_log_notice("merge: cannot create %s: %s", output, strerror(errno));
        return -1;
    }
    for (size_t i = 0; i < merge->count; i++)
        if (is_inside(parent, merge->sources[i].path)) {
            test_log_notice("merge: %s is inside %s; name a folder elsewhere",
                            output, merge->sources[i].merged.run);
            return -1;
        }
    return 0;
}

/* ---- The command ---- */

/* run.json comes last: without it, the merge was killed. */
static int write_files(struct merge *merge)
{
    struct test_log_finish finish = {
        .options = &merge->options,
        .without = TEST_LOG_WITHOUT(RUN_JSON) | TEST_LOG_WITHOUT(PAST) |
                   TEST_LOG_WITHOUT(PRUNE) | TEST_LOG_WITHOUT(INDEX),
        .otherwise = "the merged run is removed"};

    merge->run.output = &merge->options.output;
    if (test_log_run_finish(&merge->run, &finish))
        return -1;
    finish.without = TEST_LOG_WITHOUT(LINES) | TEST_LOG_WITHOUT(FILES) |
                     TEST_LOG_WITHOUT(PAGE) | TEST_LOG_WITHOUT(REPORTS) |
                     TEST_LOG_WITHOUT(PRUNE);
    return test_log_run_finish(&merge->run, &finish);
}

/* Makes the new run's content; -1 if it has printed why it cannot. */
static int fill(struct merge *merge)
{
    if (!merge_files_link(merge) && !merge_clocks_apply(merge)) {
        merge_tests_sort(merge);
        return write_files(merge);
    }
    test_log_notice("merge: cannot write to %s: %s; the merged run is removed",
                    merge->run.path, strerror(errno));
    return -1;
}

static int make_run(struct merge *merge)
{
    const struct test_log_output *output = &merge->options.output;
    struct test_log_run *run = &merge->run;
    struct test_log_sums sums;
    int status, code = TEST_LOG_EXIT_PASSED;

    run->open = runners_open_in;
    if (test_log_run_open_at(run, merge->output, NULL)) {
        test_log_notice("merge: cannot create %s: %s", merge->output,
                        strerror(errno));
        return TEST_LOG_EXIT_USAGE;
    }
    if (fill(merge)) {
        test_log_remove_tree(AT_FDCWD, merge->output);
        return TEST_LOG_EXIT_FAILED;
    }
    status = merge_durations_write(merge);
    merge_clocks_print(merge);
    test_log_gpu_summary_print(run);
    test_log_print_summary(run, NULL, NULL);
    test_log_show_page(run, output);
    test_log_print_closing(run, output);
    sums = test_log_run_sums(run);
    if (status || sums.failed)
        code = TEST_LOG_EXIT_FAILED;
    else if (!sums.passed && !sums.skipped)
        code = TEST_LOG_EXIT_NO_TEST;
    return runners_written("merge", code);
}

static int merge_all(struct merge *merge, char **words)
{
    struct test_log_options *options = &merge->options;
    char *no_folder[] = {NULL};

    if (runners_settings(options, "merge", no_folder))
        return TEST_LOG_EXIT_USAGE;
    /* A merge takes no other setting of what tests print and write. */
    options->output = (struct test_log_output){
        .fail_log = options->output.fail_log,
        .links = test_log_links(test_log_color(NULL, stderr), stderr)};
    if (merge_sources_read(merge, words) || check_output(merge) ||
        merge_durations_read(merge) || merge_clocks_align(merge))
        return TEST_LOG_EXIT_USAGE;
    if (merge_tests_read(merge)) {
        test_log_notice("merge: out of memory");
        return TEST_LOG_EXIT_FAILED;
    }
    return make_run(merge);
}

#define AT(member) .at = offsetof(struct merge, member)

static const struct test_log_flag flags[] = {
    {"--output", NULL, "RUN", "the folder of the new run, which must not exist",
     test_log_read_text, AT(output), .letter = 'o'},
    {"--allow-missing", NULL, NULL, "skip missing shards instead of failing",
     test_log_read_on, AT(allow_missing)},
    {"--align", NULL, "SPAN",
     "align the hosts' clocks by a span that all of them recorded, such as a "
     "barrier",
     test_log_read_text, AT(align)},
    {"--history", NULL, "FILE",
     "write how long tests took, for --shard-by=time", test_log_read_text,
     AT(history)},
    TEST_LOG_HELP,
};

static int run(char **argv)
{
    struct merge merge = {.align = NULL};
    struct trace_text command = {0}; /* as a shell reads it */
    int code;

    test_log_add_word(&command, program_invocation_name);
    test_log_add_words(&command, argv);
    merge.run.command = command.data;
    if (test_log_flags_read(&runners_merge_runs, &merge, &argv, NULL, &code)) {
        code = TEST_LOG_EXIT_USAGE;
        if (!*argv)
            test_log_notice("merge: name the runs to merge; testlog list lists "
                            "them");
        else if (!merge.output)
            test_log_notice("merge: name the folder of the new run with -o");
        else
            code = merge_all(&merge, argv);
    }
    merge_sources_free(&merge);
    test_log_durations_free(&merge.before);
    test_log_options_free(&merge.options);
    return code;
}

const struct test_log_command runners_merge_runs = {
    .name = "merge",
    .help = "make one run of those of several machines",
    .synopsis = "RUN... -o RUN [FLAG...]",
    .text = "Merges the runs of several shards or machines into one run, with "
            "one summary and one exit status. RUN is the folder of a run or a "
            "name in testlog list; the runs do not change. Later runs of a "
            "shard count as retries. A missing or truncated shard is a "
            "failure.",
    TEST_LOG_FLAGS(flags),
    .operand = "RUN",
    .run = run,
};

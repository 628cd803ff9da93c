/* testlog.c: main of `testlog`, which runs a subcommand. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "harness/core/core_run.h"
#include "harness/criterion/program/program.h"
#include "harness/criterion/watch/supervisor.h"
#include "harness/machine/notice.h"
#include "harness/options/options.h"
#include "harness/symbols/symbols.h"
#include "runners.h"

/* A new command is a file in runners/commands/, a row here and a page. It finds
 * runs with runners_run_of or runners_find_run, because they may be packs, and
 * opens recordings with runners_open, because they may be compressed. */
static const struct test_log_command *const commands[] = {
    &runners_run,
    &runners_record,
    &runners_capture,
    &runners_import,
    &runners_log,
    &runners_show,
    &runners_export,
    &runners_report,
    &runners_stat,
    &runners_list,
    &runners_flaky,
    &runners_diff,
    &runners_bisect,
    &runners_merge_runs,
    &runners_view,
    &runners_clean,
    &runners_pack,
    &runners_filter,
    NULL,
};

enum { COMMANDS = sizeof(commands) / sizeof(*commands) - 1 };

static void usage(FILE *out)
{
    fputs("Usage: testlog COMMAND [ARGUMENT...]\n\n", out);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->help);
    fputs("\nSee testlog COMMAND --help. testlog --version prints the version, "
          "with\n"
          "--verbose what a report of a bug needs.\n",
          out);
}

static int refuse(const char *word)
{
    const char *names[COMMANDS + 1] = {NULL}, *near;

    for (size_t i = 0; i < COMMANDS; i++)
        names[i] = commands[i]->name;
    near = log_nearest(word, names);
    if (near)
        test_log_notice("unknown command \"%s\"; did you mean %s?", word, near);
    else
        test_log_notice("unknown command \"%s\"; testlog --help lists all",
                        word);
    return TEST_LOG_EXIT_USAGE;
}

/* testlog-stacks is beside our other helpers. */
static void look(const struct test_log_run *run,
                 const struct test_log_result *result)
{
    char library[PATH_MAX];

    test_log_gpu_own(library);
    test_log_stacks_left(run, result);
}

static void say_changed_files(void)
{
    size_t count;
    const char *first = test_log_changed_file(&count);

    if (first)
        test_log_notice("functions of %s have no names: it is not known to be "
                        "the file that was recorded; was it built again?",
                        first);
    if (count > 1)
        test_log_notice("the same is true of %zu other file%s", count - 1,
                        count == 2 ? "" : "s");
}

int main(int argc, char **argv)
{
    test_log_stdio_hold();
    test_log_name_functions();
    test_log_core_look = look;
    if (argc < 2) {
        usage(stderr);
        return TEST_LOG_EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
        !strcmp(argv[1], "help")) {
        usage(stdout);
        return 0;
    }
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-v"))
        return runners_version(argv + 1);
    if (!strcmp(argv[1], "__complete"))
        return runners_complete(commands, argv + 2);
    if (!strcmp(argv[1], "__judge"))
        return runners_judge_dying(argv + 2);
    for (size_t i = 0; i < COMMANDS; i++)
        if (!strcmp(argv[1], commands[i]->name)) {
            int code = commands[i]->run(argv + 1);

            say_changed_files();
            return code;
        }
    return refuse(argv[1]);
}

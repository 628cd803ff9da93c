/* bisect.c: testlog bisect: finds the commit since which tests fail, are slower
 * or log a line. git bisect chooses the commits; this judges them.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bisect.h"
#include "harness/machine/notice.h"
#include "harness/options/options.h"
#include "runners/runners.h"
#include "runners/runs/find.h"
#include "trace/base/text.h"

enum { COMMIT_SIZE = 80 };

static const char *const when_words[] = {
#define RUNNERS_X(name, word) word,
    RUNNERS_BISECT_WHEN(RUNNERS_X)
#undef RUNNERS_X
        NULL};

/* ---- git ---- */

/* Returns git's exit code. `out` has room for `size` bytes of what it prints;
 * NULL shows that. */
static int git(char *out, size_t size, const char *const *words)
{
    const char *all[16] = {"git"};

    for (size_t i = 0; words[i] && i + 2 < sizeof(all) / sizeof(*all); i++)
        all[i + 1] = words[i];
    return runners_tool_wait(all, out, size, out != NULL);
}

#define GIT(out, size, ...)                                                    \
    git(out, size, (const char *const[]){__VA_ARGS__, NULL})

/* Prints why git cannot be used here; false if it can. */
static bool refuses_tree(char *top, size_t size)
{
    char text[256];

    int code = GIT(top, size, "rev-parse", "--show-toplevel");

    if (code < 0)
        test_log_notice("bisect: git is not in PATH; install it");
    else if (code || !*top)
        test_log_notice("bisect: this is not a git work tree");
    else if (!GIT(text, sizeof(text), "bisect", "log"))
        test_log_notice("bisect: a bisection is in progress; end it with git "
                        "bisect reset");
    else if (GIT(text, sizeof(text), "status", "--porcelain",
                 "--untracked-files=no") ||
             *text)
        test_log_notice("bisect: the work tree has changes; commit or stash "
                        "them");
    else
        return false;
    return true;
}

static bool resolve(const char *word, char commit[COMMIT_SIZE])
{
    char text[PATH_MAX];

    snprintf(text, sizeof(text), "%s^{commit}", word);
    if (*word != '-' &&
        !GIT(commit, COMMIT_SIZE, "rev-parse", "--verify", "--quiet", text))
        return true;
    test_log_notice("bisect: there is no commit %s", word);
    return false;
}

/* ---- One commit ---- */

/* The arguments of a step: folder, good commit, place, when, text, before,
 * last. `git bisect run` executes it. */
enum { STEP_ARGUMENTS = 7 };

static int step(char **argv)
{
    struct bisect bisect = {.folder = argv[0],
                            .good = argv[1],
                            .place = argv[2],
                            .when = (enum bisect_when)atoi(argv[3]),
                            .text = *argv[4] ? argv[4] : NULL,
                            .before = argv[5],
                            .last = argv[6]};
    char commit[COMMIT_SIZE];

    runners_tool_catch(true);
    if (GIT(commit, sizeof(commit), "rev-parse", "HEAD"))
        return BISECT_SKIPPED;
    return runners_bisect_judge(&bisect, commit);
}

/* ---- A bisection ---- */

struct plan {
    struct bisect bisect;
    char good[COMMIT_SIZE], bad[COMMIT_SIZE];
    char folder[PATH_MAX], place[PATH_MAX];
    char *before;
};

/* Checks a commit out and judges it. */
static enum bisect_verdict judge_at(const struct plan *plan, const char *commit)
{
    if (GIT(NULL, 0, "checkout", "--quiet", "--detach", commit))
        return BISECT_SKIPPED;
    return runners_bisect_judge(&plan->bisect, commit);
}

/* GOOD and BAD must differ, or there is nothing to find. */
static bool differ(const struct plan *plan)
{
    enum bisect_verdict good = judge_at(plan, plan->good);
    enum bisect_verdict bad = BISECT_SKIPPED;

    if (good == BISECT_GOOD && !runners_tool_signal())
        bad = judge_at(plan, plan->bad);
    if (runners_tool_signal())
        return false;
    if (good != BISECT_GOOD)
        test_log_notice("bisect: %.12s should be good, but is %s; its runs are "
                        "in %s",
                        plan->good, runners_bisect_word(good), plan->folder);
    else if (bad != BISECT_BAD)
        test_log_notice("bisect: %.12s should be bad, but is %s; its runs are "
                        "in %s",
                        plan->bad, runners_bisect_word(bad), plan->folder);
    return good == BISECT_GOOD && bad == BISECT_BAD;
}

/* `git bisect run` passes arguments through a shell unchanged. */
static int search(const struct plan *plan)
{
    const struct bisect *bisect = &plan->bisect;
    char self[64], number[16];

    snprintf(self, sizeof(self), "/proc/%ld/exe", (long)getpid());
    snprintf(number, sizeof(number), "%d", (int)bisect->when);
    return GIT(NULL, 0, "bisect", "run", self, "bisect", "--step",
               bisect->folder, bisect->good, bisect->place, number,
               bisect->text ? bisect->text : "", bisect->before, bisect->last);
}

/* Prints the commit that was found, and what changed in its run. */
static void print_found(const struct plan *plan)
{
    char commit[COMMIT_SIZE], subject[512], parent[COMMIT_SIZE];
    char before[PATH_MAX], after[PATH_MAX];
    char command[] = "diff", by[32];
    char *words[] = {command, by, before, after, NULL};

    if (GIT(commit, sizeof(commit), "rev-parse", "refs/bisect/bad") ||
        GIT(subject, sizeof(subject), "log", "-1", "--format=%h %an, %as: %s",
            commit))
        return;
    printf("\nfirst bad commit: %s\nruns: %s\n", subject, plan->folder);
    if ((GIT(parent, sizeof(parent), "rev-parse", "refs/bisect/bad^") ||
         !runners_bisect_run_of(&plan->bisect, parent, before)) &&
        !runners_bisect_run_of(&plan->bisect, plan->good, before))
        return;
    if (!runners_bisect_run_of(&plan->bisect, commit, after))
        return;
    putchar('\n');
    fflush(stdout);
    snprintf(by, sizeof(by), "--by=%s",
             runners_measure_words[plan->bisect.when == BISECT_SLOWER
                                       ? runners_bisect_measure(&plan->bisect,
                                                                commit)
                                       : MEASURE_TIME]);
    runners_diff.run(words);
}

/* A second signal must not interrupt this. Hooks may fail. */
static void put_back(const char *top)
{
    runners_tool_shield();
    if (chdir(top) ||
        (GIT(NULL, 0, "bisect", "reset") &&
         GIT(NULL, 0, "-c", "core.hooksPath=/dev/null", "bisect", "reset")))
        test_log_notice("bisect: git bisect reset failed: see git status");
}

/* Returns the exit code. The work tree is put back in any case. */
static int bisect(const struct plan *plan, const char *top)
{
    char text[256];
    int code = TEST_LOG_EXIT_USAGE;

    if (chdir(top) || GIT(text, sizeof(text), "bisect", "start")) {
        test_log_notice("bisect: git bisect start failed");
        return code;
    }
    if (differ(plan)) {
        code = TEST_LOG_EXIT_FAILED;
        if (!chdir(top) &&
            !GIT(text, sizeof(text), "bisect", "bad", plan->bad) &&
            !GIT(NULL, 0, "bisect", "good", plan->good) && !search(plan)) {
            print_found(plan);
            code = TEST_LOG_EXIT_PASSED;
        } else if (!runners_tool_signal()) {
            test_log_notice("bisect: no commit was found; the runs are in %s",
                            plan->folder);
        }
    }
    put_back(top);
    if (runners_tool_signal()) {
        test_log_notice("bisect: interrupted");
        code = 128 + runners_tool_signal();
    }
    return code;
}

/* ---- Arguments ---- */

static bool read_when(struct test_log_reader *reader)
{
    struct bisect *bisect = reader->into;
    const char *text = reader->value;
    size_t size = strcspn(text, ":");
    const char *rest = text[size] && text[size + 1] ? text + size + 1 : NULL;
    char *word = strndup(text, size);
    unsigned choice = 0;
    bool known =
        word && !test_log_read_word(reader->name, word, when_words, &choice);

    free(word);
    bisect->when = (enum bisect_when)choice;
    bisect->text = rest;
    if (!known || (rest ? choice != BISECT_FAILS : choice != BISECT_LOGS))
        return test_log_flag_judge(reader, !known);
    return test_log_flag_refuse(reader, "--when: %s",
                                choice == BISECT_LOGS
                                    ? "logs needs a text: --when=logs:TEXT"
                                    : "fails takes no text");
}

/* Several words are one command without a shell's signs. */
static char *command_of(char **words)
{
    struct trace_text text = {0};

    if (!words[1])
        return strdup(words[0]);
    test_log_add_words(&text, words);
    return text.data;
}

static bool parses(const char *text)
{
    const char *const words[] = {"sh", "-n", "-c", text, NULL};

    return !runners_tool_wait(words, NULL, 0, true);
}

/* Splits a text into the commands before and the last one. A text that a shell
 * cannot parse in two parts, such as a loop, is one command. */
static void split(struct plan *plan, const char *command)
{
    size_t last = runners_last_command(command);

    plan->before = strndup(command, runners_commands_before(command, last));
    if (plan->before && (!parses(plan->before) || !parses(command + last))) {
        plan->before[0] = '\0';
        last = 0;
    }
    plan->bisect.before = plan->before ? plan->before : "";
    plan->bisect.last = command + last;
}

static bool make_folder(struct plan *plan)
{
    const char *parent = test_log_variable("TMPDIR");
    char real[PATH_MAX];

    parent = realpath(parent ? parent : "/tmp", real);
    if (parent &&
        snprintf(plan->folder, sizeof(plan->folder), "%s/testlog-bisect-XXXXXX",
                 parent) < PATH_MAX &&
        mkdtemp(plan->folder) && getcwd(plan->place, sizeof(plan->place)))
        return true;
    test_log_notice("bisect: cannot make a folder of runs: %s; set TMPDIR",
                    strerror(errno));
    return false;
}

static int start(struct plan *plan, char **words)
{
    char top[PATH_MAX], *command;
    int code = TEST_LOG_EXIT_USAGE;

    if (!words[0] || !words[1] || !words[2]) {
        test_log_notice("bisect: write a good commit, a bad one and a command: "
                        "testlog bisect v1.0 HEAD -- 'make && ./ring_test'");
        return code;
    }
    command = command_of(words + 2);
    if (!command || refuses_tree(top, sizeof(top)) ||
        !resolve(words[0], plan->good) || !resolve(words[1], plan->bad) ||
        !make_folder(plan)) {
        free(command);
        return code;
    }
    split(plan, command);
    plan->bisect.folder = plan->folder;
    plan->bisect.good = plan->good;
    plan->bisect.place = plan->place;
    runners_tool_catch(false);
    code = bisect(plan, top);
    free(plan->before);
    free(command);
    return code;
}

#define WORD(name, word) word "|"

static const struct test_log_flag flags[] = {
    {"--when", NULL, RUNNERS_BISECT_WHEN(WORD),
     "which commits are bad:\n"
     "fails: the tests fail (default)\n"
     "slower[:SPAN]: something, or that span, is slower than at GOOD; by "
     "instructions, if they are counted\n"
     "logs:TEXT: the tests log a line with that text",
     .read = read_when},
    TEST_LOG_HELP,
};

static int run(char **argv)
{
    struct plan plan = {.bisect.when = BISECT_FAILS};
    int count = 0, code;

    while (argv[count])
        count++;
    if (count == 2 + STEP_ARGUMENTS && !strcmp(argv[1], "--step"))
        return step(argv + 2);
    if (!test_log_flags_read(&runners_bisect, &plan.bisect, &argv, NULL, &code))
        return code;
    return start(&plan, argv);
}

const struct test_log_command runners_bisect = {
    .name = "bisect",
    .help = "find the commit since which tests fail",
    .synopsis = "GOOD BAD [--when=WHAT[:TEXT]] -- COMMAND",
    .text = "Finds the commit since which tests fail, with git bisect. COMMAND "
            "builds and runs them at each commit, such as 'make && "
            "./ring_test'; its last part is judged, and a commit at which a "
            "part before fails is skipped. GOOD and BAD are run first. The "
            "work tree must be clean; it is put back at the end.",
    TEST_LOG_FLAGS(flags),
    .run = run,
};

/* start_valgrind.c: --races runs the program again under valgrind. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/results/folder/notice.h"
#include "harness/runner/options/options.h"
#include "program.h"
#include "trace/base/valgrind_requests.h"

#define VARIABLE "TESTLOG_RACES"

/* A function of LeakSanitizer and AddressSanitizer; NULL without them. */
#pragma weak __lsan_do_recoverable_leak_check
int __lsan_do_recoverable_leak_check(void);

/* Where the logs of this run are; "": valgrind does not run. */
static char folder[PATH_MAX];

/* ---- The folder of logs ---- */

static int write_suppressions(void)
{
    char path[PATH_MAX + 16];
    FILE *file;

    snprintf(path, sizeof(path), "%s/suppressions", folder);
    file = fopen(path, "wxe");
    if (!file)
        return -1;
    fputs(test_log_suppressions, file);
    return fclose(file);
}

/* Passes the folder to the program under valgrind, which is the same
 * process. */
static int make_folder(void)
{
    const char *parent = getenv("TMPDIR");
    char text[PATH_MAX + 32];

    if (!parent || parent[0] != '/' || strchr(parent, '%')) /* for valgrind */
        parent = "/tmp";
    if (snprintf(folder, sizeof(folder), "%s/testlog-races-XXXXXX", parent) >=
        PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (!mkdtemp(folder))
        return -1;
    snprintf(text, sizeof(text), "%ld:%s", (long)getpid(), folder);
    return write_suppressions() || setenv(VARIABLE, text, 1);
}

static void find_folder(void)
{
    const char *text = getenv(VARIABLE);
    char *path;

    if (text && strtol(text, &path, 10) == getpid() && path[0] == ':')
        snprintf(folder, sizeof(folder), "%s", path + 1);
    unsetenv(VARIABLE);
}

const char *test_log_races_folder(void)
{
    return folder;
}

void test_log_races_end(void)
{
    DIR *opened = folder[0] ? opendir(folder) : NULL;
    struct dirent *entry;

    if (!opened)
        return;
    while ((entry = readdir(opened)))
        if (isdigit((unsigned char)entry->d_name[0]) ||
            !strcmp(entry->d_name, "suppressions"))
            unlinkat(dirfd(opened), entry->d_name, 0);
    closedir(opened);
    rmdir(folder);
}

/* ---- Valgrind ---- */

/* Programs of the system that tests start are not checked, because that takes
 * long and they have their own races. An exception: the tests are such
 * programs. */
static const char *others_of(const char *program)
{
    char *path = realpath(program, NULL);
    bool ours = path && strncmp(path, "/usr/", 5) != 0;

    free(path);
    return ours ? "--trace-children-skip=/usr/*,/bin/*,/sbin/*"
                : "--trace-children=yes";
}

static void execute(const char *tool, const char *program, char **argv,
                    int argc)
{
    char tool_flag[32], known[PATH_MAX + 64], log[PATH_MAX + 64];
    char here[PATH_MAX], full[PATH_MAX + 32];
    const char **all = calloc((size_t)argc + 16, sizeof(*all));

    if (!all || make_folder() || !getcwd(here, sizeof(here)))
        return;
    snprintf(tool_flag, sizeof(tool_flag), "--tool=%s", tool);
    snprintf(known, sizeof(known), "--suppressions=%s/suppressions", folder);
    snprintf(log, sizeof(log), "--log-file=%s/%%p", folder);
    snprintf(full, sizeof(full), "--fullpath-after=%s/", here);

    const char *first[] = {"valgrind",
                           "--quiet",
                           tool_flag,
                           known,
                           log,
                           full,
                           "--trace-children=yes",
                           others_of(program),
                           "--",
                           program};
    size_t count = sizeof(first) / sizeof(*first);

    memcpy(all, first, sizeof(first));
    memcpy(all + count, argv + 1, (size_t)argc * sizeof(*argv));
    execvp(all[0], (char *const *)all);
}

int test_log_races_begin(const struct test_log_options *options, int argc,
                         char **argv)
{
    if (!options->races || options->informs)
        return 0;
    if (trace_valgrind_ask(TRACE_RUNNING_ON_VALGRIND, 0, 0, 0, 0)) {
        find_folder();
        return 0;
    }
    if (__lsan_do_recoverable_leak_check) {
        test_log_notice("--races: valgrind cannot run a program that was built "
                        "with a sanitizer; build it without -fsanitize");
        return -1;
    }
    execute(options->races, strchr(argv[0], '/') ? argv[0] : "/proc/self/exe",
            argv, argc);
    test_log_notice("--races: cannot run valgrind: %s; set TMPDIR if its log "
                    "has no folder",
                    strerror(errno));
    test_log_races_end();
    return -1;
}

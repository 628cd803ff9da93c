/* start_valgrind.c: --races and --callgrind run the program again under
 * valgrind. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/options/options.h"
#include "program.h"
#include "trace/base/valgrind_requests.h"

#define VARIABLE "TESTLOG_RACES"

/* A function of LeakSanitizer and AddressSanitizer; NULL without them. */
#pragma weak __lsan_do_recoverable_leak_check
int __lsan_do_recoverable_leak_check(void);

/* Where valgrind's files of this run are; "": it does not run. */
static char folder[PATH_MAX];

#define COUNTS "counts." /* as in trace/base/callgrind.c */

/* ---- The folder of valgrind's files ---- */

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

    /* valgrind replaces "%p", and splits its variable at blanks. */
    if (!parent || parent[0] != '/' || strpbrk(parent, "% \t\n"))
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

const char *test_log_valgrind_folder(void)
{
    return folder;
}

void test_log_valgrind_end(void)
{
    DIR *opened = folder[0] ? opendir(folder) : NULL;
    struct dirent *entry;

    if (!opened)
        return;
    while ((entry = readdir(opened)))
        if (isdigit((unsigned char)entry->d_name[0]) ||
            !strcmp(entry->d_name, "suppressions") ||
            !strncmp(entry->d_name, TEST_LOG_VALGRIND_VGDB,
                     strlen(TEST_LOG_VALGRIND_VGDB)) ||
            !strncmp(entry->d_name, COUNTS, strlen(COUNTS)))
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

/* callgrind writes a file when a process ends: the runner's goes nowhere,
 * because the folder is gone then. Processes do not inherit what this variable
 * says. */
static void set_output(const char *path)
{
    const char *others = getenv("VALGRIND_OPTS");
    char *text;

    if (asprintf(&text, "%s --callgrind-out-file=%s", others ? others : "",
                 path) < 0)
        return;
    setenv("VALGRIND_OPTS", text, 1);
    free(text);
}

static void execute(const char *tool, const char *program, char **argv,
                    int argc)
{
    char tool_flag[32], log[PATH_MAX + 64], here[PATH_MAX];
    char suppressions[PATH_MAX + 64], last[PATH_MAX + 64];
    char vgdb[PATH_MAX + 64];
    const char **all = calloc((size_t)argc + 16, sizeof(*all));
    int persona;

    if (!all || make_folder())
        return;
    snprintf(tool_flag, sizeof(tool_flag), "--tool=%s", tool);
    snprintf(log, sizeof(log), "--log-file=%s/%%p", folder);
    snprintf(suppressions, sizeof(suppressions),
             "--suppressions=%s/suppressions", folder);
    snprintf(vgdb, sizeof(vgdb), "--vgdb-prefix=%s/" TEST_LOG_VALGRIND_VGDB,
             folder);
    if (!strcmp(tool, "callgrind")) {
        /* Equal runs must have equal counts: addresses are the same, and
         * functions are bound before the test begins. */
        persona = personality(0xffffffff);
        if (persona >= 0)
            personality((unsigned long)persona | ADDR_NO_RANDOMIZE);
        setenv("LD_BIND_NOW", "1", 1);
        set_output("/dev/null");
        /* It begins to count when a test does. */
        snprintf(last, sizeof(last), "--instr-atstart=no");
    } else {
        snprintf(last, sizeof(last), "--fullpath-after=%s/",
                 getcwd(here, sizeof(here)) ? here : "");
    }

    const char *first[] = {
        "valgrind",         "--quiet", vgdb,   tool_flag,
        suppressions,       log,       last,   "--trace-children=yes",
        others_of(program), "--",      program};
    size_t count = sizeof(first) / sizeof(*first);

    memcpy(all, first, sizeof(first));
    memcpy(all + count, argv + 1, (size_t)argc * sizeof(*argv));
    execvp(all[0], (char *const *)all);
}

int test_log_start_valgrind(const struct test_log_options *options, int argc,
                            char **argv)
{
    const char *flag = options->callgrind ? "--callgrind" : "--races";
    const char *text = getenv(VARIABLE);
    char counts[PATH_MAX + 64], *path;

    if ((!options->races && !options->callgrind) || options->informs)
        return 0;
    if (trace_valgrind_ask(TRACE_RUNNING_ON_VALGRIND, 0, 0, 0, 0)) {
        if (text && strtol(text, &path, 10) == getpid() && path[0] == ':')
            snprintf(folder, sizeof(folder), "%s", path + 1);
        unsetenv(VARIABLE);
        if (options->callgrind) {
            snprintf(counts, sizeof(counts), "%s/" COUNTS "%%p", folder);
            set_output(counts);
        }
        return 0;
    }
    if (__lsan_do_recoverable_leak_check) {
        test_log_notice("%s: valgrind cannot run a program that was built "
                        "with a sanitizer; build it without -fsanitize",
                        flag);
        return -1;
    }
    execute(options->callgrind ? "callgrind" : options->races,
            strchr(argv[0], '/') ? argv[0] : "/proc/self/exe", argv, argc);
    test_log_notice("%s: cannot run valgrind: %s; set TMPDIR if its files "
                    "have no folder",
                    flag, strerror(errno));
    test_log_valgrind_end();
    return -1;
}

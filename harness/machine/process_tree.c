/* process_tree.c: finds and ends the processes that a test has started.
 *
 * A child that calls setsid() and whose parent dies has no tie to the test that
 * the kernel knows. But it has its environment: forks keep what the worker was
 * started with, and programs inherit a variable that the worker sets. Nothing
 * of that changes what the tested code sees of its processes.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/machine/process_tree.h"
#include "harness/session.h"
#include "trace/base/containers.h"
#include "trace/base/file.h"
#include "trace/record/recorder.h"

enum { NAMED = 3, ENVIRONMENT_MOST = 1 << 20 };

/* ---- /proc ---- */

struct entry {
    struct test_log_process process;
    pid_t parent, group;
    char state;
    bool ours; /* it belongs to the tree */
};

ssize_t test_log_process_file(pid_t pid, const char *name, char *text,
                              size_t size)
{
    char path[64];
    size_t used = 0;
    ssize_t got = 1;
    int fd;

    snprintf(path, sizeof(path), "/proc/%ld/%s", (long)pid, name);
    fd = trace_proc_is_ours() ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return -1;
    while (used + 1 < size && got > 0) {
        got = read(fd, text + used, size - 1 - used);
        used += got > 0 ? (size_t)got : 0;
    }
    close(fd);
    text[used] = '\0';
    return (ssize_t)used;
}

/* "1 (name) S ..."; a name may contain anything. See proc(5). */
static bool read_entry(pid_t pid, struct entry *entry)
{
    char line[1024], *begin, *end;
    ssize_t size = test_log_process_file(pid, "stat", line, sizeof(line));
    long parent, group;
    unsigned long long started;

    begin = size > 0 ? strchr(line, '(') : NULL;
    end = begin ? memrchr(line, ')', (size_t)size) : NULL;
    if (!end ||
        sscanf(end,
               ") %c %ld %ld %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d "
               "%*d %*d %*d %*d %llu",
               &entry->state, &parent, &group, &started) != 4)
        return false;
    *end = '\0';
    entry->process = (struct test_log_process){.pid = pid, .started = started};
    snprintf(entry->process.name, sizeof(entry->process.name), "%s", begin + 1);
    entry->parent = (pid_t)parent;
    entry->group = (pid_t)group;
    entry->ours = false;
    return true;
}

static bool is_dead(const struct entry *entry)
{
    return strchr("ZXx", entry->state);
}

uint64_t test_log_process_started(pid_t pid)
{
    struct entry entry;

    return read_entry(pid, &entry) && !is_dead(&entry) ? entry.process.started
                                                       : 0;
}

pid_t test_log_process_parent(pid_t pid)
{
    struct entry entry;

    return read_entry(pid, &entry) ? entry.parent : 0;
}

static bool is_alive(const struct test_log_process *process)
{
    return process->started &&
           test_log_process_started(process->pid) == process->started;
}

static bool is_of_this_user(pid_t pid)
{
    struct stat status;
    char path[32];

    snprintf(path, sizeof(path), "/proc/%ld", (long)pid);
    return !stat(path, &status) && status.st_uid == geteuid();
}

/* Returns the "NAME=value" of an environment that begins with `name`; NULL if
 * there is none. */
static const char *find_variable(const char *environment, size_t size,
                                 const char *name)
{
    for (const char *at = environment; at < environment + size;
         at += strlen(at) + 1)
        if (!strncmp(at, name, strlen(name)))
            return at;
    return NULL;
}

static char *read_environment(pid_t pid, size_t *size)
{
    char *text = malloc(ENVIRONMENT_MOST);
    ssize_t got =
        text ? test_log_process_file(pid, "environ", text, ENVIRONMENT_MOST)
             : -1;

    *size = got > 0 ? (size_t)got : 0;
    return text;
}

/* Whether a link of two processes leads to the same file. */
static bool same_link(pid_t one, pid_t other, const char *name)
{
    char paths[2][64], targets[2][PATH_MAX];
    ssize_t sizes[2];
    const pid_t pids[2] = {one, other};

    for (int i = 0; i < 2; i++) {
        snprintf(paths[i], sizeof(paths[i]), "/proc/%ld/%s", (long)pids[i],
                 name);
        sizes[i] = readlink(paths[i], targets[i], sizeof(targets[i]));
    }
    return sizes[0] > 0 && sizes[0] == sizes[1] &&
           !memcmp(targets[0], targets[1], (size_t)sizes[0]);
}

/* Forks run our own program. BoxFort's variable has the worker's id, which a
 * worker of another container may have as well. */
static bool is_fork(const struct test_log_tree *tree, pid_t pid,
                    const char *boxfort)
{
    return tree->boxfort[0] && boxfort && !strcmp(boxfort, tree->boxfort) &&
           same_link(pid, getpid(), "exe") &&
           same_link(pid, getpid(), "ns/pid");
}

static bool has_mark(const struct test_log_tree *tree, pid_t pid)
{
    size_t size;
    char *environment = read_environment(pid, &size);
    const char *boxfort, *worker;
    bool found;

    if (!environment)
        return false;
    boxfort = find_variable(environment, size, "BXFI_MAP=");
    worker = find_variable(environment, size, TEST_LOG_WORKER "=");
    found =
        is_fork(tree, pid, boxfort) || (worker && strstr(worker, tree->mark));
    free(environment);
    return found;
}

/* ---- The tree ---- */

pid_t test_log_tracer_of(pid_t pid)
{
    char text[4096], *at;

    if (test_log_process_file(pid, "status", text, sizeof(text)) < 0)
        return 0;
    at = strstr(text, "\nTracerPid:");
    return at ? (pid_t)strtol(at + strlen("\nTracerPid:"), NULL, 10) : 0;
}

/* BoxFort starts each worker with a variable of its own. */
static void read_marks(struct test_log_tree *tree,
                       const struct test_log_run *run)
{
    char origin[TEST_LOG_ANCHOR_SIZE];
    size_t size;
    char *environment = read_environment(tree->worker.pid, &size);
    const char *boxfort =
        environment ? find_variable(environment, size, "BXFI_MAP=") : NULL;

    if (boxfort && strlen(boxfort) < sizeof(tree->boxfort))
        snprintf(tree->boxfort, sizeof(tree->boxfort), "%s", boxfort);
    free(environment);
    test_log_anchor_text(&run->start, origin);
    snprintf(tree->mark, sizeof(tree->mark), "<%ld %s>", (long)tree->worker.pid,
             origin);
}

/* In another namespace, /proc has the ids of others. */
static bool is_proc_ours(void)
{
    char text[32];
    ssize_t size = readlink("/proc/self", text, sizeof(text) - 1);

    text[size > 0 ? size : 0] = '\0';
    return strtol(text, NULL, 10) == (long)getpid();
}

bool test_log_tree_begin(struct test_log_tree *tree,
                         const struct test_log_run *run, pid_t worker)
{
    struct entry entry = {.process.pid = worker};

    *tree = (struct test_log_tree){.count = 0};
    if (!worker || !is_proc_ours())
        return false;
    read_entry(worker, &entry);
    tree->worker = entry.process;
    tree->debugger = test_log_tracer_of(worker);
    read_marks(tree, run);
    return true;
}

void test_log_tree_free(struct test_log_tree *tree)
{
    free(tree->all);
    *tree = (struct test_log_tree){.count = 0};
}

/* Returns all processes; NULL without memory. */
static struct entry *list_all(size_t *count)
{
    DIR *folder = opendir("/proc");
    struct entry *all = NULL;
    struct dirent *name;
    size_t capacity = 0;

    *count = 0;
    while (folder && (name = readdir(folder))) {
        long pid = strtol(name->d_name, NULL, 10);

        if (!isdigit((unsigned char)name->d_name[0]))
            continue;
        if (!TRACE_ARRAY_RESERVE(all, capacity, *count + 1))
            break;
        *count += read_entry((pid_t)pid, &all[*count]);
    }
    if (folder)
        closedir(folder);
    return all;
}

static bool is_known(const struct test_log_tree *tree,
                     const struct test_log_process *process)
{
    for (size_t i = 0; i < tree->count; i++)
        if (tree->all[i].pid == process->pid &&
            tree->all[i].started == process->started)
            return true;
    return false;
}

/* A debugger may be a child of the test. */
static bool may_be_ours(const struct test_log_tree *tree,
                        const struct entry *entry)
{
    pid_t pid = entry->process.pid;

    return pid > 1 && pid != getpid() && pid != tree->worker.pid &&
           pid != tree->debugger &&
           entry->process.started >= tree->worker.started;
}

/* The worker's id may have been reused; then it says nothing any more. */
static bool has_worker(const struct test_log_tree *tree,
                       const struct entry *all, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (all[i].process.pid == tree->worker.pid)
            return all[i].process.started == tree->worker.started;
    return true;
}

static bool has_parent_of_ours(const struct entry *entry,
                               const struct entry *all, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (all[i].process.pid == entry->parent)
            return all[i].ours;
    return false;
}

static void mark_ours(const struct test_log_tree *tree, struct entry *all,
                      size_t count)
{
    bool valid = has_worker(tree, all, count), more = true;

    for (size_t i = 0; i < count; i++) {
        struct entry *one = &all[i];

        if (may_be_ours(tree, one))
            one->ours = is_known(tree, &one->process) ||
                        (valid && (one->parent == tree->worker.pid ||
                                   one->group == tree->worker.pid)) ||
                        (is_of_this_user(one->process.pid) &&
                         has_mark(tree, one->process.pid));
    }
    while (more) {
        more = false;
        for (size_t i = 0; i < count; i++)
            if (!all[i].ours && may_be_ours(tree, &all[i]) &&
                has_parent_of_ours(&all[i], all, count))
                all[i].ours = more = true;
    }
}

void test_log_tree_find(struct test_log_tree *tree)
{
    size_t count;
    struct entry *all = list_all(&count);

    if (!all)
        return;
    mark_ours(tree, all, count);
    tree->count = 0;
    for (size_t i = 0; i < count; i++)
        if (all[i].ours && !is_dead(&all[i]) &&
            TRACE_ARRAY_RESERVE(tree->all, tree->capacity, tree->count + 1))
            tree->all[tree->count++] = all[i].process;
    free(all);
}

void test_log_tree_names(struct trace_text *text,
                         const struct test_log_tree *tree)
{
    for (size_t i = 0; i < tree->count && i < NAMED; i++)
        trace_text_printf(text, "%s%ld (%s)", i ? ", " : "",
                          (long)tree->all[i].pid, tree->all[i].name);
    if (tree->count > NAMED)
        trace_text_printf(text, " and %zu more", tree->count - NAMED);
}

/* ---- Ending ---- */

static struct ending {
    struct test_log_tree tree;
    char test[512];
    uint64_t asked, killed; /* when; 0: not yet */
    unsigned looks;         /* that found nothing, one after another */
} * endings;

static size_t ending_count, ending_capacity;

static const uint64_t second = 1000000000;

/* A process that forks and ends may hide from one look. */
enum { EMPTY_LOOKS = 3 };

void test_log_tree_end(struct test_log_tree *tree, const char *test)
{
    struct ending *ending;

    if (!TRACE_ARRAY_RESERVE(endings, ending_capacity, ending_count + 1)) {
        test_log_tree_free(tree);
        return;
    }
    ending = &endings[ending_count++];
    *ending = (struct ending){.tree = *tree};
    snprintf(ending->test, sizeof(ending->test), "%s", test);
}

static void send(const struct test_log_tree *tree, int number)
{
    for (size_t i = 0; i < tree->count; i++) {
        if (!is_alive(&tree->all[i]))
            continue;
        kill(tree->all[i].pid, number);
        kill(tree->all[i].pid, SIGCONT); /* it may be stopped */
    }
}

static void ask(struct ending *ending)
{
    struct trace_text names = {0};

    test_log_tree_names(&names, &ending->tree);
    test_log_notice("%s: ending %zu process%s that it started: %s",
                    ending->test, ending->tree.count,
                    ending->tree.count == 1 ? "" : "es",
                    names.data ? names.data : "?");
    trace_text_free(&names);
    send(&ending->tree, SIGTERM);
}

/* Returns whether the tree has ended, or cannot be ended. */
static bool advance(struct ending *ending, uint64_t now)
{
    if (is_alive(&ending->tree.worker))
        return false;
    test_log_tree_find(&ending->tree);
    ending->looks = ending->tree.count ? 0 : ending->looks + 1;
    if (ending->tree.count && !ending->asked) {
        ask(ending);
        ending->asked = now;
    } else if (ending->tree.count && now - ending->asked >= second) {
        send(&ending->tree, SIGKILL);
        if (!ending->killed)
            ending->killed = now;
    }
    return ending->looks >= EMPTY_LOOKS ||
           (ending->killed && now - ending->killed >= second);
}

void test_log_trees_check(uint64_t now)
{
    size_t kept = 0;

    for (size_t i = 0; i < ending_count; i++)
        if (advance(&endings[i], now))
            test_log_tree_free(&endings[i].tree);
        else
            endings[kept++] = endings[i];
    ending_count = kept;
}

void test_log_trees_finish(void)
{
    enum { LOOK_EVERY = 10000 /* us */, SECONDS_MOST = 5 };
    uint64_t begin = trace_anchor_now().monotonic, now = begin;

    /* A worker may never die, in a call of the kernel. */
    for (; now - begin < SECONDS_MOST * second;
         now = trace_anchor_now().monotonic) {
        test_log_trees_check(now);
        if (!ending_count)
            return;
        usleep(LOOK_EVERY);
    }
}

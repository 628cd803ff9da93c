/* refusal.c: finds why no thread of a process can be held. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stacks.h"

static bool owner_of(uid_t *owner, pid_t process, const char *file)
{
    struct stat status;
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d%s", (int)process, file);
    if (stat(path, &status))
        return false;
    *owner = status.st_uid;
    return true;
}

/* The files of a process that is not dumpable are root's. */
static bool is_hidden(pid_t process)
{
    uid_t own = geteuid(), folder, file;

    return own && owner_of(&folder, process, "") &&
           owner_of(&file, process, "/stat") && folder == own && !file;
}

static bool is_another_users(pid_t process)
{
    uid_t own = geteuid(), owner;

    return own && owner_of(&owner, process, "") && owner != own;
}

/* Returns the process that traces another one, 0 if none does. */
static int tracer_of(pid_t process)
{
    char text[4096];
    const char *line =
        stacks_read(text, sizeof(text), "%d/status", (int)process)
            ? strstr(text, "\nTracerPid:")
            : NULL;

    return line ? atoi(line + strlen("\nTracerPid:")) : 0;
}

void stacks_put_refusal(pid_t process)
{
    int number = (int)process, tracer = tracer_of(process);
    char scope[8] = "";

    if (tracer)
        stacks_put("note\tno stacks of process %d, because process %d traces "
                   "it",
                   number, tracer);
    else if (is_hidden(process))
        stacks_put("note\tno stacks of process %d, because it is not dumpable: "
                   "prctl(PR_SET_DUMPABLE, 1) allows it, or run as root",
                   number);
    else if (is_another_users(process))
        stacks_put("note\tno stacks of process %d, because it runs as another "
                   "user: run as root",
                   number);
    else if (stacks_read(scope, sizeof(scope),
                         "sys/kernel/yama/"
                         "ptrace_scope") &&
             scope[0] > '0')
        stacks_put("note\tno stacks of process %d, because "
                   "kernel.yama.ptrace_scope is %c: set it to 0 with sysctl",
                   number, scope[0]);
    else
        stacks_put("note\tno stacks of process %d, because it cannot be "
                   "traced: a container may need the capability SYS_PTRACE",
                   number);
}

/* vgdb.c: asks valgrind for the stacks of a process that it runs, through
 * its own program vgdb. The kernel knows only the stacks of valgrind itself.
 *
 * The answer to "v.info scheduler" has a line for each thread, such as
 *
 *     Thread 2: status = VgTs_WaitSys syscall 202 (lwpid 2268)
 *
 * and after it one for each frame, with the frame's file and line, or with its
 * module:
 *
 *     ==2129==    by 0x10919C: other (plain.c:4)
 *     ==2129==    by 0x4849706: ??? (in /usr/lib/libexample.so)
 */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stacks.h"

/* It is killed with this process, which may be. */
static FILE *start_vgdb(const char *prefix, pid_t process, pid_t *vgdb)
{
    char of[4096], pid[32];
    int ends[2];

    snprintf(of, sizeof(of), "--vgdb-prefix=%s", prefix);
    snprintf(pid, sizeof(pid), "--pid=%d", (int)process);
    if (pipe(ends))
        return NULL;
    *vgdb = fork();
    if (!*vgdb) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(ends[1], 1);
        execlp("vgdb", "vgdb", of, pid, "v.info", "scheduler", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    return fdopen(ends[0], "r");
}

static void put_thread(pid_t process, pid_t id)
{
    struct stacks_status status = {.state = '?'};
    char path[64];

    snprintf(path, sizeof(path), "%d/task/%d", (int)process, (int)id);
    stacks_status_of(&status, path);
    stacks_put("thread\t%d\t%s\t%c\t", (int)id, status.name, status.state);
}

/* Functions of C++ have parentheses in their names, so the last ones count.
 * Functions that valgrind puts in the place of others have no names. */
static void put_frame(pid_t process, uint64_t address, char *text)
{
    char *place = strrchr(text, '('), *number = strrchr(text, ':');
    struct stacks_mapping mapping;
    struct stacks_frame frame = stacks_place(process, address, &mapping);

    if (!place || place == text || strstr(place, "/vgpreload_"))
        return;
    place[-1] = '\0';
    place[strcspn(place, ")")] = '\0';
    if (strcmp(text, "???") != 0)
        frame.function = text;
    if (strncmp(place, "(in ", 4) != 0 && number > place) {
        *number = '\0';
        frame.file = place + 1;
        frame.line = atoi(number + 1);
    }
    stacks_put_frame(&frame);
}

static bool read_frame(const char *line, uint64_t *address, int *at)
{
    return sscanf(line, "==%*d== %*2s 0x%" SCNx64 ": %n", address, at) == 1;
}

/* Returns the frames of a thread from that of the fault on: those before it are
 * of the signal's handler. Valgrind may print the address before. */
static char *without_handler(char *frames, uint64_t instruction)
{
    uint64_t address;
    char *line = frames;
    int at;

    while (strncmp(line, "Thread ", strlen("Thread ")) != 0) {
        if (read_frame(line, &address, &at) &&
            (address == instruction || address + 1 == instruction))
            return line;
        line += strcspn(line, "\n");
        if (!*line++)
            break;
    }
    return frames;
}

bool stacks_put_of_valgrind(const char *prefix, pid_t process, pid_t only,
                            const struct stacks_fault *fault, pid_t crashed)
{
    pid_t vgdb = -1, thread = 0;
    FILE *answer = start_vgdb(prefix, process, &vgdb);
    char *text = NULL, *line;
    size_t room = 0;
    uint64_t address;
    bool any = false;
    int at, lwp;

    if (answer && getdelim(&text, &room, '\0', answer) < 0)
        text[0] = '\0';
    for (char *rest = text; (line = strsep(&rest, "\n"));) {
        if (sscanf(line, "Thread %*d: %*[^(](lwpid %d", &lwp) == 1) {
            thread = !only || lwp == only ? lwp : 0;
            if (thread) {
                put_thread(process, thread);
                any = true;
            }
            if (rest && fault->instruction && thread == crashed)
                rest = without_handler(rest, fault->instruction);
        } else if (thread && read_frame(line, &address, &at)) {
            put_frame(process, address, line + at);
        }
    }
    free(text);
    if (answer)
        fclose(answer);
    if (vgdb > 0)
        waitpid(vgdb, NULL, 0);
    return any;
}

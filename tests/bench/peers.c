/* peers.c: runs programs that do the same work with other libraries; see
 * peers/peer.h. Each runs until the end and waits for its turns.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

enum { PEERS_MAX = 16, COUNTED = 512 };

static struct peer {
    const char *command; /* relative to the programs' folder */
    pid_t pid;           /* 0: not running */
    FILE *asks, *answers;
} peers[PEERS_MAX];

/* Expands "@/name" to a program relative to the programs' folder. A command may
 * begin with other words: uftrace runs a peer. */
static void whole_command(const char *command, char *out, size_t size)
{
    size_t at = 0;

    for (; *command && at + 1 < size; command++) {
        if (*command != '@')
            out[at++] = *command;
        else
            at += (size_t)snprintf(out + at, size - at, "%s/peers",
                                   bench_settings.programs);
        at = at < size ? at : size - 1;
    }
    out[at] = '\0';
}

/* Returns whether all programs that a command names exist. */
static bool is_built(const char *command)
{
    char path[PATH_MAX];
    size_t size;

    while ((command = strchr(command, '@'))) {
        size = strcspn(command, " ");
        snprintf(path, sizeof(path), "%s/peers%.*s", bench_settings.programs,
                 (int)size - 1, command + 1);
        if (access(path, X_OK))
            return false;
        command += size;
    }
    return true;
}

static void start(struct peer *peer)
{
    char command[PATH_MAX + 16];
    char shell[] = "/bin/sh", flag[] = "-c";
    char *arguments[] = {shell, flag, command, NULL};
    posix_spawn_file_actions_t actions;
    int in[2], out[2];

    snprintf(command, 6, "exec ");
    whole_command(peer->command, command + 5, PATH_MAX);
    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
        bench_stop("pipe2");
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    errno = posix_spawn(&peer->pid, arguments[0], &actions, NULL, arguments,
                        environ);
    if (errno)
        bench_stop(command);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    peer->asks = fdopen(in[1], "w");
    peer->answers = fdopen(out[0], "r");
    if (!peer->asks || !peer->answers)
        bench_stop(command);
}

static struct peer *find(const char *command)
{
    size_t i = 0;

    while (i < PEERS_MAX && peers[i].command &&
           strcmp(peers[i].command, command))
        i++;
    if (i == PEERS_MAX)
        bench_stop("too many peers");
    if (!peers[i].command) {
        peers[i].command = command;
        if (!bench_settings.alone && is_built(command))
            start(&peers[i]);
    }
    return &peers[i];
}

double bench_ask_peer(const char *command, const char *work, size_t count)
{
    struct peer *peer = find(command);
    char answer[64];
    double ns;

    if (!peer->pid)
        return -1;
    fprintf(peer->asks, "%s %zu\n", work, count);
    fflush(peer->asks);
    if (!fgets(answer, sizeof(answer), peer->answers) ||
        sscanf(answer, "%lf", &ns) != 1)
        return -1;
    return ns;
}

void bench_end_peers(void)
{
    for (size_t i = 0; i < PEERS_MAX && peers[i].command; i++) {
        if (!peers[i].pid)
            continue;
        fclose(peers[i].asks);
        fclose(peers[i].answers);
        waitpid(peers[i].pid, NULL, 0);
    }
}

/* ---- Instructions ---- */

/* Returns the instructions that callgrind counts in a program that does some
 * work once; below 0 if it fails. */
static double collect(const char *program, const char *work, size_t count)
{
    char command[2 * PATH_MAX], line[256];
    double instructions = -1;

    snprintf(command, sizeof(command),
             "echo '%s %zu' | valgrind --tool=callgrind "
             "--callgrind-out-file=/dev/null %s 2>&1 >/dev/null",
             work, count, program);

    FILE *output = popen(command, "re");

    while (output && fgets(line, sizeof(line), output)) {
        const char *at = strstr(line, "Collected : ");

        if (at)
            instructions = strtod(at + sizeof("Collected : ") - 1, NULL);
    }
    if (output)
        pclose(output);
    return instructions;
}

double bench_count_instructions(const struct bench_row *row)
{
    char program[PATH_MAX];
    double once, more;

    if (!row->counted)
        return 0;
    if (row->peer)
        whole_command(row->peer, program, sizeof(program));
    else
        snprintf(program, sizeof(program), "%s/bench --serve '%s'",
                 bench_settings.programs, bench_settings.directory);
    once = collect(program, row->work, COUNTED);
    more = collect(program, row->work, 3 * COUNTED);
    return once < 0 || more < 0 ? 0 : (more - once) / (2 * COUNTED);
}

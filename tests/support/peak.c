/* peak.c: runs a command and writes its peak memory, in KiB, to a file.
 *
 *     peak FILE COMMAND [ARGUMENT...]
 *
 * A process that starts another one passes its own peak on to it (getrusage(2)
 * of the child counts from before exec), so the caller must be small.
 */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct rusage used;
    FILE *out;
    pid_t pid;
    int status;

    if (argc < 3)
        return 2;
    errno = posix_spawnp(&pid, argv[2], NULL, NULL, argv + 2, environ);
    if (errno || wait4(pid, &status, 0, &used) != pid) {
        perror(argv[2]);
        return 1;
    }
    out = fopen(argv[1], "we");
    if (!out || fprintf(out, "%ld\n", used.ru_maxrss) < 0 || fclose(out)) {
        perror(argv[1]);
        return 1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

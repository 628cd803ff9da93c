/* races.c: reports the data races that valgrind found in a test, each as a
 * failed assertion at the place of one access that names the other.
 *
 * With --races, each worker's valgrind writes a log of its own. Its lines begin
 * with the process, because forked children write there, too.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/event.h>

#include "harness/session.h"
#include "harness/worker/worker.h"

static FILE *valgrind_log;

/* Nobody else needs its name. */
void test_log_races_watch(void)
{
    const char *folder = test_log_session()->races;
    char path[PATH_MAX];

    if (!folder || !folder[0] || valgrind_log)
        return;
    snprintf(path, sizeof(path), "%s/%ld", folder, (long)getpid());
    valgrind_log = fopen(path, "re");
    unlink(path);
}

void test_log_races_print(void)
{
    char bytes[4096];
    ssize_t got;

    while (valgrind_log &&
           (got = read(fileno(valgrind_log), bytes, sizeof(bytes))) > 0 &&
           write(STDERR_FILENO, bytes, (size_t)got) == got)
        continue;
}

/* ---- A race ---- */

/* Of "   at 0x117C6D: write_last (tests/races.c:97)". */
struct place {
    char function[128], file[512];
    unsigned line; /* 0: unknown */
};

struct race {
    struct place *reading; /* the place whose stack follows; NULL: none */
    const char *did, *had_done;
    struct place here, there;
    char variable[128];
};

/* Takes the first frame with a line. Valgrind replaces functions of the C
 * library by its own. */
static void read_frame(struct place *place, const char *line)
{
    struct place read = {.line = 0};

    if (!place || place->line ||
        sscanf(line, " %*2s 0x%*x: %127[^(] (%511[^:)]:%u)", read.function,
               read.file, &read.line) != 3 ||
        !strncmp(read.file, "vg_", 3) || strstr(read.file, "/vg_"))
        return;
    read.function[strcspn(read.function, " ")] = '\0';
    *place = read;
}

static const char *access_of(const char *line)
{
    return strstr(line, " write ") || strstr(line, " store ") ? "written"
                                                              : "read";
}

/* Returns how many were sent. */
static size_t end_race(struct race *race)
{
    char text[2048], there[700] = "used; --races=helgrind finds where";
    struct criterion_assert_stats stats = {
        .message = text, .line = race->here.line, .file = race->here.file};

    if (race->there.line)
        snprintf(there, sizeof(there), "%s in %s (%s:%u)", race->had_done,
                 race->there.function, race->there.file, race->there.line);
    if (race->here.line) {
        snprintf(text, sizeof(text),
                 "data race on %s: %s in %s, and in another thread %s",
                 race->variable[0] ? race->variable : "memory", race->did,
                 race->here.function, there);
        criterion_send_assert(&stats);
    }
    *race = (struct race){.reading = NULL};
    return stats.line != 0;
}

static bool begins(const char *line, const char *with)
{
    return !strncmp(line, with, strlen(with));
}

size_t test_log_races_report(void)
{
    struct race race = {.reading = NULL};
    char prefix[32], bytes[4096];
    size_t sent = 0;
    int size = snprintf(prefix, sizeof(prefix), "==%ld== ", (long)getpid());

    while (valgrind_log && fgets(bytes, sizeof(bytes), valgrind_log)) {
        const char *line = bytes + size;

        if (!begins(bytes, prefix))
            continue;
        fputs(line, stderr);
        if (begins(line, "Possible data race ") ||
            begins(line, "Conflicting ")) {
            sent += end_race(&race);
            race.did = access_of(line);
            race.reading = &race.here;
        } else if (begins(line, "---")) {
            sent += end_race(&race);
        } else if (begins(line, "This conflicts with ")) {
            race.had_done = access_of(line);
            race.reading = &race.there;
        } else if (strstr(line, "Address 0x") || begins(line, "Allocation ") ||
                   begins(line, "Other segment ")) {
            race.reading = NULL;
            sscanf(line,
                   " Address %*s is %*u bytes inside data symbol \"%127[^\"]",
                   race.variable);
        } else {
            read_frame(race.reading, line);
        }
    }
    return sent + end_race(&race);
}

/* race_log.c: reads the data races in logs of valgrind. */
#include "harness/race_log.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A frame, such as "   at 0x117C6D: write_last (tests/races.c:97)". */
struct place {
    char function[128], file[512];
    unsigned line; /* 0: unknown */
};

struct race {
    bool own;              /* it is in the test's process */
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

/* Describes a race. Without debug information, its place is unknown, and it is
 * an error like others. */
static void end_race(struct race *race, struct test_log_races *races,
                     test_log_race_found *found)
{
    char text[2048], there[700] = "used; --races=helgrind finds where";

    if (race->there.line)
        snprintf(there, sizeof(there), "%s in %s (%s:%u)", race->had_done,
                 race->there.function, race->there.file, race->there.line);
    if (race->here.line) {
        snprintf(text, sizeof(text),
                 "data race on %s: %s in %s, and in another thread %s",
                 race->variable[0] ? race->variable : "memory", race->did,
                 race->here.function, there);
        found(races, text, race->here.file, race->here.line);
        races->count++;
        races->own += race->own;
    } else if (race->did) {
        races->others += !race->own;
    }
    *race = (struct race){.reading = NULL};
}

static bool begins(const char *line, const char *with)
{
    return !strncmp(line, with, strlen(with));
}

/* "Thread #1: lock order ... violated"; others only name a thread. */
static bool is_other_error(const char *line)
{
    return begins(line, "Thread #") && strstr(line, ": ");
}

void test_log_race_log_read(struct test_log_races *races, FILE *log, pid_t own,
                            test_log_race_found *found)
{
    struct race race = {.reading = NULL};
    char bytes[4096];
    long process, before = 0;
    int size;

    while (fgets(bytes, sizeof(bytes), log)) {
        const char *line = bytes;

        if (sscanf(bytes, "==%ld==%n", &process, &size) != 1)
            continue;
        line += size + (bytes[size] == ' ');
        if (races->echo)
            fputs(line, races->echo);
        if (process != before)
            end_race(&race, races, found);
        before = process;
        races->others += process != (long)own && is_other_error(line);
        if (begins(line, "Possible data race ") ||
            begins(line, "Conflicting ")) {
            end_race(&race, races, found);
            race.own = process == (long)own;
            race.did = access_of(line);
            race.reading = &race.here;
        } else if (begins(line, "---")) {
            end_race(&race, races, found);
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
    end_race(&race, races, found);
}

static void read_file(struct test_log_races *races, const char *path, pid_t own,
                      test_log_race_found *found)
{
    FILE *log = fopen(path, "re");

    if (!log)
        return;
    test_log_race_log_read(races, log, own, found);
    fclose(log);
    unlink(path);
}

void test_log_race_log_children(struct test_log_races *races, const char *path,
                                pid_t own, test_log_race_found *found)
{
    const char *base = strrchr(path, '/') + 1;
    char name[PATH_MAX];
    size_t size = strlen(base);
    struct dirent *entry;
    DIR *folder;

    snprintf(name, sizeof(name), "%.*s", (int)(base - path), path);
    folder = opendir(name);
    while (folder && (entry = readdir(folder)))
        if (!strncmp(entry->d_name, base, size) && entry->d_name[size] == '.' &&
            snprintf(name, sizeof(name), "%.*s%s", (int)(base - path), path,
                     entry->d_name) < PATH_MAX)
            read_file(races, name, own, found);
    if (folder)
        closedir(folder);
}

void test_log_race_log_all(struct test_log_races *races, const char *path,
                           test_log_race_found *found)
{
    read_file(races, path, 0, found);
    test_log_race_log_children(races, path, 0, found);
}

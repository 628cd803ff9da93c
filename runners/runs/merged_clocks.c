/* merged_clocks.c: puts the recordings of a merged run on one clock.
 *
 * The recordings are unchanged copies from the merged runs. Each begins at its
 * own run's start, by its own host's clock. A file of the merged run maps each
 * such moment to the time since the merged run's start.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "harness/run/folder/run_folder.h"
#include "run_json.h"
#include "trace/base/containers.h"

enum { MOST = 1 << 20 /* lines: a sparse file can have any size */ };

struct origin {
    uint64_t start; /* of the merged run, ns since 1970 */
    uint64_t after; /* ns */
};

/* The moments of the run that was read last. */
static struct {
    char run[PATH_MAX];
    struct origin *all;
    size_t count, capacity;
    struct trace_table by_anchor; /* hash to index */
} origins;

static uint64_t key_of(uint64_t wall, uint64_t monotonic)
{
    const uint64_t moment[] = {wall, monotonic};

    return trace_hash(TRACE_HASH, moment, sizeof(moment));
}

void runners_merged_clock_put(FILE *out, const struct trace_anchor *origin,
                              uint64_t start, uint64_t after)
{
    fprintf(out, "%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n",
            origin->wall, origin->monotonic, start, after);
}

static void forget(void)
{
    free(origins.all);
    trace_table_free(&origins.by_anchor);
    origins.all = NULL;
    origins.count = origins.capacity = 0;
}

static void add_line(const char *line)
{
    struct origin origin;
    uint64_t wall, monotonic;

    if (sscanf(line, "%" SCNu64 "\t%" SCNu64 "\t%" SCNu64 "\t%" SCNu64, &wall,
               &monotonic, &origin.start, &origin.after) == 4 &&
        TRACE_ARRAY_RESERVE(origins.all, origins.capacity, origins.count + 1) &&
        trace_table_set(&origins.by_anchor, key_of(wall, monotonic),
                        origins.count))
        origins.all[origins.count++] = origin;
}

/* Reads the file of a run, unless it was the last one. */
static void read_run(const char *run)
{
    struct test_log_run files = {.path = origins.run};
    char line[128];
    FILE *file;
    int fd;

    if (!strcmp(origins.run, run))
        return;
    forget();
    memcpy(origins.run, run, strlen(run) + 1);
    fd = test_log_open(&files, RUNNERS_ORIGINS, O_RDONLY);
    file = fd < 0 ? NULL : fdopen(fd, "r");
    for (int i = 0; file && i < MOST && fgets(line, sizeof(line), file); i++)
        add_line(line);
    if (file)
        fclose(file);
}

/* Finds the run of RUN/tests/PROGRAM/TEST/recording. */
static bool find_run(const char *path, char run[PATH_MAX])
{
    enum { ABOVE = 3 }; /* the test, the program, "tests" */
    char folder[PATH_MAX];
    const char *base = trace_base_name(path);
    char *slash = NULL;

    snprintf(folder, sizeof(folder), "%.*s", (int)(base - path), path);
    if (!realpath(*folder ? folder : ".", run))
        return false;
    for (int i = 0; i < ABOVE; i++) {
        slash = strrchr(run, '/');
        if (!slash || (i == ABOVE - 1 && strcmp(slash, "/tests") != 0))
            return false;
        *slash = '\0';
    }
    return true;
}

void runners_merged_clock_apply(struct trace_reader *reader, const char *path)
{
    struct trace_anchor own = trace_reader_summary(reader).origin;
    char run[PATH_MAX];
    uintptr_t number;

    if (!find_run(path, run))
        return;
    read_run(run);
    if (trace_table_find(&origins.by_anchor, key_of(own.wall, own.monotonic),
                         &number))
        trace_reader_rebase(reader, origins.all[number].start,
                            origins.all[number].after);
}

/* sources.c: reads the facts of the runs to merge. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "harness/machine/notice.h"
#include "harness/machine/tsv.h"
#include "harness/options/options.h"
#include "harness/run/folder/old_runs.h"
#include "harness/run/folder/run_folder.h"
#include "merge.h"
#include "runners/runs/find.h"
#include "runners/runs/run_json.h"
#include "trace/format.h"
#include "trace/read/reader.h"

enum {
    SCHEMA = 1,      /* of run.json */
    TRIES_MOST = 10, /* that are printed */
};

struct test_log_run merge_source_files(const struct merge_source *source)
{
    return (struct test_log_run){.path = source->path};
}

/* ---- Which runs ---- */

static bool has_file(const struct merge_source *source, const char *name)
{
    char path[PATH_MAX];

    return snprintf(path, sizeof(path), "%s/%s", source->path, name) <
               PATH_MAX &&
           !access(path, F_OK);
}

/* If a folder cannot be merged, prints why. */
static bool is_good(struct merge_source *source, const char *word)
{
    struct stat status;

    if (stat(source->path, &status)) {
        test_log_notice("merge: cannot read %s: %s", word, strerror(errno));
        return false;
    }
    source->device = status.st_dev;
    source->inode = status.st_ino;
    if (!S_ISDIR(status.st_mode) ||
        (!has_file(source, "run.json") && !has_file(source, "tests"))) {
        test_log_notice("merge: %s is not a run; name the folder of a run",
                        word);
        return false;
    }
    if (test_log_old_runs_in_progress(AT_FDCWD, source->path)) {
        test_log_notice(
            "merge: %s is still in progress; wait until it has ended", word);
        return false;
    }
    return true;
}

static int find(struct merge *merge, struct merge_source *source,
                const char *dir, const char *word)
{
    char path[PATH_MAX], real[PATH_MAX];

    errno = 0;
    if (!runners_find_run(dir, word, path) || !realpath(path, real)) {
        if (errno == EBADMSG) /* a bad pack; runners_find_run has printed why */
            return -1;
        test_log_notice("merge: there is no run %s; name its folder, or a "
                        "name in testlog list",
                        word);
        return -1;
    }
    source->path = strdup(real);
    source->merged.run = strdup(word);
    if (!source->path || !source->merged.run || !is_good(source, word))
        return -1;
    for (size_t i = 0; i < merge->count; i++)
        if (merge->sources[i].inode == source->inode &&
            merge->sources[i].device == source->device) {
            test_log_notice("merge: %s and %s are the same folder; name it "
                            "once",
                            merge->sources[i].merged.run, word);
            return -1;
        }
    return 0;
}

/* ---- The head of run.json ---- */

static uint64_t identity_of(const cJSON *head,
                            const struct test_log_merged_run *merged)
{
    const cJSON *host = cJSON_GetObjectItemCaseSensitive(head, "host");
    const char *boot = runners_json_text(host, "boot");
    const uint64_t numbers[] = {merged->start, runners_json_number(head, "pid"),
                                merged->shard.index, merged->shard.total};
    uint64_t hash = trace_hash(TRACE_HASH, numbers, sizeof(numbers));

    hash = trace_hash_string(hash, merged->host ? merged->host : "");
    return trace_hash_string(hash, boot ? boot : "");
}

static char *plain_string(const cJSON *object, const char *name)
{
    const char *text = runners_json_text(object, name);
    struct trace_text plain = {0};

    if (text && *text)
        test_log_sanitize_line(&plain, text);
    return plain.data;
}

static void read_head(struct merge_source *source, const cJSON *head)
{
    struct test_log_merged_run *merged = &source->merged;
    const cJSON *host = cJSON_GetObjectItemCaseSensitive(head, "host");
    const cJSON *clock = cJSON_GetObjectItemCaseSensitive(head, "clock");

    merged->host = plain_string(host, "name");
    merged->testlog = plain_string(
        cJSON_GetObjectItemCaseSensitive(head, "versions"), "testlog");
    merged->shard = runners_json_shard(head);
    merged->start = runners_json_moment(runners_json_text(head, "start"));
    if (runners_json_text(head, "interrupted"))
        merged->end = TEST_LOG_END_INTERRUPTED;
    source->duration = runners_json_number(head, "duration_ns");
    source->identity = identity_of(head, merged);
    source->clock.error = UINT64_MAX;
    if (cJSON_IsNumber(cJSON_GetObjectItemCaseSensitive(clock, "error_ns")))
        source->clock.error = runners_json_number(clock, "error_ns");
}

static int check_head(const struct merge_source *source, const cJSON *head)
{
    uint64_t schema = runners_json_number(head, "schema");
    const char *version = runners_json_text(
        cJSON_GetObjectItemCaseSensitive(head, "versions"), "testlog");

    if (schema != SCHEMA)
        test_log_notice("merge: %s was written by testlog %s, whose run.json "
                        "has schema %llu; this testlog reads schema %d",
                        source->merged.run, version ? version : "?",
                        (unsigned long long)schema, SCHEMA);
    else if (cJSON_HasObjectItem(head, "merged"))
        test_log_notice("merge: %s is a merged run; name the runs that it was "
                        "made of",
                        source->merged.run);
    else
        return 0;
    return -1;
}

static void take_member(void *context, char **columns, size_t count)
{
    struct merge_source *source = context;

    if (count > 1 && !source->commit && !strcmp(columns[0], "commit"))
        source->commit = strdup(columns[1]);
}

/* The merged run tested a commit if all sources did. */
static int take_commit(struct merge *merge)
{
    const char *commit = merge->count ? merge->sources[0].commit : NULL;

    for (size_t i = 1; commit && i < merge->count; i++)
        if (!merge->sources[i].commit ||
            strcmp(merge->sources[i].commit, commit) != 0)
            commit = NULL;
    merge->run.commit = strdup(commit ? commit : "");
    return merge->run.commit ? 0 : -1;
}

/* ---- Killed runs ---- */

struct reading {
    struct merge *merge;
    struct merge_source *source;
    int status;
};

/* A program that had ended tells the host and the shard. */
static bool read_program(void *context, struct run_file *file)
{
    struct reading *reading = context;
    const cJSON *head = runners_run_file_head(file);

    reading->status = check_head(reading->source, head);
    if (!reading->status && !reading->source->merged.host)
        read_head(reading->source, head);
    if (!reading->status)
        reading->status = merge_plan_add(reading->merge, reading->source,
                                         runners_run_file_plan(file));
    return !reading->status;
}

/* Finds the start in the recordings. */
static void read_recordings(struct merge_source *source)
{
    struct recordings found = {0};

    runners_recordings_find(&found, source->path, NULL);
    for (size_t i = 0; i < found.count; i++) {
        struct trace_reader *reader = runners_open_beginning(found.all[i].path);
        uint64_t start = reader ? trace_reader_summary(reader).origin.wall : 0;

        if (start && (!source->merged.start || start < source->merged.start))
            source->merged.start = start;
        trace_reader_close(reader);
    }
    runners_recordings_free(&found);
}

static int read_killed(struct merge *merge, struct merge_source *source)
{
    const struct test_log_run run = merge_source_files(source);
    struct reading reading = {merge, source, 0};

    runners_read_program_files(&run, read_program, &reading);
    source->merged.end = TEST_LOG_END_KILLED;
    if (!source->merged.start)
        read_recordings(source);
    return reading.status;
}

/* ---- Reading all ---- */

/* Refuses recordings that only a newer testlog can read; one is enough. */
static int check_format(const struct merge_source *source, const cJSON *test)
{
    const struct test_log_run run = merge_source_files(source);
    const char *folder = runners_json_text(test, "folder");
    struct trace_header header = {0};
    char name[PATH_MAX];
    int fd = -1;

    if (folder &&
        snprintf(name, sizeof(name), "%s/recording", folder) < PATH_MAX)
        fd = test_log_open(&run, name, O_RDONLY);
    if (fd < 0)
        return 0;
    if (pread(fd, &header, sizeof(header), 0) != sizeof(header))
        header.magic = 0;
    close(fd);
    if (header.magic != TRACE_MAGIC ||
        header.version <= (uint32_t)TRACE_FORMAT_RAW)
        return 0;
    test_log_notice("merge: %s has recordings of format %u; this testlog reads "
                    "formats 1 to %d",
                    source->merged.run, header.version, TRACE_FORMAT_RAW);
    return -1;
}

static int read_source(struct merge *merge, struct merge_source *source)
{
    const struct test_log_run run = merge_source_files(source);
    struct run_file *file = runners_run_file_open(&run, "run.json");
    cJSON *test;
    int status;

    source->clock.error = UINT64_MAX;
    if (!file)
        return read_killed(merge, source);
    status = check_head(source, runners_run_file_head(file));
    if (!status) {
        read_head(source, runners_run_file_head(file));
        /* The run has left its commit for index.html. */
        test_log_tsv_each(test_log_open(&run, "summary.tsv", O_RDONLY), 2,
                          take_member, source);
        status = merge_plan_add(merge, source, runners_run_file_plan(file));
        test = runners_run_file_next(file);
        status = status ? status : check_format(source, test);
        cJSON_Delete(test);
    }
    runners_run_file_close(file);
    return status;
}

static int by_start(const void *a, const void *b)
{
    const struct merge_source *x = a, *y = b;

    if (x->merged.start != y->merged.start)
        return x->merged.start < y->merged.start ? -1 : 1;
    return strcmp(x->path, y->path);
}

static void free_source(struct merge_source *source)
{
    free(source->path);
    free(source->commit);
    free(source->label);
    free(source->merged.run);
    free(source->merged.host);
    free(source->merged.testlog);
    free(source->clock.origins);
}

/* Removes copies of runs, which have the same identity. */
static void remove_copies(struct merge *merge)
{
    struct trace_table known = {0};
    size_t kept = 0;
    uintptr_t same;

    for (size_t i = 0; i < merge->count; i++) {
        struct merge_source *source = &merge->sources[i];

        if (source->identity &&
            trace_table_find(&known, source->identity, &same)) {
            test_log_notice("merge: %s is a copy of %s and is counted once",
                            source->merged.run,
                            merge->sources[same].merged.run);
            free_source(source);
            continue;
        }
        if (source->identity)
            trace_table_set(&known, source->identity, kept);
        merge->sources[kept++] = *source;
    }
    merge->count = kept;
    trace_table_free(&known);
}

/* ---- Lanes ---- */

/* A run that was killed belongs to the shard that has its first test. */
static void find_shard(const struct merge *merge, struct merge_source *source)
{
    struct recordings found = {0};

    runners_recordings_find(&found, source->path, NULL);
    for (size_t i = 0; i < found.count && !source->merged.shard.total; i++)
        source->merged.shard =
            merge_plan_shard_of(merge, found.all[i].program, found.all[i].test);
    runners_recordings_free(&found);
}

/* Runs of the same shard are tries of one lane; any other run is a lane. */
static void find_lane(const struct merge *merge, struct merge_source *source)
{
    uint64_t numbers[] = {1, (uint64_t)(source - merge->sources), 0};

    if (source->merged.end == TEST_LOG_END_KILLED &&
        !source->merged.shard.total)
        find_shard(merge, source);
    if (source->merged.shard.total) {
        numbers[0] = 2;
        numbers[1] = source->merged.shard.index;
        numbers[2] = source->merged.shard.total;
    }
    source->lane = trace_hash(TRACE_HASH, numbers, sizeof(numbers));
}

/* Prints which runs count as later tries, because shards of two systems look
 * the same.
 */
static void say_tries(const struct merge *merge)
{
    struct trace_table lanes = {0};
    size_t tries = 0;

    for (size_t i = 0; i < merge->count; i++) {
        const struct merge_source *source = &merge->sources[i];
        uintptr_t first;

        if (!trace_table_find(&lanes, source->lane, &first))
            trace_table_set(&lanes, source->lane, i);
        else if (tries++ < TRIES_MOST)
            test_log_notice("merge: %s is a later try of the shard of %s",
                            source->merged.run,
                            merge->sources[first].merged.run);
    }
    trace_table_free(&lanes);
    if (tries > TRIES_MOST)
        test_log_notice("merge: %zu more runs are later tries",
                        tries - TRIES_MOST);
}

/* Labels a lane by its host, or if that is not enough by its shard or folder.
 */
static void find_label(struct merge *merge, size_t number)
{
    struct merge_source *source = &merge->sources[number];
    struct trace_text label = {0};
    bool alone = source->merged.host;

    for (size_t i = 0; alone && i < merge->count; i++)
        alone = merge->sources[i].lane == source->lane ||
                !merge->sources[i].merged.host ||
                strcmp(merge->sources[i].merged.host, source->merged.host) != 0;
    if (alone)
        trace_text_string(&label, source->merged.host);
    else if (source->merged.shard.total)
        trace_text_printf(&label, "shard%zu", source->merged.shard.index + 1);
    else
        test_log_sanitize_line(&label, trace_base_name(source->path));
    if (label.data)
        merge_name(label.data);
    source->label = label.data;
}

/* ---- All ---- */

/* The run owns the texts of its sources, which continue to use them. */
static int add_sources(struct merge *merge)
{
    struct test_log_run *run = &merge->run;

    if (!TRACE_ARRAY_RESERVE(run->sources, run->source_capacity,
                             merge->count)) {
        test_log_notice("merge: out of memory");
        return -1;
    }
    for (size_t i = 0; i < merge->count; i++) {
        struct test_log_merged_run merged = merge->sources[i].merged;

        merged.run = strdup(merged.run);
        merged.host = merged.host ? strdup(merged.host) : NULL;
        merged.testlog = merged.testlog ? strdup(merged.testlog) : NULL;
        run->sources[run->source_count++] = merged;
    }
    test_log_merged_runs_complete(run);
    return 0;
}

int merge_sources_read(struct merge *merge, char **words)
{
    size_t count = 0;

    while (words[count])
        count++;
    merge->sources = calloc(count + 1, sizeof(*merge->sources));
    if (!merge->sources)
        return -1;
    for (size_t i = 0; i < count; i++) {
        int status =
            find(merge, &merge->sources[i], merge->options.dir, words[i]);

        merge->count++; /* to be freed, too, if it is bad */
        if (status)
            return -1;
    }
    for (size_t i = 0; i < merge->count; i++)
        if (read_source(merge, &merge->sources[i]))
            return -1;
    qsort(merge->sources, merge->count, sizeof(*merge->sources), by_start);
    remove_copies(merge);
    for (size_t i = 0; i < merge->count; i++)
        find_lane(merge, &merge->sources[i]);
    say_tries(merge);
    for (size_t i = 0; i < merge->count; i++)
        find_label(merge, i);
    return take_commit(merge) ? -1 : add_sources(merge);
}

void merge_sources_free(struct merge *merge)
{
    for (size_t i = 0; i < merge->count; i++)
        free_source(&merge->sources[i]);
    free(merge->sources);
    for (size_t i = 0; i < merge->plan_count; i++)
        cJSON_Delete(merge->plans[i].json);
    free(merge->plans);
    trace_table_free(&merge->by_program);
    trace_table_free(&merge->by_test);
    test_log_run_free(&merge->run);
}

/* import_perf.c: makes a recording of the samples that perf has recorded.
 *
 * `perf script` prints the events in order of time:
 *
 *     busy 812/812  3209.225071065: PERF_RECORD_COMM exec: busy:812/812
 *     busy 812/812  3209.225200000: PERF_RECORD_FORK(814:814):(812:812)
 *     busy 812/812  3209.226074606:    1000000 cpu-clock:
 *             1134 (/tmp/busy)
 *            2724a (/usr/lib/x86_64-linux-gnu/libc.so.6)
 *
 * A sample has places in files, and ends with an empty line.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness/machine/notice.h"
#include "import.h"
#include "trace/base/strings.h"
#include "trace/samples/sampler.h"

enum { FRAMES = 127 };

/* A file's place 0 has this address, times its number: the sampler expects
 * addresses. */
#define FILE_SIZE (UINT64_C(1) << 32)

struct build_id {
    unsigned char bytes[20];
    size_t size;
};

/* The process that started the first one, which is not known. */
enum { STARTER = 0 };

struct events {
    struct imported *to;
    struct trace_table seen;   /* processes */
    struct trace_table files;  /* numbers, by a hash of the path */
    struct trace_table ids;    /* struct build_id, by a hash of the path */
    struct trace_table mapped; /* files of processes */
    uintptr_t file_count;
    struct trace_perf_event sample; /* that is being read, if `reading` */
    uint64_t addresses[FRAMES];
    bool reading;
    char clock[64];  /* the event that is read */
    char second[64]; /* another one that counts time, too */
    char other[64];  /* an event that counts no time */
    bool alone;      /* a sample has no callers */
};

/* The beginning of a line. */
struct head {
    char *name; /* of the thread */
    uint32_t pid, tid;
    uint64_t time;
    char *rest;
};

/* ---- Lines ---- */

/* Reads "812/813  3209.226074606: "; false if it is something else. A name is
 * too short to have that. */
static bool read_head(char *at, struct head *head)
{
    unsigned long long seconds;
    char ns[10];
    int size = 0;

    if (sscanf(at, "%u/%u %llu.%9[0-9]: %n", &head->pid, &head->tid, &seconds,
               ns, &size) < 4 ||
        !size || strlen(ns) != 9)
        return false;
    head->time = seconds * 1000000000 + strtoul(ns, NULL, 10);
    head->rest = at + size;
    return true;
}

/* Names have spaces, and even numbers. */
static bool find_head(char *line, struct head *head)
{
    for (char *at = line; (at = strchr(at, ' ')); at++) {
        if (at[1] == ' ' || !read_head(at + 1, head))
            continue;
        while (at > line && at[-1] == ' ')
            at--;
        *at = '\0';
        head->name = line + strspn(line, " ");
        return true;
    }
    return false;
}

/* ---- Processes ---- */

static void take(struct events *events, enum trace_perf_kind kind,
                 const struct head *head, uint32_t parent, const char *text)
{
    trace_sampler_take(&events->to->sampler,
                       &(struct trace_perf_event){.kind = kind,
                                                  .time = head->time,
                                                  .pid = head->pid,
                                                  .tid = head->tid,
                                                  .parent = parent,
                                                  .text = text});
}

/* A process that began before perf did belongs to the first one. */
static void meet(struct events *events, const struct head *head)
{
    uintptr_t unused;

    if (!head->pid || trace_table_find(&events->seen, head->pid, &unused))
        return;
    trace_table_set(&events->seen, head->pid, 1);
    take(events, TRACE_PERF_FORK, head,
         events->to->pid ? events->to->pid : STARTER, NULL);
    if (!events->to->pid)
        events->to->pid = head->pid;
}

/* "(814:814):(812:812)": process and thread, then those that began it. */
static void read_fork(struct events *events, struct head *head)
{
    unsigned pid, tid, parent;

    if (sscanf(head->rest, "PERF_RECORD_FORK(%u:%u):(%u:", &pid, &tid,
               &parent) != 3 ||
        !pid)
        return;
    head->pid = parent;
    meet(events, head);
    head->pid = pid;
    head->tid = tid;
    trace_table_set(&events->seen, pid, 1);
    take(events, TRACE_PERF_FORK, head, parent, NULL);
}

/* "COMM exec: busy:812/812" */
static void read_name(struct events *events, struct head *head)
{
    char *name = strstr(head->rest, ": "), *end = strrchr(head->rest, ':');

    if (!name || end <= name + 1)
        return;
    *end = '\0';
    meet(events, head);
    take(events, TRACE_PERF_NAME, head, 0, name + 2);
}

/* ---- Samples ---- */

static void end_sample(struct events *events)
{
    struct trace_perf_event *sample = &events->sample;

    if (!events->reading)
        return;
    events->reading = false;
    if (!sample->pid || !sample->count)
        return;
    sample->addresses = events->addresses;
    if (!events->to->recording.first)
        events->to->recording.first = sample->time;
    events->to->recording.last = sample->time;
    trace_sampler_take(&events->to->sampler, sample);
}

/* "   1000000 cpu-clock:uhH: " */
static void begin_sample(struct events *events, struct head *head)
{
    unsigned long long period;
    char event[sizeof(events->other)];

    int size = 0;

    if (sscanf(head->rest, "%llu %63[^ \n]%n", &period, event, &size) != 2)
        return;
    events->alone |= strpbrk(head->rest + size, "0123456789abcdef") != NULL;
    event[strcspn(event, ":")] = '\0';
    if (!strstr(event, "clock")) {
        memcpy(events->other, event, sizeof(event));
        return;
    }
    if (!events->clock[0])
        memcpy(events->clock, event, sizeof(event));
    if (strcmp(events->clock, event) != 0) { /* the same time again */
        memcpy(events->second, event, sizeof(event));
        return;
    }
    meet(events, head);
    take(events, TRACE_PERF_NAME, head, 0, head->name);
    if (!events->to->program[0])
        snprintf(events->to->program, sizeof(events->to->program), "%s",
                 head->name);
    events->reading = true;
    events->sample = (struct trace_perf_event){.kind = TRACE_PERF_SAMPLE,
                                               .time = head->time,
                                               .pid = head->pid,
                                               .tid = head->tid,
                                               .weight = period};
}

/* Returns the number of a file, from 1 on, that the sample's process has
 * mapped; 0 without memory. */
static uint64_t map_file(struct events *events, const char *path)
{
    uint64_t key = trace_hash_string(TRACE_HASH, path);
    struct trace_perf_event map = {.kind = TRACE_PERF_MAP,
                                   .pid = events->sample.pid,
                                   .size = FILE_SIZE,
                                   .text = path};
    uintptr_t number = events->file_count + 1, id, unused;

    if (!trace_table_find(&events->files, key, &number)) {
        if (!trace_table_set(&events->files, key, number))
            return 0;
        events->file_count++;
    }
    if (trace_table_find(&events->ids, key, &id)) {
        map.build_id = ((struct build_id *)id)->bytes;
        map.build_id_size = ((struct build_id *)id)->size;
    }
    key = trace_hash(key, &map.pid, sizeof(map.pid));
    if (!trace_table_find(&events->mapped, key, &unused)) {
        map.low = number * FILE_SIZE;
        trace_sampler_take(&events->to->sampler, &map);
        trace_table_set(&events->mapped, key, 1);
    }
    return number;
}

/* Reads "1134 (/tmp/busy)". Places in the kernel or in no file are left out. */
static void add_address(struct events *events, char *line)
{
    char *path, *end = strrchr(line, ')');
    uint64_t place = strtoull(line, &path, 16), file;

    if (!events->reading || events->sample.count == FRAMES || !end ||
        strncmp(path, " (", 2) || place >= FILE_SIZE)
        return;
    *end = '\0';
    path += 2;
    if (!strncmp(path, "[kernel", 7) || !strcmp(path, "[unknown]"))
        return;
    file = map_file(events, path);
    if (file)
        events->addresses[events->sample.count++] = file * FILE_SIZE + place;
}

static void read_line(struct events *events, char *line)
{
    struct head head;

    line[strcspn(line, "\n")] = '\0';
    if (*line == '\t') {
        add_address(events, line);
        return;
    }
    end_sample(events);
    if (!find_head(line, &head))
        return;
    if (!strncmp(head.rest, "PERF_RECORD_FORK", 16))
        read_fork(events, &head);
    else if (!strncmp(head.rest, "PERF_RECORD_COMM", 16))
        read_name(events, &head);
    else if (strncmp(head.rest, "PERF_RECORD_", 12))
        begin_sample(events, &head);
}

/* ---- Build-ids ---- */

/* Reads "4a5a9b... /tmp/busy". */
static void read_id(struct events *events, char *line)
{
    char *path = strchr(line, ' ');
    struct build_id *id = path ? calloc(1, sizeof(*id)) : NULL;
    uintptr_t known;
    uint64_t key;
    unsigned byte;

    if (!id)
        return;
    *path++ = '\0';
    path[strcspn(path, "\n")] = '\0';
    for (; id->size < sizeof(id->bytes) &&
           sscanf(line + 2 * id->size, "%2x", &byte) == 1;
         id->size++)
        id->bytes[id->size] = (unsigned char)byte;
    key = trace_hash_string(TRACE_HASH, path);
    if (trace_table_find(&events->ids, key, &known) ||
        !trace_table_set(&events->ids, key, (uintptr_t)id))
        free(id);
}

/* Without these, files may have been built again since. */
static void read_ids(struct events *events, const char *file)
{
    const char *const list[] = {"perf", "buildid-list", "-i", file, NULL};
    FILE *output = runners_tool_open(list, file);
    char *line = NULL;
    size_t capacity = 0;

    while (output && getline(&line, &capacity, output) >= 0)
        read_id(events, line);
    free(line);
    if (output)
        free(runners_tool_close(output, "perf"));
}

static void free_ids(struct events *events)
{
    size_t cursor = 0;
    uintptr_t id;

    while (trace_table_next(&events->ids, &cursor, &id))
        free((void *)id);
    trace_table_free(&events->ids);
}

static char *read_events(struct events *events, const char *file)
{
    const char *const script[] = {"perf",
                                  "script",
                                  "-i",
                                  file,
                                  "--show-task-events",
                                  "--ns",
                                  "-F",
                                  "comm,pid,tid,time,period,event,ip,dso",
                                  NULL};
    FILE *output = runners_tool_open(script, file);
    char *line = NULL;
    size_t capacity = 0;

    if (!output)
        return strdup(strerror(errno));
    while (getline(&line, &capacity, output) >= 0)
        read_line(events, line);
    end_sample(events);
    free(line);
    return runners_tool_close(output, "perf");
}

/* ---- The recording ---- */

static char *judge(const struct events *events)
{
    char *fault = NULL;

    if (trace_sampler_first(&events->to->sampler))
        return NULL;
    if (events->other[0]) {
        if (asprintf(&fault,
                     "it counts %s, which is no time; record it with "
                     "perf record -e cpu-clock -g",
                     events->other) < 0)
            fault = NULL;
        return fault;
    }
    return strdup(events->alone
                      ? "its samples have no callers; record it with -g"
                      : "it has no samples of programs");
}

char *runners_import_perf(const char *data, struct imported *imported)
{
    struct events events = {.to = imported};
    char *fault;

    imported->sampler.runner = STARTER;
    read_ids(&events, data);
    fault = read_events(&events, data);
    if (!fault)
        fault = judge(&events);
    if (!fault && events.second[0])
        test_log_notice("import: %s has two clocks; %s is read, and %s is left "
                        "out",
                        data, events.clock, events.second);
    trace_table_free(&events.seen);
    trace_table_free(&events.files);
    trace_table_free(&events.mapped);
    free_ids(&events);
    return fault;
}

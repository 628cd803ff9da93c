/* record_fixture.c: records what CUPTI writes for some work, as a fixture
 * for tests/playback/playback.c; fixture.py describes the format.
 *
 *  record_fixture FILE WORK COUNT KINDS DEVICE DRIVER
 *
 * KINDS is a list such as 10,5,39. Times begin with the first record, the main
 * thread is 1, and paths of this machine are left out. FILE.counts gets a JSON
 * object with what the work itself counted. Exits with 3 if FILE would have
 * more than 64 KiB.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "tests/playback/records.h"

#include "cupti_min.h"
#include "launches.h"

enum { LIMIT = 64 << 10, STRINGS = 256, FIRST_TIME = 1000, TOO_MUCH = 3 };

/* Strings that records point to: kind, offset of the address, whether it is a
 * path of this machine. */
static const struct {
    uint32_t kind, offset;
    bool is_path;
} pointers[] = {
    {10, 104, false}, {8, 136, false}, {52, 56, true},
    {49, 64, false},  {49, 120, true}, {11, 24, false},
};

struct header {
    char magic[16];
    uint32_t order, pointer, api, strides, buffers, strings, pool, none;
    char clock[16], captured[32], device[64], driver[32];
};

struct string {
    uint64_t address;
    uint32_t offset, none;
};

static struct {
    struct header header;
    uint32_t strides[2 * CUPTI_MIN_KINDS]; /* pairs */
    struct string strings[STRINGS];
    char pool[LIMIT];
    unsigned char buffers[LIMIT]; /* as the file has them */
    size_t size;
    bool too_much;
} fixture = {.header = {.magic = "gpu playback 1",
                        .order = 0x01020304,
                        .pointer = 8,
                        .clock = "MONOTONIC"}};

static void stop(const char *what)
{
    fprintf(stderr, "record_fixture: %s\n", what ? what : "?");
    exit(2);
}

/* ---- CUPTI's buffers ---- */

static void keep_string(uint64_t address, bool is_path)
{
    const char *text = is_path ? "/path" : (const char *)(uintptr_t)address;
    struct header *header = &fixture.header;
    size_t size = strlen(text) + 1;

    for (uint32_t i = 0; i < header->strings; i++)
        if (fixture.strings[i].address == address)
            return;
    if (header->strings == STRINGS || header->pool + size > LIMIT) {
        fixture.too_much = true;
        return;
    }
    memcpy(fixture.pool + header->pool, text, size);
    fixture.strings[header->strings++] =
        (struct string){.address = address, .offset = header->pool};
    header->pool += (uint32_t)size;
}

static uint32_t stride_of(uint32_t kind)
{
    for (uint32_t i = 0; i < fixture.header.strides; i++)
        if (fixture.strides[2 * i] == kind)
            return fixture.strides[2 * i + 1];
    return 0;
}

static void keep_strings(const unsigned char *record)
{
    uint32_t kind;
    uint64_t address;

    memcpy(&kind, record, sizeof(kind));
    for (size_t i = 0; i < sizeof(pointers) / sizeof(*pointers); i++) {
        if (pointers[i].kind != kind ||
            pointers[i].offset + 8 > stride_of(kind))
            continue;
        memcpy(&address, record + pointers[i].offset, sizeof(address));
        if (address)
            keep_string(address, pointers[i].is_path);
    }
}

/* The data of overhead records (kind 17) points to memory that is gone
 * later. */
static void forget_overhead(const uint8_t *record, unsigned char *kept)
{
    uint32_t kind;

    memcpy(&kind, record, sizeof(kind));
    if (kind == 17 && stride_of(kind) >= 56)
        memset(kept + 48, 0, 8);
}

static void keep(const uint8_t *buffer, size_t size, uint32_t stream)
{
    struct {
        uint32_t number, stream;
        uint64_t size;
    } head = {fixture.header.buffers, stream, size};
    unsigned char *to = fixture.buffers + fixture.size;
    void *record = NULL;

    if (!size)
        return;
    if (fixture.size + sizeof(head) + size > LIMIT) {
        fixture.too_much = true;
        return;
    }
    memcpy(to, &head, sizeof(head));
    memcpy(to + sizeof(head), buffer, size);
    while (!cupti_min_next(buffer, size, &record)) {
        size_t at = (size_t)((uint8_t *)record - buffer);

        keep_strings(record);
        forget_overhead(record, to + sizeof(head) + at);
    }
    fixture.size += sizeof(head) + size;
    fixture.header.buffers++;
}

/* ---- Recording ---- */

/* A kind's length is the distance to the next record in a buffer that is filled
 * with the kind's number. */
static void ask_strides(void)
{
    static _Alignas(8) uint8_t buffer[2048];

    for (uint32_t kind = 1; kind < CUPTI_MIN_KINDS; kind++) {
        uint32_t *pair = &fixture.strides[2 * fixture.header.strides];
        void *first = NULL, *second;

        memset(buffer, 0, sizeof(buffer));
        for (size_t i = 0; i < sizeof(buffer); i += 8)
            memcpy(buffer + i, &kind, sizeof(kind));
        if (cupti_min_next(buffer, sizeof(buffer), &first))
            continue;
        second = first;
        if (cupti_min_next(buffer, sizeof(buffer), &second))
            continue;
        pair[0] = kind;
        pair[1] = (uint32_t)((uint8_t *)second - (uint8_t *)first);
        fixture.header.strides++;
    }
}

/* ---- Independence of this process ---- */

static void each_record(void (*visit)(unsigned char *,
                                      const struct record_row *))
{
    unsigned char *at = fixture.buffers;

    for (uint32_t i = 0; i < fixture.header.buffers; i++) {
        unsigned char *end;
        uint64_t valid;
        uint32_t kind, stride;

        memcpy(&valid, at + 8, sizeof(valid));
        at += 16;
        for (end = at + valid; at < end; at += stride) {
            memcpy(&kind, at, sizeof(kind));
            stride = stride_of(kind);
            if (!stride)
                stop("a record of unknown length");
            visit(at, &record_rows[kind]);
        }
    }
}

static uint64_t first;

static void find_first(unsigned char *record, const struct record_row *row)
{
    uint64_t time = 0;

    if (row->start)
        memcpy(&time, record + row->start, sizeof(time));
    if (time && (!first || time < first))
        first = time;
}

static void rebase_time(unsigned char *record, uint16_t offset)
{
    uint64_t time;

    if (!offset)
        return;
    memcpy(&time, record + offset, sizeof(time));
    time = time ? time - first + FIRST_TIME : 0;
    memcpy(record + offset, &time, sizeof(time));
}

static void rebase(unsigned char *record, const struct record_row *row)
{
    uint32_t thread, main_thread = 1;

    rebase_time(record, row->start);
    rebase_time(record, row->end);
    if (!row->thread)
        return;
    memcpy(&thread, record + row->thread, sizeof(thread));
    if (thread == (uint32_t)getpid())
        memcpy(record + row->thread, &main_thread, sizeof(thread));
}

/* ---- Writing ---- */

static void put(FILE *file, const void *data, size_t size)
{
    if (size && fwrite(data, size, 1, file) != 1)
        stop("cannot write");
}

static void save(const char *path)
{
    const struct header *header = &fixture.header;
    FILE *file;

    if (fixture.too_much ||
        sizeof(*header) + header->strides * 8 + fixture.size +
                header->strings * sizeof(struct string) + header->pool >
            LIMIT) {
        fputs("record_fixture: more than 64 KiB: lower COUNT\n", stderr);
        exit(TOO_MUCH);
    }
    file = fopen(path, "we");
    if (!file)
        stop(path);
    put(file, header, sizeof(*header));
    put(file, fixture.strides, header->strides * 2 * sizeof(uint32_t));
    put(file, fixture.buffers, fixture.size);
    put(file, fixture.strings, header->strings * sizeof(struct string));
    put(file, fixture.pool, header->pool);
    if (fclose(file))
        stop("cannot write");
}

static void describe(const char *device, const char *driver)
{
    struct header *header = &fixture.header;
    time_t now = time(NULL);

    header->api = cupti_min_version();
    strftime(header->captured, sizeof(header->captured), "%FT%TZ",
             gmtime(&now));
    snprintf(header->device, sizeof(header->device), "%s", device);
    snprintf(header->driver, sizeof(header->driver), "%s", driver);
}

/* Kinds that were not asked for have no records. */
static bool asks(const char *kinds, const char *kind)
{
    char list[160], one[16];

    snprintf(list, sizeof(list), ",%s,", kinds);
    snprintf(one, sizeof(one), ",%s,", kind);
    return strstr(list, one);
}

static void save_counts(const char *path, const char *kinds,
                        const struct launches *made)
{
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    cJSON *row = cJSON_CreateObject();
    char counts[4096], *line;
    FILE *file;

    cJSON_AddStringToObject(row, "kind", "fixture");
    cJSON_AddStringToObject(row, "name", name);
    cJSON_AddNumberToObject(row, "kernels", (double)made->kernels);
    cJSON_AddNumberToObject(row, "copies",
                            asks(kinds, "1") ? (double)made->copies : 0);
    cJSON_AddNumberToObject(row, "sets",
                            asks(kinds, "2") ? (double)made->sets : 0);
    if (made->kernel)
        cJSON_AddStringToObject(row, "kernel", made->kernel);
    snprintf(counts, sizeof(counts), "%s.counts", path);
    file = fopen(counts, "we");
    line = cJSON_PrintUnformatted(row);
    if (!file || !line || fprintf(file, "%s\n", line) < 0 || fclose(file))
        stop("cannot write");
    free(line);
    cJSON_Delete(row);
}

static struct launches work(const char *what, long count)
{
    const char *path = getenv("BENCH_LAUNCHES");
    void *library = path ? dlopen(path, RTLD_NOW) : NULL;
    int (*init)(void);
    int (*run)(const char *, long, struct launches *);
    struct launches none, result;

    if (!library)
        stop(path ? dlerror() : "BENCH_LAUNCHES is not set");
    init = (__typeof__(init))dlsym(library, "launches_init");
    run = (__typeof__(run))dlsym(library, "launches_run");
    if (!init || !run)
        stop(dlerror());
    if (init() || run("none", 1, &none) || run(what, count, &result))
        stop("the work failed");
    return result;
}

int main(int argc, char **argv)
{
    struct launches made;
    char kinds[128];

    if (argc != 7)
        stop("usage: record_fixture FILE WORK COUNT KINDS DEVICE DRIVER");
    snprintf(kinds, sizeof(kinds), ":%s", argv[4]);
    cupti_min.see = keep;
    if (cupti_min_start(kinds))
        stop(cupti_min.refused);
    ask_strides();
    describe(argv[5], argv[6]);
    made = work(argv[2], atol(argv[3]));
    cupti_min_flush(1);
    each_record(find_first);
    each_record(rebase);
    save(argv[1]);
    save_counts(argv[1], argv[4], &made);
    return 0;
}

/* simulate.c: makes runs of many shards on many hosts, from a real run.
 *
 *     simulate RUN TO SHARDS TESTS [names]
 *
 * RUN is a run of one program with the suite "suite" and tests whose names have
 * the form "test_0_0_1". Such a name has ten characters, which are replaced in
 * run.json and in recordings: "t00012_001" is the second test of the thirteenth
 * shard. Each shard gets TESTS tests and runs on one of 16 hosts, whose clocks
 * differ by up to 8 s and count from different boots. With "names", plans have
 * the names of all tests.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/text.h"
#include "trace/format.h"
#include "trace/read/reader.h"

enum { HOSTS = 16, NAME = 10, PATH = 512, TESTS_MOST = 1000 };

/* A test of the real run: its line in run.json, and its recording. */
static struct test {
    char *line, *recording;
    size_t size;
    char name[NAME + 1];
} tests[TESTS_MOST];

static size_t test_count, each; /* of the real run; of a shard */
static char program[64];

__attribute__((noreturn)) static void stop(const char *what)
{
    fprintf(stderr, "simulate: %s: %s\n", what, strerror(errno));
    exit(1);
}

static FILE *open_file(const char *path, const char *mode)
{
    FILE *file = fopen(path, mode);

    if (!file)
        stop(path);
    return file;
}

static void make_folder(const char *path)
{
    if (mkdir(path, 0777) && errno != EEXIST)
        stop(path);
}

/* ---- The real run ---- */

static void read_recording(struct test *test, const char *run)
{
    char path[PATH];
    struct stat status;
    FILE *file;

    snprintf(path, sizeof(path), "%s/tests/%s/suite.%s/recording", run, program,
             test->name);
    file = open_file(path, "re");
    if (fstat(fileno(file), &status))
        stop(path);
    test->size = (size_t)status.st_size;
    test->recording = malloc(test->size);
    if (!test->recording ||
        fread(test->recording, 1, test->size, file) != test->size)
        stop(path);
    fclose(file);
}

static void read_run(const char *run)
{
    static const char before[] = "\"name\":\"suite/test_";
    char path[PATH], *line = NULL, *name;
    size_t room = 0;
    FILE *file;

    snprintf(path, sizeof(path), "%s/run.json", run);
    file = open_file(path, "re");
    while (test_count < TESTS_MOST && getline(&line, &room, file) > 0) {
        struct test *test = &tests[test_count];

        name = strstr(line, before);
        if (!name || sscanf(line, "{\"program\":\"%63[^\"]\"", program) != 1)
            continue;
        line[strcspn(line, "\n")] = '\0';
        if (line[strlen(line) - 1] == ',')
            line[strlen(line) - 1] = '\0';
        memcpy(test->name, name + strlen(before) - strlen("test_"), NAME);
        test->line = strdup(line);
        read_recording(test, run);
        test_count++;
    }
    free(line);
    fclose(file);
    if (!test_count)
        stop("no test of the suite \"suite\"");
}

/* ---- A shard ---- */

struct shard {
    unsigned number, total;
    const char *to;
    int64_t clock;      /* ns that its host's clock is wrong by */
    uint64_t monotonic; /* ns, added */
};

static void put_name(char name[NAME + 1], unsigned shard, size_t test)
{
    snprintf(name, NAME + 1, "t%05u_%03zu", shard % 100000, test % 1000);
}

static void replace(char *text, size_t size, const char *from, const char *to)
{
    for (char *at = text;
         (at = memmem(at, size - (size_t)(at - text), from, NAME)); at += NAME)
        memcpy(at, to, NAME);
}

static void move(struct trace_anchor *anchor, const struct shard *shard)
{
    anchor->monotonic += shard->monotonic;
    anchor->wall += (uint64_t)shard->clock;
}

static void write_test(const struct shard *shard, const struct test *test,
                       const char *name)
{
    struct trace_header header;
    char path[PATH], *bytes = malloc(test->size);
    FILE *file;

    if (!bytes)
        stop("memory");
    memcpy(bytes, test->recording, test->size);
    replace(bytes, test->size, test->name, name);
    memcpy(&header, bytes, sizeof(header));
    move(&header.origin, shard);
    move(&header.start, shard);
    move(&header.end, shard);
    memcpy(bytes, &header, sizeof(header));
    snprintf(path, sizeof(path), "%s/%05u/tests/%s/suite.%s", shard->to,
             shard->number, program, name);
    make_folder(path);
    snprintf(path, sizeof(path), "%s/%05u/tests/%s/suite.%s/recording",
             shard->to, shard->number, program, name);
    file = open_file(path, "we");
    fwrite(bytes, 1, test->size, file);
    if (fclose(file))
        stop(path);
    free(bytes);
}

static void put_plan(FILE *out, const struct shard *shard, bool names)
{
    char name[NAME + 1];

    fprintf(out, "\"plan\":[{\"program\":\"%s\",\"counts\":[", program);
    for (unsigned i = 0; i < shard->total; i++)
        fprintf(out, "%s%zu", i ? "," : "", each);
    for (unsigned i = 0; names && i < shard->total; i++)
        for (size_t j = 0; j < each; j++) {
            put_name(name, i, j);
            fprintf(out, "%s\"suite/%s\"",
                    j   ? ","
                    : i ? "],["
                        : "],\"tests\":[[",
                    name);
        }
    fputs(names ? "]]}],\n" : "]}],\n", out);
}

static void put_head(FILE *out, const struct shard *shard, bool names)
{
    struct trace_header header;
    struct trace_text start = {0};

    memcpy(&header, tests[0].recording, sizeof(header));
    trace_text_moment(&start, header.origin.wall + (uint64_t)shard->clock);
    fprintf(out,
            "{\"schema\":1,\n\"command\":\"./%s\",\n"
            "\"host\":{\"name\":\"node%u\",\"boot\":\"%u\"},\n\"pid\":%u,\n"
            "\"clock\":{\"error_ns\":%u},\n"
            "\"versions\":{\"testlog\":\"0.1.0\"},\n\"start\":\"%s\",\n"
            "\"duration_ns\":1000000000,\n"
            "\"shard\":{\"index\":%u,\"total\":%u,\"by\":\"slice\"},\n"
            "\"interrupted\":null,\n\"whole\":false,\n"
            "\"passed\":%zu,\"failed\":0,\"skipped\":0,\n",
            program, shard->number % HOSTS, shard->number % HOSTS,
            shard->number, 1000 * (shard->number % HOSTS), start.data,
            shard->number, shard->total, each);
    put_plan(out, shard, names);
    trace_text_free(&start);
}

static void write_shard(const struct shard *shard, bool names)
{
    char path[PATH], name[NAME + 1];
    FILE *out;

    for (int depth = 1; depth <= 3; depth++) {
        snprintf(path, sizeof(path), "%s/%05u%s%s%s", shard->to, shard->number,
                 depth > 1 ? "/tests" : "", depth > 2 ? "/" : "",
                 depth > 2 ? program : "");
        make_folder(path);
    }
    snprintf(path, sizeof(path), "%s/%05u/run.json", shard->to, shard->number);
    out = open_file(path, "we");
    put_head(out, shard, names);
    fputs("\"tests\":[", out);
    for (size_t i = 0; i < each; i++) {
        const struct test *test = &tests[i % test_count];
        char *line = strdup(test->line);

        if (!line)
            stop("memory");
        put_name(name, shard->number, i);
        replace(line, strlen(line), test->name, name);
        fprintf(out, "%s\n%s", i ? "," : "", line);
        free(line);
        write_test(shard, test, name);
    }
    fputs("\n]}\n", out);
    if (fclose(out))
        stop(path);
}

/* Each shard begins 10 ms after the one before. */
static void choose_clock(struct shard *shard)
{
    int64_t host = shard->number % HOSTS;

    shard->clock =
        (host - HOSTS / 2) * 1000000000 + (int64_t)shard->number * 10000000;
    shard->monotonic =
        (uint64_t)host * 1000000000000 + shard->number * UINT64_C(10000000);
}

int main(int argc, char **argv)
{
    struct shard shard = {.total = argc > 4 ? (unsigned)atoi(argv[3]) : 0};

    each = argc > 4 ? (size_t)atoi(argv[4]) : 0;
    if (!shard.total || !each || each > TESTS_MOST) {
        fputs("usage: simulate RUN TO SHARDS TESTS [names]\n", stderr);
        return 2;
    }
    read_run(argv[1]);
    shard.to = argv[2];
    make_folder(shard.to);
    for (; shard.number < shard.total; shard.number++) {
        choose_clock(&shard);
        write_shard(&shard, argc > 5);
    }
    return 0;
}

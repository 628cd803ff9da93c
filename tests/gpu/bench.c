/* bench.c: measures what tracing a GPU costs.
 *
 *  bench MODE WORK COUNT       WORK as in launches.h
 *
 * MODE "off" traces nothing, or is traced from outside. "min:KINDS" enables
 * CUPTI's kinds with those numbers, such as min:10,5, and does only what CUPTI
 * requires.
 *
 * It appends a line with a JSON object to the file BENCH_OUT, or to stdout.
 * BENCH_LABEL replaces the mode in it, BENCH_REPETITION is added.
 * BENCH_LAUNCHES names the shared object that launches, TRACE_CUPTI the
 * libcupti.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <cjson/cJSON.h>

#include "cupti_min.h"
#include "launches.h"

enum { WARM = 1000 };

static struct {
    int (*init)(void);
    int (*run)(const char *, long, struct launches *);
} launcher;

static double now_ms(void)
{
    return (double)cupti_min_now() / 1e6;
}

static void stop(const char *what)
{
    fprintf(stderr, "bench: %s\n", what ? what : "?");
    exit(2);
}

static void load_launcher(void)
{
    const char *path = getenv("BENCH_LAUNCHES");
    void *library = path ? dlopen(path, RTLD_NOW) : NULL;

    if (!library)
        stop(path ? dlerror() : "BENCH_LAUNCHES is not set");
    launcher.init = (__typeof__(launcher.init))dlsym(library, "launches_init");
    launcher.run = (__typeof__(launcher.run))dlsym(library, "launches_run");
    if (!launcher.init || !launcher.run)
        stop(dlerror());
}

/* ---- What is written ---- */

static void add_counts(cJSON *row)
{
    cJSON *counts = cJSON_AddObjectToObject(row, "records");
    char number[16];

    for (int kind = 0; kind < CUPTI_MIN_KINDS; kind++) {
        snprintf(number, sizeof(number), "%d", kind);
        if (cupti_min.records[kind])
            cJSON_AddNumberToObject(counts, number,
                                    (double)cupti_min.records[kind]);
    }
    cJSON_AddNumberToObject(row, "seen_kernels", (double)cupti_min.records[10]);
    cJSON_AddNumberToObject(
        row, "seen_copies",
        (double)(cupti_min.records[1] + cupti_min.records[22]));
    cJSON_AddNumberToObject(row, "seen_sets", (double)cupti_min.records[2]);
    cJSON_AddNumberToObject(row, "record_bytes", (double)cupti_min.bytes);
    cJSON_AddNumberToObject(row, "buffers", (double)cupti_min.buffers);
    cJSON_AddNumberToObject(row, "dropped", (double)cupti_min_dropped());
    cJSON_AddStringToObject(row, "refused", cupti_min.refused);
}

static void add_result(cJSON *row, const struct launches *warm,
                       const struct launches *result)
{
    cJSON_AddNumberToObject(row, "error", result->error);
    cJSON_AddNumberToObject(row, "kernels",
                            (double)(warm->kernels + result->kernels));
    cJSON_AddNumberToObject(row, "calls",
                            (double)(warm->calls + result->calls));
    cJSON_AddNumberToObject(row, "copies", (double)result->copies);
    cJSON_AddNumberToObject(row, "sets", (double)result->sets);
    cJSON_AddNumberToObject(row, "captured", (double)result->captured);
    cJSON_AddNumberToObject(row, "launch_mean_ns", result->mean);
    cJSON_AddNumberToObject(row, "launch_p50_ns", result->p50);
    cJSON_AddNumberToObject(row, "launch_p99_ns", result->p99);
    if (result->calls)
        cJSON_AddNumberToObject(row, "wall_ns_per_launch",
                                result->wall / (double)result->calls);
}

static void add_process(cJSON *row)
{
    const char *injected = getenv("CUDA_INJECTION64_PATH");
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    cJSON_AddNumberToObject(row, "peak_kib", (double)usage.ru_maxrss);
    cJSON_AddBoolToObject(row, "injected",
                          injected && dlopen(injected, RTLD_NOW | RTLD_NOLOAD));
}

static void write_row(cJSON *row)
{
    const char *path = getenv("BENCH_OUT");
    FILE *out = path ? fopen(path, "ae") : stdout;
    char *line = cJSON_PrintUnformatted(row);

    if (!out || !line)
        stop("cannot write");
    fprintf(out, "%s\n", line);
    if (fflush(out) || (path && fclose(out)))
        stop("cannot write");
    free(line);
    cJSON_Delete(row);
}

/* ---- The run ---- */

static cJSON *begin_row(char **argv)
{
    const char *label = getenv("BENCH_LABEL");
    const char *repetition = getenv("BENCH_REPETITION");
    cJSON *row = cJSON_CreateObject();

    cJSON_AddStringToObject(row, "kind", "bench");
    cJSON_AddStringToObject(row, "mode", label ? label : argv[1]);
    cJSON_AddStringToObject(row, "work", argv[2]);
    cJSON_AddNumberToObject(row, "count", atof(argv[3]));
    cJSON_AddNumberToObject(row, "repetition",
                            repetition ? atoi(repetition) : 0);
    return row;
}

static double since(double *from)
{
    double at = now_ms(), took = at - *from;

    *from = at;
    return took;
}

static int run(cJSON *row, const char *work, long count)
{
    struct launches warm = {0}, result = {0};
    double from = now_ms();
    int error = launcher.init();

    cJSON_AddNumberToObject(row, "init_error", error);
    cJSON_AddNumberToObject(row, "init_ms", since(&from));
    if (!error && strcmp(work, "none"))
        error = launcher.run("empty", WARM, &warm);
    since(&from);
    if (!error)
        error = launcher.run(work, count, &result);
    cJSON_AddNumberToObject(row, "run_ms", since(&from));
    cupti_min_flush(1);
    cJSON_AddNumberToObject(row, "flush_ms", since(&from));
    add_result(row, &warm, &result);
    return error;
}

int main(int argc, char **argv)
{
    double from = now_ms();
    cJSON *row;
    int error;

    if (argc != 4)
        stop("usage: bench off|min:KINDS WORK COUNT");
    load_launcher();
    row = begin_row(argv);
    if (!strncmp(argv[1], "min", 3) && cupti_min_start(strchr(argv[1], ':')))
        stop(cupti_min.refused);
    cJSON_AddNumberToObject(row, "start_ms", since(&from));
    error = run(row, argv[2], atol(argv[3]));
    add_counts(row);
    add_process(row);
    write_row(row);
    return error ? 1 : 0;
}

/* table.c: prints the measurements as a table and as JSON. */
#include <stdlib.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "bench.h"

#include "harness/version.h"

static const char *held(double value, double budget)
{
    return budget <= 0 || value <= 0 ? "" : value <= budget ? "yes" : "NO";
}

void bench_print_head(void)
{
    printf("%-36s %8s %7s %4s %12s %8s %12s %8s\n", "", "ratio", "budget",
           "held", "ns", "median", "ns",
           bench_settings.instructions ? "instr" : "");
}

static void print_missing(const char *name)
{
    printf("%-36s %s\n", name,
           bench_settings.alone ? "left out (--alone)"
                                : "not installed (make bench-deps)");
}

void bench_print_row(const struct bench_row *row,
                     const struct bench_result *result, bool first)
{
    char ratio[16] = "-", budget[16] = "", instructions[16] = "";
    char middle[16] = "-";

    if (first)
        printf("-- %s\n", row->group);
    if (!result->there) {
        print_missing(row->name);
        return;
    }
    if (result->ratio > 0)
        snprintf(ratio, sizeof(ratio), "%.3f", result->ratio);
    if (result->ratio > 0)
        snprintf(middle, sizeof(middle), "%.3f", result->median_ratio);
    if (row->budget > 0)
        snprintf(budget, sizeof(budget), "%.2f", row->budget);
    if (result->instructions > 0)
        snprintf(instructions, sizeof(instructions), "%.0f",
                 result->instructions);
    printf("%-36s %8s %7s %4s %12.2f %8s %12.2f %8s", row->name, ratio, budget,
           held(result->ratio, row->budget), result->least, middle,
           result->median, instructions);
    printf(row->against ? " to %s\n" : "\n", row->against);
    fflush(stdout);
}

void bench_print_size(const struct bench_size *size)
{
    char budget[16] = "";

    if (size->value < 0) {
        print_missing(size->name);
        return;
    }
    if (size->budget > 0)
        snprintf(budget, sizeof(budget), "%.2f", size->budget);
    printf("%-36s %8.2f %7s %4s %s\n", size->name, size->value, budget,
           held(size->value, size->budget), size->unit);
}

/* ---- JSON ---- */

/* Adds the first line of a command's output. */
static void add_output(cJSON *to, const char *key, const char *command)
{
    char line[4096] = "";
    FILE *output = popen(command, "re");

    if (output && fgets(line, sizeof(line), output))
        line[strcspn(line, "\n")] = '\0';
    if (output)
        pclose(output);
    cJSON_AddStringToObject(to, key, line);
}

static void add_host(cJSON *root)
{
    cJSON *host = cJSON_AddObjectToObject(root, "host");
    struct utsname system;

    if (!uname(&system)) {
        cJSON_AddStringToObject(host, "system", system.sysname);
        cJSON_AddStringToObject(host, "release", system.release);
        cJSON_AddStringToObject(host, "machine", system.machine);
    }
    add_output(host, "processor",
               "sed -n 's/^model name[^:]*: //p' /proc/cpuinfo");
    add_output(host, "clock",
               "cat /sys/devices/system/clocksource/clocksource0/"
               "current_clocksource 2>/dev/null");
    cJSON_AddNumberToObject(host, "processors",
                            (double)sysconf(_SC_NPROCESSORS_ONLN));
}

static void add_versions(cJSON *root)
{
    cJSON *versions = cJSON_AddObjectToObject(root, "versions");

    cJSON_AddStringToObject(versions, "testlog", TEST_LOG_VERSION);
    cJSON_AddStringToObject(versions, "compiler", __VERSION__);
    add_output(versions, "packages",
               "dpkg-query -W -f '${Package} ${Version}, ' " BENCH_PACKAGES
               " 2>/dev/null");
}

static void add_row(cJSON *rows, const struct bench_row *row,
                    const struct bench_result *result)
{
    cJSON *object = cJSON_CreateObject();

    cJSON_AddItemToArray(rows, object);
    cJSON_AddStringToObject(object, "group", row->group);
    cJSON_AddStringToObject(object, "name", row->name);
    cJSON_AddBoolToObject(object, "measured", result->there);
    if (!result->there)
        return;
    if (row->budget > 0)
        cJSON_AddNumberToObject(object, "budget", row->budget);
    if (row->against)
        cJSON_AddStringToObject(object, "against", row->against);
    if (result->ratio > 0)
        cJSON_AddNumberToObject(object, "ratio", result->ratio);
    if (row->budget > 0 && result->ratio > 0)
        cJSON_AddBoolToObject(object, "held", result->ratio <= row->budget);
    if (result->ratio > 0)
        cJSON_AddNumberToObject(object, "median_ratio", result->median_ratio);
    cJSON_AddNumberToObject(object, "ns", result->least);
    cJSON_AddNumberToObject(object, "median_ns", result->median);
    if (result->instructions > 0)
        cJSON_AddNumberToObject(object, "instructions", result->instructions);
    cJSON_AddItemToObject(object, "repetitions",
                          cJSON_CreateDoubleArray(result->ns, result->times));
}

static void add_size(cJSON *sizes, const struct bench_size *size)
{
    cJSON *object = cJSON_CreateObject();

    cJSON_AddItemToArray(sizes, object);
    cJSON_AddStringToObject(object, "name", size->name);
    cJSON_AddStringToObject(object, "unit", size->unit);
    if (size->value >= 0)
        cJSON_AddNumberToObject(object, "value", size->value);
    if (size->budget > 0)
        cJSON_AddNumberToObject(object, "budget", size->budget);
}

void bench_write_json(const char *path, const struct bench_result *results,
                      const struct bench_size *sizes, size_t size_count)
{
    cJSON *root = cJSON_CreateObject(), *list;
    FILE *stream = fopen(path, "we");
    time_t now = time(NULL);
    struct tm parts;
    char date[32];

    strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &parts));
    cJSON_AddStringToObject(root, "date", date);
    add_host(root);
    add_versions(root);
    list = cJSON_AddArrayToObject(root, "rows");
    for (size_t i = 0; i < bench_row_count; i++)
        add_row(list, &bench_rows[i], &results[i]);
    list = cJSON_AddArrayToObject(root, "sizes");
    for (size_t i = 0; i < size_count; i++)
        add_size(list, &sizes[i]);

    char *text = cJSON_Print(root);
    bool written = stream && text && fputs(text, stream) >= 0;

    if (stream)
        written = !fclose(stream) && written;
    if (!written)
        bench_stop(path);
    free(text);
    cJSON_Delete(root);
}

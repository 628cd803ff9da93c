/* environment.c: writes the environment variables that change a run. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/run/files/writers.h"
#include "trace/base/text.h"

/* No others are written, because they may contain secrets. A star matches any
 * end. */
static const char *const names[] = {
    "ASAN_OPTIONS",
    "CLICOLOR_FORCE",
    "CRITERION_*",
    "CUDA_*",
    "CUPTI_*",
    "FORCE_COLOR",
    "LOG",
    "LOG_FIELDS",
    "LOG_FORMAT",
    "LOG_SPAN_EVENTS",
    "LOG_TIME",
    "LSAN_OPTIONS",
    "MSAN_OPTIONS",
    "NOCAPTURE",
    "NO_COLOR",
    "NVTX_*",
    "OCL_ICD_*",
    "OPENCL_*",
    "POCL_*",
    "SHOW_OUTPUT",
    "TESTBRIDGE_TEST_ONLY",
    "TESTLOG_GPU_LIBRARY",
    "TESTLOG_GPU_ROOT",
    "TESTLOG_STACKS",
    "TEST_LOG_ALL",
    "TRACE_CUPTI",
    "TRACE_DIR",
    "TRACE_FILTER",
    "TRACE_KEEP",
    "TRACE_LIMIT",
    "TRACE_OPTIONS",
    "TRACE_SCRATCH",
    "TSAN_OPTIONS",
    "UBSAN_OPTIONS",
};

static bool has_name(const char *variable, const char *name)
{
    size_t size = strcspn(name, "*");

    return !strncmp(variable, name, size) &&
           (name[size] ? strchr(variable, '=') != NULL : variable[size] == '=');
}

/* With such variables, we make drivers and loaders load our library. */
static bool is_set_by_us(const char *variable, const char *value)
{
    return strstr(value, "/libtestlog-") && strncmp(variable, "TESTLOG_", 8);
}

static bool matters(const char *variable)
{
    const char *value = strchr(variable, '=');

    if (!value || !value[1] || is_set_by_us(variable, value))
        return false;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (has_name(variable, names[i]))
            return true;
    return false;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void test_log_environment_member(struct trace_text *out)
{
    size_t count = 0, used = 0;
    char **variables;

    while (environ && environ[count])
        count++;
    variables = calloc(count + 1, sizeof(*variables));
    for (size_t i = 0; variables && i < count; i++)
        if (matters(environ[i]))
            variables[used++] = environ[i];
    if (used)
        qsort(variables, used, sizeof(*variables), by_text);
    trace_text_literal(out, "\"environment\":{");
    for (size_t i = 0; i < used; i++) {
        const char *value = strchr(variables[i], '=');

        if (i)
            trace_text_char(out, ',');
        trace_json_string(out, variables[i], (size_t)(value - variables[i]));
        trace_text_char(out, ':');
        trace_json_string(out, value + 1, strlen(value + 1));
    }
    trace_text_char(out, '}');
    free(variables);
}

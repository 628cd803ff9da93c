/* devices.c: helpers for the tests of trace/devices. */
#include "devices.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/base/clock.h"

#define PLAYBACK BUILD_DIR "/tests/playback.so"
#define DRIVER   BUILD_DIR "/tests/driver/libcuda.so.1"

static struct trace_site spans[] = {
    TEST_SITE(SPAN, INFO, "1", "m", NULL, 0),
    TEST_SITE(SPAN, INFO, "2", "m", NULL, 0),
};

static char *cuda_home;

void devices_init(void)
{
    static const char *const names[] = {"CUDA_INJECTION64_PATH",
                                        "NSYS_PROFILING_SESSION_ID",
                                        "TESTLOG_RECORD",
                                        "TESTLOG_DEVICES",
                                        "CUDA_HOME",
                                        "NVTX_INJECTION64_PATH"};

    test_folder();
    if (getenv("CUDA_HOME"))
        cuda_home = strdup(getenv("CUDA_HOME"));
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        unsetenv(names[i]);
    setenv("TRACE_CUPTI", PLAYBACK, 1);
    devices_set("CALLS", test_path("calls"));
}

void devices_set(const char *name, const char *value)
{
    char variable[64];

    snprintf(variable, sizeof(variable), "PLAYBACK_%s", name);
    setenv(variable, value, 1);
}

void devices_play(const char *fixture)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/playback/%s.fixture", TESTS_DIR, fixture);
    devices_set("FIXTURE", path);
}

void devices_options(const char *text)
{
    struct trace_profiler profiler = trace_profiler_of(text);

    trace_device_configure(&profiler);
}

void devices_begin(void)
{
    trace_clock_choose();
    trace_clock_chosen = TRACE_CLOCK_MONOTONIC;
    test_record();
    devices_begin_in_recording();
}

void devices_begin_in_recording(void)
{
    struct trace_span_ref first, second;

    trace_device_publish();
    cr_assert_eq(InitializeInjection(), 1);
    first = trace_span_open_(&spans[0], 0, NULL);
    second = trace_span_open_(&spans[1], 0, NULL);
    trace_span_leave_(second);
    trace_span_leave_(first);
}

void devices_launch(unsigned count)
{
    void *handle = dlopen(PLAYBACK, RTLD_NOW | RTLD_NOLOAD);
    void (*launch)(unsigned) =
        (void (*)(unsigned))(uintptr_t)dlsym(handle, "trace_playback_launch");

    cr_assert(launch, "%s", dlerror());
    launch(count);
}

void devices_use(int device)
{
    void *handle = dlopen(DRIVER, RTLD_NOW | RTLD_LOCAL);
    int (*retain)(void **, int) = (int (*)(void **, int))(uintptr_t)dlsym(
        handle, "cuDevicePrimaryCtxRetain");
    int (*push)(void *) =
        (int (*)(void *))(uintptr_t)dlsym(handle, "cuCtxPushCurrent_v2");
    void *context;

    cr_assert(handle, "%s", dlerror());
    cr_assert_eq(retain(&context, device), 0);
    cr_assert_eq(push(context), 0);
}

/* ---- Lines ---- */

static const char *kind_word(unsigned kind)
{
    switch (kind) {
#define TRACE_X(name, number, category, target, message, failed)               \
    case TRACE_ACTIVITY_##name:                                                \
        return #name;
        TRACE_ACTIVITIES(TRACE_X)
#undef TRACE_X
    default:
        return "?";
    }
}

static void add_value(struct trace_text *out, const struct trace_value *value)
{
    switch (value->type) {
    case TRACE_TYPE_DISPLAY:
        trace_text_add(out, value->as.text, value->size);
        break;
    case TRACE_TYPE_BOOL:
        trace_text_string(out, value->as.u ? "true" : "false");
        break;
    case TRACE_TYPE_POINTER:
        trace_text_printf(out, "0x%llx", (unsigned long long)value->as.u);
        break;
    default:
        trace_text_printf(out, "%lld", (long long)value->as.i);
    }
}

static void add_fields(struct trace_text *out, struct trace_values values,
                       const char *const *names, size_t count,
                       const char *between)
{
    struct trace_value value;

    for (size_t i = 0; i < count && trace_values_next(&values, &value); i++) {
        trace_text_printf(out, "%s%s=", i ? " " : between, names[i]);
        add_value(out, &value);
    }
}

static void add_place(struct trace_text *out, const struct trace_entry *entry)
{
    if (entry->at.on_device)
        trace_text_printf(out, "device=%u/%u/%u", entry->at.device,
                          entry->at.context, entry->at.stream);
    else
        trace_text_printf(
            out, "thread=%u",
            entry->at.thread == (uint32_t)getpid() ? 1 : entry->at.thread);
}

static char *line_of(const struct trace_reader *reader,
                     const struct trace_entry *entry, uint64_t zero)
{
    static const char *const levels[] = {"OFF",  "ERROR", "WARN",
                                         "INFO", "DEBUG", "TRACE"};
    struct trace_values values = trace_values_of(entry);
    struct trace_entry span;
    struct trace_text out = {0};
    bool inside = entry->span && trace_reader_span(reader, entry->span, &span);

    trace_text_printf(
        &out, "%s %s %s corr=%u ts=%lld dur=%lld ", levels[entry->site->level],
        kind_word(entry->at.kind), entry->site->name, entry->at.correlation,
        (long long)(entry->time - zero), (long long)(entry->end - entry->time));
    add_place(&out, entry);
    trace_text_printf(&out, " span=%s", inside ? span.site->name : "0");
    if (entry->launch) {
        values.next = entry->launch;
        add_fields(&out, values, trace_launch_fields, TRACE_LAUNCH_FIELDS,
                   " launch{");
        trace_text_char(&out, '}');
    }
    add_fields(&out, trace_values_of(entry), entry->site->fields,
               entry->site->field_count, " ");
    trace_text_char(&out, '\n');
    return out.data;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char *devices_lines(struct trace_reader *reader)
{
    enum { MOST = 4096, FIRST = 1000 /* of each fixture */ };
    static char *lines[MOST];
    struct trace_text out = {0};
    struct trace_entry entry;
    uint64_t zero = 0;
    size_t count = 0;

    cr_assert_eq(trace_reader_rewind(reader), 0);
    while (trace_reader_next(reader, &entry) && count < MOST) {
        if (entry.kind != TRACE_ENTRY_DEVICE)
            continue;
        zero = count ? zero : entry.time - FIRST;
        lines[count++] = line_of(reader, &entry, zero);
    }
    qsort(lines, count, sizeof(*lines), compare);
    trace_text_string(&out, "");
    for (size_t i = 0; i < count; i++) {
        trace_text_string(&out, lines[i]);
        free(lines[i]);
    }
    return test_keep(out.data ? out.data : strdup(""));
}

const char *devices_meta(const struct trace_reader *reader, const char *name)
{
    char full[64];
    const char *value;

    snprintf(full, sizeof(full), "gpu.%s", name);
    value = trace_reader_meta(reader, full);
    return value ? value : "";
}

void devices_object(const char *name, const char *code)
{
    char command[PATH_MAX * 3], source[64];

    snprintf(source, sizeof(source), "%s.c", name);
    test_save(test_path(source), code, strlen(code));
    snprintf(command, sizeof(command), "cc -shared -fPIC -o %s %s",
             test_path(name), test_path(source));
    cr_assert_eq(system(command), 0);
    cr_assert(dlopen(test_path(name), RTLD_NOW | RTLD_LOCAL), "%s", dlerror());
}

static bool has_cupti(const char *root)
{
    char path[PATH_MAX + 64];

    snprintf(path, sizeof(path), "%s/include/cupti.h", root);
    if (!access(path, F_OK))
        return true;
    snprintf(path, sizeof(path), "%s/extras/CUPTI/include/cupti.h", root);
    return !access(path, F_OK);
}

/* Finds the toolkit of the nvcc on PATH. */
static bool beside_nvcc(char root[PATH_MAX])
{
    FILE *pipe = popen("dirname $(dirname $(readlink -f $(command -v nvcc)))"
                       " 2>/dev/null",
                       "r");
    bool found = pipe && fgets(root, PATH_MAX, pipe);

    if (pipe)
        pclose(pipe);
    if (found)
        root[strcspn(root, "\n")] = '\0';
    return found && has_cupti(root);
}

bool devices_toolkit(char root[PATH_MAX])
{
    if (cuda_home && snprintf(root, PATH_MAX, "%s", cuda_home) < PATH_MAX &&
        has_cupti(root))
        return true;
    if (beside_nvcc(root))
        return true;
    snprintf(root, PATH_MAX, "/usr/local/cuda");
    return has_cupti(root);
}

char *devices_calls(void)
{
    return test_load(test_path("calls"), NULL);
}

/* gpu_stub.c: a stub of libtestlog-gpu.so that reports what variables say. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/device.h"
#include "trace/recording.h"

static const struct trace_device_host *host;

/* Reports a kernel, launched in the calling thread's span. */
static void launch(const char *name)
{
    static const char *const fields[] = {"device"};
    const struct trace_value values[] = {trace_text_("(4, 64, 1)"),
                                         trace_u64_(7), trace_text_(name),
                                         trace_u64_(0)};
    const struct trace_activity kernel = {
        .at = {.begin = host->now(),
               .context = 1,
               .stream = 7,
               .correlation = 1,
               .kind = TRACE_ACTIVITY_KERNEL,
               .on_device = 1,
               .launched = 1},
        .end = host->now() + 1000,
        .span = host->current(),
        .name = name,
        .fields = fields,
        .field_count = 1,
        .values = values,
    };

    host->put(&kernel);
}

static void launch_many(void)
{
    const char *count = getenv("STUB_LAUNCHES");

    for (long left = count ? atol(count) : 0; left > 0; left--)
        launch("one of many");
}

/* Reports each pair of STUB_NOTES, such as
 * "gpu.api=27;gpu.kinds=kernel,memcpy". */
static void note_all(void)
{
    const char *given = getenv("STUB_NOTES");
    char *notes = strdup(given ? given : "gpu.state=on"), *rest = notes, *note;

    while ((note = strsep(&rest, ";"))) {
        char *value = strchr(note, '=');

        if (!value)
            continue;
        *value++ = '\0';
        host->note(note, value);
    }
    free(notes);
}

static void flush(bool last)
{
    launch(last ? "last" : "flushed");
}

/* Opens an own recording if `testlog record` asks for it. */
static const struct trace_device_host *own_host(void)
{
    const char *folder = getenv("TESTLOG_RECORD");
    struct trace_options options = {0};
    char path[4096];

    if (!folder)
        return NULL;
    snprintf(path, sizeof(path), "%s/process.%ld", folder, (long)getpid());
    mkdir(path, 0777);
    strncat(path, "/recording", sizeof(path) - strlen(path) - 1);
    if (trace_open(path, &options))
        return NULL;
    atexit(trace_close);
    return trace_device_host();
}

__attribute__((visibility("default"))) int InitializeInjection(void);

int InitializeInjection(void)
{
    static const struct trace_backend backend = {.flush = flush};

    host = trace_device_find();
    if (!host)
        host = own_host();
    if (!host || !host->attach(&backend))
        return 0;
    note_all();
    launch("begun");
    launch_many();
    return 1;
}

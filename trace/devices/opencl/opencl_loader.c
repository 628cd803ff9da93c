/* opencl_loader.c: finds out whether an OpenCL loader has passed our layer
 * over.
 *
 * Loaders ignore a layer that they cannot load, and old ones all layers.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/backends.h"
#include "trace/base/strings.h"
#include "trace/device.h"
#include "trace/record/recorder.h"

static const char ours[] = "libtestlog-gpu.so";

static bool begins(const char *text, const char *prefix)
{
    return !strncmp(text, prefix, strlen(prefix));
}

static bool is_named(void)
{
    const char *layers = getenv("OPENCL_LAYERS");

    return layers && strstr(layers, ours);
}

/* Returns whether OPENCL_LAYERS named our layer when the program began. */
static bool was_named(void)
{
    FILE *environment = fopen("/proc/self/environ", "re");
    char *line = NULL;
    size_t size = 0;
    bool found = false;

    while (environment && !found && getdelim(&line, &size, 0, environment) > 0)
        found = begins(line, "OPENCL_LAYERS=") && strstr(line, ours);
    free(line);
    if (environment)
        fclose(environment);
    return found;
}

enum { OBJECTS = 512 };

struct objects {
    char *names[OBJECTS];
    size_t count;
};

static int see(struct dl_phdr_info *object, size_t size, void *context)
{
    struct objects *objects = context;
    const char *base = trace_base_name(object->dlpi_name);

    (void)size;
    if (*base && !begins(base, "libOpenCL.so") && objects->count < OBJECTS &&
        (objects->names[objects->count] = strdup(object->dlpi_name)))
        objects->count++;
    return 0;
}

static int is_loader(struct dl_phdr_info *object, size_t size, void *none)
{
    (void)size;
    (void)none;
    return begins(trace_base_name(object->dlpi_name), "libOpenCL.so");
}

static void *look_up(const char *object, const char *symbol)
{
    void *handle = dlopen(object, RTLD_LAZY | RTLD_NOLOAD);
    void *found = handle ? dlsym(handle, symbol) : NULL;

    if (handle)
        dlclose(handle);
    return found;
}

/* PoCL's own symbols have a prefix. */
static bool is_driver(const char *object)
{
    return look_up(object, "clIcdGetPlatformIDsKHR") ||
           look_up(object, "POclIcdGetPlatformIDsKHR");
}

/* Returns whether a driver is loaded, and our layer is not. */
static bool is_passed_over(const struct objects *objects)
{
    bool driver = false;

    for (size_t i = 0; i < objects->count; i++) {
        const char *name = objects->names[i];

        if (!strcmp(trace_base_name(name), ours)) {
            bool (*loaded)(void) =
                (bool (*)(void))(uintptr_t)look_up(name, "trace_opencl_loaded");

            if (loaded && loaded())
                return false;
        } else {
            driver |= is_driver(name);
        }
    }
    return driver;
}

bool trace_opencl_is_missing(void)
{
    struct objects objects = {.count = 0};
    bool missing;

    if ((!is_named() && !was_named()) || !dl_iterate_phdr(is_loader, NULL))
        return false;
    dl_iterate_phdr(see, &objects);
    missing = is_passed_over(&objects);
    for (size_t i = 0; i < objects.count; i++)
        free(objects.names[i]);
    return missing;
}

void trace_opencl_check(void)
{
    char text[512];

    if (!trace_is_recording() || !trace_opencl_is_missing())
        return;
    if (is_named())
        snprintf(text, sizeof(text),
                 "OpenCL trace off: the loader did not load a layer of "
                 "OPENCL_LAYERS: %s (ocl-icd 2.3.0 and later can)",
                 getenv("OPENCL_LAYERS"));
    else
        snprintf(text, sizeof(text),
                 "OpenCL trace off: the program replaced OPENCL_LAYERS, which "
                 "named testlog's layer; append to it, behind a colon");
    trace_device_note("opencl.state", "not-loaded");
    trace_device_note("opencl.notice", text);
}

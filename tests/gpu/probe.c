/* probe.c: answers questions about a GPU that no manual answers.
 *
 *  probe setenv LIBRARY    can a library still be injected now?
 *  probe subscriber        who is subscribed to CUPTI in this process?
 *  probe first             subscribes to CUPTI before CUDA is initialized
 *  probe sampling          may this user sample the performance monitors?
 *
 * Each answer is a JSON object. BENCH_LAUNCHES and TRACE_CUPTI are as in
 * bench.c.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int init(void)
{
    const char *path = getenv("BENCH_LAUNCHES");
    void *library = path ? dlopen(path, RTLD_NOW) : NULL;
    int (*function)(void) = NULL;

    if (library)
        function = (int (*)(void))dlsym(library, "launches_init");
    return function ? function() : -1;
}

static void *cupti(const char *name)
{
    const char *path = getenv("TRACE_CUPTI");
    void *library = dlopen(path ? path : "libcupti.so", RTLD_NOW);

    return library ? dlsym(library, name) : NULL;
}

static int probe_setenv(const char *path)
{
    int error;

    setenv("CUDA_INJECTION64_PATH", path, 1);
    error = init();
    printf("{\"init_error\":%d,\"injected\":%s}\n", error,
           dlopen(path, RTLD_NOW | RTLD_NOLOAD) ? "true" : "false");
    return 0;
}

/* ---- CUPTI's structures, as far as they are used here ---- */

struct subscriber {
    size_t size;
    const char *name;
    char *old;
    size_t old_size;
};

static void nothing(void *context, int domain, uint32_t id, const void *data)
{
    (void)context, (void)domain, (void)id, (void)data;
}

typedef int subscribe_function(void **,
                               void (*)(void *, int, uint32_t, const void *),
                               void *, struct subscriber *);

/* Writes the name of another subscriber to `old`, if CUPTI tells it. */
static int subscribe(char *old, size_t size)
{
    struct subscriber subscriber = {sizeof(subscriber), "probe", old, size};
    subscribe_function *by_name =
        (subscribe_function *)cupti("cuptiSubscribe_v2");
    int (*without)(void **, void *, void *) =
        (int (*)(void **, void *, void *))cupti("cuptiSubscribe");
    void *handle;
    int result = by_name   ? by_name(&handle, nothing, NULL, &subscriber)
                 : without ? without(&handle, (void *)nothing, NULL)
                           : -1;

    old[strcspn(old, "\"\\\n")] = '\0';
    return result;
}

static int probe_subscriber(bool first)
{
    char old[256] = "";
    int result = first ? subscribe(old, sizeof(old)) : 0;
    int error = init();

    if (!first)
        result = subscribe(old, sizeof(old));
    printf("{\"init_error\":%d,\"result\":%d,\"subscribed\":\"%s\"}\n", error,
           result, old);
    return first && result;
}

struct enabling {
    size_t size;
    void *none;
    size_t device;
    void *object;
};

static int probe_sampling(void)
{
    struct {
        size_t size;
        void *none;
    } parameters = {sizeof(parameters), NULL};
    struct enabling enabling = {.size = sizeof(enabling)};
    int (*initialize)(void *) =
        (int (*)(void *))cupti("cuptiProfilerInitialize");
    int (*enable)(void *) = (int (*)(void *))cupti("cuptiPmSamplingEnable");
    int error = init(), result = -1;

    if (initialize && enable && !(result = initialize(&parameters)))
        result = enable(&enabling);
    printf("{\"init_error\":%d,\"result\":%d,\"uid\":%d}\n", error, result,
           (int)getuid());
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "setenv"))
        return probe_setenv(argv[2]);
    if (argc == 2 && !strcmp(argv[1], "subscriber"))
        return probe_subscriber(false);
    if (argc == 2 && !strcmp(argv[1], "first"))
        return probe_subscriber(true);
    if (argc == 2 && !strcmp(argv[1], "sampling"))
        return probe_sampling();
    fputs("usage: probe setenv LIBRARY | subscriber | first | sampling\n",
          stderr);
    return 2;
}

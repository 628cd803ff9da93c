/* compiler_host.c: a program that records while user code compiles.
 *
 *     host RECORDING compile|link|ptx|threads SOURCE [OPTION...]
 *
 * With PLUGIN, the user code is in that library. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRACING
#include <testlog/trace.h>

#include "trace/device.h"
#include "trace/recording.h"

static int (*user_compile_)(const char *, const char *, int,
                            const char *const *);
static int (*user_link_)(const char *, const char *);
static int (*user_link_ptx_)(const char *);

int user_compile(const char *source, const char *name, int count,
                 const char *const *options) __attribute__((weak));
int user_link(const char *data, const char *name) __attribute__((weak));
int user_link_ptx(const char *source) __attribute__((weak));

static void find_user(void)
{
    const char *path = getenv("PLUGIN");
    void *plugin = path ? dlopen(path, RTLD_LAZY) : NULL;

    user_compile_ = user_compile;
    user_link_ = user_link;
    user_link_ptx_ = user_link_ptx;
    if (path && !plugin)
        fprintf(stderr, "%s\n", dlerror());
    if (!plugin)
        return;
    *(void **)&user_compile_ = dlsym(plugin, "user_compile");
    *(void **)&user_link_ = dlsym(plugin, "user_link");
    *(void **)&user_link_ptx_ = dlsym(plugin, "user_link_ptx");
}

static void *compile_often(void *source)
{
    for (int i = 0; i < 50; i++)
        user_compile_(source, "thread.cu", 0, NULL);
    return NULL;
}

static void on_threads(char *source)
{
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, compile_often, source);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

static void run(const char *mode, char *source, int count, char **options)
{
    const char *const *given = (const char *const *)options;

    trace_span(INFO, "build");
    if (!strcmp(mode, "compile"))
        user_compile_(source, getenv("NAME"), count, given);
    if (!strcmp(mode, "link"))
        user_link_(source, "input.ptx");
    if (!strcmp(mode, "ptx"))
        user_link_ptx_(source);
    if (!strcmp(mode, "threads"))
        on_threads(source);
}

int main(int argc, char **argv)
{
    struct trace_options options = {.limit = 0};

    if (argc < 4)
        return 2;
    if (strcmp(argv[1], "none") && trace_open(argv[1], &options))
        return 3;
    trace_compilers_watch();
    printf("possible=%d\n", trace_compilers_possible());
    find_user();
    run(argv[2], argv[3], argc - 4, argv + 4);
    trace_close();
    return 0;
}

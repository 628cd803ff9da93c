/* calls_loading.c: loads shared objects one after the other, so that each takes
 * the last one's addresses. calls_loading FOLDER OBJECT... */
#include <testlog/trace.h>

#include <dlfcn.h>
#include <stdio.h>

static int run(const char *path)
{
    void *object = dlopen(path, RTLD_NOW);
    void (*function)(void);

    if (!object)
        return fprintf(stderr, "%s\n", dlerror());
    *(void **)&function = dlsym(object, "run");
    printf("%p\n", (void *)function);
    function();
    return dlclose(object);
}

int main(int argc, char **argv)
{
    if (argc < 2 || trace_start(argv[1], NULL))
        return 1;
    for (int i = 2; i < argc; i++)
        if (run(argv[i]))
            return 1;
    return trace_stop();
}

/* compiler_many.c: several libraries with the same name. With LIBRARY, this is
 * a fake of NVRTC that accepts only its own handles; with PLUGIN, a library
 * that is linked with such a fake; otherwise a program:
 *
 *     many close|keep PLUGIN...
 *
 * It loads each plugin, prints the result of a compilation, and closes the
 * plugin or keeps it. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "trace/device.h"

struct program {
    int library;
};

int nvrtcCreateProgram(struct program **program, const char *source,
                       const char *name, int count, const char *const *headers,
                       const char *const *includes);
int nvrtcCompileProgram(struct program *program, int count,
                        const char *const *options);
int nvrtcGetPTX(struct program *program, char *ptx);
int nvrtcDestroyProgram(struct program **program);

#ifdef LIBRARY
int nvrtcCreateProgram(struct program **program, const char *source,
                       const char *name, int count, const char *const *headers,
                       const char *const *includes)
{
    *program = malloc(sizeof(**program));
    (*program)->library = LIBRARY;
    return 0;
}

int nvrtcCompileProgram(struct program *program, int count,
                        const char *const *options)
{
    return program->library != LIBRARY;
}

int nvrtcGetPTX(struct program *program, char *ptx)
{
    return program->library != LIBRARY;
}

int nvrtcDestroyProgram(struct program **program)
{
    int result = (*program)->library != LIBRARY;

    free(*program);
    return result;
}
#elif defined(PLUGIN)
int plugin(void);

int plugin(void)
{
    struct program *program;
    char ptx[8];
    int failed = nvrtcCreateProgram(&program, "", "many.cu", 0, NULL, NULL);

    failed += nvrtcCompileProgram(program, 0, NULL);
    failed += nvrtcGetPTX(program, ptx);
    return failed + nvrtcDestroyProgram(&program);
}
#else
int main(int argc, char **argv)
{
    trace_compilers_watch();
    for (int i = 2; i < argc; i++) {
        void *handle = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
        int (*plugin)(void) = (int (*)(void))dlsym(handle, "plugin");

        printf("%d\n", plugin());
        if (!strcmp(argv[1], "close"))
            dlclose(handle);
        /* Moves the next library to another address. */
        mmap(NULL, 16 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    return 0;
}
#endif

/* compiler_user.c: user code in C or C++ that compiles. It calls the libraries
 * that it is linked with or, with LATE, looks their functions up. */
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(library, name, parameters) */
#define FUNCTIONS(X)                                                           \
    X("libnvrtc.so.13", nvrtcCreateProgram,                                    \
      (void **, const char *, const char *, int, const char *const *,          \
       const char *const *))                                                   \
    X("libnvrtc.so.13", nvrtcAddNameExpression, (void *, const char *))        \
    X("libnvrtc.so.13", nvrtcCompileProgram,                                   \
      (void *, int, const char *const *))                                      \
    X("libnvrtc.so.13", nvrtcDestroyProgram, (void **))                        \
    X("libnvrtc.so.13", nvrtcGetPTXSize, (void *, size_t *))                   \
    X("libnvrtc.so.13", nvrtcGetPTX, (void *, char *))                         \
    X("libnvJitLink.so.13", __nvJitLinkCreate_13_0,                            \
      (void **, uint32_t, const char *const *))                                \
    X("libnvJitLink.so.13", __nvJitLinkAddData_13_0,                           \
      (void *, int, const void *, size_t, const char *))                       \
    X("libnvJitLink.so.13", __nvJitLinkComplete_13_0, (void *))                \
    X("libnvJitLink.so.13", __nvJitLinkDestroy_13_0, (void **))

#ifdef LATE
#    define X(library, name, parameters) static int(*name) parameters;
FUNCTIONS(X)
#    undef X

static void prepare(void)
{
#    define X(library, name, parameters)                                       \
        *(void **)&name = dlsym(dlopen(library, RTLD_LAZY), #name);
    FUNCTIONS(X)
#    undef X
}
#else
#    define X(library, name, parameters)                                       \
        int name parameters __attribute__((weak));
FUNCTIONS(X)
#    undef X

static void prepare(void)
{
}
#endif

int user_compile(const char *source, const char *name, int count,
                 const char *const *options);
int user_link(const char *data, const char *name);
int user_link_ptx(const char *source);

/* Keeps the compiler's errno and prints the result. */
int user_compile(const char *source, const char *name, int count,
                 const char *const *options)
{
    void *program = NULL;
    int result;

    prepare();
    if (nvrtcCreateProgram(&program, source, name, 0, NULL, NULL)) {
        puts("no program");
        return -1;
    }
    if (strstr(source, "named"))
        nvrtcAddNameExpression(program, "saxpy");
    errno = 0;
    result = nvrtcCompileProgram(program, count, options);
    printf("result=%d errno=%d\n", result, errno);
    nvrtcDestroyProgram(&program);
    return result;
}

int user_link(const char *data, const char *name)
{
    static const char *const options[] = {"-arch=sm_90", "-O3"};
    void *link = NULL;
    int result;

    prepare();
    if (__nvJitLinkCreate_13_0(&link, 2, options))
        return -1;
    result = __nvJitLinkAddData_13_0(link, 2, data, strlen(data) + 1, name);
    if (!result)
        result = __nvJitLinkComplete_13_0(link);
    printf("linked=%d\n", result);
    __nvJitLinkDestroy_13_0(&link);
    return result;
}

int user_link_ptx(const char *source)
{
    static const char *const options[] = {"-arch=compute_90"};
    void *program = NULL;
    size_t size = 0;
    char *ptx;
    int result;

    prepare();
    nvrtcCreateProgram(&program, source, "real.cu", 0, NULL, NULL);
    if (nvrtcCompileProgram(program, 1, options) ||
        nvrtcGetPTXSize(program, &size) || !(ptx = (char *)malloc(size)))
        return -1;
    nvrtcGetPTX(program, ptx);
    nvrtcDestroyProgram(&program);
    result = user_link(ptx, "real.ptx");
    free(ptx);
    return result;
}

#ifdef __cplusplus
}
#endif

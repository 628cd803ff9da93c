/* compiler_fake.c: a fake of NVRTC and nvJitLink. A source that contains "fail"
 * fails; "warn" prints a warning. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct program {
    char source[256], log[256], name[64];
    int done;
};

int nvrtcCreateProgram(struct program **program, const char *source,
                       const char *name, int count, const char *const *headers,
                       const char *const *includes);
int nvrtcAddNameExpression(struct program *program, const char *expression);
int nvrtcCompileProgram(struct program *program, int count,
                        const char *const *options);
int nvrtcDestroyProgram(struct program **program);
int nvrtcGetPTXSize(struct program *program, size_t *size);
int nvrtcGetCUBINSize(struct program *program, size_t *size);
int nvrtcGetProgramLogSize(struct program *program, size_t *size);
int nvrtcGetProgramLog(struct program *program, char *log);
int nvrtcGetLoweredName(struct program *program, const char *expression,
                        const char **name);
const char *nvrtcGetErrorString(int result);

int nvrtcCreateProgram(struct program **program, const char *source,
                       const char *name, int count, const char *const *headers,
                       const char *const *includes)
{
    (void)name, (void)count, (void)headers, (void)includes;
    *program = calloc(1, sizeof(**program));
    snprintf((*program)->source, sizeof((*program)->source), "%s", source);
    return 0;
}

int nvrtcAddNameExpression(struct program *program, const char *expression)
{
    snprintf(program->name, sizeof(program->name), "_Z%s", expression);
    return 0;
}

/* "again" starts a nested compilation, as a callback may. */
static void compile_within(void)
{
    struct program *inner;

    nvrtcCreateProgram(&inner, "inner", "inner.cu", 0, NULL, NULL);
    nvrtcCompileProgram(inner, 0, NULL);
    nvrtcDestroyProgram(&inner);
}

int nvrtcCompileProgram(struct program *program, int count,
                        const char *const *options)
{
    (void)count, (void)options;
    if (strstr(program->source, "again"))
        compile_within();
    program->done = 1;
    errno = E2BIG; /* the program must see this value */
    if (strstr(program->source, "fail")) {
        strcpy(program->log, "saxpy.cu(1): error: it fails\n2nd line\n");
        return 6;
    }
    if (strstr(program->source, "warn"))
        strcpy(program->log, "saxpy.cu(1): warning: unused\n");
    return 0;
}

int nvrtcDestroyProgram(struct program **program)
{
    free(*program);
    *program = NULL;
    return 0;
}

int nvrtcGetPTXSize(struct program *program, size_t *size)
{
    *size = program->done ? 1234 : 0;
    return 0;
}

int nvrtcGetCUBINSize(struct program *program, size_t *size)
{
    (void)program;
    *size = 0;
    return 0;
}

int nvrtcGetProgramLogSize(struct program *program, size_t *size)
{
    *size = strlen(program->log) + 1;
    return 0;
}

int nvrtcGetProgramLog(struct program *program, char *log)
{
    strcpy(log, program->log);
    return 0;
}

int nvrtcGetLoweredName(struct program *program, const char *expression,
                        const char **name)
{
    (void)expression;
    *name = program->name;
    return 0;
}

const char *nvrtcGetErrorString(int result)
{
    return result == 6 ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR_OTHER";
}

/* ---- nvJitLink ---- */

int __nvJitLinkCreate_13_0(struct program **link, uint32_t count,
                           const char *const *options);
int __nvJitLinkAddData_13_0(struct program *link, int type, const void *data,
                            size_t size, const char *name);
int __nvJitLinkComplete_13_0(struct program *link);
int __nvJitLinkDestroy_13_0(struct program **link);
int __nvJitLinkGetLinkedCubinSize_13_0(struct program *link, size_t *size);
int __nvJitLinkGetErrorLogSize_13_0(struct program *link, size_t *size);
int __nvJitLinkGetErrorLog_13_0(struct program *link, char *log);

int __nvJitLinkCreate_13_0(struct program **link, uint32_t count,
                           const char *const *options)
{
    (void)count, (void)options;
    *link = calloc(1, sizeof(**link));
    return 0;
}

int __nvJitLinkAddData_13_0(struct program *link, int type, const void *data,
                            size_t size, const char *name)
{
    (void)type, (void)name;
    snprintf(link->source, sizeof(link->source), "%.*s", (int)size,
             (const char *)data);
    return 0;
}

int __nvJitLinkComplete_13_0(struct program *link)
{
    if (!strstr(link->source, "fail"))
        return 0;
    strcpy(link->log, "error: undefined symbol\n");
    return 4;
}

int __nvJitLinkDestroy_13_0(struct program **link)
{
    free(*link);
    return 0;
}

int __nvJitLinkGetLinkedCubinSize_13_0(struct program *link, size_t *size)
{
    (void)link;
    *size = 77;
    return 0;
}

int __nvJitLinkGetErrorLogSize_13_0(struct program *link, size_t *size)
{
    return nvrtcGetProgramLogSize(link, size);
}

int __nvJitLinkGetErrorLog_13_0(struct program *link, char *log)
{
    return nvrtcGetProgramLog(link, log);
}

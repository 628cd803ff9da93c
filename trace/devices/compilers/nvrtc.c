/* nvrtc.c: before NVRTC, which makes PTX and machine code of CUDA C++. */
#include <errno.h>
#include <string.h>

#include "compilers.h"

enum { NONE = 11 }; /* NVRTC_ERROR_INTERNAL_ERROR: there is no NVRTC */

static const struct trace_compiler compiler = {
    .stage = "nvrtc",
    .unnamed = "default_program", /* so does NVRTC */
    .log_size = "GetProgramLogSize",
    .log = "GetProgramLog",
    .lowered_name = "GetLoweredName",
    .error_string = "GetErrorString",
    .outputs = {{"GetPTXSize", TRACE_COMPILE_PTX_BYTES},
                {"GetCUBINSize", TRACE_COMPILE_CUBIN_BYTES},
                {"GetLTOIRSize", TRACE_COMPILE_LTOIR_BYTES},
                {"GetOptiXIRSize", TRACE_COMPILE_OPTIXIR_BYTES}},
};

typedef int create_function(void **, const char *, const char *, int,
                            const char *const *, const char *const *);
typedef int compile_function(void *, int, const char *const *);
typedef int name_function(void *, const char *);

static int create(const struct trace_call *call, void **program,
                  const char *source, const char *name, int count,
                  const char *const *headers, const char *const *includes)
{
    int result = ((create_function *)call->real)(program, source, name, count,
                                                 headers, includes);
    int error = errno;
    struct trace_unit *unit = result ? NULL : trace_unit_new(*program);

    trace_unit_name(unit, name);
    trace_unit_source(unit, source, source ? strlen(source) : 0);
    trace_unit_keep(unit);
    errno = error;
    return result;
}

static int add_name(const struct trace_call *call, void *program,
                    const char *expression)
{
    int result = ((name_function *)call->real)(program, expression);
    int error = errno;
    struct trace_unit *unit = result ? NULL : trace_unit_take(program);

    if (unit)
        trace_text_add(&unit->kernels, expression, strlen(expression) + 1);
    trace_unit_keep(unit);
    errno = error;
    return result;
}

static int compile(const struct trace_call *call, void *program, int count,
                   const char *const *options)
{
    struct trace_compile begun = trace_compile_begin();
    int result = ((compile_function *)call->real)(program, count, options);

    trace_compile_end(&begun, call, &compiler, program, result,
                      count > 0 ? (size_t)count : 0, options);
    return result;
}

#define FUNCTIONS(X)                                                           \
    X(nvrtcCreateProgram, "CreateProgram", create,                             \
      (void **program, const char *source, const char *name, int count,        \
       const char *const *headers, const char *const *includes),               \
      (program, source, name, count, headers, includes))                       \
    X(nvrtcAddNameExpression, "AddNameExpression", add_name,                   \
      (void *program, const char *expression), (program, expression))          \
    X(nvrtcCompileProgram, "CompileProgram", compile,                          \
      (void *program, int count, const char *const *options),                  \
      (program, count, options))                                               \
    X(nvrtcDestroyProgram, "DestroyProgram", trace_unit_destroy,               \
      (void **program), (program))

enum { FUNCTIONS(TRACE_HOOK_ROW) ROWS };

#define DEFINE(symbol, verb, work, parameters, arguments)                      \
    TRACE_HOOK_DEFINE(&trace_nvrtc_hooks, NONE, symbol, work, parameters,      \
                      arguments)
FUNCTIONS(DEFINE)

static struct trace_hook hooks[ROWS] = {FUNCTIONS(TRACE_HOOK_ENTRY)};
const struct trace_hooks trace_nvrtc_hooks = {"nvrtc", hooks, ROWS};

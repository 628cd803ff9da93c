/* nvrtc.c: wraps NVRTC, which compiles CUDA C++ to PTX and machine code. */
#include <errno.h>
#include <string.h>

#include "compilers.h"

enum { NONE = 11 }; /* NVRTC_ERROR_INTERNAL_ERROR, if there is no NVRTC */

static const struct trace_compiler compiler = {
    .stage = "nvrtc",
    .unnamed = "default_program", /* NVRTC's own default */
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
    struct trace_handle *info = result ? NULL : trace_handle_new(*program);

    trace_handle_name(info, name);
    trace_handle_source(info, source, source ? strlen(source) : 0);
    trace_handle_keep(info);
    errno = error;
    return result;
}

static int add_name(const struct trace_call *call, void *program,
                    const char *expression)
{
    int result = ((name_function *)call->real)(program, expression);
    int error = errno;
    struct trace_handle *info = result ? NULL : trace_handle_take(program);

    if (info)
        trace_text_add(&info->kernels, expression, strlen(expression) + 1);
    trace_handle_keep(info);
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
    X(nvrtcDestroyProgram, "DestroyProgram", trace_handle_destroy,             \
      (void **program), (program))

enum { FUNCTIONS(TRACE_WRAPPER_ROW) ROWS };

#define DEFINE(symbol, verb, work, parameters, arguments)                      \
    TRACE_WRAPPER_DEFINE(&trace_nvrtc_wrappers, NONE, symbol, work,            \
                         parameters, arguments)
FUNCTIONS(DEFINE)

static struct trace_wrapper wrappers[ROWS] = {FUNCTIONS(TRACE_WRAPPER_ENTRY)};
const struct trace_wrappers trace_nvrtc_wrappers = {"nvrtc", wrappers, ROWS};

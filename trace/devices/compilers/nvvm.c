/* nvvm.c: wraps libNVVM, which compiles NVVM IR to PTX. */
#include <errno.h>

#include "compilers.h"

enum {
    NONE = 9
}; /* NVVM_ERROR_COMPILATION: there is no code for a missing library */

static const struct trace_compiler compiler = {
    .stage = "nvvm",
    .unnamed = "<unnamed>", /* libNVVM's own default */
    .log_size = "GetProgramLogSize",
    .log = "GetProgramLog",
    .error_string = "GetErrorString",
    .outputs = {{"GetCompiledResultSize", TRACE_COMPILE_PTX_BYTES}},
};

typedef int add_function(void *, const char *, size_t, const char *);
typedef int compile_function(void *, int, const char **);

static int add(const struct trace_call *call, void *program, const char *source,
               size_t size, const char *name)
{
    int result = ((add_function *)call->real)(program, source, size, name);
    int error = errno;
    struct trace_handle *info = result ? NULL : trace_handle_take(program);

    if (!result && !info)
        info = trace_handle_new(program);
    trace_handle_name(info, name);
    trace_handle_source(info, source, size);
    trace_handle_keep(info);
    errno = error;
    return result;
}

static int compile(const struct trace_call *call, void *program, int count,
                   const char **options)
{
    struct trace_compile begun = trace_compile_begin();
    int result = ((compile_function *)call->real)(program, count, options);

    trace_compile_end(&begun, call, &compiler, program, result,
                      count > 0 ? (size_t)count : 0,
                      (const char *const *)options);
    return result;
}

#define FUNCTIONS(X)                                                           \
    X(nvvmAddModuleToProgram, "AddModuleToProgram", add,                       \
      (void *program, const char *source, size_t size, const char *name),      \
      (program, source, size, name))                                           \
    X(nvvmLazyAddModuleToProgram, "LazyAddModuleToProgram", add,               \
      (void *program, const char *source, size_t size, const char *name),      \
      (program, source, size, name))                                           \
    X(nvvmCompileProgram, "CompileProgram", compile,                           \
      (void *program, int count, const char **options),                        \
      (program, count, options))                                               \
    X(nvvmDestroyProgram, "DestroyProgram", trace_handle_destroy,              \
      (void **program), (program))

enum { FUNCTIONS(TRACE_WRAPPER_ROW) ROWS };

#define DEFINE(symbol, verb, work, parameters, arguments)                      \
    TRACE_WRAPPER_DEFINE(&trace_nvvm_wrappers, NONE, symbol, work, parameters, \
                         arguments)
FUNCTIONS(DEFINE)

static struct trace_wrapper wrappers[ROWS] = {FUNCTIONS(TRACE_WRAPPER_ENTRY)};
const struct trace_wrappers trace_nvvm_wrappers = {"nvvm", wrappers, ROWS};

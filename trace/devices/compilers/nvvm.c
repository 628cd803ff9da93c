/* nvvm.c: before libNVVM, which makes PTX of NVVM IR. */
#include <errno.h>

#include "compilers.h"

enum { NONE = 9 }; /* NVVM_ERROR_COMPILATION: it has none for what is missing */

static const struct trace_compiler compiler = {
    .stage = "nvvm",
    .unnamed = "<unnamed>", /* so does libNVVM */
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
    struct trace_unit *unit = result ? NULL : trace_unit_take(program);

    if (!result && !unit)
        unit = trace_unit_new(program);
    trace_unit_name(unit, name);
    trace_unit_source(unit, source, size);
    trace_unit_keep(unit);
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
    X(nvvmDestroyProgram, "DestroyProgram", trace_unit_destroy,                \
      (void **program), (program))

enum { FUNCTIONS(TRACE_HOOK_ROW) ROWS };

#define DEFINE(symbol, verb, work, parameters, arguments)                      \
    TRACE_HOOK_DEFINE(&trace_nvvm_hooks, NONE, symbol, work, parameters,       \
                      arguments)
FUNCTIONS(DEFINE)

static struct trace_hook hooks[ROWS] = {FUNCTIONS(TRACE_HOOK_ENTRY)};
const struct trace_hooks trace_nvvm_hooks = {"nvvm", hooks, ROWS};

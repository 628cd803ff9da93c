/* compilers.h: what the files that stand before compilers share. Private. */
#ifndef TRACE_DEVICES_COMPILERS_H
#define TRACE_DEVICES_COMPILERS_H

#include <stdbool.h>

#include "trace/device.h"
#include "wrappers.h"

/* ---- wrappers.c: the real functions ---- */

/* A call of one of ours. */
struct trace_call {
    const struct trace_hook *hook;
    trace_routine *real; /* NULL: there is none */
};

extern const struct trace_hooks trace_nvrtc_hooks, trace_nvvm_hooks,
    trace_nvjitlink_hooks;

/* trace_call_of finds the real function of row `row` that `caller`, an address
 * in who calls, means. */
struct trace_call trace_call_of(const struct trace_hooks *, unsigned row,
                                unsigned way, const void *caller);

/* trace_call_other returns the function of the same library whose name has
 * another verb, NULL if it has none. */
trace_routine *trace_call_other(const struct trace_call *, const char *verb);

/* A list of functions is a macro FUNCTIONS(X) with a row
 * X(symbol, verb, work, (parameters), (arguments)) for each; `work` is called
 * with the call before the arguments, `none` returned without a real one. */
#define TRACE_HOOK_OPEN(...) __VA_ARGS__

#define TRACE_HOOK_ROW(symbol, verb, work, parameters, arguments) row_##symbol,

#define TRACE_HOOK_ENTRY(symbol, verb, work, parameters, arguments)            \
    {#symbol,                                                                  \
     verb,                                                                     \
     {(trace_routine *)symbol##_0, (trace_routine *)symbol##_1,                \
      (trace_routine *)symbol##_2},                                            \
     {NULL, NULL, NULL}},

#define TRACE_HOOK_WAY(name, hooks, row, way, none, work, parameters,          \
                       arguments)                                              \
    static int name parameters                                                 \
    {                                                                          \
        struct trace_call call =                                               \
            trace_call_of(hooks, row, way, __builtin_return_address(0));       \
                                                                               \
        return call.real ? work(&call, TRACE_HOOK_OPEN arguments) : none;      \
    }

/* Weak, so that a static library of the compiler's has its way. */
#define TRACE_HOOK_DEFINE(hooks, none, symbol, work, parameters, arguments)    \
    TRACE_HOOK_WAY(symbol##_0, hooks, row_##symbol, 0, none, work, parameters, \
                   arguments)                                                  \
    TRACE_HOOK_WAY(symbol##_1, hooks, row_##symbol, 1, none, work, parameters, \
                   arguments)                                                  \
    TRACE_HOOK_WAY(symbol##_2, hooks, row_##symbol, 2, none, work, parameters, \
                   arguments)                                                  \
    extern __typeof__(symbol##_0) symbol                                       \
        __attribute__((weak, visibility("default"), alias(#symbol "_0")));

/* ---- handles.c: what is known of a compiler's handle ---- */

struct trace_unit {
    const void *handle;
    char *name; /* NULL: none */
    size_t source_bytes;
    uint64_t source_fnv;
    struct trace_text options; /* as one line */
    struct trace_text kernels; /* their expressions, a NUL behind each */
    size_t inputs, input_bytes;
    unsigned input_types; /* a bit for each */
    struct trace_unit *next;
};

/* trace_units_begin lets forked children compile, too; at the latest the first
 * unit does. */
void trace_units_begin(void);

/* trace_unit_new makes one, NULL without memory. trace_unit_take takes what is
 * known of a handle; NULL: nothing. Both are the caller's, until
 * trace_unit_keep remembers it or trace_unit_free forgets it; NULL is fine. */
struct trace_unit *trace_unit_new(const void *handle);
struct trace_unit *trace_unit_take(const void *handle);
void trace_unit_keep(struct trace_unit *);
void trace_unit_free(struct trace_unit *);

/* trace_unit_name sets the name, unless it has one. */
void trace_unit_name(struct trace_unit *, const char *name);

/* trace_unit_source adds source code. */
void trace_unit_source(struct trace_unit *, const char *source, size_t size);

/* ---- compile.c: events ---- */

enum { TRACE_COMPILE_OUTPUTS = 4 };

struct trace_compiler {
    const char *stage;
    const char *unnamed;             /* what has no name is called */
    const char *log_size, *log;      /* verbs, as all that follow */
    const char *lowered_name;        /* NULL: it has none, as below */
    const char *(*result_name)(int); /* if the library cannot say it itself */
    const char *error_string;
    const char *const *input_types; /* by bit, up to NULL */
    struct {
        const char *verb; /* of the function that returns the size */
        unsigned field;   /* enum trace_compile_field */
    } outputs[TRACE_COMPILE_OUTPUTS];
};

/* X(NAME, name): what an event says. */
#define TRACE_COMPILE_FIELDS(X)                                                \
    X(STAGE, "stage")                                                          \
    X(RESULT, "result")                                                        \
    X(OPTIONS, "options")                                                      \
    X(INPUTS, "inputs")                                                        \
    X(INPUT_BYTES, "input_bytes")                                              \
    X(INPUT_TYPES, "input_types")                                              \
    X(SOURCE_BYTES, "source_bytes")                                            \
    X(SOURCE_FNV, "source_fnv")                                                \
    X(PTX_BYTES, "ptx_bytes")                                                  \
    X(CUBIN_BYTES, "cubin_bytes")                                              \
    X(LTOIR_BYTES, "ltoir_bytes")                                              \
    X(OPTIXIR_BYTES, "optixir_bytes")                                          \
    X(KERNEL_NAMES, "kernel.names")                                            \
    X(LOG_BYTES, "log_bytes")                                                  \
    X(LOG, "log")

enum trace_compile_field {
#define TRACE_X(name, text) TRACE_COMPILE_##name,
    TRACE_COMPILE_FIELDS(TRACE_X)
#undef TRACE_X
        TRACE_COMPILE_FIELD_COUNT
};

/* trace_unit_destroy forgets what is known of a handle and calls the compiler's
 * own function for that. */
int trace_unit_destroy(const struct trace_call *, void **handle);

/* A call into a compiler, as it began. */
struct trace_compile {
    const struct trace_device_host *host; /* NULL: nothing is recorded */
    uint32_t span;
    uint64_t begin; /* ticks */
};

/* trace_compile_begin notes when; trace_compile_end records what came of it.
 * Both leave errno alone. Without `options` they are the unit's; a handle NULL
 * is not asked for anything. */
struct trace_compile trace_compile_begin(void);
void trace_compile_end(const struct trace_compile *, const struct trace_call *,
                       const struct trace_compiler *, void *handle, int result,
                       size_t count, const char *const *options);

/* trace_compile_options adds options to a text, a space between. */
void trace_compile_options(struct trace_text *, size_t count,
                           const char *const *options);

#endif

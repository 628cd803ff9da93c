/* compilers.h: what the files that wrap compilers share. Private. */
#ifndef TRACE_DEVICES_COMPILERS_H
#define TRACE_DEVICES_COMPILERS_H

#include <stdbool.h>

#include "trace/device.h"
#include "wrappers.h"

/* ---- wrappers.c: the real functions ---- */

/* A call to one of the wrappers. */
struct trace_call {
    const struct trace_wrapper *wrapper;
    trace_routine *real; /* NULL: not found */
};

extern const struct trace_wrappers trace_nvrtc_wrappers, trace_nvvm_wrappers,
    trace_nvjitlink_wrappers;

/* trace_wrapper_look_up calls dlsym, and clears the error that a failed lookup
 * leaves for the program. trace_wrapper_is_in returns whether a function
 * belongs to an object whose file name begins with `file`. */
trace_routine *trace_wrapper_look_up(void *handle, const char *name);
bool trace_wrapper_is_in(trace_routine *, const char *file);

/* trace_call_of finds the real function of row `row` for `caller`, an address
 * in the calling code. */
struct trace_call trace_call_of(const struct trace_wrappers *, unsigned row,
                                unsigned slot, const void *caller);

/* trace_call_other returns the function of the same library with another verb
 * in its name, NULL if there is none. */
trace_routine *trace_call_other(const struct trace_call *, const char *verb);

/* A list of functions is a macro FUNCTIONS(X) with one row X(symbol, verb,
 * work, (parameters), (arguments)) each. The wrapper passes the call and the
 * arguments to `work`; it returns `none` if there is no real function. */
#define TRACE_WRAPPER_OPEN(...) __VA_ARGS__

#define TRACE_WRAPPER_ROW(symbol, verb, work, parameters, arguments)           \
    row_##symbol,

#define TRACE_WRAPPER_ENTRY(symbol, verb, work, parameters, arguments)         \
    {#symbol,                                                                  \
     verb,                                                                     \
     {(trace_routine *)symbol##_0, (trace_routine *)symbol##_1,                \
      (trace_routine *)symbol##_2},                                            \
     {NULL, NULL, NULL}},

#define TRACE_WRAPPER_SLOT(name, wrappers, row, slot, none, work, parameters,  \
                           arguments)                                          \
    static int name parameters                                                 \
    {                                                                          \
        struct trace_call call =                                               \
            trace_call_of(wrappers, row, slot, __builtin_return_address(0));   \
                                                                               \
        return call.real ? work(&call, TRACE_WRAPPER_OPEN arguments) : none;   \
    }

/* Weak, so that a static library of the compiler overrides it. */
#define TRACE_WRAPPER_DEFINE(wrappers, none, symbol, work, parameters,         \
                             arguments)                                        \
    TRACE_WRAPPER_SLOT(symbol##_0, wrappers, row_##symbol, 0, none, work,      \
                       parameters, arguments)                                  \
    TRACE_WRAPPER_SLOT(symbol##_1, wrappers, row_##symbol, 1, none, work,      \
                       parameters, arguments)                                  \
    TRACE_WRAPPER_SLOT(symbol##_2, wrappers, row_##symbol, 2, none, work,      \
                       parameters, arguments)                                  \
    extern __typeof__(symbol##_0) symbol                                       \
        __attribute__((weak, visibility("default"), alias(#symbol "_0")));

/* ---- handles.c: facts about a compiler's handles ---- */

struct trace_handle {
    const void *handle;
    char *name; /* NULL: none */
    size_t source_bytes;
    uint64_t source_fnv;
    struct trace_text options; /* on one line */
    struct trace_text kernels; /* name expressions, each with its NUL */
    size_t inputs, input_bytes;
    unsigned input_types; /* a bit for each */
    struct trace_handle *next;
};

/* trace_handles_begin keeps the lock usable in forked children. The first
 * trace_handle_keep or _take calls it, too. */
void trace_handles_begin(void);

/* trace_handle_new makes an entry, NULL without memory. trace_handle_take
 * removes and returns the entry of a handle, NULL if there is none. The caller
 * owns both until it passes them to trace_handle_keep or trace_handle_free,
 * which accept NULL. */
struct trace_handle *trace_handle_new(const void *handle);
struct trace_handle *trace_handle_take(const void *handle);
void trace_handle_keep(struct trace_handle *);
void trace_handle_free(struct trace_handle *);

/* trace_handle_name sets the name unless there is one. */
void trace_handle_name(struct trace_handle *, const char *name);

/* trace_handle_source adds source code to the size and the hash. */
void trace_handle_source(struct trace_handle *, const char *source,
                         size_t size);

/* ---- compile.c: events ---- */

enum { TRACE_COMPILE_OUTPUTS = 4 };

struct trace_compiler {
    const char *stage;
    const char *unnamed;             /* the name of an unnamed program */
    const char *log_size, *log;      /* verbs, as are all that follow */
    const char *lowered_name;        /* NULL: has no such function */
    const char *(*result_name)(int); /* for libraries without error_string */
    const char *error_string;
    const char *const *input_types; /* by bit, ends with NULL */
    struct {
        const char *verb; /* of the function that returns the size */
        unsigned field;   /* enum trace_compile_field */
    } outputs[TRACE_COMPILE_OUTPUTS];
};

/* X(NAME, name): the fields of an event. */
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

/* trace_handle_destroy forgets a handle and calls the compiler's own function
 * to destroy it. */
int trace_handle_destroy(const struct trace_call *, void **handle);

/* A call into a compiler that has begun. */
struct trace_compile {
    const struct trace_device_host *host; /* NULL: nothing is recorded */
    uint32_t span;
    uint64_t begin; /* ticks */
};

/* trace_compile_begin notes the time, trace_compile_end records the event. Both
 * preserve errno. Without `options`, those of the handle are recorded. With a
 * NULL handle, the compiler is not asked for outputs or a log. */
struct trace_compile trace_compile_begin(void);
void trace_compile_end(const struct trace_compile *, const struct trace_call *,
                       const struct trace_compiler *, void *handle, int result,
                       size_t count, const char *const *options);

/* trace_compile_options appends options to a text, separated by spaces. */
void trace_compile_options(struct trace_text *, size_t count,
                           const char *const *options);

#endif

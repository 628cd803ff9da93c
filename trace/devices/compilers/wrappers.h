/* wrappers.h: wrappers around the compilers' functions. Private; the audit
 * library uses it, too. */
#ifndef TRACE_DEVICES_WRAPPERS_H
#define TRACE_DEVICES_WRAPPERS_H

#include <stddef.h>
#include <stdint.h>

typedef void trace_routine(void);

/* A wrapper calls one real function. A process may load several libraries that
 * define the same function, so each wrapper exists several times. The first has
 * the real function's name; the audit library assigns the others to functions
 * that are looked up by dlsym. */
enum { TRACE_WRAPPER_SLOTS = 3 };

struct trace_wrapper {
    const char *name; /* "nvrtcCompileProgram" */
    const char *verb; /* of it: "CompileProgram" */
    trace_routine *entries[TRACE_WRAPPER_SLOTS];
    trace_routine *real[TRACE_WRAPPER_SLOTS]; /* NULL: unused */
};

/* The functions of one library; its name is split: see detect.c. */
struct trace_wrappers {
    const char *library; /* "nvrtc": the file's name without "lib" */
    struct trace_wrapper *all;
    size_t count;
};

/* ---- Registration with the audit library ----
 *
 * The program and the audit library are in different namespaces of the dynamic
 * linker. The program asks dlsym for a symbol of the dynamic linker that nobody
 * else asks for; the audit library returns its registration function instead.
 */
#define TRACE_REGISTER_SYMBOL  "_dl_mcount"
#define TRACE_REGISTER_LIBRARY "libtestlog-audit"

struct trace_wrapper_list {
    uint32_t version; /* TRACE_WRAPPER_LIST */
    uint32_t count;
    const struct trace_wrappers *const *wrappers;
};

enum { TRACE_WRAPPER_LIST = 1 };

typedef void trace_register(const struct trace_wrapper_list *);

#endif

/* wrappers.h: functions of compilers, seen on the way: ours and the real ones
 * behind them. Private; the audit library shares it.
 */
#ifndef TRACE_DEVICES_WRAPPERS_H
#define TRACE_DEVICES_WRAPPERS_H

#include <stddef.h>
#include <stdint.h>

typedef void trace_routine(void);

/* A function of ours stands before one real function. A process may have
 * several libraries of a name, so each function of ours exists several times.
 * The first is the one that has the real one's name; the others stand before
 * what the audit library saw looked up by dlsym. */
enum { TRACE_HOOK_WAYS = 3 };

struct trace_hook {
    const char *name; /* "nvrtcCompileProgram" */
    const char *verb; /* of it: "CompileProgram"; others are called alike */
    trace_routine *ours[TRACE_HOOK_WAYS];
    trace_routine *real[TRACE_HOOK_WAYS]; /* NULL: not known; so is the first */
};

/* The functions of one library; its name is split: see detect.c. */
struct trace_hooks {
    const char *library; /* "nvrtc": the name of its file without "lib" */
    struct trace_hook *all;
    size_t count;
};

/* ---- How a program and the audit library meet ----
 *
 * They are in different namespaces of the dynamic linker. The program asks
 * dlsym for a name that the dynamic linker has and nobody asks for; the audit
 * library answers with its door. */
#define TRACE_DOOR       "_dl_mcount"
#define TRACE_DOOR_OWNER "libtestlog-audit"

struct trace_hook_list {
    uint32_t version; /* TRACE_HOOK_LIST */
    uint32_t count;
    const struct trace_hooks *const *hooks;
};

enum { TRACE_HOOK_LIST = 1 };

typedef void trace_door(const struct trace_hook_list *);

#endif

/* load_map.h: the modules of the process, which the recording needs to name
 * addresses: the program and its shared objects. Private.
 *
 * A module is recorded when the first address in it is. An address belongs to
 * the module that was recorded last before the address was, because another
 * object may have taken the place of one that was unloaded.
 */
#ifndef TRACE_LOAD_MAP_H
#define TRACE_LOAD_MAP_H

#include "trace/record/write.h"

/* A range of addresses. */
struct trace_loaded {
    uintptr_t low;
    size_t size; /* atomic; 0: it was unloaded */
    /* A byte for each 1 << `shift` addresses, which is not 0 if the function
     * that begins there is recorded; NULL: all are. */
    const unsigned char *wanted;
    unsigned shift;
    /* A byte for each address, which is not 0 if the block of lines that
     * begins there is recorded; NULL: none is. */
    const unsigned char *lines;
    const struct trace_function_filter *filter; /* both are from it */
};

/* trace_load_map_none is a module without addresses. */
extern const struct trace_loaded trace_load_map_none;

static inline bool trace_is_loaded_at(const struct trace_loaded *module,
                                      uintptr_t address)
{
    return address - module->low <
           __atomic_load_n(&module->size, __ATOMIC_RELAXED);
}

/* trace_is_unwanted tells whether a function is known to be left out. */
static inline bool trace_is_unwanted(const struct trace_loaded *module,
                                     uintptr_t function)
{
    return unlikely(module->wanted != NULL) &&
           module->filter == trace_recording.functions &&
           trace_is_loaded_at(module, function) &&
           !module->wanted[(function - module->low) >> module->shift];
}

/* trace_has_line tells whether the block of lines at an address, which is in
 * the module, is recorded. */
static inline bool trace_has_line(const struct trace_loaded *module,
                                  uintptr_t address)
{
    return module->lines && module->filter == trace_recording.functions &&
           module->lines[address - module->low];
}

/* trace_load_map_find returns the module of an address, and records it before
 * its first address. Without one, it returns trace_load_map_none. */
const struct trace_loaded *trace_load_map_find(struct trace_writer *,
                                               uintptr_t address);

/* trace_load_map_renew finds the modules of an earlier recording, or of a
 * fork's parent, again. Signals must be held. */
void trace_load_map_renew(struct trace_writer *);

#endif

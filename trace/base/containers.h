/* containers.h: a growing array and a hash table. Private to the project. */
#ifndef TRACE_CONTAINERS_H
#define TRACE_CONTAINERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- array.c ---- */

/* trace_array_reserve makes room for `count` elements of `size` bytes. `array`
 * points to the pointer to the first element. The caller frees it, and then
 * resets the capacity as well. `capacity` at least doubles when it grows; new
 * elements are zero. Returns false without memory, and changes nothing then. */
bool trace_array_reserve(void *array, size_t *capacity, size_t count,
                         size_t size);

#define TRACE_ARRAY_RESERVE(array, capacity, count)                            \
    trace_array_reserve(&(array), &(capacity), count, sizeof(*(array)))

/* ---- table.c ---- */

/* A hash table from 64-bit keys to values below UINTPTR_MAX: indexes or
 * pointers. The zero value is empty. */
struct trace_table {
    struct trace_slot {
        uint64_t key;
        uintptr_t taken; /* the value + 1; 0: free */
    } * slots;
    size_t size, count;
};

/* trace_table_find returns whether a key has a value, and the value.
 * trace_table_set adds a key or replaces its value; false without memory.
 * trace_table_remove removes a key, if it is there. trace_table_next steps
 * through the values in any order: start with a cursor of 0; false at the end.
 * trace_table_free leaves the table empty. */
bool trace_table_find(const struct trace_table *, uint64_t key,
                      uintptr_t *value);
bool trace_table_set(struct trace_table *, uint64_t key, uintptr_t value);
void trace_table_remove(struct trace_table *, uint64_t key);
bool trace_table_next(const struct trace_table *, size_t *cursor,
                      uintptr_t *value);
void trace_table_free(struct trace_table *);

#endif

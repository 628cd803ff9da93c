/* call_counts.c: counts the calls that have no space, by function.
 *
 * The table takes the last chunk that calls may have. All threads and forked
 * children of the process share it.
 */
#include "calls.h"

#include <sched.h>

enum {
    PROBES = 32, /* places where a function's count may be */
    MADE = 1,    /* a place where a thread is making the table */
    NO_TABLE,    /* a place where none can be */
    LOOKS = 4096,
};

/* Makes the table; another thread may do so meanwhile. */
static void make_table(struct trace_header *header)
{
    struct trace_record *table = trace_room_for_counts(header);

    if (!table) {
        __atomic_store_n(&header->calls_counts, NO_TABLE, __ATOMIC_RELEASE);
        return;
    }
    table->slots = TRACE_CHUNK_SLOTS;
    table->kind = TRACE_KIND_CALL_COUNTS;
    __atomic_store_n(&table->time, trace_clock_now(), __ATOMIC_RELEASE);
    __atomic_store_n(&header->calls_counts,
                     (uint64_t)(table - (struct trace_record *)header),
                     __ATOMIC_RELEASE);
}

/* Returns the table; NULL if there is no space for one. */
static struct trace_record *find_table(struct trace_header *header)
{
    uint64_t none = 0;
    uint64_t place = __atomic_load_n(&header->calls_counts, __ATOMIC_ACQUIRE);

    if (!place &&
        __atomic_compare_exchange_n(&header->calls_counts, &none, MADE, false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        make_table(header);
    /* A process may have died while it made the table. */
    for (int i = 0; i < LOOKS; i++) {
        place = __atomic_load_n(&header->calls_counts, __ATOMIC_ACQUIRE);
        if (place != MADE)
            break;
        sched_yield();
    }
    if (place == MADE)
        __atomic_compare_exchange_n(&header->calls_counts, &place, NO_TABLE,
                                    false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return place > NO_TABLE ? (struct trace_record *)header + place : NULL;
}

/* Counts a call in a free or its own place. */
static void count_in(struct trace_record *table, uint64_t function)
{
    struct trace_call_count *counts = (struct trace_call_count *)(table + 1);
    size_t size = (table->slots - 1) * 2;
    size_t at = (size_t)((function >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 40);

    for (size_t i = 0; i < PROBES; i++) {
        struct trace_call_count *count = &counts[(at + i) % size];
        uint64_t found = 0;

        if (__atomic_load_n(&count->function, __ATOMIC_RELAXED) == function ||
            __atomic_compare_exchange_n(&count->function, &found, function,
                                        false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED) ||
            found == function) {
            __atomic_fetch_add(&count->count, 1, __ATOMIC_RELAXED);
            return;
        }
    }
}

/* The writer's recording may have ended. */
void trace_call_count(struct trace_writer *writer, uint64_t function)
{
    struct trace_header *header = trace_header_now();
    struct trace_record *table;

    if ((struct trace_record *)header != writer->base)
        return;
    __atomic_fetch_add(&header->calls_lost, 1, __ATOMIC_RELAXED);
    table = find_table(header);
    if (table)
        count_in(table, function);
}

/* table.c: numbers, found by keys. */
#include <stdlib.h>

#include "reader.h"

struct trace_slot {
    uint64_t key;
    uint32_t taken; /* the number + 1; 0: free */
};

/* Where a key is, or is to be. Who wrote a recording does not know the factor,
 * and cannot choose keys that meet. */
static struct trace_slot *slot_of(const struct trace_table *table, uint64_t key)
{
    uint64_t factor =
        UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)(uintptr_t)table->slots << 4;
    size_t i = (size_t)((key * factor >> 32) * table->size >> 32);

    while (table->slots[i].taken && table->slots[i].key != key)
        i = (i + 1) % table->size;
    return &table->slots[i];
}

bool trace_table_find(const struct trace_table *table, uint64_t key,
                      uint32_t *number)
{
    const struct trace_slot *slot = table->size ? slot_of(table, key) : NULL;

    if (!slot || !slot->taken)
        return false;
    *number = slot->taken - 1;
    return true;
}

/* At most half of the slots are taken. */
static bool grow(struct trace_table *table)
{
    struct trace_table larger = {.size = table->size ? 2 * table->size : 16,
                                 .count = table->count};

    larger.slots = calloc(larger.size, sizeof(*larger.slots));
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < table->size; i++)
        if (table->slots[i].taken)
            *slot_of(&larger, table->slots[i].key) = table->slots[i];
    free(table->slots);
    *table = larger;
    return true;
}

bool trace_table_set(struct trace_table *table, uint64_t key, uint32_t number)
{
    struct trace_slot *slot;

    if (2 * table->count >= table->size && !grow(table))
        return false;
    slot = slot_of(table, key);
    table->count += !slot->taken;
    *slot = (struct trace_slot){key, number + 1};
    return true;
}

void trace_table_free(struct trace_table *table)
{
    free(table->slots);
    *table = (struct trace_table){0};
}

/* table.c: a hash table with linear probing. */
#include <stdlib.h>

#include "containers.h"

/* The hash depends on an address: whoever writes a recording cannot choose keys
 * that collide. It ends as SplitMix64 does, so that all bits of the key count:
 * G. Steele, D. Lea, C. Flood: Fast Splittable Pseudorandom Number Generators,
 * 2014. */
static size_t home_of(const struct trace_table *table, uint64_t key)
{
    uint64_t hash = key ^ (uint64_t)(uintptr_t)table->slots;

    hash = (hash ^ hash >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    hash = (hash ^ hash >> 27) * UINT64_C(0x94d049bb133111eb);
    return (size_t)((hash >> 32) * table->size >> 32);
}

/* Returns the slot of a key, or the free slot for it. */
static struct trace_slot *slot_of(const struct trace_table *table, uint64_t key)
{
    size_t i = home_of(table, key);

    while (table->slots[i].taken && table->slots[i].key != key)
        i = (i + 1) & (table->size - 1);
    return &table->slots[i];
}

bool trace_table_find(const struct trace_table *table, uint64_t key,
                      uintptr_t *value)
{
    const struct trace_slot *slot = table->size ? slot_of(table, key) : NULL;

    if (!slot || !slot->taken)
        return false;
    *value = slot->taken - 1;
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

bool trace_table_set(struct trace_table *table, uint64_t key, uintptr_t value)
{
    struct trace_slot *slot;

    if (2 * table->count >= table->size && !grow(table))
        return false;
    slot = slot_of(table, key);
    table->count += !slot->taken;
    *slot = (struct trace_slot){key, value + 1};
    return true;
}

/* Closes the gap: moves back each key behind it that probing would no longer
 * reach. */
void trace_table_remove(struct trace_table *table, uint64_t key)
{
    struct trace_slot *slots = table->slots;
    size_t mask = table->size - 1, gap, i;

    if (!table->size || !slot_of(table, key)->taken)
        return;
    gap = i = (size_t)(slot_of(table, key) - slots);
    while (slots[i = (i + 1) & mask].taken)
        if (((i - home_of(table, slots[i].key)) & mask) >= ((i - gap) & mask)) {
            slots[gap] = slots[i];
            gap = i;
        }
    slots[gap].taken = 0;
    table->count--;
}

bool trace_table_next(const struct trace_table *table, size_t *cursor,
                      uintptr_t *value)
{
    while (*cursor < table->size) {
        const struct trace_slot *slot = &table->slots[(*cursor)++];

        if (slot->taken) {
            *value = slot->taken - 1;
            return true;
        }
    }
    return false;
}

void trace_table_free(struct trace_table *table)
{
    free(table->slots);
    *table = (struct trace_table){0};
}

/* deadlocks.c: finds threads that wait for locks of each other. */
#include <stdio.h>

#include "stacks.h"

static struct waiting {
    pid_t thread, holder;
    char lock[128];
} waits[STACKS_THREADS];

static size_t wait_count;

void stacks_note_lock(pid_t thread, const char *lock, pid_t holder)
{
    struct waiting *waiting = &waits[wait_count];

    if (wait_count == STACKS_THREADS)
        return;
    wait_count++;
    waiting->thread = thread;
    waiting->holder = holder;
    snprintf(waiting->lock, sizeof(waiting->lock), "%s", lock);
}

/* Returns what the holder of a lock waits for; NULL: nothing. */
static struct waiting *next_of(const struct waiting *waiting)
{
    for (size_t i = 0; i < wait_count; i++)
        if (waits[i].thread == waiting->holder)
            return &waits[i];
    return NULL;
}

/* Each thread waits once at most: a chain that does not come back within as
 * many steps leads into a cycle of others. */
static bool is_in_cycle(const struct waiting *first)
{
    const struct waiting *at = next_of(first);

    for (size_t i = 1; at && at != first && i < wait_count; i++)
        at = next_of(at);
    return at == first;
}

/* A cycle that was told has no holders any more. */
static void put_cycle(struct waiting *first)
{
    struct waiting *at = first, *next;
    char text[2048];
    size_t used = 0;

    for (; at->holder && used < sizeof(text); at = next) {
        next = next_of(at);
        used += (size_t)snprintf(text + used, sizeof(text) - used,
                                 "%s waits for %s (held by thread %d)",
                                 at == first ? "" : ", which", at->lock,
                                 (int)at->holder);
        at->holder = 0;
    }
    stacks_put("note\tdeadlock: thread %d%s", (int)first->thread, text);
}

void stacks_put_deadlocks(void)
{
    for (size_t i = 0; i < wait_count; i++)
        if (waits[i].holder == waits[i].thread)
            stacks_put("note\tdeadlock: thread %d waits for %s, which it holds",
                       (int)waits[i].thread, waits[i].lock);
        else if (is_in_cycle(&waits[i]))
            put_cycle(&waits[i]);
}

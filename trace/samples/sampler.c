/* sampler.c: gathers samples by worker. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "sampled.h"
#include "trace/base/strings.h"

/* The frames that the kernel notes by default. */
enum { FRAMES_MOST = 127 };

/* ---- Processes ---- */

static struct trace_sampled_process *find_process(
    const struct trace_sampler *sampler, uint32_t pid)
{
    uintptr_t number;

    return trace_table_find(&sampler->by_pid, pid, &number)
               ? &sampler->processes[number]
               : NULL;
}

static struct trace_sampled_process *add_process(struct trace_sampler *sampler,
                                                 uint32_t pid, uint32_t worker)
{
    size_t number = sampler->process_count;

    if (!TRACE_ARRAY_RESERVE(sampler->processes, sampler->process_capacity,
                             number + 1) ||
        !trace_table_set(&sampler->by_pid, pid, number))
        return NULL;
    sampler->processes[number] =
        (struct trace_sampled_process){.pid = pid, .worker = worker};
    sampler->process_count++;
    return &sampler->processes[number];
}

/* A process of which no beginning is known belongs to no worker. */
static struct trace_sampled_process *process_of(struct trace_sampler *sampler,
                                                uint32_t pid)
{
    struct trace_sampled_process *process = find_process(sampler, pid);

    return process ? process : add_process(sampler, pid, 0);
}

/* Returns the worker that a new process belongs to. What it has started may
 * outlive it. */
static uint32_t find_worker(struct trace_sampler *sampler,
                            const struct trace_perf_event *event,
                            const struct trace_sampled_process *parent)
{
    uintptr_t unused;

    if (event->parent == sampler->runner &&
        (!event->worker || event->worker == event->pid)) {
        trace_table_remove(&sampler->put, event->pid);
        return event->pid;
    }
    if (!event->worker)
        return parent->worker;
    return trace_table_find(&sampler->put, event->worker, &unused)
               ? 0
               : event->worker;
}

/* A child begins with its parent's memory. */
static void begin_process(struct trace_sampler *sampler,
                          const struct trace_perf_event *event)
{
    struct trace_sampled_process *parent = process_of(sampler, event->parent);
    struct trace_sampled_process *child;
    struct trace_sampled_map *maps = NULL;
    size_t capacity = 0;
    uint32_t worker;

    if (!parent || !TRACE_ARRAY_RESERVE(maps, capacity, parent->map_count + 1))
        return;
    for (size_t i = 0; i < parent->map_count; i++)
        maps[i] = parent->maps[i];
    child = process_of(sampler, event->pid);
    parent = find_process(sampler, event->parent); /* it may have moved */
    if (!child) {
        free(maps);
        return;
    }
    worker = find_worker(sampler, event, parent);
    free(child->maps);
    *child = (struct trace_sampled_process){event->pid,        worker,  1, maps,
                                            parent->map_count, capacity};
}

/* Its maps are needed as long as one of its threads runs. */
static void end_thread(struct trace_sampler *sampler,
                       const struct trace_perf_event *event)
{
    struct trace_sampled_process *process = find_process(sampler, event->pid);

    if (!process || !process->threads || --process->threads)
        return;
    free(process->maps);
    process->maps = NULL;
    process->map_count = process->map_capacity = 0;
}

/* ---- Files ---- */

/* Returns the number of a file + 1; 0 without memory. */
static uint32_t image_of(struct trace_sampler *sampler,
                         const struct trace_perf_event *event)
{
    uint64_t key = trace_hash(trace_hash_string(TRACE_HASH, event->text),
                              event->build_id, event->build_id_size);
    struct trace_sampled_image *image;
    uintptr_t number;

    if (trace_table_find(&sampler->by_file, key, &number))
        return (uint32_t)number;
    if (!TRACE_ARRAY_RESERVE(sampler->images, sampler->image_capacity,
                             sampler->image_count + 1))
        return 0;
    image = &sampler->images[sampler->image_count];
    *image = (struct trace_sampled_image){.path = strdup(event->text)};
    if (!image->path)
        return 0;
    if (event->build_id_size <= sizeof(image->build_id)) {
        image->build_id_size = event->build_id_size;
        memcpy(image->build_id,
               event->build_id ? event->build_id : image->build_id,
               event->build_id_size);
    }
    number = ++sampler->image_count;
    trace_table_set(&sampler->by_file, key, number);
    return (uint32_t)number;
}

static void add_map(struct trace_sampler *sampler,
                    const struct trace_perf_event *event)
{
    struct trace_sampled_process *process = process_of(sampler, event->pid);
    uint32_t image = image_of(sampler, event);

    if (process && image)
        trace_sampled_map(process, (struct trace_sampled_map){
                                       event->low, event->low + event->size,
                                       event->place, image});
}

/* ---- Samples ---- */

/* A return address is behind its call. Code without frame pointers leaves other
 * things where the return address should be: the stack ends before the first
 * address that is no code. */
static size_t find_frames(const struct trace_sampled_process *process,
                          const struct trace_perf_event *event,
                          struct trace_stack_frame *frames)
{
    size_t count = 0;

    for (size_t i = 0; i < event->count && count < FRAMES_MOST; i++, count++)
        if (!trace_sampled_frame(process, event->addresses[i] - !!i,
                                 &frames[count]))
            break;
    if (!count) /* in memory that has no file */
        frames[count++] = (struct trace_stack_frame){0, 0};
    return count;
}

/* Returns the number of frames: those that the stack's bytes show, or those
 * that the kernel has found. */
static size_t find_stack(const struct trace_sampler *sampler,
                         const struct trace_sampled_process *process,
                         const struct trace_perf_event *event,
                         struct trace_stack_frame *frames)
{
    struct trace_stack_frame unwound[FRAMES_MOST];
    size_t count = find_frames(process, event, frames), other = 0;

    if (event->stack_size)
        other =
            trace_sampled_unwind(sampler, process, event, unwound, FRAMES_MOST);
    if (other <= count)
        return count;
    memcpy(frames, unwound, other * sizeof(*frames));
    return other;
}

/* Returns the number of a stack + 1; 0 without memory. */
static uintptr_t stack_of(struct trace_sampler *sampler,
                          const struct trace_stack_frame *frames, size_t count)
{
    uint64_t key = trace_hash(TRACE_HASH, frames, count * sizeof(*frames));
    size_t number = sampler->stack_count;
    struct trace_sampled_stack stack = {NULL, count};
    uintptr_t found;

    if (trace_table_find(&sampler->by_frames, key, &found))
        return found;
    if (!TRACE_ARRAY_RESERVE(sampler->stacks, sampler->stack_capacity,
                             number + 1))
        return 0;
    stack.frames = malloc(count * sizeof(*frames));
    if (!stack.frames ||
        !trace_table_set(&sampler->by_frames, key, number + 1)) {
        free(stack.frames);
        return 0;
    }
    memcpy(stack.frames, frames, count * sizeof(*frames));
    sampler->stacks[sampler->stack_count++] = stack;
    return number + 1;
}

/* Returns the tree of a process; NULL without memory, or if it has outlived the
 * test. */
static struct trace_sampled_tree *tree_of(
    struct trace_sampler *sampler, const struct trace_sampled_process *process)
{
    uint32_t worker = process->worker;

    if (!worker)
        return NULL;
    for (size_t i = sampler->tree_count; i-- > 0;)
        if (sampler->trees[i].worker == worker)
            return &sampler->trees[i];
    if (!TRACE_ARRAY_RESERVE(sampler->trees, sampler->tree_capacity,
                             sampler->tree_count + 1))
        return NULL;
    sampler->trees[sampler->tree_count] =
        (struct trace_sampled_tree){.worker = worker};
    return &sampler->trees[sampler->tree_count++];
}

static bool add_sample(struct trace_sampler *sampler,
                       const struct trace_perf_event *event)
{
    struct trace_sampled_process *process = process_of(sampler, event->pid);
    struct trace_sampled_tree *tree =
        process ? tree_of(sampler, process) : NULL;
    struct trace_stack_frame frames[FRAMES_MOST];
    uintptr_t stack;

    if (process && !process->worker)
        return true;
    if (!tree ||
        !TRACE_ARRAY_RESERVE(tree->samples, tree->capacity, tree->count + 1))
        return false;
    stack =
        stack_of(sampler, frames, find_stack(sampler, process, event, frames));
    if (!stack)
        return false;
    tree->samples[tree->count++] = (struct trace_sampled){
        event->time, event->pid, event->tid, (uint32_t)stack - 1,
        event->weight < UINT32_MAX ? (uint32_t)event->weight : UINT32_MAX};
    return true;
}

/* The last name of a thread counts. */
static void name_thread(struct trace_sampler *sampler,
                        const struct trace_perf_event *event)
{
    struct trace_sampled_process *process = process_of(sampler, event->pid);
    struct trace_sampled_tree *tree =
        process ? tree_of(sampler, process) : NULL;
    uint64_t key = trace_sampled_key(event->pid, event->tid);
    struct trace_sampled_name name = {{0}};
    uintptr_t number;

    if (!tree || !TRACE_ARRAY_RESERVE(tree->names, tree->name_capacity,
                                      tree->name_count + 1))
        return;
    strncpy(name.name, event->text, sizeof(name.name) - 1);
    if (!trace_table_find(&tree->by_thread, key, &number)) {
        number = tree->name_count;
        if (!trace_table_set(&tree->by_thread, key, number))
            return;
        tree->name_count++;
    }
    tree->names[number] = name;
}

void trace_sampler_take(struct trace_sampler *sampler,
                        const struct trace_perf_event *event)
{
    struct trace_sampled_process *process;

    switch (event->kind) {
    case TRACE_PERF_SAMPLE:
        sampler->lost += !add_sample(sampler, event);
        break;
    case TRACE_PERF_FORK:
        if (event->pid != event->parent)
            begin_process(sampler, event);
        else if ((process = process_of(sampler, event->pid)))
            process->threads++;
        break;
    case TRACE_PERF_EXEC:
        process = process_of(sampler, event->pid);
        if (process)
            process->map_count = 0;
        if (event->text)
            name_thread(sampler, event);
        break;
    case TRACE_PERF_EXIT:
        end_thread(sampler, event);
        break;
    case TRACE_PERF_NAME:
        name_thread(sampler, event);
        break;
    case TRACE_PERF_MAP:
        add_map(sampler, event);
        break;
    case TRACE_PERF_LOST:
        sampler->lost += event->lost;
        break;
    }
}

/* ---- Removal ---- */

static void remove_process(struct trace_sampler *sampler, size_t number)
{
    struct trace_sampled_process *last =
        &sampler->processes[--sampler->process_count];

    free(sampler->processes[number].maps);
    trace_table_remove(&sampler->by_pid, sampler->processes[number].pid);
    if (last == &sampler->processes[number])
        return;
    sampler->processes[number] = *last;
    trace_table_set(&sampler->by_pid, last->pid, number);
}

static bool has_ended(const struct trace_sampled_process *process)
{
    return kill((pid_t)process->pid, 0) && errno == ESRCH;
}

/* A process that outlives its test is sampled further, but in vain. */
static void end_processes(struct trace_sampler *sampler, uint32_t worker)
{
    for (size_t i = sampler->process_count; i-- > 0;) {
        struct trace_sampled_process *process = &sampler->processes[i];

        if (process->worker == worker)
            process->worker = 0;
        if (!process->worker &&
            (!process->threads || (sampler->misses_ends && has_ended(process))))
            remove_process(sampler, i);
    }
}

struct trace_sampled_tree trace_sampler_remove(struct trace_sampler *sampler,
                                               uint32_t worker)
{
    struct trace_sampled_tree tree = {.worker = worker};

    for (size_t i = 0; i < sampler->tree_count; i++) {
        if (sampler->trees[i].worker != worker)
            continue;
        tree = sampler->trees[i];
        sampler->trees[i] = sampler->trees[--sampler->tree_count];
    }
    trace_table_set(&sampler->put, worker, 1);
    end_processes(sampler, worker);
    return tree;
}

uint32_t trace_sampler_first(const struct trace_sampler *sampler)
{
    for (size_t i = 0; i < sampler->tree_count; i++)
        if (sampler->trees[i].count)
            return sampler->trees[i].worker;
    return 0;
}

void trace_sampled_tree_free(struct trace_sampled_tree *tree)
{
    free(tree->samples);
    free(tree->names);
    trace_table_free(&tree->by_thread);
}

void trace_sampler_free(struct trace_sampler *sampler)
{
    for (size_t i = 0; i < sampler->tree_count; i++)
        trace_sampled_tree_free(&sampler->trees[i]);
    for (size_t i = 0; i < sampler->process_count; i++)
        free(sampler->processes[i].maps);
    for (size_t i = 0; i < sampler->image_count; i++)
        free(sampler->images[i].path);
    for (size_t i = 0; i < sampler->stack_count; i++)
        free(sampler->stacks[i].frames);
    free(sampler->trees);
    free(sampler->processes);
    free(sampler->images);
    free(sampler->stacks);
    trace_table_free(&sampler->by_pid);
    trace_table_free(&sampler->put);
    trace_table_free(&sampler->by_file);
    trace_table_free(&sampler->by_frames);
    *sampler = (struct trace_sampler){0};
}

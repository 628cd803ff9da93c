/* sampled.h: the data of a sampler. Private to its files. */
#ifndef TRACE_SAMPLED_H
#define TRACE_SAMPLED_H

#include "sampler.h"
#include "trace/format.h"

/* A file with code. */
struct trace_sampled_image {
    char *path;
    unsigned char build_id[20];
    size_t build_id_size;
};

/* Addresses of a process that have a file's code. */
struct trace_sampled_map {
    uint64_t low, end;
    uint64_t place; /* of `low` in the file */
    uint32_t image; /* its number */
};

struct trace_sampled_process {
    uint32_t pid;
    uint32_t worker;  /* itself or an ancestor; 0: none, or it was put */
    uint32_t threads; /* 0: it has ended, or is unknown */
    struct trace_sampled_map *maps; /* in order, without overlap */
    size_t map_count, map_capacity;
};

/* `image` of its frames is an image's number + 1. */
struct trace_sampled_stack {
    struct trace_stack_frame *frames;
    size_t count;
};

struct trace_sampled {
    uint64_t time; /* ns of CLOCK_MONOTONIC */
    uint32_t pid, tid;
    uint32_t stack;  /* its number */
    uint32_t weight; /* ns */
};

struct trace_sampled_name {
    char name[16];
};

/* A worker and its descendants. */
struct trace_sampled_tree {
    uint32_t worker;
    struct trace_sampled *samples;
    size_t count, capacity;
    struct trace_sampled_name *names;
    size_t name_count, name_capacity;
    struct trace_table by_thread; /* to the indexes of names */
};

static inline uint64_t trace_sampled_key(uint32_t pid, uint32_t tid)
{
    return (uint64_t)pid << 32 | tid;
}

/* ---- sampled_maps.c ---- */

/* trace_sampled_map adds a map, which replaces what was in its place; mprotect
 * maps a part of a file again. */
void trace_sampled_map(struct trace_sampled_process *,
                       struct trace_sampled_map);

/* trace_sampled_frame finds the place in a file that an address has; false if
 * it is in none. */
bool trace_sampled_frame(const struct trace_sampled_process *, uint64_t address,
                         struct trace_stack_frame *);

/* ---- unwind.c ---- */

/* trace_sampled_unwind finds the frames of a sample in the bytes of its stack,
 * by what the files tell about their code; returns how many. */
size_t trace_sampled_unwind(const struct trace_sampler *,
                            const struct trace_sampled_process *,
                            const struct trace_perf_event *,
                            struct trace_stack_frame *, size_t most);

/* ---- sampler.c ---- */

/* trace_sampler_remove takes the tree of a worker out of a sampler;
 * trace_sampled_tree_free frees it. */
struct trace_sampled_tree trace_sampler_remove(struct trace_sampler *,
                                               uint32_t worker);
void trace_sampled_tree_free(struct trace_sampled_tree *);

#endif

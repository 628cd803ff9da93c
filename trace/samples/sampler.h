/* sampler.h: gathers samples until the tests that they belong to have ended.
 * Private to the project.
 *
 * Samples of a process and of all that it starts go into one recording: into
 * that of the test whose worker it is. Frames of stacks are places in files,
 * because another process has the same file elsewhere.
 */
#ifndef TRACE_SAMPLER_H
#define TRACE_SAMPLER_H

#include "perf.h"
#include "trace/base/containers.h"

struct trace_sampled_process;
struct trace_sampled_image;
struct trace_sampled_stack;
struct trace_sampled_tree;

struct trace_sampler {
    uint32_t runner;  /* a process; those that it starts are workers */
    bool misses_ends; /* no event tells that a process has ended */
    struct trace_sampled_process *processes;
    size_t process_count, process_capacity;
    struct trace_table by_pid;
    struct trace_table put; /* workers whose samples were put */
    struct trace_sampled_image *images;
    size_t image_count, image_capacity;
    struct trace_table by_file;
    struct trace_sampled_stack *stacks;
    size_t stack_count, stack_capacity;
    struct trace_table by_frames;
    struct trace_sampled_tree *trees;
    size_t tree_count, tree_capacity;
    uint64_t lost; /* samples, by the kernel or for lack of memory */
};

/* trace_sampler_take takes an event in; the events must come in order of time.
 */
void trace_sampler_take(struct trace_sampler *,
                        const struct trace_perf_event *);

/* trace_sampler_put appends the samples of a worker, and of all processes that
 * it has started, to a recording, and forgets them. It returns how many have no
 * space there. `name` is that of trace_beneath. */
size_t trace_sampler_put(struct trace_sampler *, uint32_t worker, int folder,
                         const char *name);

/* trace_sampler_adopt makes an empty recording that of a process, from the
 * recording's time zero on. -1 with errno. */
int trace_sampler_adopt(const char *path, uint32_t pid);

/* trace_sampler_first returns a worker with samples that were not put yet; 0:
 * there is none. */
uint32_t trace_sampler_first(const struct trace_sampler *);
void trace_sampler_free(struct trace_sampler *);

#endif

/* descriptor.h: descriptors of ours in a program that may close all, and open
 * files of its own in their place. Private. */
#ifndef TRACE_DESCRIPTOR_H
#define TRACE_DESCRIPTOR_H

#include <stdbool.h>
#include <sys/stat.h>

/* Ours are this or higher, because programs may rely on low ones. */
enum { TRACE_DESCRIPTOR_HIGH = 100 };

/* Zeros: none. */
struct trace_descriptor {
    int fd;
    dev_t device;
    ino_t inode;
};

/* trace_descriptor_of notes which file a descriptor is of; it is none if there
 * is no such file. trace_descriptor_is_ours tells whether it still is, and may
 * be called in a signal handler. trace_descriptor_close closes it only then. */
struct trace_descriptor trace_descriptor_of(int fd);
bool trace_descriptor_is_ours(const struct trace_descriptor *);
void trace_descriptor_close(struct trace_descriptor *);

#endif

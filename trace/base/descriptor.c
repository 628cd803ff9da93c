/* descriptor.c: recognizes descriptors of ours. */
#include <unistd.h>

#include "descriptor.h"

struct trace_descriptor trace_descriptor_of(int fd)
{
    struct stat status;

    if (fd < 0 || fstat(fd, &status))
        return (struct trace_descriptor){0};
    return (struct trace_descriptor){fd, status.st_dev, status.st_ino};
}

bool trace_descriptor_is_ours(const struct trace_descriptor *descriptor)
{
    const struct trace_descriptor now = trace_descriptor_of(descriptor->fd);

    return now.inode && now.device == descriptor->device &&
           now.inode == descriptor->inode;
}

void trace_descriptor_close(struct trace_descriptor *descriptor)
{
    if (trace_descriptor_is_ours(descriptor))
        close(descriptor->fd);
    *descriptor = (struct trace_descriptor){0};
}

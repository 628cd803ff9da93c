/* no_archive.c: replaces archive.c if libarchive is missing. */
#include "archive.h"
#include "trace/read/reader.h"

static int refuse(struct trace_text *why)
{
    trace_text_string(why, "testlog was built without libarchive: install "
                           "libarchive-dev and build it again");
    return -1;
}

int runners_archive_write(FILE *stream, int folder, const char *run,
                          char *const *names, size_t count,
                          struct trace_text *why)
{
    (void)stream;
    (void)folder;
    (void)run;
    (void)names;
    (void)count;
    return refuse(why);
}

int runners_archive_read(int in, int folder, const struct archive_limits *most,
                         char run[NAME_MAX + 1], struct trace_text *why)
{
    (void)in;
    (void)folder;
    (void)most;
    (void)run;
    return refuse(why);
}

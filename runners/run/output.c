/* output.c: captures what programs print, and prints it whole when they end.
 *
 * Large output is kept in a temporary file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/run/files/writers.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/terminal/terminal.h"
#include "run.h"

enum {
    HELD_MOST = 1 << 20, /* bytes in memory */
    CHUNK = 4096,        /* what a pipe takes without blocking */
    READS_MOST = 4,      /* in a row; two empty a pipe */
};

/* On GitHub, commands are stopped on stderr, so that tests print there. */
static int number_of(size_t stream)
{
    return stream || test_log_github_token() ? STDERR_FILENO : STDOUT_FILENO;
}

/* ---- Pipes ---- */

static bool go_to_same_place(void)
{
    struct stat out, err;

    return !fstat(STDOUT_FILENO, &out) && !fstat(STDERR_FILENO, &err) &&
           out.st_dev == err.st_dev && out.st_ino == err.st_ino;
}

static void close_all(int *fds)
{
    for (size_t i = 0; i < 2; i++) {
        if (fds[i])
            close(fds[i]);
        fds[i] = 0;
    }
}

int runners_output_begin(struct output *output, bool in_order)
{
    size_t count = in_order || go_to_same_place() ? 1 : 2;
    int ends[2];

    *output = (struct output){.from = {0}};
    for (size_t i = 0; i < count; i++) {
        if (pipe2(ends, O_CLOEXEC)) {
            close_all(output->from);
            close_all(output->to);
            return -1;
        }
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
        output->from[i] = ends[0];
        output->to[i] = ends[1];
    }
    return 0;
}

/* Programs that run side by side cannot share keyboard input. */
static void close_stdin(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    if (fd >= 0)
        dup2(fd, STDIN_FILENO);
}

void runners_output_give(const struct output *output)
{
    if (!output->to[0])
        return;
    dup2(output->to[0], STDOUT_FILENO);
    dup2(output->to[output->to[1] ? 1 : 0], STDERR_FILENO);
    if (!output->keeps_stdin)
        close_stdin();
}

void runners_output_given(struct output *output)
{
    close_all(output->to);
}

/* ---- Reading ---- */

void runners_output_poll(const struct output *output, struct pollfd *ends)
{
    for (size_t i = 0; i < 2; i++) {
        ends[i].fd = output->from[i] ? output->from[i] : -1;
        ends[i].events = POLLIN;
    }
}

static void put(int fd, const char *data, size_t size)
{
    while (size) {
        ssize_t wrote;

        runners_wait_to_write(fd);
        wrote = write(fd, data, size < CHUNK ? size : CHUNK);
        if (wrote < 0 && errno != EINTR && errno != EAGAIN)
            return; /* nobody reads it */
        data += wrote > 0 ? wrote : 0;
        size -= wrote > 0 ? (size_t)wrote : 0;
    }
}

/* Moves text to the file. Text that the file cannot take stays in memory. */
static void spill(struct stream *stream)
{
    if (!stream->file && !stream->full) {
        stream->file = tmpfile();
        if (stream->file)
            fcntl(fileno(stream->file), F_SETFD, FD_CLOEXEC);
    }
    stream->full |= !stream->file ||
                    test_log_write_all(fileno(stream->file), stream->text.data,
                                       stream->text.size);
    if (stream->full)
        return;
    stream->moved += stream->text.size;
    trace_text_clear(&stream->text);
}

/* Prints a program's lines about slow tests at once, instead of at its end.
 * Returns how many bytes are left. */
static size_t print_running(char *bytes, size_t size)
{
    static const char begin[] = TEST_LOG_RUNNING;
    size_t left = 0;

    for (size_t at = 0, end; at < size; at = end) {
        const char *newline = memchr(bytes + at, '\n', size - at);

        end = newline ? (size_t)(newline + 1 - bytes) : size;
        if (newline && end - at > strlen(begin) &&
            !memcmp(bytes + at, begin, strlen(begin))) {
            runners_status_erase();
            put(STDERR_FILENO, bytes + at, end - at);
        } else {
            memmove(bytes + left, bytes + at, end - at);
            left += end - at;
        }
    }
    return left;
}

/* Reads all output of the program itself, but a process that it left behind may
 * never stop writing. */
static void drain(int *fd, struct stream *stream, struct output *output)
{
    char bytes[65536];
    ssize_t size = -1;
    size_t left;

    for (int i = 0; i < READS_MOST && *fd; i++) {
        size = read(*fd, bytes, sizeof(bytes));
        if (size <= 0)
            break;
        left = print_running(bytes, (size_t)size);
        trace_text_add(&stream->text, bytes, left);
        if (output->copy && !test_log_write_all(output->copy, bytes, left))
            output->copied += left;
        if (output->read && (output->reads_all || stream == output->streams))
            output->read(output->reader, bytes, left);
        if (stream->text.size > HELD_MOST)
            spill(stream);
    }
    if (*fd && !size) { /* the program has closed its end */
        close(*fd);
        *fd = 0;
    }
}

void runners_output_read(struct output *output)
{
    for (size_t i = 0; i < 2; i++)
        drain(&output->from[i], &output->streams[i], output);
}

/* ---- Printing ---- */

static void put_file(int fd, struct stream *stream)
{
    char bytes[65536];
    size_t size;

    rewind(stream->file);
    while (stream->moved &&
           (size = fread(bytes, 1, sizeof(bytes), stream->file))) {
        if (size > stream->moved)
            size = stream->moved;
        put(fd, bytes, size);
        stream->moved -= size;
    }
    fclose(stream->file);
}

static bool is_empty(const struct stream *stream)
{
    return !stream->file && !stream->text.size && !stream->text.failed;
}

static void print(int fd, struct stream *stream)
{
    if (!is_empty(stream))
        runners_status_erase();
    if (stream->file)
        put_file(fd, stream);
    if (stream->text.size)
        put(fd, stream->text.data, stream->text.size);
    if (stream->text.failed)
        test_log_notice("out of memory: output of a program is lost");
    trace_text_free(&stream->text);
    *stream = (struct stream){.file = NULL};
}

bool runners_output_waits(struct output *output)
{
    runners_output_read(output);
    return !is_empty(&output->streams[0]) || !is_empty(&output->streams[1]);
}

void runners_output_show(struct output *output)
{
    for (size_t i = 0; i < 2; i++)
        print(number_of(i), &output->streams[i]);
}

static void finish(struct output *output)
{
    runners_output_read(output);
    close_all(output->from);
    close_all(output->to); /* of a program that could not be started */
    if (output->copy)
        close(output->copy);
    output->copy = 0;
}

void runners_output_end(struct output *output)
{
    finish(output);
    runners_output_show(output);
}

/* Prints testlog's own lines of a file, from an offset to its end. */
static void print_notices(FILE *kept, off_t from)
{
    static const char begin[] = "testlog: ";
    char *line = NULL;
    size_t room = 0;
    ssize_t size;

    fseeko(kept, from, SEEK_SET);
    while ((size = getline(&line, &room, kept)) > 0) {
        if (strncmp(line, begin, strlen(begin)) != 0)
            continue;
        runners_status_erase();
        put(STDERR_FILENO, line, (size_t)size);
    }
    free(line);
}

void runners_output_keep(struct output *output, int file)
{
    FILE *kept = fdopen(file, "r+");

    finish(output);
    for (size_t i = 0; i < 2; i++) {
        off_t from = lseek(file, 0, SEEK_END);

        print(file, &output->streams[i]);
        if (kept)
            print_notices(kept, from);
    }
    if (kept)
        fclose(kept);
    else
        close(file);
}

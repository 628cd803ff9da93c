/* view_events.c: streams of server-sent events, which say that the folder has
 * changed. A stream without news is suspended. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view.h"

struct view_stream {
    struct view *view;
    struct MHD_Connection *connection;
    struct view_stream *next;
    uint64_t seen; /* changes that the client knows */
    bool suspended, pinged, closing;
};

static void suspend(struct view_stream *stream)
{
    stream->suspended = true;
    view_http.suspend_connection(stream->connection);
}

static void resume(struct view_stream *stream)
{
    if (stream->suspended)
        view_http.resume_connection(stream->connection);
    stream->suspended = false;
}

/* Gives the next event, or waits for one. */
static ssize_t read_stream(void *context, uint64_t place, char *buffer,
                           size_t size)
{
    struct view_stream *stream = context;
    int written = 0;

    (void)place;
    if (stream->closing)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (stream->seen != stream->view->changes)
        written = snprintf(buffer, size, "data: %llu\n\n",
                           (unsigned long long)stream->view->changes);
    else if (stream->pinged)
        written = snprintf(buffer, size, ":\n\n");
    stream->seen = stream->view->changes;
    stream->pinged = false;
    if (!written)
        suspend(stream);
    return written < (int)size ? written : 0;
}

static void end_stream(void *context)
{
    struct view_stream *stream = context;
    struct view_stream **at = &stream->view->streams;

    while (*at != stream)
        at = &(*at)->next;
    *at = stream->next;
    free(stream);
}

view_result view_send_events(const struct view_request *request)
{
    enum { BLOCK = 256 };
    struct view *view = request->view;
    struct view_stream *stream = calloc(1, sizeof(*stream));
    struct MHD_Response *response =
        stream ? view_http.create_response_from_callback(
                     MHD_SIZE_UNKNOWN, BLOCK, read_stream, stream, end_stream)
               : NULL;

    if (!response) {
        free(stream);
        return view_refuse(request, MHD_HTTP_INTERNAL_SERVER_ERROR);
    }
    *stream = (struct view_stream){.view = view,
                                   .connection = request->connection,
                                   .next = view->streams,
                                   .seen = view->changes,
                                   .pinged = true};
    view->streams = stream;
    return view_answer_response(request, MHD_HTTP_OK, "text/event-stream",
                                response);
}

void view_changed(struct view *view)
{
    view->changes++;
    for (struct view_stream *one = view->streams; one; one = one->next)
        resume(one);
}

void view_ping(struct view *view)
{
    for (struct view_stream *one = view->streams; one; one = one->next) {
        one->pinged = true;
        resume(one);
    }
}

void view_close_streams(struct view *view)
{
    for (struct view_stream *one = view->streams; one; one = one->next) {
        one->closing = true;
        resume(one);
    }
}

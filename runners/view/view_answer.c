/* view_answer.c: the answers of testlog view. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view.h"

static const struct {
    unsigned status;
    const char *text;
} errors[] = {
    {MHD_HTTP_BAD_REQUEST, "400: this is not an address of testlog view\n"},
    {MHD_HTTP_FORBIDDEN,
     "403: open the address that testlog view printed, with its token\n"},
    {MHD_HTTP_NOT_FOUND, "404: there is no such file\n"},
    {MHD_HTTP_METHOD_NOT_ALLOWED, "405: use GET\n"},
    {MHD_HTTP_CONTENT_TOO_LARGE, "413: the body has more than 64 KiB\n"},
    {MHD_HTTP_INTERNAL_SERVER_ERROR,
     "500: testlog view cannot make this answer; its terminal shows why\n"},
    {MHD_HTTP_SERVICE_UNAVAILABLE,
     "503: as many tests are followed as testlog view allows; close other "
     "pages\n"},
};

/* nosniff: a browser takes nothing for a page that is not sent as one. */
static const char *const headers[][2] = {
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cache-Control", "no-store"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"X-Frame-Options", "DENY"},
};

view_result view_answer_response(const struct view_request *request,
                                 unsigned status, const char *type,
                                 struct MHD_Response *response)
{
    view_result result;

    if (!response)
        return MHD_NO;
    view_http.add_response_header(response, "Content-Type", type);
    for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++)
        view_http.add_response_header(response, headers[i][0], headers[i][1]);
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        view_http.add_response_header(response, "Allow", "GET, HEAD, POST");
    result = view_http.queue_response(request->connection, status, response);
    view_http.destroy_response(response);
    return result;
}

view_result view_answer(const struct view_request *request, unsigned status,
                        const char *type, const void *bytes, size_t size)
{
    return view_answer_response(
        request, status, type,
        view_http.create_response_from_buffer(size, (void *)bytes,
                                              MHD_RESPMEM_MUST_COPY));
}

view_result view_answer_free(const struct view_request *request,
                             const char *type, char *bytes, size_t size)
{
    struct MHD_Response *response;

    if (!bytes)
        return view_refuse(request, MHD_HTTP_INTERNAL_SERVER_ERROR);
    response = view_http.create_response_from_buffer(size, bytes,
                                                     MHD_RESPMEM_MUST_FREE);
    if (!response)
        free(bytes);
    return view_answer_response(request, MHD_HTTP_OK, type, response);
}

view_result view_refuse(const struct view_request *request, unsigned status)
{
    const char *text = "";

    for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
        if (errors[i].status == status)
            text = errors[i].text;
    return view_answer(request, status, "text/plain; charset=utf-8", text,
                       strlen(text));
}

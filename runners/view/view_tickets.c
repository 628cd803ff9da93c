/* view_tickets.c: secret addresses, each of which serves one file of a run. A
 * browser sends them no cookie.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view.h"

static const char prefix[] = "/page-";

/* Returns the ticket of a path, for which it takes the oldest one if there is
 * none; NULL without memory. */
static const struct view_ticket *take(struct view *view, const char *path)
{
    struct view_ticket *ticket;
    char *copy;

    for (size_t i = 0; i < VIEW_TICKETS_MOST; i++)
        if (view->tickets[i].path && !strcmp(view->tickets[i].path, path))
            return &view->tickets[i];
    ticket = &view->tickets[view->ticket];
    copy = strdup(path);
    if (!copy || view_key(ticket->key)) {
        free(copy);
        return NULL;
    }
    free(ticket->path);
    ticket->path = copy;
    view->ticket = (view->ticket + 1) % VIEW_TICKETS_MOST;
    return ticket;
}

view_result view_send_ticket(const struct view_request *request,
                             const char *path)
{
    const struct view_ticket *ticket = take(request->view, path);
    struct MHD_Response *response =
        view_http.create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    char address[VIEW_KEY_SIZE + 16];

    if (!response)
        return MHD_NO;
    if (!ticket) {
        view_http.destroy_response(response);
        return view_refuse(request, MHD_HTTP_INTERNAL_SERVER_ERROR);
    }
    snprintf(address, sizeof(address), "%s%s", prefix, ticket->key);
    view_http.add_response_header(response, "Location", address);
    return view_answer_response(request, MHD_HTTP_FOUND,
                                "text/plain; charset=utf-8", response);
}

const char *view_ticket_path(const struct view *view, const char *target)
{
    if (strncmp(target, prefix, strlen(prefix)) != 0)
        return NULL;
    for (size_t i = 0; i < VIEW_TICKETS_MOST; i++)
        if (view->tickets[i].path &&
            view_is_same(target + strlen(prefix), view->tickets[i].key))
            return view->tickets[i].path;
    return NULL;
}

void view_free_tickets(struct view *view)
{
    for (size_t i = 0; i < VIEW_TICKETS_MOST; i++)
        free(view->tickets[i].path);
}

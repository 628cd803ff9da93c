/* view_routes.c: what each address of testlog view answers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/run/folder/list_runs.h"
#include "harness/run/page/report_html.h"
#include "view.h"

/* ---- Without a token ---- */

/* The page has no data, which its script asks for. */
static view_result send_page(const struct view_request *request)
{
    return view_answer(request, MHD_HTTP_OK, "text/html; charset=utf-8",
                       test_log_view_html, test_log_view_html_size);
}

/* Nor has the page of a run, which need not exist. */
static view_result send_report(const struct view_request *request)
{
    return view_answer(request, MHD_HTTP_OK, "text/html; charset=utf-8",
                       test_log_served_html, test_log_served_html_size);
}

static view_result send_test(const struct view_request *request)
{
    return view_answer(request, MHD_HTTP_OK, "text/html; charset=utf-8",
                       test_log_trend_html, test_log_trend_html_size);
}

/* Returns the sender of a page at an address; NULL if there is none. */
static view_result (*page_at(const char *target))(const struct view_request *)
{
    static const char report[] = "/report/";

    if (!strcmp(target, "/"))
        return send_page;
    if (!strcmp(target, "/test"))
        return send_test;
    return !strncmp(target, report, strlen(report)) &&
                   test_log_is_run_name(target + strlen(report))
               ? send_report
               : NULL;
}

/* ---- With a secret ---- */

/* The page learns the place at which the cookie reads. */
static view_result begin_session(const struct view_request *request)
{
    struct MHD_Response *response =
        view_http.create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    struct view *view = request->view;
    char cookie[2 * VIEW_KEY_SIZE + 128];

    if (!response)
        return MHD_NO;
    view_end_open(view);
    snprintf(cookie, sizeof(cookie),
             "%s=%s; HttpOnly; SameSite=Strict; Path=%s", view->cookie,
             view->session, view->place);
    view_http.add_response_header(response, "Set-Cookie", cookie);
    view_http.add_response_header(response, "Content-Location", view->place);
    return view_answer_response(request, MHD_HTTP_NO_CONTENT,
                                "text/plain; charset=utf-8", response);
}

static const struct {
    const char *path;
    view_result (*send)(const struct view_request *);
} pages[] = {
    {"/api/runs", view_send_runs},     {"/api/index", view_send_index},
    {"/api/events", view_send_events}, {"/api/programs", view_send_programs},
    {"/api/test", view_send_trend},    {"/api/search", view_send_search},
};

static view_result send_run(const struct view_request *request,
                            const char *path)
{
    view_result result;

    return view_send_against(request, path, &result)
               ? result
               : view_send_of_run(request, path);
}

static view_result get_data(const struct view_request *request)
{
    static const char run[] = "/run/";
    char *path;
    view_result result;

    if (!view_may_read(request))
        return view_refuse(request, MHD_HTTP_FORBIDDEN);
    for (size_t i = 0; i < sizeof(pages) / sizeof(*pages); i++)
        if (!strcmp(request->target, pages[i].path))
            return pages[i].send(request);
    if (strncmp(request->target, run, strlen(run)) != 0)
        return view_refuse(request, MHD_HTTP_NOT_FOUND);
    path = strdup(request->target + strlen(run));
    result = path && view_decode(path)
                 ? send_run(request, path)
                 : view_refuse(request, MHD_HTTP_NOT_FOUND);
    free(path);
    return result;
}

static bool is_data(const char *target)
{
    return !strncmp(target, "/api/", 5) || !strncmp(target, "/run/", 5);
}

static view_result get(const struct view_request *request)
{
    view_result (*send)(const struct view_request *) = page_at(request->target);
    const char *path = view_ticket_path(request->view, request->target);

    if (send) /* any page may link to it */
        return send(request);
    if (!view_is_own_page(request))
        return view_refuse(request, MHD_HTTP_FORBIDDEN);
    if (path)
        return send_run(request, path);
    return is_data(request->target) ? get_data(request)
                                    : view_refuse(request, MHD_HTTP_NOT_FOUND);
}

static view_result post(const struct view_request *request)
{
    if (!view_is_own_page(request) || !view_has_token(request))
        return view_refuse(request, MHD_HTTP_FORBIDDEN);
    if (!strcmp(request->target, "/api/capture"))
        return view_capture(request);
    return !strcmp(request->target, "/api/session")
               ? begin_session(request)
               : view_refuse(request, MHD_HTTP_NOT_FOUND);
}

view_result view_route(struct view_request *request)
{
    const char *method = request->method;

    if (!view_is_to_us(request))
        return view_refuse(request, MHD_HTTP_FORBIDDEN);
    if (request->target[0] != '/')
        return view_refuse(request, MHD_HTTP_BAD_REQUEST);
    view_enter_place(request);
    if (!strcmp(method, "POST"))
        return post(request);
    return !strcmp(method, "GET") || !strcmp(method, "HEAD")
               ? get(request)
               : view_refuse(request, MHD_HTTP_METHOD_NOT_ALLOWED);
}

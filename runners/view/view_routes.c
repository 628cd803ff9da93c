/* view_routes.c: what each address of testlog view answers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/folder/list_runs.h"
#include "harness/results/report/report_html.h"
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

static bool is_report(const char *target)
{
    static const char prefix[] = "/report/";

    return !strncmp(target, prefix, strlen(prefix)) &&
           test_log_is_run_name(target + strlen(prefix));
}

/* ---- With a token ---- */

static view_result begin_session(const struct view_request *request)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    char cookie[VIEW_KEY_SIZE + 128];

    if (!response)
        return MHD_NO;
    snprintf(cookie, sizeof(cookie), "%s=%s; HttpOnly; SameSite=Strict; Path=/",
             request->view->cookie, request->view->session);
    MHD_add_response_header(response, "Set-Cookie", cookie);
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

static view_result post(const struct view_request *request)
{
    if (!view_has_token(request))
        return view_refuse(request, MHD_HTTP_FORBIDDEN);
    if (!strcmp(request->target, "/api/capture"))
        return view_capture(request);
    return !strcmp(request->target, "/api/session")
               ? begin_session(request)
               : view_refuse(request, MHD_HTTP_NOT_FOUND);
}

static bool is_data(const char *target)
{
    return !strncmp(target, "/api/", 5) || !strncmp(target, "/run/", 5);
}

view_result view_route(const struct view_request *request)
{
    const char *method = request->method;

    if (!view_is_own_page(request))
        return view_refuse(request, MHD_HTTP_FORBIDDEN);
    if (request->target[0] != '/')
        return view_refuse(request, MHD_HTTP_BAD_REQUEST);
    if (!strcmp(method, "POST"))
        return post(request);
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        return view_refuse(request, MHD_HTTP_METHOD_NOT_ALLOWED);
    if (is_data(request->target))
        return get_data(request);
    if (is_report(request->target))
        return send_report(request);
    if (!strcmp(request->target, "/test"))
        return send_test(request);
    return !strcmp(request->target, "/")
               ? send_page(request)
               : view_refuse(request, MHD_HTTP_NOT_FOUND);
}

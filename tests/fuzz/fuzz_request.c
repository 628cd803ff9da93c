/* fuzz_request.c: routes any request of testlog view. libmicrohttpd is replaced
 * by functions that look at the answers.
 *
 * An input is eight texts: method, target, Host, Origin, Sec-Fetch-Site,
 * Authorization, Cookie, and the value of each argument. "T" and "C" stand for
 * the right token and cookie; the cookie's folder is "/s-0/".
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/machine/remove_tree.h"
#include "runners/against/against.h"
#include "runners/record/capture_program.h"
#include "runners/runners.h"
#include "runners/runs/find.h"
#include "runners/view/view.h"

#define RUN "2026-11-20T10-00-00.000001"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    METHOD,
    TARGET,
    HOST,
    ORIGIN,
    SITE,
    AUTHORIZATION,
    COOKIE,
    ARGUMENT,
    TEXTS
};

static struct {
    char text[TEXTS][512];
    char bearer[VIEW_KEY_SIZE + 16];
    struct view view;
    ino_t secret;
    unsigned status; /* of the answer */
} fuzz;

/* ---- libmicrohttpd ---- */

static const char *fuzz_header(const char *key)
{
    static const char *const names[] = {"Host", "Origin", "Sec-Fetch-Site",
                                        "Authorization"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (!strcmp(key, names[i]))
            return fuzz.text[HOST + i][0] ? fuzz.text[HOST + i] : NULL;
    return NULL;
}

static const char *fuzz_lookup(struct MHD_Connection *connection,
                               enum MHD_ValueKind kind, const char *key)
{
    const char *cookie = fuzz.text[COOKIE];

    (void)connection;
    if (kind == MHD_GET_ARGUMENT_KIND)
        return fuzz.text[ARGUMENT][0] ? fuzz.text[ARGUMENT] : NULL;
    if (kind == MHD_COOKIE_KIND)
        return !strcmp(cookie, "C") ? fuzz.view.session : cookie;
    if (!strcmp(key, "Authorization") && !strcmp(fuzz.text[AUTHORIZATION], "T"))
        return fuzz.bearer;
    return fuzz_header(key);
}

static struct MHD_Response *fuzz_response(void)
{
    static char response;

    return (struct MHD_Response *)(void *)&response;
}

static struct MHD_Response *fuzz_from_buffer(size_t size, void *buffer,
                                             enum MHD_ResponseMemoryMode mode)
{
    static volatile unsigned char sum;

    for (size_t i = 0; i < size; i++)
        sum = (unsigned char)(sum + ((const unsigned char *)buffer)[i]);
    if (mode == MHD_RESPMEM_MUST_FREE)
        free(buffer);
    return fuzz_response();
}

static struct MHD_Response *fuzz_from_file(uint64_t size, int fd)
{
    struct stat status;

    if (fstat(fd, &status) || status.st_ino == fuzz.secret ||
        size != (uint64_t)status.st_size)
        abort();
    close(fd);
    return fuzz_response();
}

static enum MHD_Result fuzz_add_header(struct MHD_Response *response,
                                       const char *header, const char *value)
{
    (void)response;
    if (!*header || strpbrk(value, "\r\n"))
        abort();
    return MHD_YES;
}

static enum MHD_Result fuzz_queue(struct MHD_Connection *connection,
                                  unsigned status,
                                  struct MHD_Response *response)
{
    (void)connection;
    (void)response;
    if (fuzz.status)
        abort();
    fuzz.status = status;
    return MHD_YES;
}

static void fuzz_destroy(struct MHD_Response *response)
{
    (void)response;
}

static void fuzz_http(void)
{
    view_http.lookup_connection_value = fuzz_lookup;
    view_http.create_response_from_buffer = fuzz_from_buffer;
    view_http.create_response_from_fd64 = fuzz_from_file;
    view_http.add_response_header = fuzz_add_header;
    view_http.queue_response = fuzz_queue;
    view_http.destroy_response = fuzz_destroy;
}

/* ---- What takes a child or a connection ---- */

view_result view_render(const struct view_request *request,
                        const struct view_source *source)
{
    return view_answer(request, MHD_HTTP_OK, source->type, "", 0);
}

view_result view_send_live(const struct view_request *request,
                           const struct view_source *source)
{
    return view_answer(request, MHD_HTTP_OK, source->type, "", 0);
}

view_result view_send_events(const struct view_request *request)
{
    return view_answer(request, MHD_HTTP_OK, "text/event-stream", "", 0);
}

/* ---- What only a child calls ---- */

const struct test_log_command runners_capture = {.name = "capture"};

size_t capture_find_programs(struct listening_program **programs)
{
    *programs = NULL;
    return 0;
}

int runners_against_read(struct against *against,
                         const struct recorded_runs *runs)
{
    (void)against;
    (void)runs;
    return -1;
}

void runners_against_put(const struct against *against, FILE *out)
{
    (void)against;
    (void)out;
}

void runners_against_free(struct against *against)
{
    (void)against;
}

/* ---- Requests ---- */

static char fuzz_folder[] = "/tmp/fuzz_request.XXXXXX";

static void fuzz_end(void)
{
    test_log_remove_tree(AT_FDCWD, fuzz_folder);
}

static ino_t fuzz_file(int folder, const char *name)
{
    int fd = openat(folder, name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    struct stat status;

    if (fd < 0 || fstat(fd, &status))
        abort();
    close(fd);
    return status.st_ino;
}

/* A folder with a run, in which a link leads to a file outside. */
static void fuzz_make_runs(void)
{
    int folder;

    if (!mkdtemp(fuzz_folder) || atexit(fuzz_end))
        abort();
    folder = open(fuzz_folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (mkdirat(folder, "runs", 0700) || mkdirat(folder, "runs/" RUN, 0700) ||
        symlinkat("../../secret", folder, "runs/" RUN "/l") ||
        symlinkat(RUN, folder, "runs/latest"))
        abort();
    fuzz.secret = fuzz_file(folder, "secret");
    fuzz_file(folder, "runs/" RUN "/run.json");
    fuzz.view.dir = openat(folder, "runs", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    close(folder);
}

static void fuzz_begin(void)
{
    fuzz_http();
    fuzz_make_runs();
    snprintf(fuzz.view.folder, sizeof(fuzz.view.folder), "%s/runs",
             fuzz_folder);
    fuzz.view.port = 80;
    snprintf(fuzz.view.cookie, sizeof(fuzz.view.cookie), "testlog-80");
    snprintf(fuzz.view.place, sizeof(fuzz.view.place), "/s-0/");
    if (view_key(fuzz.view.token) || view_key(fuzz.view.session))
        abort();
    snprintf(fuzz.bearer, sizeof(fuzz.bearer), "Bearer %s", fuzz.view.token);
}

/* Data need the token, or the cookie below its folder, and POST the token. */
static void fuzz_check(void)
{
    const char *target = fuzz.text[TARGET], *host = fuzz.text[HOST];
    bool token = !strcmp(fuzz.text[AUTHORIZATION], "T");
    bool cookie = !strcmp(fuzz.text[COOKIE], "C");
    bool in_place = !strncmp(target, "/s-0/", 5);
    bool data = !strncmp(target + 4 * in_place, "/api/", 5) ||
                !strncmp(target + 4 * in_place, "/run/", 5);

    if (!fuzz.status)
        abort();
    if (fuzz.status >= 300)
        return;
    if (strcmp(host, "127.0.0.1:80") != 0 && strcmp(host, "localhost:80") != 0)
        abort();
    if (data && !token &&
        (!cookie || !in_place || !strcmp(fuzz.text[METHOD], "POST")))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view_request request = {.view = &fuzz.view,
                                   .method = fuzz.text[METHOD],
                                   .target = fuzz.text[TARGET]};

    if (!fuzz.view.dir)
        fuzz_begin();
    for (size_t i = 0; i < TEXTS; i++) {
        const uint8_t *end = size ? memchr(data, 0, size) : NULL;
        size_t length = end ? (size_t)(end - data) : size;

        snprintf(fuzz.text[i], sizeof(fuzz.text[i]), "%.*s", (int)length,
                 size ? (const char *)data : "");
        data += end ? length + 1 : length;
        size -= end ? length + 1 : length;
    }
    fuzz.status = 0;
    view_route(&request);
    fuzz_check();
    return 0;
}

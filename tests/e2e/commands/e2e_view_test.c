/* e2e_view_test.c: testlog view, as a browser and as an attacker see it. */
#include "tests/support/support.h"

#include "runners/export/export.h"
#include "tests/support/e2e.h"
#include "tests/support/view_server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define TESTLOG BUILD_DIR "/testlog"
#define RUN     "2026-11-20T10-00-00.000001"

E2E_FOLDER

static void begin(void)
{
    e2e_begin();
    server_skip();
    cr_assert_eq(system("mkdir -p runs/" RUN "/tests && cd runs/" RUN
                        " && echo '{}' >run.json && echo page >report.html && "
                        "printf 'end\\tfinished\\npassed\\t3\\nhost\\tvm\\n' "
                        ">summary.tsv && printf 'passed\\t1\\tp\\ts/t\\n' "
                        ">results.tsv && echo secret >../../secret && ln -s "
                        "../../secret link && ln -s " RUN " ../latest"),
                 0);
}

TestSuite(e2e_view, .init = begin, .fini = server_end, .timeout = 300);

/* ---- Serving ---- */

Test(e2e_view, serves_until_a_signal)
{
    server_start(NULL);
    cr_expect_gt(server_port, 0);
    cr_expect_eq(strlen(server_token), 64);
    cr_expect_eq(server_stop(SIGTERM), 0);
    signal(SIGINT, SIG_IGN); /* as in the background of a script */
    server_start(NULL);
    cr_expect_eq(server_stop(SIGINT), 0);
}

Test(e2e_view, gives_the_page_to_all_and_data_for_the_token)
{
    const char *answer;

    server_start(NULL);
    answer = server_ask("GET", "/", "Host: 127.0.0.1:%u\r\n", server_port);
    server_expect(answer, 200);
    cr_expect(strstr(answer, "<title>testlog: runs</title>"));
    cr_expect_not(strstr(answer, RUN));
    server_expect(
        server_ask("GET", "/api/runs", "Host: localhost:%u\r\n", server_port),
        403);
    server_expect(
        server_ask("GET", "/run/" RUN "/run.json",
                   "Host: 127.0.0.1:%u\r\nAuthorization: Bearer %.63sX\r\n",
                   server_port, server_token),
        403);
    answer = server_get("/api/runs");
    server_expect(answer, 200);
    cr_expect(strstr(answer,
                     "{\"schema\":1,\"runs\":[{\"name\":\"" RUN
                     "\",\"state\":\"passed\",\"start\":\"2026-11-20T10:00:"
                     "00.000001Z\",\"host\":\"vm\",\"commit\":null,"
                     "\"passed\":3,\"failed\":0,\"skipped\":0,"
                     "\"duration_ns\":0}]}"),
              "%s", answer);
    answer = server_get("/api/index");
    cr_expect(strstr(answer, "<a href=\"" RUN "/report.html\">"));
    cr_expect(
        strstr(server_ask("HEAD", "/", "Host: 127.0.0.1:%u\r\n", server_port),
               "Content-Length: "));
}

/* Begins a session: its cookie, and the folder where browsers send it. */
static void begin_session(char cookie[256], char place[128])
{
    const char *answer, *at;

    answer = server_ask("POST", "/api/session",
                        "Host: 127.0.0.1:%u\r\nAuthorization: Bearer %s\r\n",
                        server_port, server_token);
    server_expect(answer, 204);
    at = strstr(answer, "Set-Cookie: testlog-");
    cr_assert(at);
    cr_expect_not(strstr(at, server_token));
    cr_assert_eq(sscanf(at,
                        "Set-Cookie: %255[^;]; HttpOnly; SameSite=Strict; "
                        "Path=%127[^\r]",
                        cookie, place),
                 2, "%s", answer);
    at = strstr(answer, "Content-Location: ");
    cr_assert(at);
    cr_expect_eq(strncmp(at + 18, place, strlen(place)), 0, "%s", answer);
}

/* Asks for a path below a folder with a cookie; returns the status. */
static const char *ask_with(const char *cookie, const char *method,
                            const char *place, const char *path)
{
    char target[512];

    snprintf(target, sizeof(target), "%s%s", place, path);
    return server_ask(method, target,
                      "Host: 127.0.0.1:%u\r\nCookie: a=b; %s\r\n", server_port,
                      cookie);
}

Test(e2e_view, a_cookie_reads_below_its_folder_and_does_not_post)
{
    static const char *const data[] = {"api/runs", "api/index", "api/programs",
                                       "run/" RUN "/run.json",
                                       "run/" RUN "/results.tsv"};
    char cookie[256], place[128], *last;

    server_start(NULL);
    begin_session(cookie, place);
    cr_expect_gt(strlen(place), 60);
    for (size_t i = 0; i < sizeof(data) / sizeof(*data); i++) {
        server_expect(ask_with(cookie, "GET", place, data[i]), 200);
        server_expect(ask_with(cookie, "GET", "/", data[i]), 403);
        server_expect(ask_with("b=c", "GET", place, data[i]), 403);
    }
    server_expect(ask_with(cookie, "GET", place, ""), 200);
    server_expect(ask_with(cookie, "GET", place, "report/" RUN), 200);
    server_expect(ask_with(cookie, "POST", place, "api/session"), 403);
    server_expect(ask_with(cookie, "POST", place, "api/capture"), 403);
    server_expect(ask_with(cookie, "POST", "/", "api/capture"), 403);
    last = place + strlen(place) - 2;
    *last ^= 1;
    server_expect(ask_with(cookie, "GET", place, "api/runs"), 404);
    server_expect(ask_with(cookie, "GET", place, ""), 404);
}

/* A page of a run that has scripts sees its own address: with that of the
 * folder, a server of another user would get the cookie. */
Test(e2e_view, sends_pages_of_runs_from_an_address_of_their_own)
{
    char cookie[256], place[128], address[128], other[160];
    const char *answer;

    e2e_run("echo '<x/>' >runs/" RUN "/report.xml");
    server_start(NULL);
    begin_session(cookie, place);
    answer = ask_with(cookie, "GET", place, "run/" RUN "/report.html");
    server_expect(answer, 302);
    cr_assert_eq(
        sscanf(strstr(answer, "Location: "), "Location: %127[^\r]", address),
        1);
    cr_expect_not(strstr(address, place + 4));
    answer = ask_with("b=c", "GET", "", address);
    server_expect(answer, 200);
    cr_expect(strstr(answer, "page\n"));
    cr_expect(strstr(answer, "Content-Security-Policy: sandbox "
                             "allow-scripts allow-downloads\r\n"));
    snprintf(other, sizeof(other), "%s/../run.json", address);
    server_expect(ask_with("b=c", "GET", "", other), 404);
    address[strlen(address) - 1] ^= 1;
    server_expect(ask_with(cookie, "GET", "", address), 404);
    server_expect(ask_with(cookie, "GET", "", "/page-"), 404);
    server_expect(ask_with(cookie, "GET", place, "run/" RUN "/report.xml"),
                  302);
    server_expect(ask_with(cookie, "GET", place, "run/" RUN "/none.html"), 404);
}

/* Only the last ones are kept. */
Test(e2e_view, forgets_addresses_of_pages)
{
    char cookie[256], place[128], path[64], first[128];
    const char *answer;

    server_start(NULL);
    begin_session(cookie, place);
    for (int i = 0; i < 70; i++) {
        snprintf(path, sizeof(path), "run/" RUN "/%d.html", i);
        e2e_run("echo page >runs/" RUN "/%d.html", i);
        answer = ask_with(cookie, "GET", place, path);
        server_expect(answer, 302);
        if (!i)
            sscanf(strstr(answer, "Location: "), "Location: %127[^\r]", first);
    }
    server_expect(ask_with(cookie, "GET", "", first), 404);
    cr_expect_eq(server_stop(SIGTERM), 0);
}

/* As a link in a chat or in a mail does. */
Test(e2e_view, gives_a_page_without_data_to_links_elsewhere)
{
    static const char *const pages[] = {"/", "/report/" RUN, "/test"};

    server_start(NULL);
    for (size_t i = 0; i < sizeof(pages) / sizeof(*pages); i++) {
        server_expect(server_ask("GET", pages[i],
                                 "Host: localhost:%u\r\nSec-Fetch-Site: "
                                 "cross-site\r\n",
                                 server_port),
                      200);
        server_expect(
            server_ask("GET", pages[i], "Host: evil:%u\r\n", server_port), 403);
    }
}

Test(e2e_view, refuses_other_pages)
{
    static const char *const bad[] = {
        "",
        "Host: evil\r\n",
        "Host: evil:PORT\r\n",
        "Host: 127.0.0.1\r\n",
        "Host: 127.0.0.1:1\r\n",
        "Host: 127.0.0.1:PORT.evil\r\n",
        "Host: localhost:PORT\r\nOrigin: http://evil\r\n",
        "Host: localhost:PORT\r\nOrigin: null\r\n",
        "Host: localhost:PORT\r\nOrigin: http://127.0.0.1:PORT\r\n",
        "Host: localhost:PORT\r\nOrigin: https://localhost:PORT\r\n",
        "Host: localhost:PORT\r\nSec-Fetch-Site: cross-site\r\n",
        "Host: localhost:PORT\r\nSec-Fetch-Site: same-site\r\n"};
    static const char *const good[] = {
        "Host: localhost:PORT\r\n",
        "Host: localhost:PORT\r\nOrigin: http://localhost:PORT\r\n",
        "Host: 127.0.0.1:PORT\r\nSec-Fetch-Site: same-origin\r\n",
        "Host: 127.0.0.1:PORT\r\nSec-Fetch-Site: none\r\n"};

    server_start(NULL);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad) + 4; i++) {
        const size_t count = sizeof(bad) / sizeof(*bad);
        const char *text = i < count ? bad[i] : good[i - count];
        char headers[512] = "";
        const char *answer, *next;
        size_t size = 0;

        for (; (next = strstr(text, "PORT")); text = next + 4)
            size += (size_t)snprintf(headers + size, sizeof(headers) - size,
                                     "%.*s%u", (int)(next - text), text,
                                     server_port);
        snprintf(headers + size, sizeof(headers) - size, "%s", text);
        answer =
            server_ask("GET", "/api/runs", "%sAuthorization: Bearer %s\r\n",
                       headers, server_token);
        cr_expect_eq(server_status(answer),
                     i >= count ? 200
                     : i        ? 403
                                : 400,
                     "%s: %.100s", headers, answer);
    }
}

/* ---- Files ---- */

Test(e2e_view, serves_files_in_a_sandbox)
{
    static const char *const files[][2] = {{"report.html", "text/html"},
                                           {"run.json", "application/json"},
                                           {"results.tsv", "text/plain"}};

    server_start(NULL);
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
        char target[128], type[64];
        const char *answer;

        snprintf(target, sizeof(target), "/run/" RUN "/%s", files[i][0]);
        snprintf(type, sizeof(type), "Content-Type: %s", files[i][1]);
        answer = server_get(target);
        server_expect(answer, 200);
        cr_expect(strstr(answer, type), "%.300s", answer);
        cr_expect(strstr(answer, "Content-Security-Policy: sandbox "
                                 "allow-scripts allow-downloads\r\n"));
        cr_expect(strstr(answer, "X-Content-Type-Options: nosniff\r\n"));
    }
    cr_expect(strstr(server_get("/run/" RUN "/%72eport.html"), "page"));
}

Test(e2e_view, serves_nothing_outside_of_runs)
{
    static const char *const targets[] = {"/run/",
                                          "/run/x",
                                          "/run/" RUN,
                                          "/run/" RUN "/",
                                          "/run/" RUN "/tests",
                                          "/run/" RUN "/missing",
                                          "/run/" RUN "/link",
                                          "/run/latest/report.html",
                                          "/run/" RUN "/../" RUN "/report.html",
                                          "/run/" RUN "/../../secret",
                                          "/run/" RUN "/%2e%2e/%2e%2e/secret",
                                          "/run/" RUN "/%2E%2E%2fsecret",
                                          "/run/" RUN "%2freport.html",
                                          "/run/" RUN "/report.html%00",
                                          "/run/" RUN "/report.html%",
                                          "/run/" RUN "/%zz",
                                          "/run//etc/passwd",
                                          "/run/../secret",
                                          "/run/" RUN "//etc/passwd",
                                          "/api/",
                                          "/api/x",
                                          "/favicon.ico",
                                          "/secret",
                                          "//",
                                          "/api/runs/"};

    server_start(NULL);
    for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++) {
        const char *answer = server_get(targets[i]);

        cr_expect_eq(server_status(answer), 404, "%s: %.60s", targets[i],
                     answer);
        cr_expect_not(strstr(answer, "secret\n"), "%s", targets[i]);
    }
    server_expect(server_get("http://127.0.0.1/api/runs"), 400);
    server_expect(server_get("*"), 400);
    server_expect(server_get("api/runs"), 400);
}

Test(e2e_view, refuses_methods_that_change_something)
{
    const char *answer;

    server_start(NULL);
    answer = server_ask("PUT", "/api/runs",
                        "Host: 127.0.0.1:%u\r\nAuthorization: Bearer %s\r\n",
                        server_port, server_token);
    server_expect(answer, 405);
    cr_expect(strstr(answer, "Allow: GET, HEAD, POST\r\n"));
}

/* Sends a body of a size in one of two ways; returns the status. */
static int post_body(size_t size, bool chunked)
{
    char head[512], *request = calloc(1, size + 1024);
    size_t length;
    int status;

    snprintf(head, sizeof(head),
             "POST /api/session HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n"
             "Authorization: Bearer %s\r\nConnection: close\r\n",
             server_port, server_token);
    length = (size_t)snprintf(request, size + 1024,
                              chunked ? "%sTransfer-Encoding: chunked\r\n\r\n"
                                        "%zx\r\n"
                                      : "%sContent-Length: %zu\r\n\r\n",
                              head, size);
    memset(request + length, 'x', size);
    length += size;
    if (chunked)
        length += (size_t)snprintf(request + length, 16, "\r\n0\r\n\r\n");
    status = server_status(server_exchange(server_connect(), request, length));
    free(request);
    return status;
}

Test(e2e_view, reads_a_body_of_a_limited_size)
{
    server_start(NULL);
    cr_expect_eq(post_body(0, false), 204);
    cr_expect_eq(post_body(64 << 10, false), 204);
    cr_expect_eq(post_body(64 << 10, true), 204);
    cr_expect_eq(post_body((64 << 10) + 1, false), 413);
    cr_expect_neq(post_body((64 << 10) + 1, true), 204);
    cr_expect_eq(post_body(0, false), 204);
}

/* ---- Blocks ---- */

/* Makes a run of a traced program; returns its name. */
static const char *record_run(void)
{
    static char name[64];

    e2e_run("TRACE_DIR=runs %s -q --filter '*/passes'",
            e2e_program("small", E2E_TRACED));
    snprintf(name, sizeof(name), "%s",
             e2e_run("ls runs | grep ^20 | grep -v " RUN)->out);
    name[strcspn(name, "\n")] = '\0';
    return name;
}

static const char *block(const char *run, const char *name)
{
    char target[256];

    snprintf(target, sizeof(target), "/run/%s/%s", run, name);
    return server_get(target);
}

/* A block begins as zlib's format does. */
static void expect_block(const char *answer)
{
    const char *body = strstr(answer, "\r\n\r\n");

    server_expect(answer, 200);
    cr_expect(strstr(answer, "Content-Type: application/octet-stream\r\n"));
    cr_expect(body && body[4] == 0x78, "%.300s", answer);
}

Test(e2e_view, renders_the_blocks_of_a_run)
{
    static const char *const blocks[] = {"run.bin", "t0.bin", "end.bin"};
    static const char *const missing[] = {"t99.bin",
                                          "t0.1.bin",
                                          "t00.bin",
                                          "t-1.bin",
                                          "t.bin",
                                          "t0.0.bin",
                                          "t99999999999999999999999.bin"};
    const char *run = record_run();

    server_start(NULL);
    for (size_t i = 0; i < sizeof(blocks) / sizeof(*blocks); i++)
        expect_block(block(run, blocks[i]));
    for (size_t i = 0; i < sizeof(missing) / sizeof(*missing); i++)
        server_expect(block(run, missing[i]), 404);
    server_expect(block("2026-11-20T10-00-00.999999", "run.bin"), 404);
    server_expect(block("latest", "run.bin"), 404);
    e2e_run("rm runs/%s/run.json", run); /* as if it was killed */
    for (size_t i = 0; i < sizeof(blocks) / sizeof(*blocks); i++)
        expect_block(block(run, blocks[i]));
    cr_expect_eq(server_stop(SIGTERM), 0);
}

Test(e2e_view, exports_a_test_in_all_formats)
{
    static const char *const formats[] = {
#define X(name, flag, values, help) flag,
        RUNNERS_EXPORT_FORMATS(X)
#undef X
    };
    const char *run = record_run(), *answer;
    char page[1 << 20], name[64];

    server_start(NULL);
    snprintf(page, sizeof(page), "%s",
             server_ask("GET", "/report/" RUN, "Host: 127.0.0.1:%u\r\n",
                        server_port));
    server_expect(page, 200);
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
        snprintf(name, sizeof(name), "t0.%s", formats[i]);
        answer = block(run, name);
        server_expect(answer, 200);
        cr_expect(strstr(answer, "Content-Disposition: attachment\r\n"));
        snprintf(name, sizeof(name), "['%s', ", formats[i]);
        cr_expect(strstr(page, name), "the page lacks %s", formats[i]);
    }
    cr_expect(strstr(block(run, "t0.chrome"), "\"traceEvents\""));
    server_expect(block(run, "t0.x"), 404);
    server_expect(block(run, "t99.chrome"), 404);
}

Test(e2e_view, compares_two_runs)
{
    static const char *const missing[] = {
        "against/2026-11-20T10-00-00.999999.html", "against/latest.html",
        "against/../secret.html", "against/.html", "against/" RUN};
    char before[64], name[128];
    const char *after, *answer;

    snprintf(before, sizeof(before), "%s", record_run());
    e2e_run("mv runs/%s kept", before);
    after = record_run();
    e2e_run("mv kept runs/%s", before);
    server_start(NULL);
    snprintf(name, sizeof(name), "against/%s.html", before);
    answer = block(after, name);
    server_expect(answer, 200);
    cr_expect(strstr(answer, "Content-Type: text/html"));
    cr_expect(strstr(answer, "Security-Policy: sandbox allow-scripts"));
    cr_expect(strstr(answer, "id=\"against\"") || strstr(answer, "data-size"));
    answer = block(after, "against/" RUN ".html");
    server_expect(answer, 409);
    cr_expect(strstr(answer, "These runs cannot be compared"));
    for (size_t i = 0; i < sizeof(missing) / sizeof(*missing); i++)
        server_expect(block(after, missing[i]), 404);
}

Test(e2e_view, follows_no_link_to_a_recording)
{
    const char *run = record_run();

    e2e_run("for d in runs/%s/tests/*; do mv $d elsewhere && "
            "ln -s $PWD/elsewhere $d; done",
            run);
    server_start(NULL);
    server_expect(block(run, "t0.bin"), 404);
    server_expect(block(run, "t0.chrome"), 404);
    expect_block(block(run, "end.bin"));
    e2e_expect_has(e2e_run(TESTLOG " log runs/%s", run)->err, "no recording");
    e2e_run("mv runs/%s moved && ln -s ../moved runs/%s", run, run);
    server_expect(block(run, "run.bin"), 404);
}

Test(e2e_view, follows_no_link_beside_a_compressed_recording)
{
    const char *run = record_run();

    e2e_run("for d in runs/%s/tests/*/*; do gzip -k $d/recording && "
            "mv $d/recording elsewhere && ln -s $PWD/elsewhere $d/recording; "
            "done",
            run);
    server_start(NULL);
    server_expect(block(run, "t0.bin"), 404);
    e2e_run("rm runs/%s/tests/*/*/recording", run);
    expect_block(block(run, "t0.bin"));
}

Test(e2e_view, survives_a_damaged_run)
{
    const char *run = record_run();

    server_start(NULL);
    e2e_run("for f in runs/%s/tests/*/*/recording; do dd if=/dev/urandom "
            "of=$f bs=4096 count=2 conv=notrunc; done; truncate -s 100 "
            "runs/%s/run.json",
            run, run);
    cr_expect_neq(server_status(block(run, "t0.bin")), 0);
    expect_block(block(run, "run.bin"));
    server_expect(server_get("/api/runs"), 200);
    cr_expect_eq(server_stop(SIGTERM), 0);
}

/* More clients than children; some leave without their answer. */
Test(e2e_view, renders_for_many_clients)
{
    enum { CLIENTS = 40 };
    const char *run = record_run();
    int fds[CLIENTS];
    char request[512];

    server_start(NULL);
    snprintf(request, sizeof(request),
             "GET /run/%s/end.bin HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n"
             "Authorization: Bearer %s\r\nConnection: close\r\n\r\n",
             run, server_port, server_token);
    for (int i = 0; i < CLIENTS; i++) {
        fds[i] = server_connect();
        if (i % 4 == 0) {
            send(fds[i], request, strlen(request), MSG_NOSIGNAL);
            close(fds[i]);
        }
    }
    for (int i = 0; i < CLIENTS; i++)
        if (i % 4)
            send(fds[i], request, strlen(request), MSG_NOSIGNAL);
    for (int i = 0; i < CLIENTS; i++)
        if (i % 4)
            expect_block(server_exchange(fds[i], "", 0));
    cr_expect_eq(server_stop(SIGTERM), 0);
}

/* ---- Captures ---- */

static const char *post_capture(const char *headers, const char *body)
{
    char request[8192];

    snprintf(request, sizeof(request),
             "POST /api/capture HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n"
             "Connection: close\r\n%sContent-Length: %zu\r\n\r\n%s",
             server_port, headers, strlen(body), body);
    return server_exchange(server_connect(), request, strlen(request));
}

static const char *authorization(void)
{
    static char header[256];

    snprintf(header, sizeof(header), "Authorization: Bearer %s\r\n",
             server_token);
    return header;
}

/* Starts a program that listens in a folder of the test's own. */
static pid_t start_service(void)
{
    char runtime[PATH_MAX], path[PATH_MAX + 64];
    pid_t service;

    cr_assert(getcwd(runtime, sizeof(runtime)));
    setenv("XDG_RUNTIME_DIR", runtime, 1);
    service = fork();
    if (!service) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setenv("TRACE_SERVER", "1", 1);
        execl(e2e_program("service", E2E_TRACED), "service", "serve", NULL);
        _exit(127);
    }
    snprintf(path, sizeof(path), "%s/testlog/%ld.sock", runtime, (long)service);
    while (access(path, F_OK))
        usleep(1000);
    return service;
}

Test(e2e_view, captures_a_program)
{
    pid_t service = start_service();
    char body[256], name[64], listed[64];
    const char *answer, *run;

    server_start(NULL);
    snprintf(listed, sizeof(listed), "{\"pid\":%ld,\"name\":\"service_test\"}",
             (long)service);
    cr_expect(strstr(server_get("/api/programs"), listed));
    snprintf(body, sizeof(body),
             "{\"pid\":%ld,\"ms\":1000,\"delay\":0,\"filter\":\"info\","
             "\"options\":\"device_tracer_level=0\"}",
             (long)service);
    answer = post_capture(authorization(), body);
    server_expect(answer, 200);
    run = strstr(answer, "{\"run\"");
    cr_assert(run, "%s", answer);
    cr_assert_eq(sscanf(run, "{\"run\":\"%60[^\"]", name), 1);
    e2e_expect_has(e2e_run("cat runs/%s/tests/*/*/log.txt", name)->out,
                   "request{number=");
    kill(service, SIGKILL);
}

/* Each body, and the answer's error. */
Test(e2e_view, says_why_nothing_was_captured)
{
    static const char *const cases[][2] = {
        {"", "the request is not one of this page"},
        {"[]", "the request is not one of this page"},
        {"{\"pid\":1,\"x\":1}", "the request is not one of this page"},
        {"{\"pid\":[1]}", "the request is not one of this page"},
        {"{\"pid\":\"1\"}", "the request is not one of this page"},
        {"{\"connect\":1}", "the request is not one of this page"},
        {"{\"pid\":1,\"ms\":\"1\"}", "the request is not one of this page"},
        {"{\"pid\":1,\"pid\":1}", "the request is not one of this page"},
        {"{\"pid\":1}x", "the request is not one of this page"},
        {"{\"pid\":1.5}", "--pid=1.5 is not a number from 1"},
        {"{\"pid\":1e300}", "--pid=1e+300 is not a number from 1"},
        {"{}", "none listens, start one with TRACE_SERVER=1"},
        {"{\"pid\":4194305}", "there is no such process"},
        {"{\"pid\":1,\"ms\":0}", "--ms=0 is not a number from 1"},
        {"{\"pid\":1,\"ms\":200000}", "a capture takes 100 s at most"},
        {"{\"pid\":1,\"filter\":\"[\"}", "unclosed bracket"},
        {"{\"pid\":1,\"options\":\"x=1\"}", "x"},
    };

    setenv("XDG_RUNTIME_DIR", "/nowhere", 1);
    server_start(NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const char *answer = post_capture(authorization(), cases[i][0]);

        server_expect(answer, 409);
        cr_expect(strstr(answer, "{\"error\":\""), "%s", answer);
        cr_expect(strstr(answer, cases[i][1]), "%s: %s", cases[i][1], answer);
    }
}

Test(e2e_view, captures_nothing_without_the_header)
{
    server_start(NULL);
    server_expect(post_capture("", "{}"), 403);
    server_expect(server_ask("GET", "/api/capture", "Host: 127.0.0.1:%u\r\n%s",
                             server_port, authorization()),
                  404);
}

/* ---- Events ---- */

/* Waits for an event after `text`. */
static void wait_for(int fd, const char *text)
{
    char got[4096] = "";
    size_t size = 0;
    ssize_t more;

    while (!strstr(got, text) &&
           (more = recv(fd, got + size, sizeof(got) - 1 - size, 0)) > 0) {
        size += (size_t)more;
        got[size] = '\0';
    }
    cr_assert(strstr(got, text), "%s", got);
}

static int listen_to_events(void)
{
    char request[512];
    int fd = server_connect();

    snprintf(request, sizeof(request),
             "GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n"
             "Authorization: Bearer %s\r\n\r\n",
             server_port, server_token);
    send(fd, request, strlen(request), MSG_NOSIGNAL);
    wait_for(fd, "text/event-stream");
    return fd;
}

#define GOES_ON "runs/2026-11-21T10-00-00.000002"

Test(e2e_view, says_that_a_test_has_begun_or_ended)
{
    static const char *const changes[] = {
        "mkdir -p " GOES_ON "/tests", "mkdir " GOES_ON "/tests/p",
        "mkdir " GOES_ON "/tests/p/s.t", "echo >>" GOES_ON "/results.jsonl"};

    server_start(NULL);
    for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
        int fd = listen_to_events();

        e2e_run("%s", changes[i]);
        wait_for(fd, "data: ");
        close(fd);
    }
    cr_expect_eq(server_stop(SIGTERM), 0);
}

/* The server looks at such a run each second. */
Test(e2e_view, prints_nothing_about_a_scratch_folder_that_is_gone)
{
    e2e_run("mkdir -p " GOES_ON "/tests && ln -s /nowhere " GOES_ON
            "/tests/link && printf /nowhere/testlog-scratch-x/run >" GOES_ON
            "/scratch");
    e2e_expect_is(e2e_run("timeout -s TERM 3 " TESTLOG " view runs")->err, "");
}

Test(e2e_view, says_that_a_run_has_ended)
{
    int fd;

    server_start(NULL);
    fd = listen_to_events();
    e2e_run("TRACE_DIR=runs %s -q --filter '*/passes'",
            e2e_program("small", E2E_TRACED));
    wait_for(fd, "data: ");
    close(fd);
    cr_expect(strstr(server_get("/api/index"), "small/passes"));
    cr_expect_eq(server_stop(SIGTERM), 0);
}

/* ---- Sockets ---- */

static const char *ask_socket(const char *host)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX, .sun_path = "socket"};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char request[256];

    cr_assert_eq(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    snprintf(request, sizeof(request),
             "GET /api/runs HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n",
             host);
    return server_exchange(fd, request, strlen(request));
}

Test(e2e_view, serves_a_socket_of_this_user)
{
    struct stat status;

    server_start("--socket=socket");
    cr_expect_str_eq(server_address, "unix:socket");
    cr_assert_eq(stat("socket", &status), 0);
    cr_expect_eq(status.st_mode & 0777, 0600);
    server_expect(ask_socket("localhost"), 200);
    server_expect(ask_socket("localhost:8080"), 200);
    server_expect(ask_socket("evil"), 403);
    e2e_expect_is(e2e_run(TESTLOG " view runs --socket=socket")->err,
                  "testlog: view: cannot listen on socket: Address already in "
                  "use; name another path\n");
    kill(server_pid, SIGKILL);
    waitpid(server_pid, NULL, 0);
    server_start("--socket=socket"); /* the last one left its file */
    server_expect(ask_socket("localhost"), 200);
    cr_expect_eq(server_stop(SIGTERM), 0);
    cr_expect(access("socket", F_OK));
}

/* ---- Bad input ---- */

Test(e2e_view, refuses_bad_arguments)
{
    static const struct {
        const char *arguments, *line;
    } cases[] = {
        {"missing", "testlog: view: cannot read missing: No such file or "
                    "directory; run a test program first, or name the folder "
                    "of the runs\n"},
        {"runs/" RUN "/run.json", "testlog: view: cannot read runs/" RUN
                                  "/run.json: Not a directory; run a test "
                                  "program first, or name the folder of the "
                                  "runs\n"},
        {"runs --port=x", "testlog: view: --port=x is not a port; write a "
                          "number from 0 to 65535\n"},
        {"runs --port=65536", "testlog: view: --port=65536 is not a port; "
                              "write a number from 0 to 65535\n"},
        {"runs --port=-1", "testlog: view: --port=-1 is not a port; write a "
                           "number from 0 to 65535\n"},
        {"runs --port=1 --socket=s",
         "testlog: view: --port and --socket exclude each other\n"},
        {"runs more", "testlog: view: one folder is enough; leave out more\n"},
        {"runs --socket=",
         "testlog: view: --socket needs a value: --socket=PATH\n"},
        {"runs --socket=none/s", "testlog: view: cannot listen on none/s: No "
                                 "such file or directory; name another path\n"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct e2e *result =
            e2e_exits(2, TESTLOG " view %s", cases[i].arguments);

        e2e_expect_is(result->out, "");
        e2e_expect_is(result->err, cases[i].line);
    }
}

Test(e2e_view, refuses_a_port_in_use)
{
    char command[256], line[256];

    server_start(NULL);
    snprintf(command, sizeof(command), TESTLOG " view runs --port=%u",
             server_port);
    snprintf(line, sizeof(line),
             "testlog: view: cannot listen on port %u: Address already in use; "
             "leave out --port for a free one\n",
             server_port);
    e2e_expect_is(e2e_exits(2, "%s", command)->err, line);
}

/* A program in the place of xdg-open, which notes what it gets. */
#define OPENER                                                                 \
    "mkdir bin && printf '#!/bin/sh\necho \"$@\" >$PWD/opened\n"               \
    "cp \"$1\" $PWD/page; ls -l \"$1\" >$PWD/mode\n' >bin/xdg-open && "        \
    "chmod +x bin/xdg-open"

/* All users see a program's arguments. */
Test(e2e_view, opens_a_browser_without_the_token_in_its_arguments)
{
    const struct e2e *result;
    char token[80] = "";

    e2e_run(OPENER);
    result = e2e_run("PATH=$PWD/bin:$PATH timeout -s TERM 3 " TESTLOG
                     " view --open runs");
    cr_assert_eq(
        sscanf(result->out, "http://127.0.0.1:%*u/#token=%79[0-9a-f]", token),
        1, "%s", result->out);
    e2e_expect_is(result->err, "");
    result = e2e_run("cat opened");
    cr_expect_not(strstr(result->out, token), "%s", result->out);
    e2e_expect_has(result->out, "/runs/.view-");
    e2e_expect_has(e2e_run("cat page")->out, token);
    e2e_expect_has(e2e_run("cat mode")->out, "-rw-------");
    e2e_expect_is(e2e_run("ls -A runs | grep view")->out, "");
}

Test(e2e_view, opens_the_run_that_is_named)
{
    const struct e2e *result;

    result = e2e_run("timeout -s TERM 3 " TESTLOG " view runs/" RUN);
    cr_expect(strstr(result->out, "&run=" RUN "\n"), "%s", result->out);
    e2e_run("mkdir empty");
    result = e2e_run("timeout -s TERM 3 " TESTLOG " view empty");
    cr_expect(strstr(result->out, "/#token="), "%s", result->out);
}

/* ---- Attacks ---- */

/* A hostile test may have left files of any size. */
Test(e2e_view, reads_the_beginning_of_a_file_without_lines)
{
    char command[128];
    long kilobytes;

    cr_assert_eq(truncate("runs/" RUN "/results.tsv", 1 << 30), 0);
    cr_assert_eq(truncate("runs/" RUN "/summary.tsv", 1 << 30), 0);
    server_start(NULL);
    server_expect(server_get("/api/index"), 200);
    snprintf(command, sizeof(command),
             "sed -n 's/VmHWM:\\s*//p' /proc/%ld/status", (long)server_pid);
    kilobytes = atol(e2e_run("%s", command)->out);
    cr_expect(kilobytes > 1000 && kilobytes < 500000, "%ld", kilobytes);
}

/* Clients that never finish their request must not keep others waiting, and
 * lose their connection. */
Test(e2e_view, ends_requests_that_take_too_long)
{
    enum { SLOW = 300 };
    int slow[SLOW];
    size_t open = SLOW;

    server_start(NULL);
    for (size_t i = 0; i < SLOW; i++) {
        slow[i] = server_connect();
        send(slow[i], "GET / HTT", 9, MSG_NOSIGNAL);
    }
    server_expect(server_get("/api/runs"), 200);
    while (open) {
        open = 0;
        for (size_t i = 0; i < SLOW; i++) {
            struct pollfd one = {slow[i], POLLIN, 0};
            char byte;

            if (slow[i] < 0)
                continue;
            send(slow[i], "P", 1, MSG_NOSIGNAL);
            if (poll(&one, 1, 0) && recv(slow[i], &byte, 1, 0) <= 0) {
                close(slow[i]);
                slow[i] = -1;
            }
            open += slow[i] >= 0;
        }
        usleep(200000);
    }
    server_expect(server_get("/api/runs"), 200);
}

/* Clients without a secret must not lock out those who have it. */
Test(e2e_view, answers_the_owner_among_many_strangers)
{
    enum { STRANGERS = 1500 };
    static int strangers[STRANGERS];
    int events;

    server_start(NULL);
    events = listen_to_events();
    for (size_t i = 0; i < STRANGERS; i++)
        strangers[i] = server_connect();
    server_expect(server_get("/api/runs"), 200);
    e2e_run("mkdir -p " GOES_ON "/tests");
    wait_for(events, "data: ");
    for (size_t i = 0; i < STRANGERS; i++)
        close(strangers[i]);
    server_expect(server_get("/api/runs"), 200);
}

/* A request with random bytes in place of some of its own. */
static size_t make_malformed(char *request, size_t most)
{
    size_t size = (size_t)snprintf(
        request, most,
        "%s /%s HTTP/1.%u\r\nHost: 127.0.0.1:%u\r\nAuthorization: Bearer %s\r\n"
        "Cookie: testlog-%u=x\r\nContent-Length: %u\r\n\r\nbody",
        test_below(2) ? "GET" : "POST", test_below(2) ? "api/runs" : "run/%2e",
        test_below(3), server_port, server_token, server_port,
        test_below(100000));

    for (uint32_t i = 1 + test_below(8); i; i--)
        request[test_below((uint32_t)size)] = (char)test_random();
    return test_below(4) ? size : test_below((uint32_t)size);
}

Test(e2e_view, survives_malformed_requests)
{
    server_start(NULL);
    test_seed(28);
    for (int i = 0; i < 2000; i++) {
        char request[1024];
        size_t size = make_malformed(request, sizeof(request));
        const struct timeval soon = {.tv_usec = 5000};
        int fd = server_connect();

        /* The server waits for the rest of some. */
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof(soon));
        server_exchange(fd, request, size);
    }
    server_expect(server_get("/api/runs"), 200);
    cr_expect_eq(server_stop(SIGTERM), 0);
}

/* e2e_live_test.c: what testlog view sends of a program while it runs. */
#include "tests/support/support.h"

#include "tests/support/e2e.h"
#include "tests/support/page.h"
#include "tests/support/view_server.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define TESTLOG BUILD_DIR "/testlog"

E2E_FOLDER

static void begin(void)
{
    e2e_begin();
    if (e2e_sanitized())
        cr_skip_test("the sanitizer refuses preloaded libraries");
    server_skip();
    cr_assert_eq(system("mkdir -p runs"), 0);
}

TestSuite(e2e_live, .init = begin, .fini = server_end, .timeout = 300);

/* Records a program that runs for a while, and returns the name of its run. */
static const char *record_service(pid_t *recorder)
{
    static char name[64];

    *recorder = fork();
    if (!*recorder) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setenv("TRACE_DIR", "runs", 1);
        execl(TESTLOG, TESTLOG, "record", "--",
              e2e_program("service", E2E_TRACED), "end", NULL);
        _exit(127);
    }
    do {
        usleep(1000);
        snprintf(name, sizeof(name), "%s",
                 e2e_run("cd runs && ls -d 20*/tests/*/*/recording | "
                         "cut -d/ -f1")
                     ->out);
    } while (!name[0]);
    name[strcspn(name, "\n")] = '\0';
    return name;
}

/* Reads an answer without its headers. */
static size_t read_body(int fd, char *body, size_t most)
{
    size_t got = 0, head;
    ssize_t more;
    char *end;

    while (got < most - 1 &&
           (more = recv(fd, body + got, most - 1 - got, 0)) > 0)
        got += (size_t)more;
    body[got] = '\0';
    end = strstr(body, "\r\n\r\n");
    cr_assert(end, "%s", body);
    head = (size_t)(end + 4 - body);
    memmove(body, body + head, got - head);
    return got - head;
}

/* Asks as a client that does not know chunks. */
static int ask_for_live(const char *run, const char *name)
{
    char request[512];
    int fd = server_connect();

    snprintf(request, sizeof(request),
             "GET /run/%s/%s HTTP/1.0\r\nHost: 127.0.0.1:%u\r\n"
             "Authorization: Bearer %s\r\n\r\n",
             run, name, server_port, server_token);
    send(fd, request, strlen(request), MSG_NOSIGNAL);
    return fd;
}

Test(e2e_live, sends_a_program_while_it_runs)
{
    static char body[1 << 20];
    pid_t recorder;
    const char *run = record_service(&recorder);
    size_t size, blocks = 0, lines = 0;
    bool over = false;

    if (!page_can_read())
        cr_skip_test("no zlib");
    server_start(NULL);
    size = read_body(ask_for_live(run, "t0.live"), body, sizeof(body));
    for (size_t at = 0; at + 4 <= size; blocks++) {
        const unsigned char *head = (const unsigned char *)body + at;
        size_t bytes = head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16;
        struct page_block one;

        cr_assert_leq(at + 4 + bytes, size);
        cr_expect_not(over, "nothing comes after the last block");
        one = page_inflate(head + 4, bytes);
        lines += page_rows(&one, "lines");
        over = cJSON_IsTrue(cJSON_GetObjectItem(one.json, "over"));
        at += 4 + bytes;
    }
    cr_expect_gt(blocks, 2);
    cr_expect(over);
    cr_expect_eq(lines, 1000);
    waitpid(recorder, NULL, 0);
    cr_expect_eq(server_stop(SIGTERM), 0);
}

static void expect_nothing(const char *run, const char *name)
{
    char target[256];

    snprintf(target, sizeof(target), "/run/%s/%s", run, name);
    server_expect(server_get(target), 404);
}

Test(e2e_live, ends_what_nobody_reads)
{
    pid_t recorder;
    const char *run = record_service(&recorder);
    int fds[20], refused = 0;
    char head[64];

    server_start(NULL);
    for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++) {
        fds[i] = ask_for_live(run, "t0.live");
        cr_assert_gt(recv(fds[i], head, 12, MSG_WAITALL), 0);
        refused += !memcmp(head + 9, "503", 3);
    }
    cr_expect_eq(refused, 4, "%d of 20 are refused", refused);
    for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
        close(fds[i]);
    while (strcmp(e2e_run("pgrep -c -P %ld", (long)server_pid)->out, "0\n") !=
           0)
        usleep(10000);
    expect_nothing(run, "t99.live");
    expect_nothing(run, "t0.1.live");
    e2e_run("rm runs/%s/tests/*/*/recording && ln -s /etc/passwd "
            "runs/%s/tests/$(cd runs/%s/tests; ls -d */*)/recording",
            run, run, run);
    expect_nothing(run, "t0.live");
    kill(recorder, SIGKILL);
    cr_expect_eq(server_stop(SIGTERM), 0);
}

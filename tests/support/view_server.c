/* view_server.c: testlog view, and requests to it. */
#include "view_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "e2e.h"

#define TESTLOG BUILD_DIR "/testlog"

pid_t server_pid;
char server_address[512], server_token[128];
unsigned server_port;

/* ---- The server ---- */

void server_skip(void)
{
    if (strstr(e2e_run(TESTLOG " view nothing")->err, "libmicrohttpd"))
        cr_skip_test("no libmicrohttpd");
}

void server_end(void)
{
    if (server_pid > 0)
        kill(server_pid, SIGKILL);
}

/* Starts it and reads its address. */
void server_start(const char *flag)
{
    int ends[2];
    FILE *out;

    cr_assert_eq(pipe(ends), 0);
    server_pid = fork();
    if (!server_pid) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execl(TESTLOG, TESTLOG, "view", "runs", flag, NULL);
        _exit(127);
    }
    close(ends[1]);
    out = fdopen(ends[0], "r");
    cr_assert(fgets(server_address, sizeof(server_address), out),
              "it printed nothing");
    fclose(out);
    server_address[strcspn(server_address, "\n")] = '\0';
    sscanf(server_address, "http://127.0.0.1:%u/#token=%127s", &server_port,
           server_token);
}

int server_stop(int signal)
{
    int status = -1;

    kill(server_pid, signal);
    cr_assert_eq(waitpid(server_pid, &status, 0), server_pid);
    server_pid = 0;
    return status;
}

int server_connect(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)server_port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    cr_assert_eq(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0, "%s",
                 strerror(errno));
    return fd;
}

/* ---- Requests ---- */

/* Sends what is given and returns what comes back until the server_pid closes
 * the connection, or has nothing more to say. */
const char *server_exchange(int fd, const char *request, size_t size)
{
    static char answer[1 << 20];
    size_t got = 0;
    ssize_t more;

    send(fd, request, size, MSG_NOSIGNAL);
    while (got < sizeof(answer) - 1 &&
           (more = recv(fd, answer + got, sizeof(answer) - 1 - got, 0)) > 0)
        got += (size_t)more;
    answer[got] = '\0';
    close(fd);
    return answer;
}

/* Sends a request with headers, each with its line end. */
const char *server_ask(const char *method, const char *target,
                       const char *format, ...)
{
    char request[8192], headers[4096];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(headers, sizeof(headers), format, arguments);
    va_end(arguments);
    snprintf(request, sizeof(request),
             "%s %s HTTP/1.1\r\nConnection: close\r\n%s\r\n", method, target,
             headers);
    return server_exchange(server_connect(), request, strlen(request));
}

const char *server_get(const char *target)
{
    return server_ask("GET", target,
                      "Host: 127.0.0.1:%u\r\nAuthorization: Bearer %s\r\n",
                      server_port, server_token);
}

int server_status(const char *answer)
{
    return strncmp(answer, "HTTP/1.1 ", 9) ? 0 : atoi(answer + 9);
}

void server_expect(const char *answer, int status)
{
    cr_expect_eq(server_status(answer), status, "%.200s", answer);
    cr_expect(strcasestr(answer, "\r\nContent-Type: "), "%.200s", answer);
}

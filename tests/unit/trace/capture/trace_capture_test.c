/* trace_capture_test.c: what clients of a program that listens may send. */
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/base/unix_socket.h"
#include "trace/capture/server.h"

enum { MOST = 16 << 20 };

static void begin(void)
{
    test_folder();
    cr_assert_eq(trace_server_start(test_path("s")), 0, "%s", strerror(errno));
}

static void end(void)
{
    trace_server_stop();
}

TestSuite(trace_capture, .init = begin, .fini = end, .timeout = 60);

static int join(void)
{
    const struct timeval patience = {.tv_sec = 20};
    int client = trace_unix_connect(test_path("s"));

    cr_assert_geq(client, 0, "%s", strerror(errno));
    setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    return client;
}

static int hello(uint32_t version)
{
    int client = join();

    trace_message_send(client, TRACE_MESSAGE_HELLO, &version, sizeof(version),
                       -1);
    return client;
}

/* Returns the kind of the next message; 0 if the program has hung up. */
static uint32_t next(int client, struct trace_message *message)
{
    return trace_message_receive(client, message, MOST) ? 0 : message->kind;
}

static uint32_t next_kind(int client)
{
    struct trace_message message;
    uint32_t kind = next(client, &message);

    trace_message_free(&message);
    return kind;
}

/* Expects a refusal with a text, and the end. */
static void expect_refusal(int client, const char *why)
{
    struct trace_message message;

    cr_expect_eq(next(client, &message), TRACE_MESSAGE_REFUSED);
    cr_expect_str_eq((const char *)message.bytes, why);
    trace_message_free(&message);
    cr_expect_eq(next_kind(client), 0);
    close(client);
}

static int empty_file(void)
{
    static int number;
    char name[32];

    snprintf(name, sizeof(name), "f%d", number++);
    return open(test_path(name), O_RDWR | O_CREAT | O_EXCL, 0600);
}

/* Greets until the program has done with the client before. */
static int greet(struct trace_message *message)
{
    int client = hello(TRACE_CAPTURE_VERSION);

    while (next(client, message) != TRACE_MESSAGE_SITES) {
        trace_message_free(message);
        close(client);
        usleep(1000);
        client = hello(TRACE_CAPTURE_VERSION);
    }
    return client;
}

/* Greets, and asks to record `count` sites into a file. */
static int ask(uint32_t count, size_t bytes, const char *strings, size_t size,
               int file)
{
    struct trace_start_request request = {TRACE_LEVEL_TRACE, count};
    struct trace_message message;
    struct trace_site_list list;
    struct trace_text text = {0};
    const char *program;
    uint32_t pid;
    int client = greet(&message);

    cr_assert_eq(trace_site_list_read(&message, &pid, &program, &list), 0);
    cr_expect_eq(pid, (uint32_t)getpid());
    if (count == UINT32_MAX) {
        request.count = (uint32_t)list.count;
        bytes = list.count;
    }
    trace_text_add(&text, &request, sizeof(request));
    for (size_t i = 0; i < bytes; i++)
        trace_text_char(&text, 1);
    trace_text_add(&text, strings, size);
    trace_message_send(client, TRACE_MESSAGE_START, text.data, text.size, file);
    trace_text_free(&text);
    trace_site_list_free(&list);
    trace_message_free(&message);
    return client;
}

/* Records for a moment, as a good client does. */
static void expect_capture(void)
{
    int file = empty_file();
    int client = ask(UINT32_MAX, 0, "\0test\0x/y", 10, file);
    struct trace_reader *reader;
    char path[64];

    cr_assert_eq(next_kind(client), TRACE_MESSAGE_STARTED);
    trace_event(INFO, "captured");
    trace_message_send(client, TRACE_MESSAGE_STOP, NULL, 0, -1);
    cr_assert_eq(next_kind(client), TRACE_MESSAGE_STOPPED);
    close(client);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    reader = trace_reader_open(path);
    cr_assert_not_null(reader);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, "captured"), 1);
    cr_expect_str_eq(trace_reader_meta(reader, "test"), "x/y");
    cr_expect(trace_reader_summary(reader).ended);
    trace_reader_close(reader);
    close(file);
}

Test(trace_capture, records_between_start_and_stop)
{
    trace_event(INFO, "before");
    expect_capture();
    trace_event(INFO, "after");
    expect_capture();
}

Test(trace_capture, refuses_another_version)
{
    expect_refusal(hello(TRACE_CAPTURE_VERSION + 1),
                   "it was linked with another testlog");
    expect_capture();
}

Test(trace_capture, refuses_messages_out_of_turn)
{
    int client = join();

    trace_message_send(client, TRACE_MESSAGE_STOP, NULL, 0, -1);
    expect_refusal(client, "it expected another message");
    expect_capture();
}

Test(trace_capture, refuses_files_that_are_not_empty_ones_of_the_user)
{
    int pipes[2], full = empty_file(), zero = open("/dev/zero", O_RDWR);
    int reading;

    cr_assert_eq(pipe(pipes), 0);
    cr_assert_eq(write(full, "x", 1), 1);
    close(empty_file());
    reading = open(test_path("f1"), O_RDONLY);
    const int files[] = {-1, pipes[1], full, zero, reading};

    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
        expect_refusal(ask(UINT32_MAX, 0, "", 1, files[i]), strerror(EINVAL));
    expect_capture();
}

static int open_descriptors(void)
{
    int count = 0;

    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* Sends a message with three descriptors. */
static void send_three(int client)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(3 * sizeof(int))];
    } control = {.head = {.cmsg_len = CMSG_LEN(3 * sizeof(int)),
                          .cmsg_level = SOL_SOCKET,
                          .cmsg_type = SCM_RIGHTS}};
    const int three[] = {0, 1, 2};
    uint32_t head[] = {TRACE_MESSAGE_HELLO, 0};
    struct iovec part = {head, sizeof(head)};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};

    memcpy(CMSG_DATA(&control.head), three, sizeof(three));
    cr_assert_eq(sendmsg(client, &message, 0), (ssize_t)sizeof(head));
}

Test(trace_capture, keeps_no_descriptor_of_a_client)
{
    int before;

    expect_capture(); /* keeps the file of the last recording */
    before = open_descriptors();
    for (int i = 0; i < 8; i++) {
        int client = join();

        send_three(client);
        while (next_kind(client))
            ;
        close(client);
    }
    expect_capture();
    while (open_descriptors() > before) /* its thread closes the last one */
        usleep(1000);
}

Test(trace_capture, refuses_requests_that_do_not_fit)
{
    char many[100];

    memset(many, 0, sizeof(many));
    expect_refusal(ask(0, 0, "", 1, empty_file()), strerror(EPROTO));
    expect_refusal(ask(UINT32_MAX - 1, 3, "", 1, empty_file()),
                   strerror(EPROTO));
    expect_refusal(ask(UINT32_MAX, 0, "", 0, empty_file()), strerror(EPROTO));
    expect_refusal(ask(UINT32_MAX, 0, "\0name", 6, empty_file()),
                   strerror(EPROTO));
    expect_refusal(ask(UINT32_MAX, 0, many, sizeof(many), empty_file()),
                   strerror(EPROTO));
    expect_capture();
}

Test(trace_capture, survives_random_messages)
{
    unsigned char bytes[64];

    for (int round = 0; round < 500; round++) {
        int client = round % 2 ? join() : hello(TRACE_CAPTURE_VERSION);
        size_t size = 1 + (size_t)(rand() % (int)sizeof(bytes));

        for (size_t i = 0; i < size; i++)
            bytes[i] = (unsigned char)(rand() % 3 ? rand() % 8 : rand());
        if (round % 3 && size > 8) { /* a possible kind and size */
            memset(bytes, 0, 8);
            bytes[0] = (unsigned char)(rand() % 8);
            bytes[4] = (unsigned char)rand();
        }
        send(client, bytes, size, MSG_NOSIGNAL);
        shutdown(client, SHUT_WR);
        while (round % 5 && next_kind(client))
            ;
        close(client);
    }
    expect_capture();
}

/* ---- Lists of call sites ---- */

Test(trace_capture, reads_no_list_that_is_damaged)
{
    struct trace_site_list own = {0}, list;
    struct trace_text text = {0};
    const char *program;
    uint32_t pid;
    size_t whole = 0;

    trace_site_list_put(&text, &own);
    for (size_t size = 0; size <= text.size; size++) {
        unsigned char *copy = malloc(size + 1);
        struct trace_message message = {TRACE_MESSAGE_SITES, (uint32_t)size,
                                        copy, -1};

        memcpy(copy, text.data, size);
        copy[size] = '\0';
        if (!trace_site_list_read(&message, &pid, &program, &list)) {
            cr_expect_leq(list.count, own.count);
            whole += size == text.size && list.count == own.count;
            trace_site_list_free(&list);
        }
        for (int i = 0; size && i < 4; i++) {
            copy[(size_t)rand() % size] = (unsigned char)rand();
            if (!trace_site_list_read(&message, &pid, &program, &list))
                trace_site_list_free(&list);
        }
        free(copy);
    }
    cr_expect_eq(whole, 1);
    free(own.sites);
    trace_text_free(&text);
}

/* ---- Forks ---- */

Test(trace_capture, is_stopped_only_by_the_process_that_started_it)
{
    int status;
    pid_t child = fork();

    if (!child)
        _exit(trace_server_stop() == -1 && errno == EINVAL ? 0 : 1);
    waitpid(child, &status, 0);
    cr_expect_eq(status, 0);
    expect_capture();
    cr_expect_eq(trace_server_stop(), 0);
    cr_expect_eq(access(test_path("s"), F_OK), -1);
    cr_expect_eq(trace_server_stop(), -1);
}

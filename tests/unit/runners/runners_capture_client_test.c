/* runners_capture_client_test.c: what hostile programs may answer to testlog
 * capture.
 */
#include "tests/support/support.h"

#include "runners/record/capture_program.h"
#include "trace/base/clock.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct captured captured;
static int program; /* its end of the connection */

static void begin(void)
{
    int pair[2];

    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    captured = (struct captured){.socket = pair[0], .message = {.file = -1}};
    program = pair[1];
}

static void end(void)
{
    capture_free(&captured);
}

TestSuite(runners_capture_client, .init = begin, .fini = end, .timeout = 60);

static enum capture_answer await(uint32_t kind)
{
    uint64_t until =
        trace_clock_ns(CLOCK_MONOTONIC) + 20 * UINT64_C(1000000000);

    return capture_await(&captured, kind, until, -1);
}

/* Sends bytes as they are, and hangs up. */
static void send_and_leave(const void *bytes, size_t size)
{
    cr_assert_eq(send(program, bytes, size, MSG_NOSIGNAL), (ssize_t)size);
    close(program);
}

static void answer(uint32_t kind, const char *bytes, size_t size)
{
    cr_assert_eq(trace_message_send(program, kind, bytes, size, -1), 0);
}

/* A pid, a name and sites of which only the beginning is given. */
#define SITES(name, sites) "\1\0\0\0" name "\0" sites

static void answer_sites(const char *bytes, size_t size)
{
    answer(TRACE_MESSAGE_SITES, bytes, size);
}

Test(runners_capture_client, says_that_the_program_has_gone)
{
    const uint32_t half[] = {TRACE_MESSAGE_SITES, 100};

    send_and_leave(half, sizeof(half));
    cr_expect_eq(await(TRACE_MESSAGE_SITES), CAPTURE_ENDED);
}

Test(runners_capture_client, refuses_answers_of_another_kind)
{
    answer(TRACE_MESSAGE_STARTED, NULL, 0);
    cr_expect_eq(await(TRACE_MESSAGE_SITES), CAPTURE_REFUSED);
    cr_expect_str_eq(captured.why, "its answer is not one of testlog's");
}

Test(runners_capture_client, refuses_sizes_that_are_too_large)
{
    const uint32_t heads[][2] = {{TRACE_MESSAGE_SITES, UINT32_MAX},
                                 {TRACE_MESSAGE_SITES, (256 << 20) + 1},
                                 {TRACE_MESSAGE_NONE, 0},
                                 {UINT32_MAX, 0}};

    for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
        if (i)
            begin();
        send_and_leave(heads[i], sizeof(heads[i]));
        cr_expect_eq(await(TRACE_MESSAGE_SITES), CAPTURE_REFUSED, "%zu", i);
        cr_expect_str_eq(captured.why, "its answer is not one of testlog's");
    }
}

Test(runners_capture_client, refuses_damaged_lists)
{
    static const char unended[] = "\1\0\0\0name";
    static const char short_site[] = SITES("name", "12345678a");

    answer_sites(unended, sizeof(unended) - 1);
    cr_expect_eq(await(TRACE_MESSAGE_SITES), CAPTURE_REFUSED);
    cr_expect_str_eq(captured.why, "its answer is damaged");
    answer_sites(short_site, sizeof(short_site) - 1);
    cr_expect_eq(await(TRACE_MESSAGE_SITES), CAPTURE_REFUSED);
}

/* The name becomes that of a folder. */
Test(runners_capture_client, keeps_a_name_that_a_file_can_have)
{
    static char text[5000] = "\1\0\0\0/";

    memset(text + 5, 'a', sizeof(text) - 6);
    answer_sites(text, sizeof(text));
    cr_expect_eq(await(TRACE_MESSAGE_SITES), CAPTURE_ANSWERED);
    cr_expect_eq(strlen(captured.name), 80);
    capture_free(&captured);
    begin();
    answer_sites("\1\0\0\0a/", 7);
    cr_expect_eq(await(TRACE_MESSAGE_SITES), CAPTURE_ANSWERED);
    cr_expect_str_eq(captured.name, "program");
}

Test(runners_capture_client, shortens_reasons)
{
    static char why[1000];

    memset(why, 'w', sizeof(why));
    answer(TRACE_MESSAGE_REFUSED, why, sizeof(why));
    cr_expect_eq(await(TRACE_MESSAGE_SITES), CAPTURE_REFUSED);
    cr_expect_eq(strlen(captured.why), sizeof(captured.why) - 1);
}

/* A byte now and then would keep it waiting for ever. */
Test(runners_capture_client, waits_10_seconds_for_the_rest_of_an_answer)
{
    const uint32_t head[] = {TRACE_MESSAGE_SITES, 1 << 20};

    cr_assert_eq(send(program, head, sizeof(head), 0), (ssize_t)sizeof(head));
    cr_expect_eq(await(TRACE_MESSAGE_SITES), CAPTURE_REFUSED);
    cr_expect_str_eq(captured.why, "Connection timed out");
}

/* A program that was stopped reads nothing. */
Test(runners_capture_client, gives_up_to_send)
{
    enum { SIZE = 8 << 20 };
    char *bytes = calloc(1, SIZE);

    cr_expect_eq(trace_message_send(captured.socket, TRACE_MESSAGE_START, bytes,
                                    SIZE, -1),
                 -1);
    cr_expect_eq(errno, ETIMEDOUT);
    free(bytes);
}

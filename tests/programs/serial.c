/* serial.c: tests that note in a file when they begin and end; SERIAL_FAILS
 * names those that fail. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <testlog/test_log.h>

static void note(const char *line)
{
    int fd = open("notes", O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);

    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, line, strlen(line)), (ssize_t)strlen(line));
    close(fd);
}

static void wait_a_moment(void)
{
    usleep(100000);
}

static bool must_fail(const char *name, int number)
{
    const char *fails = getenv("SERIAL_FAILS");

    return fails && !strcmp(fails, name) && number == 1;
}

ParameterizedTestParameters(serial, any)
{
    static int numbers[4] = {0, 1, 2, 3};

    return cr_make_param_array(int, numbers, 4);
}

PARAMETERIZED_TEST_LOG(int *number, serial, any)
{
    note("(");
    wait_a_moment();
    note(")");
    cr_assert_not(must_fail("any", *number));
}

ParameterizedTestParameters(serial, alone)
{
    static int numbers[3] = {0, 1, 2};

    return cr_make_param_array(int, numbers, 3);
}

PARAMETERIZED_TEST_LOG(int *number, serial, alone)
{
    static const char *const begins[] = {"0", "1", "2"};

    note(begins[*number]);
    wait_a_moment();
    note("!");
    cr_assert_not(must_fail("alone", *number));
}

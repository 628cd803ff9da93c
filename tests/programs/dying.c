/* dying.c: DYING_COUNT tests, each of which dies as the seed DYING_SEED decides
 * and notes its progress in the file DYING_PAGES. */
#include <fcntl.h>
#include <stdlib.h>

#include <testlog/test_log.h>

#include "dying.h"

static unsigned long variable(const char *name)
{
    const char *text = getenv(name);

    return text ? strtoul(text, NULL, 10) : 0;
}

static struct dying_page *page_of(int number)
{
    size_t count = variable("DYING_COUNT");
    int fd = open(getenv("DYING_PAGES"), O_RDWR | O_CLOEXEC);
    void *pages = mmap(NULL, count * sizeof(struct dying_page),
                       PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    close(fd);
    return pages == MAP_FAILED ? NULL : (struct dying_page *)pages + number;
}

ParameterizedTestParameters(dying, dies)
{
    static int numbers[1000];
    size_t count = variable("DYING_COUNT");

    for (int i = 0; i < 1000; i++)
        numbers[i] = i;
    return cr_make_param_array(int, numbers, count);
}

PARAMETERIZED_TEST_LOG(int *number, dying, dies)
{
    struct dying_page *page = page_of(*number);

    if (page)
        dying_run(page, dying_plan(variable("DYING_SEED"), (unsigned)*number));
}

/* program_share.c: what `testlog run` gives a program that runs beside others:
 * how many tests it may run in parallel, and whether its lines have colours
 * and links.
 */
#include <stdio.h>

#include "harness/criterion/watch/supervisor.h"
#include "harness/session.h"
#include "options.h"

void test_log_share_text(const struct test_log_share *share, char *text,
                         size_t size)
{
    snprintf(text, size, "%zu %d %d", share->jobs, (int)share->color,
             (int)share->links);
}

bool test_log_share_take(struct test_log_share *share)
{
    const struct test_log_session *session = test_log_session();
    int color = 0, links = 0;
    bool taken = session->share && test_log_session_from_parent(session) &&
                 sscanf(session->share, "%zu %d %d", &share->jobs, &color,
                        &links) == 3 &&
                 share->jobs;

    share->color = color;
    share->links = links;
    return taken;
}

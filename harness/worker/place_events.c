/* place_events.c: records events at places that have no call site of their own,
 * such as an assertion.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "harness/worker/worker.h"
#include "trace/record/recorder.h"

/* A place and the call site that its first event makes. */
struct place {
    struct trace_site site;
    struct place *next;
};

static struct trace_site *site_at(const char *file, unsigned line,
                                  enum trace_level level)
{
    static struct place *places;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct place *found;

    pthread_mutex_lock(&lock);
    for (found = places; found; found = found->next)
        if (found->site.line == line && found->site.level == level &&
            !strcmp(found->site.file, file))
            break;
    if (!found && (found = calloc(1, sizeof(*found)))) {
        found->site = (struct trace_site){.name = "",
                                          .file = strdup(file),
                                          .function = "",
                                          .line = line,
                                          .level = (uint8_t)level,
                                          .kind = TRACE_SITE_EVENT};
        found->next = places;
        places = found;
    }
    pthread_mutex_unlock(&lock);
    return found && found->site.file ? &found->site : NULL;
}

static bool record_at(const char *file, unsigned line, enum trace_level level,
                      const char *text)
{
    struct trace_site *site =
        trace_recording.open ? site_at(file, line, level) : NULL;

    if (site)
        trace_message(site, text);
    return site;
}

void test_log_record_error(const char *file, unsigned line, const char *text)
{
    record_at(file, line, TRACE_LEVEL_ERROR, text);
}

bool test_log_record_whole(const char *file, unsigned line, const char *text)
{
    return record_at(file, line, TRACE_LEVEL_TRACE, text);
}

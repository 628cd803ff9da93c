/* ownership.c: finds out whether another tool profiles this process.
 *
 * A process has one client of CUPTI, but functions of activities fail for none:
 * the latest client gets all records. Only subscribing tells whether there is
 * another one. We unsubscribe immediately, because the program's own profiler
 * may subscribe later.
 */
#include "cupti.h"

static void ignore(void *context, int domain, uint32_t id, const void *data)
{
    (void)context;
    (void)domain;
    (void)id;
    (void)data;
}

/* Subscribes for a moment. Writes the name of another subscriber, "" if CUPTI
 * tells none. */
static int try_to_subscribe(char other[CUPTI_NAME_ROOM])
{
    struct cupti_subscriber own = {sizeof(own), "testlog", other,
                                   CUPTI_NAME_ROOM};
    void *handle = NULL;
    int result;

    memset(other, 0, CUPTI_NAME_ROOM);
    result = cupti.subscribe_by_name
                 ? cupti.subscribe_by_name(&handle, ignore, NULL, &own)
                 : cupti.subscribe(&handle, ignore, NULL);
    other[CUPTI_NAME_ROOM - 1] = '\0';
    if (!result)
        cupti.unsubscribe(handle);
    return result;
}

static bool is_taken(char other[CUPTI_NAME_ROOM])
{
    static const char prefix[] = "CUPTI for "; /* CUPTI's own */
    size_t size = sizeof(prefix) - 1;

    if (try_to_subscribe(other) !=
        CUPTI_RESULT_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
        return false;
    if (!strncmp(other, prefix, size))
        memmove(other, other + size, strlen(other + size) + 1);
    return true;
}

/* PyTorch's profiler contains Kineto, which need not subscribe. */
static const char *guess(void)
{
    char path[PATH_MAX];

    return cupti_loaded("libkineto", path) ||
                   cupti_loaded("libtorch_cuda", path)
               ? "another profiler, maybe torch.profiler"
               : "another profiler";
}

/* The calls that follow report other errors of subscribing. */
bool cupti_is_free(void)
{
    char other[CUPTI_NAME_ROOM];

    if (!is_taken(other))
        return true;
    cupti_fail("busy", "GPU trace off: in use by %s",
               other[0] ? other : guess());
    return false;
}

void cupti_check_owner(bool waited, bool received)
{
    char other[CUPTI_NAME_ROOM], text[256];
    bool taken = !cupti_watches_nodes() && is_taken(other);

    if (received && taken) {
        snprintf(text, sizeof(text),
                 "%s is another client of CUPTI: testlog has the records of "
                 "GPUs, and it has none",
                 other[0] ? other : guess());
        cupti.host->say(TRACE_LEVEL_INFO, text);
    }
    if (received || (!waited && !taken))
        return;
    cupti_fail("busy", "GPU trace incomplete: in use by %s",
               other[0] ? other : guess());
    cupti.host->say(TRACE_LEVEL_WARN, cupti.notice);
    cupti_note_state();
}

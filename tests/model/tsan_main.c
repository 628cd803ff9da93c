/* tsan_main.c: threads record while others turn the sites off and on, and read;
 * with and without a filter. They also take buffers as CUPTI does, while
 * another one has some ready and looks into them. Built with ThreadSanitizer.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <testlog/log.h>

#include "trace/base/unix_socket.h"
#include "trace/capture/server.h"
#include "trace/device.h"
#include "trace/devices/cupti/cupti.h"
#include "trace/format.h"
#include "trace/read/reader.h"

enum { WORKERS = 4, ROUNDS = 2000, CAPTURES = 30 };

static char path[64];
static bool done;
static unsigned rounds;  /* that threads have recorded */
static unsigned buffers; /* that were given back */
static struct trace_span_ref shared, stray;

static void print_number(struct trace_text *out, const void *number)
{
    trace_text_printf(out, "#%d", *(const int *)number);
}

/* Ends the span that the previous caller began on any thread. */
static void end_stray(void)
{
    struct trace_span_ref mine = trace_span_begin(INFO, "stray"), other;

    __atomic_exchange(&stray, &mine, &other, __ATOMIC_ACQ_REL);
    trace_span_end(other);
}

/* Puts an activity, as a device's library does on a thread of its own. */
static void put_activity(int i)
{
    static const char *const fields[] = {"bytes"};
    static const char *const names[] = {"add", "scale", "sort"};
    const struct trace_device_host *host = trace_device_host();
    struct trace_value value = trace_u64_((uint64_t)i);
    struct trace_activity activity = {
        .at = {.begin = host->now(),
               .thread = (uint32_t)gettid(),
               .kind = TRACE_ACTIVITY_KERNEL,
               .on_device = 1},
        .end = host->now(),
        .span = host->current(),
        .name = names[i % 3],
        .fields = fields,
        .field_count = 1,
        .values = &value,
    };

    trace_device_put(&activity);
}

static pthread_mutex_t ending = PTHREAD_MUTEX_INITIALIZER;

static void use_buffer(void)
{
    struct cupti_buffer *buffer = cupti_raw_begin() ? cupti_raw_take() : NULL;

    if (!buffer)
        return;
    pthread_mutex_lock(&ending);
    cupti_raw_end(buffer);
    pthread_mutex_unlock(&ending);
    __atomic_add_fetch(&buffers, 1, __ATOMIC_RELAXED);
}

static void *prepare_buffers(void *unused)
{
    (void)unused;
    while (!__atomic_load_n(&done, __ATOMIC_RELAXED)) {
        cupti_raw_prepare();
        pthread_mutex_lock(&ending);
        cupti_raw_look();
        pthread_mutex_unlock(&ending);
        usleep(200);
    }
    return NULL;
}

static void *work(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        trace_span(INFO, "round", ("i", i), ("late", trace_empty()));
        trace_event(DEBUG, "event", ("n", trace_display(print_number, &i)));
        log_info("%d of %s", i, "many");
        trace_record(trace_span_current(), ("late", i));
        trace_record(shared, ("n", i));
        trace_span_enter(shared);
        trace_event(TRACE, "within", (i));
        end_stray();
        put_activity(i);
        if (i % 20 == 0)
            use_buffer();
        trace_span_end(trace_span_begin(INFO, "handle"));
    }
    return NULL;
}

static void *toggle(void *unused)
{
    (void)unused;
    while (!__atomic_load_n(&done, __ATOMIC_RELAXED)) {
        trace_disable();
        usleep(100);
        trace_enable();
        usleep(300);
    }
    return NULL;
}

/* Starts short threads. */
static void *begin_threads(void *unused)
{
    (void)unused;
    for (int i = 0; i < 20; i++) {
        pthread_t thread;

        if (!pthread_create(&thread, NULL, work, NULL))
            pthread_join(thread, NULL);
        if (__atomic_load_n(&done, __ATOMIC_RELAXED))
            break;
    }
    return NULL;
}

static size_t read_all(void)
{
    struct trace_reader *reader = trace_reader_open(path);
    struct trace_entry entry;
    size_t count = 0;

    while (reader && trace_reader_next(reader, &entry))
        count++;
    trace_reader_close(reader);
    return count;
}

static void *read_on(void *unused)
{
    (void)unused;
    while (!__atomic_load_n(&done, __ATOMIC_RELAXED))
        read_all();
    return NULL;
}

static void run(void)
{
    pthread_t workers[WORKERS], others[4];

    pthread_create(&others[0], NULL, toggle, NULL);
    pthread_create(&others[1], NULL, begin_threads, NULL);
    pthread_create(&others[2], NULL, read_on, NULL);
    pthread_create(&others[3], NULL, prepare_buffers, NULL);
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, work, NULL);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    __atomic_store_n(&done, true, __ATOMIC_RELAXED);
    for (int i = 0; i < 4; i++)
        pthread_join(others[i], NULL);
}

/* Records everything with a filter; returns the number of entries. */
static size_t record(const char *filter)
{
    struct trace_options options = {.limit = UINT64_C(256) << 20};
    struct log_options log = {.show = "off", .record = filter};
    size_t entries;

    __atomic_store_n(&done, false, __ATOMIC_RELAXED);
    if (log_subscribe(&log) || trace_open(path, &options))
        return 0;
    shared = trace_span_new(INFO, "shared", ("n", trace_empty()));
    stray = shared;
    run();
    trace_close();
    entries = read_all();
    unlink(path);
    return entries;
}

/* ---- Captures ---- */

static void *work_on(void *unused)
{
    (void)unused;
    while (!__atomic_load_n(&done, __ATOMIC_RELAXED)) {
        trace_span(INFO, "round", ("late", trace_empty()));
        log_info("in a %s", "round");
        trace_record(trace_span_current(), ("late", 1));
        __atomic_add_fetch(&rounds, 1, __ATOMIC_RELAXED);
        usleep(20);
    }
    return NULL;
}

/* Waits until some thread has begun and ended a round. */
static void await_rounds(void)
{
    unsigned least = __atomic_load_n(&rounds, __ATOMIC_RELAXED) + 2 * WORKERS;

    while ((int)(__atomic_load_n(&rounds, __ATOMIC_RELAXED) - least) < 0)
        usleep(100);
}

static bool expect(int client, uint32_t kind, struct trace_message *message)
{
    return !trace_message_receive(client, message, 1 << 20) &&
           message->kind == kind;
}

/* Captures the process once, as a client that wants everything; returns the
 * number of entries. */
static size_t capture(const char *socket)
{
    int client = trace_unix_connect(socket), file;
    uint32_t version = TRACE_CAPTURE_VERSION, pid;
    struct trace_start_request request = {TRACE_LEVEL_TRACE, 0};
    struct trace_text text = {0};
    struct trace_message message;
    struct trace_site_list list;
    const char *program;
    size_t entries;

    trace_message_send(client, TRACE_MESSAGE_HELLO, &version, 4, -1);
    if (!expect(client, TRACE_MESSAGE_SITES, &message) ||
        trace_site_list_read(&message, &pid, &program, &list))
        return 0;
    request.count = (uint32_t)list.count;
    trace_text_add(&text, &request, sizeof(request));
    for (size_t i = 0; i <= list.count; i++)
        trace_text_char(&text, i < list.count);
    trace_site_list_free(&list);
    trace_message_free(&message);
    file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    trace_message_send(client, TRACE_MESSAGE_START, text.data, text.size, file);
    trace_text_free(&text);
    close(file);
    if (expect(client, TRACE_MESSAGE_STARTED, &message))
        await_rounds();
    trace_message_free(&message);
    trace_message_send(client, TRACE_MESSAGE_STOP, NULL, 0, -1);
    expect(client, TRACE_MESSAGE_STOPPED, &message);
    trace_message_free(&message);
    close(client);
    entries = read_all();
    unlink(path);
    return entries;
}

static bool capture_often(void)
{
    pthread_t workers[WORKERS];
    char socket[80];
    bool good;

    snprintf(socket, sizeof(socket), "%s.sock", path);
    __atomic_store_n(&done, false, __ATOMIC_RELAXED);
    trace_subscribe(NULL);
    good = !trace_server_start(socket);
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, work_on, NULL);
    for (int i = 0; good && i < CAPTURES; i++)
        good = capture(socket) > 0;
    __atomic_store_n(&done, true, __ATOMIC_RELAXED);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    return good && !trace_server_stop();
}

/* Prints what is missing. */
static bool fail(const char *missing)
{
    printf("nothing was %s\n", missing);
    return false;
}

int main(void)
{
    struct trace_profiler profiler = trace_profiler_of("gpu_raw=true");
    bool good;

    trace_device_configure(&profiler);
    cupti.host = trace_device_host();

    snprintf(path, sizeof(path), "/tmp/testlog-tsan-%ld", (long)getpid());
    good = (record("trace") &&
            record("info,[shared{n=7}]=trace,[round{late>=9}]=debug,{n~=7$},"
                   "^[stray]=debug,![handle],!/^1. of/")) ||
           fail("recorded");
    good = good && (buffers || fail("written in buffers"));
    good = good && (capture_often() || fail("captured"));
    return good ? 0 : 1;
}

/* commands.c: follows commands from their calls to their ends on a device. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "opencl.h"
#include "trace/base/values.h"

enum { NAP_NS = 100000 };
#define PATIENCE_NS   UINT64_C(2000000000)
#define IMPATIENCE_NS UINT64_C(500000000) /* if no command runs */

static uint64_t unfinished, finished;   /* atomic: commands */
static uint64_t kernels;                /* atomic: those that are unfinished */
static uint64_t failed, failed_kernels; /* atomic: of these, without a call */

/* ---- Beginning ---- */

/* A queue that the layer has not seen is not followed. The correlation becomes
 * a new one by each call, also by one that fails. */
struct opencl_command opencl_command_begin(const char *function,
                                           cl_command_queue queue,
                                           cl_event *given, unsigned kind,
                                           const char *name)
{
    static uint32_t last; /* atomic: correlation */
    struct opencl_command command = {.given = given,
                                     .name = name,
                                     .kind = (uint16_t)kind,
                                     .call = opencl_call(function)};

    if (!command.call.on || !opencl_queue_find(queue, &command.place))
        return command;
    command.correlation =
        trace_backends[TRACE_BACKEND_opencl].first_correlation |
        __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
    command.recording = __atomic_load_n(&opencl.recording, __ATOMIC_ACQUIRE);
    command.own = !given;
    return command;
}

/* ---- The activity ---- */

enum { THREE = 40 };

static const char *print_three(char room[THREE], const uint32_t three[3])
{
    snprintf(room, THREE, "(%u, %u, %u)", three[0], three[1], three[2]);
    return room;
}

static void print_time(char *room, size_t size, uint64_t ns)
{
    static const char *const units[] = {"ns", "µs", "ms", "s"};
    uint64_t tenths = ns * 10;
    size_t unit = 0;

    while (tenths >= 10000 && unit < 3) {
        tenths /= 1000;
        unit++;
    }
    if (unit)
        snprintf(room, size, "%llu.%llu%s", (unsigned long long)tenths / 10,
                 (unsigned long long)tenths % 10, units[unit]);
    else
        snprintf(room, size, "%lluns", (unsigned long long)ns);
}

/* When a command was queued, submitted, started and ended, in ns of its device.
 */
struct times {
    cl_ulong queued, start, end;
};

static bool ask_times(cl_event event, struct times *times)
{
    return !opencl.next.GetEventProfilingInfo(
               event, OPENCL_PROFILING_COMMAND_QUEUED, sizeof(times->queued),
               &times->queued, NULL) &&
           !opencl.next.GetEventProfilingInfo(
               event, OPENCL_PROFILING_COMMAND_START, sizeof(times->start),
               &times->start, NULL) &&
           !opencl.next.GetEventProfilingInfo(
               event, OPENCL_PROFILING_COMMAND_END, sizeof(times->end),
               &times->end, NULL) &&
           times->queued && times->start && times->end >= times->start;
}

/* Without times, a command is placed from its call until now. */
static bool place(struct trace_activity *activity,
                  const struct opencl_command *command, cl_event event,
                  struct times *times)
{
    struct opencl_stamp stamp = {command->call.begin, command->call.end, 0};

    activity->at.begin = command->call.end;
    activity->end = opencl.host->now();
    if (!command->place.profiled || !ask_times(event, times)) {
        *times = (struct times){0};
        return false;
    }
    stamp.queued = times->queued;
    return opencl_clock_ticks(command->place.id, command->place.device, &stamp,
                              times->end, &activity->end) &&
           opencl_clock_ticks(command->place.id, command->place.device, &stamp,
                              times->start, &activity->at.begin);
}

static void record(const struct opencl_command *command, cl_event event,
                   cl_int status)
{
    /* The fields point to these. */
    char device[OPENCL_DEVICE_ROOM], count[THREE], block[THREE];
    char rate[32], delay[32], failure[16];
    uint64_t bytes = command->bytes, ns;
    struct opencl_fields fields;
    struct times times;
    bool timed;

    fields.value_count = 0;
    fields.activity = (struct trace_activity){
        .at = {.device = command->place.device,
               .context = command->place.context,
               .stream = command->place.queue,
               .correlation = command->correlation,
               .kind = command->kind,
               .on_device = 1,
               .launched = command->count[0] != 0},
        .span = command->call.span,
        .level = status < 0 ? TRACE_LEVEL_ERROR : TRACE_LEVEL_TRACE,
        .name = command->name,
    };
    timed = place(&fields.activity, command, event, &times);
    ns = times.end - times.start;
    if (command->count[0]) {
        fields.values[0] = opencl_display(print_three(count, command->count));
        fields.values[1] = trace_u64_(command->place.queue);
        fields.values[2] = trace_site_name();
        fields.value_count = TRACE_LAUNCH_FIELDS;
    }
    opencl_add_device(&fields, command->place.device, device);
    opencl_add_number(&fields, "context", command->place.context);
    if (!command->count[0])
        opencl_add_number(&fields, "stream", command->place.queue);
    if (command->block[0])
        opencl_add(&fields, "block",
                   opencl_display(print_three(block, command->block)));
    if (command->first)
        opencl_add_number(&fields, "first", 1);
    if (bytes)
        opencl_add_number(&fields, "bytes", bytes);
    if (bytes && ns) {
        snprintf(rate, sizeof(rate), "%llu.%llu GB/s",
                 (unsigned long long)(bytes / ns),
                 (unsigned long long)(bytes * 10 / ns % 10));
        opencl_add(&fields, "throughput", opencl_display(rate));
    }
    if (command->kind == TRACE_ACTIVITY_KERNEL && times.start >= times.queued) {
        print_time(delay, sizeof(delay), times.start - times.queued);
        opencl_add(&fields, "queue_delay", opencl_display(delay));
    }
    opencl_add_number(&fields, "correlation", command->correlation);
    if (status < 0)
        opencl_add_result(&fields, status, failure);
    if (!timed)
        opencl_add(&fields, "ts_estimated", trace_bool(true));
    if (!timed && status >= 0) /* a failed command has no times */
        opencl_count(&opencl.counts.bad_times, 1);
    opencl_put(&fields);
}

/* ---- Ending ---- */

/* A command until it has ended. Some drivers never call back for one that
 * failed, so it may stay in the list. */
struct followed {
    struct opencl_command command;
    struct followed *next, **from; /* what points to it */
};

static struct followed *list;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list */

static void count_unfinished(const struct opencl_command *command, int by)
{
    if (command->kind == TRACE_ACTIVITY_KERNEL)
        __atomic_add_fetch(&kernels, (uint64_t)by, __ATOMIC_RELEASE);
    __atomic_add_fetch(&unfinished, (uint64_t)by, __ATOMIC_RELEASE);
}

static void count_failed(const struct opencl_command *command, int by)
{
    if (command->kind == TRACE_ACTIVITY_KERNEL)
        __atomic_add_fetch(&failed_kernels, (uint64_t)by, __ATOMIC_RELEASE);
    __atomic_add_fetch(&failed, (uint64_t)by, __ATOMIC_RELEASE);
}

static void enter(struct followed *one)
{
    pthread_mutex_lock(&lock);
    one->next = list;
    one->from = &list;
    if (list)
        list->from = &one->next;
    list = one;
    pthread_mutex_unlock(&lock);
    count_unfinished(&one->command, 1);
}

/* The lock is held. */
static void remove_locked(struct followed *one)
{
    *one->from = one->next;
    if (one->next)
        one->next->from = one->from;
    count_unfinished(&one->command, -1);
}

static void note_end(const struct opencl_command *command, cl_event event,
                     cl_int status)
{
    if (!opencl_is_on() ||
        command->recording !=
            __atomic_load_n(&opencl.recording, __ATOMIC_ACQUIRE))
        return;
    record(command, event, status);
    if (command->kind == TRACE_ACTIVITY_KERNEL)
        opencl_count(&opencl.counts.launched, 1);
    if (command->first)
        opencl_flush_at_exit();
}

/* Runs on a thread of the driver, or on the one that enqueues. */
static void on_complete(cl_event event, cl_int status, void *data)
{
    struct followed *one = data;
    bool is_first;

    pthread_mutex_lock(&lock);
    is_first = !one->command.ended;
    one->command.ended = true;
    pthread_mutex_unlock(&lock);
    if (is_first)
        note_end(&one->command, event, status);
    if (is_first && one->command.own)
        opencl.next.ReleaseEvent(event);
    pthread_mutex_lock(&lock);
    if (!is_first)
        count_failed(&one->command, -1);
    remove_locked(one);
    pthread_mutex_unlock(&lock);
    free(one);
    __atomic_add_fetch(&finished, 1, __ATOMIC_RELAXED);
}

/* Without memory, or if the driver refuses, the command is not recorded. */
static void follow(const struct opencl_command *command, cl_event event)
{
    struct followed *one = malloc(sizeof(*one));

    if (one) {
        *one = (struct followed){.command = *command};
        one->command.event = event;
        enter(one);
    }
    if (one &&
        !opencl.next.SetEventCallback(event, OPENCL_COMPLETE, on_complete, one))
        return;
    if (one) {
        pthread_mutex_lock(&lock);
        remove_locked(one);
        pthread_mutex_unlock(&lock);
    }
    free(one);
    if (command->own)
        opencl.next.ReleaseEvent(event);
}

/* The recorder counts a kernel as lost after the end of the recording. */
static void lose(const struct opencl_command *command)
{
    struct trace_activity activity = {.at = {.begin = opencl.host->now(),
                                             .device = command->place.device,
                                             .kind = command->kind,
                                             .launched = 1},
                                      .name = command->name};

    if (command->kind == TRACE_ACTIVITY_KERNEL)
        opencl.host->put(&activity);
}

bool opencl_command_end(struct opencl_command *command, cl_int result)
{
    struct opencl_call *call = &command->call, wait;
    cl_event event;

    if (!command->correlation) {
        opencl_call_end(call, TRACE_ACTIVITY_RUNTIME, result,
                        TRACE_DEVICES_opencl, 0);
        return false;
    }
    call->end = opencl.host->now();
    opencl_call_end(call, TRACE_ACTIVITY_RUNTIME, result, command->place.device,
                    command->correlation);
    if (command->blocking && !result) { /* it waits from begin to end */
        wait = *call;
        wait.name = "Wait";
        opencl_call_end(&wait, TRACE_ACTIVITY_SYNC, OPENCL_SUCCESS,
                        command->place.device, 0);
    }
    if (result || (!command->own && !command->given))
        return false;
    if (command->kind == TRACE_ACTIVITY_KERNEL)
        opencl_count(&opencl.counts.launches, 1);
    event = command->own ? command->event : *command->given;
    if (opencl.host->recording()) {
        follow(command, event);
    } else {
        lose(command);
        if (command->own)
            opencl.next.ReleaseEvent(event);
    }
    return command->blocking;
}

/* ---- Waiting ---- */

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t left_of(const uint64_t *count, const uint64_t *without_call)
{
    return __atomic_load_n(count, __ATOMIC_ACQUIRE) -
           __atomic_load_n(without_call, __ATOMIC_ACQUIRE);
}

void opencl_commands_in_child(void)
{
    pthread_mutex_init(&lock, NULL);
}

bool opencl_commands_run(void)
{
    return left_of(&unfinished, &failed);
}

/* Returns how a command runs, if the event is ours; we hold it. */
static cl_int status_of(const struct followed *one)
{
    cl_int status = OPENCL_QUEUED;

    if (one->command.own)
        opencl.next.GetEventInfo(one->command.event,
                                 OPENCL_EVENT_COMMAND_EXECUTION_STATUS,
                                 sizeof(status), &status, NULL);
    return status;
}

/* Ends the commands that have failed without a call; returns whether one runs
 * on a device. Its memory stays in the list, because a call may still come. */
static bool look(void)
{
    bool runs = false;

    pthread_mutex_lock(&lock);
    for (struct followed *one = list; one; one = one->next) {
        cl_int status = one->command.ended ? OPENCL_QUEUED : status_of(one);

        runs |= status == OPENCL_RUNNING;
        if (status >= 0)
            continue;
        one->command.ended = true;
        note_end(&one->command, one->command.event, status);
        opencl.next.ReleaseEvent(one->command.event);
        count_failed(&one->command, 1);
    }
    pthread_mutex_unlock(&lock);
    return runs;
}

/* A command may wait for an event that the program never sets, so the wait ends
 * when no command has ended for a while, sooner if none runs; and only a new
 * one is waited for again. */
void opencl_commands_wait(void)
{
    static uint64_t given_up; /* how many commands were left */
    const struct timespec nap = {0, NAP_NS};
    uint64_t ended = 0, since = now_ns(), rest;
    bool runs = look();

    while ((rest = left_of(&unfinished, &failed)) && rest != given_up &&
           now_ns() - since < (runs ? PATIENCE_NS : IMPATIENCE_NS)) {
        uint64_t now = __atomic_load_n(&finished, __ATOMIC_RELAXED);

        if (now != ended)
            since = now_ns();
        ended = now;
        nanosleep(&nap, NULL);
        runs = look();
    }
    given_up = rest;
    opencl.counts.pending = rest;
    opencl.counts.unfinished = left_of(&kernels, &failed_kernels);
}

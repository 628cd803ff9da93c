/* buffers.c: hands buffers to CUPTI and flushes them.
 *
 * CUPTI requests and returns buffers on any thread, maybe within one of the
 * program's calls, so the callbacks only push them on a list. A thread of ours,
 * which starts with the first buffer, flushes CUPTI and decodes: seldom,
 * because it takes processor time and locks from the program, but at once if
 * somebody wants what is held back.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "cupti.h"
#include "pm.h"

enum {
    LARGE = 4 << 20,   /* each one that is asked for takes 340 µs on an H100 */
    SMALL = 256 << 10, /* since CUDA 13, each thread of the program has one */
    SPARE = 64 << 10,  /* for a buffer whose records are dropped */
    PLENTY = 32 << 20, /* from here on, buffers are small */
    MOST = 160 << 20,
    ROUND = 8 << 20,   /* is decoded at a time */
    HURRY = 32 << 20,  /* wakes the thread */
    LOOK_MS = 250,     /* between two looks whether the driver has started */
    FIRST_LOOK_MS = 4, /* into buffers; then twice as long each time */
    LOOKS_SOON = 6,
    PERIOD_MS = 2000, /* between two flushes */
};

static struct cupti_buffer *full; /* atomic; a stack */
static size_t undecoded;          /* atomic: bytes */
static unsigned received;         /* atomic: buffers with records, ever */

/* Held while decoding; never in a callback. */
static pthread_mutex_t decoding = PTHREAD_MUTEX_INITIALIZER;

/* ---- The thread ---- */

static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER; /* or ending */
static pthread_t thread;
static bool running;
static bool ending; /* atomic */
static bool
    begun; /* atomic: the thread was started, or must not start any more */
static bool requested; /* atomic: a buffer, since the last flush */
static bool asking;    /* atomic: the thread waits for CUPTI's answer */

static void decode(bool last);

static bool must_end(void)
{
    return __atomic_load_n(&ending, __ATOMIC_ACQUIRE);
}

/* Calls of CUPTI may never return. */
static void ask(void (*question)(void))
{
    __atomic_store_n(&asking, true, __ATOMIC_RELEASE);
    question();
    __atomic_store_n(&asking, false, __ATOMIC_RELEASE);
}

static void flush(void)
{
    cupti.flush_all(0);
}

/* Has a buffer ready. Those in the recording are looked into, too: a module may
 * be unloaded with the texts that records point to. */
static void prepare(void)
{
    if (cupti_raw_begin()) {
        cupti_raw_prepare();
        pthread_mutex_lock(&decoding);
        cupti_raw_look();
        pthread_mutex_unlock(&decoding);
    } else if (cupti_buffers_used() < PLENTY) {
        cupti_buffer_prepare(LARGE);
    }
}

/* Returns how long the thread waits between two looks, in ns. At first it looks
 * often, so that a test that is killed early has the names of its kernels. */
static uint64_t time_to_look(void)
{
    static unsigned looks;

    return UINT64_C(1000000) * (cupti_raw_is_on() && looks < LOOKS_SOON
                                    ? FIRST_LOOK_MS << looks++
                                    : LOOK_MS);
}

/* Waits until it is time to decode, and meanwhile prepares what the program
 * would have to wait for. Returns how often somebody has asked. */
static uint32_t wait(uint32_t before)
{
    uint64_t until = cupti_clock_now() + UINT64_C(1000000) * PERIOD_MS;
    uint32_t asked;

    do {
        ask(cupti_enable_late); /* until the driver has started */
        prepare();
        if (!must_end())
            cupti.host->wait(before, time_to_look());
        asked = cupti.host->asked();
    } while (!must_end() && asked == before && !cupti.host->live() &&
             cupti_clock_now() < until);
    return asked;
}

static void *run(void *at_start)
{
    uint32_t asked = (uint32_t)(uintptr_t)at_start;

    while (cupti_is_on()) {
        asked = wait(asked);
        if (must_end())
            return NULL;
        decode(false); /* the complete ones first: flushing may take long */
        ask(flush);
        decode(false);
        cupti.host->met(asked);
    }
    ask(cupti_disable_all); /* decoding has stopped */
    return NULL;
}

/* The thread blocks all signals: they are the program's. */
void cupti_begin_flusher(void)
{
    sigset_t all, before;
    uint32_t asked;

    if (__atomic_exchange_n(&begun, true, __ATOMIC_ACQ_REL))
        return;
    /* Again: CUDA's own handlers, which end it, must run later. */
    cupti_flush_at_exit();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_mutex_lock(&starting);
    __atomic_store_n(&ending, false, __ATOMIC_RELEASE);
    asked = cupti.host->asked(); /* before anybody can mean us */
    cupti.host->hold(true);
    running = !pthread_create(&thread, NULL, run, (void *)(uintptr_t)asked);
    if (running)
        pthread_setname_np(thread, "testlog-gpu");
    else
        cupti.host->hold(false);
    cupti_pm_begin();
    pthread_mutex_unlock(&starting);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Returns false if the thread is stuck in CUPTI. Decoding a long backlog may
 * take any time. */
static bool end_flusher(void)
{
    bool was_running;

    pthread_mutex_lock(&starting);
    was_running = running;
    running = false;
    __atomic_store_n(&ending, true, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&starting);
    if (!was_running)
        return true;
    cupti.host->ask();
    while (!cupti_join(thread))
        if (__atomic_load_n(&asking, __ATOMIC_ACQUIRE))
            return false;
    return true;
}

/* ---- Callbacks ---- */

/* Returns a buffer for CUPTI; NULL if it gets none. */
static struct cupti_buffer *choose(void)
{
    size_t used = cupti_buffers_used();
    bool enough = used >= MOST;
    bool raw = cupti_raw_begin();
    struct cupti_buffer *buffer = raw ? cupti_raw_take() : NULL;

    if (buffer)
        return buffer;
    if (!raw && !enough)
        return cupti_buffer_take(used >= PLENTY ? SMALL : LARGE, false);
    if (raw)
        cupti.host->raw_lost();
    return cupti.version >= CUPTI_NULL_BUFFER ? NULL
                                              : cupti_buffer_take(SPARE, true);
}

void cupti_buffer_requested(uint8_t **bytes, size_t *size, size_t *most)
{
    int error = errno;
    struct cupti_buffer *buffer = choose();

    *most = 0; /* as many as fit */
    *bytes = buffer ? buffer->bytes : NULL;
    *size = buffer ? buffer->size : 0;
    __atomic_store_n(&requested, true, __ATOMIC_RELEASE);
    if (cupti_is_on())
        cupti_begin_flusher();
    if (buffer && !buffer->spare)
        cupti.host->wake(); /* to prepare another one */
    errno = error;
}

/* Another tool may have given CUPTI a buffer before we took over, or takes
 * over now. */
static bool is_ours(const struct cupti_buffer *buffer)
{
    const char *last = (const char *)(&buffer->self + 1) - 1;
    int error = errno;
    bool readable = cupti_is_readable(&buffer->self) && cupti_is_readable(last);

    errno = error;
    return readable && buffer->self == buffer;
}

void cupti_buffer_completed(void *context, uint32_t stream, uint8_t *bytes,
                            size_t size, size_t valid)
{
    struct cupti_buffer *buffer;

    (void)context;
    (void)stream;
    if (!bytes)
        return;
    buffer = (void *)(bytes - offsetof(struct cupti_buffer, bytes));
    if (!is_ours(buffer) && !cupti_raw_adopt(buffer, size))
        return;
    buffer->head.valid = valid < size ? valid : size;
    __atomic_add_fetch(&received, valid > 0, __ATOMIC_RELEASE);
    if (!cupti_is_on()) { /* nobody would decode it */
        cupti_buffer_give_back(buffer);
        return;
    }
    buffer->next = __atomic_load_n(&full, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&full, &buffer->next, buffer, true,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
    if (__atomic_add_fetch(&undecoded, buffer->head.valid, __ATOMIC_RELAXED) >=
        HURRY)
        cupti.host->ask();
}

/* ---- Decoding ---- */

/* Returns the completed buffers in the order of completion. */
static struct cupti_buffer *take(void)
{
    struct cupti_buffer *last =
        __atomic_exchange_n(&full, NULL, __ATOMIC_ACQUIRE);
    struct cupti_buffer *first = NULL;

    while (last) {
        struct cupti_buffer *next = last->next;

        last->next = first;
        first = last;
        last = next;
    }
    return first;
}

/* Ends those that lie in the recording, and returns the others. */
static struct cupti_buffer *end_raw(struct cupti_buffer *buffers)
{
    struct cupti_buffer *others = NULL, **end = &others;

    while (buffers) {
        struct cupti_buffer *next = buffers->next;

        if (buffers->is_raw) {
            __atomic_sub_fetch(&undecoded, buffers->head.valid,
                               __ATOMIC_RELAXED);
            cupti_raw_end(buffers);
        } else {
            *end = buffers;
            end = &buffers->next;
        }
        buffers = next;
    }
    *end = NULL;
    return others;
}

/* Splits off the first ROUND bytes: a round needs all of its calls at once, and
 * only a limited number of calls is kept. */
static struct cupti_buffer *cut(struct cupti_buffer **rest, size_t *size)
{
    struct cupti_buffer *first = *rest, *behind, **end = rest;

    for (*size = 0; *end && *size < ROUND; end = &(*end)->next)
        *size += (*end)->head.valid;
    behind = *end;
    *end = NULL; /* this is `rest` if there are none */
    *rest = behind;
    return first;
}

/* Counts its records as dropped. */
static void count_spare(const struct cupti_buffer *buffer)
{
    struct cupti_decoder *decoder = &cupti.decoder;
    struct cupti_record record = {0};

    while (cupti_next(decoder->library.strides, buffer->bytes,
                      buffer->head.valid, &record) &&
           record.at)
        decoder->counts.dropped++;
}

static void decode_round(struct cupti_buffer *buffers, bool last)
{
    struct cupti_decoder *decoder = &cupti.decoder;
    const struct cupti_range *ranges = NULL, **end = &ranges;

    cupti_clock_compare(&decoder->clock, cupti.host->anchor());
    decoder->off = !cupti_is_on();
    for (struct cupti_buffer *one = buffers; one; one = one->next) {
        if (one->spare) {
            count_spare(one);
            continue;
        }
        one->range = (struct cupti_range){NULL, one->bytes, one->head.valid};
        *end = &one->range;
        end = &one->range.next;
    }
    cupti_decode(decoder, ranges, last);
    while (buffers) {
        struct cupti_buffer *next = buffers->next;

        cupti_buffer_give_back(buffers);
        buffers = next;
    }
}

static void decode(bool last)
{
    struct cupti_buffer *rest, *some;
    size_t size;

    pthread_mutex_lock(&decoding);
    rest = end_raw(take());
    cupti_raw_look();
    if (rest || last)
        do {
            some = cut(&rest, &size);
            decode_round(some, last && !rest);
            __atomic_sub_fetch(&undecoded, size, __ATOMIC_RELAXED);
        } while (rest);
    pthread_mutex_unlock(&decoding);
}

/* ---- Losses ---- */

/* Calls CUPTI without holding a lock. */
static void count_dropped(void)
{
    size_t dropped = 0;

    if (!cupti.dropped(NULL, 0, &dropped))
        cupti.decoder.counts.dropped += dropped;
}

/* A record of our wait must have arrived, unless it was dropped. */
static void check_owner(bool waited, unsigned received_before)
{
    bool recorded = (cupti.enabled[CUPTI_KIND_DRIVER] ||
                     cupti.enabled[CUPTI_KIND_SYNCHRONIZATION]) &&
                    !cupti.decoder.counts.dropped;

    cupti_check_owner(waited && recorded,
                      __atomic_load_n(&received, __ATOMIC_ACQUIRE) !=
                          received_before);
}

static bool stuck; /* the thread */

static void flush_last(void)
{
    unsigned before = __atomic_load_n(&received, __ATOMIC_ACQUIRE);
    bool waited = cupti_wait_for_devices();

    cupti_raw_note_own();
    cupti_pm_stop();
    stuck = !end_flusher();
    if (stuck) {
        cupti.host->say(TRACE_LEVEL_WARN,
                        "CUPTI does not answer; its pending records are lost");
        return;
    }
    cupti.flush_all(1);
    count_dropped();
    check_owner(waited, before);
    decode(true);
    cupti.host->hold(false);
    cupti_pm_end();
    if (!cupti_is_on())
        return; /* it was stopped */
    cupti_refuse_late();
    if (cupti_raw_is_on()) {
        cupti_raw_finish();
        return;
    }
    cupti_note_losses(&cupti.decoder);
    cupti_say_losses(&cupti.decoder);
    cupti_note_limits(&cupti.decoder);
}

/* A program's end may flush twice; the second time there may be nothing new.
 * From now on no thread starts: it would call CUPTI while the process is torn
 * down. */
static bool done;   /* the last flush */
static bool paused; /* until another recording begins */

static void flush_last_once(void)
{
    if (!__atomic_exchange_n(&requested, false, __ATOMIC_ACQ_REL) && done)
        return;
    done = true;
    __atomic_store_n(&begun, true, __ATOMIC_RELEASE);
    flush_last();
}

void cupti_flush(bool last)
{
    if (!cupti_is_on() || paused)
        return;
    if (last) {
        flush_last_once();
    } else {
        cupti.flush_all(0);
        decode(false);
    }
}

/* Called without a recording, so what it decodes is dropped. */
static void drop_pending(void)
{
    cupti.flush_all(1);
    decode(true);
}

/* Each call of CUDA would cost time, and memory until MOST is reached. */
void cupti_pause(void)
{
    if (!cupti_is_on() || !done || stuck)
        return;
    cupti_disable_all();
    drop_pending();
    paused = true;
}

static void enable_again(void)
{
    paused = false;
    cupti.after_init = true;
    if (cupti_enable_all())
        cupti_stop("busy", "GPU trace off: CUPTI cannot be enabled again");
}

void cupti_resume(void)
{
    if (!cupti_is_on() || !done || stuck)
        return;
    if (paused)
        enable_again();
    drop_pending();
    cupti_count_again(&cupti.decoder);
    done = false;
    __atomic_store_n(&begun, false, __ATOMIC_RELEASE);
}

static void at_exit(void)
{
    cupti_flush(true);
}

void cupti_flush_at_exit(void)
{
    atexit(at_exit);
}

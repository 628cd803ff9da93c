/* raw.c: buffers in the recording, whose records readers decode.
 *
 * The thread that notes what these mention also has buffers ready, with all of
 * their pages, before CUPTI asks for them within a call of the program.
 */
#include <pthread.h>

#include "cupti.h"

enum {
    AHEAD = 2,
    OUT = CUPTI_RAW_OUT,
    SMALL = 128 << 10, /* most tests use little */
    LARGE = 4 << 20,   /* each one that is asked for takes 340 µs on an H100 */
    PART = 8,          /* of what was recorded, a buffer has that part */
    PLENTY = 32 << 20, /* from here on, buffers are small */
};

static pthread_mutex_t beginning = PTHREAD_MUTEX_INITIALIZER;
static uint32_t generation; /* atomic: of the recording that was begun */
static bool on;             /* atomic: it has buffers */

static struct cupti_buffer *ahead[AHEAD];   /* atomic */
static struct cupti_buffer *out[OUT];       /* atomic: those that CUPTI has */
static struct cupti_buffer *abandoned[OUT]; /* atomic: of earlier recordings */
static size_t used;                         /* atomic: bytes that CUPTI has */
static size_t recorded;                     /* atomic: bytes of complete ones */
static uint64_t made;                       /* atomic: how many */

/* ---- Notes ---- */

void cupti_raw_note_own(void)
{
    if (cupti_raw_is_on())
        cupti.host->raw_note(CUPTI_NOTE_OWN, 0, &cupti.decoder.own,
                             sizeof(cupti.decoder.own));
}

void cupti_raw_look(void)
{
    if (!cupti_raw_is_on())
        return;
    cupti_raw_scan();
    for (size_t i = 0; i < OUT; i++) {
        struct cupti_buffer *buffer =
            __atomic_load_n(&out[i], __ATOMIC_ACQUIRE);

        if (buffer)
            cupti_raw_look_into(buffer, buffer->size, false, out);
    }
}

/* ---- Buffers ---- */

static size_t size_of_next(void)
{
    size_t size = __atomic_load_n(&recorded, __ATOMIC_RELAXED) / PART;

    if (size < SMALL || __atomic_load_n(&used, __ATOMIC_RELAXED) >= PLENTY)
        return SMALL;
    return size < LARGE ? size : LARGE;
}

static struct cupti_buffer *make(void)
{
    struct trace_raw *raw = cupti.host->raw_take(SMALL / 2, size_of_next());
    struct cupti_buffer *buffer = (struct cupti_buffer *)(void *)raw;

    if (!buffer)
        return NULL;
    buffer->head.number = __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED);
    buffer->self = buffer;
    buffer->size = buffer->head.size - sizeof(*buffer);
    buffer->is_raw = true;
    __atomic_add_fetch(&used, buffer->size, __ATOMIC_RELAXED);
    return buffer;
}

void cupti_raw_prepare(void)
{
    if (!cupti_raw_begin())
        return;
    for (size_t i = 0; i < AHEAD; i++)
        if (!__atomic_load_n(&ahead[i], __ATOMIC_RELAXED))
            __atomic_store_n(&ahead[i], make(), __ATOMIC_RELEASE);
}

static struct cupti_buffer *take_ahead(void)
{
    struct cupti_buffer *buffer = NULL;

    for (size_t i = 0; i < AHEAD && !buffer; i++)
        buffer = __atomic_exchange_n(&ahead[i], NULL, __ATOMIC_ACQ_REL);
    return buffer;
}

struct cupti_buffer *cupti_raw_take(void)
{
    struct cupti_buffer *buffer = take_ahead(), *none = NULL;

    if (!buffer)
        buffer = make();
    for (size_t i = 0; buffer && i < OUT; i++, none = NULL)
        if (!__atomic_load_n(&out[i], __ATOMIC_RELAXED) &&
            __atomic_compare_exchange_n(&out[i], &none, buffer, false,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
            buffer->slot = (uint32_t)i + 1;
            break;
        }
    return buffer;
}

/* Clears what CUPTI wrote behind the last record: holes must be zero. */
static void clear_behind(struct cupti_buffer *buffer)
{
    uint8_t *at = buffer->bytes + buffer->head.valid;
    uint8_t *end = buffer->bytes + buffer->size;

    while (at < end) {
        size_t size = (size_t)(end - at) < 4096 ? (size_t)(end - at) : 4096;

        if (*at || memcmp(at, at + 1, size - 1) != 0)
            memset(at, 0, size);
        at += size;
    }
}

static void end(struct cupti_buffer *buffer)
{
    __atomic_sub_fetch(&used, buffer->size, __ATOMIC_RELAXED);
    __atomic_add_fetch(&recorded, buffer->head.valid, __ATOMIC_RELAXED);
    clear_behind(buffer);
    cupti.host->raw_give(&buffer->head, sizeof(*buffer) + buffer->head.valid);
}

static void tell_launch(void *context, const struct trace_activity *activity)
{
    (void)context;
    if (activity->kept)
        cupti.host->launched(activity->name, activity);
}

static void ignore_note(void *context, const char *name, const char *value)
{
    (void)context;
    (void)name;
    (void)value;
}

static void ignore_line(void *context, unsigned level, const char *message)
{
    (void)context;
    (void)level;
    (void)message;
}

static void ignore_layout(void *context)
{
    (void)context;
}

/* The process looks for the kernel in which a zone lies. */
static void tell_of_launches(const struct cupti_buffer *buffer)
{
    static const struct cupti_sink telling = {tell_launch, ignore_note,
                                              ignore_line, ignore_layout};
    const struct cupti_range range = {NULL, buffer->bytes, buffer->head.valid};
    struct cupti_decoder *decoder = &cupti.decoder;
    const struct cupti_sink *sink = decoder->sink;

    if (!cupti.host->has_rings())
        return;
    decoder->sink = &telling;
    cupti_clock_compare(&decoder->clock, cupti.host->anchor());
    cupti_decode(decoder, &range, false);
    decoder->sink = sink;
}

void cupti_raw_end(struct cupti_buffer *buffer)
{
    cupti_raw_scan();
    cupti_raw_look_into(buffer, buffer->head.valid, true, out);
    tell_of_launches(buffer);
    if (buffer->slot)
        __atomic_store_n(&out[buffer->slot - 1], NULL, __ATOMIC_RELEASE);
    end(buffer);
}

/* ---- A recording ---- */

bool cupti_raw_is_on(void)
{
    return __atomic_load_n(&on, __ATOMIC_ACQUIRE) &&
           __atomic_load_n(&generation, __ATOMIC_RELAXED) ==
               cupti.host->generation();
}

/* CUPTI may keep buffers of an earlier recording, and goes on writing there:
 * memory without a file has taken the place of that recording. */
static void abandon(struct cupti_buffer *buffer)
{
    for (size_t i = 0; buffer && i < OUT; i++)
        if (!__atomic_load_n(&abandoned[i], __ATOMIC_RELAXED)) {
            __atomic_store_n(&abandoned[i], buffer, __ATOMIC_RELEASE);
            return;
        }
}

bool cupti_raw_adopt(struct cupti_buffer *buffer, size_t size)
{
    for (size_t i = 0; i < OUT; i++) {
        struct cupti_buffer *one = buffer;

        if (__atomic_load_n(&abandoned[i], __ATOMIC_ACQUIRE) == buffer &&
            __atomic_compare_exchange_n(&abandoned[i], &one, NULL, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
            buffer->size = size;
            buffer->abandoned = true;
            return true;
        }
    }
    return false;
}

static void forget(void)
{
    for (size_t i = 0; i < OUT; i++)
        abandon(__atomic_exchange_n(&out[i], NULL, __ATOMIC_ACQ_REL));
    for (size_t i = 0; i < AHEAD; i++)
        __atomic_store_n(&ahead[i], NULL, __ATOMIC_RELAXED);
    __atomic_store_n(&used, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&recorded, 0, __ATOMIC_RELAXED);
}

bool cupti_raw_begin(void)
{
    const struct trace_profiler *options =
        __atomic_load_n(&cupti.host->profiler, __ATOMIC_ACQUIRE);
    uint32_t now = cupti.host->generation();

    if (!options->gpu_raw)
        return false;
    if (__atomic_load_n(&generation, __ATOMIC_ACQUIRE) == now)
        return cupti_raw_is_on();
    pthread_mutex_lock(&beginning);
    if (generation != now && cupti.host->recording()) {
        forget();
        __atomic_store_n(&on, cupti.host->raw_possible(), __ATOMIC_RELAXED);
        if (on)
            cupti_raw_note_all();
        __atomic_store_n(&generation, now, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&beginning);
    return cupti_raw_is_on();
}

void cupti_raw_finish(void)
{
    struct cupti_buffer *buffer;

    if (!cupti_raw_is_on())
        return;
    while ((buffer = take_ahead()))
        end(buffer);
    cupti_raw_note_own();
    cupti.host->raw_note(CUPTI_NOTE_END, cupti.decoder.counts.dropped, "", 0);
}

/* raw.c: buffers in the recording, whose records readers decode.
 *
 * The process only notes what readers cannot know: what records mention, each
 * once. The thread that does so also has buffers ready, with all of their
 * pages, before CUPTI asks for them within a call of the program.
 */
#include <pthread.h>
#include <stdlib.h>

#include "cupti.h"
#include "trace/base/strings.h"

enum {
    AHEAD = 2,
    OUT = 1024,        /* those that are looked into before they are complete */
    SMALL = 128 << 10, /* most tests use little */
    LARGE = 4 << 20,   /* each one that is asked for takes 340 µs on an H100 */
    PART = 4,          /* of what was recorded, a buffer has that part */
    PLENTY = 32 << 20, /* from here on, buffers are small */
    AGAIN_MOST = 1 << 20 /* bytes of records that are noted again */
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

static struct trace_table
    noted[CUPTI_NOTE_COUNT];    /* TEXT: copies, by address */
static struct trace_text again; /* records for later recordings */

/* The texts that a scan has seen. An address may be used again for another
 * text, so that each scan compares it once. */
enum { RECENT = 512 };
static struct {
    uint64_t address;
    uint32_t scan;
} recent[RECENT];
static uint32_t scan;

static bool calls[2][CUPTI_CALLS]; /* of the runtime, of the driver: noted */

static size_t recent_of(uint64_t address)
{
    return (size_t)(address ^ address >> 9) % RECENT;
}

static void note_text_of(enum cupti_note what, uint64_t key, const char *text)
{
    cupti.host->raw_note(what, key, text, strlen(text) + 1);
}

static void note_layout(void)
{
    const struct cupti_decoder *decoder = &cupti.decoder;
    struct cupti_noted_layout layout = {
        .version = cupti.version,
        .system_threads = decoder->library.system_threads,
        .first = decoder->clock.first,
        .limits = decoder->limits,
    };

    memcpy(layout.strides, decoder->library.strides, sizeof(layout.strides));
    cupti.host->raw_note(CUPTI_NOTE_LAYOUT, 0, &layout, sizeof(layout));
}

void cupti_raw_note_own(void)
{
    if (cupti_raw_is_on())
        cupti.host->raw_note(CUPTI_NOTE_OWN, 0, &cupti.decoder.own,
                             sizeof(cupti.decoder.own));
}

/* Records that were scanned have the old text of an address. */
static void note_cut(void)
{
    struct cupti_noted_cut cuts[OUT];
    size_t count = 0;

    for (size_t i = 0; i < OUT; i++) {
        const struct cupti_buffer *buffer =
            __atomic_load_n(&out[i], __ATOMIC_ACQUIRE);

        if (buffer)
            cuts[count++] =
                (struct cupti_noted_cut){buffer->head.number, buffer->scanned};
    }
    cupti.host->raw_note(CUPTI_NOTE_CUT, 0, cuts, count * sizeof(*cuts));
}

static void note_text(uint64_t address)
{
    size_t i = recent_of(address);
    struct trace_table *copies = &noted[CUPTI_NOTE_TEXT];
    const char *text;
    uintptr_t copy = 0;

    if (recent[i].address == address && recent[i].scan == scan)
        return;
    recent[i].address = address;
    recent[i].scan = scan;
    text = cupti_process.text(NULL, address);
    trace_table_find(copies, address, &copy);
    if (!text || (copy && !strcmp((const char *)copy, text)))
        return;
    if (copy) {
        note_cut();
        free((char *)copy);
    }
    copy = (uintptr_t)strdup(text);
    if (!trace_table_set(copies, address, copy))
        free((char *)copy);
    note_text_of(CUPTI_NOTE_TEXT, address, text);
}

static void note_node(uint64_t id)
{
    struct cupti_node node;
    struct trace_text bytes = {0};

    if (!cupti_process.node(NULL, id, &node))
        return;
    trace_text_add(&bytes, (const char *)&node.id, sizeof(node.id));
    trace_text_add(&bytes, node.span, strlen(node.span) + 1);
    if (!bytes.failed)
        cupti.host->raw_note(CUPTI_NOTE_NODE, id, bytes.data, bytes.size);
    trace_text_free(&bytes);
}

static void note_pci(const struct cupti_record *device)
{
    char uuid[CUPTI_UUID_ROOM], address[CUPTI_PCI_ROOM];

    if (cupti_uuid(uuid, "GPU", device, CUPTI_DEVICE_UUID) &&
        cupti_process.pci(NULL, uuid, address))
        note_text_of(CUPTI_NOTE_PCI, trace_hash_string(TRACE_HASH, uuid),
                     address);
}

/* Notes what was not noted yet, all but texts. */
static void note_once(const struct cupti_mention *mention)
{
    enum cupti_domain domain = (enum cupti_domain)(mention->key >> 32);
    uint32_t number = (uint32_t)mention->key;
    const char *name;
    uintptr_t known;

    if (trace_table_find(&noted[mention->what], mention->key, &known) ||
        !trace_table_set(&noted[mention->what], mention->key, 0))
        return;
    switch (mention->what) {
    case CUPTI_NOTE_CALL:
        if (number < CUPTI_CALLS)
            calls[domain == CUPTI_DOMAIN_DRIVER][number] = true;
        if ((name = cupti_process.call(NULL, domain, number)))
            note_text_of(mention->what, mention->key, name);
        break;
    case CUPTI_NOTE_ERROR:
        if ((name = cupti_process.error(NULL, domain, (int)number)))
            note_text_of(mention->what, mention->key, name);
        break;
    default:
        note_node(mention->key);
    }
}

/* Returns whether all is noted that a record mentions, for those that each
 * launch has. */
static bool is_known(const struct cupti_record *record)
{
    uint32_t kind = record->kind;
    uint64_t text;
    size_t i;

    if (kind == CUPTI_KIND_CONCURRENT_KERNEL) {
        text = cupti_get(record, CUPTI_KERNEL_NAME);
        i = recent_of(text);
        return recent[i].address == text && recent[i].scan == scan &&
               !cupti_get(record, CUPTI_KERNEL_NODE);
    }
    if (kind == CUPTI_KIND_RUNTIME || kind == CUPTI_KIND_DRIVER) {
        i = cupti_get32(record, CUPTI_CALL_ID);
        return i < CUPTI_CALLS && calls[kind == CUPTI_KIND_DRIVER][i] &&
               !cupti_get32(record, CUPTI_CALL_RESULT);
    }
    return kind == CUPTI_KIND_EXTERNAL_CORRELATION;
}

static void note_mentions(const struct cupti_record *record)
{
    struct cupti_mention mentions[CUPTI_MENTIONS_MOST];
    size_t count = cupti_mentions(record, mentions);

    for (size_t i = 0; i < count; i++)
        if (mentions[i].what == CUPTI_NOTE_TEXT)
            note_text(mentions[i].key);
        else if (mentions[i].what == CUPTI_NOTE_PCI)
            note_pci(record);
        else
            note_once(&mentions[i]);
}

/* Notes the resources that CUPTI has told of in earlier recordings. */
static void note_again(void)
{
    const uint16_t *strides = cupti.decoder.library.strides;
    const uint8_t *bytes = (const uint8_t *)again.data;
    struct cupti_record record = {0};

    while (again.size && cupti_next(strides, bytes, again.size, &record) &&
           record.at)
        note_mentions(&record);
    if (again.size)
        cupti.host->raw_note(CUPTI_NOTE_RECORDS, 0, bytes, again.size);
}

/* ---- Scanning ---- */

/* Notes what the records of a buffer mention that have been written since the
 * last time. */
static void look_into(struct cupti_buffer *buffer, size_t size, bool complete)
{
    const uint16_t *strides = cupti.decoder.library.strides;
    const uint8_t *from = buffer->bytes + buffer->scanned, *end = from;
    struct cupti_record record = {0};

    size -= buffer->scanned;
    while (cupti_next(strides, from, size, &record) && record.at &&
           (complete || cupti_is_finished(&record))) {
        end = record.at + record.stride;
        if (is_known(&record))
            continue;
        /* The text of an address changes here, not before. */
        buffer->scanned = (size_t)(record.at - buffer->bytes);
        note_mentions(&record);
        if (cupti_is_resource(record.kind) && again.size < AGAIN_MOST)
            trace_text_add(&again, (const char *)record.at, record.stride);
    }
    buffer->scanned = (size_t)(end - buffer->bytes);
}

void cupti_raw_look(void)
{
    if (!cupti_raw_is_on())
        return;
    scan++;
    for (size_t i = 0; i < OUT; i++) {
        struct cupti_buffer *buffer =
            __atomic_load_n(&out[i], __ATOMIC_ACQUIRE);

        if (buffer)
            look_into(buffer, buffer->size, false);
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

/* Makes what CUPTI wrote behind the last record zero, as holes must be. */
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

/* Zones lie in kernels, which they look for in the process. */
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
    scan++;
    look_into(buffer, buffer->head.valid, true);
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

/* Memory that is in no file is now where the buffers were that CUPTI still has
 * of an earlier recording: it goes on writing there. */
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
    uintptr_t text;
    size_t cursor = 0;

    while (trace_table_next(&noted[CUPTI_NOTE_TEXT], &cursor, &text))
        free((char *)text);
    for (size_t i = 0; i < CUPTI_NOTE_COUNT; i++)
        trace_table_free(&noted[i]);
    memset(recent, 0, sizeof(recent));
    memset(calls, 0, sizeof(calls));
    for (size_t i = 0; i < OUT; i++)
        abandon(__atomic_exchange_n(&out[i], NULL, __ATOMIC_ACQ_REL));
    for (size_t i = 0; i < AHEAD; i++)
        __atomic_store_n(&ahead[i], NULL, __ATOMIC_RELAXED);
    __atomic_store_n(&used, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&recorded, 0, __ATOMIC_RELAXED);
}

bool cupti_raw_begin(void)
{
    uint32_t now = cupti.host->generation();

    if (!cupti.host->profiler->gpu_raw)
        return false;
    if (__atomic_load_n(&generation, __ATOMIC_ACQUIRE) == now)
        return cupti_raw_is_on();
    pthread_mutex_lock(&beginning);
    if (generation != now && cupti.host->recording()) {
        forget();
        __atomic_store_n(&on, cupti.host->raw_possible(), __ATOMIC_RELAXED);
        if (on) {
            note_layout();
            note_again();
        }
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

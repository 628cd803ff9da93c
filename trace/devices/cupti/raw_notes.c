/* raw_notes.c: notes names, texts and the like that CUPTI's records mention,
 * once each: readers of the recording cannot ask CUPTI for them.
 */
#include <stdlib.h>

#include "cupti.h"
#include "trace/base/strings.h"

enum { AGAIN_MOST = 1 << 20 /* bytes of records that are noted again */ };

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

/* The records that have their notes have the old text of an address. */
static void note_cut(struct cupti_buffer *const *out)
{
    struct cupti_noted_cut cuts[CUPTI_RAW_OUT];
    size_t count = 0;

    for (size_t i = 0; i < CUPTI_RAW_OUT; i++) {
        const struct cupti_buffer *buffer =
            __atomic_load_n(&out[i], __ATOMIC_ACQUIRE);

        if (buffer)
            cuts[count++] = (struct cupti_noted_cut){buffer->head.number,
                                                     buffer->head.noted};
    }
    cupti.host->raw_note(CUPTI_NOTE_CUT, 0, cuts, count * sizeof(*cuts));
}

static void note_text(uint64_t address, struct cupti_buffer *const *out)
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
    /* If the text is gone, records have the one that was there. */
    if (!text || (copy && (!cupti_is_readable(text) ||
                           !strcmp((const char *)copy, text))))
        return;
    if (copy) {
        note_cut(out);
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

static void note_mentions(const struct cupti_record *record,
                          struct cupti_buffer *const *out)
{
    struct cupti_mention mentions[CUPTI_MENTIONS_MOST];
    size_t count = cupti_mentions(record, mentions);

    for (size_t i = 0; i < count; i++)
        if (mentions[i].what == CUPTI_NOTE_TEXT)
            note_text(mentions[i].key, out);
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
        note_mentions(&record, NULL);
    if (again.size)
        cupti.host->raw_note(CUPTI_NOTE_RECORDS, 0, bytes, again.size);
}

/* ---- Scanning ---- */

void cupti_raw_scan(void)
{
    scan++;
}

void cupti_raw_look_into(struct cupti_buffer *buffer, size_t size,
                         bool complete, struct cupti_buffer *const *out)
{
    const uint16_t *strides = cupti.decoder.library.strides;
    uint64_t *noted_bytes = &buffer->head.noted;
    const uint8_t *from = buffer->bytes + *noted_bytes, *end = from;
    struct cupti_record record = {0};

    size -= *noted_bytes;
    while (cupti_next(strides, from, size, &record) && record.at &&
           (complete || cupti_is_finished(&record))) {
        end = record.at + record.stride;
        if (is_known(&record))
            continue;
        /* The text of an address changes here, not before. */
        __atomic_store_n(noted_bytes, record.at - buffer->bytes,
                         __ATOMIC_RELEASE);
        note_mentions(&record, out);
        if (cupti_is_resource(record.kind) && again.size < AGAIN_MOST)
            trace_text_add(&again, (const char *)record.at, record.stride);
    }
    __atomic_store_n(noted_bytes, end - buffer->bytes, __ATOMIC_RELEASE);
}

/* ---- A recording ---- */

void cupti_raw_note_all(void)
{
    uintptr_t text;
    size_t cursor = 0;

    while (trace_table_next(&noted[CUPTI_NOTE_TEXT], &cursor, &text))
        free((char *)text);
    for (size_t i = 0; i < CUPTI_NOTE_COUNT; i++)
        trace_table_free(&noted[i]);
    memset(recent, 0, sizeof(recent));
    memset(calls, 0, sizeof(calls));
    note_layout();
    note_again();
}

/* nvtx.c: sends spans, events and signposts to a tool that receives NVTX, such
 * as Nsight Systems, in a domain of their own.
 *
 * The tool is called within the record that is being written, so nothing that
 * it does is recorded: what is sent cannot come back.
 */
#include "nvtx.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "containers.h"
#include "stack.h"
#include "strings.h"

/* ---- The tool ---- */

static nvtx_handle domain;

/* Functions that it lacks do nothing. */
static struct {
    int (*push)(nvtx_handle, const struct nvtx_attributes *);
    int (*pop)(nvtx_handle);
    void (*mark)(nvtx_handle, const struct nvtx_attributes *);
    nvtx_handle (*string)(nvtx_handle, const char *);
} tool;

/* The thread's state while it calls the tool. */
struct calling {
    struct trace_writer *writer;
    uintptr_t busy;
    int error;
};

static struct calling call_begin(struct trace_writer *writer)
{
    return (struct calling){writer, trace_ours_begin(writer), errno};
}

static void call_end(struct calling calling)
{
    errno = calling.error;
    trace_ours_end(calling.writer, calling.busy);
}

/* ---- Call sites ---- */

/* A copy, because a shared object may be unloaded. */
struct known {
    uint8_t level;
    nvtx_handle handle; /* of the name; NULL: the tool has no strings */
    char name[];
};

/* By id, in blocks; never freed: a thread may be reading. */
enum { BLOCK = 1024, BLOCKS = 64 };
static struct known **blocks[BLOCKS]; /* atomic */

static struct known **block_of(uint32_t id)
{
    struct known ***at = &blocks[id / BLOCK], **none = NULL, **made;

    if (__atomic_load_n(at, __ATOMIC_ACQUIRE))
        return *at;
    made = calloc(BLOCK, sizeof(*made));
    if (made &&
        !__atomic_compare_exchange_n(at, &none, made, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE)) {
        free(made);
        made = none;
    }
    return made;
}

static void learn_site(struct trace_writer *writer,
                       const struct trace_site *site, uint32_t id)
{
    struct calling calling = call_begin(writer);
    const char *name = site->name ? site->name : "";
    struct known **block = id < BLOCK * BLOCKS ? block_of(id) : NULL;
    struct known *known =
        block ? malloc(sizeof(*known) + strlen(name) + 1) : NULL;

    if (known) {
        *known = (struct known){.level = site->level};
        strcpy(known->name, name);
        if (tool.string && *name)
            known->handle = tool.string(domain, name);
        __atomic_store_n(&block[id % BLOCK], known, __ATOMIC_RELEASE);
    }
    call_end(calling);
}

static const struct known *known_of(uint32_t id)
{
    static const struct known unknown = {.level = TRACE_LEVEL_TRACE};
    struct known **block =
        id < BLOCK * BLOCKS
            ? __atomic_load_n(&blocks[id / BLOCK], __ATOMIC_ACQUIRE)
            : NULL;
    const struct known *known =
        block ? __atomic_load_n(&block[id % BLOCK], __ATOMIC_ACQUIRE) : NULL;

    return known ? known : &unknown;
}

/* ---- Attributes ---- */

/* NVTX takes one number: the first one that a record has. */
static void add_payload(struct nvtx_attributes *given,
                        const struct trace_record *record)
{
    struct trace_values values = trace_values_in(record);
    struct trace_value value;

    for (size_t i = 0; i < record->count && trace_values_next(&values, &value);
         i++) {
        bool is_float =
            value.type == TRACE_TYPE_F32 || value.type == TRACE_TYPE_F64;

        if (value.type == TRACE_TYPE_U64 || value.type == TRACE_TYPE_I64 ||
            value.type == TRACE_TYPE_BOOL || is_float) {
            given->payload_type = is_float ? NVTX_NUMBER_F64
                                  : value.type == TRACE_TYPE_I64
                                      ? NVTX_NUMBER_I64
                                      : NVTX_NUMBER_U64;
            given->payload.u64 = value.as.u;
            if (is_float)
                given->payload.f64 = value.as.f;
            return;
        }
    }
}

/* The category is the level. */
static struct nvtx_attributes attributes_of(const struct known *known)
{
    struct nvtx_attributes given = {.version = NVTX_IS_VERSION,
                                    .size = sizeof(given),
                                    .category = known->level,
                                    .text_type = NVTX_TEXT_ASCII,
                                    .text.ascii = known->name};

    if (known->handle) {
        given.text_type = NVTX_TEXT_HANDLE;
        given.text.handle = known->handle;
    }
    return given;
}

/* ---- Spans ---- */

/* What the thread has pushed: the records that entered its spans. */
static _Thread_local struct {
    uint32_t *records;
    size_t count, capacity;
} sent TRACE_TLS_;

static void end_thread(void)
{
    free(sent.records);
    sent.records = NULL;
    sent.count = sent.capacity = 0;
}

static bool push(const struct trace_entered *entered)
{
    const struct trace_record *span = trace_record_at(entered->span);
    struct nvtx_attributes given;

    if (!TRACE_ARRAY_RESERVE(sent.records, sent.capacity, sent.count + 1))
        return false;
    sent.records[sent.count++] = entered->record;
    if (trace_unrecorded(entered->record) || !tool.push)
        return true;
    given = attributes_of(known_of(span->site));
    add_payload(&given, span);
    tool.push(domain, &given);
    return true;
}

static void pop(void)
{
    if (!trace_unrecorded(sent.records[--sent.count]) && tool.pop)
        tool.pop(domain);
}

/* A span may end below others, which are then pushed again. */
static void follow(struct trace_writer *writer)
{
    struct calling calling = call_begin(writer);
    size_t same = sent.count < writer->depth ? sent.count : writer->depth;

    while (same && sent.records[same - 1] != writer->stack[same - 1].record)
        same--;
    while (sent.count > same)
        pop();
    while (sent.count < writer->depth && push(&writer->stack[sent.count]))
        ;
    call_end(calling);
}

/* ---- Events ---- */

static void add_text(struct trace_text *text, struct trace_values *values)
{
    struct trace_value value;

    if (trace_values_next(values, &value) && value.type == TRACE_TYPE_STRING)
        trace_text_add(text, value.as.text, value.size);
}

/* Adds the text of a record, unless it is its site's name. */
static void print(struct trace_text *text, const struct trace_record *record,
                  const struct known *known)
{
    struct trace_values values = trace_values_in(record);

    if (record->kind == TRACE_KIND_SIGNPOST) {
        add_text(text, &values);
        trace_text_string(text, ": ");
        add_text(text, &values);
    } else if (record->flags & TRACE_FLAG_PRINTF) {
        trace_format(text, known->name, &values);
    } else if (record->flags & TRACE_FLAG_MESSAGE) {
        add_text(text, &values);
    }
}

static void send_record(struct trace_writer *writer,
                        const struct trace_record *record)
{
    const struct known *known = known_of(record->site);
    struct nvtx_attributes given = attributes_of(known);
    struct trace_text text = {.ceiling = 1 << 20};
    struct calling calling;

    if ((record->kind != TRACE_KIND_EVENT &&
         record->kind != TRACE_KIND_SIGNPOST) ||
        !tool.mark)
        return;
    calling = call_begin(writer);
    print(&text, record, known);
    if (text.data) {
        given.text_type = NVTX_TEXT_ASCII;
        given.text.ascii = text.data;
    } else {
        add_payload(&given, record);
    }
    tool.mark(domain, &given);
    trace_text_free(&text);
    call_end(calling);
}

/* ---- Starting ---- */

static const struct trace_sender sender = {learn_site, follow, send_record,
                                           end_thread};

static void create_domain(void)
{
    nvtx_handle (*create)(const char *) =
        (nvtx_handle(*)(const char *))TRACE_NVTX(DomainCreateA);
    void (*name)(nvtx_handle, uint32_t, const char *) = (void (*)(
        nvtx_handle, uint32_t, const char *))TRACE_NVTX(DomainNameCategoryA);

    domain = create ? create("testlog") : NULL;
    for (unsigned i = TRACE_LEVEL_ERROR; name && i <= TRACE_LEVEL_TRACE; i++)
        name(domain, i, trace_level_word(i));
}

static bool begin(const char *path)
{
    void *library = dlopen(path, RTLD_LAZY);
    int (*initialize)(nvtx_get_table *) = (int (*)(nvtx_get_table *))(
        uintptr_t)(library ? dlsym(library, "InitializeInjectionNvtx2") : NULL);

    if (!initialize || !initialize(trace_nvtx_table))
        return false;
    create_domain();
    tool.push =
        (int (*)(nvtx_handle, const struct nvtx_attributes *))TRACE_NVTX(
            DomainRangePushEx);
    tool.pop = (int (*)(nvtx_handle))TRACE_NVTX(DomainRangePop);
    tool.mark = (void (*)(
        nvtx_handle, const struct nvtx_attributes *))TRACE_NVTX(DomainMarkEx);
    tool.string = (nvtx_handle(*)(nvtx_handle, const char *))TRACE_NVTX(
        DomainRegisterStringA);
    return true;
}

/* It is not even loaded: the program may not use NVTX. */
static bool is_ours(const char *path)
{
    return !strcmp(trace_base_name(path), "libtestlog-gpu.so");
}

void trace_nvtx_send(void)
{
    static bool tried;
    const char *path = getenv("NVTX_INJECTION64_PATH");
    int error = errno;

    if (!tried && path && *path && !is_ours(path) && begin(path))
        trace_sender = &sender;
    tried = true;
    errno = error;
}

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

#include "trace/base/containers.h"
#include "trace/base/strings.h"
#include "trace/read/reader_parts.h"
#include "trace/record/stack.h"

/* ---- Calling the tool ---- */

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

/* A tool may lack a function, or set it later: CUPTI does so when it is told to
 * collect. */
typedef nvtx_handle create_function(const char *name);
typedef void name_function(nvtx_handle, uint32_t category, const char *name);
typedef nvtx_handle string_function(nvtx_handle, const char *text);
typedef int push_function(nvtx_handle, const struct nvtx_attributes *);
typedef int pop_function(nvtx_handle);
typedef void mark_function(nvtx_handle, const struct nvtx_attributes *);

/* Returns our domain. */
static nvtx_handle domain_of(void)
{
    static nvtx_handle domain; /* atomic */
    nvtx_handle known = __atomic_load_n(&domain, __ATOMIC_ACQUIRE), made;
    create_function *create = (create_function *)TRACE_NVTX(DomainCreateA);
    name_function *name = (name_function *)TRACE_NVTX(DomainNameCategoryA);

    if (known || !create || !(made = create("testlog")))
        return known;
    if (!__atomic_compare_exchange_n(&domain, &known, made, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return known;
    for (unsigned i = TRACE_LEVEL_ERROR; name && i <= TRACE_LEVEL_TRACE; i++)
        name(made, i, trace_level_word(i));
    return made;
}

/* ---- Call sites ---- */

/* A copy, because a shared object may be unloaded. */
struct known {
    uint8_t level;
    nvtx_handle string; /* atomic: of the name; NULL: none yet */
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

/* Whether it is the same as in an earlier recording. */
static bool knows(const struct known *known, const struct trace_site *site)
{
    return known && known->level == site->level &&
           !strcmp(known->name, site->name ? site->name : "");
}

static struct known *copy_of(const struct trace_site *site)
{
    const char *name = site->name ? site->name : "";
    size_t size = strlen(name) + 1;
    struct known *known = malloc(sizeof(*known) + size);

    if (!known)
        return NULL;
    *known = (struct known){.level = site->level};
    memcpy(known->name, name, size);
    return known;
}

static void learn_site(struct trace_writer *writer,
                       const struct trace_site *site, uint32_t id)
{
    struct calling calling = call_begin(writer);
    struct known **block = id < BLOCK * BLOCKS ? block_of(id) : NULL;
    struct known *known = NULL;

    if (block && !knows(block[id % BLOCK], site))
        known = copy_of(site);
    if (known)
        __atomic_store_n(&block[id % BLOCK], known, __ATOMIC_RELEASE);
    call_end(calling);
}

static struct known *known_of(uint32_t id)
{
    static struct known unknown = {.level = TRACE_LEVEL_TRACE};
    struct known **block =
        id < BLOCK * BLOCKS
            ? __atomic_load_n(&blocks[id / BLOCK], __ATOMIC_ACQUIRE)
            : NULL;
    struct known *known =
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

/* Returns the handle of a site's name; NULL if the tool has no strings. */
static nvtx_handle string_of(struct known *known, nvtx_handle domain)
{
    nvtx_handle string = __atomic_load_n(&known->string, __ATOMIC_ACQUIRE);
    string_function *make =
        (string_function *)TRACE_NVTX(DomainRegisterStringA);

    if (string || !make || !known->name[0])
        return string;
    string = make(domain, known->name);
    __atomic_store_n(&known->string, string, __ATOMIC_RELEASE);
    return string;
}

/* Returns what a tool gets of a record; the category is the level. A `text` of
 * NULL means the name of the call site, with a number. */
static struct nvtx_attributes attributes_of(const struct trace_record *record,
                                            nvtx_handle domain,
                                            const char *text)
{
    struct known *known = known_of(record->site);
    nvtx_handle string = text ? NULL : string_of(known, domain);
    struct nvtx_attributes given = {.version = NVTX_IS_VERSION,
                                    .size = sizeof(given),
                                    .category = known->level,
                                    .text_type = NVTX_TEXT_ASCII,
                                    .text.ascii = text ? text : known->name};

    if (!text)
        add_payload(&given, record);
    if (string) {
        given.text_type = NVTX_TEXT_HANDLE;
        given.text.handle = string;
    }
    return given;
}

/* ---- Spans ---- */

/* The thread's spans as the tool knows them. */
struct sent {
    uint32_t record;    /* that entered the span */
    bool pushed;        /* or the tool was not ready */
    nvtx_handle domain; /* at that time */
};

static _Thread_local struct {
    struct sent *spans;
    size_t count, capacity;
} own TRACE_TLS_;

static void end_thread(void)
{
    free(own.spans);
    own.spans = NULL;
    own.count = own.capacity = 0;
}

/* Returns false without memory. */
static bool push(const struct trace_entered *entered)
{
    push_function *function = (push_function *)TRACE_NVTX(DomainRangePushEx);
    struct nvtx_attributes given;
    struct sent *sent;

    if (!TRACE_ARRAY_RESERVE(own.spans, own.capacity, own.count + 1))
        return false;
    sent = &own.spans[own.count++];
    *sent = (struct sent){.record = entered->record};
    if (trace_unrecorded(entered->record) || !function)
        return true;
    sent->pushed = true;
    sent->domain = domain_of();
    given = attributes_of(trace_record_at(&trace_writer, entered->span),
                          sent->domain, NULL);
    function(sent->domain, &given);
    return true;
}

/* A span may end below others, which are then pushed again. */
static void follow(struct trace_writer *writer)
{
    struct calling calling = call_begin(writer);
    size_t same = own.count < writer->depth ? own.count : writer->depth;

    while (same && own.spans[same - 1].record != writer->stack[same - 1].record)
        same--;
    while (own.count > same) {
        pop_function *pop = (pop_function *)TRACE_NVTX(DomainRangePop);
        const struct sent *sent = &own.spans[--own.count];

        if (sent->pushed && pop)
            pop(sent->domain);
    }
    while (own.count < writer->depth && push(&writer->stack[own.count]))
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
static void print(struct trace_text *text, const struct trace_record *record)
{
    struct trace_values values = trace_values_in(record);

    if (record->kind == TRACE_KIND_SIGNPOST) {
        add_text(text, &values);
        trace_text_string(text, ": ");
        add_text(text, &values);
    } else if (record->flags & TRACE_FLAG_PRINTF) {
        trace_format(text, known_of(record->site)->name, &values);
    } else if (record->flags & TRACE_FLAG_MESSAGE) {
        add_text(text, &values);
    }
}

static void send_record(struct trace_writer *writer,
                        const struct trace_record *record)
{
    mark_function *mark = (mark_function *)TRACE_NVTX(DomainMarkEx);
    struct trace_text text = {.ceiling = 1 << 20};
    struct nvtx_attributes given;
    struct calling calling;
    nvtx_handle domain;

    if (!mark || (record->kind != TRACE_KIND_EVENT &&
                  record->kind != TRACE_KIND_SIGNPOST))
        return;
    calling = call_begin(writer);
    domain = domain_of();
    print(&text, record);
    given = attributes_of(record, domain, text.data);
    mark(domain, &given);
    trace_text_free(&text);
    call_end(calling);
}

/* ---- Starting ---- */

static const struct trace_sender sender = {learn_site, follow, send_record,
                                           end_thread};

static char failure[512]; /* empty: none */

static bool fail(const char *what, const char *why)
{
    snprintf(failure, sizeof(failure), "NVTX is not sent: %s%s",
             what ? what : "unknown error", why);
    return false;
}

static bool attach(const char *path)
{
    void *library = dlopen(path, RTLD_LAZY);
    int (*initialize)(nvtx_get_table *) = (int (*)(nvtx_get_table *))(
        uintptr_t)(library ? dlsym(library, "InitializeInjectionNvtx2") : NULL);

    if (!initialize)
        return fail(dlerror(), "");
    return initialize(trace_nvtx_table) || fail(path, " refuses to start");
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

    if (!tried && path && *path && !is_ours(path) && attach(path))
        trace_sender = &sender;
    tried = true;
    errno = error;
}

void trace_nvtx_note(void)
{
    if (failure[0])
        trace_device_note("gpu.nvtx_notice", failure);
}

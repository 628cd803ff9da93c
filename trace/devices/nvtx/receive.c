/* receive.c: records what a program annotates with NVTX: a range that is pushed
 * becomes a span of its thread, a range that is started becomes a span beside
 * it, and a mark becomes an event. */
#include <stdlib.h>
#include <string.h>

#include "trace/devices/nvtx/nvtx_receiver.h"

static const struct trace_device_host *host; /* atomic */

void nvtx_record_to(const struct trace_device_host *to)
{
    __atomic_store_n(&host, to, __ATOMIC_RELEASE);
}

const struct trace_device_host *nvtx_host(void)
{
    return __atomic_load_n(&host, __ATOMIC_ACQUIRE);
}

/* ---- Annotations ---- */

/* The text and the attributes of a range or a mark. */
struct annotation {
    uint32_t domain;
    const char *text;                         /* NULL: none */
    char *own;                                /* `text`, if it was converted */
    const struct nvtx_attributes *attributes; /* NULL: none */
    const struct nvtx_schema *schema;         /* of `payload`; NULL: none */
    const struct nvtx_payload *payload;
};

/* Whether an older caller knows a member. */
#define KNOWS(given, member)                                                   \
    ((given)->size >=                                                          \
     offsetof(__typeof__(*(given)), member) + sizeof((given)->member))

static const char *text_of(int32_t type, union nvtx_text text, char **own)
{
    switch (type) {
    case NVTX_TEXT_ASCII:
        return text.ascii;
    case NVTX_TEXT_WIDE:
        *own = nvtx_narrow(text.wide);
        return *own;
    case NVTX_TEXT_HANDLE:
        return nvtx_string_text(text.handle);
    default:
        return NULL;
    }
}

static bool has_payloads(const struct nvtx_attributes *given)
{
    return given && KNOWS(given, payload) &&
           given->payload_type == NVTX_PAYLOADS && given->payload.u64;
}

static const struct nvtx_payload *payloads_of(
    const struct nvtx_attributes *given)
{
    return (const struct nvtx_payload *)(uintptr_t)given->payload.u64;
}

static struct annotation annotation_of(nvtx_handle domain,
                                       const struct nvtx_attributes *given)
{
    struct annotation annotation = {.domain = nvtx_domain_number(domain),
                                    .attributes = given};

    if (given && KNOWS(given, text))
        annotation.text =
            text_of(given->text_type, given->text, &annotation.own);
    if (has_payloads(given))
        annotation.payload =
            nvtx_payload_find(annotation.domain, (uint32_t)given->reserved,
                              payloads_of(given), &annotation.schema);
    return annotation;
}

static struct annotation described_by(nvtx_handle domain,
                                      const struct nvtx_payload *payloads,
                                      size_t count)
{
    struct annotation annotation = {.domain = nvtx_domain_number(domain)};

    annotation.payload = nvtx_payload_find(annotation.domain, count, payloads,
                                           &annotation.schema);
    return annotation;
}

/* ---- Fields ---- */

static const char *const field_names[] = {NVTX_FIELD_NAMES};

static struct trace_value payload_of(const struct nvtx_attributes *given)
{
    if (!KNOWS(given, payload))
        return trace_empty();
    switch (given->payload_type) {
    case NVTX_NUMBER_U64:
        return trace_u64_(given->payload.u64);
    case NVTX_NUMBER_I64:
        return trace_i64_(given->payload.i64);
    case NVTX_NUMBER_F64:
        return trace_f64_(given->payload.f64);
    case NVTX_NUMBER_U32:
        return trace_u64_(given->payload.u32);
    case NVTX_NUMBER_I32:
        return trace_i64_(given->payload.i32);
    case NVTX_NUMBER_F32:
        return trace_f32_(given->payload.f32);
    case NVTX_PAYLOADS:
        return has_payloads(given) && given->reserved == 1
                   ? nvtx_payload_value(payloads_of(given))
                   : trace_empty();
    default:
        return trace_empty();
    }
}

static struct trace_value display(const char *text)
{
    struct trace_value value = trace_text_(text);

    value.type = TRACE_TYPE_DISPLAY;
    return value;
}

static struct trace_value category_of(uint32_t domain,
                                      const struct nvtx_attributes *given)
{
    const char *name;

    if (!KNOWS(given, category) || !given->category)
        return trace_empty();
    name = nvtx_category_name(domain, given->category);
    return name ? trace_text_(name) : trace_u64_(given->category);
}

enum { COLOR_SIZE = sizeof("#rrggbbaa") };

/* As in CSS: "#rrggbb", with the opacity behind it unless it is full. */
static struct trace_value color_of(const struct nvtx_attributes *given,
                                   char text[COLOR_SIZE])
{
    unsigned opacity;

    if (!KNOWS(given, color) || given->color_type != NVTX_COLOR_IS_ARGB)
        return trace_empty();
    opacity = given->color >> 24;
    snprintf(text, COLOR_SIZE, "#%06x", given->color & 0xffffff);
    if (opacity != 0xff)
        snprintf(text + 7, COLOR_SIZE - 7, "%02x", opacity);
    return display(text);
}

/* The values of an annotation; `color` is a buffer for them. */
struct described {
    struct trace_value values[NVTX_FIELDS_MOST];
    char color[COLOR_SIZE];
};

/* Returns whether there are any values but the message. A schema may have the
 * annotation's text. */
static bool describe(struct described *described, struct annotation *annotation)
{
    const struct nvtx_attributes *given = annotation->attributes;
    struct trace_value *values = described->values;
    bool some = annotation->schema;

    if (given) {
        values[NVTX_PAYLOAD] = payload_of(given);
        values[NVTX_CATEGORY] = category_of(annotation->domain, given);
        values[NVTX_COLOR] = color_of(given, described->color);
    }
    for (int i = NVTX_PAYLOAD; i < NVTX_FIELDS; i++)
        some |= values[i].type != TRACE_TYPE_EMPTY;
    if (annotation->schema) {
        char *text =
            nvtx_payload_read(annotation->schema, annotation->payload, values);

        if (annotation->text) {
            free(text);
        } else {
            free(annotation->own);
            annotation->text = annotation->own = text;
        }
    }
    return some;
}

/* ---- Call sites ---- */

enum { SITES = 4096, NAME_MOST = 200 };

/* A program may use any number of different messages. If they are too many or
 * too long, they are values of a call site for their domain. */
static struct trace_site *site_of(enum trace_site_kind kind,
                                  const struct annotation *annotation,
                                  bool some, size_t *count)
{
    static struct trace_site *sites[SITES];
    struct trace_site wanted = {.name = annotation->text,
                                .target =
                                    nvtx_domain_target(annotation->domain),
                                .file = "",
                                .function = "",
                                .fields = some ? field_names : NULL,
                                .level = TRACE_LEVEL_INFO,
                                .kind = (uint8_t)kind,
                                .interest = TRACE_UNREGISTERED};
    struct trace_site *site;

    *count = some ? NVTX_FIELDS : 0;
    if (annotation->schema)
        wanted.fields = nvtx_schema_fields(annotation->schema, count);
    wanted.field_count = (uint8_t)*count;
    site = trace_site_find(sites, SITES, &wanted);
    if (!site)
        *count = NVTX_FIELDS;
    return site;
}

/* The site for any message of a domain, and of all domains if even those are
 * too many. */
static struct trace_site *common_site(enum trace_site_kind kind,
                                      uint32_t domain)
{
#define SITE(of, title)                                                        \
    [of] = {                                                                   \
        .name = (title),                                                       \
        .target = "nvtx",                                                      \
        .file = "",                                                            \
        .function = "",                                                        \
        .fields = field_names,                                                 \
        .level = TRACE_LEVEL_INFO,                                             \
        .kind = (of),                                                          \
        .field_count = NVTX_FIELDS,                                            \
        .interest = TRACE_UNREGISTERED                                         \
    }
    static struct trace_site last[] = {SITE(TRACE_SITE_EVENT, "mark"),
                                       SITE(TRACE_SITE_SPAN, "range")};
#undef SITE
    static struct trace_site *sites[4 * NVTX_DOMAINS];
    struct trace_site wanted = last[kind], *site;

    wanted.target = nvtx_domain_target(domain);
    wanted.interest = TRACE_UNREGISTERED;
    wanted.next = NULL;
    site = trace_site_find(sites, sizeof(sites) / sizeof(*sites), &wanted);
    return site ? site : &last[kind];
}

/* Chooses the site and the number of its values. */
static struct trace_site *choose(enum trace_site_kind kind,
                                 struct annotation *annotation,
                                 struct described *described, size_t *count)
{
    bool some = describe(described, annotation);
    const char *text = annotation->text;
    struct trace_site *site = NULL;

    *count = NVTX_FIELDS;
    if (text && *text && strnlen(text, NAME_MOST + 1) <= NAME_MOST)
        site = site_of(kind, annotation, some, count);
    if (site)
        return site;
    if (text && *text)
        described->values[NVTX_MESSAGE] = trace_text_(text);
    return common_site(kind, annotation->domain);
}

/* ---- Calls ---- */

typedef struct trace_span_ref begin_function(struct trace_site *, size_t count,
                                             const struct trace_value *);

static void mark(struct annotation annotation)
{
    const struct trace_device_host *to = nvtx_host();
    struct described described = {.color = ""};
    struct trace_site *site;
    size_t count;

    if (to) {
        site = choose(TRACE_SITE_EVENT, &annotation, &described, &count);
        to->mark(site, count, described.values);
    }
    free(annotation.own);
}

static struct trace_span_ref begin(struct annotation *annotation,
                                   begin_function *begins)
{
    struct described described = {.color = ""};
    struct trace_site *site;
    size_t count;

    site = choose(TRACE_SITE_SPAN, annotation, &described, &count);
    return begins(site, count, described.values);
}

static void end(struct trace_span_ref span)
{
    const struct trace_device_host *to = nvtx_host();

    if (to && span.place)
        to->end(span);
}

static void count_stray(void)
{
    const struct trace_device_host *to = nvtx_host();

    if (to)
        to->stray();
}

/* A range that cannot be followed becomes an event. */
static int push(struct annotation annotation)
{
    const struct trace_device_host *to = nvtx_host();
    struct trace_span_ref span = {0, 0};
    uint32_t domain = annotation.domain;

    if (!nvtx_range_fits()) {
        mark(annotation);
        return nvtx_range_push(domain, span);
    }
    if (to)
        span = begin(&annotation, to->push);
    free(annotation.own);
    return nvtx_range_push(domain, span);
}

static int pop(uint32_t domain)
{
    struct trace_span_ref span;
    int level = nvtx_range_pop(domain, &span);

    if (level < 0)
        count_stray();
    else
        end(span);
    return level;
}

static uint64_t start(struct annotation annotation)
{
    const struct trace_device_host *to = nvtx_host();
    struct trace_span_ref span = {0, 0};
    int slot = nvtx_range_reserve();

    if (slot < 0) {
        mark(annotation);
        return 0;
    }
    if (to)
        span = begin(&annotation, to->start);
    free(annotation.own);
    return nvtx_range_start(slot, span);
}

static void finish(uint64_t id)
{
    struct trace_span_ref span;

    if (nvtx_range_end(id, &span))
        end(span);
    else if (id)
        count_stray();
}

static void name_thread(uint32_t thread, const char *name)
{
    const struct trace_device_host *to = nvtx_host();
    char key[32];

    if (!to || !name)
        return;
    snprintf(key, sizeof(key), "thread.%u.name", thread);
    to->note(key, name);
}

/* ---- The functions of NVTX ---- */

static struct annotation ascii(const char *text)
{
    return (struct annotation){.text = text};
}

static struct annotation wide(const wchar_t *text)
{
    char *own = nvtx_narrow(text);

    return (struct annotation){.text = own, .own = own};
}

static void domain_mark(nvtx_handle domain, const struct nvtx_attributes *given)
{
    mark(annotation_of(domain, given));
}

static void mark_ex(const struct nvtx_attributes *given)
{
    domain_mark(NULL, given);
}

static void mark_a(const char *text)
{
    mark(ascii(text));
}

static void mark_w(const wchar_t *text)
{
    mark(wide(text));
}

static uint64_t domain_range_start(nvtx_handle domain,
                                   const struct nvtx_attributes *given)
{
    return start(annotation_of(domain, given));
}

static uint64_t range_start_ex(const struct nvtx_attributes *given)
{
    return domain_range_start(NULL, given);
}

static uint64_t range_start_a(const char *text)
{
    return start(ascii(text));
}

static uint64_t range_start_w(const wchar_t *text)
{
    return start(wide(text));
}

static void domain_range_end(nvtx_handle domain, uint64_t id)
{
    (void)domain; /* the id says which range it is */
    finish(id);
}

static int domain_range_push(nvtx_handle domain,
                             const struct nvtx_attributes *given)
{
    return push(annotation_of(domain, given));
}

static int range_push_ex(const struct nvtx_attributes *given)
{
    return domain_range_push(NULL, given);
}

static int range_push_a(const char *text)
{
    return push(ascii(text));
}

static int range_push_w(const wchar_t *text)
{
    return push(wide(text));
}

static int domain_range_pop(nvtx_handle domain)
{
    return pop(nvtx_domain_number(domain));
}

static int range_pop(void)
{
    return pop(0);
}

static nvtx_handle domain_create_w(const wchar_t *name)
{
    char *own = nvtx_narrow(name);
    nvtx_handle domain = nvtx_domain(own);

    free(own);
    return domain;
}

static nvtx_handle register_a(nvtx_handle domain, const char *text)
{
    (void)domain;
    return nvtx_string(text);
}

static nvtx_handle register_w(nvtx_handle domain, const wchar_t *text)
{
    char *own = nvtx_narrow(text);
    nvtx_handle string = register_a(domain, own);

    free(own);
    return string;
}

static void domain_name_category_a(nvtx_handle domain, uint32_t category,
                                   const char *name)
{
    nvtx_name_category(nvtx_domain_number(domain), category, name);
}

static void domain_name_category_w(nvtx_handle domain, uint32_t category,
                                   const wchar_t *name)
{
    char *own = nvtx_narrow(name);

    domain_name_category_a(domain, category, own);
    free(own);
}

static void name_category_a(uint32_t category, const char *name)
{
    domain_name_category_a(NULL, category, name);
}

static void name_category_w(uint32_t category, const wchar_t *name)
{
    domain_name_category_w(NULL, category, name);
}

static void name_thread_w(uint32_t thread, const wchar_t *name)
{
    char *own = nvtx_narrow(name);

    name_thread(thread, own);
    free(own);
}

/* Only names of threads have a place in a recording. */
static nvtx_handle resource_create(nvtx_handle domain,
                                   const struct nvtx_resource *given)
{
    char *own = NULL;

    (void)domain;
    if (given && KNOWS(given, text) && given->id_type == NVTX_RESOURCE_THREAD)
        name_thread((uint32_t)given->id,
                    text_of(given->text_type, given->text, &own));
    free(own);
    return NULL;
}

/* ---- Payloads ---- */

static uint64_t payload_schema_register(
    nvtx_handle domain, const struct nvtx_schema_attributes *given)
{
    return nvtx_schema_register(nvtx_domain_number(domain), given);
}

static uint64_t payload_enum_register(nvtx_handle domain,
                                      const struct nvtx_enum_attributes *given)
{
    return nvtx_enum_register(nvtx_domain_number(domain), given);
}

static void mark_payload(nvtx_handle domain,
                         const struct nvtx_payload *payloads, size_t count)
{
    mark(described_by(domain, payloads, count));
}

static int range_push_payload(nvtx_handle domain,
                              const struct nvtx_payload *payloads, size_t count)
{
    return push(described_by(domain, payloads, count));
}

/* What the end of a range adds has no place in a span. */
static int range_pop_payload(nvtx_handle domain,
                             const struct nvtx_payload *payloads, size_t count)
{
    (void)payloads;
    (void)count;
    return domain_range_pop(domain);
}

static uint64_t range_start_payload(nvtx_handle domain,
                                    const struct nvtx_payload *payloads,
                                    size_t count)
{
    return start(described_by(domain, payloads, count));
}

static void range_end_payload(nvtx_handle domain, uint64_t id,
                              const struct nvtx_payload *payloads, size_t count)
{
    (void)domain;
    (void)payloads;
    (void)count;
    finish(id);
}

/* X(Name, our function) */
#define RECEIVED_PAYLOADS(X)                                                   \
    X(PayloadSchemaRegister, payload_schema_register)                          \
    X(PayloadEnumRegister, payload_enum_register)                              \
    X(MarkPayload, mark_payload)                                               \
    X(RangePushPayload, range_push_payload)                                    \
    X(RangePopPayload, range_pop_payload)                                      \
    X(RangeStartPayload, range_start_payload)                                  \
    X(RangeEndPayload, range_end_payload)

bool nvtx_receive_extension(struct nvtx_extension *extension)
{
    const struct nvtx_segment *segment;

    if (!extension || extension->size < sizeof(*extension) ||
        extension->module != NVTX_EXTENSION_PAYLOAD ||
        !extension->segment_count)
        return false;
    segment = extension->segments;
#define NVTX_X(name, ours)                                                     \
    if (NVTX_##name < segment->count)                                          \
        segment->functions[NVTX_##name] = (intptr_t)(ours);
    RECEIVED_PAYLOADS(NVTX_X)
#undef NVTX_X
    return true;
}

/* ---- The tables ---- */

/* X(Name, our function) */
#define RECEIVED(X)                                                            \
    X(MarkEx, mark_ex)                                                         \
    X(MarkA, mark_a)                                                           \
    X(MarkW, mark_w)                                                           \
    X(RangeStartEx, range_start_ex)                                            \
    X(RangeStartA, range_start_a)                                              \
    X(RangeStartW, range_start_w)                                              \
    X(RangeEnd, finish)                                                        \
    X(RangePushEx, range_push_ex)                                              \
    X(RangePushA, range_push_a)                                                \
    X(RangePushW, range_push_w)                                                \
    X(RangePop, range_pop)                                                     \
    X(NameCategoryA, name_category_a)                                          \
    X(NameCategoryW, name_category_w)                                          \
    X(NameOsThreadA, name_thread)                                              \
    X(NameOsThreadW, name_thread_w)                                            \
    X(DomainMarkEx, domain_mark)                                               \
    X(DomainRangeStartEx, domain_range_start)                                  \
    X(DomainRangeEnd, domain_range_end)                                        \
    X(DomainRangePushEx, domain_range_push)                                    \
    X(DomainRangePop, domain_range_pop)                                        \
    X(DomainResourceCreate, resource_create)                                   \
    X(DomainNameCategoryA, domain_name_category_a)                             \
    X(DomainNameCategoryW, domain_name_category_w)                             \
    X(DomainRegisterStringA, register_a)                                       \
    X(DomainRegisterStringW, register_w)                                       \
    X(DomainCreateA, nvtx_domain)                                              \
    X(DomainCreateW, domain_create_w)

static const struct {
    uint32_t module, number;
    nvtx_function function;
} received[] = {
#define NVTX_X(name, ours)                                                     \
    {NVTX_MODULE_OF_##name, NVTX_##name, (nvtx_function)(ours)},
    RECEIVED(NVTX_X)
#undef NVTX_X
};

/* An older program has fewer functions. */
static void fill(const struct nvtx_callbacks *callbacks, uint32_t module)
{
    nvtx_function **table = NULL;
    unsigned entries = 0;

    if (!callbacks->table(module, &table, &entries) || !table)
        return;
    for (size_t i = 0; i < sizeof(received) / sizeof(*received); i++)
        if (received[i].module == module && received[i].number < entries &&
            table[received[i].number])
            *table[received[i].number] = received[i].function;
}

bool nvtx_receive(nvtx_get_table *get_table)
{
    const struct nvtx_callbacks *callbacks =
        get_table ? get_table(NVTX_TABLE_CALLBACKS) : NULL;

    if (!callbacks || callbacks->size < sizeof(*callbacks) || !callbacks->table)
        return false;
    fill(callbacks, NVTX_IN_CORE);
    fill(callbacks, NVTX_IN_CORE2);
    return true;
}

/* payload.c: payloads that are structs of the program's. It describes them
 * once, in a schema; an entry of that is a field here. */
#include <stdlib.h>
#include <string.h>

#include "trace/devices/nvtx/nvtx_receiver.h"

enum {
    SCHEMAS = 1024,
    ENTRIES = NVTX_FIELDS_MOST - NVTX_FIELDS,
    UNKNOWN = UINT32_MAX, /* an offset that only the payload tells */
    LARGEST = 16,         /* bytes of the largest alignment */
};

struct entry {
    uint64_t flags, type;
    uint32_t offset, size;
    const struct nvtx_schema *names; /* of an enum's values; NULL: none */
};

/* A schema, or an enum with the names of its values. */
struct nvtx_schema {
    uint32_t domain;
    uint64_t id;
    uint32_t size, alignment; /* 0: unknown */
    char *name;
    size_t count;
    struct entry entries[ENTRIES];
    const char *fields[NVTX_FIELDS_MOST];
    uint64_t *values; /* of an enum; NULL: it is none */
    char **names;
};

static struct nvtx_schema *schemas[SCHEMAS]; /* atomic */

static const struct nvtx_schema *find(uint32_t domain, uint64_t id)
{
    const struct nvtx_schema *schema;

    for (size_t i = 0; i < SCHEMAS; i++) {
        schema = __atomic_load_n(&schemas[i], __ATOMIC_ACQUIRE);
        if (!schema)
            return NULL;
        if (schema->id == id && schema->domain == domain)
            return schema;
    }
    return NULL;
}

static void discard(struct nvtx_schema *schema)
{
    for (size_t i = 0; schema->names && i < schema->count; i++)
        free(schema->names[i]);
    free(schema->names);
    free(schema->values);
    free(schema->name);
    free(schema);
}

/* Returns the schema's number; 0: there is no room, and it is freed. A number
 * of ours says where it is. */
static uint64_t add(struct nvtx_schema *schema)
{
    for (size_t i = 0; i < SCHEMAS; i++) {
        struct nvtx_schema *none = NULL;
        uint64_t id = schema->id ? schema->id : (UINT64_C(1) << 32) + i;

        if (__atomic_load_n(&schemas[i], __ATOMIC_RELAXED))
            continue;
        schema->id = id;
        if (__atomic_compare_exchange_n(&schemas[i], &none, schema, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            return id;
        if (id >> 32)
            schema->id = 0;
    }
    discard(schema);
    return 0;
}

/* ---- Layout ---- */

static uint32_t size_of(uint64_t type)
{
    switch (type) {
#define NVTX_X(number, of, make)                                               \
    case number:                                                               \
        return sizeof(of);
        NVTX_NUMBERS(NVTX_X)
#undef NVTX_X
    case NVTX_TYPE_CHAR:
        return 1;
    case NVTX_TYPE_TEXT:
    case NVTX_TYPE_TEXT_UTF8:
    case NVTX_TYPE_HANDLE:
        return sizeof(void *);
    default:
        return 0;
    }
}

static bool is_text(uint64_t type)
{
    return type == NVTX_TYPE_TEXT || type == NVTX_TYPE_TEXT_UTF8;
}

/* Finds the size of an entry and its alignment; 0: it is unknown. */
static void measure(uint32_t domain, const struct nvtx_schema_entry *given,
                    struct entry *entry, uint32_t *alignment)
{
    const struct nvtx_schema *own =
        given->type >= NVTX_TYPES_OWN ? find(domain, given->type) : NULL;
    uint64_t arrays = given->flags & NVTX_ENTRY_ARRAYS;
    uint64_t size = own ? own->size : size_of(given->type);

    *alignment = own ? own->alignment : (uint32_t)size;
    if (given->flags & NVTX_ENTRY_POINTER) {
        size = *alignment = sizeof(void *);
    } else if (is_text(given->type) && (given->length || arrays)) {
        size = arrays & ~(uint64_t)NVTX_ENTRY_FIXED ? 0 : given->length;
        *alignment = 1;
    } else if (arrays == NVTX_ENTRY_FIXED) {
        size *= given->length;
    } else if (arrays || given->flags & NVTX_ENTRY_OFFSETS) {
        size = 0;
    }
    entry->size = size < UNKNOWN ? (uint32_t)size : 0;
    entry->names = own && own->values ? own : NULL;
}

/* Entries without an offset follow each other as members of a struct. */
static void lay_out(struct nvtx_schema *schema,
                    const struct nvtx_schema_attributes *given)
{
    uint64_t most = given->known & NVTX_KNOWN_ALIGNMENT && given->alignment
                        ? given->alignment
                        : LARGEST;
    uint64_t next = 0;

    schema->alignment = 1;
    for (size_t i = 0; i < given->count; i++) {
        const struct nvtx_schema_entry *from = &given->entries[i];
        struct entry entry = {.flags = from->flags, .type = from->type};
        uint32_t alignment;

        measure(schema->domain, from, &entry, &alignment);
        alignment = alignment > most ? (uint32_t)most : alignment;
        if (alignment && next != UNKNOWN)
            next = (next + alignment - 1) / alignment * alignment;
        if (from->offset || !i)
            next = from->offset;
        if (alignment > schema->alignment)
            schema->alignment = alignment;
        entry.offset = next < UNKNOWN ? (uint32_t)next : UNKNOWN;
        if (i < ENTRIES)
            schema->entries[i] = entry;
        next = entry.size && next != UNKNOWN ? next + entry.size : UNKNOWN;
    }
    schema->size = next < UNKNOWN
                       ? (uint32_t)((next + schema->alignment - 1) /
                                    schema->alignment * schema->alignment)
                       : 0;
}

uint64_t nvtx_schema_register(uint32_t domain,
                              const struct nvtx_schema_attributes *given)
{
    static const char *const first[] = {NVTX_FIELD_NAMES};
    struct nvtx_schema *schema =
        given && given->entries ? calloc(1, sizeof(*schema)) : NULL;

    if (!schema)
        return 0;
    schema->domain = domain;
    schema->id = given->known & NVTX_KNOWN_ID ? given->id : 0;
    if (given->known & NVTX_KNOWN_NAME && given->name)
        schema->name = strdup(given->name);
    schema->count = given->count < ENTRIES ? given->count : ENTRIES;
    memcpy(schema->fields, first, sizeof(first));
    for (size_t i = 0; i < schema->count; i++) {
        const char *name = given->entries[i].name;

        name = name && *name ? strdup(name) : NULL;
        schema->fields[NVTX_FIELDS + i] = name ? name : "value";
    }
    lay_out(schema, given);
    return add(schema);
}

uint64_t nvtx_enum_register(uint32_t domain,
                            const struct nvtx_enum_attributes *given)
{
    struct nvtx_schema *schema =
        given && given->entries ? calloc(1, sizeof(*schema)) : NULL;

    if (!schema)
        return 0;
    schema->domain = domain;
    schema->id = given->known & NVTX_KNOWN_ENUM_ID ? given->id : 0;
    schema->size = schema->alignment =
        given->size && given->size <= sizeof(uint64_t) ? (uint32_t)given->size
                                                       : sizeof(int);
    schema->values = calloc(given->count + 1, sizeof(*schema->values));
    schema->names = calloc(given->count + 1, sizeof(*schema->names));
    for (size_t i = 0; schema->values && schema->names && i < given->count;
         i++) {
        const char *name = given->entries[i].name;

        schema->values[i] = given->entries[i].value;
        schema->names[i] = strdup(name ? name : "");
        schema->count++;
    }
    return add(schema);
}

/* ---- Values ---- */

static struct trace_value number_at(uint64_t type, const char *at)
{
    switch (type) {
#define NVTX_X(number, of, make)                                               \
    case number: {                                                             \
        of value;                                                              \
        memcpy(&value, at, sizeof(value));                                     \
        return trace_##make##_(value);                                         \
    }
        NVTX_NUMBERS(NVTX_X)
#undef NVTX_X
    default:
        return trace_empty();
    }
}

static struct trace_value enum_at(const struct nvtx_schema *names,
                                  const char *at)
{
    uint64_t value = 0;

    memcpy(&value, at,
           names->size); /* of a machine that begins with the least */
    for (size_t i = 0; i < names->count; i++)
        if (names->values[i] == value && names->names[i])
            return trace_text_(names->names[i]);
    return trace_u64_(value);
}

/* A text that is no part of the payload. */
static struct trace_value text_at(uint64_t type, const char *at)
{
    void *pointer;

    memcpy(&pointer, at, sizeof(pointer));
    return trace_text_(type == NVTX_TYPE_HANDLE ? nvtx_string_text(pointer)
                                                : (const char *)pointer);
}

static struct trace_value value_of(const struct entry *entry,
                                   const struct nvtx_payload *payload)
{
    const char *at;
    uint64_t arrays = entry->flags & NVTX_ENTRY_ARRAYS;
    bool text = is_text(entry->type);
    bool inside = text && (arrays || entry->size != sizeof(void *));
    uint64_t size = entry->size;

    if (arrays == NVTX_ENTRY_ENDED && (text || entry->type == NVTX_TYPE_CHAR) &&
        entry->offset < payload->size)
        size = payload->size - entry->offset;
    if (!payload->data || entry->offset > payload->size || !size ||
        size > payload->size - entry->offset ||
        entry->flags & (NVTX_ENTRY_HIDDEN | NVTX_ENTRY_OFFSETS))
        return trace_empty();
    at = (const char *)payload->data + entry->offset;
    if (entry->flags & NVTX_ENTRY_POINTER)
        return number_at(23, at);
    if (inside || entry->type == NVTX_TYPE_CHAR)
        return trace_string(at, strnlen(at, size));
    if (text || entry->type == NVTX_TYPE_HANDLE)
        return text_at(entry->type, at);
    if (arrays)
        return trace_empty();
    return entry->names ? enum_at(entry->names, at)
                        : number_at(entry->type, at);
}

const struct nvtx_payload *nvtx_payload_find(
    uint32_t domain, size_t count, const struct nvtx_payload *payloads,
    const struct nvtx_schema **schema)
{
    for (size_t i = 0; payloads && i < count; i++)
        if ((*schema = find(domain, payloads[i].schema)) && !(*schema)->values)
            return &payloads[i];
    *schema = NULL;
    return NULL;
}

const char *const *nvtx_schema_fields(const struct nvtx_schema *schema,
                                      size_t *count)
{
    *count = NVTX_FIELDS + schema->count;
    return schema->fields;
}

char *nvtx_payload_read(const struct nvtx_schema *schema,
                        const struct nvtx_payload *payload,
                        struct trace_value *values)
{
    char *text = NULL;

    for (size_t i = 0; i < schema->count; i++) {
        struct trace_value *value = &values[NVTX_FIELDS + i];

        *value = value_of(&schema->entries[i], payload);
        if (!(schema->entries[i].flags & NVTX_ENTRY_MESSAGE) ||
            value->type != TRACE_TYPE_STRING || text)
            continue;
        text = strndup(value->as.text, value->size);
        *value = trace_empty();
    }
    return text || !schema->name ? text : strdup(schema->name);
}

struct trace_value nvtx_payload_value(const struct nvtx_payload *payload)
{
    struct entry entry = {.type = payload->schema,
                          .size = size_of(payload->schema)};

    if (is_text(payload->schema) && payload->data)
        return trace_string(payload->data,
                            strnlen(payload->data, payload->size));
    return value_of(&entry, payload);
}

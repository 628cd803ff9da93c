/* nvtx_abi.h: the binary interface of NVTX 3, declared from facts. Private.
 *
 * A program that calls NVTX loads the library in NVTX_INJECTION64_PATH at its
 * first call, and passes a function to InitializeInjectionNvtx2 that returns
 * tables. An entry of a table points to the pointer that the program's calls go
 * through; NULL pointers are calls that do nothing.
 * tests/unit/devices/nvtx_abi_test.c compares this file with NVIDIA's header.
 */
#ifndef TRACE_DEVICES_NVTX_ABI_H
#define TRACE_DEVICES_NVTX_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

/* ---- Tables ---- */

/* X(NAME, number, functions): 0 is no function, and NULL ends a table. */
#define NVTX_MODULES(X)                                                        \
    X(CORE, 1, 15)                                                             \
    X(CUDA, 2, 8)                                                              \
    X(OPENCL, 3, 14)                                                           \
    X(CUDART, 4, 6)                                                            \
    X(CORE2, 5, 15)                                                            \
    X(SYNC, 6, 6)

enum nvtx_module {
#define NVTX_X(name, number, functions) NVTX_IN_##name = number,
    NVTX_MODULES(NVTX_X)
#undef NVTX_X
};

/* X(MODULE, Name, number): the functions that we use. */
#define NVTX_FUNCTIONS(X)                                                      \
    X(CORE, MarkEx, 1)                                                         \
    X(CORE, MarkA, 2)                                                          \
    X(CORE, MarkW, 3)                                                          \
    X(CORE, RangeStartEx, 4)                                                   \
    X(CORE, RangeStartA, 5)                                                    \
    X(CORE, RangeStartW, 6)                                                    \
    X(CORE, RangeEnd, 7)                                                       \
    X(CORE, RangePushEx, 8)                                                    \
    X(CORE, RangePushA, 9)                                                     \
    X(CORE, RangePushW, 10)                                                    \
    X(CORE, RangePop, 11)                                                      \
    X(CORE, NameCategoryA, 12)                                                 \
    X(CORE, NameCategoryW, 13)                                                 \
    X(CORE, NameOsThreadA, 14)                                                 \
    X(CORE, NameOsThreadW, 15)                                                 \
    X(CORE2, DomainMarkEx, 1)                                                  \
    X(CORE2, DomainRangeStartEx, 2)                                            \
    X(CORE2, DomainRangeEnd, 3)                                                \
    X(CORE2, DomainRangePushEx, 4)                                             \
    X(CORE2, DomainRangePop, 5)                                                \
    X(CORE2, DomainResourceCreate, 6)                                          \
    X(CORE2, DomainNameCategoryA, 8)                                           \
    X(CORE2, DomainNameCategoryW, 9)                                           \
    X(CORE2, DomainRegisterStringA, 10)                                        \
    X(CORE2, DomainRegisterStringW, 11)                                        \
    X(CORE2, DomainCreateA, 12)                                                \
    X(CORE2, DomainCreateW, 13)

enum nvtx_function_number {
#define NVTX_X(module, name, number) NVTX_##name = number,
    NVTX_FUNCTIONS(NVTX_X)
#undef NVTX_X
};

enum nvtx_function_module {
#define NVTX_X(module, name, number) NVTX_MODULE_OF_##name = NVTX_IN_##module,
    NVTX_FUNCTIONS(NVTX_X)
#undef NVTX_X
};

typedef void (*nvtx_function)(void);

struct nvtx_callbacks {
    size_t size; /* of this struct */
    /* table returns 0 for an unknown module. */
    int (*table)(uint32_t module, nvtx_function ***table, unsigned *entries);
};

struct nvtx_version_info {
    size_t size; /* of this struct */
    uint32_t version, reserved;
    void (*set_injection_version)(uint32_t);
};

enum { NVTX_TABLE_CALLBACKS = 1, NVTX_TABLE_VERSION = 3, NVTX_IS_VERSION = 3 };

typedef const void *nvtx_get_table(uint32_t table);

/* ---- Arguments ---- */

/* Only the library that gave a handle out knows what it refers to. */
typedef void *nvtx_handle;

enum nvtx_text_type { NVTX_TEXT_ASCII = 1, NVTX_TEXT_WIDE, NVTX_TEXT_HANDLE };

union nvtx_text {
    const char *ascii; /* in practice UTF-8 */
    const wchar_t *wide;
    nvtx_handle handle;
};

enum nvtx_number_type {
    NVTX_NUMBER_U64 = 1,
    NVTX_NUMBER_I64,
    NVTX_NUMBER_F64,
    NVTX_NUMBER_U32,
    NVTX_NUMBER_I32,
    NVTX_NUMBER_F32,
};

enum { NVTX_COLOR_IS_ARGB = 1 };

/* The payload is an array of struct nvtx_payload, with `reserved` elements. */
#define NVTX_PAYLOADS ((int32_t)0xDFBD0009)

struct nvtx_attributes {
    uint16_t version, size; /* bytes that the caller knows */
    uint32_t category;      /* 0: none */
    int32_t color_type;
    uint32_t color;
    int32_t payload_type;
    int32_t reserved;
    union {
        uint64_t u64;
        int64_t i64;
        double f64;
        uint32_t u32;
        int32_t i32;
        float f32;
    } payload;
    int32_t text_type;
    union nvtx_text text;
};

enum {
    NVTX_RESOURCE_THREAD = 1 << 16 | 3, /* its id is the kernel's thread id */
};

struct nvtx_resource {
    uint16_t version, size;
    int32_t id_type;
    uint64_t id;
    int32_t text_type;
    union nvtx_text text;
};

/* ---- Payloads ---- */

/* A program passes the functions of an extension to
 * InitializeInjectionNvtxExtension, to be set. */
struct nvtx_segment {
    size_t id, count;
    intptr_t *functions;
};

struct nvtx_extension {
    uint16_t version, size, module, compatible;
    size_t segment_count;
    struct nvtx_segment *segments;
    nvtx_function get_export;
    const void *info;
};

enum { NVTX_EXTENSION_PAYLOAD = 2 };

/* X(Name, number in the payload extension's segment): those that we use. */
#define NVTX_PAYLOAD_FUNCTIONS(X)                                              \
    X(PayloadSchemaRegister, 0)                                                \
    X(PayloadEnumRegister, 1)                                                  \
    X(MarkPayload, 2)                                                          \
    X(RangePushPayload, 3)                                                     \
    X(RangePopPayload, 4)                                                      \
    X(RangeStartPayload, 5)                                                    \
    X(RangeEndPayload, 6)

enum nvtx_payload_function_number {
#define NVTX_X(name, number) NVTX_##name = number,
    NVTX_PAYLOAD_FUNCTIONS(NVTX_X)
#undef NVTX_X
};

struct nvtx_payload {
    uint64_t schema; /* or the type of a single value */
    size_t size;     /* bytes */
    const void *data;
};

struct nvtx_schema_entry {
    uint64_t flags, type;
    const char *name, *description;
    uint64_t length; /* of an array, or of a text in the payload */
    uint64_t offset;
    const void *semantics, *reserved;
};

struct nvtx_schema_attributes {
    uint64_t known; /* which members are set */
    const char *name;
    uint64_t type, flags;
    const struct nvtx_schema_entry *entries;
    size_t count, size, alignment;
    uint64_t id;
    void *extension;
};

struct nvtx_enum_entry {
    const char *name;
    uint64_t value;
    int8_t is_flag;
};

struct nvtx_enum_attributes {
    uint64_t known;
    const char *name;
    const struct nvtx_enum_entry *entries;
    size_t count, size;
    uint64_t id;
    void *extension;
};

enum {
    NVTX_KNOWN_NAME = 1 << 1,
    NVTX_KNOWN_ALIGNMENT = 1 << 7,
    NVTX_KNOWN_ID = 1 << 8,
    NVTX_KNOWN_ENUM_ID = 1 << 5,
};

enum {
    NVTX_ENTRY_POINTER = 1 << 1,
    NVTX_ENTRY_OFFSETS = 3 << 2, /* the value is an offset */
    NVTX_ENTRY_FIXED = 1 << 4,   /* an array of `length` elements */
    NVTX_ENTRY_ENDED = 2 << 4,   /* an array that ends with a 0 */
    NVTX_ENTRY_ARRAYS = 7 << 4,
    NVTX_ENTRY_HIDDEN = 1 << 9,
    NVTX_ENTRY_MESSAGE = 1 << 10,
};

/* X(number, type in C, how it is recorded): a trace_..._ */
#define NVTX_NUMBERS(X)                                                        \
    X(2, unsigned char, u64)                                                   \
    X(3, short, i64)                                                           \
    X(4, unsigned short, u64)                                                  \
    X(5, int, i64)                                                             \
    X(6, unsigned, u64)                                                        \
    X(7, long, i64)                                                            \
    X(8, unsigned long, u64)                                                   \
    X(9, long long, i64)                                                       \
    X(10, unsigned long long, u64)                                             \
    X(11, int8_t, i64)                                                         \
    X(12, uint8_t, u64)                                                        \
    X(13, int16_t, i64)                                                        \
    X(14, uint16_t, u64)                                                       \
    X(15, int32_t, i64)                                                        \
    X(16, uint32_t, u64)                                                       \
    X(17, int64_t, i64)                                                        \
    X(18, uint64_t, u64)                                                       \
    X(19, float, f32)                                                          \
    X(20, double, f64)                                                         \
    X(21, long double, long_double)                                            \
    X(22, size_t, u64)                                                         \
    X(23, void *, pointer)                                                     \
    X(32, uint8_t, u64)                                                        \
    X(43, float, f32)                                                          \
    X(44, double, f64)                                                         \
    X(68, uint32_t, u64)                                                       \
    X(69, uint32_t, u64)                                                       \
    X(70, uint64_t, u64)                                                       \
    X(71, uint32_t, u64)                                                       \
    X(72, uint64_t, u64)                                                       \
    X(73, uint32_t, u64)                                                       \
    X(74, uint64_t, u64)

enum {
    NVTX_TYPE_CHAR = 1,
    NVTX_TYPE_TEXT = 75,
    NVTX_TYPE_TEXT_UTF8 = 76,
    NVTX_TYPE_HANDLE = 80,
    NVTX_TYPES_OWN = 1 << 24, /* schemas of the program have greater numbers */
};

#endif

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

#endif

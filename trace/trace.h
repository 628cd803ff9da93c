/* trace.h: spans, events and typed fields, recorded into a file that outlives
 * the process.
 *
 * To annotate code, read the part "Annotating". Unless a comment says
 * otherwise, functions return 0 on success and -1 with errno on failure,
 * strings are UTF-8 and borrowed for the call, and every function may be called
 * from any thread.
 */
#ifndef TESTLOG_TRACE_H
#define TESTLOG_TRACE_H

#if __SIZEOF_POINTER__ == 4
#    error "testlog needs 64-bit addresses: build without -m32"
#endif
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* -DTRACING=0 would turn annotations on; an empty definition becomes 1. */
#if defined(TRACING) && (0 - TRACING - 1) == -1
#    error "TRACING is 0: leave -DTRACING away to compile annotations out"
#endif

/* -Wpedantic would warn at each use of a macro: they need C23 or C++20. */
#ifdef __clang__
#    pragma clang diagnostic ignored "-Wgnu-zero-variadic-macro-arguments"
#    if __clang_major__ >= 19 && !defined(__cplusplus)
#        pragma clang diagnostic ignored "-Wc23-extensions"
#    elif __clang_major__ >= 19
#        pragma clang diagnostic ignored "-Wc++20-extensions"
#    endif
#endif
#ifdef __STRICT_ANSI__
#    pragma GCC system_header
#endif
#ifdef __cplusplus
extern "C" {
#endif

#ifndef TRACE_API
#    define TRACE_API __attribute__((visibility("default")))
#endif
#define TRACE_PRINTF(fmt, at) __attribute__((format(printf, fmt, at)))

/* ---- Levels ---- */

/* X(NAME, number, word): a lower number is more severe. */
#define TRACE_LEVELS(X)                                                        \
    X(ERROR, 1, "error")                                                       \
    X(WARN, 2, "warn")                                                         \
    X(INFO, 3, "info")                                                         \
    X(DEBUG, 4, "debug")                                                       \
    X(TRACE, 5, "trace")

enum trace_level {
    TRACE_LEVEL_OFF,
#define TRACE_X(name, number, word) TRACE_LEVEL_##name = number,
    TRACE_LEVELS(TRACE_X)
#undef TRACE_X
};

/* trace_level_word returns "off", "error", ... "trace"; "?" for an unknown
 * level. */
TRACE_API const char *trace_level_word(unsigned level);

/* ---- Growing text ---- */

/* A text that grows up to a ceiling. The zero value is an empty text; free it
 * with trace_text_free. When memory or the ceiling is exhausted, `failed` is
 * set and further text is dropped; `data` stays NUL-terminated if it is not
 * NULL. */
struct trace_text {
    char *data;
    size_t size;     /* bytes, without the NUL */
    size_t capacity; /* bytes allocated */
    size_t ceiling;  /* maximum in bytes; 0 = unlimited */
    bool failed;
};

TRACE_API void trace_text_add(struct trace_text *, const void *, size_t size);
TRACE_API void trace_text_string(struct trace_text *, const char *);
TRACE_API void trace_text_char(struct trace_text *, char);
TRACE_API void trace_text_printf(struct trace_text *, const char *format, ...)
    TRACE_PRINTF(2, 3);
TRACE_API void trace_text_clear(struct trace_text *);
TRACE_API void trace_text_free(struct trace_text *);

/* ---- Values of fields ---- */

/* X(NAME, what it holds) */
#define TRACE_TYPES(X)                                                         \
    X(EMPTY, "declared, no value yet")                                         \
    X(BOOL, "as.u: 0 or 1")                                                    \
    X(I64, "as.i")                                                             \
    X(U64, "as.u")                                                             \
    X(F32, "as.f, of which a float's digits count")                            \
    X(F64, "as.f")                                                             \
    X(I128, "as.u and more.u: low and high half")                              \
    X(U128, "as.u and more.u: low and high half")                              \
    X(STRING, "as.text, size bytes: quoted when shown")                        \
    X(DISPLAY, "as.text, size bytes: shown as it is")                          \
    X(BYTES, "as.bytes, size bytes")                                           \
    X(POINTER, "as.u: an address")                                             \
    X(ERRNO, "as.i: a value of errno")                                         \
    X(LONG_DOUBLE, "as.bytes: sizeof(long double) bytes")                      \
    X(CALLBACK, "as.print, called at the call with more.object")

enum trace_type {
#define TRACE_X(name, holds) TRACE_TYPE_##name,
    TRACE_TYPES(TRACE_X)
#undef TRACE_X
        TRACE_TYPE_COUNT
};

/* trace_print formats `object` as text into `out`. */
typedef void trace_print(struct trace_text *out, const void *object);

struct trace_value {
    uint32_t type; /* enum trace_type */
    uint32_t size; /* bytes at as.text or as.bytes */
    union {
        int64_t i;
        uint64_t u;
        double f;
        const char *text;
        const void *bytes;
        trace_print *print;
    } as;
    union {
        uint64_t u;
        const void *object;
    } more;
};

/* ---- Call sites ---- */

enum trace_site_kind {
    TRACE_SITE_EVENT,
    TRACE_SITE_SPAN,
    TRACE_SITE_FIELDS, /* a trace_record() */
    /* Events that are always recorded: */
    TRACE_SITE_COUNTER,
    TRACE_SITE_SIGNPOST,
    TRACE_SITE_DEVICE, /* an activity of a device: see device.h */
};

/* Whether a call site is on; 0: it is off. */
enum trace_interest {
    TRACE_ALWAYS = 1,     /* it is recorded */
    TRACE_COMMONLY = 2,   /* unless an enclosing span limits its level */
    TRACE_INSIDE = 4,     /* if an enclosing span raises the level */
    TRACE_JUDGED = 8,     /* the subscriber tests the values */
    TRACE_AWAITED = 0x40, /* off, but a client waits for a call */
    TRACE_UNREGISTERED = 0x80,
};

enum { TRACE_SITE_ARGS = 15 };

/* A call site, and whether it is on. Static, one per use of a macro. C sites
 * are found through the section "trace_sites", C++ sites register at first use.
 * Readers of recordings use the same struct. */
struct trace_site {
    const char *name;   /* span's name, event's message, or printf format */
    const char *target; /* "net::tcp"; NULL: derived from `file` */
    const char *file;
    const char *function;
    const char *const *fields; /* names, as many as `field_count` */
    uint32_t line;
    uint8_t level; /* enum trace_level */
    uint8_t kind;  /* enum trace_site_kind */
    uint8_t field_count;
    uint8_t interest; /* atomic: of enum trace_interest */
    uint32_t id;      /* atomic: in the current recording; 0 = none yet */
    uint8_t args[TRACE_SITE_ARGS + 1]; /* printf's arguments, once parsed */
    struct trace_site *next;           /* registered at first use */
    const void *verdict;               /* the subscriber's */
};

/* The effect of spans on the call sites within: levels up to `adds` are on, and
 * the `takes` most verbose levels are off. Among nested spans the greater
 * number counts. */
struct trace_scope {
    uint8_t adds; /* enum trace_level */
    uint8_t takes;
};

/* A shared object that is loaded late has little space for such variables. */
#ifdef TRACE_INJECTED
#    define TRACE_TLS_
#else
#    define TRACE_TLS_ __attribute__((tls_model("initial-exec")))
#endif
#define TRACE_INLINE_ static inline __attribute__((no_instrument_function))

/* The scope of the calling thread's spans. */
TRACE_API extern __thread struct trace_scope trace_scope_ TRACE_TLS_;

/* trace_site_ask_ returns whether a site is on that is neither off nor always
 * on: a C++ site at its first use, or a site that depends on the thread's
 * spans. */
TRACE_API bool trace_site_ask_(struct trace_site *);

TRACE_INLINE_ bool trace_site_on_(struct trace_site *site)
{
    uint8_t interest = __atomic_load_n(&site->interest, __ATOMIC_RELAXED);

    if (__builtin_expect(interest == 0, 1))
        return false;
    if (interest & TRACE_ALWAYS)
        return true;
    return (interest != TRACE_INSIDE || trace_scope_.adds) &&
           trace_site_ask_(site);
}

/* The range of the call sites of a program or shared object. */
struct trace_module {
    struct trace_site **begin, **end;
    struct trace_module *next;
    unsigned static_max; /* enum trace_level: the most verbose of its files */
    bool known;
};

TRACE_API void trace_module_register(struct trace_module *,
                                     struct trace_site **begin,
                                     struct trace_site **end,
                                     unsigned static_max);
TRACE_API void trace_module_forget(struct trace_module *);

/* trace_static_max returns the most verbose level that a file of the process
 * was built to keep; TRACE_LEVEL_OFF if all are compiled out. */
TRACE_API unsigned trace_static_max(void);

/* trace_site_each calls `visit` for each known call site of the process. */
TRACE_API void trace_site_each(void (*visit)(struct trace_site *, void *),
                               void *context);

/* trace_target derives a file's default target: its path without suffix and
 * leading dots, "::" for "/"; of an absolute path the last two components.
 * Returns the length of the target, which is cut at `size` - 1 bytes. */
TRACE_API size_t trace_target(const char *file, char *target, size_t size);

/* ---- Recording ---- */

/* A span for places where a block does not fit: to enter, record to, or end.
 * The zero value is no span; every function accepts it and does nothing. */
struct trace_span_ref {
    uint32_t place; /* of the record, in 32-byte slots from the file's start */
    uint32_t generation;
};

/* The functions behind the macros; the arguments after `site` are the fields'
 * values. */
TRACE_API struct trace_span_ref trace_span_open_(struct trace_site *,
                                                 size_t count,
                                                 const struct trace_value *);
TRACE_API struct trace_span_ref trace_span_begin_(struct trace_site *, size_t,
                                                  const struct trace_value *);
TRACE_API struct trace_span_ref trace_span_new_(struct trace_site *, size_t,
                                                const struct trace_value *);
TRACE_API struct trace_span_ref trace_span_in_(struct trace_span_ref parent,
                                               struct trace_site *, size_t,
                                               const struct trace_value *);
TRACE_API struct trace_span_ref trace_span_enter_(struct trace_span_ref);
TRACE_API void trace_span_leave_(struct trace_span_ref);
TRACE_API void trace_event_(struct trace_site *, size_t,
                            const struct trace_value *);
TRACE_API void trace_record_(struct trace_span_ref, struct trace_site *, size_t,
                             const struct trace_value *);
TRACE_API void trace_counter_(struct trace_site *, struct trace_value);
TRACE_API void trace_signpost_(struct trace_site *, const char *header,
                               const char *format, ...) TRACE_PRINTF(3, 4);
TRACE_API void trace_log_(struct trace_site *, const char *format, ...)
    TRACE_PRINTF(2, 3);
TRACE_API void trace_bridge_(unsigned above_max, enum trace_level,
                             const char *target, const char *file, unsigned,
                             const char *format, va_list) TRACE_PRINTF(6, 0);
TRACE_API void trace_bridge_text_(unsigned above_max, enum trace_level,
                                  const char *target, const char *file,
                                  unsigned, const char *text);

/* trace_message records an event with the text `message`, for messages that are
 * made at run time. `site` needs no place in the section; its interest is
 * determined by the call. */
TRACE_API void trace_message(struct trace_site *, const char *message);

/* trace_span_current returns the calling thread's current span, the zero value
 * if there is none. */
TRACE_API struct trace_span_ref trace_span_current(void);

/* trace_span_end leaves a span on the thread that entered it, and closes it. */
TRACE_API void trace_span_end(struct trace_span_ref);

/* The spans of a coroutine that is suspended. */
struct trace_stack;

/* trace_stack_save leaves all spans of the calling thread, without closing
 * them, and returns them; NULL if there are none, or without memory.
 * trace_stack_restore enters them again, on this thread or another, and frees
 * `stack`, which may be NULL. If a coroutine never resumes, free its stack with
 * free. */
TRACE_API struct trace_stack *trace_stack_save(void);
TRACE_API void trace_stack_restore(struct trace_stack *stack);

/* trace_disable turns off every call site until trace_enable has been called as
 * often. Open spans can still end. */
TRACE_API void trace_disable(void);
TRACE_API void trace_enable(void);

/* trace_start starts a recording of this process, the file `recording` in
 * `directory`, which it creates. testlog log, stat and export read it, also
 * while it runs. `options` is NULL or "key=value,...": limit, the most bytes to
 * record, as in "64M"; host_tracer_level, device_tracer_level and gpu_*, which
 * testlog-flags(7) and testlog-gpu(7) describe. Fails with EINVAL if an option
 * is wrong; with EBUSY if a recording runs, as in every test, or if
 * log_subscribe has set the filters and host_tracer_level is given. trace_stop
 * ends it; it fails with EINVAL if this process has not started one. */
TRACE_API int trace_start(const char *directory, const char *options);
TRACE_API int trace_stop(void);

/* trace_server_start lets testlog capture record this process for a while: a
 * thread waits at the Unix socket `path`, of at most 107 bytes; NULL is
 * $XDG_RUNTIME_DIR/testlog/PID.sock. Fails with EBUSY if one waits already. */
TRACE_API int trace_server_start(const char *path);
TRACE_API int trace_server_stop(void);

#ifdef __cplusplus
}
#endif

/* ---- Annotating: fields ----
 *
 * A field is ("name", value) or (variable), short for ("variable", variable);
 * up to 16 per call site. The value's type determines how it is recorded: bool,
 * every integer type, float, double, char * (NULL is printed as null), any
 * other pointer as an address, and the results of these functions:
 */
TRACE_INLINE_ struct trace_value trace_value_make_(uint32_t type, uint32_t size)
{
    struct trace_value value = {type, size, {0}, {0}};

    return value;
}

/* trace_bool records true or false, for the literals, which are int in C11.
 * trace_errno records an error number, printed as its text and name. */
#define TRACE_X(make, from, type, member, v)                                   \
    TRACE_INLINE_ struct trace_value make(from)                                \
    {                                                                          \
        struct trace_value value = trace_value_make_(TRACE_TYPE_##type, 0);    \
                                                                               \
        value.as.member = v;                                                   \
        return value;                                                          \
    }
TRACE_X(trace_u64_, uint64_t number, U64, u, number)
TRACE_X(trace_i64_, int64_t number, I64, i, number)
TRACE_X(trace_f64_, double number, F64, f, number)
TRACE_X(trace_f32_, float number, F32, f, (double)number)
TRACE_X(trace_long_double_, long double number, F64, f, (double)number)
TRACE_X(trace_pointer_, const volatile void *at, POINTER, u, (uintptr_t)at)
TRACE_X(trace_bool, bool on, BOOL, u, on)
TRACE_X(trace_errno, int error, ERRNO, i, error)
#undef TRACE_X

/* trace_string records `size` bytes of text that need not end in NUL. */
TRACE_INLINE_ struct trace_value trace_string(const char *text, size_t size)
{
    struct trace_value value =
        trace_value_make_(TRACE_TYPE_STRING, (uint32_t)size);

    value.as.text = text;
    return value;
}

/* For single characters. */
TRACE_API extern const char trace_characters_[256];

TRACE_INLINE_ struct trace_value trace_character_(char character)
{
    return trace_string(&trace_characters_[(unsigned char)character], 1);
}

TRACE_INLINE_ struct trace_value trace_text_(const char *text)
{
    if (!text) {
        struct trace_value null = trace_string("null", 4);

        null.type = TRACE_TYPE_DISPLAY;
        return null;
    }
    return trace_string(text, __builtin_strlen(text));
}

/* trace_bytes records `size` bytes, printed in hexadecimal. */
TRACE_INLINE_ struct trace_value trace_bytes(const void *bytes, size_t size)
{
    struct trace_value value =
        trace_value_make_(TRACE_TYPE_BYTES, (uint32_t)size);

    value.as.bytes = bytes;
    return value;
}

/* trace_empty declares a field that trace_record sets later. */
TRACE_INLINE_ struct trace_value trace_empty(void)
{
    return trace_value_make_(TRACE_TYPE_EMPTY, 0);
}

/* trace_display records a user's own type: `print` formats `object` as text. It
 * is called immediately, and only if the call site is on. */
TRACE_INLINE_ struct trace_value trace_display(trace_print *print,
                                               const void *object)
{
    struct trace_value value = trace_value_make_(TRACE_TYPE_CALLBACK, 0);

    value.as.print = print;
    value.more.object = object;
    return value;
}

TRACE_INLINE_ struct trace_value trace_same_(struct trace_value value)
{
    return value;
}

#ifdef __SIZEOF_INT128__
__extension__ typedef __int128 trace_i128_t;
__extension__ typedef unsigned __int128 trace_u128_t;

TRACE_INLINE_ struct trace_value trace_u128_(trace_u128_t u)
{
    struct trace_value value = trace_value_make_(TRACE_TYPE_U128, 0);

    value.as.u = (uint64_t)u;
    value.more.u = (uint64_t)(u >> 64);
    return value;
}

TRACE_INLINE_ struct trace_value trace_i128_(trace_i128_t i)
{
    struct trace_value value = trace_u128_((trace_u128_t)i);

    value.type = TRACE_TYPE_I128;
    return value;
}
#    define TRACE_INT128_TYPES_(X)                                             \
        X(trace_i128_t, trace_i128_) X(trace_u128_t, trace_u128_)
#else
#    define TRACE_INT128_TYPES_(X)
#endif

/* X(type, the function that makes its value) */
#define TRACE_VALUE_TYPES_(X)                                                  \
    X(bool, trace_bool)                                                        \
    X(signed char, trace_i64_)                                                 \
    X(short, trace_i64_)                                                       \
    X(int, trace_i64_)                                                         \
    X(long, trace_i64_)                                                        \
    X(long long, trace_i64_)                                                   \
    X(unsigned char, trace_u64_)                                               \
    X(unsigned short, trace_u64_)                                              \
    X(unsigned, trace_u64_)                                                    \
    X(unsigned long, trace_u64_)                                               \
    X(unsigned long long, trace_u64_)                                          \
    X(float, trace_f32_)                                                       \
    X(double, trace_f64_)                                                      \
    X(long double, trace_long_double_)                                         \
    X(const char *, trace_text_)                                               \
    X(struct trace_value, trace_same_)                                         \
    TRACE_INT128_TYPES_(X)

#define TRACE_NO_VALUE_                                                        \
    "write a member or a cast, or (\"name\", trace_display(print, &value)): "  \
    "values of this type are not recorded"

#ifdef __cplusplus
extern "C++" {
#    define TRACE_X(type, make)                                                \
        TRACE_INLINE_ struct trace_value trace_value_of(type v)                \
        {                                                                      \
            return make(v);                                                    \
        }
TRACE_VALUE_TYPES_(TRACE_X)
TRACE_X(char, trace_character_)
TRACE_X(const volatile void *, trace_pointer_)
TRACE_X(decltype(nullptr), trace_pointer_)
#    undef TRACE_X

/* A function would be converted to bool. */
template <typename R, typename... A>
TRACE_INLINE_ struct trace_value trace_value_of(R (*function)(A...))
{
    return trace_pointer_(reinterpret_cast<const volatile void *>(function));
}

/* std::string, std::string_view and similar types. */
template <typename T>
TRACE_INLINE_ auto trace_value_of(const T &text)
    -> decltype(static_cast<const char *>(text.data()), text.size(),
                trace_empty())
{
    return trace_string(text.data(), text.size());
}

/* Has the member `type` if none of the above accepts a T. */
template <typename T, typename = void> struct trace_no_value_ {
    typedef int type;
};
template <typename T>
struct trace_no_value_<T, decltype((void)::trace_value_of(
                              *static_cast<const T *>(nullptr)))> {
};
template <typename T, typename trace_no_value_<T>::type = 0>
TRACE_INLINE_ struct trace_value trace_value_of(const T &)
{
    static_assert(sizeof(T) == 0, TRACE_NO_VALUE_);
    return trace_empty();
}

/* An array of values that lives until the call's full expression ends. */
template <size_t N> struct trace_array_ {
    struct trace_value values[N];
    const struct trace_value *begin() const
    {
        return values;
    }
};
}
#    define TRACE_HAS_VALUE_(v) 1
#else
/* Other integer types are gcc's bit-fields. For a type without a value,
 * TRACE_FIELDS_OK_ has the only error. */
/* clang-format off */
#    define TRACE_VALUE_CASE_(type, make) type: make,
#    define TRACE_HAS_VALUE_(v)                                                \
        _Generic((v),                                                          \
            struct trace_value: 1,                                             \
            default: __builtin_classify_type(v) <= __builtin_classify_type(.5))
#    define trace_value_of(v)                                                  \
        _Generic((v),                                                          \
            TRACE_VALUE_TYPES_(TRACE_VALUE_CASE_)                              \
            char: trace_i64_,                                                  \
            char *: trace_text_,                                               \
            default: __builtin_choose_expr(                                    \
                __builtin_classify_type(v) == __builtin_classify_type(0),      \
                trace_i64_, trace_pointer_))(                                  \
            __builtin_choose_expr(TRACE_HAS_VALUE_(v), (v), 0))
/* clang-format on */
#endif

/* ---- Annotating: implementation of the macros ---- */

#define TRACE_CAT_(a, b)  TRACE_CAT2_(a, b)
#define TRACE_CAT2_(a, b) a##b

/* The values of LOG_STATIC_MAX, each one above its level: in #if, an unknown
 * word is 0. */
#define TRACE_ABOVE_off   1
#define TRACE_ABOVE_OFF   1
#define TRACE_ABOVE_error 2
#define TRACE_ABOVE_ERROR 2
#define TRACE_ABOVE_warn  3
#define TRACE_ABOVE_WARN  3
#define TRACE_ABOVE_info  4
#define TRACE_ABOVE_INFO  4
#define TRACE_ABOVE_debug 5
#define TRACE_ABOVE_DEBUG 5
#define TRACE_ABOVE_trace 6
#define TRACE_ABOVE_TRACE 6

#ifndef LOG_STATIC_MAX
#    define TRACE_ABOVE_MAX_ TRACE_ABOVE_trace
#elif TRACE_CAT_(TRACE_ABOVE_, LOG_STATIC_MAX)
#    define TRACE_ABOVE_MAX_ TRACE_CAT_(TRACE_ABOVE_, LOG_STATIC_MAX)
#else
#    error "LOG_STATIC_MAX must be off, error, warn, info, debug or trace"
#endif

/* Whether call sites are kept, for each level and in general. Macros are
 * selected by a digit, because no program can define a macro with such a name.
 */
#ifdef TRACING
#    define TRACE_KEEPS_ 1
#else
#    define TRACE_KEEPS_ 0
#endif
#if TRACE_KEEPS_ && TRACE_ABOVE_MAX_ > 1
#    define TRACE_KEEPS_ERROR 1
#else
#    define TRACE_KEEPS_ERROR 0
#endif
#if TRACE_KEEPS_ && TRACE_ABOVE_MAX_ > 2
#    define TRACE_KEEPS_WARN 1
#else
#    define TRACE_KEEPS_WARN 0
#endif
#if TRACE_KEEPS_ && TRACE_ABOVE_MAX_ > 3
#    define TRACE_KEEPS_INFO 1
#else
#    define TRACE_KEEPS_INFO 0
#endif
#if TRACE_KEEPS_ && TRACE_ABOVE_MAX_ > 4
#    define TRACE_KEEPS_DEBUG 1
#else
#    define TRACE_KEEPS_DEBUG 0
#endif
#if TRACE_KEEPS_ && TRACE_ABOVE_MAX_ > 5
#    define TRACE_KEEPS_TRACE 1
#else
#    define TRACE_KEEPS_TRACE 0
#endif

/* TRACE_USE_ adds to the name of a macro whether the level is kept: 1 or 0, or
 * `no` if the word is no level. */
#define TRACE_USE_(macro, keeps)                                               \
    TRACE_USE2_(macro, TRACE_CAT_(TRACE_DIGIT_, keeps))
#define TRACE_USE2_(macro, digit) TRACE_CAT_(macro, TRACE_SECOND_(digit, no, ))
#define TRACE_DIGIT_0             , 0
#define TRACE_DIGIT_1             , 1
#define TRACE_SECOND_(...)        TRACE_SECOND2_(__VA_ARGS__)
#define TRACE_SECOND2_(a, b, ...) b

/* TRACE_ASSERT_ is a declaration; TRACE_CHECKED_ puts it in an expression. */
#ifdef __cplusplus
#    define TRACE_ASSERT_(condition, advice) static_assert(condition, advice)
#else
#    define TRACE_ASSERT_(condition, advice) _Static_assert(condition, advice)
#endif
#define TRACE_CHECKED_(assertions, value)                                      \
    (__extension__({                                                           \
        assertions;                                                            \
        value;                                                                 \
    }))
#define TRACE_NO_LEVEL_(value)                                                 \
    TRACE_CHECKED_(                                                            \
        TRACE_ASSERT_(0,                                                       \
                      "write the level as ERROR, WARN, INFO, DEBUG or TRACE"), \
        value)

/* TRACE_EACH_ applies `m` to each of up to 16 fields. */
#define TRACE_33RD_(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s,   \
                    t, u, v, w, x, y, z, A, B, C, D, E, F, G, ...)             \
    G
#define TRACE_COUNT_(...)                                                      \
    TRACE_33RD_(__VA_ARGS__ __VA_OPT__(, ) 17, 17, 17, 17, 17, 17, 17, 17, 17, \
                17, 17, 17, 17, 17, 17, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8,  \
                7, 6, 5, 4, 3, 2, 1, 0, )
#define TRACE_EACH_(m, ...)                                                    \
    TRACE_CAT_(TRACE_EACH_, TRACE_COUNT_(__VA_ARGS__))(m, __VA_ARGS__)
#define TRACE_EACH_0(m, ...)
#define TRACE_EACH_1(m, f)       m(f)
#define TRACE_EACH_2(m, f, ...)  m(f) TRACE_EACH_1(m, __VA_ARGS__)
#define TRACE_EACH_3(m, f, ...)  m(f) TRACE_EACH_2(m, __VA_ARGS__)
#define TRACE_EACH_4(m, f, ...)  m(f) TRACE_EACH_3(m, __VA_ARGS__)
#define TRACE_EACH_5(m, f, ...)  m(f) TRACE_EACH_4(m, __VA_ARGS__)
#define TRACE_EACH_6(m, f, ...)  m(f) TRACE_EACH_5(m, __VA_ARGS__)
#define TRACE_EACH_7(m, f, ...)  m(f) TRACE_EACH_6(m, __VA_ARGS__)
#define TRACE_EACH_8(m, f, ...)  m(f) TRACE_EACH_7(m, __VA_ARGS__)
#define TRACE_EACH_9(m, f, ...)  m(f) TRACE_EACH_8(m, __VA_ARGS__)
#define TRACE_EACH_10(m, f, ...) m(f) TRACE_EACH_9(m, __VA_ARGS__)
#define TRACE_EACH_11(m, f, ...) m(f) TRACE_EACH_10(m, __VA_ARGS__)
#define TRACE_EACH_12(m, f, ...) m(f) TRACE_EACH_11(m, __VA_ARGS__)
#define TRACE_EACH_13(m, f, ...) m(f) TRACE_EACH_12(m, __VA_ARGS__)
#define TRACE_EACH_14(m, f, ...) m(f) TRACE_EACH_13(m, __VA_ARGS__)
#define TRACE_EACH_15(m, f, ...) m(f) TRACE_EACH_14(m, __VA_ARGS__)
#define TRACE_EACH_16(m, f, ...) m(f) TRACE_EACH_15(m, __VA_ARGS__)
#define TRACE_EACH_17(m, ...)    /* TRACE_FEW_OK_ has the error */

/* The halves of a field: everything after the first comma is the value, so that
 * it may contain the commas of a C++ template's arguments. A field without
 * parentheses, which TRACE_FIELDS_OK_ rejects, has neither. */
#define TRACE_LIST_(...)         __VA_ARGS__
#define TRACE_FIRST_(first, ...) first
#define TRACE_DROP_(name)
#define TRACE_IS_FIELD_(field) TRACE_SECOND_(TRACE_ENCLOSED_ field, 0, )
#define TRACE_ENCLOSED_(...)   , 1
#define TRACE_FIELD_(m, field) TRACE_CAT_(m, TRACE_IS_FIELD_(field))(field)
#define TRACE_NAME_(field)     TRACE_FIELD_(TRACE_NAME_, field)
#define TRACE_NAME_0(field)
#define TRACE_NAME_1(field)     TRACE_NAME2_ field,
#define TRACE_NAME2_(name, ...) TRACE_FIRST_(__VA_OPT__(name, ) #name, )
#define TRACE_VALUE_(field)     TRACE_FIELD_(TRACE_VALUE_, field)
#define TRACE_VALUE_0(field)
#define TRACE_VALUE_1(field)  trace_value_of(TRACE_RAW_ field),
#define TRACE_RAW_(name, ...) (__VA_OPT__(TRACE_DROP_)(name) __VA_ARGS__)

/* Checks of fields. In C++, trace_value_of tests types. */
#define TRACE_FEW_OK_(...)                                                     \
    TRACE_ASSERT_(TRACE_COUNT_(__VA_ARGS__) <= 16,                             \
                  "write at most 16 fields or filters")
#define TRACE_FIELDS_OK_(...)                                                  \
    TRACE_FEW_OK_(__VA_ARGS__);                                                \
    TRACE_ASSERT_(                                                             \
        1 TRACE_EACH_(TRACE_AND_IS_FIELD_, __VA_ARGS__),                       \
        "write each field in parentheses: (\"name\", value) or (variable)");   \
    TRACE_ASSERT_(1 TRACE_EACH_(TRACE_AND_HAS_VALUE_, __VA_ARGS__),            \
                  TRACE_NO_VALUE_)
#define TRACE_AND_IS_FIELD_(field)  &&TRACE_IS_FIELD_(field)
#define TRACE_AND_HAS_VALUE_(field) TRACE_FIELD_(TRACE_AND_HAS_VALUE_, field)
#define TRACE_AND_HAS_VALUE_0(field)
#define TRACE_AND_HAS_VALUE_1(field) &&TRACE_HAS_VALUE_(TRACE_RAW_ field)
#define TRACE_FORMAT_OK_(format, ...)                                          \
    TRACE_ASSERT_(__builtin_constant_p(format),                                \
                  "write the format as a literal; (\"%s\", text) for a text")

/* TRACE_VALUES_ expands to two arguments: the number of values, and the values.
 * The array has no element more, because gcc would clear it first. */
#ifdef __cplusplus
#    define TRACE_VALUES_(...)                                                 \
        TRACE_COUNT_(__VA_ARGS__),                                             \
            trace_array_<TRACE_COUNT_(__VA_ARGS__) + 1>{                       \
                {TRACE_EACH_(TRACE_VALUE_, __VA_ARGS__) trace_empty()}}        \
                .begin()
#else
#    define TRACE_VALUES_(...)                                                 \
        TRACE_COUNT_(__VA_ARGS__), TRACE_CAT_(TRACE_ARRAY_, __VA_OPT__(1))(    \
                                       TRACE_EACH_(TRACE_VALUE_, __VA_ARGS__))
#    define TRACE_ARRAY_(...) 0
/* clang-format off */
#    define TRACE_ARRAY_1(...) (const struct trace_value[]){__VA_ARGS__}
/* clang-format on */
#endif

#ifndef LOG_TARGET
#    define LOG_TARGET 0 /* derived from the file's path */
#endif

/* TRACE_SITE_ declares and lists a call site: `id` makes its names unique,
 * `title` is the span's name or the message, 0 for a printf format. */
#define TRACE_SITE_(id, kind, level, title, ...)                               \
    TRACE_FIELDS_OK_(__VA_ARGS__);                                             \
    static const char *const TRACE_CAT_(trace_names_, id)[] = {                \
        TRACE_EACH_(TRACE_NAME_, __VA_ARGS__) 0};                              \
    static struct trace_site TRACE_CAT_(trace_site_, id) = {TRACE_LIST_(       \
        title, LOG_TARGET, __FILE__, __func__, TRACE_CAT_(trace_names_, id),   \
        __LINE__, level, kind, TRACE_COUNT_(__VA_ARGS__), TRACE_INTEREST_, 0,  \
        {0}, 0, 0)};                                                           \
    TRACE_LIST_SITE_(id)

/* C++ puts the statics of inline functions and templates into sections of its
 * own, so sites register at first use there. */
#ifdef __cplusplus
#    define TRACE_INTEREST_      TRACE_UNREGISTERED
#    define TRACE_LIST_SITE_(id) static_assert(true, "")
#else
#    define TRACE_INTEREST_ 0
#    if __has_attribute(retain)
#        define TRACE_RETAIN_ , retain
#    else
#        define TRACE_RETAIN_
#    endif
#    define TRACE_LIST_SITE_(id)                                               \
        static struct trace_site *TRACE_CAT_(trace_listed_, id)                \
            __attribute__((used TRACE_RETAIN_, section("trace_sites"))) =      \
                &TRACE_CAT_(trace_site_, id)
#endif

/* Each file registers the range of its object's C sites when it is loaded, and
 * the levels that it keeps: a few stores. */
#if TRACE_KEEPS_ERROR
#    define TRACE_WEAK_ __attribute__((weak, visibility("hidden")))
extern TRACE_WEAK_ struct trace_site *__start_trace_sites[];
extern TRACE_WEAK_ struct trace_site *__stop_trace_sites[];
TRACE_WEAK_ struct trace_module trace_module_;

__attribute__((constructor)) static void trace_module_enter_(void)
{
    trace_module_register(&trace_module_, __start_trace_sites,
                          __stop_trace_sites, TRACE_ABOVE_MAX_ - 1);
}

/* After all other destructors, which may log. */
__attribute__((destructor(101))) static void trace_module_leave_(void)
{
    trace_module_forget(&trace_module_);
}
#endif
TRACE_INLINE_ void trace_guard_end_(struct trace_span_ref *span)
{
    if (span->place)
        trace_span_leave_(*span);
}

#define TRACE_GUARD_(id, ref, open)                                            \
    TRACE_DECLARATION_(ref, id)                                                \
    TRACE_CAT_(trace_declared_, id)                                            \
    TRACE_CAT_(trace_guard_, id)                                               \
    __attribute__((cleanup(trace_guard_end_), unused)) = open

#define TRACE_NONE_ (__extension__(struct trace_span_ref){0, 0})
/* Replaces a compiled-out macro: arguments are checked, never evaluated. These
 * functions have no body. They take values one by one, because gcc reserves
 * stack space for an array even in unreachable code, and they are nothrow,
 * because g++ prepares for exceptions even there. */
__attribute__((nothrow)) int trace_check_(unsigned, const char *title, ...);
__attribute__((nothrow)) int trace_check_span_(struct trace_span_ref, ...);
__attribute__((nothrow)) int trace_check_stack_(struct trace_stack *);
__attribute__((nothrow)) int trace_check_log_(const char *format, ...)
    TRACE_PRINTF(1, 2);

/* Turns a level into the first word of a declaration. */
#define TRACE_X(name, number, word)                                            \
    typedef struct trace_span_ref name##_trace_ref_;
TRACE_LEVELS(TRACE_X)
#undef TRACE_X

/* TRACE_DECLARATION_ is only a declaration, so that `if (x) trace_span(...);`
 * and, in C, `case 1: trace_span(...)` fail to compile. gcc accepts a
 * declaration after a label, as C23 does, unless a warning is an error. In a
 * system header it warns only about the user's own words, so `ref` is made of
 * one, and comes first. gcc 14 does not know the warning by that name. */
#if defined(__GNUC__) && __GNUC__ < 14 && !defined(__clang__) &&               \
    !defined(__cplusplus)
/* clang-format off */
#    define TRACE_DECLARATION_(ref, id)                                        \
        _Pragma("GCC diagnostic push")                                         \
        _Pragma("GCC diagnostic error \"-Wc11-c2x-compat\"")                   \
        _Pragma("GCC diagnostic ignored \"-Wold-style-declaration\"")          \
        ref typedef TRACE_CAT_(trace_declared_, id) __attribute__((unused));   \
        _Pragma("GCC diagnostic pop")
/* clang-format on */
#else
#    define TRACE_DECLARATION_(ref, id)                                        \
        typedef ref TRACE_CAT_(trace_declared_, id) __attribute__((unused));
#endif

#define TRACE_OFF_(id, ref, check)                                             \
    TRACE_DECLARATION_(ref, id)                                                \
    (void)(0 && sizeof(TRACE_CAT_(trace_declared_, id)) && check)

/* ---- Annotating ----
 *
 *  trace_span(LEVEL, "name", fields...);       declares a span: the rest of
 *                                              the block
 *  trace_function(LEVEL, fields...);           the same, named by the function
 *  trace_span_in(parent, LEVEL, "name", ...);  the same below another parent,
 *                                              a struct trace_span_ref
 *  trace_span_enter(span);                     runs the rest of the block in
 *                                              `span`, of this thread or not
 *  trace_event(LEVEL, "message", fields...);   records an event
 *  trace_counter("name", number);              draws a number over time, and
 *                                              logs it at level trace
 *  trace_signpost("header", format, ...);      marks a moment in the trace, and
 *                                              logs it at level info
 *
 * If a block does not fit:
 *
 *  span = trace_span_begin(LEVEL, "name", ...) creates and enters a span
 *  span = trace_span_new(LEVEL, "name", ...)   creates a span
 *  trace_span_end(span);                       leaves a span that is entered,
 *                                              and closes it
 *  trace_record(span, fields...);              sets values that are known late;
 *                                              each replaces its namesake
 *
 * LEVEL is ERROR, WARN, INFO, DEBUG or TRACE. Counters and signposts are always
 * recorded, whatever TRACE_FILTER is. Arguments are not evaluated where the
 * call site is off, and errno is preserved. LOG_STATIC_MAX, defined before the
 * include or with -D as off, error, ... trace, compiles out call sites of more
 * verbose levels; their spans become the zero value.
 */
#define trace_span(level, ...)                                                 \
    TRACE_USE_(TRACE_SPAN_, TRACE_KEEPS_##level)                               \
    (__COUNTER__, level##_trace_ref_, TRACE_LEVEL_##level, __VA_ARGS__)
#define trace_function(level, ...)                                             \
    TRACE_USE_(TRACE_SPAN_, TRACE_KEEPS_##level)                               \
    (__COUNTER__, level##_trace_ref_, TRACE_LEVEL_##level,                     \
     __func__ __VA_OPT__(, ) __VA_ARGS__)
#define trace_span_in(parent, level, ...)                                      \
    TRACE_USE_(TRACE_SPAN_IN_, TRACE_KEEPS_##level)                            \
    (__COUNTER__, level##_trace_ref_, parent, TRACE_LEVEL_##level, __VA_ARGS__)
#define trace_span_enter(span)                                                 \
    TRACE_CAT_(TRACE_ENTER_, TRACE_KEEPS_)(__COUNTER__, span)
#define trace_span_begin(level, ...)                                           \
    TRACE_USE_(TRACE_BEGIN_, TRACE_KEEPS_##level)                              \
    (__COUNTER__, trace_span_begin_, (), TRACE_LEVEL_##level, __VA_ARGS__)
#define trace_span_new(level, ...)                                             \
    TRACE_USE_(TRACE_BEGIN_, TRACE_KEEPS_##level)                              \
    (__COUNTER__, trace_span_new_, (), TRACE_LEVEL_##level, __VA_ARGS__)
#define trace_record(span, ...)                                                \
    TRACE_CAT_(TRACE_RECORD_, TRACE_KEEPS_)(__COUNTER__, span, __VA_ARGS__)
#define trace_event(level, ...)                                                \
    TRACE_USE_(TRACE_EVENT_, TRACE_KEEPS_##level)                              \
    (__COUNTER__, TRACE_LEVEL_##level, __VA_ARGS__)

#define trace_counter(name, value)                                             \
    TRACE_CAT_(TRACE_COUNTER_, TRACE_KEEPS_)(__COUNTER__, name, value)
#define trace_signpost(header, ...)                                            \
    TRACE_CAT_(TRACE_SIGNPOST_, TRACE_KEEPS_)(__COUNTER__, header, __VA_ARGS__)

/* Kept: a call site, and a call if it is on; `first` has the call's first
 * arguments. */
#define TRACE_THIS_(id) &TRACE_CAT_(trace_site_, id)
#define TRACE_SPAN_1(id, ref, ...)                                             \
    TRACE_GUARD_(id, ref, TRACE_BEGIN_1(id, trace_span_open_, (), __VA_ARGS__))
#define TRACE_SPAN_IN_1(id, ref, parent, ...)                                  \
    TRACE_GUARD_(id, ref,                                                      \
                 TRACE_BEGIN_1(id, trace_span_in_, (parent, ), __VA_ARGS__))
#define TRACE_ENTER_1(id, span)                                                \
    TRACE_GUARD_(id, struct trace_span_ref, trace_span_enter_(span))
#define TRACE_BEGIN_1(id, begin, first, level, title, ...)                     \
    (__extension__({                                                           \
        TRACE_SITE_(id, TRACE_SITE_SPAN, level, title, __VA_ARGS__);           \
        trace_site_on_(TRACE_THIS_(id))                                        \
            ? begin(TRACE_LIST_ first TRACE_THIS_(id),                         \
                    TRACE_VALUES_(__VA_ARGS__))                                \
            : TRACE_NONE_;                                                     \
    }))
#define TRACE_RECORD_1(id, span, ...)                                          \
    (__extension__({                                                           \
        TRACE_SITE_(id, TRACE_SITE_FIELDS, TRACE_LEVEL_TRACE, 0, __VA_ARGS__); \
        struct trace_span_ref TRACE_CAT_(trace_to_, id) = span;                \
        if (TRACE_CAT_(trace_to_, id).place)                                   \
            trace_record_(TRACE_CAT_(trace_to_, id), TRACE_THIS_(id),          \
                          TRACE_VALUES_(__VA_ARGS__));                         \
    }))
#define TRACE_EVENT_1(id, level, title, ...)                                   \
    (__extension__({                                                           \
        TRACE_SITE_(id, TRACE_SITE_EVENT, level, title, __VA_ARGS__);          \
        if (trace_site_on_(TRACE_THIS_(id)))                                   \
            trace_event_(TRACE_THIS_(id), TRACE_VALUES_(__VA_ARGS__));         \
    }))

#define TRACE_COUNTER_1(id, name, value)                                       \
    (__extension__({                                                           \
        TRACE_SITE_(id, TRACE_SITE_COUNTER, TRACE_LEVEL_TRACE, "",             \
                    (name, value));                                            \
        if (trace_site_on_(TRACE_THIS_(id)))                                   \
            trace_counter_(TRACE_THIS_(id), trace_value_of(value));            \
    }))
#define TRACE_SIGNPOST_1(id, header, ...)                                      \
    (__extension__({                                                           \
        TRACE_FORMAT_OK_(__VA_ARGS__, );                                       \
        TRACE_SITE_(id, TRACE_SITE_SIGNPOST, TRACE_LEVEL_INFO, 0);             \
        if (trace_site_on_(TRACE_THIS_(id)))                                   \
            trace_signpost_(TRACE_THIS_(id), header, __VA_ARGS__);             \
    }))

/* With a word that is no level. */
#define TRACE_SPAN_no(...)    TRACE_NO_LEVEL_((void)0)
#define TRACE_SPAN_IN_no(...) TRACE_NO_LEVEL_((void)0)
#define TRACE_EVENT_no(...)   TRACE_NO_LEVEL_((void)0)
#define TRACE_BEGIN_no(...)   TRACE_NO_LEVEL_(TRACE_NONE_)

/* Compiled out. */
#define TRACE_CHECK_(level, title, ...)                                        \
    TRACE_CHECKED_(                                                            \
        TRACE_FIELDS_OK_(__VA_ARGS__),                                         \
        trace_check_(level, title, TRACE_EACH_(TRACE_VALUE_, __VA_ARGS__) 0))
#define TRACE_SPAN_0(id, ref, level, title, ...)                               \
    TRACE_OFF_(id, ref, TRACE_CHECK_(level, title, __VA_ARGS__))
#define TRACE_SPAN_IN_0(id, ref, parent, level, title, ...)                    \
    TRACE_OFF_(id, ref,                                                        \
               (trace_check_span_(parent, 0) &&                                \
                TRACE_CHECK_(level, title, __VA_ARGS__)))
#define TRACE_ENTER_0(id, span)                                                \
    TRACE_OFF_(id, struct trace_span_ref, (trace_check_span_(span, 0)))
#define TRACE_BEGIN_0(id, begin, first, level, title, ...)                     \
    ((void)(0 && TRACE_CHECK_(level, title, __VA_ARGS__)), TRACE_NONE_)
#define TRACE_RECORD_0(id, span, ...)                                          \
    ((void)(0 && TRACE_CHECKED_(                                               \
                     TRACE_FIELDS_OK_(__VA_ARGS__),                            \
                     trace_check_span_(                                        \
                         span, TRACE_EACH_(TRACE_VALUE_, __VA_ARGS__) 0))))
#define TRACE_EVENT_0(id, level, title, ...)                                   \
    ((void)(0 && TRACE_CHECK_(level, title, __VA_ARGS__)))

#define TRACE_COUNTER_0(id, name, value)                                       \
    ((void)(0 && TRACE_CHECK_(TRACE_LEVEL_TRACE, name, (name, value))))
#define TRACE_SIGNPOST_0(id, header, ...)                                      \
    ((void)(0 &&                                                               \
            TRACE_CHECKED_(TRACE_FORMAT_OK_(__VA_ARGS__, ),                    \
                           trace_check_log_(__VA_ARGS__)) &&                   \
            trace_check_(TRACE_LEVEL_INFO, header, 0)))

/* The library itself has these as functions, whatever TRACING is. */
#if !TRACE_KEEPS_ && !defined(TRACE_BUILD)
#    define trace_span_current()       TRACE_NONE_
#    define trace_span_end(span)       ((void)(0 && trace_check_span_(span, 0)))
#    define trace_stack_save()         ((struct trace_stack *)0)
#    define trace_stack_restore(stack) ((void)(0 && trace_check_stack_(stack)))
#    define trace_disable()            ((void)0)
#    define trace_enable()             ((void)0)
#    define trace_start(directory, options)                                    \
        TRACE_ZERO_(trace_start(directory, options))
#    define trace_stop()             TRACE_ZERO_(trace_stop())
#    define trace_server_start(path) TRACE_ZERO_(trace_server_start(path))
#    define trace_server_stop()      TRACE_ZERO_(trace_server_stop())
#endif

/* May be a statement on its own: gcc does not warn about this one in a block,
 * and about no other form outside of one. */
#if defined(__clang__) || defined(__cplusplus)
#    define TRACE_ZERO_(check) (0 ? check : 0)
#else
#    define TRACE_ZERO_(check) (__extension__({ 0 ? check : 0; }))
#endif

#endif

/* exceptions.c: notices C++ exceptions that nothing in a test catches, while
 * the stack of their throw is still there.
 *
 * The unwinder first searches for a handler, and changes nothing meanwhile. On
 * its way it asks the personality routine of each frame: ours, below the test,
 * is asked only about an exception that the test did not catch. So this costs
 * nothing for those that it catches, and no function of C++ is replaced.
 *
 * Functions of C++ that the program does not link are NULL here; in a C
 * program, all of them are.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "harness/worker/worker.h"

#if defined(__x86_64__) || defined(__aarch64__)

#    include <unwind.h>

/* ---- The ABI of C++ ---- */

typedef void terminate_handler(void);

struct globals {
    char *caught; /* the last exception that was caught */
};

#    define WEAK __attribute__((weak))

WEAK char *__cxa_demangle(const char *, char *, size_t *, int *);
WEAK struct globals *__cxa_get_globals(void);
WEAK terminate_handler *set_terminate(terminate_handler *) __asm__(
    "_ZSt13set_terminatePFvvE");

/* An object's virtual functions. The entry before the first one is its type. */
struct table {
    const void *const *entries;
};

struct type {
    struct table table;
    const char *name;
};

/* A class with one base at its beginning, and a class with any bases. */
struct single {
    struct type type;
    const struct type *base;
};

struct multiple {
    struct type type;
    unsigned flags, count;
    struct {
        const struct type *type;
        long where; /* offset << 8 | flags */
    } bases[];
};

enum { VIRTUAL_BASE = 1, WHAT = 2 /* in the table of std::exception */ };

/* The header before a thrown object. */
struct header {
    const struct type *type;
    void (*destroy)(void *);
    terminate_handler *handlers[2];
    struct header *next;
    int handler_count; /* negative: it is thrown again */
    int handler;
    const void *places[4];
    struct _Unwind_Exception unwinder;
};

_Static_assert(offsetof(struct header, unwinder) == 80, "as the ABI has it");

struct thrown {
    const struct type *type;
    void *object;
    enum test_log_stop stop;
};

#    define CLASS_GNU  0x474e5543432b2b00 /* "GNUCC++" */
#    define CLASS_LLVM 0x434c4e47432b2b00 /* "CLNGC++" */

static struct header *header_of(struct _Unwind_Exception *exception)
{
    return (struct header *)((char *)exception -
                             offsetof(struct header, unwinder));
}

/* The last byte of the class is 1 for std::rethrow_exception: then the header
 * refers to the object, where libc++ has a count of references. */
static bool find_thrown(struct thrown *thrown,
                        struct _Unwind_Exception *exception)
{
    struct header *header = header_of(exception);
    uint64_t class = exception->exception_class;
    bool refers = class & 1, gnu = (class & ~UINT64_C(1)) == CLASS_GNU;

    if (!gnu && (class & ~UINT64_C(1)) != CLASS_LLVM)
        return false;
    thrown->stop = refers                      ? TEST_LOG_STOP_RETHROW_POINTER
                   : header->handler_count < 0 ? TEST_LOG_STOP_RETHROW
                                               : TEST_LOG_STOP_THROW;
    thrown->object = !refers ? header + 1
                     : gnu   ? (void *)header->type
                             : ((void **)header)[-1];
    thrown->type = ((struct header *)thrown->object - 1)->type;
    return thrown->type != NULL;
}

/* ---- Its type and text ---- */

static bool is_kind(const struct type *type, const char *kind)
{
    const struct type *of = type->table.entries[-1];

    return !strcmp(of->name, kind);
}

static const struct table *exception_in(const struct type *, const char *);

static const struct table *exception_in_bases(const struct multiple *class,
                                              const char *object)
{
    const struct table *found = NULL;

    for (unsigned i = 0; !found && i < class->count; i++) {
        long offset = class->bases[i].where >> 8;

        if (class->bases[i].where & VIRTUAL_BASE)
            memcpy(&offset, *(const char *const *)object + offset,
                   sizeof(offset));
        found = exception_in(class->bases[i].type, object + offset);
    }
    return found;
}

/* Returns the std::exception that an object is or derives from; NULL without
 * one. */
static const struct table *exception_in(const struct type *type,
                                        const char *object)
{
    if (!strcmp(type->name, "St9exception"))
        return (const struct table *)object;
    if (is_kind(type, "N10__cxxabiv120__si_class_type_infoE"))
        return exception_in(((const struct single *)type)->base, object);
    if (is_kind(type, "N10__cxxabiv121__vmi_class_type_infoE"))
        return exception_in_bases((const struct multiple *)type, object);
    return NULL;
}

/* A thrown pointer may be invalid. */
static char *copy_string(const char *from)
{
    char text[256] = "";
    struct iovec here = {text, sizeof(text) - 1};
    struct iovec there = {(void *)from, sizeof(text) - 1};

    /* It may copy a part, up to a page that is missing. */
    if (syscall(SYS_process_vm_readv, getpid(), &here, 1, &there, 1, 0) <= 0)
        return NULL;
    return strdup(text);
}

/* Returns the text of an exception, to be freed; NULL: it has none. */
static char *text_of(const struct thrown *thrown)
{
    const struct table *exception = exception_in(thrown->type, thrown->object);
    const char *(*what)(const void *), *name = thrown->type->name;
    const char *text;
    char *number;

    if (exception) {
        memcpy(&what, &exception->entries[WHAT], sizeof(what));
        text = what(exception);
        return text ? strdup(text) : NULL;
    }
    if (!strcmp(name, "PKc") || !strcmp(name, "Pc"))
        return copy_string(*(char **)thrown->object);
    if (!strcmp(name, "i") &&
        asprintf(&number, "%d", *(int *)thrown->object) >= 0)
        return number;
    return NULL;
}

/* A name begins with an asterisk if its address is not unique. */
static char *name_of(const struct type *type)
{
    const char *name = type->name + (type->name[0] == '*');
    char *demangled =
        __cxa_demangle ? __cxa_demangle(name, NULL, NULL, NULL) : NULL;

    return demangled ? demangled : strdup(name);
}

/* ---- What is noted ---- */

/* The last exception that the thread did not catch. */
static _Thread_local struct {
    char *type, *text; /* NULL: none */
    bool left;         /* the test; otherwise std::terminate was called */
} noted;

static void note(const struct thrown *thrown, bool left)
{
    free(noted.type);
    free(noted.text);
    noted.type = name_of(thrown->type);
    noted.text = text_of(thrown);
    noted.left = left;
}

void test_log_exception_report(struct test_log_crash *crash)
{
    crash->type = (uint64_t)(uintptr_t)noted.type;
    crash->text = (uint64_t)(uintptr_t)noted.text;
}

char *test_log_exception_text(void)
{
    char *text = NULL;

    if (!noted.type || !noted.left ||
        asprintf(&text, "uncaught %s%s%s", noted.type, noted.text ? ": " : "",
                 noted.text ? noted.text : "") < 0)
        return NULL;
    return text;
}

/* ---- std::terminate ---- */

static bool (*is_looked_at)(void); /* NULL: no exception is looked at */
static terminate_handler *terminate_before;

/* An exception that leaves a thread does not reach the test. */
static void on_terminate(void)
{
    char *caught = __cxa_get_globals()->caught;
    struct thrown thrown;

    /* libc++ has two more words before the same header. */
    for (int words = 0; caught && words <= 2; words += 2) {
        struct header *header = (struct header *)(caught + words * 8);

        if (find_thrown(&thrown, &header->unwinder)) {
            note(&thrown, false);
            break;
        }
    }
    terminate_before();
}

void test_log_exceptions_begin(bool (*looked_at)(void))
{
    is_looked_at = looked_at;
    if (set_terminate && __cxa_get_globals && !terminate_before)
        terminate_before = set_terminate(on_terminate);
}

/* ---- Exceptions that leave a test ---- */

static void stop(const struct thrown *thrown)
{
    struct test_log_crash crash = {.code = thrown->stop,
                                   .thread = (uint32_t)syscall(SYS_gettid)};

    test_log_exception_report(&crash);
    test_log_status_crash(&crash);
}

/* Only an assembler directive refers to it. */
__attribute__((used)) _Unwind_Reason_Code test_log_personality(
    int, _Unwind_Action, _Unwind_Exception_Class, struct _Unwind_Exception *,
    struct _Unwind_Context *);

_Unwind_Reason_Code test_log_personality(int version, _Unwind_Action actions,
                                         _Unwind_Exception_Class class,
                                         struct _Unwind_Exception *exception,
                                         struct _Unwind_Context *context)
{
    struct thrown thrown;

    (void)version;
    (void)class;
    (void)context;
    if (actions & _UA_SEARCH_PHASE && find_thrown(&thrown, exception)) {
        note(&thrown, true);
        if (is_looked_at && is_looked_at())
            stop(&thrown);
    }
    return _URC_CONTINUE_UNWIND;
}

void test_log_watch_exceptions(void (*function)(void *), void *parameter)
{
    /* 0x1b: the encoding of a reference relative to its own place. */
    __asm__ volatile(".cfi_personality 0x1b, test_log_personality");
    function(parameter);
    __asm__ volatile(""); /* so that this is no tail call */
}

#else

void test_log_exception_report(struct test_log_crash *crash)
{
    (void)crash;
}

char *test_log_exception_text(void)
{
    return NULL;
}

void test_log_exceptions_begin(bool (*looked_at)(void))
{
    (void)looked_at;
}

void test_log_watch_exceptions(void (*function)(void *), void *parameter)
{
    function(parameter);
}

#endif

/* fault.c: prints why an address must not be used. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#include "stacks.h"

enum {
    NULL_PAGES = 1 << 16,
    STACK_REACH = 1 << 20, /* bytes that one frame may skip below the stack */
};

/* ---- Memory ---- */

static bool is_writable(pid_t process, uint64_t address)
{
    struct stacks_mapping mapping;

    return stacks_find_mapping(process, address, &mapping) &&
           mapping.access[1] == 'w';
}

/* The stack grew out of its mapping, into its guard pages or beyond. If the
 * stack pointer is still in the stack, an address above it is another page. */
static bool is_overflow(const struct stacks_fault *fault, pid_t process)
{
    uint64_t from =
        fault->address < fault->stack ? fault->address : fault->stack;
    uint64_t to = fault->address < fault->stack ? fault->stack : fault->address;

    return fault->stack && to - from < STACK_REACH &&
           !is_writable(process, fault->address) &&
           (from == fault->address || !is_writable(process, fault->stack));
}

static void put_null(const char *what, uint64_t address, char *text,
                     size_t size)
{
    if (address)
        snprintf(text, size, "%s + %#" PRIx64, what, address);
    else
        snprintf(text, size, "%s", what);
}

/* Without a return address, it may also have been a return. */
static void put_jump(uint64_t address, bool called, pid_t process, char *text,
                     size_t size)
{
    const char *verb = called ? "call of" : "jump to";
    struct stacks_mapping mapping;

    if (address < NULL_PAGES)
        put_null(called ? "call of a null function pointer"
                        : "jump to a null pointer",
                 address, text, size);
    else if (!stacks_find_mapping(process, address, &mapping))
        snprintf(text, size, "%s an unmapped address", verb);
    else
        snprintf(text, size, "%s memory that is not code%s%s", verb,
                 mapping.name[0] ? " of " : "", mapping.name);
}

static void put_memory(const struct stacks_fault *fault, pid_t process,
                       char *text, size_t size)
{
    struct stacks_mapping mapping;

    if (fault->code <= 0)
        return;
    if (fault->code == SI_KERNEL)
        snprintf(text, size, "an address that no process can have");
    else if (fault->address < NULL_PAGES)
        put_null("null pointer", fault->address, text, size);
    else if (is_overflow(fault, process))
        snprintf(text, size, "stack overflow");
    else if (!stacks_find_mapping(process, fault->address, &mapping))
        snprintf(text, size, "unmapped page");
    else
        snprintf(text, size, "%s%s%s",
                 mapping.access[0] != 'r'   ? "memory without access"
                 : mapping.access[1] != 'w' ? "read-only memory"
                                            : "memory that is not code",
                 mapping.name[0] ? " of " : "", mapping.name);
}

/* ---- Other signals ---- */

/* X(signal, code, text) */
#define REASONS(X)                                                             \
    X(SIGBUS, BUS_ADRALN, "misaligned address")                                \
    X(SIGBUS, BUS_ADRERR, "behind the end of a mapped file")                   \
    X(SIGBUS, BUS_OBJERR, "error of the device")                               \
    X(SIGFPE, FPE_INTDIV, "integer division by zero")                          \
    X(SIGFPE, FPE_INTOVF, "integer overflow")                                  \
    X(SIGFPE, FPE_FLTDIV, "floating-point division by zero")                   \
    X(SIGFPE, FPE_FLTOVF, "floating-point overflow")                           \
    X(SIGFPE, FPE_FLTUND, "floating-point underflow")                          \
    X(SIGFPE, FPE_FLTRES, "inexact floating-point result")                     \
    X(SIGFPE, FPE_FLTINV, "invalid floating-point operation")                  \
    X(SIGILL, ILL_ILLOPC, "illegal instruction")                               \
    X(SIGILL, ILL_ILLOPN, "illegal instruction")                               \
    X(SIGILL, ILL_PRVOPC, "privileged instruction")

static const char *reason_of(const struct stacks_fault *fault)
{
#define STACKS_X(number, reason, text)                                         \
    if (fault->signal == number && fault->code == reason)                      \
        return text;
    REASONS(STACKS_X)
#undef STACKS_X
    return "";
}

/* Leaves the text empty if the reason is unknown. */
static void describe(const struct stacks_fault *fault,
                     const struct stacks_caller *caller, pid_t process,
                     char *text, size_t size)
{
    text[0] = '\0';
    if (caller->jumped)
        put_jump(fault->instruction, caller->call != STACKS_CALL_UNKNOWN,
                 process, text, size);
    else if (fault->signal == SIGSEGV)
        put_memory(fault, process, text, size);
    else
        snprintf(text, size, "%s", reason_of(fault));
}

/* How sure the stack is of a thread that called no code. */
static void put_certainty(const struct stacks_caller *caller)
{
    static const char *const notes[] = {
        [STACKS_CALL_UNKNOWN] =
            "the caller is unknown: there is no return address where a call "
            "leaves it",
        [STACKS_CALL_SURE] =
            "the caller is taken from the return address; its call goes to "
            "this address",
        [STACKS_CALL_PASSED_ON] =
            "the caller is found by the return address; it ended with this "
            "call (a tail call), so its line is where it begins",
        [STACKS_CALL_UNSURE] =
            "the caller is taken from the return address; perhaps a function "
            "that it called ended with this call (a tail call)",
    };

    if (caller->jumped)
        stacks_put("note\t%s", notes[caller->call]);
}

void stacks_put_fault(const struct stacks_fault *fault,
                      const struct stacks_caller *caller, pid_t process)
{
    char text[512];

    describe(fault, caller, process, text, sizeof(text));
    if (text[0])
        stacks_put("fault\t%s", text);
    put_certainty(caller);
}

/* caller.c: finds what called an address that has no code.
 *
 * Nothing has run there, so the return address is still where the call put it,
 * and the other registers are the caller's.
 */
#include <stddef.h>
#include <string.h>
#include <ucontext.h>

#include "stacks.h"

static bool is_code(pid_t process, uint64_t address)
{
    struct stacks_mapping mapping;

    return stacks_find_mapping(process, address, &mapping) &&
           mapping.access[2] == 'x';
}

#if defined(__x86_64__)

static const uint64_t nowhere = UINT64_MAX; /* a target that is unknown */

enum { RSP = 7, RIP = 16, LONGEST_CALL = 8 /* with its prefix */ };

/* In the order of DWARF's numbers. */
static const int registers[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI,
                                REG_RDI, REG_RBP, REG_RSP, REG_R8,  REG_R9,
                                REG_R10, REG_R11, REG_R12, REG_R13, REG_R14,
                                REG_R15, REG_RIP};

static bool read_registers(struct stacks_caller *caller, pid_t process,
                           uint64_t context)
{
    mcontext_t all;

    if (!stacks_copy(process, context + offsetof(ucontext_t, uc_mcontext), &all,
                     sizeof(all)))
        return false;
    caller->register_count = sizeof(registers) / sizeof(*registers);
    for (size_t i = 0; i < caller->register_count; i++)
        caller->registers[i] = (uint64_t)all.gregs[registers[i]];
    return true;
}

/* Sets the registers as they are after the call. */
static bool take_return_address(struct stacks_caller *caller, pid_t process)
{
    if (!stacks_copy(process, caller->registers[RSP], &caller->returns_to,
                     sizeof(caller->returns_to)))
        return false;
    caller->registers[RSP] += sizeof(caller->returns_to);
    return true;
}

/* ---- Calls ---- */

/* A call through a register or memory: [prefix] 0xff, the operand's kind, and,
 * depending on that, an index byte and a displacement. */
struct operand {
    int mode, base, index, scale; /* registers by DWARF's numbers; -1: none */
    int64_t displacement;
    size_t size; /* of the instruction without its prefix */
};

enum { REGISTER = 3, NONE = -1 };

static int register_of(int number, bool extended)
{
    static const int low[] = {0, 2, 1, 3, 7, 6, 4, 5};

    return extended ? number + 8 : low[number];
}

static int64_t displacement_of(const uint8_t *at, size_t size)
{
    int8_t byte;
    int32_t word;

    memcpy(&byte, at, sizeof(byte));
    memcpy(&word, at, sizeof(word));
    return size == 4 ? word : size ? byte : 0;
}

/* Parses the operand of a call; `code` is followed by eight bytes. */
static struct operand operand_of(const uint8_t *code, uint8_t prefix)
{
    uint8_t kind = code[1], indexed = code[2];
    bool has_index = kind >> 6 != REGISTER && (kind & 7) == 4;
    bool extends = (prefix & 0xf0) == 0x40;
    int base = has_index ? indexed & 7 : kind & 7;
    bool bare = kind >> 6 == 0 && base == 5; /* no base, or the instruction */
    size_t at = has_index ? 3 : 2;
    size_t width = kind >> 6 == 1 ? 1 : kind >> 6 == 2 || bare ? 4 : 0;
    int index =
        has_index ? register_of(indexed >> 3 & 7, extends && prefix & 2) : NONE;

    return (struct operand){
        .mode = kind >> 6,
        .base = !bare       ? register_of(base, extends && prefix & 1)
                : has_index ? NONE
                            : RIP,
        .index = index == RSP ? NONE : index,
        .scale = 1 << (indexed >> 6),
        .displacement = displacement_of(code + at, width),
        .size = at + width,
    };
}

/* Returns where a call through an operand went, or `nowhere`. */
static uint64_t follow(const struct stacks_caller *caller, pid_t process,
                       const struct operand *operand)
{
    const uint64_t *all = caller->registers;
    uint64_t at = operand->base == NONE  ? 0
                  : operand->base == RIP ? caller->returns_to
                                         : all[operand->base];

    if (operand->mode == REGISTER)
        return at;
    at += (uint64_t)operand->displacement;
    if (operand->index != NONE)
        at += all[operand->index] * (uint64_t)operand->scale;
    return stacks_copy(process, at, &at, sizeof(at)) ? at : nowhere;
}

/* A function of a library is called through a stub of the linker: [endbr64]
 * [bnd] jmp *address(%rip). Returns where it goes. */
static uint64_t follow_stub(pid_t process, uint64_t address)
{
    static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    uint8_t code[16];
    size_t at = 0;
    uint64_t slot;

    if (!stacks_copy(process, address, code, sizeof(code)))
        return address;
    if (!memcmp(code, endbr64, sizeof(endbr64)))
        at += sizeof(endbr64);
    if (code[at] == 0xf2)
        at++;
    if (code[at] != 0xff || code[at + 1] != 0x25)
        return address;
    slot = address + at + 6 + (uint64_t)displacement_of(code + at + 2, 4);
    return stacks_copy(process, slot, &slot, sizeof(slot)) ? slot : address;
}

static uint64_t direct_target(const struct stacks_caller *caller, pid_t process,
                              const uint8_t *end)
{
    return follow_stub(process, caller->returns_to +
                                    (uint64_t)displacement_of(end - 4, 4));
}

/* Finds the call before the return address, and the call's target. */
static bool find_call(struct stacks_caller *caller, pid_t process)
{
    uint8_t code[2 * LONGEST_CALL] = {0};
    const uint8_t *end = code + LONGEST_CALL;

    if (!stacks_copy(process, caller->returns_to - LONGEST_CALL, code,
                     LONGEST_CALL))
        return false;
    for (size_t size = 2; size < LONGEST_CALL; size++) {
        const uint8_t *call = end - size;
        struct operand operand = operand_of(call, call[-1]);

        if (call[0] == 0xff && (call[1] >> 3 & 7) == 2 &&
            operand.size == size) {
            caller->target = follow(caller, process, &operand);
            return true;
        }
    }
    caller->target = direct_target(caller, process, end);
    return end[-5] == 0xe8;
}

#elif defined(__aarch64__)

enum { LINK = 30, STACK = 31, REGISTERS = 32 };

static bool read_registers(struct stacks_caller *caller, pid_t process,
                           uint64_t context)
{
    mcontext_t all;

    if (!stacks_copy(process, context + offsetof(ucontext_t, uc_mcontext), &all,
                     offsetof(mcontext_t, __reserved)))
        return false;
    caller->register_count = REGISTERS;
    for (size_t i = 0; i < STACK; i++)
        caller->registers[i] = all.regs[i];
    caller->registers[STACK] = all.sp;
    return true;
}

static bool take_return_address(struct stacks_caller *caller, pid_t process)
{
    (void)process;
    caller->returns_to = caller->registers[LINK];
    return true;
}

static bool find_call(struct stacks_caller *caller, pid_t process)
{
    uint32_t call;
    int64_t words;

    if (!stacks_copy(process, caller->returns_to - 4, &call, sizeof(call)))
        return false;
    words = (int32_t)(call << 6) >> 6;
    caller->target = call >> 26 == 0x25
                         ? caller->returns_to - 4 + (uint64_t)(words * 4)
                         : caller->registers[call >> 5 & 31];
    return call >> 26 == 0x25 || (call & 0xfffffc1f) == 0xd63f0000;
}

#else

static bool read_registers(struct stacks_caller *caller, pid_t process,
                           uint64_t context)
{
    (void)caller;
    (void)process;
    (void)context;
    return false;
}

static bool take_return_address(struct stacks_caller *caller, pid_t process)
{
    (void)caller;
    (void)process;
    return false;
}

static bool find_call(struct stacks_caller *caller, pid_t process)
{
    (void)caller;
    (void)process;
    return false;
}

#endif

static enum stacks_call judge(const struct stacks_caller *caller,
                              const struct stacks_fault *fault, pid_t process)
{
    if (caller->target == fault->instruction)
        return STACKS_CALL_SURE;
    return is_code(process, caller->target) ? STACKS_CALL_PASSED_ON
                                            : STACKS_CALL_UNSURE;
}

/* The stack that a process left includes its registers. */
static bool know_registers(struct stacks_caller *caller,
                           const struct stacks_fault *fault, pid_t process)
{
    const struct trace_crash *left = stacks_left();

    if (!left)
        return fault->context &&
               read_registers(caller, process, fault->context);
    memcpy(caller->registers, left->registers, sizeof(caller->registers));
    caller->register_count = left->register_count;
    return left->register_count;
}

struct stacks_caller stacks_find_caller(const struct stacks_fault *fault,
                                        pid_t process)
{
    struct stacks_caller caller = {.jumped = false};

    if (is_code(process, fault->instruction) ||
        !know_registers(&caller, fault, process))
        return caller;
    caller.jumped = true;
    if (take_return_address(&caller, process) &&
        is_code(process, caller.returns_to) && find_call(&caller, process))
        caller.call = judge(&caller, fault, process);
    return caller;
}

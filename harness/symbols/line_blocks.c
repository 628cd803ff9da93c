/* line_blocks.c: finds the lines of blocks.
 *
 * A block lasts until the code calls the hook again. A call has the distance to
 * what it calls, which for the hook is known from the block's own call.
 *
 * Sources: Intel 64 and IA-32 Architectures Software Developer's Manual, volume
 * 2, CALL; Arm Architecture Reference Manual for A-profile, BL.
 */
#include "symbols.h"

#include <string.h>

/* A call: its bytes, and what it calls. */
struct call {
    size_t size;
    uint64_t called; /* its address, or that of a pointer to it */
};

#if defined(__x86_64__)

/* Bytes: from one instruction to the next, of calls, and of what passes reads.
 */
enum { LEAST = 1, CALL_LEAST = 2, CALL_MOST = 6, PASSES = 4 };

static uint64_t called_by(const unsigned char *end, uint64_t address)
{
    int32_t distance;

    memcpy(&distance, end - sizeof(distance), sizeof(distance));
    return address + (uint64_t)(int64_t)distance;
}

/* Returns whether bytes may be a call: of code of the segment, or by a pointer.
 * Other instructions may have such bytes. */
static bool may_call(const struct test_log_code *code, uint64_t address)
{
    const unsigned char *bytes = code->bytes + (address - code->begin);

    if (bytes[0] == 0xe8 && code->end - address >= 5)
        return called_by(bytes + 5, address + 5) - code->begin <
               code->end - code->begin;
    return bytes[0] == 0xff && (bytes[1] >> 3 & 7) == 2;
}

/* Returns whether an instruction is of those that pass a hook which function
 * begins or ends: "mov 8(%rbp), register", of where the function returns to. */
static bool passes(const struct test_log_code *code, uint64_t at,
                   uint64_t function)
{
    const unsigned char *bytes = code->bytes + (at - code->begin);

    (void)function;
    return (bytes[0] & 0xfb) == 0x48 && bytes[1] == 0x8b &&
           (bytes[2] & 0xc7) == 0x45 && bytes[3] == 8;
}

/* Returns where an instruction may jump to that ends at an address; 0: it is no
 * jump. */
static uint64_t jump_before(const unsigned char *end, size_t before,
                            uint64_t address)
{
    if (before >= 5 && end[-5] == 0xe9)
        return called_by(end, address);
    if (before >= 6 && end[-6] == 0x0f && end[-5] >> 4 == 8)
        return called_by(end, address);
    if (before >= 2 && (end[-2] == 0xeb || end[-2] >> 4 == 7))
        return address + (uint64_t)(int64_t)(signed char)end[-1];
    return 0;
}

/* "leave", or "pop %rbp", and "ret". */
static bool returns_before(const unsigned char *end, size_t before)
{
    return before >= 2 && end[-1] == 0xc3 &&
           (end[-2] == 0xc9 || end[-2] == 0x5d);
}

/* Reads the call that ends at an address: "call hook", or "call *pointer" of
 * code that is built with -fno-plt, of which linkers may make "addr32 call". */
static struct call call_before(const unsigned char *end, size_t before,
                               uint64_t address)
{
    if (before >= 5 && end[-5] == 0xe8)
        return (struct call){before >= 6 && end[-6] == 0x67 ? 6 : 5,
                             called_by(end, address)};
    if (before >= 6 && end[-6] == 0xff && end[-5] == 0x15)
        return (struct call){6, called_by(end, address)};
    return (struct call){0, 0};
}

#elif defined(__aarch64__)

enum { LEAST = 4, CALL_LEAST = 4, CALL_MOST = 4, PASSES = 8 };

static uint32_t instruction_at(const unsigned char *bytes)
{
    uint32_t instruction;

    memcpy(&instruction, bytes, sizeof(instruction));
    return instruction;
}

/* BL and BLR. */
static bool may_call(const struct test_log_code *code, uint64_t address)
{
    uint32_t instruction =
        instruction_at(code->bytes + (address - code->begin));

    return instruction >> 26 == 0x25 ||
           (instruction & 0xfffffc1f) == 0xd63f0000;
}

/* ADRP and ADD, of the function. */
static bool passes(const struct test_log_code *code, uint64_t at,
                   uint64_t function)
{
    const unsigned char *bytes = code->bytes + (at - code->begin);
    uint32_t page = instruction_at(bytes), add = instruction_at(bytes + 4);
    uint64_t pages = (page >> 5 & 0x7ffff) << 2 | (page >> 29 & 3);

    pages = (uint64_t)((int64_t)(pages << 43) >> 31);
    return (page & 0x9f000000) == 0x90000000 &&
           (add & 0xffc00000) == 0x91000000 &&
           (at & ~UINT64_C(0xfff)) + pages + (add >> 10 & 0xfff) == function;
}

/* Returns what B or BL adds to its address. */
static uint64_t distance_of(uint32_t instruction)
{
    return (uint64_t)((int64_t)((uint64_t)instruction << 38) >> 36);
}

/* B, B.cond and CBZ, TBZ. */
static uint64_t jump_before(const unsigned char *end, size_t before,
                            uint64_t address)
{
    uint32_t jump = before >= 4 ? instruction_at(end - 4) : 0;
    uint64_t distance;

    if (jump >> 26 == 0x05)
        distance = distance_of(jump);
    else if (jump >> 24 == 0x54 || (jump >> 25 & 0x3f) == 0x1a)
        distance = (uint64_t)((int64_t)((uint64_t)jump << 40) >> 43) & ~3u;
    else if ((jump >> 25 & 0x3f) == 0x1b)
        distance = (uint64_t)((int64_t)((uint64_t)jump << 45) >> 48) & ~3u;
    else
        return 0;
    return address - 4 + distance;
}

static bool returns_before(const unsigned char *end, size_t before)
{
    return before >= 4 && instruction_at(end - 4) == 0xd65f03c0;
}

static struct call call_before(const unsigned char *end, size_t before,
                               uint64_t address)
{
    uint32_t instruction = before >= 4 ? instruction_at(end - 4) : 0;

    return instruction >> 26 == 0x25
               ? (struct call){4, address - 4 + distance_of(instruction)}
               : (struct call){0, 0};
}

#else

enum { LEAST = 1, CALL_LEAST = 1, CALL_MOST = 1, PASSES = 1 };

static bool may_call(const struct test_log_code *code, uint64_t address)
{
    (void)code;
    (void)address;
    return true;
}

static bool passes(const struct test_log_code *code, uint64_t at,
                   uint64_t function)
{
    (void)code;
    (void)at;
    (void)function;
    return false;
}

static uint64_t jump_before(const unsigned char *end, size_t before,
                            uint64_t address)
{
    (void)end;
    (void)before;
    (void)address;
    return 0;
}

static bool returns_before(const unsigned char *end, size_t before)
{
    (void)end;
    (void)before;
    return false;
}

static struct call call_before(const unsigned char *end, size_t before,
                               uint64_t address)
{
    (void)end;
    (void)before;
    (void)address;
    return (struct call){0, 0};
}

#endif

/* Reads the call that ends at an address of the code. */
static struct call call_at(const struct test_log_code *code, uint64_t address)
{
    size_t before = address - code->begin;

    return call_before(code->bytes + before, before, address);
}

/* Returns the next call of `called`, 0: of anything, and sets *at to its end;
 * size 0: there is none before `end`. */
static struct call find_call(const struct test_log_code *code, uint64_t called,
                             uint64_t *at, uint64_t end)
{
    for (*at += LEAST; *at <= end; *at += LEAST) {
        struct call call = call_at(code, *at);

        if (call.size && (!called || call.called == called))
            return call;
    }
    return (struct call){0, 0};
}

/* Finds code; false if not all of it is in the file. */
static bool find_code(struct test_log_module *module, uint64_t begin,
                      uint64_t end, struct test_log_code *code)
{
    return test_log_module_code(module, begin, code) && end <= code->end;
}

void test_log_visit_calls(struct test_log_module *module, uint64_t begin,
                          uint64_t end, test_log_visit_call *visit,
                          void *context)
{
    struct test_log_code code;
    struct call call;

    if (!find_code(module, begin, end, &code))
        return;
    while ((call = find_call(&code, 0, &begin, end)).size)
        visit(context, call.called);
}

uint64_t test_log_called_before(struct test_log_module *module,
                                uint64_t address)
{
    struct test_log_code code;

    return test_log_module_code(module, address - 1, &code)
               ? call_at(&code, address).called
               : 0;
}

bool test_log_ends_before(struct test_log_module *module, uint64_t address,
                          uint64_t hook)
{
    const unsigned char *end;
    struct test_log_code code;
    uint64_t target, at;
    struct call call;

    if (!test_log_module_code(module, address - 1, &code))
        return false;
    end = code.bytes + (address - code.begin);
    if (returns_before(end, address - code.begin))
        return true;
    at = target = jump_before(end, address - code.begin, address);
    if (target < code.begin || target >= code.end)
        return false;
    if (code.end - target > CALL_MOST)
        code.end = target + CALL_MOST;
    call = find_call(&code, hook, &at, code.end);
    return call.size && at - call.size == target;
}

/* ---- Blocks ---- */

/* Returns where code first may call something, or its end. */
static uint64_t first_call(const struct test_log_code *code, uint64_t begin,
                           uint64_t end)
{
    for (; begin + CALL_LEAST <= end; begin += LEAST)
        if (may_call(code, begin))
            return begin;
    return end;
}

/* Finds the call of the hook that begins or ends a function, if that is a
 * block's first call: where its arguments begin, and where it ends. */
static bool hooks_function(const struct test_log_code *code, uint64_t function,
                           const struct test_log_block *block,
                           uint64_t *arguments, uint64_t *end)
{
    uint64_t call = first_call(code, block->address, block->end), at;

    *end = call;
    if (!find_call(code, 0, end, block->end).size)
        return false;
    for (at = block->address; at + PASSES <= call; at += LEAST)
        if (passes(code, at, function))
            break;
    *arguments = at;
    return at + PASSES <= call;
}

void test_log_visit_blocks(struct test_log_module *module, uint64_t hook,
                           uint64_t begin, uint64_t end,
                           test_log_visit_block *visit, void *context)
{
    uint64_t next = begin, last = 0, arguments, after;
    struct test_log_code code;
    struct call call;

    if (!find_code(module, begin, end, &code))
        return;
    call = find_call(&code, hook, &next, end);
    while (call.size) {
        struct test_log_block block = {
            .begin = next - call.size, .address = next, .last = last};

        call = find_call(&code, hook, &next, end);
        block.calls = block.address;
        block.end = call.size ? next - call.size : end;
        if (hooks_function(&code, begin, &block, &arguments, &after)) {
            block.leaves = last;
            block.is_empty = last && arguments == block.address;
            block.resumes =
                last && first_call(&code, after, block.end) < block.end;
            block.calls = last ? block.address : after;
        }
        block.calls = first_call(&code, block.calls, block.end);
        visit(context, &block);
        last = block.begin;
    }
}

/* Returns where a block ends; its address if that is not known. */
static uint64_t end_of(struct test_log_module *module, uint64_t address)
{
    uint64_t begin, end, next = address;
    struct test_log_code code;
    struct call hook, call;

    if (!test_log_module_range(module, address, &begin, &end) ||
        !find_code(module, begin, end, &code) ||
        !(hook = call_at(&code, address)).size)
        return address;
    call = find_call(&code, hook.called, &next, end);
    return call.size ? next - call.size : end;
}

/* The hook's call may have the line of what is before it, or none: the block's
 * first line is that of what follows. */
bool test_log_module_block(struct test_log_module *module, uint64_t address,
                           struct test_log_symbol *symbol)
{
    uint64_t end = end_of(module, address), at = address;
    struct test_log_symbol next;

    if (!test_log_module_at(module, at, symbol))
        return false;
    while (!symbol->line && ++at < end)
        test_log_module_at(module, at, symbol);
    /* Optimized code may have lines from before the first one. */
    while (symbol->file && ++at < end) {
        uint32_t last = symbol->last_line ? symbol->last_line : symbol->line;

        if (test_log_module_at(module, at, &next) && next.file &&
            next.line > last && !strcmp(next.file, symbol->file))
            symbol->last_line = next.line;
    }
    return true;
}

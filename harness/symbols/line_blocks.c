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

enum { LEAST = 1 /* bytes from one instruction to the next */ };

static uint64_t called_by(const unsigned char *end, uint64_t address)
{
    int32_t distance;

    memcpy(&distance, end - sizeof(distance), sizeof(distance));
    return address + (uint64_t)(int64_t)distance;
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

enum { LEAST = 4 };

static struct call call_before(const unsigned char *end, size_t before,
                               uint64_t address)
{
    uint32_t instruction;

    if (before < sizeof(instruction))
        return (struct call){0, 0};
    memcpy(&instruction, end - sizeof(instruction), sizeof(instruction));
    if (instruction >> 26 != 0x25)
        return (struct call){0, 0};
    return (struct call){
        sizeof(instruction),
        address - 4 + (uint64_t)((int64_t)((uint64_t)instruction << 38) >> 36)};
}

#else

enum { LEAST = 1 };

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

/* Returns where the next call of the hook ends, which the block that begins at
 * `block` calls, too; 0: there is none from `begin` to `end`. *size becomes
 * that of the call. */
static uint64_t next_call(struct test_log_module *module, uint64_t block,
                          uint64_t begin, uint64_t end, size_t *size)
{
    struct test_log_code code;
    struct call hook;
    uint64_t at = begin;

    if (!find_code(module, begin, end, &code) || block < code.begin ||
        block > code.end)
        return 0;
    hook = call_at(&code, block);
    *size = hook.size;
    return hook.size && find_call(&code, hook.called, &at, end).size ? at : 0;
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

void test_log_visit_blocks(struct test_log_module *module, uint64_t hook,
                           uint64_t begin, uint64_t end,
                           test_log_visit_block *visit, void *context)
{
    struct test_log_code code;
    uint64_t block = 0, at = begin;
    struct call call;

    if (!find_code(module, begin, end, &code))
        return;
    while ((call = find_call(&code, hook, &at, end)).size) {
        if (block)
            visit(context, block, at - call.size);
        block = at;
    }
    if (block)
        visit(context, block, end);
}

uint64_t test_log_block_end(struct test_log_module *module, uint64_t address)
{
    uint64_t last = test_log_module_function_end(module, address);
    size_t size = 0;
    uint64_t next = next_call(module, address, address, last, &size);

    if (!size)
        return address;
    return next ? next - size : last;
}

uint64_t test_log_first_block(struct test_log_module *module, uint64_t block,
                              uint64_t begin, uint64_t end)
{
    size_t size;

    return next_call(module, block, begin, end, &size);
}

/* The hook's call may have the line of what is before it, or none: the block's
 * first line is that of what follows. */
bool test_log_module_block(struct test_log_module *module, uint64_t address,
                           struct test_log_symbol *symbol)
{
    uint64_t end = test_log_block_end(module, address), at = address;
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

/* frame_rules.c: how to find the caller of code, from a file's .eh_frame.
 *
 * Sources: DWARF 5, section 6.4; System V ABI, AMD64 supplement, figure
 * 3.36; DWARF for the Arm 64-bit Architecture, section 4.1.
 */
#include <stdlib.h>

#include "libdw.h"
#include "symbols.h"

/* The numbers of registers in DWARF. */
#if defined(__aarch64__)
enum { FRAME_POINTER = 29, STACK_POINTER = 31, RETURN_ADDRESS = 30 };
#else
enum { FRAME_POINTER = 6, STACK_POINTER = 7, RETURN_ADDRESS = 16 };
#endif

/* Reads an operation that adds to a register; false if it is another one. */
static bool read_base(const Dwarf_Op *op, struct trace_frame_rules *rules)
{
    bool bregx = op->atom == DW_OP_bregx;
    uint64_t number = bregx ? op->number : (uint64_t)op->atom - DW_OP_breg0;

    if (!bregx && (op->atom < DW_OP_breg0 || op->atom > DW_OP_breg31))
        return false;
    rules->by_frame = number == FRAME_POINTER;
    rules->offset = (int64_t)(bregx ? op->number2 : op->number);
    return number == FRAME_POINTER || number == STACK_POINTER;
}

/* Code that has aligned its stack has the address in its frame. */
static bool read_cfa(Dwarf_Frame *frame, struct trace_frame_rules *rules)
{
    Dwarf_Op *ops;
    size_t count;

    if (test_log_dw.dwarf_frame_cfa(frame, &ops, &count) || !count ||
        !read_base(ops, rules))
        return false;
    rules->indirect = count == 2 && ops[1].atom == DW_OP_deref;
    return count == 1 || rules->indirect;
}

/* Finds where a register of the caller is. */
static bool read_register(Dwarf_Frame *frame, int number,
                          struct trace_saved *saved)
{
    Dwarf_Op memory[3], *ops;
    size_t count;

    if (test_log_dw.dwarf_frame_register(frame, number, memory, &ops, &count))
        return false;
    if (!count && !ops) {
        saved->how = TRACE_SAVED_SAME;
    } else if (!count) {
        saved->how = TRACE_SAVED_NOWHERE;
    } else if (ops[0].atom == DW_OP_call_frame_cfa && count <= 2 &&
               (count == 1 || ops[1].atom == DW_OP_plus_uconst)) {
        saved->how = TRACE_SAVED_ON_STACK;
        saved->offset = count == 2 ? (int64_t)ops[1].number : 0;
    } else {
        return false;
    }
    return true;
}

bool test_log_module_rules(struct test_log_module *module, uint64_t place,
                           struct trace_frame_rules *rules)
{
    uint64_t address, bias = 0;
    Dwarf_CFI *cfi;
    Dwarf_Frame *frame = NULL;
    bool ok;

    *rules = (struct trace_frame_rules){.offset = 0};
    if (!test_log_module_address(module, place, &address))
        return false;
    cfi = test_log_dw.dwfl_module_eh_cfi(module->module, &bias);
    if (!cfi || test_log_dw.dwarf_cfi_addrframe(cfi, address - bias, &frame))
        return false;
    ok = read_cfa(frame, rules) &&
         read_register(frame, RETURN_ADDRESS, &rules->back) &&
         read_register(frame, FRAME_POINTER, &rules->frame);
    free(frame);
    return ok;
}

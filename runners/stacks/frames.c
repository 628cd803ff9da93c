/* frames.c: unwinds stacks and names their functions, with elfutils' libdwfl.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>

#include "harness/run/model/system_modules.h"
#include "stacks.h"

static int report(Dwfl *dwfl, pid_t thread)
{
    FILE *left = stacks_left() ? stacks_left_mappings() : NULL;
    int error;

    if (!left)
        return stacks_left() ? -1 : dwfl_linux_proc_report(dwfl, thread);
    error = dwfl_linux_proc_maps_report(dwfl, left);
    fclose(left);
    return error;
}

/* Opens the modules of a thread's process; NULL with the reason in dwfl_errno.
 */
static Dwfl *open_modules(pid_t thread)
{
    static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_linux_proc_find_elf,
        .find_debuginfo = dwfl_standard_find_debuginfo,
    };
    Dwfl *dwfl = dwfl_begin(&callbacks);

    if (dwfl && !report(dwfl, thread) && !dwfl_report_end(dwfl, NULL, NULL))
        return dwfl;
    stacks_close(dwfl);
    return NULL;
}

struct Dwfl *stacks_open(pid_t thread)
{
    Dwfl *dwfl = open_modules(thread);

    if (dwfl && !dwfl_linux_proc_attach(dwfl, thread, true))
        return dwfl;
    stacks_put("note\tthe stacks of thread %d cannot be read: %s", (int)thread,
               dwfl_errmsg(-1));
    stacks_close(dwfl);
    return NULL;
}

void stacks_close(struct Dwfl *dwfl)
{
    if (dwfl)
        dwfl_end(dwfl);
}

/* ---- Functions ---- */

char *__cxa_demangle(const char *, char *, size_t *, int *);

/* The program ends soon, so a demangled name is never freed. */
static const char *demangled(const char *symbol)
{
    bool mangled = symbol && symbol[0] == '_' && symbol[1] == 'Z';
    const char *name =
        mangled ? __cxa_demangle(symbol, NULL, NULL, NULL) : NULL;

    return name ? name : symbol;
}

static const char *function_name(Dwarf_Die *function)
{
    Dwarf_Attribute attribute;
    const char *symbol = dwarf_formstring(
        dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute));

    return symbol ? demangled(symbol) : dwarf_diename(function);
}

/* The place where an inlined function was called. */
static void place_call(struct stacks_frame *frame, Dwarf_Die *inlined,
                       Dwarf_Die *unit)
{
    Dwarf_Attribute attribute;
    Dwarf_Word file = 0, line = 0;
    Dwarf_Files *files;

    dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file);
    dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line);
    frame->file = dwarf_getsrcfiles(unit, &files, NULL)
                      ? NULL
                      : dwarf_filesrc(files, file, NULL, NULL);
    frame->line = frame->file ? (int)line : 0;
}

/* ---- Variables ---- */

struct search {
    Dwarf_Addr address, start;
    Dwfl_Module *module;
};

/* Uninitialized variables are mapped after their module's file, where libdwfl
 * ends the module. */
static int take_last_below(Dwfl_Module *module, void **data, const char *name,
                           Dwarf_Addr start, void *context)
{
    struct search *search = context;

    (void)data;
    (void)name;
    if (start <= search->address && start >= search->start) {
        search->module = module;
        search->start = start;
    }
    return DWARF_CB_OK;
}

const char *stacks_variable(struct Dwfl *dwfl, uint64_t address,
                            uint64_t *offset)
{
    struct search search = {.address = address};
    const char *name;
    GElf_Sym symbol;

    if (dwfl)
        dwfl_getmodules(dwfl, take_last_below, &search, 0);
    if (!search.module)
        return NULL;
    name = dwfl_module_addrinfo(search.module, address, offset, &symbol, NULL,
                                NULL, NULL);
    return name && GELF_ST_TYPE(symbol.st_info) == STT_OBJECT &&
                   *offset < symbol.st_size
               ? demangled(name)
               : NULL;
}

/* ---- Frames ---- */

static struct stacks_frame *add(struct stacks_stack *stack,
                                const struct stacks_frame *frame)
{
    if (stack->count == STACKS_FRAMES) {
        stack->more = true;
        return NULL;
    }
    stack->frames[stack->count] = *frame;
    return &stack->frames[stack->count++];
}

/* Adds a frame for each function that was inlined at an address, the innermost
 * one first, and completes `frame` for the function that has the code. */
static void add_inlined(struct stacks_stack *stack, struct stacks_frame *frame,
                        Dwarf_Die *unit, Dwarf_Addr address)
{
    Dwarf_Die *scopes = NULL, *around = NULL;
    int found = dwarf_getscopes(unit, address, &scopes);
    int count = found > 0 ? dwarf_getscopes_die(scopes, &around) : 0;

    for (int i = 0; i < count; i++) {
        int tag = dwarf_tag(&around[i]);

        if (tag == DW_TAG_inlined_subroutine) {
            frame->function = function_name(&around[i]);
            frame->inlined = true;
            add(stack, frame);
            frame->inlined = false;
            place_call(frame, &around[i], unit);
        } else if (tag == DW_TAG_subprogram) {
            frame->function = function_name(&around[i]);
            break;
        }
    }
    free(scopes);
    free(around);
}

/* Returns the compilation unit of an address; NULL if there is none. clang
 * leaves out .debug_aranges: libdwfl then finds none, or a neighbour that gcc
 * has compiled, and all units must be searched. */
static Dwarf_Die *find_unit(Dwfl_Module *module, Dwarf_Addr address,
                            Dwarf_Addr *bias)
{
    Dwarf_Die *unit = dwfl_module_addrdie(module, address, bias);

    if (unit && dwarf_haspc(unit, address - *bias) > 0)
        return unit;
    unit = NULL;
    while ((unit = dwfl_module_nextcu(module, unit, bias)))
        if (dwarf_haspc(unit, address - *bias) > 0)
            return unit;
    return NULL;
}

static void find_line(struct stacks_frame *frame, Dwarf_Die *unit,
                      Dwarf_Addr address)
{
    Dwarf_Line *line = dwarf_getsrc_die(unit, address);

    if (!line)
        return;
    frame->file = dwarf_linesrc(line, NULL, NULL);
    dwarf_lineno(line, &frame->line);
}

/* `address` is inside the call instruction, not after it. */
static void describe(struct stacks_stack *stack, struct stacks_frame *frame,
                     Dwfl_Module *module, Dwarf_Addr address)
{
    Dwarf_Addr bias, start = 0;
    Dwarf_Die *unit;
    GElf_Sym symbol;
    GElf_Off offset;

    frame->module =
        dwfl_module_info(module, NULL, &start, NULL, NULL, NULL, NULL, NULL);
    frame->offset = frame->address - start;
    frame->function = demangled(dwfl_module_addrinfo(
        module, address, &offset, &symbol, NULL, NULL, NULL));
    /* Distributions compress the line tables of their libraries; reading these
     * takes ten times as long as all the rest. */
    unit = frame->module && test_log_is_system_module(frame->module)
               ? NULL
               : find_unit(module, address, &bias);
    if (unit) {
        find_line(frame, unit, address - bias);
        add_inlined(stack, frame, unit, address - bias);
    }
}

struct unwinding {
    struct Dwfl *dwfl;
    struct stacks_stack *stack;
    size_t from;    /* the first frame */
    bool ends_here; /* at the signal, which interrupted no code */
};

static int on_frame(Dwfl_Frame *state, void *context)
{
    const struct unwinding *unwinding = context;
    struct stacks_stack *stack = unwinding->stack;
    struct stacks_frame frame = {0};
    Dwfl_Module *module;
    Dwarf_Addr pc;
    bool first = stack->count == unwinding->from, exact = false;

    if (!dwfl_frame_pc(state, &pc, &exact))
        return DWARF_CB_ABORT;
    frame.address = pc;
    /* The frame before one without a call is the kernel's. */
    if (exact && !first) {
        stack->frames[stack->count - 1].signal = true;
        if (unwinding->ends_here)
            return DWARF_CB_ABORT;
    }
    module = dwfl_addrmodule(unwinding->dwfl, pc - !exact);
    if (module)
        describe(stack, &frame, module, pc - !exact);
    return add(stack, &frame) ? DWARF_CB_OK : DWARF_CB_ABORT;
}

/* ---- Stacks from known registers ---- */

enum { ONLY_THREAD = 1 };

static pid_t only_thread(Dwfl *dwfl, void *caller, void **thread)
{
    (void)dwfl;
    if (*thread)
        return 0;
    *thread = caller;
    return ONLY_THREAD;
}

static bool thread_of(Dwfl *dwfl, pid_t id, void *caller, void **thread)
{
    return only_thread(dwfl, caller, thread) == id;
}

struct known {
    pid_t process;
    uint64_t instruction;
    const uint64_t *registers; /* by DWARF's numbers */
    size_t count;
};

static bool read_word(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *word,
                      void *context)
{
    const struct known *known = context;

    (void)dwfl;
    return stacks_copy(known->process, address, word, sizeof(*word));
}

static bool set_registers(Dwfl_Thread *thread, void *context)
{
    const struct known *known = context;
    Dwarf_Word registers[STACKS_REGISTERS];

    for (size_t i = 0; i < known->count; i++)
        registers[i] = known->registers[i];
    dwfl_thread_state_register_pc(thread, known->instruction);
    return dwfl_thread_state_registers(thread, 0, (unsigned)known->count,
                                       registers);
}

/* Adds frames. Their strings need a session of their own, which lives as long
 * as the program. */
static void unwind_known(Dwfl *dwfl, struct known known,
                         struct stacks_stack *stack)
{
    static const Dwfl_Thread_Callbacks callbacks = {
        .next_thread = only_thread,
        .get_thread = thread_of,
        .memory_read = read_word,
        .set_initial_registers = set_registers,
    };
    struct unwinding unwinding = {
        .dwfl = dwfl, .stack = stack, .from = stack->count};

    if (dwfl_attach_state(dwfl, NULL, known.process, &callbacks, &known))
        dwfl_getthread_frames(dwfl, ONLY_THREAD, on_frame, &unwinding);
}

/* Adds the function that made a tail call. */
static void add_target(Dwfl *dwfl, uint64_t address, struct stacks_stack *stack)
{
    Dwfl_Module *module = dwfl_addrmodule(dwfl, address);
    struct stacks_frame frame = {.address = address};

    if (module)
        describe(stack, &frame, module, address);
    add(stack, &frame);
}

/* Adds the frames from the caller on. The place is in the call, as it is for
 * the frames of other callers. */
static void add_callers(pid_t thread, const struct stacks_caller *caller,
                        struct stacks_stack *stack)
{
    Dwfl *dwfl = open_modules(thread);

    if (!dwfl)
        return;
    if (caller->call == STACKS_CALL_PASSED_ON)
        add_target(dwfl, caller->target, stack);
    unwind_known(dwfl,
                 (struct known){thread, caller->returns_to - 1,
                                caller->registers, caller->register_count},
                 stack);
}

void stacks_unwind_left(const struct trace_crash *crash,
                        const struct stacks_caller *caller,
                        struct stacks_stack *stack)
{
    pid_t process = (pid_t)crash->process;
    Dwfl *dwfl = caller->jumped ? NULL : open_modules(process);

    stack->count = 0;
    stack->more = false;
    if (dwfl)
        unwind_known(dwfl,
                     (struct known){process, crash->instruction,
                                    crash->registers, crash->register_count},
                     stack);
    else if (caller->call != STACKS_CALL_UNKNOWN)
        add_callers(process, caller, stack);
}

void stacks_unwind(struct Dwfl *dwfl, const struct stacks_thread *thread,
                   const struct stacks_caller *caller,
                   struct stacks_stack *stack)
{
    bool jumped = caller && caller->jumped;
    struct unwinding unwinding = {
        .dwfl = dwfl, .stack = stack, .ends_here = jumped};

    stack->count = 0;
    stack->more = false;
    dwfl_getthread_frames(dwfl, thread->id, on_frame, &unwinding);
    /* libdwfl ends a stack at address 0 by itself. */
    if (jumped && stack->count)
        stack->frames[stack->count - 1].signal = true;
    if (jumped && caller->call != STACKS_CALL_UNKNOWN)
        add_callers(thread->id, caller, stack);
}

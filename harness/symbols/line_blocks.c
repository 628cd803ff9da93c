/* line_blocks.c: finds out which hook counts the lines of code.
 *
 * Compilers call a hook where a block of lines begins. Control flow tells the
 * rest: instructions that run one after the other, up to where one jumps or is
 * jumped to, run as often as the hook among them. Behind a call, they run if
 * that returns.
 */
#include <stdlib.h>
#include <string.h>

#include "instructions.h"
#include "libdw.h"
#include "symbols.h"
#include "trace/base/containers.h"

/* Instructions that run one after the other. */
struct strip {
    size_t first, end;          /* instructions */
    uint64_t before, behind;    /* the next jumps to it; 0: none */
    size_t ways, from;          /* strips from which it is reached; the last */
    uint64_t hook;              /* the last in it, by where that returns to */
    bool behind_call, has_hook; /* at its end; has_hook: before any call */
    bool branches;              /* it leads to several, or to unknown ones */
};

struct test_log_flow_of_function {
    uint64_t begin, end, hook;
    struct test_log_instruction *all;
    size_t count, capacity;
    struct strip *strips;
    size_t strip_count;
    bool switches; /* somewhere, it jumps to an unknown place */
};

/* ---- Instructions ---- */

static uint64_t end_of(const struct test_log_instruction *instruction)
{
    return instruction->address + instruction->size;
}

/* Reads the instructions of a function, up to one that is not known. */
static bool read_all(struct test_log_flow_of_function *flow,
                     const struct test_log_code *code)
{
    for (uint64_t at = flow->begin; at < flow->end;) {
        if (!TRACE_ARRAY_RESERVE(flow->all, flow->capacity, flow->count + 1))
            return false;
        if (!test_log_instruction_read(&flow->all[flow->count],
                                       code->bytes + (at - code->begin),
                                       flow->end - at, at))
            break;
        at += flow->all[flow->count++].size;
    }
    return flow->count;
}

/* Returns the number of the instruction at an address; their count if none
 * begins there. */
static size_t find(const struct test_log_flow_of_function *flow,
                   uint64_t address)
{
    size_t low = 0, high = flow->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (flow->all[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < flow->count && flow->all[low].address == address ? low
                                                                  : flow->count;
}

static bool jumps(const struct test_log_instruction *instruction)
{
    return instruction->flow == TEST_LOG_JUMPS ||
           instruction->flow == TEST_LOG_BRANCHES;
}

/* ---- Strips ---- */

static bool is_hook(const struct test_log_flow_of_function *flow,
                    const struct test_log_instruction *instruction)
{
    return instruction->flow == TEST_LOG_CALLS && instruction->target &&
           instruction->target == flow->hook;
}

/* Cuts the instructions where they jump, and are jumped to. */
static bool cut(struct test_log_flow_of_function *flow)
{
    bool *begins = calloc(flow->count + 1, sizeof(*begins));
    size_t count = 0;

    if (!begins)
        return false;
    begins[0] = true;
    for (size_t i = 0; i < flow->count; i++) {
        const struct test_log_instruction *one = &flow->all[i];

        if (jumps(one))
            begins[find(flow, one->target)] = true;
        if (one->flow != TEST_LOG_RUNS_ON && one->flow != TEST_LOG_CALLS)
            begins[i + 1] = true;
        flow->switches |= one->flow == TEST_LOG_SWITCHES;
    }
    begins[flow->count] = true;
    for (size_t i = 0; i < flow->count; i++)
        count += begins[i];
    flow->strips = calloc(count, sizeof(*flow->strips));
    for (size_t i = 0; flow->strips && i < flow->count; i++) {
        if (begins[i])
            flow->strips[flow->strip_count++].first = i;
        flow->strips[flow->strip_count - 1].end = i + 1;
    }
    free(begins);
    return flow->strips;
}

static struct strip *strip_at(const struct test_log_flow_of_function *flow,
                              uint64_t address)
{
    size_t low = 0, high = flow->strip_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (flow->all[flow->strips[middle].first].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < flow->strip_count &&
                   flow->all[flow->strips[low].first].address == address
               ? &flow->strips[low]
               : NULL;
}

static void reach(const struct test_log_flow_of_function *flow,
                  uint64_t address, size_t from)
{
    struct strip *strip = strip_at(flow, address);

    if (!strip)
        return;
    strip->ways++;
    strip->from = from;
}

/* Notes from where strips are reached. */
static void connect(struct test_log_flow_of_function *flow)
{
    for (size_t i = 0; i < flow->strip_count; i++) {
        struct strip *strip = &flow->strips[i], *other;
        const struct test_log_instruction *last = &flow->all[strip->end - 1];

        strip->branches =
            last->flow == TEST_LOG_BRANCHES || last->flow == TEST_LOG_SWITCHES;
        if (last->flow != TEST_LOG_JUMPS && last->flow != TEST_LOG_LEAVES &&
            last->flow != TEST_LOG_SWITCHES)
            reach(flow, end_of(last), i);
        other = jumps(last) ? strip_at(flow, last->target) : NULL;
        if (!other)
            continue;
        reach(flow, last->target, i);
        if (last->address < last->target)
            other->before = last->address;
        else if (!other->behind)
            other->behind = last->address;
    }
}

/* ---- Pieces ---- */

/* The walk through a strip. */
struct walk {
    const struct test_log_flow_of_function *flow;
    test_log_visit_piece *visit;
    void *context;
    struct test_log_piece piece;
    uint64_t first_hook; /* of the function */
    bool passes;         /* where it was called from, since the last call */
};

static void put(struct walk *walk, uint64_t end)
{
    walk->piece.end = end;
    if (walk->piece.begin < end && walk->visit)
        walk->visit(walk->context, &walk->piece);
    walk->piece.begin = end;
    walk->piece.jump_before = walk->piece.jump_behind = 0;
}

/* What a hook's block does that leaves its function. */
struct exit {
    bool is_empty; /* nothing before */
    bool resumes;  /* it calls another function behind: an exception passes */
};

/* Judges the block of a hook that a strip has before an instruction. */
static struct exit judge_exit(const struct test_log_flow_of_function *flow,
                              const struct strip *strip, size_t at)
{
    struct exit exit = {at < strip->end && flow->all[at].passes, false};
    bool passes = false, exits = false;

    for (; at < strip->end && !is_hook(flow, &flow->all[at]); at++) {
        passes |= flow->all[at].passes;
        if (flow->all[at].flow != TEST_LOG_CALLS)
            continue;
        exit.resumes |= exits && !passes;
        exits |= passes;
        passes = false;
    }
    exit.is_empty &= exits;
    return exit;
}

static void visit_hook(struct walk *walk, const struct strip *strip, size_t i)
{
    const struct test_log_instruction *hook = &walk->flow->all[i];
    struct exit exit = {false, false};

    if (walk->first_hook)
        exit = judge_exit(walk->flow, strip, i + 1);
    else
        walk->first_hook = end_of(hook);
    walk->piece.next = end_of(hook);
    if (walk->piece.has_no_line) /* what was called does not return */
        walk->piece.from = 0;
    walk->piece.has_no_line = exit.resumes && !walk->piece.from;
    put(walk, hook->address);
    walk->piece.from = end_of(hook);
    walk->piece.next = 0;
    walk->piece.behind_call = walk->passes = false;
    walk->piece.is_empty = exit.is_empty;
    walk->piece.has_no_line = exit.resumes;
}

static void visit_strip(struct walk *walk, const struct strip *strip)
{
    const struct test_log_flow_of_function *flow = walk->flow;

    walk->passes = false;
    for (size_t i = strip->first; i < strip->end; i++) {
        const struct test_log_instruction *one = &flow->all[i];

        walk->passes |= one->passes;
        if (is_hook(flow, one)) {
            visit_hook(walk, strip, i);
        } else if (one->flow == TEST_LOG_CALLS && !walk->passes) {
            put(walk, end_of(one));
            walk->piece.behind_call = true;
        } else if (one->flow == TEST_LOG_CALLS) {
            walk->passes = false; /* a hook of the function returns */
        }
    }
    if (flow->all[strip->end - 1].flow == TEST_LOG_JUMPS)
        walk->piece.jump = flow->all[strip->end - 1].address;
    put(walk, end_of(&flow->all[strip->end - 1]));
}

/* Finds the hook that counts a strip without one, which a single other strip
 * leads to, and to nothing else. */
static const struct strip *counted_by(
    const struct test_log_flow_of_function *flow, const struct strip *strip)
{
    for (int depth = 0; depth < 8 && !strip->hook; depth++) {
        if (strip->ways != 1 || flow->switches ||
            flow->strips[strip->from].branches)
            return NULL;
        strip = &flow->strips[strip->from];
    }
    return strip->hook ? strip : NULL;
}

static void note_hooks(struct test_log_flow_of_function *flow)
{
    for (size_t i = 0; i < flow->strip_count; i++) {
        struct strip *strip = &flow->strips[i];
        bool passes = false;

        for (size_t at = strip->first; at < strip->end; at++) {
            const struct test_log_instruction *one = &flow->all[at];

            passes |= one->passes;
            if (is_hook(flow, one)) {
                strip->hook = end_of(one);
                strip->behind_call = passes = false;
            } else if (one->flow == TEST_LOG_CALLS) {
                strip->behind_call |= !passes;
                passes = false;
            }
        }
    }
}

static void visit_all(const struct test_log_flow_of_function *flow,
                      test_log_visit_piece *visit, void *context)
{
    struct walk walk = {.flow = flow, .visit = visit, .context = context};

    for (size_t i = 0; i < flow->strip_count; i++) {
        const struct strip *strip = &flow->strips[i], *by = NULL;

        if (!strip->hook)
            by = counted_by(flow, strip);
        walk.piece = (struct test_log_piece){
            .begin = flow->all[strip->first].address,
            .from = by ? by->hook : 0,
            .behind_call = by && by->behind_call,
            .jump_before = strip->before,
            .jump_behind = strip->behind,
        };
        visit_strip(&walk, strip);
    }
}

/* ---- Functions ---- */

static void free_flow(struct test_log_flow_of_function *flow)
{
    if (!flow)
        return;
    free(flow->all);
    free(flow->strips);
    free(flow);
}

static struct test_log_flow_of_function *read_flow(
    const struct test_log_code *code, uint64_t begin, uint64_t end)
{
    struct test_log_flow_of_function *flow = calloc(1, sizeof(*flow));

    if (!flow)
        return NULL;
    flow->begin = begin;
    flow->end = end;
    if (read_all(flow, code) && cut(flow)) {
        connect(flow);
        return flow;
    }
    free_flow(flow);
    return NULL;
}

/* Returns the flow of a function; NULL if it cannot be read. It is kept,
 * because its blocks are asked for one after the other. */
static struct test_log_flow_of_function *flow_of(struct test_log_module *module,
                                                 uint64_t begin, uint64_t end)
{
    struct test_log_code code;

    if (module->flow && module->flow->begin == begin &&
        module->flow->end == end)
        return module->flow;
    free_flow(module->flow);
    module->flow = NULL;
    module->free_flow = free_flow;
    if (test_log_module_code(module, begin, &code) && end <= code.end)
        module->flow = read_flow(&code, begin, end);
    return module->flow;
}

void test_log_visit_calls(struct test_log_module *module, uint64_t begin,
                          uint64_t end, test_log_visit_call *visit,
                          void *context)
{
    const struct test_log_flow_of_function *flow = flow_of(module, begin, end);

    for (size_t i = 0; flow && i < flow->count; i++)
        if (flow->all[i].flow == TEST_LOG_CALLS && flow->all[i].target)
            visit(context, flow->all[i].target);
}

bool test_log_visit_pieces(struct test_log_module *module, uint64_t hook,
                           uint64_t begin, uint64_t end,
                           test_log_visit_piece *visit, void *context)
{
    struct test_log_flow_of_function *flow = flow_of(module, begin, end);

    if (!flow)
        return false;
    if (flow->hook != hook) {
        for (size_t i = 0; i < flow->strip_count; i++)
            flow->strips[i].hook = 0;
        flow->hook = hook;
        note_hooks(flow);
    }
    visit_all(flow, visit, context);
    return true;
}

/* Returns the flow of the function with a call that ends at an address, and the
 * number of that; NULL if there is none. */
static const struct test_log_flow_of_function *find_call(
    struct test_log_module *module, uint64_t address, size_t *number)
{
    const struct test_log_flow_of_function *flow = NULL;
    uint64_t begin, end;

    if (test_log_module_range(module, address, &begin, &end))
        flow = flow_of(module, begin, end);
    for (size_t i = 0; flow && i < flow->count; i++) {
        *number = i;
        if (end_of(&flow->all[i]) == address &&
            flow->all[i].flow == TEST_LOG_CALLS)
            return flow;
    }
    return NULL;
}

uint64_t test_log_called_before(struct test_log_module *module,
                                uint64_t address)
{
    size_t number;
    const struct test_log_flow_of_function *flow =
        find_call(module, address, &number);

    return flow ? flow->all[number].target : 0;
}

/* Returns where a block ends; its address if that is not known. */
static uint64_t block_end(struct test_log_module *module, uint64_t address)
{
    size_t number;
    const struct test_log_flow_of_function *flow =
        find_call(module, address, &number);
    uint64_t hook;

    if (!flow)
        return address;
    hook = flow->all[number].target;
    while (++number < flow->count)
        if (flow->all[number].flow == TEST_LOG_CALLS &&
            flow->all[number].target == hook)
            return flow->all[number].address;
    return flow->end;
}

/* The hook's call may have the line of what is before it, or none: the block's
 * first line is that of what follows. */
bool test_log_module_block(struct test_log_module *module, uint64_t address,
                           struct test_log_symbol *symbol)
{
    uint64_t end = block_end(module, address), at = address;
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

/* line_table.c: sums up how often lines ran, and how long.
 *
 * The lines of a block run one after the other: they have one count, and its
 * first line has the time.
 */
#include "line_table.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "harness/machine/notice.h"
#include "harness/symbols/symbols.h"
#include "source_files.h"
#include "trace/base/strings.h"

enum { HOOK_MOST = 7 }; /* bytes of a call of the hook */

/* A block of lines, by the address to which its hook returns. */
struct block {
    uint64_t address, count, time; /* ns */
    uint64_t cut;                  /* how often it was left in a call, */
    uint64_t open;                 /* and ended with the process, somewhere */
};

/* A file with code. */
struct line_module {
    char *path;
    unsigned char build_id[64];
    size_t build_id_size;
    struct block *blocks;
    size_t count, capacity;
    struct trace_table by_address;
    struct test_log_module *file; /* has the names of sources */
};

/* A line that ran, or could have run. Code of a line may be in several blocks
 * of a function, of which that counts which ran most, and in several functions.
 */
struct line_sum {
    const char *file;
    uint32_t line;
    uint64_t count, time; /* ns */
    uint64_t least;       /* how often it ran at least; `count`: at most */
    const void *function; /* the last one: a block that it has, */
    uint64_t most;        /* and how often its code of the line ran, */
    uint64_t most_least;  /* and at least */
};

/* ---- What ran ---- */

static struct line_module *module_of(struct line_sums *sums,
                                     const struct trace_module_file *file)
{
    uint64_t key = trace_hash(trace_hash_string(TRACE_HASH, file->path),
                              file->build_id, file->build_id_size);
    struct line_module *module;
    uintptr_t number;

    if (trace_table_find(&sums->by_key, key, &number))
        return &sums->modules[number];
    if (!TRACE_ARRAY_RESERVE(sums->modules, sums->capacity, sums->count + 1) ||
        !trace_table_set(&sums->by_key, key, sums->count))
        return NULL;
    module = &sums->modules[sums->count++];
    *module = (struct line_module){.path = strdup(file->path)};
    if (file->build_id_size <= sizeof(module->build_id)) {
        module->build_id_size = file->build_id_size;
        memcpy(module->build_id, file->build_id, file->build_id_size);
    }
    return module->path ? module : NULL;
}

static int add_block(struct line_sums *sums,
                     const struct trace_module_file *file,
                     const struct block *block)
{
    struct line_module *module = module_of(sums, file);
    struct block *sum;
    uintptr_t number;

    if (!module)
        return -1;
    if (!trace_table_find(&module->by_address, block->address, &number)) {
        number = module->count;
        if (!TRACE_ARRAY_RESERVE(module->blocks, module->capacity,
                                 number + 1) ||
            !trace_table_set(&module->by_address, block->address, number))
            return -1;
        module->blocks[module->count++] =
            (struct block){.address = block->address};
    }
    sum = &module->blocks[number];
    sum->count += block->count;
    sum->time += block->time;
    sum->cut += block->cut;
    sum->open += block->open;
    return 0;
}

/* Tests of several runs may have recorded different lines. */
static int add_list(struct line_sums *sums, const struct trace_reader *reader)
{
    const char *text = trace_reader_meta(reader, "lines");

    for (size_t i = 0; text && i < sums->list_count; i++)
        if (!strcmp(sums->lists[i], text))
            return 0;
    if (!text)
        return 0;
    if (!TRACE_ARRAY_RESERVE(sums->lists, sums->list_capacity,
                             sums->list_count + 1))
        return -1;
    sums->lists[sums->list_count] = strdup(text);
    return sums->lists[sums->list_count] ? (sums->list_count++, 0) : -1;
}

/* Blocks without space were counted, but not how they ended. */
static int add_lost(struct line_sums *sums, const struct trace_reader *reader)
{
    const struct trace_site *site;
    struct trace_module_file file;
    struct block block = {0};
    size_t cursor = 0;

    while (trace_reader_call_counts(reader, &cursor, &site, &block.count)) {
        block.cut = block.count;
        if (trace_reader_line(reader, site, &file, &block.address) &&
            add_block(sums, &file, &block))
            return -1;
    }
    return 0;
}

int runners_lines_add(struct line_sums *sums, struct trace_reader *reader,
                      struct stat_window window)
{
    struct trace_summary summary = trace_reader_summary(reader);
    struct trace_module_file file;
    struct trace_entry entry;
    struct block block = {0};
    int status = add_list(sums, reader);
    bool is_open;

    while (!status && trace_reader_next(reader, &entry)) {
        uint64_t begin = entry.time, end = trace_slice_end(&entry, summary.end);

        if (entry.kind != TRACE_ENTRY_SPAN ||
            !trace_reader_line(reader, entry.site, &file, &block.address) ||
            !runners_window_clip(window, &begin, &end))
            continue;
        block.count = !entry.resumed;
        block.time = end - begin;
        is_open = entry.end == UINT64_MAX;
        block.cut = entry.cut || (is_open && summary.ended);
        block.open = is_open && !summary.ended;
        status = add_block(sums, &file, &block);
    }
    return status ? -1 : add_lost(sums, reader);
}

/* ---- Lines ---- */

/* The lines of a file with code, and what ran of them. */
struct lines {
    struct test_log_module *module;
    struct test_log_line *code; /* by address */
    size_t code_count, code_capacity;
    const struct line_module *ran;
    uint64_t hook;                  /* what its blocks call */
    const void *function;           /* that is added: a block that it has, */
    uint32_t last_line;             /* and its closing brace, */
    const char *file;               /* and its file */
    struct trace_table timed;       /* blocks whose time a line has */
    struct test_log_line_list list; /* that a test recorded, */
    bool all;                       /* and the name of a function */
    struct line_sum *sums;
    size_t count, capacity;
    struct trace_table by_line; /* of sums */
    bool any;                   /* the module has some */
    bool failed;                /* without memory */
};

static struct line_sum *sum_of(struct lines *lines,
                               const struct test_log_line *line)
{
    uint64_t key = trace_hash(trace_hash_string(TRACE_HASH, line->file),
                              &line->line, sizeof(line->line));
    uintptr_t number;

    lines->any = true;
    if (trace_table_find(&lines->by_line, key, &number))
        return &lines->sums[number];
    if (!TRACE_ARRAY_RESERVE(lines->sums, lines->capacity, lines->count + 1) ||
        !trace_table_set(&lines->by_line, key, lines->count)) {
        lines->failed = true;
        return NULL;
    }
    lines->sums[lines->count] =
        (struct line_sum){.file = line->file, .line = line->line};
    return &lines->sums[lines->count++];
}

static void take_code(void *context, const struct test_log_line *line)
{
    struct lines *lines = context;

    if (TRACE_ARRAY_RESERVE(lines->code, lines->code_capacity,
                            lines->code_count + 1))
        lines->code[lines->code_count++] = *line;
    else
        lines->failed = true;
}

static int by_address(const void *a, const void *b)
{
    const struct test_log_line *x = a, *y = b;

    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static int by_block(const void *a, const void *b)
{
    const struct block *x = a, *y = b;

    return x->address < y->address ? -1 : x->address > y->address;
}

/* Returns the first line that ends behind an address, or the end. */
static const struct test_log_line *line_at(const struct lines *lines,
                                           uint64_t address)
{
    size_t low = 0, high = lines->code_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (lines->code[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return lines->code + low;
}

/* ---- Pieces of code ---- */

static struct block ran_at(const struct lines *lines, uint64_t address)
{
    const struct block wanted = {.address = address};
    const struct block *ran =
        address ? bsearch(&wanted, lines->ran->blocks, lines->ran->count,
                          sizeof(wanted), by_block)
                : NULL;

    return ran ? *ran : wanted;
}

/* How often a line of a piece ran. */
struct times {
    uint64_t most, least;
};

/* Counts a piece. Optimized code has one block for all "return", with the line
 * of one of them. */
static struct times count_piece(const struct lines *lines,
                                const struct test_log_piece *piece,
                                const struct test_log_line *line)
{
    struct block ran = ran_at(lines, piece->from);
    struct block next = ran_at(lines, piece->next);
    bool is_first = line->begin < piece->begin + HOOK_MOST;
    uint64_t left = ran.open + (piece->behind_call ? ran.cut : 0), rest;

    rest = ran.count > left ? ran.count - left : 0;
    if (piece->next && (!piece->from || piece->behind_call))
        return (struct times){
            next.count,
            !piece->from || ran.count >= next.count ? next.count : rest};
    if (piece->is_empty && line->line < lines->last_line)
        rest = 0;
    else if (is_first && !piece->behind_call)
        rest = ran.count;
    return (struct times){ran.count, rest};
}

static void add_most(uint64_t *sum, uint64_t *most, uint64_t count)
{
    if (count <= *most)
        return;
    *sum += count - *most;
    *most = count;
}

/* Counts a line of a piece; the first one of a block has its time. */
static void add_line(struct lines *lines, const struct test_log_piece *piece,
                     const struct test_log_line *line)
{
    struct times times = count_piece(lines, piece, line);
    struct line_sum *sum = sum_of(lines, line);
    uintptr_t unused;

    if (!sum)
        return;
    if (sum->function != lines->function) {
        sum->function = lines->function;
        sum->most = sum->most_least = 0;
    }
    add_most(&sum->count, &sum->most, times.most);
    add_most(&sum->least, &sum->most_least, times.least);
    if (!piece->from || trace_table_find(&lines->timed, piece->from, &unused))
        return;
    sum->time += ran_at(lines, piece->from).time;
    if (!trace_table_set(&lines->timed, piece->from, 1))
        lines->failed = true;
}

/* Returns whether a line that begins before a piece is also the piece's: it
 * jumps there. */
static bool jumps_to(const struct test_log_line *line,
                     const struct test_log_piece *piece)
{
    return line->begin < piece->begin &&
           ((piece->jump_before && piece->jump_before >= line->begin) ||
            (piece->jump_behind && piece->jump_behind < line->end));
}

/* Calls `take` with the lines of a piece that a hook counts. A line that only
 * jumps, such as "break", may also be left out by a jump to where it leads. */
static void each_line(struct lines *lines, const struct test_log_piece *piece,
                      void (*take)(struct lines *,
                                   const struct test_log_piece *,
                                   const struct test_log_line *))
{
    const struct test_log_line *end = lines->code + lines->code_count;

    if ((!piece->from && !piece->next) || piece->has_no_line)
        return;
    for (const struct test_log_line *line = line_at(lines, piece->begin);
         line < end && line->begin < piece->end; line++)
        if (!strcmp(line->file, lines->file) && line->begin != piece->jump &&
            (line->begin >= piece->begin || jumps_to(line, piece)))
            take(lines, piece, line);
}

static void add_lines(void *context, const struct test_log_piece *piece)
{
    each_line(context, piece, add_line);
}

/* Makes a function the one that is visited: its file, which inlined code does
 * not have, and its closing brace. */
static void enter(struct lines *lines, uint64_t begin, uint64_t end)
{
    const struct test_log_line *line = line_at(lines, begin);

    lines->last_line = 0;
    lines->file = line < lines->code + lines->code_count ? line->file : "";
    for (; line < lines->code + lines->code_count && line->begin < end; line++)
        if (line->line > lines->last_line && !strcmp(line->file, lines->file))
            lines->last_line = line->line;
}

/* Adds the lines of all blocks that ran, which are sorted; false if code of one
 * cannot be read. */
static bool add_ran(struct lines *lines)
{
    const struct line_module *ran = lines->ran;
    uint64_t begin, end = 0;

    for (size_t i = 0; i < ran->count; i++) {
        uint64_t address = ran->blocks[i].address;

        if (address <= end)
            continue;
        lines->hook = test_log_called_before(lines->module, address);
        if (!lines->hook ||
            !test_log_module_range(lines->module, address, &begin, &end))
            return false;
        enter(lines, begin, end);
        lines->function = &ran->blocks[i];
        test_log_visit_pieces(lines->module, lines->hook, begin, end, add_lines,
                              lines);
    }
    return true;
}

/* ---- Lines that did not run ---- */

static void take_line(struct lines *lines, const struct test_log_piece *piece,
                      const struct test_log_line *line)
{
    (void)piece;
    if (lines->all || test_log_line_list_match(&lines->list, line))
        sum_of(lines, line);
}

static void take_lines(void *context, const struct test_log_piece *piece)
{
    each_line(context, piece, take_line);
}

/* Takes the recorded lines of a function that has blocks: other files may have
 * the same name, and are built without them. */
static void take_function(void *context, const char *symbol, uint64_t address,
                          uint64_t size, bool defined)
{
    struct lines *lines = context;

    if (!defined || !lines->hook)
        return;
    lines->all = test_log_line_list_match_function(&lines->list, symbol);
    enter(lines, address, address + size);
    test_log_visit_pieces(lines->module, lines->hook, address, address + size,
                          take_lines, lines);
}

static void add_recorded(struct lines *lines, const char *text)
{
    if (test_log_line_list_read(&lines->list, text))
        return;
    test_log_module_each(lines->module, take_function, lines);
    test_log_line_list_free(&lines->list);
}

/* ---- The table ---- */

#define LINE_COLUMNS(X)                                                        \
    X("Count", NULL, FIELD, count.data)                                        \
    X(NULL, "count", COUNT, sum->count)                                        \
    X("Total", "total_ns", SOME_TIME, sum->time)                               \
    X("Average", "average_ns", SOME_TIME, average)                             \
    X("Line", NULL, TEXT, place.data)                                          \
    X(NULL, "file", TEXT, file)                                                \
    X(NULL, "line", COUNT, sum->line)                                          \
    X("Source", "source", TEXT, source)                                        \
    X(NULL, "at_least", COUNT, sum->least)

static int by_place(const void *a, const void *b)
{
    const struct line_sum *x = a, *y = b;
    int order = strcmp(x->file, y->file);

    if (order)
        return order;
    return x->line < y->line ? -1 : x->line > y->line;
}

static void put_line(struct runners_table *table, struct source_files *sources,
                     const struct line_sum *sum)
{
    const char *source = runners_source_line(sources, sum->file, sum->line);
    uint64_t average = sum->count ? sum->time / sum->count : 0;
    struct trace_text place = {0}, count = {0};
    char shown[PATH_MAX];
    const char *file = test_log_shown_path(sum->file, shown);

    trace_text_printf(&place, "%s:%u", file, (unsigned)sum->line);
    trace_text_printf(&count, "%s%" PRIu64,
                      sum->least < sum->count ? "at most " : "", sum->count);
    runners_table_add(table, RUNNERS_CELLS(LINE_COLUMNS));
    trace_text_free(&place);
    trace_text_free(&count);
}

/* Counts the lines of a file with code. */
static void count_module(struct lines *lines, const struct line_sums *sums,
                         struct line_module *module)
{
    module->file = test_log_module_open(&(struct trace_module_file){
        module->path, module->build_id, module->build_id_size});
    if (!module->file) {
        test_log_notice("stat: cannot read the lines of %s; %s", module->path,
                        test_log_symbols_readable()
                            ? "was it built again?"
                            : "install the package libdw1");
        return;
    }
    lines->module = module->file;
    lines->ran = module;
    lines->code_count = 0;
    lines->any = false;
    test_log_module_lines(lines->module, take_code, lines);
    if (lines->code_count)
        qsort(lines->code, lines->code_count, sizeof(*lines->code), by_address);
    qsort(module->blocks, module->count, sizeof(*module->blocks), by_block);
    if (!add_ran(lines))
        test_log_notice("stat: cannot read the code of %s; its lines are not "
                        "counted",
                        module->path);
    for (size_t i = 0; i < sums->list_count; i++)
        add_recorded(lines, sums->lists[i]);
    if (!lines->any)
        test_log_notice("stat: %s has no debugging information; build it with "
                        "-g",
                        module->path);
    trace_table_free(&lines->timed);
}

bool runners_lines_put(struct line_sums *sums, enum runners_form form,
                       const char *where)
{
    struct source_files sources = {.count = 0};
    struct lines lines = {.count = 0};
    struct runners_table table;

    if (!sums->count && form == RUNNERS_AS_TEXT)
        return false;
    for (size_t i = 0; i < sums->count; i++)
        count_module(&lines, sums, &sums->modules[i]);
    if (lines.count)
        qsort(lines.sums, lines.count, sizeof(*lines.sums), by_place);
    if (lines.failed)
        test_log_notice("stat: out of memory");
    runners_table_begin(&table, RUNNERS_COLUMNS(LINE_COLUMNS), form);
    for (size_t i = 0; i < lines.count; i++)
        put_line(&table, &sources, &lines.sums[i]);
    runners_table_end(&table);
    runners_sources_free(&sources);
    free(lines.code);
    free(lines.sums);
    trace_table_free(&lines.by_line);
    if (form == RUNNERS_AS_JSON)
        runners_stat_print_json(where, "lines", table.rows);
    return sums->count;
}

void runners_lines_free(struct line_sums *sums)
{
    for (size_t i = 0; i < sums->count; i++) {
        free(sums->modules[i].path);
        test_log_module_close(sums->modules[i].file);
        free(sums->modules[i].blocks);
        trace_table_free(&sums->modules[i].by_address);
    }
    for (size_t i = 0; i < sums->list_count; i++)
        free(sums->lists[i]);
    free(sums->modules);
    free(sums->lists);
    trace_table_free(&sums->by_key);
    *sums = (struct line_sums){.count = 0};
}

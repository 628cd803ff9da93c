/* libdw.h: functions of elfutils' libdw, which is opened at run time. Private.
 *
 * They are those of elfutils' libdwfl.h, libdw.h and gelf.h.
 */
#ifndef TEST_LOG_LIBDW_H
#define TEST_LOG_LIBDW_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct dwfl Dwfl;
typedef struct dwfl_module Dwfl_Module;
typedef struct elf Elf;
typedef struct dwarf_die Dwarf_Die;
typedef struct dwarf_line Dwarf_Line;
typedef struct dwarf_lines Dwarf_Lines;
typedef struct dwarf_cfi Dwarf_CFI;
typedef struct dwarf_frame Dwarf_Frame;

/* An operation of an expression. */
typedef struct {
    uint8_t atom;
    uint64_t number, number2, offset;
} Dwarf_Op;

/* Those that are understood; DWARF 5, section 7.7.1. */
enum {
    DW_OP_deref = 0x06,
    DW_OP_plus_uconst = 0x23,
    DW_OP_breg0 = 0x70,
    DW_OP_breg31 = 0x8f,
    DW_OP_bregx = 0x92,
    DW_OP_call_frame_cfa = 0x9c,
};

/* A Dwfl_Callbacks. */
struct test_log_dwfl_callbacks {
    void *find_elf, *find_debuginfo, *section_address;
    char **debuginfo_path;
};

/* X(result, name, arguments) */
#define TEST_LOG_LIBDW(X)                                                      \
    X(Dwfl *, dwfl_begin, (const struct test_log_dwfl_callbacks *))            \
    X(void, dwfl_end, (Dwfl *))                                                \
    X(Dwfl_Module *, dwfl_report_elf,                                          \
      (Dwfl *, const char *name, const char *path, int fd, uint64_t base,      \
       bool add_address))                                                      \
    X(int, dwfl_report_end, (Dwfl *, void *removed, void *argument))           \
    X(int, dwfl_build_id_find_debuginfo, (void))                               \
    X(int, dwfl_module_build_id,                                               \
      (Dwfl_Module *, const unsigned char **bits, uint64_t *address))          \
    X(const char *, dwfl_module_addrinfo,                                      \
      (Dwfl_Module *, uint64_t address, uint64_t * offset, Elf64_Sym *,        \
       unsigned *section, void **elf, uint64_t *bias))                         \
    X(Elf *, dwfl_module_getelf, (Dwfl_Module *, uint64_t * bias))             \
    X(char *, elf_rawfile, (Elf *, size_t * size))                             \
    X(int, elf_getphdrnum, (Elf *, size_t *))                                  \
    X(Elf64_Phdr *, gelf_getphdr, (Elf *, int index, Elf64_Phdr *))            \
    X(int, dwfl_module_getsymtab, (Dwfl_Module *))                             \
    X(const char *, dwfl_module_getsym_info,                                   \
      (Dwfl_Module *, int index, Elf64_Sym *, uint64_t *address,               \
       unsigned *section, void **elf, uint64_t *bias))                         \
    X(Dwarf_Die *, dwfl_module_addrdie,                                        \
      (Dwfl_Module *, uint64_t address, uint64_t * bias))                      \
    X(Dwarf_Die *, dwfl_module_nextcu,                                         \
      (Dwfl_Module *, Dwarf_Die * last, uint64_t * bias))                      \
    X(int, dwarf_haspc, (Dwarf_Die *, uint64_t address))                       \
    X(Dwarf_Line *, dwarf_getsrc_die, (Dwarf_Die *, uint64_t address))         \
    X(int, dwarf_getsrclines, (Dwarf_Die *, Dwarf_Lines **, size_t * count))   \
    X(Dwarf_Line *, dwarf_onesrcline, (Dwarf_Lines *, size_t index))           \
    X(int, dwarf_lineaddr, (Dwarf_Line *, uint64_t * address))                 \
    X(int, dwarf_lineendsequence, (Dwarf_Line *, bool *ends))                  \
    X(const char *, dwarf_linesrc,                                             \
      (Dwarf_Line *, uint64_t * time, uint64_t * size))                        \
    X(int, dwarf_lineno, (Dwarf_Line *, int *line))                            \
    X(const char *, dwarf_diename, (Dwarf_Die *))                              \
    X(Dwarf_CFI *, dwfl_module_eh_cfi, (Dwfl_Module *, uint64_t * bias))       \
    X(int, dwarf_cfi_addrframe,                                                \
      (Dwarf_CFI *, uint64_t address, Dwarf_Frame **))                         \
    X(int, dwarf_frame_cfa, (Dwarf_Frame *, Dwarf_Op **, size_t * count))      \
    X(int, dwarf_frame_register,                                               \
      (Dwarf_Frame *, int number, Dwarf_Op[3], Dwarf_Op **, size_t *count))

struct test_log_libdw {
#define X(result, name, arguments) result(*name) arguments;
    TEST_LOG_LIBDW(X)
#undef X
};

/* The functions, once test_log_libdw_open has returned true: libdw is
 * installed.
 */
extern struct test_log_libdw test_log_dw;
bool test_log_libdw_open(void);

/* The symbols of a file. */
struct test_log_module {
    Dwfl *dwfl;
    Dwfl_Module *module;
    struct test_log_flow_of_function *flow; /* the last that was asked for */
    void (*free_flow)(struct test_log_flow_of_function *);
};

#endif

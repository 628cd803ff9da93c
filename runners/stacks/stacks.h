/* stacks.h: testlog-stacks, a program that prints the stacks of a process and
 * of its descendants. Private.
 *
 * It is a program of its own, because a tracer must wait for the threads that
 * it stops: in the runner, BoxFort's wait for any child would take these stops.
 *
 * With --left, it prints the stack that a process left when it crashed, a value
 * of trace/crash.h, from standard input.
 *
 * It prints a line for each fact, whose parts are separated by tabs:
 *
 *     process  id, name
 *     thread   id, name, state, what it waits for or nothing
 *     frame    address, function, file, line, module, offset, flags
 *     more     the stack has more frames than are shown
 *     fault    what is at the address that the program must not use
 *     exception  type and text of the one that was not caught
 *     note     why something is missing, or a deadlock
 *     end      all was printed
 *
 * A part that is unknown is empty. Flags are letters: i for a function that was
 * inlined into the next one, s for the kernel's call of a signal handler.
 */
#ifndef TESTLOG_STACKS_H
#define TESTLOG_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "trace/crash.h"

enum {
    STACKS_PROCESSES = 64,
    STACKS_THREADS = 64, /* of all processes */
    STACKS_FRAMES = 64,  /* of a thread */
    STACKS_REGISTERS = 32,
};

/* ---- put.c ---- */

/* stacks_put prints a line; its format has tabs between the parts, and other
 * control characters become spaces. */
__attribute__((format(printf, 1, 2))) void stacks_put(const char *format, ...);

/* stacks_replace_tabs replaces tabs of a name by spaces. */
void stacks_replace_tabs(char *text);

struct stacks_frame;
void stacks_put_frame(const struct stacks_frame *);

/* ---- left.c ---- */

/* stacks_read_left reads the crash of a process from standard input; NULL if it
 * is damaged. From then on, stacks_left returns that crash; NULL: the process
 * is alive. stacks_copy_left copies a part of its stack; false if it left none.
 * stacks_left_mappings opens the text of its mappings. */
const struct trace_crash *stacks_read_left(void);
const struct trace_crash *stacks_left(void);
bool stacks_copy_left(uint64_t address, void *bytes, size_t size);
FILE *stacks_left_mappings(void);

/* ---- processes.c: /proc ---- */

/* The kernel's facts about a process or a thread. */
struct stacks_status {
    char name[32];
    char state; /* R, S, D, T, ... */
    pid_t parent, session;
};

/* stacks_read reads a small file of /proc, such as "12/stat", as a string;
 * false without it. */
bool stacks_read(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* stacks_status_of reads "PID" or "PID/task/TID"; false if that is gone. */
bool stacks_status_of(struct stacks_status *, const char *path);

/* stacks_numbers lists the numeric names of a folder in /proc, at most `room`,
 * and returns how many there are. */
size_t stacks_numbers(const char *folder, pid_t *numbers, size_t room);

/* stacks_processes lists a process and its descendants, also those that left
 * its group but not its session. */
size_t stacks_processes(pid_t root, pid_t *processes, size_t room);

/* ---- threads.c: stopping threads ---- */

struct stacks_thread {
    pid_t process, id;
    struct stacks_status status; /* before it was stopped */
    bool held;
    int signal; /* a signal that the thread gets later */
};

/* stacks_hold stops the threads of a process, for one second at most, and
 * returns how many it lists, at most `room`. The thread `first` is the first
 * one if the process has it. A thread that sleeps in the kernel does not stop,
 * and is not held. stacks_release resumes them. */
size_t stacks_hold(pid_t process, pid_t first, struct stacks_thread *threads,
                   size_t room);
void stacks_release(const struct stacks_thread *threads, size_t count);

/* ---- process_memory.c ---- */

/* stacks_copy copies memory of a process; false if it cannot be read. */
bool stacks_copy(pid_t process, uint64_t address, void *bytes, size_t size);

/* ---- refusal.c ---- */

/* stacks_put_refusal prints why no thread of a process can be held. */
void stacks_put_refusal(pid_t process);

/* ---- caller.c ---- */

/* A signal as its handler saw it. */
struct stacks_fault {
    int signal, code;
    uint64_t address;     /* si_addr */
    uint64_t stack;       /* the stack pointer */
    uint64_t instruction; /* its address */
    uint64_t context;     /* address of the thread's ucontext_t; 0: unknown */
};

/* How sure the caller of an address without code is. */
enum stacks_call {
    STACKS_CALL_UNKNOWN,   /* there is no return address */
    STACKS_CALL_SURE,      /* the call goes to that address */
    STACKS_CALL_PASSED_ON, /* it goes to a function that made a tail call */
    STACKS_CALL_UNSURE,    /* the call's target is unknown */
};

struct stacks_caller {
    bool jumped; /* there is no code at the fault's instruction */
    enum stacks_call call;
    uint64_t returns_to, target;
    uint64_t registers[STACKS_REGISTERS]; /* after it; by DWARF's numbers */
    size_t register_count;
};

/* stacks_find_caller finds what called an address without code, in the process
 * that has the thread of the fault. */
struct stacks_caller stacks_find_caller(const struct stacks_fault *,
                                        pid_t process);

/* ---- frames.c, no_frames.c ---- */

struct stacks_frame {
    uint64_t address, offset;             /* the offset in the module's file */
    const char *function, *file, *module; /* NULL: unknown */
    int line;
    bool inlined, signal;
};

struct stacks_stack {
    struct stacks_frame frames[STACKS_FRAMES];
    size_t count;
    bool more;
};

/* stacks_open prepares the process of a thread that is held; NULL if its stacks
 * cannot be read, and then it prints why. stacks_unwind reads one thread's
 * stack, whose strings live until stacks_close; `caller` is that of the fault
 * if the thread has crashed, or NULL. */
struct Dwfl;
struct Dwfl *stacks_open(pid_t thread);
void stacks_unwind(struct Dwfl *, const struct stacks_thread *,
                   const struct stacks_caller *caller, struct stacks_stack *);
void stacks_close(struct Dwfl *);

/* stacks_unwind_left unwinds the stack that a process left. */
void stacks_unwind_left(const struct trace_crash *,
                        const struct stacks_caller *, struct stacks_stack *);

/* stacks_variable returns the name of the variable that has an address, and how
 * far in it the address is; NULL if it is unknown. */
const char *stacks_variable(struct Dwfl *, uint64_t address, uint64_t *offset);

/* ---- vgdb.c ---- */

/* stacks_put_of_valgrind prints the threads and frames of a process that
 * valgrind runs with --vgdb-prefix, those of the thread `only` if it is not 0;
 * of the thread `crashed`, the frames from the `fault` on. False if valgrind
 * does not answer. */
bool stacks_put_of_valgrind(const char *prefix, pid_t process, pid_t only,
                            const struct stacks_fault *fault, pid_t crashed);

/* ---- waits.c ---- */

/* stacks_waits describes what a thread waits for, such as "mutex 0x7f... (lock)
 * of thread 12"; empty if it runs or if that is unknown. */
void stacks_waits(struct Dwfl *, const struct stacks_thread *,
                  const struct stacks_stack *, char *text, size_t size);

/* ---- deadlocks.c ---- */

/* stacks_note_lock notes that a thread waits for a lock that `holder` holds.
 * stacks_put_deadlocks then prints each cycle of such threads as a note. */
void stacks_note_lock(pid_t thread, const char *lock, pid_t holder);
void stacks_put_deadlocks(void);

/* ---- exception.c ---- */

/* A C++ exception; addresses of strings in its process, 0: unknown. */
struct stacks_exception {
    uint64_t type, text;
};

/* stacks_put_exception prints an exception, nothing if it is unknown. */
void stacks_put_exception(const struct stacks_exception *, pid_t process);

/* ---- mappings.c ---- */

struct stacks_mapping {
    uint64_t begin, end, offset; /* the offset of `begin` in the file */
    char access[8], name[256];
};

/* stacks_find_mapping finds the mapping that has an address; false if none
 * has. */
bool stacks_find_mapping(pid_t process, uint64_t address,
                         struct stacks_mapping *);

/* stacks_place describes an address by its mapping alone; the mapping then
 * holds the name of the frame's module. */
struct stacks_frame stacks_place(pid_t process, uint64_t address,
                                 struct stacks_mapping *);

/* ---- fault.c ---- */

/* stacks_put_fault prints the reason of a fault in a stopped process, such as
 * "null pointer + 0x8", if it is known, and how sure its caller is. */
void stacks_put_fault(const struct stacks_fault *, const struct stacks_caller *,
                      pid_t process);

/* ---- put_left.c ---- */

/* stacks_put_left prints the stack on standard input, and returns the exit
 * status. */
int stacks_put_left(void);

#endif

/* instructions.h: how long instructions are, and where they lead. Private. */
#ifndef TEST_LOG_INSTRUCTIONS_H
#define TEST_LOG_INSTRUCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What follows an instruction. */
enum test_log_flow {
    TEST_LOG_RUNS_ON,  /* the next one */
    TEST_LOG_CALLS,    /* the next one, when the called function returns */
    TEST_LOG_BRANCHES, /* the next one, or `target` */
    TEST_LOG_JUMPS,    /* `target` */
    TEST_LOG_SWITCHES, /* something unknown in the function */
    TEST_LOG_LEAVES,   /* nothing in it */
};

struct test_log_instruction {
    uint64_t address;
    uint64_t target; /* of a call or jump; of a call by a pointer, the address
                        of that; 0: unknown */
    uint8_t size;    /* bytes */
    uint8_t flow;    /* enum test_log_flow */
    bool passes; /* passes the hook that begins or ends a function where it is
                    called from: it loads the return address of its frame */
};

/* test_log_instruction_read reads the instruction at an address from its bytes,
 * of which there are `size`; false if it is not known.
 *
 * Sources: Intel 64 and IA-32 Architectures Software Developer's Manual, volume
 * 2, appendix A; Arm Architecture Reference Manual for A-profile, C4.1. */
bool test_log_instruction_read(struct test_log_instruction *,
                               const unsigned char *bytes, size_t size,
                               uint64_t address);

#endif

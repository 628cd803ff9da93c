/* instructions.c: reads instructions of x86-64 and AArch64, as far as their
 * length and where they lead.
 */
#include "instructions.h"

#include <string.h>

#if defined(__x86_64__)

/* What follows an opcode: m: a byte that names registers and memory (ModRM), b,
 * w, z: an immediate of 1, 2, or 2 or 4 bytes, v: of 2, 4 or 8, q: an address;
 * x: there is no such instruction. One character for each opcode, 16 a line; M,
 * B and Z are m with b or z; E is w with b. */
static const char one_byte[] = "mmmmbzxxmmmmbzxx"
                               "mmmmbzxxmmmmbzxx"
                               "mmmmbz-xmmmmbz-x"
                               "mmmmbz-xmmmmbz-x"
                               "----------------"
                               "----------------"
                               "xxxm----zZbB----"
                               "bbbbbbbbbbbbbbbb"
                               "BZxBmmmmmmmmmmmm"
                               "----------x-----"
                               "qqqq----bz------"
                               "bbbbbbbbvvvvvvvv"
                               "BBw-xxBZE-w--b--"
                               "mmmmxxx-mmmmmmmm"
                               "bbbbbbbbzzxb----"
                               "------mm------mm";

/* The same behind 0x0f. */
static const char two_bytes[] = "mmmmx-----x-xm-B"
                                "mmmmmmmmmmmmmmmm"
                                "mmmmmmmmmmmmmmmm"
                                "--------x-x-xxxx"
                                "mmmmmmmmmmmmmmmm"
                                "mmmmmmmmmmmmmmmm"
                                "mmmmmmmmmmmmmmmm"
                                "BBBBmmm-mmmmmmmm"
                                "zzzzzzzzzzzzzzzz"
                                "mmmmmmmmmmmmmmmm"
                                "---mBmxx---mBmmm"
                                "mmmmmmmmmmBmmmmm"
                                "mmBmBBBm--------"
                                "mmmmmmmmmmmmmmmm"
                                "mmmmmmmmmmmmmmmm"
                                "mmmmmmmmmmmmmmmm";

_Static_assert(sizeof(one_byte) == 257 && sizeof(two_bytes) == 257,
               "each opcode has a character");

enum { LONGEST = 15 };

/* An instruction that is read. Behind its end there are zeros. */
struct reading {
    const unsigned char *at;
    unsigned char opcode, modrm;
    char form;                        /* of one_byte or two_bytes */
    bool second;                      /* the opcode is one behind 0x0f */
    bool narrow, wide, short_address; /* prefixes 0x66, REX.W, 0x67 */
};

static bool is_prefix(unsigned char byte)
{
    return byte && strchr("\x66\x67\xf0\xf2\xf3\x2e\x36\x3e\x26\x64\x65", byte);
}

/* Reads the opcode behind a VEX or EVEX prefix of `size` bytes; `map` is its
 * table. */
static bool read_vector(struct reading *reading, size_t size, unsigned map)
{
    reading->at += size;
    reading->opcode = *reading->at++;
    reading->second = true;
    reading->form = map == 1   ? two_bytes[reading->opcode]
                    : map == 3 ? 'B'
                               : 'm';
    return map >= 1 && map <= 6;
}

static bool read_opcode(struct reading *reading)
{
    const unsigned char *at = reading->at;

    for (; is_prefix(*at); at++) {
        reading->narrow |= *at == 0x66;
        reading->short_address |= *at == 0x67;
    }
    reading->at = at;
    if (at[0] == 0xc5)
        return read_vector(reading, 2, 1);
    if (at[0] == 0xc4)
        return read_vector(reading, 3, at[1] & 0x1f);
    if (at[0] == 0x62)
        return read_vector(reading, 4, at[1] & 7);
    if (*at >> 4 == 4)
        reading->wide = *at++ & 8;
    reading->opcode = *at++;
    reading->form = one_byte[reading->opcode];
    if (reading->opcode == 0x0f) {
        reading->second = true;
        reading->opcode = *at++;
        reading->form = two_bytes[reading->opcode];
        if (reading->opcode == 0x38 || reading->opcode == 0x3a) {
            reading->form = reading->opcode == 0x3a ? 'B' : 'm';
            at++;
        }
    }
    reading->at = at;
    return reading->form != 'x';
}

/* Steps over what names registers and memory. */
static void skip_operand(struct reading *reading)
{
    unsigned mode, memory;

    reading->modrm = *reading->at++;
    mode = reading->modrm >> 6;
    memory = reading->modrm & 7;
    if (mode == 3)
        return;
    if (memory == 4)
        memory = *reading->at++ & 7;
    else if (!mode && memory == 5)
        mode = 2; /* relative to the instruction */
    if (!mode && memory == 5)
        mode = 2;
    reading->at += mode == 1 ? 1 : mode == 2 ? 4 : 0;
}

static size_t immediate_size(const struct reading *reading)
{
    size_t word = reading->narrow ? 2 : 4;
    bool relative = reading->second
                        ? reading->opcode >> 4 == 8
                        : reading->opcode == 0xe8 || reading->opcode == 0xe9;

    switch (reading->form) {
    case 'b':
    case 'B':
        return 1;
    case 'w':
        return 2;
    case 'E':
        return 3;
    case 'z':
    case 'Z':
        return relative ? 4 : word;
    case 'v':
        return reading->wide ? 8 : word;
    case 'q':
        return reading->short_address ? 4 : 8;
    default:
        return 0;
    }
}

/* The groups 0xf6 and 0xf7 have an immediate in two of their instructions. */
static bool tests(const struct reading *reading)
{
    return !reading->second && reading->opcode >> 1 == 0x7b &&
           !(reading->modrm >> 4 & 3);
}

static uint64_t relative(const unsigned char *end, size_t size,
                         uint64_t address)
{
    int32_t number;

    if (size == 1)
        return address + (uint64_t)(int64_t)(signed char)end[-1];
    memcpy(&number, end - sizeof(number), sizeof(number));
    return address + (uint64_t)(int64_t)number;
}

static enum test_log_flow flow_of(const struct reading *reading)
{
    unsigned char opcode = reading->opcode;

    if (reading->second)
        return opcode >> 4 == 8 && reading->form == 'z' ? TEST_LOG_BRANCHES
               : opcode == 0x0b && reading->form == '-' ? TEST_LOG_LEAVES
                                                        : TEST_LOG_RUNS_ON;
    if (opcode == 0xe8)
        return TEST_LOG_CALLS;
    if (opcode == 0xe9 || opcode == 0xeb)
        return TEST_LOG_JUMPS;
    if (opcode >> 4 == 7 || opcode >> 2 == 0x38)
        return TEST_LOG_BRANCHES;
    if (opcode == 0xc2 || opcode == 0xc3 || opcode == 0xf4)
        return TEST_LOG_LEAVES;
    if (opcode == 0xff && (reading->modrm >> 3 & 6) == 2)
        return TEST_LOG_CALLS;
    if (opcode == 0xff && (reading->modrm >> 3 & 6) == 4)
        return TEST_LOG_SWITCHES;
    return TEST_LOG_RUNS_ON;
}

/* "mov 8(%rbp), register", where functions have a frame pointer. */
static bool loads_return(const unsigned char *bytes)
{
    return (bytes[0] & 0xfb) == 0x48 && bytes[1] == 0x8b &&
           (bytes[2] & 0xc7) == 0x45 && bytes[3] == 8;
}

bool test_log_instruction_read(struct test_log_instruction *instruction,
                               const unsigned char *bytes, size_t size,
                               uint64_t address)
{
    unsigned char copy[LONGEST + 17] = {0};
    struct reading reading = {.at = copy};
    size_t number, length;

    memcpy(copy, bytes, size < LONGEST ? size : LONGEST);
    if (!read_opcode(&reading))
        return false;
    if (strchr("mMBZ", reading.form))
        skip_operand(&reading);
    if (tests(&reading))
        reading.form = reading.opcode & 1 ? 'Z' : 'B';
    number = immediate_size(&reading);
    reading.at += number;
    length = (size_t)(reading.at - copy);
    if (length > size || length > LONGEST)
        return false;
    *instruction = (struct test_log_instruction){
        .address = address,
        .size = (uint8_t)length,
        .flow = (uint8_t)flow_of(&reading),
        .passes = length == 4 && loads_return(copy),
    };
    if (reading.opcode == 0xff && reading.modrm == 0x15) /* by a pointer */
        instruction->target = relative(reading.at, 4, address + length);
    else if (instruction->flow != TEST_LOG_RUNS_ON && number &&
             reading.opcode != 0xc2)
        instruction->target = relative(reading.at, number, address + length);
    return true;
}

#elif defined(__aarch64__)

static uint64_t signed_bits(uint32_t number, unsigned from, unsigned count)
{
    return (uint64_t)((int64_t)((uint64_t)number << (64 - from - count)) >>
                      (64 - count))
           << 2;
}

/* "ldr x1, [x29, #8]", or the register from which a frame's begin saved it. */
static bool loads_return(uint32_t word)
{
    return (word & 0xffffffe0) == 0xf94007a0;
}

bool test_log_instruction_read(struct test_log_instruction *instruction,
                               const unsigned char *bytes, size_t size,
                               uint64_t address)
{
    uint32_t word;

    if (size < sizeof(word))
        return false;
    memcpy(&word, bytes, sizeof(word));
    *instruction = (struct test_log_instruction){
        .address = address, .size = 4, .passes = loads_return(word)};
    if (word >> 26 == 0x25 || word >> 26 == 0x05) { /* BL, B */
        instruction->flow = word >> 31 ? TEST_LOG_CALLS : TEST_LOG_JUMPS;
        instruction->target = address + signed_bits(word, 0, 26);
    } else if (word >> 24 == 0x54 || (word >> 25 & 0x3f) == 0x1a) {
        instruction->flow = TEST_LOG_BRANCHES; /* B.cond, CBZ */
        instruction->target = address + signed_bits(word, 5, 19);
    } else if ((word >> 25 & 0x3f) == 0x1b) { /* TBZ */
        instruction->flow = TEST_LOG_BRANCHES;
        instruction->target = address + signed_bits(word, 5, 14);
    } else if ((word & 0xfe1f0000) == 0xd61f0000) { /* BR, BLR, RET */
        instruction->flow = (word >> 21 & 3) == 1   ? TEST_LOG_CALLS
                            : (word >> 21 & 3) == 0 ? TEST_LOG_SWITCHES
                                                    : TEST_LOG_LEAVES;
    } else if (word >> 21 == 0x6a1 && (word & 3) == 0) { /* BRK */
        instruction->flow = TEST_LOG_LEAVES;
    }
    return true;
}

#else

bool test_log_instruction_read(struct test_log_instruction *instruction,
                               const unsigned char *bytes, size_t size,
                               uint64_t address)
{
    (void)instruction;
    (void)bytes;
    (void)size;
    (void)address;
    return false;
}

#endif

/* mutant.h: tells which change of mutants.tsv is on in this process. mutants.py
 * includes it in the files that it changes.
 *
 * TESTLOG_MUTANT is the number of a change. 0:FOLDER/ turns none on, and notes
 * which changes a test program reaches, by itself or by processes that it
 * starts, in empty files FOLDER/PROGRAM.NUMBER. The first process adds PROGRAM
 * to the variable: what the tests share defines MUTANT_NAMES, so that it does
 * so before it starts others.
 */
#ifndef TESTS_MUTANT_H
#define TESTS_MUTANT_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int mutant_chosen = -1; /* -1: not known yet */
static char mutant_notes[512]; /* FOLDER/PROGRAM; "": nothing is noted */
static uint64_t mutant_noted;  /* a bit for each change */

static inline void mutant_name_program(void)
{
    char exe[256] = "", text[600];
    size_t size = strlen(mutant_notes);

    if (!size || mutant_notes[size - 1] != '/' ||
        readlink("/proc/self/exe", exe, sizeof(exe) - 1) < 0)
        return;
    snprintf(mutant_notes + size, sizeof(mutant_notes) - size, "%s",
             strrchr(exe, '/') + 1);
    snprintf(text, sizeof(text), "0:%s", mutant_notes);
    setenv("TESTLOG_MUTANT", text, 1);
}

#ifdef MUTANT_NAMES /* libraries contain no constructor */
__attribute__((constructor))
#endif
static void
mutant_choose(void)
{
    const char *text = getenv("TESTLOG_MUTANT");
    const char *notes = text ? strchr(text, ':') : NULL;
    int error = errno;

    snprintf(mutant_notes, sizeof(mutant_notes), "%s", notes ? notes + 1 : "");
    mutant_name_program();
    mutant_chosen = text ? atoi(text) : 0;
    errno = error;
}

static inline void mutant_note(int number)
{
    char path[600];
    int error = errno, file;

    if (mutant_noted >> number & 1)
        return;
    mutant_noted |= UINT64_C(1) << number;
    snprintf(path, sizeof(path), "%s.%d", mutant_notes, number);
    file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file >= 0)
        close(file);
    errno = error;
}

static inline int mutant(int number)
{
    if (mutant_chosen < 0)
        mutant_choose();
    if (mutant_notes[0])
        mutant_note(number);
    return mutant_chosen == number;
}

#endif

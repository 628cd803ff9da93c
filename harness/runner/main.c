/* main.c: main of a test program, unless the program has its own. Nothing else:
 * the linker takes this object from the archive only if it needs a main.
 */
#include <testlog/test_log.h>

TRACE_API int main(int argc, char **argv)
{
    /* In a worker, Criterion overwrites the first 16 bytes at most. Without
     * these instructions that would be a part of the next function, too. */
    __asm__ volatile(".rept 16\n\tnop\n\t.endr");
    return test_log_main(argc, argv);
}

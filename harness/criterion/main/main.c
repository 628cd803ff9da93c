/* main.c: the main of test programs that have none. It contains nothing else,
 * so that the linker takes this object only if the program needs a main.
 */
#include <testlog/test_log.h>

TRACE_API int main(int argc, char **argv)
{
    /* In a worker, Criterion overwrites up to 16 bytes of main. These
     * instructions keep it from overwriting the next function, too. */
    __asm__ volatile(".rept 16\n\tnop\n\t.endr");
    return test_log_main(argc, argv);
}

/* main.c: main of a test program, unless the program has its own. Nothing else:
 * the linker takes this object from the archive only if it needs a main.
 */
#include <testlog/test_log.h>

TRACE_API int main(int argc, char **argv)
{
    return test_log_main(argc, argv);
}

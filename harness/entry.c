/* entry.c: main of a test program, unless it has one of its own. Nothing else:
 * the linker takes this object of an archive only for want of a main.
 */
#include <testlog/test_log.h>

TRACE_API int main(int argc, char **argv)
{
    return test_log_main(argc, argv);
}

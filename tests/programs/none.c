/* none.c: a program without tests. */
#include <testlog/test_log.h>

/* register.c: adds an annotated test to the list, and thereby links the runner.
 */
#include <testlog/test_log.h>

#include "harness/session.h"

void test_log_register(struct test_log_entry *entry)
{
    __asm__ volatile("" : : "r"(&test_log_before_all)); /* links the runner */
    test_log_annotated_add(entry);
}

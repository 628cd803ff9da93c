/* register.c: lists an annotated test, and links the runner because of it. */
#include <testlog/test_log.h>

#include "harness/session.h"

void test_log_register(struct test_log_entry *entry)
{
    __asm__ volatile("" : : "r"(&test_log_before_all)); /* links the runner */
    test_log_annotated_add(entry);
}

/* losses.c: tests that lose records, each for another reason. */
#include <signal.h>
#include <sys/mman.h>

#include <criterion/criterion.h>
#include <testlog/test_log.h>

TEST_LOG(losses, none)
{
    log_info("kept");
}

TEST_LOG(losses, limit)
{
    for (int i = 0; i < 50000; i++)
        log_info("line %d of very many", i);
}

static char *page;

static void on_fault(int number)
{
    log_info("signal %d amid a record", number);
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

/* The recorder's copy faults until the handler has run. */
static void interrupt_records(int times)
{
    signal(SIGSEGV, on_fault);
    for (int i = 0; i < times; i++) {
        page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        trace_event(INFO, "event", ("bytes", trace_bytes(page, 16)));
        munmap(page, 4096);
    }
}

TEST_LOG(losses, handler)
{
    interrupt_records(3);
}

TEST_LOG(losses, handler_and_limit)
{
    interrupt_records(1);
    for (int i = 0; i < 50000; i++)
        log_info("line %d of very many", i);
}

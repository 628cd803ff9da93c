/* calls.c: functions that are left in every way, recorded without annotations.
 * calls FOLDER */
#include <testlog/trace.h>

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

#define APART __attribute__((noinline))

static jmp_buf back;
static sigjmp_buf out;
static volatile int sink;

/* Calls that take no time are not exported. */
APART static void leaf(void)
{
    for (int i = 0; i < 100; i++)
        sink++;
}

APART static void jump(void)
{
    leaf();
    longjmp(back, 1);
}

APART static void fall(void)
{
    jump();
    sink++;
}

APART static void fill(volatile char *memory)
{
    memory[0] = 1;
}

APART static void land(void)
{
    if (!setjmp(back))
        fall();
    fill(__builtin_alloca(1000));
    leaf();
}

APART static int descend(int depth)
{
    if (!depth)
        leaf();
    return depth ? descend(depth - 1) + sink : 0;
}

static int compare(const void *a, const void *b)
{
    leaf();
    return *(const int *)a - *(const int *)b;
}

APART static void sort(void)
{
    int numbers[] = {2, 1};

    qsort(numbers, 2, sizeof(*numbers), compare);
    leaf();
}

static void handle(int signal)
{
    leaf();
    if (signal == SIGUSR2)
        siglongjmp(out, 1);
}

APART static void interrupt(int number)
{
    raise(number);
    leaf();
}

APART static void listen(void)
{
    signal(SIGUSR1, handle);
    signal(SIGUSR2, handle);
    interrupt(SIGUSR1);
    if (!sigsetjmp(out, 1))
        interrupt(SIGUSR2);
    leaf();
}

APART static void work(void)
{
    land();
    descend(2);
    sort();
    listen();
}

int main(int argc, char **argv)
{
    if (argc < 2 || trace_start(argv[1], NULL))
        return 1;
    work();
    return trace_stop();
}

/* ends.c: functions that control leaves in many ways: gcov and testlog count
 * their lines alike. It is C, and C++. A line whose comment begins with "~" is
 * counted in several ways; one with "clang ~", by clang.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __cplusplus
#    include <stdexcept>
#    include <string>
#endif

#ifdef GCOV
#    ifdef __cplusplus
extern "C"
#    endif
    void
    __gcov_dump(void);
#else
#    define __gcov_dump() (void)0
#endif

static jmp_buf back;
static sigjmp_buf out_of_signal;
static volatile int sink;
static int *volatile nowhere;

static void jump(int how)
{
    sink++;
    if (how)
        longjmp(back, how);
    sink++;
}

static void jumps_within(int how)
{
    sink = 1;
    jump(how);
    sink = 2;
    sink = 3;
}

static int returns_twice(int how)
{
    if (!setjmp(back)) { /* ~: once more for each jump */
        sink = 4;
        jumps_within(how);
        sink = 5;
    } else {
        sink = 6;
    }
    sink = 7;
    return sink;
}

static int sets_twice(int how)
{
    volatile int rounds = 0;
    int value = setjmp(back); /* ~ */

    rounds++;         /* clang ~: has no block behind setjmp */
    if (rounds < how) /* clang ~ */
        longjmp(back, rounds);
    return value + rounds;
}

static const char *name_of(int number)
{
    switch (number) {
    case 0:
        return "none";
    case 1:
        return "one";
    case 2:
        sink = 8;
        return "two";
    case 3:
        sink = 9;
        /* fall through */
    case 4:
        sink = 10;
        break;
    default:
        return "many";
    }
    return "some";
}

static int loops(int most)
{
    int sum = 0;

    for (int i = 0; i < most; i++) {
        if (i % 3 == 1)
            continue;
        sum += i;
        if (sum > 20)
            break;
    }
    while (sum > 3 && most)
        sum -= 3;
    do
        sum++;
    while (sum < 2);
    return sum;
}

static int decides(int a, int b)
{
    int c = a && b ? a + b : a - b;

    if (a > b || (a == 1 && b == 1))
        return c;
    if (a)
        c++;
    else
        c--;
    return -c;
}

static void nothing(void)
{
}

static void early(int when)
{
    if (when == 1)
        return;
    sink = 11;
    if (when == 2)
        return;
    sink = 12;
}

static int recursive(int depth)
{
    if (depth == 0)
        return 0;
    return 1 + recursive(depth - 1);
}

static int leaves_array(int n)
{
    {
        char array[n + 1];

        array[0] = (char)n;
        if (n == 3) {
            sink = 38;
            return array[0];
        }
    } /* ~ */
    return 0;
}

/* The compiler knows that srand() does not throw. */
static int calls_twice(int n)
{
    if (n > 2) {
        sink += recursive(n);
        srand(1);
        sink = 39;
    }
    return sink;
}

/* A load of the variable below the frame's end looks like a jump. */
static void loads(int n)
{
    for (int i = 0; i < n; i++) {
        early(i);
        sink = 40;
        early(i);
        sink = 41;
    }
}

static int jumps_out_of(int depth)
{
    if (depth == 0)
        longjmp(back, 1);
    sink = jumps_out_of(depth - 1);
    sink++;
    return sink;
}

static int catches_jump(void)
{
    if (setjmp(back)) /* ~ */
        return 1;
    sink = jumps_out_of(5);
    return 0;
}

static void on_signal(int number)
{
    sink = number;
    siglongjmp(out_of_signal, 1);
    sink = 13;
}

static void raises(void)
{
    sink = 14;
    raise(SIGUSR1);
    sink = 15;
}

static int leaves_signal(void)
{
    signal(SIGUSR1, on_signal);
    if (sigsetjmp(out_of_signal, 1)) /* ~ */
        return 1;
    raises();
    return 0;
}

static void ends_thread(int now)
{
    sink = 16;
    if (now)
        pthread_exit(NULL);
    sink = 17;
}

static void *runs(void *now)
{
    ends_thread(now != NULL);
    sink = 18;
    return NULL;
}

static void *waits(void *fd)
{
    char byte;

    sink = 19;
    sink = (int)read(*(int *)fd, &byte, 1);
    sink = 20;
    return NULL;
}

static void threads(void)
{
    pthread_t thread;
    int fds[2];

    pthread_create(&thread, NULL, runs, NULL);
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, runs, fds);
    pthread_join(thread, NULL);
    if (pipe(fds))
        return;
    pthread_create(&thread, NULL, waits, fds);
    usleep(10000);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
}

#ifdef __cplusplus
struct guard {
    int *count;

    explicit guard(int *counted) : count(counted)
    {
        ++*count;
    }

    ~guard()
    {
        --*count;
    }
};

static void throws(int what)
{
    sink = 21;
    if (what == 1)
        throw 1;
    if (what == 2)
        throw "two";
    sink = 22;
}

static void passes(int what)
{
    sink = 23;
    throws(what);
    sink = 24;
}

static int guards(int what)
{
    int count = 0;
    guard one(&count);

    sink = 25;
    passes(what);
    sink = 26;
    return count;
} /* ~: several blocks */

static int catches(int what)
{
    int result = 0;

    try {
        result = guards(what);
        sink = 27;
        passes(0);
        sink = 28;
    } catch (int number) { /* ~ */
        result = number;
    } catch (const char *text) { /* ~ */
        result = (int)strlen(text);
        sink = 29;
    } /* ~ */
    return result;
}

static int throws_again(void)
{
    try {
        try {
            throws(1);
            sink = 30;
        } catch (int) {
            sink = 31;
            throw;
        }
        sink = 32;
    } catch (...) {
        sink = 33;
        return 1;
    }
    return 0;
}

static void writes(const std::string &text)
{
    sink = (int)text.size();
}

static void makes_strings(int n)
{
    for (int i = 0; i < n; i++) {
        if (i == n)
            writes("never");
        if (i == 2)
            throw std::runtime_error("two");
        sink = 42;
    }
}

static void strings(void)
{
    try {
        makes_strings(9);
    } catch (const std::exception &) { /* ~ */
        sink = 43;
    }
    try {
        makes_strings(2);
    } catch (const std::exception &) { /* ~ */
        sink = 44;
    }
}

static void exceptions(void)
{
    strings();
    catches(0);
    catches(1);
    catches(1);
    catches(2);
    throws_again();
}
#endif

static void all(void)
{
    returns_twice(0);
    returns_twice(1);
    returns_twice(2);
    sets_twice(4);
    name_of(0);
    name_of(2);
    name_of(2);
    name_of(3);
    name_of(4);
    loops(10);
    loops(0);
    decides(1, 1);
    decides(0, 3);
    decides(1, 3);
    decides(4, 0);
    nothing();
    for (int i = 0; i < 10; i++) {
        leaves_array(i);
        calls_twice(i);
    }
    loads(6);
    early(1);
    early(2);
    early(3);
    recursive(4);
    catches_jump();
    leaves_signal();
    threads();
}

static void dies(int *where)
{
    sink = 34;
    *where = 1;
    sink = 35;
    __gcov_dump();
}

static void leaves(void)
{
    sink = 36;
    exit(0);
    sink = 37;
}

#ifdef GCOV
static void on_crash(int number)
{
    __gcov_dump();
    _exit(number);
}
#endif

int main(int argc, char **argv)
{
#ifdef GCOV
    signal(SIGSEGV, on_crash);
#endif
    all();
#ifdef __cplusplus
    exceptions();
#endif
    if (argc > 1 && !strcmp(argv[1], "crash"))
        dies(nowhere);
    leaves();
    return 0;
}

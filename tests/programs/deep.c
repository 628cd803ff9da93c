/* deep.c: burns processor time deep in functions whose frames differ: without
 * one, with an aligned one, and with one of variable size.
 */
#define FUNCTION __attribute__((noinline)) static unsigned

static volatile unsigned sink;

FUNCTION leaf(unsigned n)
{
    unsigned sum = 0;

    for (unsigned i = 0; i < n; i++)
        sum += sink;
    return sum;
}

FUNCTION middle(unsigned n)
{
    return leaf(n) + leaf(n / 2) + 1;
}

FUNCTION aligned(unsigned n)
{
    _Alignas(64) volatile char bytes[128];

    bytes[n % 128] = 1;
    return middle(n) + (unsigned)bytes[3];
}

FUNCTION variable(unsigned n)
{
    volatile unsigned words[n % 17 + 1];

    words[0] = aligned(n);
    return words[0];
}

int main(void)
{
    for (int i = 0; i < 200; i++)
        sink += variable(1000000);
    return 0;
}

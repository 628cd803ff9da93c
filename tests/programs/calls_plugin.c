/* calls_plugin.c: a shared object whose function is called NAME. */
#define CAT(a, b) a##b
#define PLUGIN(b) CAT(plugin_, b)

void PLUGIN(NAME)(void);
void run(void);

static volatile int sink;

void PLUGIN(NAME)(void)
{
    sink++;
}

void run(void)
{
    PLUGIN(NAME)();
}

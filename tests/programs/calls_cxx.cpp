/* calls_cxx.cpp: functions that exceptions leave, recorded without annotations.
 * calls_cxx FOLDER */
#include <testlog/trace.h>

#include <stdexcept>
#include <vector>

#define APART __attribute__((noinline))

static volatile int sink;

/* Calls that take no time are not exported. */
__attribute__((always_inline, no_instrument_function)) static inline void
spend()
{
    for (int i = 0; i < 100; i++)
        sink = sink + 1;
}

namespace kv
{

template <typename T> APART T twice(T value)
{
    spend();
    return value + value;
}

class Store
{
    std::vector<int> values;

  public:
    APART void put(int value)
    {
        values.push_back(value);
        if (value == 1)
            throw std::runtime_error("one");
        sink = sink + 1;
    }

    APART int operator()(int value)
    {
        return twice(value) + sink;
    }
};

} // namespace kv

APART static void leaf()
{
    spend();
}

APART static void fill(kv::Store &store)
{
    store.put(0);
    store.put(1);
    leaf();
}

APART static void work()
{
    kv::Store store;

    try {
        fill(store);
    } catch (const std::exception &) {
        leaf();
    }
    leaf();
    sink = store(2);
}

int main(int argc, char **argv)
{
    if (argc < 2 || trace_start(argv[1], nullptr))
        return 1;
    work();
    return trace_stop();
}

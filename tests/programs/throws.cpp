// throws.cpp: tests that end with a C++ exception.
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <unwind.h>

#include <testlog/test_log.h>

TEST_LOG(throws, an_exception)
{
    trace_span(INFO, "left by an exception");

    throw std::runtime_error("out of luck");
}

TEST_LOG(throws, a_number)
{
    throw 42;
}

TEST_LOG(throws, a_caught_number)
{
    try {
        trace_span(INFO, "left by an exception");

        throw 42;
    } catch (int number) {
        cr_assert_eq(number, 42);
    }
}

/* ---- Where it is thrown ---- */

// A stack of two functions, of which the second has something to destroy.
__attribute__((noinline)) static void open_file(const char *path)
{
    throw std::runtime_error(std::string("open ") + path);
}

__attribute__((noinline)) static void load(const char *path)
{
    std::string kept = path;

    open_file(kept.c_str());
    cr_log_info("%s", kept.c_str());
}

static void load_missing()
{
    load("/nonexistent/x");
}

TEST_LOG(thrown, below_the_test)
{
    load_missing();
    cr_log_info("not reached");
}

TEST_LOG(thrown, in_init, .init = load_missing)
{
}

TEST_LOG(thrown, in_fini, .fini = load_missing)
{
}

TEST_LOG(thrown, again)
{
    try {
        load_missing();
    } catch (...) {
        throw;
    }
}

TEST_LOG(thrown, by_a_pointer)
{
    std::exception_ptr kept;

    try {
        load_missing();
    } catch (...) {
        kept = std::current_exception();
    }
    std::rethrow_exception(kept);
}

TEST_LOG(thrown, while_another_is_caught)
{
    try {
        load_missing();
    } catch (const std::exception &) {
        throw std::logic_error("cannot load");
    }
}

TEST_LOG(thrown, in_a_thread)
{
    std::thread thread(load_missing);

    thread.join();
}

TEST_LOG(thrown, out_of_noexcept)
{
    []() noexcept { load_missing(); }();
}

TEST_LOG(thrown, and_caught_a_thousand_times)
{
    for (int i = 0; i < 1000; i++)
        try {
            load_missing();
        } catch (const std::exception &) {
        }
}

/* ---- What is thrown ---- */

TEST_LOG(kinds, text)
{
    throw "only a text";
}

TEST_LOG(kinds, wrong_pointer)
{
    throw reinterpret_cast<const char *>(8);
}

namespace shop
{
struct tagged {
    virtual ~tagged() = default;
    int tag = 7;
};

struct refused : tagged, virtual std::exception {
    const char *what() const noexcept override
    {
        return "refused by the\nshop";
    }
};

template <class T> struct box {
    T content;
};
} // namespace shop

TEST_LOG(kinds, second_and_virtual_base)
{
    throw shop::refused();
}

TEST_LOG(kinds, no_exception_of_the_library)
{
    throw shop::box<int>{3};
}

TEST_LOG(kinds, no_memory)
{
    throw std::bad_alloc();
}

struct silent : std::exception {
    const char *what() const noexcept override
    {
        return nullptr;
    }
};

TEST_LOG(kinds, no_text)
{
    throw silent();
}

TEST_LOG(kinds, endless_text)
{
    throw std::runtime_error(std::string(100000, 'x'));
}

struct broken : std::exception {
    const char *what() const noexcept override
    {
        *reinterpret_cast<volatile int *>(8) = 1;
        return "";
    }
};

TEST_LOG(kinds, text_that_crashes)
{
    throw broken();
}

// An exception of another language.
TEST_LOG(kinds, foreign)
{
    static _Unwind_Exception foreign = {};

    foreign.exception_class = 0x4f54484552000000;
    _Unwind_RaiseException(&foreign);
}

/* ---- These change no verdict ---- */

static void leave()
{
    std::_Exit(7);
}

TEST_LOG(expected, std_terminate, .signal = SIGABRT)
{
    std::thread(load_missing).join();
}

TEST_LOG(expected, own_handler, .exit_code = 7)
{
    std::set_terminate(leave);
    std::thread(load_missing).join();
}

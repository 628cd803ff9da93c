/* cases_eight.h: eight test cases in the words that Catch2 and doctest share.
 */
#ifndef CASES_EIGHT_H
#define CASES_EIGHT_H

#include <stdexcept>

#include "eight.h"

TEST_CASE("passes")
{
    CHECK(eight_add(1, 2) == 3);
}

TEST_CASE("fails")
{
    CHECK(eight_add(1, 2) == 4);
}

TEST_CASE("skips")
{
    test_log_end(TEST_LOG_SKIPPED, "no device");
}

TEST_CASE("throws")
{
    eight_add(1, 2);
    throw std::runtime_error("thrown on purpose");
}

TEST_CASE("crashes")
{
    eight_crash();
}

TEST_CASE("hangs")
{
    eight_hang();
}

TEST_CASE("forks")
{
    CHECK(eight_fork() == 0);
}

TEST_CASE("logs_from_a_thread")
{
    CHECK(eight_thread() == 0);
}

#endif

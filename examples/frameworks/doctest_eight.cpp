// doctest_eight.cpp: eight test cases of doctest.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include "cases_eight.h"

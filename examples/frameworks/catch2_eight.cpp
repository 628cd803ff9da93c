// catch2_eight.cpp: eight test cases of Catch2.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

#include "cases_eight.h"

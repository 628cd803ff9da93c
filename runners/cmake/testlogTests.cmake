# testlogTests.cmake: the functions of find_package(testlog). See testlog-build(7).

set(testlog_MODULES "${CMAKE_CURRENT_LIST_DIR}")

# testlog_add_test(<target> [NAME <name>] [WORKING_DIRECTORY <folder>]
#                  [ARGS <flag>...] [PROPERTIES <name> <value>...])
# adds one test of ctest, which runs the whole program with `testlog run`.
function(testlog_add_test target)
    cmake_parse_arguments(PARSE_ARGV 1 given "" "NAME;WORKING_DIRECTORY" "ARGS;PROPERTIES")
    if(given_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "testlog_add_test: unknown argument ${given_UNPARSED_ARGUMENTS}")
    endif()
    if(NOT given_NAME)
        set(given_NAME "${target}")
    endif()
    if(NOT given_WORKING_DIRECTORY)
        set(given_WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
    endif()
    set(as) # a target may be named several times
    if(NOT given_NAME STREQUAL target)
        string(REGEX REPLACE "[^A-Za-z0-9._+=-]" "_" as "--join-as=${given_NAME}")
    endif()
    add_test(NAME "${given_NAME}"
        COMMAND "${testlog_PROGRAM}" run "--join=${CMAKE_BINARY_DIR}/testlog-runs"
            ${as} "$<TARGET_FILE:${target}>" -- ${given_ARGS}
        WORKING_DIRECTORY "${given_WORKING_DIRECTORY}")
    set_tests_properties("${given_NAME}" PROPERTIES SKIP_RETURN_CODE 77)
    if(given_PROPERTIES)
        set_tests_properties("${given_NAME}" PROPERTIES ${given_PROPERTIES})
    endif()
endfunction()

# testlog_discover_tests(<target> [DISCOVERY_MODE POST_BUILD|PRE_TEST]
#                        [TEST_PREFIX <text>] [TEST_SUFFIX <text>] [TEST_FILTER <pattern>]
#                        [TEST_LIST <variable>] [DISCOVERY_TIMEOUT <seconds>]
#                        [WORKING_DIRECTORY <folder>] [ARGS <flag>...]
#                        [EXTRA_ARGS <word>...] [PROPERTIES <name> <value>...])
# adds a test of ctest for each test of the program, which is asked for them after it was
# built, or before ctest runs. ARGS are flags of testlog, EXTRA_ARGS arguments of another
# framework's program.
function(testlog_discover_tests target)
    # Names have no types and values, as these options ask.
    cmake_parse_arguments(PARSE_ARGV 1 given "NO_PRETTY_TYPES;NO_PRETTY_VALUES"
        "DISCOVERY_MODE;TEST_PREFIX;TEST_SUFFIX;TEST_FILTER;TEST_LIST;DISCOVERY_TIMEOUT;WORKING_DIRECTORY"
        "ARGS;EXTRA_ARGS;PROPERTIES")
    if(given_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR
            "testlog_discover_tests: unknown argument ${given_UNPARSED_ARGUMENTS}")
    endif()
    if(NOT given_DISCOVERY_MODE)
        set(given_DISCOVERY_MODE POST_BUILD)
    elseif(NOT given_DISCOVERY_MODE MATCHES "^(POST_BUILD|PRE_TEST)$")
        message(FATAL_ERROR "testlog_discover_tests: DISCOVERY_MODE is "
            "${given_DISCOVERY_MODE}; write POST_BUILD or PRE_TEST")
    endif()
    if(NOT given_WORKING_DIRECTORY)
        set(given_WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
    endif()

    # A target may be named several times, with other arguments.
    get_property(number TARGET ${target} PROPERTY testlog_lists)
    math(EXPR number "0${number} + 1")
    set_property(TARGET ${target} PROPERTY testlog_lists ${number})
    set(base "${CMAKE_CURRENT_BINARY_DIR}/${target}-testlog")
    if(number GREATER 1)
        string(APPEND base "-${number}")
    endif()

    # Each configuration of a generator that has several has a list of its own.
    get_property(multi GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
    set(start "${base}-")
    if(multi)
        set(start "${base}-$<CONFIG>-")
    endif()
    set(settings "${start}settings.cmake")
    file(GENERATE OUTPUT "${settings}" CONTENT
"set(testlog_entry_command [==[${testlog_PROGRAM}]==])
set(testlog_entry_program [==[$<TARGET_FILE:${target}>]==])
set(testlog_entry_runs [==[${CMAKE_BINARY_DIR}/testlog-runs]==])
set(testlog_entry_folder [==[${given_WORKING_DIRECTORY}]==])
set(testlog_entry_prefix [==[${given_TEST_PREFIX}]==])
set(testlog_entry_suffix [==[${given_TEST_SUFFIX}]==])
set(testlog_entry_filter [==[${given_TEST_FILTER}]==])
set(testlog_entry_names [==[${given_TEST_LIST}]==])
set(testlog_entry_limit [==[${given_DISCOVERY_TIMEOUT}]==])
set(testlog_entry_flags [==[${given_ARGS}]==])
set(testlog_entry_arguments [==[${given_EXTRA_ARGS}]==])
set(testlog_entry_properties [==[${given_PROPERTIES}]==])
set(testlog_entry_modules [==[${testlog_MODULES}]==])
set(testlog_entry_list [==[${start}list.cmake]==])
")

    if(given_DISCOVERY_MODE STREQUAL POST_BUILD)
        add_custom_command(TARGET ${target} POST_BUILD
            COMMAND "${CMAKE_COMMAND}" "-DSETTINGS=${settings}"
                -P "${testlog_MODULES}/testlogDiscover.cmake"
            VERBATIM)
    endif()
    # ctest reads this file, which may run before the program is built.
    file(WRITE "${base}-include.cmake" "set(NAME [==[${target}]==])
set(BEFORE_TEST ${given_DISCOVERY_MODE})
set(SETTINGS [==[${base}-]==])
if(CTEST_CONFIGURATION_TYPE AND EXISTS \"\${SETTINGS}\${CTEST_CONFIGURATION_TYPE}-settings.cmake\")
    set(SETTINGS \"\${SETTINGS}\${CTEST_CONFIGURATION_TYPE}-\")
endif()
set(SETTINGS \"\${SETTINGS}settings.cmake\")
include([==[${testlog_MODULES}/testlogEntries.cmake]==])
")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${base}-include.cmake")
endfunction()

# testlogEntries.cmake: ctest reads the tests in the list that the file SETTINGS names.
# If BEFORE_TEST is PRE_TEST, they are listed anew when the program is newer.
# With the flag `own`, the program becomes `testlog run --join` by itself, which editors
# can debug; older ctests cannot tell it to.
function(testlog_entry name filter timeout disabled serial labels own file line)
    set(testlog_name "${testlog_entry_prefix}${name}${testlog_entry_suffix}")
    if(own MATCHES "^--gtest_filter" AND testlog_entry_flags)
        set(own)
    endif()
    if(own AND NOT CMAKE_VERSION VERSION_LESS 3.22)
        add_test("${testlog_name}" "${testlog_entry_program}" "${own}"
            ${testlog_entry_flags} ${testlog_entry_arguments})
        set_tests_properties("${testlog_name}" PROPERTIES ENVIRONMENT_MODIFICATION
            "TESTLOG_JOIN=set:${testlog_entry_runs};TESTLOG_JOIN_BY=set:${testlog_entry_command};TESTLOG_JOIN_AS=set:${testlog_entry_as}")
    else()
        set(arguments)
        foreach(word IN LISTS testlog_entry_arguments)
            list(APPEND arguments "--argument=${word}")
        endforeach()
        add_test("${testlog_name}" "${testlog_entry_command}" run
            "--join=${testlog_entry_runs}" "--join-as=${testlog_entry_as}" ${arguments}
            "${testlog_entry_program}" --
            "--filter=${filter}" ${testlog_entry_flags})
    endif()
    set_tests_properties("${testlog_name}" PROPERTIES
        WORKING_DIRECTORY "${testlog_entry_folder}" SKIP_RETURN_CODE 77)
    get_filename_component(path "${file}" ABSOLUTE BASE_DIR "${testlog_entry_folder}")
    if(file AND EXISTS "${path}")
        set_tests_properties("${testlog_name}" PROPERTIES
            DEF_SOURCE_LINE "${path}:${line}" _BACKTRACE_TRIPLES "${path};${line};")
    endif()
    if(NOT "${labels}" STREQUAL "")
        set_tests_properties("${testlog_name}" PROPERTIES LABELS "${labels}")
    endif()
    if(${timeout} GREATER 0)
        set_tests_properties("${testlog_name}" PROPERTIES TIMEOUT ${timeout})
    endif()
    if(${disabled})
        set_tests_properties("${testlog_name}" PROPERTIES DISABLED TRUE)
    endif()
    if(${serial})
        set_tests_properties("${testlog_name}" PROPERTIES RUN_SERIAL TRUE)
    endif()
    list(APPEND testlog_entry_all "${testlog_name}")
    set(testlog_entry_all "${testlog_entry_all}" PARENT_SCOPE)
    if(testlog_entry_properties)
        set_tests_properties("${testlog_name}" PROPERTIES ${testlog_entry_properties})
    endif()
endfunction()

set(TESTS)
set(testlog_entry_all)
if(EXISTS "${SETTINGS}")
    include("${SETTINGS}")
    set(TESTS "${testlog_entry_list}")
    if(BEFORE_TEST STREQUAL "PRE_TEST" AND EXISTS "${testlog_entry_program}" AND
       "${testlog_entry_program}" IS_NEWER_THAN "${TESTS}")
        include("${testlog_entry_modules}/testlogDiscover.cmake")
    endif()
endif()
# A target may be named several times, with other arguments and variables.
get_filename_component(testlog_entry_as "${testlog_entry_program}" NAME)
string(REGEX REPLACE "[^A-Za-z0-9._+=-]" "_" testlog_entry_as
    "${testlog_entry_prefix}${testlog_entry_as}${testlog_entry_suffix}")
if(TESTS AND EXISTS "${TESTS}")
    include("${TESTS}")
    if(testlog_entry_names)
        set(${testlog_entry_names} ${testlog_entry_all})
    endif()
elseif(NOT EXISTS "${SETTINGS}" AND NOT CTEST_CONFIGURATION_TYPE)
    add_test("${NAME}_NOT_BUILT_OR_USE_-C" "${NAME}_NOT_BUILT_OR_USE_-C")
else()
    add_test("${NAME}_NOT_BUILT" "${NAME}_NOT_BUILT")
endif()

# testlogEntries.cmake: ctest reads the tests in the file TESTS. If BEFORE_TEST is
# PRE_TEST, they are listed anew when the program is newer.
macro(testlog_entry name filter timeout disabled serial labels)
    set(testlog_name "${testlog_entry_prefix}${name}${testlog_entry_suffix}")
    add_test("${testlog_name}" "${testlog_entry_command}" run
        "--join=${testlog_entry_runs}" "${testlog_entry_program}" --
        "--filter=${filter}" ${testlog_entry_flags})
    set_tests_properties("${testlog_name}" PROPERTIES
        WORKING_DIRECTORY "${testlog_entry_folder}" SKIP_RETURN_CODE 77)
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
    if(testlog_entry_properties)
        set_tests_properties("${testlog_name}" PROPERTIES ${testlog_entry_properties})
    endif()
endmacro()

if(EXISTS "${SETTINGS}")
    include("${SETTINGS}")
    if(BEFORE_TEST STREQUAL "PRE_TEST" AND EXISTS "${testlog_entry_program}" AND
       "${testlog_entry_program}" IS_NEWER_THAN "${TESTS}")
        include("${testlog_entry_modules}/testlogDiscover.cmake")
    endif()
endif()
if(EXISTS "${TESTS}")
    include("${TESTS}")
else()
    add_test("${NAME}_NOT_BUILT" "${NAME}_NOT_BUILT")
endif()

# testlogDiscover.cmake: lists the tests of a program, as the file SETTINGS of
# testlog_discover_tests says.
include("${SETTINGS}")
set(TESTS "${testlog_entry_list}")
set(testlog_words)
foreach(word IN LISTS testlog_entry_arguments)
    list(APPEND testlog_words "--argument=${word}")
endforeach()
set(testlog_choice)
if(testlog_entry_filter)
    set(testlog_choice "--filter=${testlog_entry_filter}")
endif()
set(testlog_limit)
if(testlog_entry_limit)
    set(testlog_limit TIMEOUT ${testlog_entry_limit})
endif()
execute_process(
    COMMAND "${testlog_entry_command}" run ${testlog_words} "${testlog_entry_program}" --
        --list=cmake ${testlog_choice} ${testlog_entry_flags}
    WORKING_DIRECTORY "${testlog_entry_folder}" ${testlog_limit}
    OUTPUT_VARIABLE testlog_list ERROR_VARIABLE testlog_errors
    RESULT_VARIABLE testlog_code)
if(NOT testlog_code EQUAL 0)
    file(REMOVE "${TESTS}")
    message(FATAL_ERROR "testlog: cannot list the tests of ${testlog_entry_program}: "
        "${testlog_code}\n${testlog_errors}")
endif()
file(WRITE "${TESTS}.new" "${testlog_list}")
file(RENAME "${TESTS}.new" "${TESTS}")

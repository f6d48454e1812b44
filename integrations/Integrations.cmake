# SPDX-License-Identifier: MPL-2.0
#
#   perigee_integration(NAME "text" module>=version ...)
#   perigee_integration_missing(NAME "text")
#   perigee_integration_test(name [LARGE] COMMAND ... [ENVIRONMENT ...])
#   perigee_plugin(target SOURCES ... LINK ... NAME file DESTINATION dir)

# An option PERIGEE_WITH_<NAME>, and what pkg-config finds for it.
macro(perigee_integration name text)
    set(PERIGEE_WITH_${name} ${automatic} CACHE STRING "ON, OFF or AUTO")
    set_property(CACHE PERIGEE_WITH_${name} PROPERTY STRINGS ON OFF AUTO)
    perigee_feature(${name} "${text}" ${ARGN})
    if(NOT PERIGEE_HAVE_${name})
        perigee_integration_missing(${name} "${text}")
    endif()
endmacro()

# A test that is skipped and says what is missing.
function(perigee_integration_missing name text)
    string(TOLOWER ${name} test)
    if(Python3_Interpreter_FOUND AND PERIGEE_WITH_${name} STREQUAL "AUTO")
        perigee_integration_test(${test} LARGE
            COMMAND ${Python3_EXECUTABLE}
                    ${PROJECT_SOURCE_DIR}/integrations/tests/missing.py ${text})
    endif()
endfunction()

# A test with the stock program.  LARGE: it needs programs that only the long
# run installs.  Exit status 77: the program is missing, and the test says which.
function(perigee_integration_test name)
    cmake_parse_arguments(A "LARGE" "TIMEOUT" "COMMAND;ENVIRONMENT" ${ARGN})
    if(NOT PERIGEE_BUILD_TESTS OR PERIGEE_SANITIZE)
        return()
    endif()
    set(labels integrations)
    if(A_LARGE)
        list(APPEND labels soak)
    endif()
    if(NOT A_TIMEOUT)
        set(A_TIMEOUT 600)
    endif()
    set(test ${PERIGEE_TEST_PREFIX}integrations.${name})
    add_test(NAME ${test} COMMAND ${A_COMMAND}
        WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    set_tests_properties(${test} PROPERTIES
        LABELS "${labels}" TIMEOUT ${A_TIMEOUT} SKIP_RETURN_CODE 77
        ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1;PERIGEE_BUILD_DIR=${PROJECT_BINARY_DIR};${A_ENVIRONMENT}")
endfunction()

# A module that a program loads: found in its own folder of modules, and finding
# the libraries beside it wherever the prefix is moved to.
function(perigee_plugin target)
    cmake_parse_arguments(A "" "NAME;DESTINATION" "SOURCES;LINK" ${ARGN})
    add_library(${target} MODULE ${A_SOURCES})
    perigee_options(${target} GNU)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(${target} PRIVATE ${A_LINK} tltcp-live tltcp)
    set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${A_NAME})
    if(PERIGEE_INSTALL)
        perigee_relative_rpath(${target} ${A_DESTINATION})
        install(TARGETS ${target} LIBRARY DESTINATION ${A_DESTINATION})
    endif()
endfunction()

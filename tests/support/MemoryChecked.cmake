# SPDX-License-Identifier: MPL-2.0
# Programs of tests with -fsanitize=memory: memory_checked.c tells what libraries
# that are built without it have written, and says which functions are wrapped.
set(file ${CMAKE_CURRENT_SOURCE_DIR}/support/memory_checked.c)
file(READ ${file} text)
add_library(memory_checked OBJECT ${file})
perigee_options(memory_checked)
perigee_includes(memory_checked)
target_link_libraries(memory_checked PUBLIC perigee_sim perigee_secure)
if(PERIGEE_HAVE_ISAL)
    target_compile_definitions(memory_checked PRIVATE PERIGEE_HAVE_ISAL)
    target_link_libraries(memory_checked PUBLIC PkgConfig::ISAL)
endif()
string(REGEX MATCHALL "\n(CALL\\([^,]+, |CALLED\\()[A-Za-z0-9_]+" calls "${text}")
foreach(call IN LISTS calls)
    string(REGEX MATCH "[A-Za-z0-9_]+$" name "${call}")
    target_link_options(memory_checked INTERFACE LINKER:--wrap=${name})
endforeach()
# Of all targets below.
link_libraries(memory_checked)

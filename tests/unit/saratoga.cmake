# SPDX-License-Identifier: MPL-2.0
# Modules of the Saratoga engine, and the engine as its peer sees it.
if(TARGET saratoga_objects)
    set(alloc ${PROJECT_SOURCE_DIR}/tests/support/alloc.c)
    function(saratoga_test name)
        perigee_unit_test(saratoga_${name}
            SOURCES saratoga/test_${name}.c ${ARGN}
            LINK saratoga_objects congestion_objects)
    endfunction()
    saratoga_test(packet)
    saratoga_test(entry)
    saratoga_test(values)
    saratoga_test(sentlog ${alloc})
    saratoga_test(index ${alloc})
    saratoga_test(table ${alloc})
endif()

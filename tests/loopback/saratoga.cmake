# SPDX-License-Identifier: MPL-2.0
# The Saratoga node on libuv.
if(NOT TARGET saratoga_node_objects)
    return()
endif()

set(driver ${PROJECT_SOURCE_DIR}/libsaratoga/node)
perigee_unit_test(saratoga_files GNU
    SOURCES test_saratoga_files.c ${driver}/map.c
            ${driver}/part.c ${driver}/root.c
    LINK PkgConfig::UV
    LABELS loopback)
perigee_unit_test(saratoga_node GNU TIMEOUT 300
    SOURCES test_saratoga_node.c saratoga_pair.c
    LINK saratoga PkgConfig::UV
    LABELS loopback)
perigee_unit_test(saratoga_secured GNU TIMEOUT 120
    SOURCES test_saratoga_secured.c saratoga_pair.c
    LINK saratoga PkgConfig::UV
    LABELS loopback)

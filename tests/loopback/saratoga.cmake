# SPDX-License-Identifier: MPL-2.0
# The Saratoga node on libuv.
if(NOT TARGET saratoga_node_objects)
    return()
endif()

perigee_unit_test(saratoga_node GNU TIMEOUT 300
    SOURCES test_saratoga_node.c saratoga_pair.c
    LINK saratoga PkgConfig::UV
    LABELS loopback)
perigee_unit_test(saratoga_secured GNU TIMEOUT 120
    SOURCES test_saratoga_secured.c saratoga_pair.c
    LINK saratoga PkgConfig::UV
    LABELS loopback)
perigee_unit_test(saratoga_strangers GNU TIMEOUT 120
    SOURCES test_saratoga_strangers.c saratoga_pair.c
    LINK saratoga PkgConfig::UV
    LABELS loopback)

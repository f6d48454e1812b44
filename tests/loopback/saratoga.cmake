# SPDX-License-Identifier: MPL-2.0
# The Saratoga node on libuv.
if(NOT TARGET saratoga_node_objects)
    return()
endif()

perigee_unit_test(saratoga_node GNU TIMEOUT 300
    SOURCES test_saratoga_node.c saratoga_pair.c
    LINK saratoga PkgConfig::UV
    LABELS loopback)
perigee_unit_test(saratoga_scarce GNU TIMEOUT 120
    SOURCES test_saratoga_scarce.c saratoga_pair.c
    LINK saratoga_node_objects net_objects saratoga_objects congestion_objects
         PkgConfig::UV
    LABELS loopback)
target_link_options(test_saratoga_scarce PRIVATE -Wl,--wrap=calloc)
perigee_unit_test(saratoga_secured GNU TIMEOUT 120
    SOURCES test_saratoga_secured.c saratoga_pair.c
    LINK saratoga PkgConfig::UV
    LABELS loopback)
perigee_unit_test(saratoga_strangers GNU TIMEOUT 120
    SOURCES test_saratoga_strangers.c saratoga_pair.c
    LINK saratoga PkgConfig::UV
    LABELS loopback)

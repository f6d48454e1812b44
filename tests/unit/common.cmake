# SPDX-License-Identifier: MPL-2.0
# common/ and the virtual link of sim/
set(alloc ${PROJECT_SOURCE_DIR}/tests/support/alloc.c)
perigee_unit_test(ranges SOURCES test_ranges.c ${alloc} LINK perigee_common)
perigee_unit_test(heap SOURCES test_heap.c ${alloc} LINK perigee_common)
perigee_unit_test(ring SOURCES test_ring.c ${alloc} LINK perigee_common)
perigee_unit_test(tally SOURCES test_tally.c ${alloc} LINK perigee_common)
perigee_unit_test(wire SOURCES test_wire.c LINK perigee_common)
perigee_unit_test(rng SOURCES test_rng.c LINK perigee_common)
perigee_unit_test(link SOURCES test_link.c LINK perigee_sim)
perigee_unit_test(net SOURCES test_net.c LINK perigee_sim)

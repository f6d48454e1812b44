# SPDX-License-Identifier: MPL-2.0
# secure/; more of it is tested through TLTCP.
set(alloc ${PROJECT_SOURCE_DIR}/tests/support/alloc.c)
perigee_unit_test(replay SOURCES test_replay.c LINK perigee_secure)
perigee_unit_test(carrier SOURCES test_carrier.c ${alloc} LINK perigee_secure)
perigee_unit_test(record SOURCES test_record.c LINK perigee_secure)

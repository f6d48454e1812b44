# SPDX-License-Identifier: MPL-2.0
# secure/; more of it is tested through TLTCP.
set(alloc ${PROJECT_SOURCE_DIR}/tests/support/alloc.c)
perigee_unit_test(replay SOURCES test_replay.c LINK perigee_secure)
foreach(subject carrier carrier_attacks)
    perigee_unit_test(${subject} SOURCES test_${subject}.c ${alloc}
        LINK perigee_secure)
endforeach()
perigee_unit_test(secret
    SOURCES test_secret.c ${PROJECT_SOURCE_DIR}/tests/support/crypto_alloc.c
    LINK perigee_secure)
perigee_unit_test(record SOURCES test_record.c LINK perigee_secure)
perigee_unit_test(cipher
    SOURCES test_cipher.c ${PROJECT_SOURCE_DIR}/tests/support/crypto_alloc.c
    LINK perigee_secure)

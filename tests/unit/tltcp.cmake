# SPDX-License-Identifier: MPL-2.0
# Modules of the TLTCP engine.  Reassembly and sections are tested against
# models in tests/fuzz.
if(TARGET tltcp_objects)
    set(alloc ${PROJECT_SOURCE_DIR}/tests/support/alloc.c)
    perigee_unit_test(packet SOURCES test_packet.c)
    perigee_unit_test(acks SOURCES test_acks.c ${alloc})
    perigee_unit_test(sentmap SOURCES test_sentmap.c ${alloc})
    perigee_unit_test(mtu SOURCES test_mtu.c)
    perigee_unit_test(capacity SOURCES test_capacity.c)
    perigee_unit_test(train SOURCES test_train.c)
    perigee_unit_test(noise SOURCES test_noise.c)
    target_compile_definitions(test_noise PRIVATE
        NOISE_VECTORS="${PROJECT_SOURCE_DIR}/tests/data/noise/nnpsk0.txt")
    perigee_unit_test(sealing SOURCES test_sealing.c)
    target_link_options(test_sealing PRIVATE -Wl,--wrap=sec__suite_preferred)
    perigee_unit_test(admission SOURCES test_admission.c ${alloc})
    perigee_unit_test(sections SOURCES test_sections.c)
    perigee_unit_test(lookahead SOURCES test_lookahead.c)
    if(PERIGEE_HAVE_ISAL)
        perigee_unit_test(fec SOURCES test_fec.c ${alloc})
    endif()
endif()

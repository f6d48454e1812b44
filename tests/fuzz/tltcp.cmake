# SPDX-License-Identifier: MPL-2.0
# Fuzz targets of the TLTCP engine and of the controllers.
if(PERIGEE_FUZZ)
    engine_copy(fuzz_engine tltcp ${fuzzing})
endif()

function(fuzz_target name inputs)
    if(PERIGEE_SANITIZE)
        math(EXPR inputs "${inputs} / 4")
    endif()
    fuzz_program(${name} ${inputs} SOURCES ${support}
        LINK perigee_sim_tltcp tltcp_objects perigee_common
        COPY perigee_sim_tltcp fuzz_engine)
endfunction()

fuzz_target(calls 3000)
fuzz_target(packet 50000)
fuzz_target(reasm 10000)
fuzz_target(fec_receiver 500)
fuzz_target(sections 4000)
fuzz_target(conn 10000)
fuzz_target(ids 20000)
fuzz_target(endpoint 20000)
fuzz_target(carrier 200)
fuzz_target(congestion 20000)
fuzz_program(frames 20000
    SOURCES ${PROJECT_SOURCE_DIR}/libtltcp/tcp/frames.c
    LINK perigee_sim_tltcp COPY perigee_sim_tltcp)

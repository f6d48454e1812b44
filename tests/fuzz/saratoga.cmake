# SPDX-License-Identifier: MPL-2.0
# Fuzz targets of the Saratoga engine.
if(NOT TARGET saratoga_objects)
    return()
endif()

if(PERIGEE_FUZZ)
    engine_copy(fuzz_saratoga_engine saratoga ${fuzzing})
endif()

function(saratoga_fuzz_target name inputs)
    fuzz_program(saratoga_${name} ${inputs} SOURCES ${support}
        LINK perigee_sim saratoga_objects congestion_objects perigee_common
        COPY fuzz_saratoga_engine)
endfunction()

saratoga_fuzz_target(calls 3000)
saratoga_fuzz_target(packet 20000)
saratoga_fuzz_target(session 3000)

# SPDX-License-Identifier: MPL-2.0
# Fuzz targets of what elements and tools share about media.
if(PERIGEE_FUZZ)
    get_target_property(sources perigee_media SOURCES)
    list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/internal/media/)
    add_library(fuzz_media STATIC ${sources})
    perigee_options(fuzz_media)
    perigee_includes(fuzz_media)
    target_compile_options(fuzz_media PRIVATE ${fuzzing})
endif()

# media_fuzz_target(name inputs [more sources])
function(media_fuzz_target name inputs)
    fuzz_program(media_${name} ${inputs} SOURCES ${ARGN} RUNS 50000
        LINK perigee_media perigee_sim
        COPY fuzz_media)
endfunction()

media_fuzz_target(parse 30000)
media_fuzz_target(h264 10000 pictures.c)
media_fuzz_target(h265 10000 pictures.c)
media_fuzz_target(av1 10000)
media_fuzz_target(sequence 10000)
media_fuzz_target(ts 2000)
if(TARGET tltcp-live)
    fuzz_program(live_stream 3000
        LINK tltcp-live tltcp perigee_sim
        COPY tltcp-live tltcp perigee_sim)
endif()

# SPDX-License-Identifier: MPL-2.0
# Fuzz targets of what elements and tools share about media.
if(PERIGEE_FUZZ)
    get_target_property(sources perigee_media SOURCES)
    list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/media/)
    add_library(fuzz_media STATIC ${sources})
    perigee_options(fuzz_media)
    perigee_includes(fuzz_media)
    target_compile_options(fuzz_media PRIVATE ${fuzzing})
endif()

function(media_fuzz_target name inputs)
    add_executable(fuzz_media_${name} fuzz_media_${name}.c main.c)
    perigee_options(fuzz_media_${name})
    perigee_includes(fuzz_media_${name})
    target_link_libraries(fuzz_media_${name} PRIVATE perigee_media perigee_sim)
    set(test ${PERIGEE_TEST_PREFIX}fuzz.media_${name})
    add_test(NAME ${test} COMMAND fuzz_media_${name} --random 1 ${inputs})
    set_tests_properties(${test} PROPERTIES LABELS fuzz TIMEOUT 120)
    if(PERIGEE_FUZZ)
        add_executable(libfuzz_media_${name} fuzz_media_${name}.c)
        perigee_options(libfuzz_media_${name})
        perigee_includes(libfuzz_media_${name})
        target_compile_options(libfuzz_media_${name} PRIVATE ${fuzzing})
        target_link_libraries(libfuzz_media_${name} PRIVATE fuzz_media)
        target_link_options(libfuzz_media_${name} PRIVATE
            -fsanitize=fuzzer,address,undefined)
        add_test(NAME fuzz.lib_media_${name}
            COMMAND libfuzz_media_${name} -runs=50000 -max_len=2000 -seed=1)
        set_tests_properties(fuzz.lib_media_${name} PROPERTIES
            LABELS fuzz TIMEOUT 300)
    endif()
endfunction()

media_fuzz_target(parse 30000)
media_fuzz_target(refs 10000)
media_fuzz_target(sequence 10000)
media_fuzz_target(ts 2000)

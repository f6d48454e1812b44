# SPDX-License-Identifier: MPL-2.0
# Fuzz targets of the Saratoga engine.
if(NOT TARGET saratoga_objects)
    return()
endif()

if(PERIGEE_FUZZ)
    set(engine "")
    foreach(part perigee_common congestion_objects saratoga_objects)
        get_target_property(sources ${part} SOURCES)
        get_target_property(dir ${part} SOURCE_DIR)
        foreach(source IN LISTS sources)
            cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${dir})
            list(APPEND engine ${source})
        endforeach()
    endforeach()
    add_library(fuzz_saratoga_engine STATIC ${engine} ${support})
    perigee_options(fuzz_saratoga_engine)
    perigee_includes(fuzz_saratoga_engine)
    target_compile_definitions(fuzz_saratoga_engine
        PUBLIC CONG_STATIC SARATOGA_STATIC
        PRIVATE PERIGEE_VERSION="${PROJECT_VERSION}")
    target_compile_options(fuzz_saratoga_engine PUBLIC
        -fsanitize=fuzzer-no-link,address,undefined
        -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_libraries(fuzz_saratoga_engine PUBLIC PkgConfig::OPENSSL m)
endif()

function(saratoga_fuzz_target name inputs)
    add_executable(fuzz_saratoga_${name}
        fuzz_saratoga_${name}.c main.c ${support})
    perigee_options(fuzz_saratoga_${name})
    perigee_includes(fuzz_saratoga_${name})
    target_link_libraries(fuzz_saratoga_${name} PRIVATE
        perigee_sim saratoga_objects congestion_objects perigee_common)
    set(test ${PERIGEE_TEST_PREFIX}fuzz.saratoga_${name})
    add_test(NAME ${test}
        COMMAND fuzz_saratoga_${name} --random 1 ${inputs})
    set_tests_properties(${test} PROPERTIES LABELS fuzz TIMEOUT 120)
    if(PERIGEE_FUZZ)
        add_executable(libfuzz_saratoga_${name} fuzz_saratoga_${name}.c)
        perigee_options(libfuzz_saratoga_${name})
        perigee_includes(libfuzz_saratoga_${name})
        target_link_libraries(libfuzz_saratoga_${name}
            PRIVATE fuzz_saratoga_engine)
        target_link_options(libfuzz_saratoga_${name} PRIVATE
            -fsanitize=fuzzer,address,undefined)
        add_test(NAME fuzz.lib_saratoga_${name}
            COMMAND libfuzz_saratoga_${name} -runs=20000 -max_len=2000 -seed=1)
        set_tests_properties(fuzz.lib_saratoga_${name} PROPERTIES
            LABELS fuzz TIMEOUT 300)
    endif()
endfunction()

saratoga_fuzz_target(packet 20000)
saratoga_fuzz_target(session 3000)

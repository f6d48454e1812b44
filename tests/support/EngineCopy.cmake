# SPDX-License-Identifier: MPL-2.0
# An engine once more, compiled in another way, for tests that want it
# instrumented.
#   engine_copy(name tltcp|saratoga [compile options])
# The check sum stays as it is: it is a loop over bytes and would drown the rest.
function(engine_copy name library)
    set(sources "")
    string(TOUPPER ${library} define)
    foreach(part perigee_common perigee_secure congestion_objects
                 ${library}_objects)
        get_target_property(files ${part} SOURCES)
        get_target_property(dir ${part} SOURCE_DIR)
        foreach(file IN LISTS files)
            cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${dir})
            list(APPEND sources ${file})
        endforeach()
    endforeach()
    list(FILTER sources EXCLUDE REGEX "crc32c")
    add_library(${name} OBJECT ${sources})
    perigee_options(${name})
    target_include_directories(${name} PRIVATE
        $<TARGET_PROPERTY:${library}_objects,INCLUDE_DIRECTORIES>)
    target_compile_definitions(${name} PRIVATE
        PERIGEE_VERSION="${PROJECT_VERSION}" PUBLIC CONG_STATIC ${define}_STATIC)
    # -w: warnings are for the original; instrumentation makes false ones.
    target_compile_options(${name} PRIVATE -w ${ARGN})
    target_link_libraries(${name} PUBLIC
        perigee_common PkgConfig::OPENSSL m)
    if(PERIGEE_HAVE_ISAL)
        target_compile_definitions(${name} PRIVATE PERIGEE_HAVE_ISAL)
        target_link_libraries(${name} PUBLIC PkgConfig::ISAL)
    endif()
endfunction()

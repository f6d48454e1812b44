# SPDX-License-Identifier: MPL-2.0
#
# The functions with which every folder describes its targets.
#
#   perigee_options(target [POSIX] [GNU])
#   perigee_feature(NAME "text" module>=version ...)
#   perigee_objects(name SOURCES ... [DEFINE X] [LINK ...] [POSIX] [GNU])
#   perigee_library(name DEFINE X DESCRIPTION "..." SOURCES ... [OBJECTS ...]
#                   [NEEDS component ...] [LINK ...] [PC_REQUIRES_PRIVATE ...])
#   perigee_program(name SOURCES ... [LINK ...] [POSIX] [GNU] [INSTALL])
#   perigee_man_page(program "what it is for")
#   perigee_unit_test(name SOURCES ... [LINK ...] [LABELS ...] [TIMEOUT s]
#                     [POSIX] [GNU] [ENVIRONMENT ...] [WORKING_DIRECTORY d])
#   perigee_install_package()

include(CMakePackageConfigHelpers)

# Adds a folder if it exists, so that a reduced tree still builds.
macro(perigee_subdirectory dir)
    if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${dir}/CMakeLists.txt")
        add_subdirectory(${dir})
    endif()
endmacro()

# Compile options of every target. POSIX or GNU: enables system functions that strict
# C11 hides; engines must not use them.
function(perigee_options target)
    cmake_parse_arguments(A "POSIX;GNU" "" "" ${ARGN})
    # Sets C_STANDARD, because target_compile_features(c_std_11) would let the compiler
    # keep a newer default.
    set_target_properties(${target} PROPERTIES
        C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
        C_VISIBILITY_PRESET hidden
        POSITION_INDEPENDENT_CODE ON)
    if(MSVC)
        target_compile_options(${target} PRIVATE /W4)
    else()
        # No contraction: arithmetic is reproducible everywhere.
        target_compile_options(${target} PRIVATE -ffp-contract=off
            -Wall -Wextra -Wpedantic -Wconversion -Wshadow
            -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef
            -Wpointer-arith -Wwrite-strings -Wformat=2
            -Wimplicit-fallthrough -Wdouble-promotion)
        target_compile_options(${target} PRIVATE
            ${PERIGEE_HARDEN_COMPILE} ${PERIGEE_LTO_COMPILE})
        target_link_options(${target} PRIVATE
            ${PERIGEE_HARDEN_LINK} ${PERIGEE_LTO_LINK})
        if(PERIGEE_WERROR)
            target_compile_options(${target} PRIVATE -Werror)
        endif()
        if(PERIGEE_ASSERTS)
            target_compile_options(${target} PRIVATE -UNDEBUG)
        endif()
    endif()
    if(A_GNU)
        target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
        if(CMAKE_SIZEOF_VOID_P EQUAL 4) # files over 2 GiB, dates after 2038
            target_compile_definitions(${target} PRIVATE
                _FILE_OFFSET_BITS=64 _TIME_BITS=64)
        endif()
    elseif(A_POSIX)
        target_compile_definitions(${target} PRIVATE _POSIX_C_SOURCE=200809L)
    endif()
    if(PERIGEE_SANITIZE)
        set(san -fsanitize=${PERIGEE_SANITIZE} -fno-sanitize-recover=all
                -fno-omit-frame-pointer)
        target_compile_options(${target} PRIVATE ${san})
        target_link_options(${target} PRIVATE ${san})
    endif()
endfunction()

# An optional dependency, found by pkg-config.  ON: required; AUTO: if found; OFF:
# never.  Sets PERIGEE_HAVE_<NAME> and makes PkgConfig::<NAME>.
macro(perigee_feature name text)
    set(PERIGEE_HAVE_${name} FALSE)
    if(NOT "${PERIGEE_WITH_${name}}" STREQUAL "OFF")
        find_package(PkgConfig QUIET)
        if(PKG_CONFIG_FOUND)
            pkg_check_modules(${name} QUIET IMPORTED_TARGET GLOBAL ${ARGN})
        endif()
        if(${name}_FOUND)
            set(PERIGEE_HAVE_${name} TRUE)
        elseif("${PERIGEE_WITH_${name}}" STREQUAL "ON")
            message(FATAL_ERROR
                "PERIGEE_WITH_${name}=ON, but ${text} was not found")
        endif()
    endif()
    message(STATUS "Perigee: ${text}: ${PERIGEE_HAVE_${name}}")
endmacro()

# Gives a target the include paths of the tree.
function(perigee_includes target)
    target_include_directories(${target} PRIVATE
        ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include
        ${PROJECT_BINARY_DIR}/generated)
endfunction()

# Which of POSIX and GNU was given to the calling function.
macro(perigee__system out)
    set(${out} "")
    if(A_GNU)
        set(${out} GNU)
    elseif(A_POSIX)
        set(${out} POSIX)
    endif()
endmacro()

# Objects that end up in one or more libraries, and that tests link directly to
# see what the libraries hide.
function(perigee_objects name)
    cmake_parse_arguments(A "POSIX;GNU" "DEFINE" "SOURCES;LINK" ${ARGN})
    perigee__system(system)
    add_library(${name} OBJECT ${A_SOURCES})
    perigee_options(${name} ${system})
    perigee_includes(${name})
    target_link_libraries(${name} PUBLIC ${A_LINK})
    target_compile_definitions(${name} PRIVATE
        PERIGEE_VERSION="${PROJECT_VERSION}")
    if(A_DEFINE)
        target_compile_definitions(${name} PRIVATE ${A_DEFINE}_BUILDING)
        if(NOT BUILD_SHARED_LIBS)
            target_compile_definitions(${name} PUBLIC ${A_DEFINE}_STATIC)
        endif()
    endif()
endfunction()

# One library of the family: <name>_objects, <name> (shared, or static when
# BUILD_SHARED_LIBS is off), <name>_static (with PERIGEE_BUILD_STATIC), the
# aliases perigee::..., its .pc file and its own export set, so that a component
# of the CMake package loads only what was asked for.  NEEDS are other libraries
# of the family; its users may call the PUBLIC ones among them.
function(perigee_library name)
    cmake_parse_arguments(A "" "DEFINE;DESCRIPTION"
        "SOURCES;OBJECTS;NEEDS;PUBLIC;LINK;PC_REQUIRES_PRIVATE;PC_LIBS_PRIVATE"
        ${ARGN})
    perigee_objects(${name}_objects DEFINE ${A_DEFINE} SOURCES ${A_SOURCES}
        LINK ${A_NEEDS} ${A_LINK} perigee_common)
    set(objects $<TARGET_OBJECTS:${name}_objects>)
    foreach(extra IN LISTS A_OBJECTS)
        list(APPEND objects $<TARGET_OBJECTS:${extra}>)
    endforeach()

    add_library(${name} ${objects})
    perigee__library_target(${name} ${name} ${A_DEFINE})
    target_link_libraries(${name} PRIVATE perigee_common ${A_NEEDS} ${A_LINK}
        INTERFACE ${A_PUBLIC})
    set_target_properties(${name} PROPERTIES
        VERSION ${PROJECT_VERSION}
        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
    set(targets ${name})
    if(BUILD_SHARED_LIBS AND PERIGEE_BUILD_STATIC AND NOT WIN32)
        add_library(${name}_static STATIC ${objects})
        perigee__library_target(${name}_static ${name} ${A_DEFINE})
        set(needs_static ${A_NEEDS})
        list(TRANSFORM needs_static APPEND _static)
        target_link_libraries(${name}_static PRIVATE
            perigee_common ${needs_static} ${A_LINK})
        list(APPEND targets ${name}_static)
    endif()
    set_property(GLOBAL APPEND PROPERTY PERIGEE_COMPONENTS ${name})
    set_property(GLOBAL PROPERTY PERIGEE_NEEDS_${name} "${A_NEEDS}")
    if(PERIGEE_INSTALL)
        perigee__library_install(${name} "${A_DESCRIPTION}" "${targets}"
            "${A_PUBLIC}" "${A_NEEDS};${A_PC_REQUIRES_PRIVATE}"
            "${A_PC_LIBS_PRIVATE}")
    endif()
endfunction()

function(perigee__library_target target name define)
    perigee_options(${target})
    add_library(perigee::${target} ALIAS ${target})
    set_target_properties(${target} PROPERTIES
        OUTPUT_NAME ${name} LINKER_LANGUAGE C)
    perigee_relative_rpath(${target} ${CMAKE_INSTALL_LIBDIR})
    target_include_directories(${target} PUBLIC
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
        target_compile_definitions(${target} INTERFACE ${define}_STATIC)
    endif()
endfunction()

function(perigee__library_install name description targets public requires libs)
    set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/perigee)
    install(TARGETS ${targets} EXPORT perigee-${name}-targets)
    install(EXPORT perigee-${name}-targets NAMESPACE perigee::
        DESTINATION ${package_dir})
    set(PC_NAME ${name})
    set(PC_DESCRIPTION "${description}")
    list(JOIN public ", " PC_REQUIRES)
    list(REMOVE_ITEM requires "" ${public})
    list(JOIN requires ", " PC_REQUIRES_PRIVATE)
    list(JOIN libs " " PC_LIBS_PRIVATE)
    perigee__pc_prefix(PC_PREFIX)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/component.pc.in
        ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${name}.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

# The prefix as seen from a .pc file, so that an installation may be moved.
function(perigee__pc_prefix out)
    if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
        set(${out} "${CMAKE_INSTALL_PREFIX}" PARENT_SCOPE)
    else()
        file(RELATIVE_PATH up
            "/p/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/p")
        string(REGEX REPLACE "/$" "" up "${up}")
        set(${out} "\${pcfiledir}/${up}" PARENT_SCOPE)
    endif()
endfunction()

# A program.  INSTALL: installs it, so that it finds the libraries beside it even if the
# prefix is moved.
function(perigee_program name)
    cmake_parse_arguments(A "POSIX;GNU;INSTALL" "" "SOURCES;LINK" ${ARGN})
    perigee__system(system)
    add_executable(${name} ${A_SOURCES})
    perigee_options(${name} ${system})
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
    target_compile_definitions(${name} PRIVATE
        PERIGEE_VERSION="${PROJECT_VERSION}")
    target_link_libraries(${name} PRIVATE ${A_LINK})
    if(A_INSTALL AND PERIGEE_INSTALL)
        perigee_relative_rpath(${name} ${CMAKE_INSTALL_BINDIR})
        install(TARGETS ${name})
    endif()
endfunction()

# The manual page of a program, made from its --help by help2man, if available.
function(perigee_man_page program words)
    find_program(HELP2MAN help2man)
    if(NOT HELP2MAN OR NOT PERIGEE_INSTALL OR CMAKE_CROSSCOMPILING)
        return()
    endif()
    get_target_property(name ${program} OUTPUT_NAME)
    if(NOT name)
        set(name ${program})
    endif()
    set(more ${PROJECT_SOURCE_DIR}/tools/man.h2m)
    set(page ${CMAKE_CURRENT_BINARY_DIR}/${name}.1)
    add_custom_command(OUTPUT ${page} VERBATIM
        COMMAND ${HELP2MAN} --no-info --help-option=--help-all --name=${words} --include=${more}
                --output=${page} $<TARGET_FILE:${program}>
        DEPENDS ${program} ${more})
    add_custom_target(${name}_man ALL DEPENDS ${page})
    install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endfunction()

# Lets an installed program or module in `dir` find the libraries.  Packagers can
# disable this with CMAKE_SKIP_INSTALL_RPATH.
function(perigee_relative_rpath target dir)
    if(UNIX AND NOT APPLE AND NOT IS_ABSOLUTE "${dir}"
       AND NOT IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
        file(RELATIVE_PATH way "/p/${dir}" "/p/${CMAKE_INSTALL_LIBDIR}")
        string(REGEX REPLACE "^/?(.*[^/])/?$" "/\\1" way "${way}")
        set_target_properties(${target} PROPERTIES
            INSTALL_RPATH "\$ORIGIN${way}")
    endif()
endfunction()

# A CMocka test: program test_<name>, test <first label>.<name> (behind
# PERIGEE_TEST_PREFIX).  It accesses internals by linking the objects; without
# LINK, those of the TLTCP engine.  Labels: unit (default), simnet, fuzz,
# loopback, gst, tools, ...
function(perigee_unit_test name)
    cmake_parse_arguments(A "POSIX;GNU" "TIMEOUT;WORKING_DIRECTORY"
        "SOURCES;LINK;LABELS;ENVIRONMENT" ${ARGN})
    if(NOT TARGET PkgConfig::CMOCKA)
        find_package(PkgConfig REQUIRED)
        pkg_check_modules(CMOCKA REQUIRED QUIET IMPORTED_TARGET GLOBAL
            cmocka>=1.1.5)
    endif()
    list(APPEND A_SOURCES ${A_UNPARSED_ARGUMENTS})
    if(NOT A_LABELS)
        set(A_LABELS unit)
    endif()
    if(NOT A_TIMEOUT)
        set(A_TIMEOUT 60)
    endif()
    if(CMAKE_CROSSCOMPILING) # emulators are slow
        math(EXPR A_TIMEOUT "10 * ${A_TIMEOUT}")
    endif()
    if(NOT A_LINK AND TARGET tltcp_objects)
        set(A_LINK tltcp_objects)
    endif()
    perigee__system(system)
    add_executable(test_${name} ${A_SOURCES})
    perigee_options(test_${name} ${system})
    perigee_includes(test_${name})
    if(NOT MSVC)
        target_compile_options(test_${name} PRIVATE -UNDEBUG)
    endif()
    target_link_libraries(test_${name} PRIVATE
        ${A_LINK} perigee_common PkgConfig::CMOCKA)
    list(GET A_LABELS 0 layer)
    set(where "")
    if(A_WORKING_DIRECTORY)
        set(where WORKING_DIRECTORY ${A_WORKING_DIRECTORY})
    endif()
    set(test ${PERIGEE_TEST_PREFIX}${layer}.${name})
    add_test(NAME ${test} COMMAND test_${name} ${where})
    set_tests_properties(${test} PROPERTIES
        TIMEOUT ${A_TIMEOUT} LABELS "${A_LABELS}"
        ENVIRONMENT "${A_ENVIRONMENT}")
endfunction()

# Headers, and the CMake package with a component per library.
function(perigee_install_package)
    get_property(PERIGEE_COMPONENTS GLOBAL PROPERTY PERIGEE_COMPONENTS)
    set(PERIGEE_NEEDS "")
    foreach(c IN LISTS PERIGEE_COMPONENTS)
        get_property(needs GLOBAL PROPERTY PERIGEE_NEEDS_${c})
        string(APPEND PERIGEE_NEEDS "set(perigee_needs_${c} ${needs})\n")
        if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/include/${c})
            install(DIRECTORY include/${c}
                DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
                FILES_MATCHING PATTERN "*.h")
        endif()
    endforeach()
    set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/perigee)
    configure_package_config_file(cmake/perigee-config.cmake.in
        ${PROJECT_BINARY_DIR}/perigee-config.cmake
        INSTALL_DESTINATION ${package_dir})
    write_basic_package_version_file(
        ${PROJECT_BINARY_DIR}/perigee-config-version.cmake
        COMPATIBILITY SameMinorVersion)
    install(FILES ${PROJECT_BINARY_DIR}/perigee-config.cmake
                  ${PROJECT_BINARY_DIR}/perigee-config-version.cmake
        DESTINATION ${package_dir})
    if(PERIGEE_BUILD_STATIC OR NOT BUILD_SHARED_LIBS)
        install(TARGETS perigee_common perigee_secure EXPORT perigee-common-targets)
        install(EXPORT perigee-common-targets NAMESPACE perigee::
            DESTINATION ${package_dir})
    endif()
endfunction()

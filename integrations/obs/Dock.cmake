# SPDX-License-Identifier: MPL-2.0
# The dock, by the Qt that OBS uses; a module with another Qt would crash it.
set(PERIGEE_OBS_QT "" CACHE STRING
    "Major version of the Qt that OBS uses: 5, 6 or 0 for no dock; empty: that of the obs program")
set(qt "${PERIGEE_OBS_QT}")
if(qt STREQUAL "")
    find_program(OBS_PROGRAM obs)
    if(OBS_PROGRAM)
        file(STRINGS ${OBS_PROGRAM} names REGEX "^libQt[56]Widgets\\.so")
        string(REGEX REPLACE "libQt([56]).*" "\\1" qt "${names}")
    endif()
endif()
include(CheckLanguage)
check_language(CXX)
if(qt AND CMAKE_CXX_COMPILER)
    enable_language(CXX)
    find_package(Qt${qt} QUIET COMPONENTS Widgets)
endif()
if(qt AND TARGET Qt${qt}::Widgets)
    message(STATUS "OBS Studio: with a dock, by Qt ${qt}")
    add_library(obs_tltcp_dock OBJECT dock.cpp)
    set_target_properties(obs_tltcp_dock PROPERTIES
        CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
        CXX_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
    target_compile_options(obs_tltcp_dock PRIVATE -Wall -Wextra
        ${PERIGEE_HARDEN_COMPILE} $<$<BOOL:${PERIGEE_WERROR}>:-Werror>)
    target_include_directories(obs_tltcp_dock PRIVATE ${PROJECT_SOURCE_DIR})
    target_include_directories(obs_tltcp_dock SYSTEM PRIVATE
        ${OBS_FRONTEND_INCLUDE})
    target_link_libraries(obs_tltcp_dock PRIVATE
        Qt${qt}::Widgets PkgConfig::OBS tltcp-live)
    target_sources(obs_tltcp PRIVATE $<TARGET_OBJECTS:obs_tltcp_dock>)
    target_link_libraries(obs_tltcp PRIVATE Qt${qt}::Widgets)
else()
    target_sources(obs_tltcp PRIVATE window.c)
endif()

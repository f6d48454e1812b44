# SPDX-License-Identifier: MPL-2.0 Hardening options supported by the compiler
# and the linker. Sets PERIGEE_HARDEN_COMPILE and PERIGEE_HARDEN_LINK, which
# perigee_options() applies. Not with sanitizers, which do more, nor for
# Windows, where MinGW needs a run-time library for them and crashes on some.
include(CheckCCompilerFlag)
include(CheckPIESupported)
check_pie_supported(LANGUAGES C)

set(PERIGEE_HARDEN_COMPILE "")
set(PERIGEE_HARDEN_LINK "")
if(NOT PERIGEE_HARDEN OR PERIGEE_SANITIZE OR WIN32)
    return()
endif()

set(CMAKE_REQUIRED_FLAGS -Werror) # a flag that means nothing here is no flag
foreach(flag -fstack-protector-strong -fstack-clash-protection
             -fcf-protection=full -mbranch-protection=standard)
    string(MAKE_C_IDENTIFIER "PERIGEE_HAS${flag}" has)
    check_c_compiler_flag(${flag} ${has})
    if(${has})
        list(APPEND PERIGEE_HARDEN_COMPILE ${flag})
    endif()
endforeach()
unset(CMAKE_REQUIRED_FLAGS)
# Needs optimization; distributions that set it themselves set it first.
list(APPEND PERIGEE_HARDEN_COMPILE
    $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE>
    $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=2>)
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    set(PERIGEE_HARDEN_LINK -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
endif()

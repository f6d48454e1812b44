# SPDX-License-Identifier: MPL-2.0 Link-time optimization: inlines across files,
# which saves a sixth of the engines' processor time.  Sets PERIGEE_LTO_COMPILE
# and PERIGEE_LTO_LINK, which perigee_options() applies.  Release builds with GCC
# only: the objects are "fat", so that they also make static libraries for other
# compilers.  Not with sanitizers, and not for Windows, where MinGW's linker drops
# exports.
option(PERIGEE_LTO "Link-time optimization of Release builds (GCC)" ON)

set(PERIGEE_LTO_COMPILE "")
set(PERIGEE_LTO_LINK "")
if(PERIGEE_LTO AND CMAKE_C_COMPILER_ID STREQUAL "GNU" AND NOT PERIGEE_SANITIZE
        AND NOT WIN32)
    set(PERIGEE_LTO_COMPILE
        $<$<CONFIG:Release>:-flto=auto>
        $<$<CONFIG:Release>:-ffat-lto-objects>)
    set(PERIGEE_LTO_LINK $<$<CONFIG:Release>:-flto=auto>)
endif()

# Removes the bytecode from the installed static libraries: only the compiler that wrote
# it can read it. Call it after all install rules.
function(perigee_install_without_bytecode)
    if(NOT PERIGEE_LTO_COMPILE OR NOT CMAKE_OBJCOPY)
        return()
    endif()
    install(CODE "
        file(GLOB archives \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/lib*.a\")
        foreach(archive IN LISTS archives)
            if(archive MATCHES \"/lib(congestion|tltcp|saratoga|perigee)[^/]*$\")
                execute_process(COMMAND \"${CMAKE_OBJCOPY}\" --wildcard
                    --remove-section=.gnu.lto_* --remove-section=.gnu.debuglto_*
                    \"\${archive}\" COMMAND_ERROR_IS_FATAL ANY)
            endif()
        endforeach()")
endfunction()

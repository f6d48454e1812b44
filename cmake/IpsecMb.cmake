# SPDX-License-Identifier: MPL-2.0
#
# Intel's ipsec-mb, which seals several times faster than libcrypto 3.0 where the
# processor has VAES.  Its packages have no pkg-config file.  Sets
# PERIGEE_HAVE_IPSEC_MB, PERIGEE_IPSEC_MB_INCLUDE and PERIGEE_IPSEC_MB_LIBRARY.
set(PERIGEE_HAVE_IPSEC_MB FALSE)

# The memory sanitizer does not see what its code writes.
if(PERIGEE_WITH_IPSEC_MB STREQUAL "ON" OR
   (PERIGEE_WITH_IPSEC_MB STREQUAL "AUTO" AND NOT CMAKE_CROSSCOMPILING AND
    CMAKE_SIZEOF_VOID_P EQUAL 8 AND NOT PERIGEE_SANITIZE MATCHES "memory"))
    find_path(PERIGEE_IPSEC_MB_INCLUDE intel-ipsec-mb.h)
    find_library(PERIGEE_IPSEC_MB_LIBRARY IPSec_MB)
    mark_as_advanced(PERIGEE_IPSEC_MB_INCLUDE PERIGEE_IPSEC_MB_LIBRARY)
    if(PERIGEE_IPSEC_MB_INCLUDE AND PERIGEE_IPSEC_MB_LIBRARY)
        file(STRINGS ${PERIGEE_IPSEC_MB_INCLUDE}/intel-ipsec-mb.h version
            REGEX "^#define IMB_VERSION_STR ")
        string(REGEX MATCH "[0-9]+\\.[0-9]+" version "${version}")
        if(version VERSION_GREATER_EQUAL 1.3)
            set(PERIGEE_HAVE_IPSEC_MB TRUE)
        endif()
    endif()
    if(NOT PERIGEE_HAVE_IPSEC_MB AND PERIGEE_WITH_IPSEC_MB STREQUAL "ON")
        message(FATAL_ERROR
            "PERIGEE_WITH_IPSEC_MB=ON, but ipsec-mb >= 1.3 was not found")
    endif()
endif()
message(STATUS "Perigee: ipsec-mb >= 1.3, sealing: ${PERIGEE_HAVE_IPSEC_MB}")

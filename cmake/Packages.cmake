# SPDX-License-Identifier: MPL-2.0
# Packages of what is installed: `cpack -G DEB`, or TGZ, in the folder of a build
# that was configured for the prefix where the package is to go.
set(CPACK_PACKAGE_VENDOR Perigee)
set(CPACK_PACKAGE_CONTACT Perigee)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
    "live video with deadlines, and files over links in space")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_PACKAGING_INSTALL_PREFIX "${CMAKE_INSTALL_PREFIX}")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
include(CPack)

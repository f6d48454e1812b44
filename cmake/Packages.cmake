# SPDX-License-Identifier: MPL-2.0 Binary packages: `cpack -G DEB`, or TGZ, in
# a build folder configured for the prefix of the package.
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

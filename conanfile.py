# SPDX-License-Identifier: MPL-2.0
"""Conan's recipe of the libraries: `conan create .`"""
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir
from conan.tools.gnu import PkgConfigDeps


class Perigee(ConanFile):
    name = "perigee"
    description = "Live media with deadlines (TLTCP) and file transfer (Saratoga)"
    license = "MPL-2.0"
    topics = ("transport", "live", "video", "congestion-control", "space")
    package_type = "library"
    settings = "os", "compiler", "build_type", "arch"
    options = {"shared": [True, False], "fPIC": [True, False]}
    default_options = {"shared": False, "fPIC": True}
    implements = ["auto_shared_fpic"]
    languages = "C"
    test_package_folder = "tests/install/conan"
    exports_sources = ("CMakeLists.txt", "LICENSE", "cmake/*", "docs/man/*",
                       "include/*", "internal/*", "integrations/*.txt",
                       "integrations/*.cmake", "libcongestion/*",
                       "libsaratoga/*", "libtltcp/*")

    def set_version(self):
        text = load(self, f"{self.recipe_folder}/CMakeLists.txt")
        self.version = re.search(r"^\s*VERSION\s+(\S+)", text, re.M).group(1)

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        self.requires("libuv/[>=1.42 <2]")
        self.requires("openssl/[>=3.0 <4]")

    def generate(self):
        PkgConfigDeps(self).generate()
        chain = CMakeToolchain(self)
        # For libraries of the system as well as Conan's.
        chain.blocks.remove("find_paths")
        for name, value in {
                "BUILD_TESTS": False, "BUILD_TOOLS": False,
                "BUILD_STATIC": False, "WITH_UV": True, "WITH_OPENSSL": True,
                "WITH_FFMPEG": False, "WITH_GSTREAMER": False,
                "WITH_IPSEC_MB": False, "WITH_ISAL": False}.items():
            chain.cache_variables[f"PERIGEE_{name}"] = value
        chain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder,
             f"{self.package_folder}/licenses")
        rmdir(self, f"{self.package_folder}/share")

    def package_info(self):
        # The package brings its own files for CMake and pkg-config.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["lib/cmake/perigee"]

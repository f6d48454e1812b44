# SPDX-License-Identifier: MPL-2.0
"""Builds the extension module by CMake, with the libraries inside it, so that
the wheel needs nothing of Perigee installed.

The tree that this folder lies in is what is built.
"""
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parent.parent
MODULE = "perigee._native"


def version():
    text = (TREE / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"VERSION\s+(\d+\.\d+\.\d+)", text).group(1)


class BuildByCMake(build_ext):
    def build_extension(self, ext):
        build = pathlib.Path(self.build_temp).resolve() / "cmake"
        options = ["-DCMAKE_BUILD_TYPE=Release", "-DBUILD_SHARED_LIBS=OFF",
                   "-DPERIGEE_BUILD_TESTS=OFF", "-DPERIGEE_BUILD_TOOLS=OFF",
                   "-DPERIGEE_INSTALL=OFF", "-DPERIGEE_WITH_UV=ON",
                   "-DPERIGEE_WITH_OPENSSL=ON", "-DPERIGEE_WITH_GSTREAMER=OFF",
                   "-DPERIGEE_WITH_FFMPEG=OFF", "-DPERIGEE_WITH_PYTHON=ON",
                   f"-DPython3_EXECUTABLE={sys.executable}"]
        if shutil.which("ninja"):
            options.append("-GNinja")
        if shutil.which("ccache"):
            options.append("-DCMAKE_C_COMPILER_LAUNCHER=ccache")
        subprocess.run(["cmake", "-S", str(TREE), "-B", str(build), *options],
                       check=True)
        subprocess.run(["cmake", "--build", str(build), "--parallel",
                        "--target", "perigee_python"], check=True)
        target = pathlib.Path(self.get_ext_fullpath(ext.name)).resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        built = build / "integrations" / "python" / "perigee" / "_native.abi3.so"
        shutil.copy(built, target)


setup(
    version=version(),
    ext_modules=[Extension(MODULE, sources=[], py_limited_api=True)],
    cmdclass={"build_ext": BuildByCMake},
    options={"bdist_wheel": {"py_limited_api": "cp39"}},
)

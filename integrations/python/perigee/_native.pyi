# SPDX-License-Identifier: MPL-2.0
"""The extension module, which has C's types."""
from typing import Any

ffi: Any
lib: Any

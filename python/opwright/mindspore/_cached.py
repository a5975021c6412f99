# SPDX-License-Identifier: Apache-2.0
"""Files of the cache, which several processes and threads may write at once."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from opwright import _core


def path_of(name: str) -> Path:
    return Path(_core.cache_folder("mindspore")) / name


def place(path: Path, write) -> None:
    """write(file) makes the content; then it stands at `path`, whole."""
    own = path.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
    write(own)
    own.replace(path)

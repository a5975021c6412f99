# SPDX-License-Identifier: Apache-2.0
"""PyTorch's disk cache of compiled graphs: operators of another content are another key.

A compiled graph holds the shapes and the backward of the operators in it, and its key only their
names. Without this, a rebuilt library would run with the backward of the one before.
"""

from __future__ import annotations

import hashlib
import uuid

import torch.compiler.config

from opwright._core import version

_parts: set[str] = set()
_own = ""


def add_library(identity: str) -> None:
    _add(f"{version()} {identity}")


def add_rule() -> None:
    """A Python rule may reach anything: what is compiled with it serves this process only."""
    _add(uuid.uuid4().hex)


def _add(part: str) -> None:
    global _own
    if part in _parts:
        return
    _parts.add(part)
    others = torch.compiler.config.cache_key_tag.removesuffix(_own)
    _own = " opwright:" + hashlib.sha256(" ".join(sorted(_parts)).encode()).hexdigest()[:16]
    torch.compiler.config.cache_key_tag = others + _own

# SPDX-License-Identifier: Apache-2.0
"""Registration by name: the name, its metadef and kernel, its gradient."""

from __future__ import annotations

import os

from acl._registry import follow, require_init
from acl._words import coded, path, text
from opwright import _core


@coded
def register_operator(op_name: str) -> int:
    """Takes the name; a library must have been loaded."""
    call = "acl.op.register_operator"
    text(call, "op_name", op_name)
    require_init(call)
    _core.acl.register(op_name)
    return 0


@coded
def register_operator_model(
    op_name: str, metadef_path: str | os.PathLike[str], kernel_name: str
) -> int:
    """Binds the metadef, which is read now, and the kernel of that name in the loaded libraries."""
    call = "acl.op.register_operator_model"
    text(call, "op_name", op_name)
    file = path(call, "metadef_path", metadef_path)
    text(call, "kernel_name", kernel_name)
    require_init(call)
    _core.acl.model(op_name, file, kernel_name)
    follow(op_name)
    return 0


@coded
def register_operator_gradient(op_name: str, metadef_path: str | os.PathLike[str]) -> int:
    """Binds the backward operator of the metadef; its kernel is the one of its own name."""
    call = "acl.op.register_operator_gradient"
    text(call, "op_name", op_name)
    file = path(call, "metadef_path", metadef_path)
    require_init(call)
    _core.acl.gradient(op_name, file)
    follow(op_name)
    return 0


@coded
def unregister_operator(op_name: str) -> int:
    """Gives the name free, with its metadef, kernel and gradient. Libraries stay loaded."""
    call = "acl.op.unregister_operator"
    text(call, "op_name", op_name)
    require_init(call)
    _core.acl.unregister(op_name)
    follow(op_name)
    return 0

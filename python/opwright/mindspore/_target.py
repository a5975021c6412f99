# SPDX-License-Identifier: Apache-2.0
"""What the first argument of Custom names: one of our operators, a function of another library, or
a Python function. All that can be said of it is said here, before MindSpore sees it."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import shutil
from pathlib import Path
from typing import NamedTuple

import mindspore

from opwright import _core, _errors
from opwright._library import Library, build, load, only_forward
from opwright._operator import Operator
from opwright.mindspore import _cached

_HERE = ("aot", "pyfunc", "customize")
_LATER = ("akg", "hybrid", "tvm")
_NOT_ON_CPU = ("tbe", "aicpu", "julia")


class Target(NamedTuple):
    """operator: ours; else func is what MindSpore is given."""

    name: str
    operator: Operator | None
    func: object
    func_type: str


def find(func, func_type: str) -> Target:
    if isinstance(func, Operator):
        return Target(func.name, func, None, "aot")
    _check_func_type(func_type)
    if func_type == "customize":
        return _registered(func)
    if func_type == "pyfunc":
        return _function(func)
    return _in_library(func)


def _check_func_type(func_type) -> None:
    if func_type in _HERE:
        return
    if func_type in _LATER:
        raise _errors.make(
            "CL021",
            f"func_type {func_type!r} compiles a Python kernel, which is not supported yet; write "
            'the kernel in C++ and use func_type="aot"',
        )
    if func_type in _NOT_ON_CPU:
        raise _errors.make(
            "CL021", f'func_type {func_type!r} does not run on the CPU; use "aot" or "pyfunc"'
        )
    every = [*_HERE, *_LATER]
    near = _core.nearest(str(func_type), every)
    hint = f"; did you mean {near!r}?" if near else ""
    raise _errors.make(
        "CL021",
        f"func_type is {func_type!r}; it is one of {', '.join(map(repr, every))}{hint}",
    )


def _registered(func) -> Target:
    if not isinstance(func, str):
        raise _errors.make(
            "CL021",
            f'func_type="customize" takes the name of a registered operator, '
            f"{_word(func)} was given",
        )
    operator = Operator(_core.acl.find(func))
    return Target(func, operator, None, "aot")


def _function(func) -> Target:
    if callable(func):
        return Target(_name_of(func), None, func, "pyfunc")
    if isinstance(func, (str, os.PathLike)) and ".so" in str(func):
        raise _errors.make(
            "CL021",
            f'{os.fspath(func)} is a library: write func_type="aot"; without it func is a Python '
            "function (pyfunc)",
        )
    raise _errors.make(
        "CL021", f'func_type="pyfunc" takes a Python function, {_word(func)} was given'
    )


def _name_of(func) -> str:
    if isinstance(func, functools.partial):
        return _name_of(func.func)
    return getattr(func, "__name__", type(func).__name__)


def _word(value) -> str:
    return f"{value!r}" if isinstance(value, str) else f"a {type(value).__name__}"


def _in_library(func) -> Target:
    if not isinstance(func, (str, os.PathLike)):
        raise _errors.make(
            "CL021",
            'func_type="aot" takes the path of a library, "libx.so:function", '
            f"{_word(func)} was given",
        )
    text = os.fspath(func)
    path, colon, name = text.rpartition(":")
    if not colon or os.path.exists(text):
        path, name = text, ""
    if Path(path).suffix in (".cc", ".cpp", ".cu"):
        return _source(path, name)
    try:
        library = load(path)
    except _errors.LoadError as error:
        if error.code != "LD007":  # a sound library, and not one of ours
            raise
        return Target(name, None, _foreign(path, name), "aot")
    if not library.operators:  # of a source by MindSpore's interface
        return Target(name, None, _foreign(path, name), "aot")
    return _ours(library, name)


def _ours(library: Library, name: str) -> Target:
    operator = library[name] if name else only_forward(library)
    return Target(operator.name, operator, None, "aot")


def _source(path: str, name: str) -> Target:
    """A source is built first: an operator's with its metadef, or one by MindSpore's interface."""
    if Path(path).suffix == ".cu":
        raise _errors.make("CL021", f"{path} is CUDA, which does not run on the CPU")
    if not os.path.isfile(path) or (Path(path).parent / "op.json").exists():
        return _ours(load(build(path)), name)
    return Target(name, None, _foreign(_compiled(path), name), "aot")


def _compiled(path: str) -> str:
    """A source without metadef as a library in the cache. MindSpore itself compiles once a process
    and file name, without optimization, and takes a failure for a success the second time."""
    include = Path(mindspore.__file__).parent / "include"
    return build(path, flags=[f"-I{include}", "-D_GLIBCXX_USE_CXX11_ABI=0"], allow_no_metadef=True)


# The content that each path had when it was first given to MindSpore, which keeps what it has
# opened.
_opened: dict[str, str] = {}


def _foreign(path: str, name: str) -> str:
    """A library that Opwright has not built, for MindSpore: absolute, with the function in it."""
    real = os.path.realpath(path)
    if not name:
        raise _errors.make(
            "LD013", f'{path} is no operator library; say the function: "{path}:function"'
        )
    content = hashlib.sha256(Path(real).read_bytes()).hexdigest()
    if _opened.setdefault(real, content) != content:
        # Rebuilt under its name: MindSpore would go on with what it has open.
        copy = _cached.path_of(f"{Path(real).stem}-{content[:20]}.so")
        if not copy.exists():
            _cached.place(copy, functools.partial(shutil.copyfile, real))
        real = str(copy)
    try:
        library = ctypes.CDLL(real, mode=os.RTLD_LAZY | os.RTLD_LOCAL)
    except OSError as error:
        raise _errors.make("LD010", f"{path} cannot be opened: {error}") from None
    if not hasattr(library, name):
        raise _errors.make("LD013", f'{path} has no function {name} (is it extern "C"?)')
    return f"{real}:{name}"

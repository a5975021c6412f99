# SPDX-License-Identifier: Apache-2.0
"""Operators: called on the tensors of any framework, and libraries of them."""

from __future__ import annotations

import json
import os
import sys
import warnings
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from opwright import _core, _errors, _hooks
from opwright._arguments import misfit
from opwright._definition import Definition

_ndarray = np.ndarray  # one lookup less in each call

# The first part of the name of a tensor type's module.
_KNOWN = {"numpy", "torch", "mindspore"}
_NOT_YET = {"tensorflow", "jax", "jaxlib"}

# Python rules, by the operator's number in this process.
_bprops: dict[int, Any] = {}


def any_rule() -> bool:
    """Whether a Python rule was bound to any operator."""
    return bool(_bprops)


class Spec(NamedTuple):
    """A shape and a dtype without data."""

    shape: tuple[int, ...]
    dtype: str


class Operator:
    """One operator of a library.

    Called with one tensor for each input in metadef order (optional ones may be left out or None,
    dynamic ones are lists; inputs may be given by name), attributes by keyword. Returns tensors of
    the same framework: one, or a tuple. `out=` takes numpy arrays or tensors to write to, where no
    gradient is due. Python numbers stand for 0-d tensors of the dtype that the others choose.
    """

    def __init__(self, core: _core.Operator):
        self._core = core
        self._call_numpy = core.call_numpy
        self.name: str = core.name
        # The SHA-256 of the library's file.
        self.identity: str = core.identity
        # The same number for the same operator of the same library content in this process.
        self.key: int = core.key
        # Tensor type -> call(args, kwargs), filled by the adapters of the imported frameworks.
        self._calls: dict[type, Any] = {}
        _hooks.prepare(self)

    def __call__(self, /, *args, **kwargs):
        # numpy first: the commonest case, and one that a tracer of another framework never takes.
        if args and type(args[0]) is _ndarray:
            call = self._call_numpy  # an attribute is read faster than a method is found
            result = call(args, kwargs)
            if result is not NotImplemented:
                return result
        for value in args:
            call = self._calls.get(type(value))
            if call is not None:
                return call(args, kwargs)
        return self._call_other(args, kwargs)

    def _call_other(self, args, kwargs):
        """Calls by keyword, with lists first, with subclasses of tensors, or wrong ones."""
        if not self._calls and not self._core.has_metadef:
            return self._call_numpy(args, kwargs)  # which says so
        # Attributes may be of any framework: a dtype, a number of numpy.
        tensors = {param.name for param in self.definition.inputs} | {"out"}
        named = {name: value for name, value in kwargs.items() if name in tensors}
        framework, kind = _framework_of(self.name, args, named)
        if framework != "numpy":
            call = self._calls.get(kind) or next(
                (call for known, call in self._calls.items() if issubclass(kind, known)), None
            )
            if call is not None:
                return call(args, kwargs)
        result = self._call_numpy(args, kwargs)
        if result is NotImplemented:
            inputs = [*args, *[None] * (len(self.definition.inputs) - len(args))]
            for i, param in enumerate(self.definition.inputs):
                inputs[i] = named.get(param.name, inputs[i])
            code, text = misfit(self.definition, inputs, (np.ndarray, np.generic)) or (
                "CL013",
                f"{self.name}: arguments that are neither tensors nor numbers",
            )
            raise _errors.make(code, text)
        return result

    @cached_property
    def metadef(self) -> dict:
        """The metadef as it was written."""
        return json.loads(self._core.json) if self._core.has_metadef else {}

    @cached_property
    def definition(self) -> Definition:
        """The metadef lowered: indices and programs instead of names and text."""
        return Definition.of(self._core)

    @property
    def backward(self) -> Operator | None:
        """The compiled backward operator, if there is one."""
        core = self._core.backward
        return None if core is None else Operator(core)

    @property
    def python_bprop(self):
        """The Python rule bound by `bprop`, or None."""
        return _bprops.get(self.key)

    def bprop(self, rule):
        """Binds a Python rule for the gradient, in every framework; usable as a decorator.

        `rule(*inputs, out, dout)` returns a tuple with one gradient for each input, in order; None
        for inputs that are integer, absent or need none. With several outputs `out` and `dout` are
        tuples. Attributes come as keywords if the rule names them.
        """
        from opwright._bprop import check_signature

        check_signature(self, rule)
        if _bprops.get(self.key) is not rule:
            _bprops[self.key] = rule
            _hooks.rule_bound(self.key)
        return rule

    def infer(self, *args, **kwargs) -> Spec | tuple[Spec, ...]:
        """The shape and dtype of each output, without running the kernel.

        Inputs are anything with `shape` and `dtype`: tensors or `opwright.Spec`s.
        """
        names = {param.name for param in self.definition.inputs}
        args = tuple(_stand_in(self.name, value) for value in args)
        kwargs = {
            name: _stand_in(self.name, value) if name in names else value
            for name, value in kwargs.items()
        }
        outputs = self._core.infer_numpy(args, kwargs)
        specs = tuple(Spec(tuple(shape), dtype) for shape, dtype in outputs)
        return specs[0] if len(specs) == 1 else specs

    def __copy__(self) -> Operator:
        return self

    def __deepcopy__(self, memo) -> Operator:
        """Itself: an operator has no state, and models that hold one are copied."""
        return self

    def __reduce__(self):
        """By its library's path and content: another process loads it again."""
        if self._core.is_bound:
            raise TypeError(
                f"{self.name} was put together by the acl form, "
                "which each process does for itself: "
                "it cannot be pickled"
            )
        return _restore, (self._core.library_path, self.identity, self.name)

    def __repr__(self) -> str:
        return f"<opwright operator {self.name} of {self._core.library_path} ({self.identity[:8]})>"


def _stand_in(operator: str, spec):
    """A numpy array of the spec's shape and dtype that needs no memory."""
    if spec is None or isinstance(spec, (int, float, np.ndarray)):
        return spec
    if isinstance(spec, (list, tuple)) and not isinstance(spec, Spec):
        return [_stand_in(operator, item) for item in spec]
    from opwright._dtypes import name_of

    try:
        shape, name = tuple(spec.shape), name_of(spec.dtype)
    except AttributeError:
        raise _errors.make(
            "CL013",
            f"{operator}: infer takes things with shape and dtype, {type(spec).__name__} was given",
        ) from None
    if any(size < 0 for size in shape):
        raise _errors.make("CL004", f"{operator}: an input has the impossible shape {list(shape)}")
    return np.broadcast_to(np.empty((), _numpy_dtype(operator, name)), shape)


def _numpy_dtype(operator: str, name: str) -> np.dtype:
    if name == "bfloat16":
        try:
            import ml_dtypes
        except ImportError:
            raise _errors.make(
                "CL002", f"{operator}: numpy has no bfloat16; install the package ml_dtypes"
            ) from None
        return np.dtype(ml_dtypes.bfloat16)
    try:
        return np.dtype(name)
    except TypeError:
        raise _errors.make("CL002", f"{operator}: {name!r} is no dtype that numpy knows") from None


def _tensors(values):
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _tensors(value)
        elif isinstance(value, (int, float)):  # numpy's float64 is one
            continue
        elif hasattr(value, "shape") and hasattr(value, "dtype"):  # no dtype of theirs
            yield value


def _framework_of(name: str, args, kwargs) -> tuple[str, type | None]:
    """The framework of the tensors and the type of one of them; CL013 when they are of several."""
    found, kind = None, None
    for value in _tensors((*args, *kwargs.values())):
        root = _root_module(type(value))
        if not root:
            continue
        if found is not None and root != found:
            raise _errors.make(
                "CL013",
                f"{name}: tensors of {found} and {root} in one call; convert them to one framework",
            )
        found, kind = root, type(value)
    if found in _NOT_YET:
        raise _errors.make(
            "CL013",
            f"{name}: tensors of {found} are not taken yet; use numpy arrays or torch tensors",
        )
    return found or "numpy", kind


def _root_module(kind: type) -> str:
    for base in kind.__mro__:
        root = base.__module__.split(".", 1)[0]
        if root in _KNOWN or root in _NOT_YET:
            return root
    return ""


class Library:
    """A loaded operator library: `lib["name"]` and `lib.name` are its operators."""

    def __init__(self, core: _core.Library):
        self._core = core
        self._found: dict[str, Operator] = {}
        self.path: str = core.path
        self.identity: str = core.identity
        self._names: list[str] = core.operators
        if len(self._names) <= 64:  # a tracer that meets `library.name` looks nothing up
            for name in self._names:
                found = self._found[name] = Operator(core.find(name))
                if not hasattr(type(self), name):
                    self.__dict__.setdefault(name, found)

    @property
    def operators(self) -> tuple[str, ...]:
        """The names of the operators, in the library's order."""
        return tuple(self._names)

    def __getitem__(self, name: str) -> Operator:
        if name not in self._found:
            self._found[name] = Operator(self._core.find(name))
        return self._found[name]

    def __getattr__(self, name: str) -> Operator:
        if name.startswith("_"):  # no operator's name
            raise AttributeError(name)
        try:
            return self[name]
        except _errors.LoadError as error:
            raise AttributeError(str(error)) from None

    def __dir__(self):
        return [*super().__dir__(), *self._names]

    def __iter__(self):
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def close(self) -> None:
        """Gives this handle up. When the last one is closed, calls of its operators are refused.

        PyTorch keeps what it has registered: `torch.ops`, compiled graphs and the gradients of
        earlier calls go on until the process ends.
        """
        _hooks.closing()
        self._core.close()
        for name in self._found:
            self.__dict__.pop(name, None)
        self._found.clear()

    def __reduce__(self):
        return _restore_library, (self.path, self.identity)

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self) -> str:
        return f"<opwright library {self.path} ({self.identity[:8]}): {', '.join(self._names)}>"


def _restore_library(path: str, identity: str) -> Library:
    return load(path, sha256=identity)


def _plain_path(path) -> str:
    """A path as text that UTF-8 can spell, which is what errors and metadefs hold."""
    text = os.fsdecode(path)
    if "\0" in text:
        raise _errors.make("LD001", f"the path {text!r} holds a NUL, which no path can")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _errors.make("LD001", f"the path {text!r} is not UTF-8; rename it") from None
    return text


def _restore(path: str, identity: str, name: str) -> Operator:
    """A pickled operator: its library must still be there, with the same content."""
    return load(path, sha256=identity)[name]


def load(path: str | os.PathLike, *, sha256: str | None = None) -> Library:
    """Loads an operator library; a folder is built first.

    The same content is loaded once, whatever its path. A library rebuilt under the same name runs
    its new code from here on, in new handles. A bare file name is looked up in $OPWRIGHT_PATH too.
    With `sha256` the file must have that hash. Frameworks that are imported learn its operators.
    """
    path = _plain_path(path)
    if os.path.isdir(path):
        path = build(path)
    core = _core.load(path, (sha256 or "").lower())
    for text in core.warnings:
        warnings.warn(text, RuntimeWarning, stacklevel=2)
    _hooks.enter(core)
    return Library(core)


def only_forward(library: Library) -> Operator:
    """The one operator of a library that is no other's backward operator; LD013 if there are
    more."""
    operators = [library[each] for each in library.operators]
    backward = {op.definition.gradient.op for op in operators if op.definition.gradient is not None}
    forward = [op for op in operators if op.name not in backward]
    if len(forward) != 1:
        raise _errors.make(
            "LD013",
            f"{library.path} has {len(forward)} forward operators "
            f"({', '.join(op.name for op in forward)}); say which one by name",
        )
    return forward[0]


def pick(operator: Operator | str | os.PathLike, name: str | None, bprop) -> Operator:
    """What opwright.<framework>.op does: an operator, from one or from a library or folder."""
    if not isinstance(operator, Operator):
        library = load(operator)
        operator = library[name] if name is not None else only_forward(library)
    if bprop is not None:
        operator.bprop(bprop)
    return operator


def build(source, out=None, *, march: str | None = None, flags=()) -> str:
    """Builds an operator library from an operator folder, one source, or a list of sources.

    Returns the absolute path: `out`, or a file in the cache. Unchanged sources are not compiled
    again. `march` allows further instructions ("x86-64-v3", "native"); `flags` go to the compiler.
    Raises BuildError with diagnostics at the user's own lines, MetadefError for the metadef.
    """
    sources = [source] if isinstance(source, (str, os.PathLike)) else list(source)
    if isinstance(flags, (str, bytes)):
        raise TypeError(f"flags is a list of flags, {flags!r} was given; write [{flags!r}]")
    path, _, remarks = _core.build(
        [_plain_path(item) for item in sources],
        _plain_path(out) if out is not None else "",
        march or "",
        list(flags),
    )
    for text in remarks:
        print(text, file=sys.stderr)
    return path

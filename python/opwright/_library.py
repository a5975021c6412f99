# SPDX-License-Identifier: Apache-2.0
"""Libraries of operators: built, loaded, and told from what the frameworks' `op` is given."""

from __future__ import annotations

import hashlib
import os
import sys
import warnings

from opwright import _core, _errors, _hooks
from opwright._operator import Operator


class Library:
    """A loaded operator library: `lib["name"]` and `lib.name` are its operators."""

    def __init__(self, core: _core.Library):
        self._core = core
        self._found: dict[str, Operator] = {}
        self._closed = ""
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
        if self._closed:
            _errors.refuse("CL014", self._closed)
        if name not in self._found:
            text = str(name).encode("utf-8", "replace").decode()  # the error names what was asked
            self._found[name] = Operator(self._core.find(text))
        return self._found[name]

    def __getattr__(self, name: str) -> Operator:
        if name.startswith("_"):  # no operator's name
            raise AttributeError(name)
        try:
            return self[name]
        except _errors.LoadError as error:
            raise AttributeError(str(error)) from None

    def __dir__(self):
        return sorted({*super().__dir__(), *self._names})

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
        self._closed = f"this handle of {self.path} was closed; load the library again"
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


def _restore_library(path: str, identity: str, what: str = "a library") -> Library:
    """What was pickled: the content that this process has loaded, whatever lies at the path now;
    else that of the file."""
    for core in _core.loaded():
        if core.identity == identity:
            _hooks.enter(core)
            return Library(core)
    try:
        return load(path, sha256=identity)
    except _errors.LoadError as error:
        if error.code != "LD012":
            raise
    with open(path, "rb") as file:
        now = hashlib.sha256(file.read()).hexdigest()
    raise _errors.make(
        "LD012",
        f"{what} was saved with the content {identity[:8]} of {path}, and that file is another now "
        f"({now[:8]}); keep the library that it was saved with, or save the state_dict of the "
        "model and load it into a model made with the new one",
    )


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


def restore(path: str, identity: str, name: str) -> Operator:
    """A pickled operator."""
    return _restore_library(path, identity, name)[name]


def load(path: str | os.PathLike, *, sha256: str | None = None) -> Library:
    """Loads an operator library; a folder is built first.

    The same content is loaded once, whatever its path. A library rebuilt under the same name runs
    its new code from here on, in new handles. A bare file name is looked up in $OPWRIGHT_PATH too.
    With `sha256` the file must have that hash. Frameworks that are imported learn its operators.
    """
    path = _plain_path(path)
    sha256 = None if sha256 is None else sha256.lower()
    if os.path.isdir(path):
        core, remarks = _core.load_folder(path, sha256)
        _tell(remarks)
    else:
        core = _core.load(path, sha256)
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
        operator._bind(bprop, 3)  # the user's line is that of opwright.<framework>.op
    return operator


def build(
    source, out=None, *, march: str | None = None, flags=(), allow_no_metadef: bool = False
) -> str:
    """Builds an operator library from an operator folder, one source, or a list of sources.

    Returns the absolute path: `out`, or a file in the cache. Unchanged sources are not compiled
    again. `march` allows further instructions ("x86-64-v3", "native"); `flags` go to the compiler.
    With `allow_no_metadef` a source may have none: kernels that the acl form binds later, or plain
    extern "C" functions.
    Raises BuildError with diagnostics at the user's own lines, MetadefError for the metadef.
    """
    sources = [source] if isinstance(source, (str, os.PathLike)) else list(source)
    if isinstance(flags, (str, bytes)):
        raise TypeError(f"flags is a list of flags, {flags!r} was given; write [{flags!r}]")
    path, remarks = _core.build(
        [_plain_path(item) for item in sources],
        _plain_path(out) if out is not None else "",
        march or "",
        list(flags),
        allow_no_metadef,
    )
    _tell(remarks)
    return path


def _tell(remarks) -> None:
    for text in remarks:
        print(text, file=sys.stderr)

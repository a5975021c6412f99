# SPDX-License-Identifier: Apache-2.0
"""Frameworks imported after a library was loaded learn its operators when they arrive."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import sys
import weakref

from opwright import _core

# Framework -> the adapter module, which has enter(core_library), prepare(operator),
# rule_bound(key), closing() and follow().
ADAPTERS = {"torch": "opwright.torch._enter", "mindspore": "opwright.mindspore._enter"}

_operators: weakref.WeakSet = weakref.WeakSet()
# What was loaded, by identity: a framework that arrives later learns it even if no handle is left.
_loaded: dict[str, _core.Library] = {}


def prepare(operator) -> None:
    """Gives an operator its calls for the frameworks that are imported, and for later ones then."""
    _operators.add(operator)
    for adapter in _adapters():
        adapter.prepare(operator)


def enter(library: _core.Library) -> None:
    """Makes the operators known to every framework that is imported, and to later ones then."""
    held = _loaded.get(library.identity)
    if held is None or not held.is_open:
        _loaded[library.identity] = library
    for adapter in _adapters():
        adapter.enter(library)


def rule_bound(key: int) -> None:
    """A Python rule was bound to the operator: what frameworks keep of graphs may be stale."""
    for adapter in _adapters():
        adapter.rule_bound(key)


def closing() -> None:
    """A library is about to be closed: what a framework has yet to run of it runs first."""
    for adapter in _adapters():
        adapter.closing()


def _adapters():
    """Those of the frameworks that are imported."""
    for framework, adapter in ADAPTERS.items():
        if _is_complete(framework):
            yield importlib.import_module(adapter)


def _is_complete(framework: str) -> bool:
    module = sys.modules.get(framework)
    spec = getattr(module, "__spec__", None)
    return module is not None and not getattr(spec, "_initializing", False)


class _AfterImport(importlib.abc.MetaPathFinder):
    """Finds nothing itself: wraps the loader of a framework so that it is followed up."""

    def find_spec(self, name, path, target=None):
        if name not in ADAPTERS or _busy:
            return None
        _busy.append(name)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            _busy.pop()
        if spec is None or spec.loader is None:
            return None
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            _arrived(name)

        spec.loader.exec_module = exec_module
        return spec


_busy: list[str] = []


def _arrived(framework: str) -> None:
    adapter = importlib.import_module(ADAPTERS[framework])
    adapter.follow()
    for library in [*_core.loaded(), *_loaded.values()]:
        if library.is_open:
            adapter.enter(library)
    for operator in list(_operators):
        adapter.prepare(operator)


def install() -> None:
    sys.meta_path.insert(0, _AfterImport())
    for framework in ADAPTERS:
        if _is_complete(framework):
            _arrived(framework)

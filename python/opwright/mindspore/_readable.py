# SPDX-License-Identifier: Apache-2.0
"""Functions that MindSpore's compiler can read, whatever a user gives as bprop.

Compiled modes parse a function's source from its file. Lambdas inside of a call, partials, callable
objects and functions of the console run in PyNative mode and fail when compiled; here they become
functions in real files, or are refused in every mode.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import inspect
import linecache
import os
import sys
import types

import mindspore as ms

from opwright import _errors
from opwright.mindspore import _cached
from opwright.mindspore import _rule_source as source
from opwright.mindspore._python_only import (
    refuse_held,
    refuse_other_self,
    refuse_python_only,
)
from opwright.mindspore._several import tuples_of

_PARTIAL = """
def bind(rule, before, named):
    def bprop(*arguments, **attrs):
        return rule(*before, *arguments, **named, **attrs)
    return bprop
"""
_OBJECT = """
def bind(rule):
    def bprop(*arguments, **attrs):
        return rule(*arguments, **attrs)
    return bprop
"""
_MINDSPORE = os.path.dirname(ms.__file__)


def module_of(text: str):
    """A module of this text in a file of the cache, which is written once.

    MindSpore reads the text, by linecache, also when the cache has been cleared since.
    """
    name = "_opwright_" + hashlib.sha256(text.encode()).hexdigest()[:20]
    path = _cached.path_of(f"{name}.py")
    if not path.exists() or path.read_text() != text:
        _cached.place(path, lambda own: own.write_text(text))
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules[name] = module
    linecache.cache[str(path)] = (len(text), None, text.splitlines(keepends=True), str(path))
    return module


def readable(op: str, rule, keywords: tuple[str, ...] = (), inputs: int = 0, outputs: int = 1):
    """The rule itself or one like it that every mode takes; GR020 when there is none.

    keywords: attributes that it will be given by name. inputs, outputs: how many there are.
    """
    if isinstance(rule, functools.partial):
        refuse_held(op, rule)
    code = source.code_of(rule)
    if code is not None:
        code = code._replace(tuples=tuples_of(code, keywords, inputs, outputs))
    return _like(op, rule, keywords, code)


def _like(op: str, rule, keywords: tuple[str, ...], code: source.Code | None):
    """Of a rule, or of what a partial holds. code: of the rule."""
    if isinstance(rule, functools.partial):
        inner = _like(op, rule.func, (*keywords, *rule.keywords), code)
        # As in Python, what the call gives goes before what the partial holds.
        named = {name: value for name, value in rule.keywords.items() if name not in keywords}
        return module_of(_PARTIAL).bind(inner, rule.args, named)
    if isinstance(rule, types.FunctionType) and rule.__name__ == "<lambda>":
        return _lambda(op, rule, keywords, code)
    if isinstance(rule, types.MethodType) and isinstance(rule.__self__, type):
        raise _errors.make(
            "GR020",
            f"{op}: the bprop {rule.__name__} is a class method, which ms.jit and graph mode "
            "cannot read; make it a static method",
        )
    if code is not None:
        if code.owner is not None:
            refuse_other_self(op, code.function)
        refuse_python_only(op, code, keywords)
    if isinstance(rule, types.FunctionType):
        return _function(op, rule)
    if isinstance(rule, (types.MethodType, ms.nn.Cell, ms.ops.Primitive)):
        return rule
    if callable(rule):
        return module_of(_OBJECT).bind(rule)
    raise _errors.make("GR007", f"{op}: a bprop is a function, {type(rule).__name__} was given")


def _copy(rule: types.FunctionType) -> types.FunctionType:
    copy = types.FunctionType(
        rule.__code__, rule.__globals__, rule.__name__, rule.__defaults__, rule.__closure__
    )
    copy.__kwdefaults__ = rule.__kwdefaults__
    copy.__module__ = rule.__module__ or "__main__"
    return copy


def _function(op: str, rule: types.FunctionType):
    if hasattr(rule, "__wrapped__") and not rule.__code__.co_filename.startswith(_MINDSPORE):
        # By that mark MindSpore's compiler would read the function inside, without its decorator.
        rule = _copy(rule)
    try:
        inspect.getsource(rule)
    except (OSError, TypeError):
        raise _errors.make(
            "GR020",
            f"{op}: the bprop {rule.__name__} has no source file (made by exec, or typed after "
            "python -c?), which ms.jit and graph mode read; define it in a .py file",
        ) from None
    if os.path.exists(rule.__code__.co_filename) and rule.__module__ is not None:
        return rule
    # Of a notebook: its text is in linecache, but MindSpore wants a module.
    return _copy(rule)


def _lambda(op: str, rule: types.FunctionType, keywords: tuple[str, ...], code: source.Code):
    """The lambda as a named function of a file; globals, defaults and closure stay the user's."""
    node = _find_lambda(op, rule)
    refuse_python_only(op, code, keywords, node)
    free = rule.__code__.co_freevars
    # Compiled modes take no defaults: such parameters become what the function encloses.
    plain, bound = _split_defaults(node.args, rule, keywords)
    text = (
        f"def bind({', '.join([*free, *bound])}):\n"
        f"    def bprop({', '.join(plain)}):\n"
        f"        return {ast.unparse(node.body)}\n"
        "    return bprop\n"
    )
    bind = module_of(text).bind
    code = next(c for c in bind.__code__.co_consts if isinstance(c, types.CodeType))
    cells = dict(zip(free, rule.__closure__ or (), strict=True))
    cells |= {name: types.CellType(value) for name, value in bound.items()}
    made = types.FunctionType(
        code,
        rule.__globals__,
        "bprop",
        None,
        tuple(cells[name] for name in code.co_freevars),
    )
    made.__module__ = rule.__module__ or "__main__"
    return made


def _split_defaults(args: ast.arguments, rule, keywords) -> tuple[list[str], dict]:
    """The parameters without a default, and the values of the others."""
    names = [arg.arg for arg in [*args.posonlyargs, *args.args]]
    defaults = rule.__defaults__ or ()
    bound = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True))
    bound |= rule.__kwdefaults__ or {}
    bound = {name: value for name, value in bound.items() if name not in keywords}
    plain = [name for name in names if name not in bound]
    plain += [f"*{args.vararg.arg}"] if args.vararg else []
    plain += [arg.arg for arg in args.kwonlyargs if arg.arg not in bound]
    plain += [f"**{args.kwarg.arg}"] if args.kwarg else []
    return plain, bound


def _find_lambda(op: str, rule: types.FunctionType) -> ast.Lambda:
    code = rule.__code__
    unknown = _errors.make(
        "GR020",
        f"{op}: the source of the lambda given as bprop is not found, which ms.jit and graph mode "
        "read; write a function with def",
    )
    try:
        lines, _ = inspect.findsource(rule)
        tree = ast.parse("".join(lines))
    except (OSError, TypeError, SyntaxError):
        raise unknown from None
    imported = _imported(tree)
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Lambda)
        and node.lineno <= code.co_firstlineno <= (node.end_lineno or node.lineno)
        and _same_code(node, code, imported)
    ]
    if not found:
        raise unknown
    # Equal lambdas on one line are one text: whichever is taken, it is the right one.
    if len({ast.unparse(node) for node in found}) > 1:
        raise unknown
    return found[0]


def _imported(node: ast.AST) -> set[str]:
    """What a module imports outside of its functions and classes."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {alias.asname or alias.name.partition(".")[0] for alias in node.names} - {"*"}
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return set()
    return set().union(*map(_imported, ast.iter_child_nodes(node)))


def _same_code(node: ast.Lambda, code: types.CodeType, imported: set[str]) -> bool:
    """Whether the lambda, compiled where it stands, is this code. imported: Python compiles
    name.function() in another way where the module imports the name."""
    free = code.co_freevars
    inside = "".join(f"import {name}\n" for name in sorted(imported))
    if free:
        inside += f"def bind({', '.join(free)}):\n return "
    made = compile(inside + ast.unparse(node), "<lambda>", "exec")
    for _ in range(2 if free else 1):
        made = next(c for c in made.co_consts if isinstance(c, types.CodeType))
    plain = [
        [c for c in each.co_consts if not isinstance(c, types.CodeType)] for each in (made, code)
    ]
    return (
        made.co_code == code.co_code
        and made.co_names == code.co_names
        and made.co_varnames == code.co_varnames
        and plain[0] == plain[1]
    )

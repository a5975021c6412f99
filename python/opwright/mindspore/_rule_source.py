# SPDX-License-Identifier: Apache-2.0
"""What the source of a rule says: its syntax, its names, and what they stand for."""

from __future__ import annotations

import ast
import builtins
import dis
import functools
import inspect
import itertools
import os
import sys
import textwrap
import types
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

import mindspore as ms
import numpy as np
from mindspore import nn

_NOT_USERS = tuple(
    os.path.dirname(path) + os.sep for path in (ms.__file__, np.__file__, os.path.dirname(__file__))
)
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Code(NamedTuple):
    """The function that a rule runs."""

    function: types.FunctionType
    owner: object = None  # what self stands for
    given: int = 0  # the first parameters, that a partial gives
    keywords: frozenset[str] = frozenset()  # that it gives by name
    tuples: Mapping[str, int] = MappingProxyType({})  # out and dout of several outputs: how many

    @property
    def parameters(self) -> list[str]:
        """Those that a call gives: without self, a partial's and what has a default."""
        code = self.function.__code__
        names = code.co_varnames[: code.co_argcount - len(self.function.__defaults__ or ())]
        plain = [name for name in names if name != "self"][self.given :]
        return [name for name in plain if name not in self.keywords]

    @property
    def all_parameters(self) -> set[str]:
        code = self.function.__code__
        return set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])

    @property
    def name(self) -> str:
        if self.owner is not None and self.function.__name__ in ("__call__", "construct"):
            return f"{type(self.owner).__name__}.{self.function.__name__}"
        return self.function.__name__


def code_of(rule) -> Code | None:
    """Of a function, a method, a partial, an object or a Cell; None where Python does not say."""
    given, keywords = 0, frozenset()
    while isinstance(rule, functools.partial):
        given += len(rule.args)
        keywords = keywords.union(rule.keywords)
        rule = rule.func
    if isinstance(rule, types.MethodType):
        function, owner = rule.__func__, rule.__self__
    elif isinstance(rule, types.FunctionType):
        function, owner = rule, None
    else:
        name = "construct" if isinstance(rule, nn.Cell) else "__call__"
        function, owner = getattr(type(rule), name, None), rule
    if not isinstance(function, types.FunctionType):
        return None
    return Code(function, owner, given, keywords)


def tree_of(function: types.FunctionType) -> ast.AST:
    """The function's syntax, with the lines of its file; nothing where that is not to be had."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function.__code__)))
    except (OSError, TypeError, SyntaxError):
        return ast.Module([], [])
    return ast.increment_lineno(tree, function.__code__.co_firstlineno - 1)


def definition_of(tree: ast.AST) -> ast.AST | None:
    """The function itself: what is in it comes after it."""
    return next((node for node in ast.walk(tree) if isinstance(node, SCOPES)), None)


def own_nodes(definition: ast.FunctionDef | ast.Lambda) -> list[ast.AST]:
    """What is in a function's statements, but for what has names of its own."""
    body = definition.body if isinstance(definition.body, list) else [definition.body]
    return [node for statement in body for node in nodes_of(statement)]


def nodes_of(node: ast.AST) -> Iterator[ast.AST]:
    """The node and what is in it, but for what has names of its own."""
    if isinstance(node, (*SCOPES, *_COMPREHENSIONS)):
        return
    yield node
    for each in ast.iter_child_nodes(node):
        yield from nodes_of(each)


def live_nodes(tree: ast.AST, scope: Mapping, owner=None) -> Iterator[ast.AST]:
    """What is in it, but for branches that a bool of the module, the closure or self rules out."""
    yield tree
    children = ast.iter_child_nodes(tree)
    if isinstance(tree, (ast.If, ast.IfExp)):
        holds = _holds(tree.test, scope, owner)
        body, other = (
            each if isinstance(each, list) else [each] for each in (tree.body, tree.orelse)
        )
        children = [
            tree.test,
            *(body if holds is not False else ()),
            *(other if holds is not True else ()),
        ]
    for each in children:
        yield from live_nodes(each, scope, owner)


def _holds(test: ast.expr, scope: Mapping, owner) -> bool | None:
    """None where that is not known yet."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            holds = _holds(operand, scope, owner)
            return None if holds is None else not holds
        case ast.Constant(value=value):
            pass
        case ast.Attribute(value=ast.Name(id="self"), attr=attr):
            value = getattr(owner, "__dict__", {}).get(attr)
        case _:
            value = value_of(scope, test)
    return value if isinstance(value, bool) else None


def may_leave(statement: ast.stmt) -> bool:
    """Whether a return or a raise is in it."""
    return any(isinstance(node, (ast.Return, ast.Raise)) for node in ast.walk(statement))


def bound_names(nodes: Iterable[ast.AST]) -> set[str]:
    return {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def names_in(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def free_names(function: ast.Lambda | ast.FunctionDef) -> set[str]:
    """The names that a function takes from around it."""
    body = function.body if isinstance(function.body, list) else [function.body]
    used = [n for each in body for n in ast.walk(each) if isinstance(n, ast.Name)]
    bound = {n.id for n in used if not isinstance(n.ctx, ast.Load)}
    bound |= {arg.arg for arg in ast.walk(function) if isinstance(arg, ast.arg)}
    return {n.id for n in used} - bound


def scope_of(function: types.FunctionType) -> Mapping:
    """What names stand for in a function: of its closure or its module; None for its own and for
    those of the functions in it."""
    code = function.__code__
    cells = {}
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            cells[name] = cell.cell_contents
        except ValueError:  # empty yet
            cells[name] = None
    inner = list(codes_in(code))[1:]
    own = {name for each in inner for name in _own_names(each)}.difference(
        *map(outer_names, (code, *inner))
    )
    return ChainMap(dict.fromkeys((*own, *_own_names(code))), cells, function.__globals__)


def is_users(function) -> bool:
    """Whether it is a Python function of neither a library that compiled modes know nor ours."""
    return (
        isinstance(function, types.FunctionType)
        and not function.__code__.co_filename.startswith(_NOT_USERS)
        and (function.__module__ or "").split(".")[0] not in sys.stdlib_module_names
    )


def value_of(scope: Mapping, node: ast.expr):
    """What a name stands for, or a name in a module; None for anything else."""
    match node:
        case ast.Name(id=name):
            return scope.get(name)
        case ast.Attribute(value=value, attr=attr):
            module = value_of(scope, value)
            return getattr(module, attr, None) if inspect.ismodule(module) else None
    return None


def meant(scope: Mapping, node: ast.expr, owner=None):
    """What is called by this: a function, also one that is built in, a static method's function, a
    class method, or what self has. owner: what self stands for."""
    match node:
        case ast.Name(id=name) if name not in scope:
            return getattr(builtins, name, None)
        case ast.Attribute(value=value, attr=attr):
            holder = owner if is_of_self(node) else value_of(scope, value)
            if holder is None or inspect.ismodule(holder):
                return value_of(scope, node)
            kind = holder if isinstance(holder, type) else type(holder)
            found = inspect.getattr_static(kind, attr, None)
            if isinstance(found, staticmethod):
                return found.__func__
            return found if is_of_self(node) or isinstance(found, classmethod) else None
    return value_of(scope, node)


def called_in(tree: ast.AST, scope: Mapping, owner=None) -> list:
    """What a function calls."""
    return [
        meant(scope, node.func, owner)
        for node in live_nodes(tree, scope, owner)
        if isinstance(node, ast.Call)
    ]


def given_tensors(node: ast.Call, function: types.FunctionType, is_tensor) -> frozenset[str]:
    """The parameters of a function that a call gives a tensor for sure."""
    code = function.__code__
    names = [name for name in code.co_varnames[: code.co_argcount] if name != "self"]
    args = itertools.takewhile(lambda each: not isinstance(each, ast.Starred), node.args)
    return frozenset(name for name, each in zip(names, args, strict=False) if is_tensor(each))


def is_of_self(node: ast.expr) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id="self")):
            return True
    return False


def codes_in(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code and those of the functions in it."""
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from codes_in(const)


def _own_names(code: types.CodeType) -> tuple[str, ...]:
    return code.co_varnames + code.co_cellvars


def outer_names(code: types.CodeType) -> set[str]:
    """The names that the code takes from around it."""
    loaded = {each.argval for each in dis.get_instructions(code) if each.opname == "LOAD_GLOBAL"}
    return loaded.union(code.co_freevars)

# SPDX-License-Identifier: Apache-2.0
"""What the source of a rule says: its syntax, its names, and what they stand for."""

from __future__ import annotations

import ast
import dis
import functools
import inspect
import textwrap
import types
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from mindspore import nn

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


def value_of(scope: Mapping, node: ast.expr):
    """What a name stands for, or a name in a module; None for anything else."""
    match node:
        case ast.Name(id=name):
            return scope.get(name)
        case ast.Attribute(value=value, attr=attr):
            module = value_of(scope, value)
            return getattr(module, attr, None) if inspect.ismodule(module) else None
    return None


def called_in(tree: ast.AST, scope: Mapping, owner=None) -> list:
    """What the names stand for that a function calls."""
    return [
        value_of(scope, node.func)
        for node in live_nodes(tree, scope, owner)
        if isinstance(node, ast.Call)
    ]


def own_methods(tree: ast.AST, scope: Mapping, owner) -> list[types.FunctionType]:
    """Those of its own that a method calls by self."""
    methods = (
        inspect.getattr_static(type(owner), node.func.attr, None)
        for node in live_nodes(tree, scope, owner)
        if isinstance(node, ast.Call) and is_of_self(node.func)
    )
    return [each for each in methods if isinstance(each, types.FunctionType)]


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

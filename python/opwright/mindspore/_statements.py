# SPDX-License-Identifier: Apache-2.0
"""What the statements of a rule themselves say that compiled modes do not take, where that is sure;
with what to write instead. What may be in a branch that a graph drops is let through, but for
syntax that the compiler reads in any branch."""

from __future__ import annotations

import ast
import types
from collections import Counter
from collections.abc import Collection, Mapping

import numpy as np

from opwright.mindspore import _constants
from opwright.mindspore import _rule_source as source
from opwright.mindspore._compiled import compiled
from opwright.mindspore._tensors import Tensors

# As MindSpore 2.10 compiles no others.
_SYNTAX = {
    ast.Try: "try",
    getattr(ast, "TryStar", ast.Try): "try",  # of Python 3.11
    ast.Import: "import",
    ast.ImportFrom: "import",
    ast.NamedExpr: ":=",
    ast.Yield: "yield",
    ast.YieldFrom: "yield",
    ast.Delete: "del",
    ast.ClassDef: "class",
    ast.SetComp: "a set comprehension",
    ast.Set: "a set",
    ast.Match: "match",
    ast.AsyncFunctionDef: "async",
    ast.Nonlocal: "nonlocal",
    ast.AsyncWith: "async",
}
_LOOPS = (ast.For, ast.While)
# Those that compiled modes run while they compile, or end the process by.
_OF_SHAPES = ("extend", "insert", "pop", "reverse")  # right of a list of sizes, once
_LIST_METHODS = ("clear", "extend", "insert", "pop", "remove", "reverse", "sort")
_ON_LISTS_ALONE = ("extend", "insert", "reverse")
_TO_PYTHON = ("tolist", "numpy")
_COMPUTE = "compute with mindspore.ops"
_NAMES = "give each a name of its own"
PLAIN = "write it with mindspore.ops and plain statements"

# (what, what to write instead)
Fault = tuple[str, str]


def syntax(tree: ast.AST, scope: Mapping) -> Fault | None:
    """A statement or an expression of a kind that compiled modes do not read."""
    for node in ast.walk(tree):
        word = _SYNTAX.get(type(node))
        if isinstance(node, _LOOPS) and node.orelse:
            word = "a loop with else"
        if isinstance(node, ast.With) and not all(
            _may_be_entered(scope, item.context_expr) for item in node.items
        ):
            word = "a with of what is no ms.jit_class"
        if word:
            return f"has {word} at line {node.lineno}", PLAIN
    return None


def _may_be_entered(scope: Mapping, context: ast.expr) -> bool:
    """Compiled modes enter instances of an ms.jit_class only. What is computed may be one."""
    called = isinstance(context, ast.Call)
    value = source.value_of(scope, context.func if called else context)
    if value is None or (called and not isinstance(value, type)):
        return True
    return hasattr(value, "__ms_class__")


def name_after_loop(function: types.FunctionType, tree: ast.AST) -> Fault | None:
    """A name that is first bound in a loop, used after it: compiled modes know it inside only."""
    for scope in ast.walk(tree):
        if not isinstance(scope, ast.FunctionDef):
            continue
        own = source.own_nodes(scope)
        known = {arg.arg for arg in ast.walk(scope.args) if isinstance(arg, ast.arg)}
        known |= {each.name for each in ast.walk(scope) if isinstance(each, ast.FunctionDef)}
        for loop in own:
            if not isinstance(loop, _LOOPS):
                continue
            inside = set(source.nodes_of(loop))
            for name in sorted(source.bound_names(inside) - known - set(function.__globals__)):
                uses = [n for n in own if isinstance(n, ast.Name) and n.id == name]
                elsewhere = [n for n in uses if n not in inside]
                if any(not isinstance(n.ctx, ast.Load) for n in elsewhere):
                    continue
                after = [n.lineno for n in elsewhere if n.lineno > loop.end_lineno]
                if after:
                    return (
                        f"uses {name} at line {after[0]}, after the loop that binds it",
                        f"bind {name} before the loop as well",
                    )
    return None


def on_tensors(
    code: types.CodeType, tree: ast.AST, tensors: Tensors, attrs: Collection[str] = ()
) -> Fault | None:
    """What a function does with tensors, or with lists and dicts of them.

    attrs: the parameters that are attributes.
    """
    own = {*code.co_varnames, *code.co_cellvars}
    local = {n.name: n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
    for node in compiled(tree, tensors):
        fault = (
            _dict(node, tensors)
            or _changes_list(node, tensors, attrs)
            or _constants.elsewhere(node, tensors)
        )
        if fault is None and isinstance(node, ast.Call):
            called = source.meant(tensors.scope, node.func, tensors.owner)
            fault = (
                _class_method(called)
                or _with_tensors(node, called, tensors)
                or _constants.in_call(node, called, tensors, own)
                or _maps(node, called, own, local)
            )
        if fault is not None:
            what, cure = fault
            return f"{what} at line {node.lineno}", cure
    return None


def _dict(node: ast.AST, tensors: Tensors) -> Fault | None:
    match node:
        case ast.Dict(values=values) if any(map(tensors.are_in, values)) or any(
            isinstance(each, ast.Lambda) and source.free_names(each) & tensors.names
            for each in values
        ):
            return "has a dict of tensors", _NAMES
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name))], value=value) if (
            tensors.are_in(value) and _is_dict(tensors.bindings.get(name))
        ):
            return "has a dict of tensors", _NAMES
        case ast.DictComp(value=value, generators=generators) if tensors.without(
            source.bound_names(each for part in generators for each in ast.walk(part.target))
        ).are_in(value):
            return "has a dict of tensors", _NAMES
    return None


def _is_dict(values: list[ast.expr] | None) -> bool:
    match values:
        case [ast.Dict() | ast.Call(func=ast.Name(id="dict"))]:
            return True
    return False


def written_to(tree: ast.AST, names: Collection[str]) -> tuple[str, int] | None:
    """Which of the names, or another name of the same memory, a function writes into by a
    subscript, and at which line."""
    definition = source.definition_of(tree)
    nodes = [] if definition is None else source.own_nodes(definition)
    names = set(names) - source.bound_names(nodes)
    bound = Counter(
        node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=other)], value=value):
                values = [value]
            case ast.For(target=ast.Name(id=other), iter=ast.Tuple(elts=values)):
                pass
            case _:
                continue
        if bound[other] == 1 and any(_is_memory_of(each, names) for each in values):
            names.add(other)
    for node in nodes:
        match node:
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()) if name in names:
                return name, node.lineno
    return None


def _is_memory_of(value: ast.expr, names: Collection[str]) -> bool:
    """Whether it is a tensor by one of the names, or a view of it in PyNative mode."""
    match value:
        case ast.Name(id=name) | ast.Subscript(value=ast.Name(id=name)):
            return name in names
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="reshape" | "view")):
            return name in names
    return False


def _changes_list(node: ast.AST, tensors: Tensors, attrs: Collection[str]) -> Fault | None:
    """In place: MindSpore ends the process, or the next compilation sees the change. What is made
    of a shape is a list of numbers, which compiles."""
    match node:
        case ast.AugAssign(target=ast.Name(id=name), value=ast.List()) if name in attrs:
            return f"adds to the attribute {name}", f"write [*{name}, ...]"
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr)):
            values = tensors.bindings.get(name, ())
            before = [value for value in values if value.lineno <= node.lineno]
            made = max(before, key=lambda value: value.lineno, default=None)
        case _:
            return None
    of_attribute = name in attrs if made is None else _is_list_of(made, attrs)
    if attr == "append" and of_attribute:
        return f"appends to the attribute {name}", f"write [*{name}, ...]"
    if attr not in _LIST_METHODS:
        return None
    if _is_list_of_shape(made):
        if attr not in _OF_SHAPES or _is_in_loop(node, tensors) or _changes(name, tensors) > 1:
            return f"calls {name}.{attr}()", f"write {name} = [...] of what is left, or sorted"
        return None
    takes_out = attr == "pop" and all(isinstance(each, ast.Constant) for each in node.args)
    keyed = takes_out and any(isinstance(each.value, str) for each in node.args)  # of a dict
    if attr in _ON_LISTS_ALONE or _is_list(made) or of_attribute or (takes_out and not keyed):
        return f"calls {name}.{attr}()", f"write {name} = {name} + [...], or a slice of it"
    return None


def _changes(name: str, tensors: Tensors) -> int:
    """How many places change the list in place."""
    return sum(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _LIST_METHODS
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == name
        for node in tensors.nodes
    )


def _is_in_loop(node: ast.AST, tensors: Tensors) -> bool:
    return any(
        isinstance(loop, _LOOPS) and any(each is node for each in ast.walk(loop))
        for loop in tensors.nodes
    )


def _is_list_of(node: ast.expr, names: Collection[str]) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="list"), args=[ast.Name(id=name)]):
            return name in names
    return False


def _is_list(node: ast.expr | None) -> bool:
    match node:
        case ast.List() | ast.ListComp() | ast.Call(func=ast.Name(id="list")):
            return True
        case ast.BinOp(left=left, right=right):
            return _is_list(left) or _is_list(right)
    return False


def _is_list_of_shape(node: ast.expr | None) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="list"), args=[ast.Attribute(attr="shape")]):
            return True
    return False


def _with_tensors(node: ast.Call, called, tensors: Tensors) -> Fault | None:
    match node.func:
        case ast.Attribute(value=value, attr=attr) if attr in _TO_PYTHON and tensors.sure(value):
            return f"uses .{attr}()", _COMPUTE
    keywords = [each.arg for each in node.keywords if each.arg and tensors.are_in(each.value)]
    if keywords and called is dict:
        return "has a dict of tensors", _NAMES
    if keywords:
        return f"gives a tensor by keyword ({keywords[0]}=)", "give it by position"
    if _is_numpys(called) and any(map(tensors.are_in, node.args)):
        name = getattr(called, "__name__", type(called).__name__)
        return f"calls numpy's {name} on a tensor", _COMPUTE
    return None


def _class_method(called) -> Fault | None:
    """Compiled modes count its first parameter, and give it what the call gives first."""
    if not isinstance(called, classmethod) or not source.is_users(called.__func__):
        return None
    return f"calls the class method {called.__func__.__name__}", "make it a static method"


def _maps(node: ast.Call, called, own: Collection[str], local: Mapping) -> Fault | None:
    if called is not map or not node.args:
        return None
    function = node.args[0]
    if isinstance(function, ast.Name):
        function = local.get(function.id, function)
    if not isinstance(function, (ast.Lambda, ast.FunctionDef)):
        return None
    taken = source.free_names(function) & own
    if not taken:
        return None
    return f"maps a function that uses {min(taken)} of the rule", "write a comprehension"


def _is_numpys(called) -> bool:
    module = getattr(called, "__module__", None) or ""
    return callable(called) and (isinstance(called, np.ufunc) or module.split(".")[0] == "numpy")

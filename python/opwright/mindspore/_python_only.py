# SPDX-License-Identifier: Apache-2.0
"""What only runs in Python: a rule with it would do in PyNative mode and not compile. It is refused
in every mode, before MindSpore reads it."""

from __future__ import annotations

import ast
import dis
import inspect
import os
import textwrap
import types
from collections import ChainMap
from collections.abc import Iterator, Mapping

import mindspore as ms

from opwright import _errors

_METHODS = ("asnumpy",)
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
    ast.Match: "match",
    ast.AsyncFunctionDef: "async",
    ast.Nonlocal: "nonlocal",
    ast.AsyncWith: "async",
}
_NOT_USERS = (
    os.path.dirname(ms.__file__) + os.sep,
    os.path.dirname(os.path.dirname(__file__)) + os.sep,
)


def refuse_python_only(op: str, rule: types.FunctionType, tree: ast.AST | None = None) -> None:
    """GR020 for a rule that only runs in Python, or that calls a function which does. tree: the
    rule's syntax, where its source says more than that."""
    seen = set()
    waiting = [(rule, tree or tree_of(rule))]
    while waiting:
        function, tree = waiting.pop()
        if function in seen or function.__code__.co_filename.startswith(_NOT_USERS):
            continue
        seen.add(function)
        what = _found(function, tree)
        if what is None and function is rule:
            what = _dict_of_tensors(function, tree)
        if what:
            by = "" if function is rule else f" calls {function.__name__}, which"
            raise _errors.make(
                "GR020",
                f"{op}: the bprop {rule.__name__}{by} {what}, which ms.jit and graph mode cannot "
                "compile; write it with mindspore.ops and plain statements",
            )
        waiting += [(each, tree_of(each)) for each in _called(function, tree) if _is_plain(each)]


def tree_of(function: types.FunctionType) -> ast.AST:
    """The function's syntax, with the lines of its file; nothing where that is not to be had."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return ast.Module([], [])
    return ast.increment_lineno(tree, function.__code__.co_firstlineno - 1)


def _found(function: types.FunctionType, tree: ast.AST) -> str | None:
    """What in the function cannot be compiled, in words."""
    for code in _codes_in(function.__code__):
        for name in _METHODS:
            if name in code.co_names:
                return f"uses .{name}()"
    if function.__code__.co_posonlyargcount and function.__name__ != "<lambda>":
        return "has parameters by position only (/)"
    if name := _parameter_in(function):
        return f"uses the Parameter {name}, no input of the operator"
    for node in ast.walk(tree):
        if word := _SYNTAX.get(type(node)):
            return f"has {word} at line {node.lineno}"
        if isinstance(node, (ast.For, ast.While)) and node.orelse:
            return f"has a loop with else at line {node.lineno}"
        if isinstance(node, ast.With) and not all(
            _may_be_entered(function, item.context_expr) for item in node.items
        ):
            return f"has a with of what is no ms.jit_class at line {node.lineno}"
    for each in _called(function, tree):
        if isinstance(each, type) and issubclass(each, tuple) and hasattr(each, "_fields"):
            return f"makes the named tuple {each.__name__}"
    return None


def _parameter_in(function: types.FunctionType) -> str | None:
    """The name of a MindSpore Parameter around the function that it uses."""
    scope = scope_of(function)
    names = sorted(set().union(*map(_outer, _codes_in(function.__code__))))
    return next((name for name in names if isinstance(scope.get(name), ms.Parameter)), None)


def _dict_of_tensors(rule: types.FunctionType, tree: ast.AST) -> str | None:
    returned = {node.value for node in ast.walk(tree) if isinstance(node, ast.Return)}
    for node in ast.walk(tree):
        if node in returned:  # which the verdict on the answer names
            continue
        if isinstance(node, ast.Dict) and any(_has_tensor(rule, value) for value in node.values):
            return f"has a dict of tensors at line {node.lineno}"
    return None


def _has_tensor(function: types.FunctionType, node: ast.AST) -> bool:
    """Whether one of the function's parameters is in it, and not its shape or dtype alone."""
    if isinstance(node, ast.Name):
        code = function.__code__
        return node.id != "self" and node.id in code.co_varnames[: code.co_argcount]
    if isinstance(node, ast.Attribute) and node.attr in ("dtype", "ndim", "shape", "size"):
        return False
    return any(_has_tensor(function, each) for each in ast.iter_child_nodes(node))


def refuse_other_self(op: str, method: types.FunctionType) -> None:
    """MindSpore's compiler counts the first parameter of a method unless it is called self."""
    code = method.__code__
    first = code.co_varnames[0] if code.co_argcount else "self"
    if first != "self" and not code.co_filename.startswith(_NOT_USERS):
        raise _errors.make(
            "GR020",
            f"{op}: the bprop {method.__qualname__} calls its first parameter {first}, and ms.jit "
            "and graph mode read methods with self; call it self",
        )


def _is_plain(value) -> bool:
    return isinstance(value, types.FunctionType) and value.__name__ != "<lambda>"


def _may_be_entered(function: types.FunctionType, context: ast.expr) -> bool:
    """Compiled modes enter instances of an ms.jit_class only. What is computed may be one."""
    called = isinstance(context, ast.Call)
    value = value_of(scope_of(function), context.func if called else context)
    if value is None or (called and not isinstance(value, type)):
        return True
    return hasattr(value, "__ms_class__")


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
    inner = list(_codes_in(code))[1:]
    own = {name for each in inner for name in _own(each)}.difference(*map(_outer, (code, *inner)))
    return ChainMap(dict.fromkeys((*own, *_own(code))), cells, function.__globals__)


def _codes_in(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code and those of the functions in it."""
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from _codes_in(const)


def _own(code: types.CodeType) -> tuple[str, ...]:
    return code.co_varnames + code.co_cellvars


def _outer(code: types.CodeType) -> set[str]:
    """The names that the code takes from around it."""
    loaded = {each.argval for each in dis.get_instructions(code) if each.opname == "LOAD_GLOBAL"}
    return loaded.union(code.co_freevars)


def value_of(scope: Mapping, node: ast.expr):
    """What a name stands for, or a name in a module; None for anything else."""
    match node:
        case ast.Name(id=name):
            return scope.get(name)
        case ast.Attribute(value=value, attr=attr):
            module = value_of(scope, value)
            return getattr(module, attr, None) if inspect.ismodule(module) else None
    return None


def _called(function: types.FunctionType, tree: ast.AST) -> list:
    """What the names stand for that the function calls."""
    scope = scope_of(function)
    return [
        value_of(scope, node.func)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]

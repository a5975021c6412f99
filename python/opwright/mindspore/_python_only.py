# SPDX-License-Identifier: Apache-2.0
"""What only runs in Python: a rule with it would do in PyNative mode and not compile. It is refused
in every mode, before MindSpore reads it."""

from __future__ import annotations

import ast
import functools
import inspect
import types
from collections.abc import Mapping

import mindspore as ms

from opwright import _errors
from opwright.mindspore import _branches, _several, _statements
from opwright.mindspore import _rule_source as source
from opwright.mindspore._compiled import compiled
from opwright.mindspore._statements import PLAIN, Fault
from opwright.mindspore._tensors import Tensors

_METHODS = ("asnumpy",)


def refuse_python_only(
    op: str, code: source.Code, attrs: tuple[str, ...] = (), tree: ast.AST | None = None
) -> None:
    """GR020 for a rule that only runs in Python, or that calls a function which does.

    attrs: parameters that are attributes. tree: the rule's syntax, where its source says more.
    """
    inputs = frozenset(code.parameters).difference(attrs)
    waiting = [(code.function, tree or source.tree_of(code.function), inputs)]
    seen = set()
    while waiting:
        function, tree, given = waiting.pop()
        if (function, given) in seen or not source.is_users(function):
            continue
        seen.add((function, given))
        scope = source.scope_of(function)
        owner = code.owner if function.__code__.co_varnames[:1] == ("self",) else None
        tensors = Tensors(source.Code(function, owner), tree, given)
        # out and dout of several outputs are tuples.
        single = (
            Tensors(source.Code(function, owner), tree, given.difference(code.tuples))
            if code.tuples
            else tensors
        )
        called = source.called_in(tree, scope, owner)
        fault = (
            _uses_method(function, tree, scope, owner)
            or _by_position_only(function)
            or _parameter_in(function, scope)
            or _statements.syntax(tree, scope)
            or _named_tuple(called)
            or _own_parameter(tree, owner)
            or _binds_own(tree, scope, owner)
            or _statements.name_after_loop(function, tree)
        )
        if fault is None and function is code.function:
            _refuse_writes(op, code, tree, tensors, inputs - tensors.bindings.keys())
            _several.refuse_for_tensor(op, code, tree, attrs)
        if fault is None:
            attributes = attrs if function is code.function else ()
            fault = _statements.on_tensors(
                function.__code__, tree, tensors, attributes
            ) or _branches.unlike(tree, single)
        if fault is not None:
            what, cure = fault
            by = "" if function is code.function else f" calls {function.__name__}, which"
            raise _errors.make(
                "GR020",
                f"{op}: the bprop {code.name}{by} {what}, which ms.jit and graph mode cannot "
                f"compile; {cure}",
            )
        waiting += [
            (each, source.tree_of(each), known) for each, known in _calls(called, tree, tensors)
        ]


def _calls(
    called: list, tree: ast.AST, tensors: Tensors
) -> dict[tuple[types.FunctionType, frozenset[str]], None]:
    """The functions that a function calls, with the parameters that are tensors then for sure."""
    surely = {
        (function, source.given_tensors(node, function, tensors.sure)): None
        for node in compiled(tree, tensors)
        if isinstance(node, ast.Call)
        and _is_plain(function := source.meant(tensors.scope, node.func, tensors.owner))
    }
    known = {function for function, _ in surely}
    others = (each for each in called if _is_plain(each) and each not in known)
    return surely | {(each, frozenset()): None for each in others}


def _refuse_writes(op: str, code: source.Code, tree: ast.AST, tensors: Tensors, lent) -> None:
    """GR009 for a rule that writes into what it is given, or has a helper do so: in PyNative mode
    that is the caller's, in compiled modes a tensor of its own."""

    def is_lent(value: ast.expr) -> bool:
        return isinstance(value, ast.Name) and value.id in lent

    found = _statements.written_to(tree, lent)
    by = ""
    for node in compiled(tree, tensors):
        if found is not None:
            break
        if not isinstance(node, ast.Call):
            continue
        helper = source.meant(tensors.scope, node.func, tensors.owner)
        if _is_plain(helper) and source.is_users(helper):
            names = source.given_tensors(node, helper, is_lent)
            found = _statements.written_to(source.tree_of(helper), names)
            by = f" calls {helper.__name__}, which"
    if found is None:
        return
    name, line = found
    raise _errors.make(
        "GR009",
        f"{op}: the bprop {code.name}{by} writes into {name} at line {line}, which it was only "
        "lent; compute a new tensor",
    )


def refuse_held(op: str, rule: functools.partial) -> None:
    """GR020 for a partial that holds a Parameter, or a lambda."""
    held = (*rule.args, *rule.keywords.values())
    if any(getattr(each, "__name__", "") == "<lambda>" for each in held):
        raise _errors.make(
            "GR020",
            f"{op}: the bprop, a partial, is given a lambda, which ms.jit and graph mode cannot "
            "read there; write a function with def",
        )
    if any(isinstance(each, ms.Parameter) for each in held):
        raise _errors.make(
            "GR020",
            f"{op}: the bprop, a partial, is given a Parameter, which is no input of the operator "
            "and which ms.jit and graph mode cannot compile; give its value, or make it an input",
        )


def _uses_method(
    function: types.FunctionType, tree: ast.AST, scope: Mapping, owner
) -> Fault | None:
    """One of a tensor that gives no tensor."""
    if isinstance(tree, ast.Module) and not tree.body:  # the source is not to be had
        used = set().union(*(code.co_names for code in source.codes_in(function.__code__)))
    else:
        nodes = source.live_nodes(tree, scope, owner)
        used = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return next(((f"uses .{name}()", PLAIN) for name in _METHODS if name in used), None)


def _by_position_only(function: types.FunctionType) -> Fault | None:
    if not function.__code__.co_posonlyargcount or function.__name__ == "<lambda>":
        return None
    return "has parameters by position only (/)", PLAIN


def _parameter_in(function: types.FunctionType, scope: Mapping) -> Fault | None:
    """A MindSpore Parameter around the function that it uses."""
    for name in sorted(set().union(*map(source.outer_names, source.codes_in(function.__code__)))):
        if isinstance(scope.get(name), ms.Parameter):
            return f"uses the Parameter {name}, no input of the operator", PLAIN
    return None


def _own_parameter(tree: ast.AST, owner) -> Fault | None:
    """One of the rule's own object that it uses."""
    for node in ast.walk(tree):
        if not source.is_of_self(node):
            continue
        if isinstance(inspect.getattr_static(type(owner), node.attr, None), property):
            continue
        if isinstance(getattr(owner, node.attr, None), ms.Parameter):
            return f"uses the Parameter self.{node.attr}, no input of the operator", PLAIN
    return None


def _binds_own(tree: ast.AST, scope: Mapping, owner) -> Fault | None:
    """A rule's own object that it changes: where that holds a tensor MindSpore ends the process."""
    if owner is None:
        return None
    for node in source.live_nodes(tree, scope, owner):
        if source.is_of_self(node) and isinstance(node.ctx, ast.Store):
            return f"binds self.{node.attr} at line {node.lineno}", "keep it outside of the rule"
    return None


def _named_tuple(called: list) -> Fault | None:
    for each in called:
        if isinstance(each, type) and issubclass(each, tuple) and hasattr(each, "_fields"):
            return f"makes the named tuple {each.__name__}", PLAIN
    return None


def refuse_other_self(op: str, method: types.FunctionType) -> None:
    """MindSpore's compiler counts the first parameter of a method unless it is called self."""
    code = method.__code__
    first = code.co_varnames[0] if code.co_argcount else "self"
    if first != "self" and source.is_users(method):
        raise _errors.make(
            "GR020",
            f"{op}: the bprop {method.__qualname__} calls its first parameter {first}, and ms.jit "
            "and graph mode read methods with self; call it self",
        )


def _is_plain(value) -> bool:
    return isinstance(value, types.FunctionType) and value.__name__ != "<lambda>"

# SPDX-License-Identifier: Apache-2.0
"""Which gradients of a rule may be one, in a compiled graph or in memory, by the rule's source.

A graph has one node for equal computations, and drops what computes nothing: a cast to the dtype
there is, a product with a constant 1, such as `dout` where the loss is a sum. So each gradient gets
a form, in which such things count for nothing and the order of factors and terms is lost. Gradients
of different forms are different nodes. What is not read here has no form and may be any node.

In PyNative mode a view has the form of what it is a view of. What has dout in it is computed, or a
view of dout; what has not may be an input or a view of one, and has no form.

A form knows tensors by the names of the rule's parameters: a gradient compiled with one tensor in
two places makes one node of what differs by these alone, as with MindSpore's own operators.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Mapping

from opwright.mindspore._rule_source import scope_of, tree_of, value_of
from opwright.mindspore._tensors import COMPUTING, FACTS, FUNCTIONS, PASSING

_OPERATIONS = {
    ast.Mult: "mul",
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Div: "div",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
}

# Of a number, or of a tensor that is not computed from the rule's arguments: it may be 1, or 0.
_NOTHING = ("mul",)
_DOUT = ("dout",)


class _UnreadError(Exception):
    """The form of an expression is not known."""


def forms_of(rule, count: int) -> tuple[tuple | None, ...]:
    """The form of each gradient that a rule for `count` inputs returns, None where it has none."""
    unread = (None,) * count
    bound = isinstance(rule, types.MethodType)
    function = rule.__func__ if bound else rule
    if not isinstance(function, types.FunctionType) or hasattr(function, "__wrapped__"):
        return unread
    definition = next(iter(tree_of(function).body), None)
    code = function.__code__
    parameters = code.co_varnames[bound : code.co_argcount]
    if not isinstance(definition, ast.FunctionDef) or len(parameters) < count + 2:
        return unread
    reader = _Reader(parameters, count, scope_of(function))
    return reader.run(definition.body) or unread


class _Reader:
    """Reads statements one after the other; gives up at the first that branches."""

    def __init__(self, parameters, count: int, scope: Mapping):
        self._count = count
        self._scope = scope
        self._forms = {name: ("name", name) for name in parameters[: count + 1]}
        self._forms[parameters[count + 1]] = _DOUT
        self._of_dout = {parameters[count + 1]}

    def run(self, body: list[ast.stmt]) -> tuple | None:
        for statement in body:
            match statement:
                case ast.Return(value=ast.Tuple(elts=grads)):
                    starred = any(isinstance(each, ast.Starred) for each in grads)
                    if starred or len(grads) != self._count:
                        return None
                    return tuple(map(self._gradient, grads))
                case (
                    ast.Assign(targets=[target], value=value)
                    | ast.AnnAssign(target=target, value=ast.expr() as value)
                ) if self._assign(target, value):
                    pass
                case ast.Expr(value=ast.Constant()) | ast.Assert():
                    pass
                case _:
                    return None
        return None

    def _assign(self, target: ast.expr, value: ast.expr) -> bool:
        match target, value:
            case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
                pass
            case _:
                targets, values = [target], [value]
        if not all(isinstance(each, ast.Name) for each in targets):
            return False
        made = [(self._form_or_none(each), self._has_dout(each)) for each in values]
        for name, (form, has_dout) in zip([each.id for each in targets], made, strict=True):
            self._forms[name] = form
            (self._of_dout.add if has_dout else self._of_dout.discard)(name)
        return True

    def _gradient(self, node: ast.expr) -> tuple | None:
        """A right gradient has dout in it. What has not may be whatever dout was computed as."""
        form = self._form_or_none(node)
        return _product([form]) if form and self._has_dout(node) else None

    def _has_dout(self, node: ast.AST) -> bool:
        """Whether dout is in it, and not its shape or dtype alone."""
        match node:
            case ast.Name(id=name):
                return name in self._of_dout
            case (
                ast.Attribute(attr=name)
                | ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name))
            ) if name in FACTS:
                return False
        return any(map(self._has_dout, ast.iter_child_nodes(node)))

    def _form_or_none(self, node: ast.expr) -> tuple | None:
        try:
            return self._form(node)
        except _UnreadError:
            return None

    def _form(self, node: ast.expr) -> tuple:
        match node:
            case ast.Constant():
                return _NOTHING
            case ast.Name(id=name):
                form = self._forms.get(name, _NOTHING)
                if form is not None:
                    return form
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
                return self._form(operand)
            case ast.BinOp(op=op, left=left, right=right) if type(op) in _OPERATIONS:
                return self._operation(_OPERATIONS[type(op)], [left, right])
            case ast.Attribute(value=value, attr=attr):
                if attr in FACTS or self._form(value) == _NOTHING:
                    return _NOTHING
                if attr in ("T", "mT"):
                    return self._form(value)
            case ast.Subscript(value=value):
                if self._form(value) == _NOTHING:
                    return _NOTHING
            case ast.Call(func=func, args=args, keywords=keywords):
                return self._call(func, args, keywords)
        raise _UnreadError

    def _call(self, func: ast.expr, args: list[ast.expr], keywords: list) -> tuple:
        function = value_of(self._scope, func)
        name = FUNCTIONS.get(id(function))
        if function is None and isinstance(func, ast.Attribute):
            if self._form(func.value) == _NOTHING:
                raise _UnreadError
            name, args = func.attr, [func.value, *args]  # a tensor's method
        if name in PASSING and args:
            return self._form(args[0])
        if name in COMPUTING and not keywords:
            return self._operation(name, args)
        raise _UnreadError

    def _operation(self, name: str, args: list[ast.expr]) -> tuple:
        forms = list(map(self._form, args))
        if name == "mul":
            return _product(forms)
        if name == "add":
            return _joined("add", forms)
        if name in ("sub", "div", "pow") and _product(forms[1:]) == _NOTHING:
            return forms[0]
        return (name, *forms)


def _product(forms: list[tuple]) -> tuple:
    """dout counts for nothing in a product: it may be 1."""
    return _joined("mul", [form for form in forms if form != _DOUT])


def _joined(name: str, forms: list[tuple]) -> tuple:
    """Of an operation whose operands come in any order and grouping."""
    parts = []
    for form in forms:
        parts += form[1:] if form[0] == name else () if form == _NOTHING else (form,)
    if not parts:
        return _NOTHING
    return parts[0] if len(parts) == 1 else (name, *sorted(parts, key=repr))

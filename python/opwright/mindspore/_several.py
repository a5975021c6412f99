# SPDX-License-Identifier: Apache-2.0
"""A rule of an operator with several outputs that takes out or dout, tuples then, for a tensor.
Each mode would say that in words of its own, or make one tensor of the tuple."""

from __future__ import annotations

import ast
from collections.abc import Collection

from opwright import _errors
from opwright.mindspore import _rule_source as source
from opwright.mindspore._compiled import compiled
from opwright.mindspore._tensors import FUNCTIONS, Tensors


def tuples_of(code: source.Code, attrs: Collection[str], inputs: int, outputs: int) -> dict:
    """What the rule calls out and dout, and how many tensors they have; empty for one output."""
    if outputs < 2:
        return {}
    names = [name for name in code.parameters if name not in attrs]
    return dict.fromkeys(names[inputs : inputs + 2], outputs)


def refuse_for_tensor(op: str, code: source.Code, tree: ast.AST, attrs: Collection[str]) -> None:
    """GR007 for such a tuple where a tensor is due."""
    if not code.tuples:
        return
    inputs = [name for name in code.parameters if name not in (*attrs, *code.tuples)]
    reader = _Reader(Tensors(code, tree, inputs), code.tuples)
    for node in compiled(tree, reader.tensors):
        name = reader.taken_by(node)
        if name is None:
            continue
        count = code.tuples[name]
        what = "outputs" if name == next(iter(code.tuples)) else "gradients, one for each output"
        raise _errors.make(
            "GR007",
            f"{op}: the bprop {code.name} takes {name} for a tensor at line {node.lineno}; "
            f"{name} is a tuple of {count} {what}; write {name}[0]",
        )


class _Reader:
    def __init__(self, tensors: Tensors, tuples: Collection[str]):
        self.tensors = tensors
        bindings = tensors.bindings
        self._tuples = {name: name for name in tuples if name not in bindings}
        others = bindings.keys() - tensors.parameters  # other names of them
        for name in others:
            match bindings[name]:
                case [ast.Name(id=meant)] if meant in self._tuples:
                    self._tuples[name] = meant

    def taken_by(self, node: ast.AST) -> str | None:
        """The tuple that this takes for a tensor in every mode."""
        match node:
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._tuple(operand)
            case ast.BinOp(op=ast.Div() | ast.MatMult(), left=left, right=right):
                return self._tuple(left) or self._tuple(right)
            case ast.BinOp(op=ast.Mult(), left=left, right=right):
                if self._multiplies(left):
                    return self._tuple(right)
                return self._tuple(left) if self._multiplies(right) else None
            case ast.Attribute(value=value, attr=attr) if not hasattr(tuple, attr):
                return self._tuple(value)
            case ast.Call(func=func, args=args):
                function = source.value_of(self.tensors.scope, func)
                if function is not None and id(function) in FUNCTIONS:
                    return next(filter(None, map(self._tuple, args)), None)
        return None

    def _tuple(self, node: ast.expr) -> str | None:
        return self._tuples.get(node.id) if isinstance(node, ast.Name) else None

    def _multiplies(self, node: ast.expr) -> bool:
        """Whether it is a tensor or a float. An integer repeats a tuple."""
        match node:
            case ast.Constant(value=float()):
                return True
            case ast.Subscript(value=value, slice=ast.Constant(value=int())):
                return self._tuple(value) is not None
        return self.tensors.sure(node)

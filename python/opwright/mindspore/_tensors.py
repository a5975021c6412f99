# SPDX-License-Identifier: Apache-2.0
"""What in the source of a rule is a tensor for sure, and which tests go by the values of one."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator

from mindspore import mint, ops

from opwright.mindspore import _rule_source as source

COMPUTING, PASSING, _REDUCING = (
    frozenset(names.split())
    for names in (
        # They always compute, and take tensors alone.
        "abs acos add asin atan cos cosh div erf exp expm1 log log1p matmul maximum minimum mul "
        "pow relu sigmoid sign sin sinh sub tan tanh",
        # They give a tensor of what they take; they may be dropped, or be one node with a power.
        "astype broadcast_to cast contiguous expand_dims mean neg permute reciprocal reduce_mean "
        "reduce_sum reshape rsqrt sqrt square squeeze sum swapaxes transpose unsqueeze view",
        # What a test is made of: they say something of the values.
        "all any count_nonzero item max mean min norm prod sum",
    )
)
FUNCTIONS = {
    id(getattr(module, name)): name
    for module in (ops, mint)
    for name in COMPUTING | PASSING | _REDUCING
    if hasattr(module, name)
}
# What is known of a tensor before its values are.
FACTS = ("dtype", "ndim", "shape", "size")

_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.MatMult)
_NO_TENSORS = (ast.Tuple, ast.List, ast.JoinedStr)


class Tensors:
    """The names of a rule that are tensors for sure, or tuples of outputs; and lists of such.

    names: the parameters that are. Another name is one if all that it is ever bound to is.
    nodes: what is in the rule's own statements; scope: what its names stand for; owner: what self
    does.
    """

    def __init__(self, code: source.Code, tree: ast.AST, names: Iterable[str]):
        self.names = set(names)
        self.lists: set[str] = set()
        self._from: dict[str, int] = {}
        self.scope = source.scope_of(code.function)
        self.owner = code.owner
        self.parameters = code.all_parameters
        definition = source.definition_of(tree)
        self.nodes = [] if definition is None else source.own_nodes(definition)
        bindings = self.bindings = self._bindings()
        # A parameter that is none is bound by the call as well.
        self.names |= bindings.keys() - self.parameters
        self._narrow(bindings)
        if isinstance(definition, ast.FunctionDef):
            self._from = self._bound_again(definition.body)
        for node in self.nodes:
            self._find_lists(node)

    def _bindings(self) -> dict[str, list[ast.expr]]:
        """Each name with all that it is bound to; with nothing where a value does not tell it."""
        values: dict[str, list[ast.expr]] = {}
        told = set()
        for node in self.nodes:
            match node:
                case (
                    ast.Assign(targets=[ast.Name() as target], value=ast.expr() as value)
                    | ast.AnnAssign(target=ast.Name() as target, value=ast.expr() as value)
                    | ast.AugAssign(target=ast.Name() as target, value=ast.expr() as value)
                ):
                    values.setdefault(target.id, []).append(value)
                    told.add(target)
        for name in source.bound_names(node for node in self.nodes if node not in told):
            values[name] = []
        return values

    def _narrow(self, bindings: dict[str, list[ast.expr]]) -> None:
        """Takes names out until what is left holds."""
        before = None
        while before != self.names:
            before = set(self.names)
            for name, values in bindings.items():
                if not values or not all(map(self.sure, values)):
                    self.names.discard(name)

    def _bound_again(self, body: list[ast.stmt]) -> dict[str, int]:
        """The names that are tensors after a line: bound there, and outside of branches."""
        return {
            target.id: statement.end_lineno
            for statement in body
            if isinstance(statement, ast.Assign)
            for target in statement.targets
            if isinstance(target, ast.Name)
            and self.bindings[target.id] == [statement.value]
            and self.sure(statement.value)
        }

    def _find_lists(self, node: ast.AST) -> None:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=ast.List(elts=args))
                | ast.AugAssign(target=ast.Name(id=name), value=ast.List(elts=args))
                | ast.Call(
                    func=ast.Attribute(value=ast.Name(id=name), attr="append" | "insert"), args=args
                )
                | ast.Call(
                    func=ast.Attribute(value=ast.Name(id=name), attr="extend"),
                    args=[ast.List(elts=args) | ast.Tuple(elts=args)],
                )
            ) if any(map(self.sure, args)):
                self.lists.add(name)

    def without(self, names: set[str]) -> Tensors:
        """Where these names stand for something else."""
        made = copy.copy(self)
        made.names, made.lists = self.names - names, self.lists - names
        made._from = {name: line for name, line in self._from.items() if name not in names}
        return made

    def sure(self, node: ast.AST | None) -> bool:
        """Whether it is a tensor."""
        match node:
            case ast.Name(id=name):
                return name in self.names or self._from.get(name, node.lineno) < node.lineno
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.sure(operand)
            case ast.BinOp(op=op, left=left, right=right):
                sides = (left, right)
                return (
                    isinstance(op, _OPERATORS)
                    and not any(isinstance(each, _NO_TENSORS) for each in sides)
                    and any(map(self.sure, sides))
                )
            case ast.Compare(left=left, ops=[ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE()]):
                return self.sure(left)
            case ast.Call():
                return self._calls(node, COMPUTING | PASSING)
        return False

    def are_in(self, node: ast.AST) -> bool:
        """Whether it is one, or a list or a tuple that has one."""
        match node:
            case ast.Name(id=name) if name in self.lists:
                return True
            case ast.List(elts=elts) | ast.Tuple(elts=elts):
                return any(map(self.are_in, elts))
        return self.sure(node)

    def by_values(self, test: ast.expr) -> bool:
        """Whether a test asks for the values of a tensor, and for nothing else: compiled modes join
        its branches."""
        match test:
            case ast.BoolOp(values=values):
                return all(map(self.by_values, values))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self.by_values(operand)
        return any(
            isinstance(node, ast.Call) and self._calls(node, _REDUCING) for node in _values_in(test)
        )

    def _calls(self, node: ast.Call, names: frozenset[str]) -> bool:
        """Whether it is a function of MindSpore by one of these names, of a tensor."""
        function = source.value_of(self.scope, node.func)
        if function is not None:
            return FUNCTIONS.get(id(function)) in names and any(map(self.sure, node.args))
        return (
            isinstance(node.func, ast.Attribute)
            and node.func.attr in names
            and self.sure(node.func.value)
        )


def _values_in(node: ast.AST) -> Iterator[ast.AST]:
    """What it is made of, without tensors that are asked for what is known of them beforehand."""
    match node:
        case ast.Attribute(attr="shape" | "ndim" | "dtype" | "size"):
            return
        case ast.Call(func=ast.Name(id="isinstance" | "len")):
            return
    yield node
    for each in ast.iter_child_nodes(node):
        yield from _values_in(each)

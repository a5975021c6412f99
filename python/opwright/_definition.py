# SPDX-License-Identifier: Apache-2.0
"""The lowered metadef as Python data, and its shape rules on sizes that may be symbols."""

from __future__ import annotations

import operator
from dataclasses import dataclass

from opwright import _core, _errors

REQUIRED, OPTIONAL, DYNAMIC = (
    _core.param_kinds[name] for name in ("required", "optional", "dynamic")
)
SAME, BROADCAST, KERNEL, FORWARD = (
    _core.shape_rules[name] for name in ("same", "broadcast", "kernel", "forward")
)
ROLE_INPUT, ROLE_GRAD = (_core.roles[name] for name in ("input", "grad"))
# Of the stack program: the name of an operation by its number.
_OPERATIONS = {number: name for name, number in _core.shape_opcodes.items()}


@dataclass(frozen=True)
class Param:
    """An input or output. dims: numbers, -1 for unknown, names of symbols."""

    name: str
    kind: int
    dims: tuple[int | str, ...]
    leading_any: bool
    dtypes: tuple[str, ...]


@dataclass(frozen=True)
class Attr:
    name: str
    type: int
    required: bool
    default: object


@dataclass(frozen=True)
class ShapeRule:
    kind: int
    args: tuple[int, ...]
    code: tuple[int, ...]
    leading_any: bool
    text: str


@dataclass(frozen=True)
class Gradient:
    """inputs: (role, index) for each input of the backward operator; outputs: whose gradient."""

    op: str
    inputs: tuple[tuple[int, int], ...]
    outputs: tuple[int, ...]


@dataclass(frozen=True)
class Definition:
    name: str
    namespace: str
    inputs: tuple[Param, ...]
    outputs: tuple[Param, ...]
    attrs: tuple[Attr, ...]
    shape_rules: tuple[ShapeRule, ...]
    symbols: tuple[str, ...]
    mutates: tuple[int, ...]
    side_effect: bool
    gradient: Gradient | None

    @staticmethod
    def of(core: _core.Operator) -> Definition:
        raw = _core.definition(core)
        gradient = raw["gradient"]
        return Definition(
            name=raw["name"],
            namespace=raw["namespace"],
            inputs=tuple(_param(item) for item in raw["inputs"]),
            outputs=tuple(_param(item) for item in raw["outputs"]),
            attrs=tuple(Attr(**item) for item in raw["attrs"]),
            shape_rules=tuple(
                ShapeRule(
                    item["kind"],
                    tuple(item["args"]),
                    tuple(item["code"]),
                    item["leading_any"],
                    item["text"],
                )
                for item in raw["shape_rules"]
            ),
            symbols=tuple(raw["symbols"]),
            mutates=tuple(raw["mutates"]),
            side_effect=raw["side_effect"],
            gradient=None
            if gradient is None
            else Gradient(gradient["op"], tuple(gradient["inputs"]), tuple(gradient["outputs"])),
        )

    def broadcasts(self, index: int) -> bool:
        """Whether a broadcast(...) rule names the input."""
        return any(rule.kind == BROADCAST and index in rule.args for rule in self.shape_rules)


def _param(item: dict) -> Param:
    return Param(
        item["name"], item["kind"], tuple(item["dims"]), item["leading_any"], tuple(item["dtypes"])
    )


class ShapeProgram:
    """The shape rules of one call on sizes that may be symbolic.

    shapes: for each input a list of shapes (empty: absent). `maximum`, `minimum` and `broadcast`
    are the framework's own functions on its symbols.
    """

    def __init__(
        self, definition: Definition, shapes, attrs: dict, *, maximum=max, minimum=min, broadcast
    ):
        self._definition = definition
        self._shapes = shapes
        self._attrs = attrs
        self._maximum = maximum
        self._minimum = minimum
        self._broadcast = broadcast
        self._symbols: dict[str, object] = {}
        self._leading = None
        for param, given in zip(definition.inputs, shapes, strict=True):
            for shape in given:
                self._bind(param, shape)

    def _fail(self, code: str, text: str):
        raise _errors.make(code, f"{self._definition.name}: {text}")

    def _bind(self, param: Param, shape) -> None:
        lead = len(shape) - len(param.dims)
        if lead < 0 or (lead > 0 and not param.leading_any):
            self._fail(
                "CL004",
                f"input {param.name} has shape {list(shape)}: rank {len(param.dims)} expected, "
                f"got {len(shape)}",
            )
        for wanted, got in zip(param.dims, shape[lead:], strict=True):
            if isinstance(wanted, str):
                bound = self._symbols.setdefault(wanted, got)
            elif wanted >= 0:
                bound = wanted
            else:
                continue
            if bound != got:
                self._fail(
                    "CL004",
                    f"input {param.name} has shape {list(shape)}: {wanted} is {bound}, got {got}",
                )
        if param.leading_any and param.dims and self._leading is None:
            self._leading = tuple(shape[:lead])

    def output(self, index: int, item: int = 0, passed=None) -> tuple:
        """The shape of one tensor of an output. passed: what only a gradient call knows."""
        rule = self._definition.shape_rules[index]
        if rule.kind == FORWARD and not rule.args:
            if passed is None:
                self._fail(
                    "CL005", f"the shape of {self._definition.outputs[index].name} is not known"
                )
            return tuple(passed)
        if rule.kind in (SAME, FORWARD):
            return self._same(rule, item)
        if rule.kind == BROADCAST:
            shapes = [tuple(shape) for arg in rule.args for shape in self._shapes[arg]]
            return tuple(self._broadcast(*shapes))
        return self._dims(rule)

    def _same(self, rule: ShapeRule, item: int) -> tuple:
        found = None
        for arg in rule.args:
            given = self._shapes[arg]
            if not given:
                continue
            dynamic = self._definition.inputs[arg].kind == DYNAMIC
            shape = tuple(given[item if dynamic else 0])
            if found is None:
                found = shape
            elif len(found) != len(shape) or any(a != b for a, b in zip(found, shape, strict=True)):
                self._fail(
                    "CL005", f"{rule.text}: shapes {list(found)} and {list(shape)} must be equal"
                )
        if found is None:
            self._fail("CL005", f"{rule.text}: none of its inputs was given")
        return found

    def _dims(self, rule: ShapeRule) -> tuple:
        stack: list = []
        code = iter(rule.code)
        binary = {
            "add": operator.add,
            "sub": operator.sub,
            "mul": operator.mul,
            "floor_div": operator.floordiv,
            "mod": operator.mod,
            "min": self._minimum,
            "max": self._maximum,
            "ceil_div": lambda a, b: -(-a // b),
        }
        for number in code:
            name = _OPERATIONS[number]
            if name == "push":
                stack.append(next(code))
            elif name == "symbol":
                stack.append(self._symbols[self._definition.symbols[next(code)]])
            elif name == "attr":
                stack.append(self._attrs[self._definition.attrs[next(code)].name])
            elif name == "dim":
                shape = self._shapes[next(code)][0]
                stack.append(shape[next(code)])
            elif name == "rank":
                stack.append(len(self._shapes[next(code)][0]))
            elif name == "neg":
                stack.append(-stack.pop())
            else:
                right = stack.pop()
                stack.append(binary[name](stack.pop(), right))
        for k, dim in enumerate(stack):
            if isinstance(dim, int) and dim < 0:
                self._fail("CL005", f"{rule.text}: dimension {k} would be {dim}")
        lead = self._leading if rule.leading_any else ()
        return (*(lead or ()), *stack)

# SPDX-License-Identifier: Apache-2.0
"""The lowered metadef as Python data: indices and programs instead of names and text."""

from __future__ import annotations

from dataclasses import dataclass

from opwright import _core

REQUIRED, OPTIONAL, DYNAMIC = (
    _core.param_kinds[name] for name in ("required", "optional", "dynamic")
)
SAME, BROADCAST, KERNEL, FORWARD = (
    _core.shape_rules[name] for name in ("same", "broadcast", "kernel", "forward")
)
ROLE_INPUT, ROLE_OUTPUT, ROLE_GRAD = (_core.roles[name] for name in ("input", "output", "grad"))


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

    @property
    def of_caller(self) -> bool:
        """Whether only a gradient call knows the output's shape, that of a forward input."""
        return self.kind == FORWARD and not self.args


@dataclass(frozen=True)
class Gradient:
    """inputs: (role, index) for each input of the backward operator; outputs: whose gradient."""

    op: str
    inputs: tuple[tuple[int, int], ...]
    outputs: tuple[int, ...]

    def taken(self, role: int) -> list[int]:
        """Which inputs, outputs or gradients of outputs the backward operator takes."""
        return sorted({index for each, index in self.inputs if each == role})


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

    def wide_output(self, index: int) -> int | None:
        """The output whose broadcast(...) rule names the input, if any."""
        for k, rule in enumerate(self.shape_rules):
            if rule.kind == BROADCAST and index in rule.args:
                return k
        return None


def _param(item: dict) -> Param:
    return Param(
        item["name"], item["kind"], tuple(item["dims"]), item["leading_any"], tuple(item["dtypes"])
    )

# SPDX-License-Identifier: Apache-2.0
"""The shape rules of a lowered metadef on sizes that may be symbols."""

from __future__ import annotations

import operator

from opwright import _core, _errors
from opwright._definition import BROADCAST, DYNAMIC, FORWARD, SAME, Definition, Param, ShapeRule

# Of the stack program: the name of an operation by its number.
_OPERATIONS = {number: name for name, number in _core.shape_opcodes.items()}
_INT64 = range(-(2**63), 2**63)
_MAX_RANK = _core.max_rank


def _is_number(size) -> bool:
    """Whether a size has a value: a framework's symbol is checked when the graph runs."""
    return type(size) is int


def _pattern(param: Param) -> str:
    """["...", "n", -1] as the metadef has it."""
    if param.leading_any and not param.dims:
        return "[-2]"
    dims = ['"..."'] if param.leading_any else []
    dims += [f'"{dim}"' if isinstance(dim, str) else str(dim) for dim in param.dims]
    return f"[{', '.join(dims)}]"


def _text(shape) -> str:
    return f"[{', '.join(str(size) for size in shape)}]"


class ShapeProgram:
    """The shape rules of one call on sizes that may be symbolic: src/runtime/shape.cc again, with
    the same answers and the same words for numbers.

    shapes: for each input a list of shapes (empty: absent). `maximum`, `minimum` and `broadcast`
    are the framework's own functions on its symbols. Wrong shapes raise CL004, CL005
    and CL022.
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
        self._leading_has_dims = False
        for param, given in zip(definition.inputs, shapes, strict=True):
            for shape in given:
                self._bind(param, shape)

    def _bind(self, param: Param, shape) -> None:
        lead = len(shape) - len(param.dims)
        if lead < 0 or (lead > 0 and not param.leading_any):
            least = "at least " if param.leading_any else ""
            vector = param.dims == (-1,) and not param.leading_any
            self._refuse(
                param,
                shape,
                f"rank {least}{len(param.dims)} expected, got {len(shape)}"
                + ("; [-1] is rank 1, write [-2] for any rank" if vector else ""),
            )
        for k, (wanted, got) in enumerate(zip(param.dims, shape[lead:], strict=True)):
            if isinstance(wanted, str):
                bound = self._symbols.setdefault(wanted, got)
            elif wanted >= 0:
                bound = wanted
            else:
                continue
            if bound != got:
                due = f" must be {wanted}"
                if isinstance(wanted, str):
                    binder = next(p.name for p in self._definition.inputs if wanted in p.dims)
                    due = f" is {wanted} = {bound} (from {binder})"
                self._refuse(param, shape, f"dimension {lead + k}{due}, got {got}")
        # The first "..." before dims; where there is none, the first input of any rank.
        is_better = not self._leading_has_dims and (param.dims or self._leading is None)
        if param.leading_any and is_better:
            self._leading = tuple(shape[:lead])
            self._leading_has_dims = bool(param.dims)

    def _refuse(self, param: Param, shape, why: str):
        raise _errors.make(
            "CL004",
            f"{self._definition.name}: input {param.name} has shape {_text(shape)}, "
            f"the metadef says {_pattern(param)}: {why}",
        )

    def _refuse_empty(self, inputs) -> None:
        """CL001 for the first of these inputs that is a list without tensors."""
        for i in inputs:
            if self._definition.inputs[i].kind == DYNAMIC and not self._shapes[i]:
                raise _errors.make(
                    "CL001",
                    f"{self._definition.name}: the list {self._definition.inputs[i].name} is "
                    "empty, one tensor or more are due",
                )

    def output(self, index: int, item: int = 0, passed=None) -> tuple:
        """The shape of one tensor of an output. passed: what only a gradient call knows."""
        shape = self._by_rule(index, item, passed)
        param, rule = self._definition.outputs[index], self._definition.shape_rules[index]
        if not self.take_output(index, shape):
            vector = param.dims == (-1,) and not param.leading_any
            raise _errors.make(
                "CL022",
                f"{self._definition.name}: the shape of output {param.name} by {rule.text} is "
                f"{_text(shape)}, its shape list says {_pattern(param)}"
                + ("; [-1] is rank 1, write [-2] for any rank" if vector else ""),
            )
        return shape

    def take_output(self, index: int, shape) -> bool:
        """Whether an output's shape is what its list says; binds what the list names."""
        param = self._definition.outputs[index]
        lead = len(shape) - len(param.dims)
        if lead < 0 or (lead > 0 and not param.leading_any):
            return False
        for wanted, got in zip(param.dims, shape[lead:], strict=True):
            due = self._symbols.setdefault(wanted, got) if isinstance(wanted, str) else wanted
            if due != -1 and _is_number(due) and _is_number(got) and due != got:
                return False
        return True

    def _by_rule(self, index: int, item: int, passed) -> tuple:
        definition = self._definition
        rule = definition.shape_rules[index]

        def fail(why: str):
            raise _errors.make(
                "CL005",
                f"{definition.name}: the shape of output {definition.outputs[index].name} "
                f"by {rule.text}: {why}",
            )

        if rule.of_caller:
            if passed is None:
                fail("it is that of the forward input, which only a gradient call knows; pass out=")
            return tuple(passed)
        if rule.kind in (SAME, FORWARD):
            of_list = definition.outputs[index].kind == DYNAMIC
            return self._same(rule, item if of_list else None, fail)
        shape = (
            self._broadcast_shape(rule, fail) if rule.kind == BROADCAST else self._dims(rule, fail)
        )
        size = 16
        for dim in shape:
            size *= dim if _is_number(dim) and dim > 1 else 1
            if size not in _INT64:
                fail(f"no memory holds the shape {_text(shape)}")
        return shape

    def _same(self, rule: ShapeRule, item: int | None, fail) -> tuple:
        """item: of each list; None for an output that is no list, which is like all of them."""
        found, found_name = None, ""
        for arg in rule.args:
            given, param = self._shapes[arg], self._definition.inputs[arg]
            if not given:
                continue
            if item is not None and param.kind == DYNAMIC:
                if item >= len(given):
                    fail(f"input {param.name} has {len(given)} tensors only")
                given = [given[item]]
            for shape in map(tuple, given):
                if found is None:
                    found, found_name = shape, param.name
                elif len(found) != len(shape) or any(
                    a != b for a, b in zip(found, shape, strict=True)
                ):
                    fail(
                        f"inputs {found_name} {_text(found)} and {param.name} {_text(shape)} must "
                        "have equal shapes; if the kernel takes others, say which in the metadef: "
                        'a name for each dimension, or "broadcast(...)", which expands them for it'
                    )
        if found is None:
            self._refuse_empty(rule.args)
            fail("none of its inputs was given")
        return found

    def _broadcast_shape(self, rule: ShapeRule, fail) -> tuple:
        named = [
            (self._definition.inputs[arg].name, tuple(shape))
            for arg in rule.args
            for shape in self._shapes[arg]
        ]
        if not named:
            self._refuse_empty(rule.args)
            fail("none of its inputs was given")
        if not all(_is_number(size) for _, shape in named for size in shape):
            return tuple(self._broadcast(*[shape for _, shape in named]))
        made = named[0][1]
        for name, shape in named[1:]:
            rank = max(len(made), len(shape))
            wide = [(1,) * (rank - len(s)) + s for s in (made, shape)]
            if any(a != b and a != 1 and b != 1 for a, b in zip(*wide, strict=True)):
                fail(f"shape {_text(shape)} of {name} does not broadcast with {_text(made)}")
            made = tuple(b if a == 1 else a for a, b in zip(*wide, strict=True))
        return made

    def _operand(self, opcode: str, code, fail):
        """What one of the operations that only push puts on the stack."""
        definition = self._definition
        number = next(code)
        if opcode == "push":
            return number
        if opcode == "symbol":
            name = definition.symbols[number]
            if name not in self._symbols:
                self._refuse_empty([i for i, p in enumerate(definition.inputs) if name in p.dims])
                fail(f"{name} is not known: the input that has it is absent")
            return self._symbols[name]
        if opcode == "attr":
            return self._attrs[definition.attrs[number].name]
        name = definition.inputs[number].name
        if not self._shapes[number]:
            fail(f"input {name} is absent")
        shape = self._shapes[number][0]
        if opcode == "rank":
            return len(shape)
        axis = next(code)
        if not -len(shape) <= axis < len(shape):
            fail(f"{name}.dim({axis}) of shape {_text(shape)}")
        return shape[axis]

    def _combine(self, opcode: str, a, b, fail):
        numbers = _is_number(a) and _is_number(b)
        dividing = opcode in ("floor_div", "mod", "ceil_div")
        if dividing and _is_number(b) and (b == 0 or (numbers and a == -(2**63) and b == -1)):
            fail(f"division of {a} by {b}")
        made = {
            "add": operator.add,
            "sub": operator.sub,
            "mul": operator.mul,
            "floor_div": operator.floordiv,
            "mod": operator.mod,
            "min": self._minimum,
            "max": self._maximum,
            "ceil_div": lambda a, b: -(-a // b),
        }[opcode](a, b)
        if numbers and made not in _INT64:
            fail(f"overflow with {a} and {b}")
        return made

    def _dims(self, rule: ShapeRule, fail) -> tuple:
        stack: list = []
        code = iter(rule.code)
        for number in code:
            opcode = _OPERATIONS[number]
            if opcode in ("push", "symbol", "attr", "dim", "rank"):
                stack.append(self._operand(opcode, code, fail))
            elif opcode == "neg":
                if _is_number(stack[-1]) and stack[-1] == -(2**63):
                    fail(f"overflow with {stack[-1]}")
                stack.append(-stack.pop())
            else:
                right = stack.pop()
                stack.append(self._combine(opcode, stack.pop(), right, fail))
        for k, dim in enumerate(stack):
            if _is_number(dim) and dim < 0:
                fail(f"dimension {k} would be {dim}")
        rank = len(stack) + (len(self._leading or ()) if rule.leading_any else 0)
        if rank > _MAX_RANK:
            fail(f"it would have {rank} dimensions, at most {_MAX_RANK} are supported")
        if not rule.leading_any:
            return tuple(stack)
        if self._leading is None:
            self._refuse_empty([i for i, p in enumerate(self._definition.inputs) if p.leading_any])
            fail('"..." stands for nothing: no input given has it')
        return (*self._leading, *stack)

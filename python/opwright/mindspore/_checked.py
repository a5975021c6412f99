# SPDX-License-Identifier: Apache-2.0
"""An operator as one primitive of MindSpore, for PyNative mode or for one place of one graph,
checked before MindSpore sees it."""

from __future__ import annotations

from typing import NamedTuple

from mindspore import ops

from opwright import _core, _errors
from opwright.mindspore import (
    _abstract,
    _at_exit,
    _bridge,
    _declared,
    _gradient,
    _inputs,
    _recording,
    _target,
    _wrap,
)
from opwright.mindspore._attributes import MINDSPORES_OWN, from_reg_info, named, plain
from opwright.mindspore._dtypes import tensor_type_of
from opwright.mindspore._foreign import Foreign, Nothing


class Arguments(NamedTuple):
    """Of Checked."""

    func: object
    out_shape: object = None
    out_dtype: object = None
    func_type: str = "pyfunc"
    bprop: object = None
    reg_info: dict | None = None


class Checked(ops.Custom):
    """mindspore.ops.Custom with verdicts of our own. `Custom` says what the arguments are."""

    _operator = None
    _foreign = None
    _own_attrs = None  # those that were added after construction

    def __init__(
        self, func, out_shape=None, out_dtype=None, func_type="pyfunc", bprop=None, reg_info=None
    ):
        target = _target.find(func, func_type)
        self._opwright_name = target.name
        self._declared = (out_shape, out_dtype)
        # What was found: a copy is of that, whatever has come under the name since.
        func = target.operator if target.operator is not None else target.func
        self._arguments = Arguments(func, out_shape, out_dtype, func_type, bprop, reg_info)
        self._gradient = None
        _declared.check_constants(target.name, out_shape, out_dtype)
        if target.operator is not None:
            self._init_ours(target.operator, reg_info)
        else:
            self._init_foreign(target, bprop, reg_info)
        self._own_attrs = {}
        _at_exit.watch()

    def _init_ours(self, operator, reg_info) -> None:
        definition = operator.definition
        _inputs.refuse_written(definition)
        self._attrs = from_reg_info(definition, reg_info)
        super().__init__(f"{_bridge.LIBRARY}:opwright_call", _bridge.never, _bridge.never, "aot")
        self._operator = operator
        self._bound = None
        self._settle_rule()
        self._inferred = {}
        _bridge.point_at(self, operator._core.token, len(definition.outputs) > 1)
        if definition.side_effect:  # compiled graphs drop no such call and merge no two
            super().add_prim_attr("side_effect_io", True)
        for name, value in self._attrs.items():
            self._pass_attr(name, value)

    def _init_foreign(self, target, bprop, reg_info) -> None:
        out_shape, out_dtype = self._declared
        self._foreign = Foreign(target, out_shape, out_dtype, bprop, reg_info)
        self._gradient = self._foreign.gradient
        super().__init__(self._foreign.func, out_shape, out_dtype, target.func_type, None, reg_info)
        _bridge.mark_unique(self)

    def __call__(self, *inputs):
        return super().__call__(*_recording.inputs_of(inputs))

    def add_prim_attr(self, name, value):
        """An attribute of the operator, or one of MindSpore's own."""
        if self._own_attrs is None:  # MindSpore makes the primitive
            return super().add_prim_attr(name, value)
        if self._operator is None or self._is_mindspores(name):
            if not _has(self._own_attrs, name, value):
                self._own_attrs[name] = value
                super().add_prim_attr(name, value)
                self._attr_changed()
            return self
        attr = named(self._operator.definition, name)
        value = plain(self._opwright_name, attr, value)
        self._own_attrs[name] = value  # no number of numpy, whose text is that of another number
        if not _has(self._attrs, name, value):
            self._attrs[name] = value
            self._pass_attr(name, value)
            self._attr_changed()
        return self

    def del_prim_attr(self, name):
        """One of MindSpore's own goes; one of the operator has its default again."""
        if self._operator is None or self._is_mindspores(name):
            super().del_prim_attr(name)
            self._own_attrs.pop(name, None)
            self._attr_changed()
            return self
        attr = named(self._operator.definition, name)
        return self.add_prim_attr(name, attr.default)

    def _is_mindspores(self, name: str) -> bool:
        """An operator may have attributes by these names too."""
        own = (attr.name for attr in self._operator.definition.attrs)
        return name in MINDSPORES_OWN and name not in own

    def _attr_changed(self) -> None:
        """What was known by the attributes is no more."""
        if self._operator is not None:
            self._inferred.clear()
            self._gradient = None

    def _pass_attr(self, name: str, value) -> None:
        kind = next(a.type for a in self._operator.definition.attrs if a.name == name)
        super().add_prim_attr(f"opwright.{name}", _bridge.encode(kind, value))

    def _settle_rule(self) -> None:
        """The rule that is bound now, whose faults are told at once."""
        bound = (self._operator._core.backward_key, self._operator.python_bprop)
        if self._bound != bound:
            of_one = _declared.may_be_tuple_of_one(self._declared)
            self._rule = _gradient.rule_of(self._operator, self._arguments.bprop, of_one)
            self._bound = bound
            self._gradient = None

    def get_bprop(self):
        """Derived when MindSpore asks for it: by then all attributes have come."""
        if self._operator is not None:
            self._settle_rule()
            if self._gradient is None:
                self._gradient = self._derive()
        return self._gradient

    def _derive(self):
        definition = self._operator.definition
        made = _gradient.of_operator(self._operator, self._rule, self._attrs)
        may_be_of_one = len(definition.outputs) == 1 and _declared.may_be_tuple_of_one(
            self._declared
        )
        # A rule that is given with tuples of one takes them, as MindSpore hands them over.
        if may_be_of_one and self._arguments.bprop is None:
            return _wrap.of_one(made, len(definition.inputs))
        return made

    def check_lists(self, inputs) -> None:
        """In PyNative mode, which reads a list before it infers."""
        for param, value in zip(self._operator.definition.inputs, inputs, strict=True):
            if isinstance(value, (list, tuple)):
                _inputs.check_list(self._opwright_name, param, _abstract.of_value(value))

    def check_count(self, count: int) -> None:
        if self._operator is not None:
            _inputs.check_count(self._operator.definition, count)
        else:
            self._foreign.check_count(count)

    def __infer__(self, *arguments):
        if self._operator is None:
            return self._infer_foreign(arguments)
        self.check_count(len(arguments))
        return _bridge.infer_once(self._inferred, arguments, self._infer_ours)

    def _infer_foreign(self, arguments):
        settled = self._foreign.settled_before(arguments)
        if settled is not None:
            return _bridge.inferred_of(*settled)
        given = list(map(_abstract.of_infer, arguments))
        self._foreign.check(given)
        if self._gradient is None:
            self._gradient = _gradient.refusal(self._opwright_name, len(arguments))
        settled = self._foreign.settle(arguments, given)
        return super().__infer__(*arguments) if settled is None else _bridge.inferred_of(*settled)

    def primitive_for(self, arguments):
        """One of its own for these arguments of __infer__."""
        made = self.copied(Checked)
        foreign = self._foreign
        if foreign is None:
            return made
        given = list(map(_abstract.of_infer, arguments))
        foreign.check(given)
        if not foreign.is_python:
            return made
        made._foreign.take(given)
        super(Checked, made).add_prim_attr("inputs_num", len(given))
        return Nothing(made) if foreign.is_nothing(arguments, given) else made

    def _infer_ours(self, arguments):
        operator = self._operator
        definition = operator.definition
        given = list(map(_abstract.of_infer, arguments))
        of_one = _declared.is_tuple_of_one(self._opwright_name, self._declared, arguments)
        _inputs.check(definition, given)
        tensors = [each for arg in given for each in (arg.items or (arg,))]
        if all(_abstract.is_known(each.shape) for each in tensors):
            specs = _core.infer_specs(operator._core, list(map(_specs, given)), self._attrs)
            shapes = tuple(list(shape) for shape, _ in specs)
            names = [dtype for _, dtype in specs]
        else:
            shapes = self._partial_shapes(given)
            if of_one:  # of which MindSpore's process dies
                raise _errors.make(
                    "CL004",
                    f"{self._opwright_name}: a shape is unknown until run time, where MindSpore "
                    "makes no tuple of one; declare the bare shape and dtype, or leave out_shape "
                    "and out_dtype out",
                )
            column = _core.select_column(
                operator._core, [_abstract.dtype_names(each) for each in given]
            )
            names = [param.dtypes[column] for param in definition.outputs]
        dtypes = tuple(tensor_type_of(name) for name in names)
        _declared.compare(self._opwright_name, self._declared, arguments, shapes, dtypes)
        return _bridge.inferred_of(shapes, dtypes, of_one)

    def _partial_shapes(self, given) -> tuple[list[int], ...]:
        """While dimensions are unknown. When the graph runs, MindSpore asks our library for
        them."""
        operator = self._operator
        if any(each.kind != "tensor" for each in given):
            raise _errors.make(
                "CL004",
                f"{operator.name}: a shape is unknown until run time; beside it MindSpore takes "
                "tensors only: no absent input, no list, no number",
            )
        super().add_prim_attr(_bridge.PARTIAL, True)
        shapes = [list(each.shape) for each in given]
        return tuple(_core.infer_partial_shapes(operator._core, shapes, self._attrs))

    def hold(self, operator) -> None:
        """The same operator by a handle that is open: the one before may have been closed."""
        if self._operator is not operator:
            self._operator = operator
            self._arguments = self._arguments._replace(func=operator)

    def copied(self, kind):
        """One of its own, a `kind` of primitive."""
        return made(kind, self._arguments, self._own_attrs)


def _has(attrs: dict, name: str, value) -> bool:
    """True, 1 and 1.0 are three values."""
    return name in attrs and repr(attrs[name]) == repr(value)


def made(kind, arguments: Arguments, attrs: dict):
    """A primitive with attributes as add_prim_attr takes them."""
    primitive = kind(*arguments)
    for name, value in attrs.items():
        primitive.add_prim_attr(name, value)
    return primitive


def _specs(given) -> list[tuple]:
    """(shape, dtype) of each tensor of one input."""
    if given.kind == "none":
        return []
    names = _abstract.dtype_names(given)
    return [(each.shape, name) for each, name in zip(given.items or (given,), names, strict=True)]

# SPDX-License-Identifier: Apache-2.0
"""opwright.mindspore.Custom: mindspore.ops.Custom that is checked before MindSpore sees it."""

from __future__ import annotations

import mindspore as ms

from opwright import _errors
from opwright.mindspore import _abstract, _eager, _graphs, _mixed
from opwright.mindspore._checked import Checked, made
from opwright.mindspore._foreign import zero_dim
from opwright.mindspore._verdict import Constant

_TENSORS = (ms.Tensor, ms.Parameter)


class Custom(Checked):
    """An operator in MindSpore, in PyNative mode, ms.jit and graph mode alike.

    func: "lib.so:function" or an operator library or folder (func_type "aot"; without ":function"
    the library's one forward operator), a Python function on numpy arrays ("pyfunc"), the name of a
    registered operator ("customize"), or an `Operator`.
    out_shape, out_dtype: a shape, a dtype, tuples of them for several outputs, or functions of the
    inputs' shapes and dtypes. An operator of ours needs neither: its metadef says them, and what is
    given must agree. One output that both declare by tuples of one, ([8],) and (float32,), comes as
    a tuple of one, as do out and dout to the bprop that is given here: so does MindSpore. Lists of
    one, [[8]] and [float32], mean the bare tensor.
    bprop: (inputs..., out, dout) -> a tuple with one gradient for each input; without one, an
    operator of ours takes its backward operator. reg_info: attributes, as CustomRegOp makes them.
    out_dshape is another name for out_shape.
    """

    # To MindSpore's compiler this is no primitive but an object with a method: each place where a
    # graph uses it has a primitive of its own. MindSpore keeps in one what it finds out of shapes.
    __ms_class__ = True
    __parse_method__ = "_construct"

    def __init__(
        self,
        func,
        out_shape=None,
        out_dtype=None,
        func_type: str = "pyfunc",
        bprop=None,
        reg_info=None,
        *,
        out_dshape=None,
    ):
        if out_dshape is not None:
            if out_shape is not None:
                raise _errors.make(
                    "CL020", "out_shape and out_dshape are two names for one argument; give one"
                )
            out_shape = out_dshape
        super().__init__(func, out_shape, out_dtype, func_type, bprop, reg_info)
        self.place = _Place(self)
        self.mark = object()  # in _graphs
        self.__name__ = self._opwright_name
        self._primitives: dict = {}  # of a Python function
        self._eager = None  # what PyNative mode runs now of one of our operators

    def _construct(self, *inputs, **named):
        """Read by MindSpore's compiler."""
        return self.place(tuple(named.keys()), *inputs)(*inputs)

    __code__ = _construct.__code__  # ms.grad wants it of a function, as it wants the name

    def __call__(self, *inputs, **named):
        self.check_call(len(inputs), named)
        if self._foreign is None:
            return self._ours(inputs)(*inputs)
        if not self._foreign.is_python and all(type(each) in _TENSORS for each in inputs):
            return super().__call__(*inputs)  # __infer__ checks the same
        given = list(map(_abstract.of_value, inputs))
        self._foreign.check(given)
        if not self._foreign.is_python:
            return super().__call__(*inputs)
        return self._python_primitive(given)(*inputs)

    def _ours(self, inputs):
        """A primitive whose attributes stay, as calls that are recorded want it."""
        bound = _eager.rule_key(self._operator)
        if self._eager is None or self._eager[0] != bound:
            made = _eager.primitive_of(self._operator, self._arguments, self._own_attrs)
            self._eager = bound, made
        primitive = self._eager[1]
        primitive.check_lists(inputs)
        return primitive

    def _python_primitive(self, given):
        """In PyNative mode: one for the calls that differ in the inputs' values and shapes only."""
        arguments = list(map(_abstract.as_infer, given))
        nothing = self._foreign.is_nothing(arguments, given)
        kind = len(given), nothing, *zero_dim(given).items()
        if kind not in self._primitives:
            self._primitives[kind] = self.primitive_for(arguments)
        return self._primitives[kind]

    def check_call(self, count: int, named) -> None:
        self.check_count(count + len(named))
        if named:
            raise _errors.make(
                "CL001", f"{self._opwright_name}: inputs are given by position, not by name"
            )

    def _attr_changed(self) -> None:
        super()._attr_changed()
        self._primitives.clear()
        self._eager = None
        _graphs.forget(self.mark)

    def __deepcopy__(self, memo):
        """One of its own, as a copied model wants it. MindSpore's own copy fails."""
        return self.copied(Custom)

    def __copy__(self):
        return self.copied(Custom)

    def __reduce__(self):
        return made, (Custom, self._arguments, self._own_attrs)


# Of op.__call__ MindSpore's compiler reads this.
Custom.__call__.__wrapped__ = Custom._construct


class _Place(Constant):
    """(names of inputs given by name, *inputs) -> the primitive of one place of a graph."""

    def __init__(self, custom: Custom):
        super().__init__("opwright: an operator at one place of a graph")
        self._custom = custom

    def __infer__(self, named, *inputs):
        self._custom.check_call(len(inputs), named["value"])
        _graphs.meet(self._custom.mark, self._custom._operator)
        made = self._custom.primitive_for(inputs)
        if self._custom._operator is not None:
            made = _mixed.casting(self._custom._operator, made, inputs)
        return {"dtype": None, "shape": None, "value": made}

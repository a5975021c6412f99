# SPDX-License-Identifier: Apache-2.0
"""An operator as a torch.nn.Module."""

from __future__ import annotations

import torch

from opwright import _arguments, _core, _errors
from opwright._dtypes import name_of
from opwright._operator import Operator
from opwright.torch._call import FRAMEWORK


class Module(torch.nn.Module):
    """Calls an operator; attributes given here are passed with each call. They lie in `attributes`,
    a dict, and may be given to forward by keyword too. An attribute `training`, a bool or an int,
    follows train() and eval() unless it lies there.

    `parameters` are the operator's inputs that the module owns, by name: tensors become trainable
    parameters. The rest are the arguments of forward, in metadef order or by name.
    """

    def __init__(self, operator: Operator, parameters: dict | None = None, **attributes):
        super().__init__()
        if not isinstance(operator, Operator):
            raise _errors.make(
                "CL013",
                f"opwright.torch.Module takes an operator, as opwright.load(...).NAME gives, "
                f"{type(operator).__name__} was given",
            )
        for name, value in attributes.items():
            attr = _arguments.attribute(FRAMEWORK, operator.definition, name)
            attributes[name] = _arguments.plain(FRAMEWORK, operator.name, attr, value)
        if not isinstance(parameters, dict | None):
            names = ", ".join(f"{param.name!r}: ..." for param in operator.definition.inputs)
            raise _errors.make(
                "CL013",
                f"{operator.name}: parameters are a dict of names and tensors, "
                f"{type(parameters).__name__} was given; write {{{names}}}, of these the ones "
                "that the module owns",
            )
        self.attributes = attributes
        self.operator = operator
        self._inputs = tuple(param.name for param in operator.definition.inputs)
        for name, value in (parameters or {}).items():
            if name not in self._inputs:
                near = _core.nearest(name, list(self._inputs))
                hint = f"; did you mean {near}?" if near else ""
                raise _errors.make(
                    "CL006",
                    f"{operator.name} has no input {name}; it has {', '.join(self._inputs)}{hint}",
                )
            if not isinstance(value, torch.Tensor):
                raise _errors.make(
                    "CL013",
                    f"{operator.name}: parameter {name} is given {type(value).__name__}, "
                    "a tensor is due",
                )
            if hasattr(self, name):
                raise _errors.make(
                    "CL006",
                    f"{operator.name}: input {name} cannot be a parameter, {name} is an attribute "
                    "of every module; leave it to forward",
                )
            if not isinstance(value, torch.nn.Parameter):
                if not (value.is_floating_point() or value.is_complex()):
                    raise _errors.make(
                        "CL002",
                        f"{operator.name}: parameter {name} is {name_of(value.dtype)}, and "
                        "parameters are trained: floats are due; leave it to forward",
                    )
                value = torch.nn.Parameter(value)
            self.register_parameter(name, value)
        self._own = frozenset(parameters or ())
        self._left = tuple(name for name in self._inputs if name not in self._own)

    def __setattr__(self, name: str, value):
        # train() and eval() write the module's own `training`.
        operator = None if name == "training" else self.__dict__.get("operator")
        if operator is not None and any(name == attr.name for attr in operator.definition.attrs):
            raise _errors.make(
                "CL006",
                f"{operator.name}: {name} is an attribute of the operator; write "
                f"module.attributes[{name!r}] = {value!r}",
            )
        super().__setattr__(name, value)

    def forward(self, *inputs, **named):
        given = dict(zip(self._left, inputs, strict=False))
        for name in named:
            if name in self._own:
                text = f"{self.operator.name}: input {name} is a parameter of the module"
                _errors.refuse("CL001", text)
            if name in given:
                text = f"{self.operator.name}: input {name} is given twice"
                _errors.refuse("CL001", text)
        given.update(named)
        every = [
            getattr(self, name) if name in self._own else given.pop(name, None)
            for name in self._inputs
        ]
        every.extend(inputs[len(self._left) :])  # too many: the operator says so
        while every and every[-1] is None:
            every.pop()
        return self.operator(*every, **{**self._mode, **self.attributes, **given})

    @property
    def _mode(self) -> dict:
        """The mode as the operator's attribute, if it has one."""
        for attr in self.operator.definition.attrs:
            kind = _arguments.KINDS[attr.type].name
            if attr.name == "training" and kind in ("bool", "int"):
                return {"training": self.training if kind == "bool" else int(self.training)}
        return {}

    def extra_repr(self) -> str:
        return ", ".join([self.operator.name, *(f"{k}={v}" for k, v in self.attributes.items())])

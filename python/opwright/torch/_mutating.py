# SPDX-License-Identifier: Apache-2.0
"""Operators that write inputs: no gradient, and the versions of what they wrote are counted up."""

from __future__ import annotations

import torch

from opwright import _errors
from opwright._operator import Operator
from opwright.torch import _tensors
from opwright.torch._autograd import refuse_tangents
from opwright.torch._shape import as_lists


def register(op: Operator, overload) -> torch.library.Library:
    library = torch.library.Library(overload.namespace, "IMPL")
    definition = op.definition
    # As overload.redispatch, whose own arguments have names that attributes may have.
    redispatch = overload._handle.redispatch_boxed

    def autograd(keyset, /, *inputs, **kwargs):
        refuse_tangents(op, inputs)
        _tensors.refuse_unusable(definition, inputs)
        tensors = [t for given in as_lists(definition, inputs) for t in given]
        if torch.is_grad_enabled() and any(t.requires_grad for t in tensors):
            written = ", ".join(definition.inputs[i].name for i in definition.mutates)
            raise _errors.make(
                "GR008",
                f"{op.name} writes its input {written} and has no gradient; "
                "call it under torch.no_grad(), or on detached tensors",
            )
        with torch._C._AutoDispatchBelowAutograd():
            return redispatch(keyset & torch._C._after_autograd_keyset, *inputs, **kwargs)

    def inplace_or_view(keyset, /, *inputs, **kwargs):
        with torch._C._AutoDispatchBelowADInplaceOrView():
            below = keyset & torch._C._after_ADInplaceOrView_keyset
            result = redispatch(below, *inputs, **kwargs)
        given = as_lists(definition, inputs)
        for i in definition.mutates:
            for tensor in given[i]:
                torch.autograd.graph.increment_version(tensor)
        return result

    library.impl(overload._opname, autograd, "Autograd", with_keyset=True)
    library.impl(overload._opname, inplace_or_view, "ADInplaceOrView", with_keyset=True)
    return library

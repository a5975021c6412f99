# SPDX-License-Identifier: Apache-2.0
"""torch.vmap and batched gradients (is_grads_batched, jacobian with vectorize=True) over operators
that take or give lists: one call for each slice, the results stacked.

PyTorch does the same for the others, and has no such fallback for lists.
"""

from __future__ import annotations

import torch
from torch._functorch.autograd_function import custom_function_call_vmap_helper
from torch._functorch.pyfunctorch import retrieve_current_functorch_interpreter

from opwright._definition import DYNAMIC, Definition


def register(definition: Definition, overload) -> torch.library.Library | None:
    if not any(param.kind == DYNAMIC for param in (*definition.inputs, *definition.outputs)):
        return None
    library = torch.library.Library(overload.namespace, "IMPL")
    rule = _rule(overload)

    # As torch.library.register_vmap, whose own arguments have names that attributes may have.
    def batched(keyset, /, *inputs, **keywords):
        return custom_function_call_vmap_helper(
            retrieve_current_functorch_interpreter(),
            lambda info, in_dims, *inputs: rule(info.batch_size, in_dims, *inputs, **keywords),
            overload,
            *inputs,
        )

    library.impl(overload._opname, batched, "FuncTorchBatched", with_keyset=True)
    library.impl(overload._opname, _of_gradients(rule), "Batched")
    return library


def _of_gradients(rule):
    """Batched gradients are tensors of another kind than torch.vmap's, with levels of their own."""

    def batched(*inputs, **keywords):
        level = batch_level()

        def whole(value, _, size: int):
            return torch._remove_batch_dim(value, level, size, 0) if _is_batched(value) else value

        def dim_of(value, _):
            return 0 if _is_batched(value) else None

        def again(value, dim):
            return torch._add_batch_dim(value, dim, level)

        # Those of this level say the size; those of others only are expanded to it.
        sizes: list[int] = []

        def note_size(value, _):
            if _is_batched(value):
                sizes.append(whole(value, 0, 1).shape[0])

        _each(note_size, inputs, None)
        size = max(sizes)
        in_dims = _each(dim_of, inputs, None)
        made, dims = rule(size, in_dims, *_each(whole, inputs, None, size), **keywords)
        if isinstance(dims, tuple):
            return tuple(_each(again, made, dims))
        return _each(again, [made], [dims])[0]

    return batched


def batch_level() -> int:
    """The level of the batched gradients that are innermost; 0 where there are none."""
    level = torch._C._vmapmode_increment_nesting() - 1
    torch._C._vmapmode_decrement_nesting()
    return level


def whole_gradient(batched: torch.Tensor) -> torch.Tensor:
    """A view of what is behind a batched gradient."""
    return torch._remove_batch_dim(batched, batch_level(), 1, 0)


def _is_batched(value) -> bool:
    return isinstance(value, torch.Tensor) and torch._C._functorch.is_legacy_batchedtensor(value)


def _rule(overload):
    def rule(size: int, in_dims, /, *inputs, **keywords):
        def call(index: int, device=None):
            return overload(*_each(_slice, inputs, in_dims, index, device), **keywords)

        if size == 0:  # the shapes of one call, of which there are none
            made = _each(_none_of, _listed(call(0, "meta")), None)
        else:
            calls = [_listed(call(index)) for index in range(size)]
            made = [
                [torch.stack(items) for items in zip(*outputs, strict=True)]
                if isinstance(outputs[0], (list, tuple))
                else torch.stack(outputs)
                for outputs in zip(*calls, strict=True)
            ]
        dims = [[0] * len(out) if isinstance(out, list) else 0 for out in made]
        single = len(overload._schema.returns) == 1
        return (made[0], dims[0]) if single else (tuple(made), tuple(dims))

    return rule


def _listed(output) -> tuple:
    """The outputs of a call: a tuple is several, a list is one."""
    return output if isinstance(output, tuple) else (output,)


def _each(function, values, dims, *more) -> list:
    """function(value, dim, *more) of each tensor, in lists too."""
    out = []
    for k, value in enumerate(values):
        dim = None if dims is None else dims[k]
        if isinstance(value, (list, tuple)):
            out.append(_each(function, value, dim, *more))
        else:
            out.append(function(value, dim, *more))
    return out


def _slice(value, dim, index: int, device):
    if not isinstance(value, torch.Tensor):
        return value
    if device is not None:
        shape = [size for k, size in enumerate(value.shape) if k != dim]
        return value.new_empty(shape, device=device)
    return value if dim is None else value.select(dim, index)


def _none_of(value, dim):
    return torch.empty((0, *value.shape), dtype=value.dtype)

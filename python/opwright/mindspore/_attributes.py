# SPDX-License-Identifier: Apache-2.0
"""Attribute values as MindSpore's users give them."""

from __future__ import annotations

import mindspore as ms

from opwright import _arguments, _core, _errors

MINDSPORE = _arguments.Framework("mindspore", (ms.Tensor,), writes_out=False)


# What MindSpore sets on any primitive (Primitive's and Cell's methods, data dump), and what its
# compiler and its parallel code read of any.
MINDSPORES_OWN = frozenset(
    {
        "async", "backward_prefetch", "batch_rank", "cell_id", "cust_aicpu", "do_mirror", "dump",
        "forbid_reuse_result", "forward_end", "func_id", "fusion", "grad_scale", "group",
        "in_layout", "in_strategy", "index", "input_names", "is_cell_recompute", "keep_alive",
        "mean_flag", "micro_interleaved_add_flag", "ms_role", "no_eliminate", "not_delay_fusion",
        "offload", "optimizer_end", "order_enforce_skip", "out_layout", "out_strategy",
        "output_names", "parameter", "pipeline_end", "primitive_target", "rank_id", "recompute",
        "recompute_comm_op", "self_define_shard", "side_effect_backprop",
        "side_effect_backprop_mem", "side_effect_hidden", "side_effect_io", "side_effect_mem",
        "side_effect_propagate", "slice_activation", "snapshot", "split_op", "stage",
        "strategy_gen_mode", "target_param", "td_flag", "tft_report_before",
    }
)  # fmt: skip


def named(definition, name: str):
    """The attribute of this name; CL006 when there is none."""
    for attr in definition.attrs:
        if attr.name == name:
            return attr
    names = [attr.name for attr in definition.attrs]
    text = f"{definition.name}: no attribute is named {name}; "
    text += f"there {'is' if len(names) == 1 else 'are'} {', '.join(names) or 'none'}"
    near = _core.nearest(name, names) or _core.nearest(name, sorted(MINDSPORES_OWN))
    raise _errors.make("CL006", f"{text}; did you mean {near}?" if near else text)


def plain(op: str, attr, value):
    """A value of the attribute's type; CL006 when it is none."""
    return _arguments.plain(MINDSPORE, op, attr, value)


def known(definition, values: dict) -> dict:
    """Attributes by name, each of its type; CL006 for a name that is none."""
    return {
        name: plain(definition.name, _arguments.attribute(MINDSPORE, definition, name), value)
        for name, value in values.items()
    }


_SMALLEST = -(2**63)


def known_in_graph(definition, values: dict) -> dict:
    """The same where None is what MindSpore's compiler has for anything that is no constant."""
    for name, value in values.items():
        if value is None:
            raise _errors.make(
                "CL006",
                f"{definition.name}: attribute {name} is given None, or what is not known while "
                f"the graph is compiled; make {name} an input of shape [] in the metadef, or pass "
                "a constant",
            )
        if _has_smallest(value):
            raise _errors.make(
                "CL006",
                f"{definition.name}: attribute {name} is of 64 bits in the metadef, and given as "
                f"{_SMALLEST}, which MindSpore's compiler makes of a number beyond 64 bits; where "
                "it is meant, add_prim_attr of a Custom hands it over",
            )
    return known(definition, values)


def _has_smallest(value) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_has_smallest, value))
    return type(value) is int and value == _SMALLEST


def from_reg_info(definition, reg_info) -> dict:
    """The attributes of what CustomRegOp(...).get_op_info() returns."""
    if reg_info is None:
        return {}
    if not isinstance(reg_info, dict):
        raise _errors.make(
            "CL006",
            f"{definition.name}: reg_info is a {type(reg_info).__name__}; "
            "CustomRegOp(...).get_op_info() is due",
        )
    values = {
        item["name"]: item["value"]
        for item in reg_info.get("attr", [])
        if item.get("value") is not None and item["value"] != "all"
    }
    return {
        name: plain(definition.name, named(definition, name), value)
        for name, value in values.items()
    }

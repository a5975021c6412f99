# SPDX-License-Identifier: Apache-2.0
"""How the groups write their metadefs."""

HEADER = "#include <opwright/kernel.h>\n\nusing opwright::View;\nusing opwright::ViewList;\n"
FLOATS = ["float32", "float64"]


def param(name, dtypes=FLOATS, shape=(-2,), kind="required"):
    return {"name": name, "dtype": list(dtypes), "shape": list(shape), "param_type": kind}


def metadef(name, inputs, outputs, **fields):
    return {"op_name": name, "input_desc": inputs, "output_desc": outputs, **fields}


def attr(name, kind, default=None):
    return {"name": name, "type": kind} | ({} if default is None else {"default_value": default})

# SPDX-License-Identifier: Apache-2.0
"""The acl form: operators registered by name in four steps, then called by name.

    acl.init()
    acl.rt.set_device(0)
    acl.ops.load_operator_library("libelement_add.so")
    acl.op.register_operator("element_add")
    acl.op.register_operator_model("element_add", "element_add.json", "element_add")
    acl.op.register_operator_gradient("element_add", "element_add_grad.json")
    z = acl.ops.element_add(x, y)      # numpy arrays or a framework's tensors

The functions return 0 or a code; `acl.get_recent_err_msg()` has the words. Every process registers
for itself. Importing this module registers nothing.
"""

from acl import op, ops, rt
from acl._registry import finalize, init
from acl._words import get_recent_err_msg

__all__ = ["finalize", "get_recent_err_msg", "init", "op", "ops", "rt"]

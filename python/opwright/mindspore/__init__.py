# SPDX-License-Identifier: Apache-2.0
"""Operators in MindSpore: PyNative, ms.jit and graph mode alike.

lib = opwright.load("libfused.so")
y = lib.fused_add_scale(x, bias, scale)                      # differentiable
op = opwright.mindspore.Custom("libfused.so:fused_add_scale", func_type="aot")   # the same operator
"""

from __future__ import annotations

from opwright.mindspore import _warm_up  # noqa: F401  first: MindSpore's first call may be bad
from opwright.mindspore._custom import Custom
from opwright.mindspore._op import op
from opwright.mindspore._recording import watch

watch()

__all__ = ["Custom", "op"]

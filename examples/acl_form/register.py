# SPDX-License-Identifier: Apache-2.0
"""The acl form from the kernel to a training step: build, register, call, differentiate."""

import subprocess
import tempfile
from pathlib import Path

import numpy as np
import torch

import acl

here = Path(__file__).resolve().parent
library = Path(tempfile.mkdtemp()) / "libelement_add.so"


def check(ret: int) -> None:
    if ret != 0:
        raise RuntimeError(f"{ret}: {acl.get_recent_err_msg()}")


# 1. Kernels to a library.
kernels = ["-kernel", here / "add_kernel.cpp", "-kernel", here / "add_grad_kernel.cpp"]
subprocess.run(["aoc", *kernels, "-o", library, "-lacl"], check=True)

# 2. In every process: the library, the name, its metadef and kernel, its gradient.
check(acl.init())
check(acl.rt.set_device(0))
check(acl.ops.load_operator_library(str(library)))
check(acl.op.register_operator("element_add"))
check(acl.op.register_operator_model("element_add", str(here / "element_add.json"), "element_add"))
check(acl.op.register_operator_gradient("element_add", str(here / "element_add_grad.json")))

# 3. A call.
z = acl.ops.element_add(np.float32([1, 2, 3]), np.float32([10, 20, 30]))
print("element_add:", z)

# 4. A training step: the operator differentiates itself.
bias = torch.nn.Parameter(torch.zeros(3))
optimizer = torch.optim.SGD([bias], lr=0.25)
target = torch.tensor([1.0, 2.0, 3.0])
loss = (acl.ops.element_add(torch.zeros(3), bias) - target).square().sum()
loss.backward()
optimizer.step()
print("loss:", loss.item(), "bias after a step:", bias.tolist())

check(acl.finalize())

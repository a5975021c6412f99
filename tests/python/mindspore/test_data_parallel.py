# SPDX-License-Identifier: Apache-2.0
"""Two processes by msrun with one operator folder: gradients as in one process."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[3]
_WORKER = """
import sys
import mindspore as ms
import numpy as np
import opwright
from mindspore.communication import get_group_size, get_rank, init

folder, mode, together = sys.argv[1], sys.argv[2], sys.argv[3] == "together"
ms.set_context(mode=ms.GRAPH_MODE if mode == "graph" else ms.PYNATIVE_MODE)
if together:
    init()
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
lib = opwright.load(folder)


class Layer(ms.nn.Cell):
    def __init__(self):
        super().__init__()
        self.op = lib.fused_add_scale
        self.bias = ms.Parameter(ms.Tensor(np.zeros(8), ms.float32), name="bias")
        self.scale = ms.Parameter(ms.Tensor(np.ones(8), ms.float32), name="scale")

    def construct(self, x):
        return (self.op(x, self.bias, self.scale) ** 2).mean()


net = Layer()
parameters = net.trainable_params()
step = ms.value_and_grad(net, None, parameters)
reduce = ms.nn.DistributedGradReducer(parameters) if together else tuple
batch = np.random.default_rng(7).standard_normal((16, 8))
rank, size = (get_rank(), get_group_size()) if together else (0, 1)
loss, grads = step(ms.Tensor(batch[rank::size], ms.float32))
grads = reduce(grads)
np.save(f"{mode}-{sys.argv[3]}-{rank}.npy", np.stack([g.asnumpy() for g in grads]))
"""


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@pytest.mark.parametrize("mode", ["pynative", "graph"])
def test_gradients_are_those_of_one_process(mode, tmp_path):
    (tmp_path / "worker.py").write_text(_WORKER)
    folder = str(ROOT / "examples" / "fused_add_scale")
    scripts = Path(sys.executable).parent
    env = {**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}

    def run(*command):
        done = subprocess.run(
            list(map(str, command)),
            cwd=tmp_path,
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
        logs = "".join(p.read_text() for p in tmp_path.glob("logs/worker_*.log"))
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:] + logs[-4000:]

    run(sys.executable, "worker.py", folder, mode, "alone")
    run(
        scripts / "msrun", "--worker_num=2", "--local_worker_num=2", "--master_addr=127.0.0.1",
        f"--master_port={free_port()}", "--log_dir=logs", "--join=True", "--cluster_time_out=60",
        "worker.py", folder, mode, "together",
    )  # fmt: skip
    one, first, second = (
        np.load(tmp_path / f"{mode}-{name}.npy") for name in ("alone-0", "together-0", "together-1")
    )
    assert np.abs(one).max() > 0
    np.testing.assert_array_equal(first, second)
    np.testing.assert_allclose(first, one, rtol=1e-5, atol=1e-7)

# SPDX-License-Identifier: Apache-2.0
"""A call in PyTorch: Opwright against torch.add, torch.library.custom_op and a C++ operator.

    python bench/torch_bench.py [--json FILE] [--rounds N] [--size N]

All contenders compute (x + bias) * scale on vectors of 8 float32, but for torch.add, with three
gradients (torch.add: two). One process, interleaved rounds, the least time of each: other work on
the machine makes a round slower, never faster. The C++ operator is compiled at the first run
(about a minute) and kept in torch's extension cache.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import platform

import torch
from timing import least
from torch.utils import cpp_extension

import opwright

ROOT = pathlib.Path(__file__).resolve().parents[1]

CPP = """
#include <torch/extension.h>
#include <torch/library.h>

namespace {

template <class T>
void ForwardLoop(const T* x, const T* b, const T* s, T* y, int64_t size, int64_t n) {
  for (int64_t i = 0; i < size; ++i) y[i] = (x[i] + b[i % n]) * s[i % n];
}

at::Tensor Forward(const at::Tensor& x_in, const at::Tensor& bias, const at::Tensor& scale) {
  TORCH_CHECK(bias.sizes() == scale.sizes() && x_in.size(-1) == bias.size(0), "shapes");
  const at::Tensor x = x_in.contiguous(), b = bias.contiguous(), s = scale.contiguous();
  at::Tensor y = at::empty(x.sizes(), x.options());
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "fused", [&] {
    ForwardLoop(x.const_data_ptr<scalar_t>(), b.const_data_ptr<scalar_t>(),
                s.const_data_ptr<scalar_t>(), y.mutable_data_ptr<scalar_t>(), x.numel(), b.numel());
  });
  return y;
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> Backward(const at::Tensor& x_in,
                                                        const at::Tensor& bias,
                                                        const at::Tensor& scale,
                                                        const at::Tensor& grad) {
  const at::Tensor x = x_in.contiguous(), b = bias.contiguous(), s = scale.contiguous(),
                   g = grad.contiguous();
  at::Tensor gx = at::empty(x.sizes(), x.options());
  at::Tensor gb = at::zeros(b.sizes(), b.options()), gs = at::zeros(s.sizes(), s.options());
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "fused_grad", [&] {
    const auto *px = x.const_data_ptr<scalar_t>(), *pb = b.const_data_ptr<scalar_t>();
    const auto *ps = s.const_data_ptr<scalar_t>(), *pg = g.const_data_ptr<scalar_t>();
    auto *qx = gx.mutable_data_ptr<scalar_t>(), *qb = gb.mutable_data_ptr<scalar_t>();
    auto* qs = gs.mutable_data_ptr<scalar_t>();
    for (int64_t i = 0, n = b.numel(); i < x.numel(); ++i) {
      qx[i] = pg[i] * ps[i % n];
      qb[i % n] += pg[i] * ps[i % n];
      qs[i % n] += pg[i] * (px[i] + pb[i % n]);
    }
  });
  return {gx, gb, gs};
}

at::Tensor CallForward(const at::Tensor& x, const at::Tensor& bias, const at::Tensor& scale) {
  static const auto op =
      c10::Dispatcher::singleton()
          .findSchemaOrThrow("opwright_bench::fused", "")
          .typed<at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&)>();
  return op.call(x, bias, scale);
}

struct Fused : torch::autograd::Function<Fused> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x,
                            const at::Tensor& bias, const at::Tensor& scale) {
    at::AutoDispatchBelowADInplaceOrView guard;
    ctx->save_for_backward({x, bias, scale});
    return CallForward(x, bias, scale);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 const torch::autograd::variable_list& grads) {
    const auto saved = ctx->get_saved_variables();
    auto [gx, gb, gs] = Backward(saved[0], saved[1], saved[2], grads[0]);
    return {gx, gb, gs};
  }
};

at::Tensor Autograd(const at::Tensor& x, const at::Tensor& bias, const at::Tensor& scale) {
  return Fused::apply(x, bias, scale);
}

}  // namespace

TORCH_LIBRARY(opwright_bench, m) { m.def("fused(Tensor x, Tensor bias, Tensor scale) -> Tensor"); }
TORCH_LIBRARY_IMPL(opwright_bench, CPU, m) { m.impl("fused", &Forward); }
TORCH_LIBRARY_IMPL(opwright_bench, Autograd, m) { m.impl("fused", &Autograd); }
"""


def custom_op():
    @torch.library.custom_op("opwright_bench::custom", mutates_args=())
    def fused(x: torch.Tensor, bias: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        return (x + bias) * scale

    def setup(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    def backward(ctx, grad):
        x, bias, scale = ctx.saved_tensors
        grad_x = grad * scale
        return grad_x, grad_x.sum_to_size(bias.shape), (grad * (x + bias)).sum_to_size(scale.shape)

    fused.register_autograd(backward, setup_context=setup)
    return torch.ops.opwright_bench.custom


def contenders() -> dict:
    """Name -> a call of three tensors."""
    cpp_extension.load_inline(
        "opwright_torch_bench", CPP, is_python_module=False, extra_cflags=["-O2"], verbose=False
    )
    library = opwright.load(ROOT / "examples" / "fused_add_scale")
    return {
        "torch.add": lambda x, bias, scale: torch.add(x, bias),
        "C++ TORCH_LIBRARY": torch.ops.opwright_bench.fused,
        "torch.library.custom_op": custom_op(),
        "opwright, torch.ops": torch.ops.opwright.fused_add_scale,
        "opwright, lib.op": library.fused_add_scale,
    }


def scenarios(size: int) -> dict:
    """Scenario -> contender -> a call without arguments."""

    def vectors(grad):
        return [torch.rand(size).requires_grad_(grad) for _ in range(3)]

    plain, grads, ones = vectors(False), vectors(True), torch.ones(size)

    def both(name, op):
        wanted = grads[:2] if name == "torch.add" else grads
        return lambda: torch.autograd.grad(op(*grads), wanted, ones)

    table = contenders()
    expected = (plain[0] + plain[1]) * plain[2]
    for name, op in table.items():
        if name != "torch.add":
            torch.testing.assert_close(op(*plain), expected)
    return {
        "forward": {name: (lambda op=op: op(*plain)) for name, op in table.items()},
        "forward, gradient recorded": {
            name: (lambda op=op: op(*grads)) for name, op in table.items()
        },
        "forward and backward": {name: both(name, op) for name, op in table.items()},
    }


def cpu_name() -> str:
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--rounds", type=int, default=400)
    parser.add_argument("--inner", type=int, default=50)
    parser.add_argument("--size", type=int, default=8)
    options = parser.parse_args()
    torch.set_num_threads(1)

    results = {
        scenario: least(calls, options.rounds, options.inner)
        for scenario, calls in scenarios(options.size).items()
    }
    for scenario, times in results.items():
        base = times["C++ TORCH_LIBRARY"]
        print(f"\n{scenario}, {options.size} float32{'':12} us   against C++")
        for name, seconds in times.items():
            print(f"  {name:34}{seconds * 1e6:10.2f}{seconds / base:10.2f}")
    if options.json:
        report = {
            "machine": {"cpu": cpu_name(), "system": platform.system()},
            "versions": {
                "opwright": opwright.__version__,
                "python": platform.python_version(),
                "torch": torch.__version__,
            },
            "command": "python bench/torch_bench.py",
            "unit": "seconds a call, least of all rounds",
            "rounds": options.rounds,
            "calls_a_round": options.inner,
            "results": results,
        }
        pathlib.Path(options.json).write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()

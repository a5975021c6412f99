# SPDX-License-Identifier: Apache-2.0
"""An operator with an output through which its backward operator takes no gradient, for the tests
of adapters: y = 2 x, z = 3 x."""

from operator_libraries import write_operator

import opwright

_FLOATS = {"dtype": ["float32"], "shape": [-2]}


def _param(name):
    return {"name": name, **_FLOATS}


_METADEF = [
    {
        "op_name": "stats",
        "input_desc": [_param("x")],
        "output_desc": [_param("y"), _param("z")],
        "shape_rule": "same(x)",
        "gradient": "stats_grad",
    },
    {
        "op_name": "stats_grad",
        "input_desc": [_param("grad_y")],
        "output_desc": [_param("grad_x")],
        "shape_rule": "same(grad_y)",
    },
]
_SOURCE = """
#include <opwright/kernel.h>
using opwright::View;

void Stats(View<const float> x, View<float> y, View<float> z) {
  for (int64_t i = 0; i < x.Size(); ++i) {
    y.Data()[i] = 2 * x.Data()[i];
    z.Data()[i] = 3 * x.Data()[i];
  }
}
OPWRIGHT_FUNCTION(stats, Stats)

void StatsGrad(View<const float> grad_y, View<float> grad_x) {
  for (int64_t i = 0; i < grad_y.Size(); ++i) grad_x.Data()[i] = 2 * grad_y.Data()[i];
}
OPWRIGHT_FUNCTION(stats_grad, StatsGrad)
"""
WORDS = r"stats: a gradient comes through output z.* stats_grad an input grad_z, or stop the.*GR023"


def load(folder) -> opwright.Operator:
    return opwright.load(write_operator(folder, _METADEF, _SOURCE)).stats

# SPDX-License-Identifier: Apache-2.0
"""The operators under test: those of the PyTorch tests, and a few more, in groups."""

from sources import GROUPS as SHARED
from sources.describe import HEADER, attr, metadef, param

FLOATS = ["float16", "float32", "float64"]

# z = alpha * x * y by broadcasting, without a gradient of its own: for rules in Python.
product = (
    metadef(
        "product",
        [param("x", FLOATS), param("y", FLOATS)],
        [param("z", FLOATS)],
        attr=[attr("alpha", "float", 1.0)],
        shape_rule="broadcast(x, y)",
    ),
    HEADER
    + """
template <class T>
void Product(View<const T> x, View<const T> y, View<T> z, double alpha) {
  for (int64_t i = 0; i < z.Size(); ++i) {
    int64_t rest = i, at_x = 0, at_y = 0;
    for (int32_t k = z.Rank() - 1; k >= 0; --k) {
      at_x += rest % z.Dim(k) * x.Stride(k);
      at_y += rest % z.Dim(k) * y.Stride(k);
      rest /= z.Dim(k);
    }
    z.Data()[i] = T(alpha) * x.Data()[at_x] * y.Data()[at_y];
  }
}
OPWRIGHT_FUNCTION(product, Product)
""",
)

# parts: the same numbers three ways: as they are, counted (int32), and summed (float64, 0-d).
several = (
    [
        metadef(
            "parts",
            [param("x", ["float32"], ["m", "n"])],
            [
                param("twice", ["float32"], ["m", "n"]),
                param("rounded", ["int32"], ["n"]),
                param("sum", ["float64"], []),
            ],
            shape_rule={"twice": "same(x)", "rounded": ["n"], "sum": []},
            gradient="parts_grad",
        ),
        metadef(
            "parts_grad",
            [
                param("x", ["float32"], ["m", "n"]),
                param("grad_twice", ["float32"], ["m", "n"]),
                param("grad_sum", ["float64"], []),
            ],
            [param("grad_x", ["float32"], ["m", "n"])],
            shape_rule="forward",
        ),
        # A required backward input for each output; the rows and the columns of x, summed.
        metadef(
            "sums",
            [param("x", ["float32", "float64"], ["m", "n"])],
            [
                param("rows", ["float32", "float64"], ["m"]),
                param("columns", ["float32", "float64"], ["n"]),
            ],
            shape_rule={"rows": ["m"], "columns": ["n"]},
            gradient="sums_grad",
        ),
        metadef(
            "sums_grad",
            [
                param("x", ["float32", "float64"], ["m", "n"]),
                param("grad_rows", ["float32", "float64"], ["m"]),
                param("grad_columns", ["float32", "float64"], ["n"]),
            ],
            [param("grad_x", ["float32", "float64"], ["m", "n"])],
            shape_rule="same(x)",
        ),
    ],
    HEADER
    + """
void Parts(View<const float> x, View<float> twice, View<int32_t> rounded, View<double> sum) {
  double total = 0;
  for (int64_t j = 0; j < x.Dim(1); ++j) rounded(j) = 0;
  for (int64_t i = 0; i < x.Dim(0); ++i)
    for (int64_t j = 0; j < x.Dim(1); ++j) {
      twice(i, j) = 2 * x(i, j);
      rounded(j) += static_cast<int32_t>(x(i, j) + 0.5f);
      total += static_cast<double>(x(i, j));
    }
  sum.Data()[0] = total;
}
OPWRIGHT_FUNCTION(parts, Parts)

void PartsGrad(View<const float> x, View<const float> dt, View<const double> ds, View<float> dx) {
  for (int64_t i = 0; i < x.Dim(0); ++i)
    for (int64_t j = 0; j < x.Dim(1); ++j)
      dx(i, j) = 2 * dt(i, j) + static_cast<float>(ds.Data()[0]);
}
OPWRIGHT_FUNCTION(parts_grad, PartsGrad)

template <class T>
void Sums(View<const T> x, View<T> rows, View<T> columns) {
  for (int64_t i = 0; i < x.Dim(0); ++i) rows(i) = 0;
  for (int64_t j = 0; j < x.Dim(1); ++j) columns(j) = 0;
  for (int64_t i = 0; i < x.Dim(0); ++i)
    for (int64_t j = 0; j < x.Dim(1); ++j) {
      rows(i) += x(i, j);
      columns(j) += x(i, j);
    }
}
OPWRIGHT_FUNCTION(sums, Sums)

template <class T>
void SumsGrad(View<const T> x, View<const T> dr, View<const T> dc, View<T> dx) {
  for (int64_t i = 0; i < x.Dim(0); ++i)
    for (int64_t j = 0; j < x.Dim(1); ++j) dx(i, j) = dr(i) + dc(j);
}
OPWRIGHT_FUNCTION(sums_grad, SumsGrad)
""",
)

# The metadef of a library with one forward operator, `grow`, whose code is in FACTOR's place.
GROW = metadef("grow", [param("x", ["float32"])], [param("y", ["float32"])])
GROW_SOURCE = (
    HEADER
    + """
void Grow(View<const float> x, View<float> y) {
  for (int64_t i = 0; i < x.Size(); ++i) y.Data()[i] = FACTOR * x.Data()[i];
}
OPWRIGHT_FUNCTION(grow, Grow)
"""
)

GROUPS = {**SHARED, "product": product, "several": several}


# y = x + the number of calls so far: a call has an effect.
TICK = {
    "op_name": "tick",
    "input_desc": [{"name": "x", "dtype": ["float32"], "shape": [-2]}],
    "output_desc": [{"name": "y", "dtype": ["float32"], "shape": [-2]}],
    "shape_rule": "same(x)",
    "side_effect": True,
}
TICK_SOURCE = """
#include <opwright/kernel.h>
void Tick(opwright::View<const float> x, opwright::View<float> y) {
  static int calls = 0;
  ++calls;
  for (int64_t i = 0; i < y.Size(); ++i) y.Data()[i] = x.Data()[i] + static_cast<float>(calls);
}
OPWRIGHT_FUNCTION(tick, Tick)
"""

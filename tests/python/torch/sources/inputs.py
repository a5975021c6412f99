# SPDX-License-Identifier: Apache-2.0
"""Optional and dynamic inputs, several outputs, integers."""

from sources.describe import HEADER, attr, metadef, param

inputs = (
    [
        metadef(
            "linear",
            [
                param("x", shape=["m", "k"]),
                param("w", shape=["k", "n"]),
                param("bias", shape=["n"], kind="optional"),
            ],
            [param("y", shape=["m", "n"])],
            shape_rule=["m", "n"],
            attr=[attr("alpha", "float", 1.0)],
            gradient="linear_grad",
        ),
        metadef(
            "linear_grad",
            [
                param("x", shape=["m", "k"]),
                param("w", shape=["k", "n"]),
                param("grad_y", shape=["m", "n"]),
            ],
            [
                param("grad_x", shape=["m", "k"]),
                param("grad_w", shape=["k", "n"], kind="optional"),
                param("grad_bias", shape=["n"], kind="optional"),
            ],
            shape_rule={"grad_x": "same(x)", "grad_w": "same(w)", "grad_bias": ["n"]},
            attr=[attr("alpha", "float", 1.0)],
        ),
        metadef(
            "sum_squares",
            [param("xs", kind="dynamic")],
            [param("y")],
            shape_rule="same(xs)",
            gradient="sum_squares_grad",
        ),
        metadef(
            "sum_squares_grad",
            [param("xs", kind="dynamic"), param("grad_y")],
            [param("grad_xs", kind="dynamic")],
            shape_rule="same(xs)",
        ),
        metadef(
            "sum_all",
            [param("xs", kind="dynamic"), param("bias", kind="optional")],
            [param("y")],
            shape_rule="same(xs)",
            gradient="sum_all_grad",
        ),
        metadef(
            "sum_all_grad",
            [param("xs", kind="dynamic"), param("bias", kind="optional"), param("grad_y")],
            [param("grad_xs", kind="dynamic"), param("grad_bias", kind="optional")],
            shape_rule={"grad_xs": "same(xs)", "grad_bias": "same(bias)"},
        ),
        # y = sum_k x_k^2 + shift: the gradient of shift needs the shape of shift only
        metadef(
            "lift",
            [param("xs", kind="dynamic"), param("shift")],
            [param("y")],
            shape_rule="same(xs)",
            gradient="lift_grad",
        ),
        metadef(
            "lift_grad",
            [param("xs", kind="dynamic"), param("grad_y")],
            [param("grad_xs", kind="dynamic"), param("grad_shift")],
            shape_rule={"grad_xs": "same(xs)", "grad_shift": "forward"},
        ),
        # y_k = (k + 2) x_k, and y = sum_k (k keyset + 1 + op) x_k: the gradients need the lists'
        # shapes only. PyTorch's own functions have arguments with the names of the attributes.
        metadef(
            "scale_each",
            [param("xs", kind="dynamic")],
            [param("ys", kind="dynamic")],
            shape_rule="same(xs)",
            gradient="scale_each_grad",
        ),
        metadef(
            "scale_each_grad",
            [param("grad_ys", kind="dynamic")],
            [param("grad_xs", kind="dynamic")],
            shape_rule="forward",
        ),
        metadef(
            "add_weighted",
            [param("xs", kind="dynamic")],
            [param("y")],
            shape_rule="same(xs)",
            attr=[attr("keyset", "int", 1), attr("op", "int", 0)],
            gradient="add_weighted_grad",
        ),
        metadef(
            "add_weighted_grad",
            [param("grad_y")],
            [param("grad_xs", kind="dynamic")],
            shape_rule="forward",
            attr=[attr("keyset", "int", 1), attr("op", "int", 0)],
        ),
        # values and index of the greatest of the last dimension; the index is an integer
        metadef(
            "greatest",
            [param("x", shape=["...", "n"])],
            [param("values", shape=["..."]), param("index", ["int64"], ["..."])],
            shape_rule=["..."],
            gradient="greatest_grad",
        ),
        metadef(
            "greatest_grad",
            [
                param("x", shape=["...", "n"]),
                param("index", ["int64"], ["..."]),
                param("grad_values", shape=["..."]),
            ],
            [param("grad_x", shape=["...", "n"])],
            shape_rule="same(x)",
        ),
        # p = x * y, q = x + 3 y: the gradient of q is optional, and counted into x where absent
        metadef(
            "pair",
            [param("x"), param("y")],
            [param("p"), param("q")],
            shape_rule="same(x, y)",
            gradient="pair_grad",
        ),
        metadef(
            "pair_grad",
            [param("x"), param("y"), param("grad_p"), param("grad_q", kind="optional")],
            [param("grad_x"), param("grad_y")],
            shape_rule="same(x)",
        ),
        metadef(
            "take_rows",
            [param("x", ["float32"], ["m", "n"]), param("idx", ["int32"], ["k"])],
            [param("y", ["float32"], ["k", "n"])],
            shape_rule=["k", "n"],
            gradient="take_rows_grad",
        ),
        metadef(
            "take_rows_grad",
            [
                param("x", ["float32"], ["m", "n"]),
                param("idx", ["int32"], ["k"]),
                param("grad_y", ["float32"], ["k", "n"]),
            ],
            [param("grad_x", ["float32"], ["m", "n"])],
            shape_rule="same(x)",
        ),
        metadef(
            "choose",
            [
                param("x", ["float32"]),
                param("mask", ["bool"]),
                param("level", ["uint8"]),
                param("offset", ["int64"]),
            ],
            [param("y", ["float32"]), param("n", ["int32"])],
            shape_rule={"y": "same(x)", "n": "same(offset)"},
        ),
        metadef(
            "add_parts",
            [param("first", kind="optional"), param("x"), param("rest", kind="dynamic")],
            [param("parts", kind="dynamic")],
            shape_rule="same(rest)",
        ),
    ],
    HEADER
    + """
template <class T>
void Linear(View<const T> x, View<const T> w, View<const T> bias, View<T> y, double alpha) {
  for (int64_t i = 0; i < y.Dim(0); ++i)
    for (int64_t j = 0; j < y.Dim(1); ++j) {
      T sum = 0;
      for (int64_t k = 0; k < x.Dim(1); ++k) sum += x(i, k) * w(k, j);
      y(i, j) = T(alpha) * sum + (bias ? bias(j) : T(0));
    }
}
OPWRIGHT_FUNCTION(linear, Linear)

template <class T>
void LinearGrad(View<const T> x, View<const T> w, View<const T> dy, View<T> dx, View<T> dw,
                View<T> db, double alpha) {
  for (int64_t i = 0; i < x.Dim(0); ++i)
    for (int64_t k = 0; k < x.Dim(1); ++k) {
      dx(i, k) = 0;
      for (int64_t j = 0; j < dy.Dim(1); ++j) dx(i, k) += T(alpha) * dy(i, j) * w(k, j);
    }
  for (int64_t k = 0; dw && k < w.Dim(0); ++k)
    for (int64_t j = 0; j < w.Dim(1); ++j) {
      dw(k, j) = 0;
      for (int64_t i = 0; i < x.Dim(0); ++i) dw(k, j) += T(alpha) * dy(i, j) * x(i, k);
    }
  for (int64_t j = 0; db && j < dy.Dim(1); ++j) {
    db(j) = 0;
    for (int64_t i = 0; i < dy.Dim(0); ++i) db(j) += dy(i, j);
  }
}
OPWRIGHT_FUNCTION(linear_grad, LinearGrad)

template <class T>
void SumSquares(ViewList<const T> xs, View<T> y) {
  for (int64_t i = 0; i < y.Size(); ++i) {
    y.Data()[i] = 0;
    for (int64_t k = 0; k < xs.Size(); ++k)
      y.Data()[i] += T(k + 1) * xs[k].Data()[i] * xs[k].Data()[i];
  }
}
OPWRIGHT_FUNCTION(sum_squares, SumSquares)

template <class T>
void SumSquaresGrad(ViewList<const T> xs, View<const T> dy, ViewList<T> dxs) {
  for (int64_t k = 0; k < xs.Size(); ++k)
    for (int64_t i = 0; i < dy.Size(); ++i)
      dxs[k].Data()[i] = 2 * T(k + 1) * xs[k].Data()[i] * dy.Data()[i];
}
OPWRIGHT_FUNCTION(sum_squares_grad, SumSquaresGrad)

template <class T>
void ScaleEach(ViewList<const T> xs, ViewList<T> ys) {
  for (int64_t k = 0; k < ys.Size(); ++k)
    for (int64_t i = 0; i < ys[k].Size(); ++i) ys[k].Data()[i] = T(k + 2) * xs[k].Data()[i];
}
OPWRIGHT_FUNCTION(scale_each, ScaleEach)
OPWRIGHT_FUNCTION(scale_each_grad, ScaleEach)

template <class T>
void AddWeighted(ViewList<const T> xs, View<T> y, int64_t keyset, int64_t op) {
  for (int64_t i = 0; i < y.Size(); ++i) {
    y.Data()[i] = 0;
    for (int64_t k = 0; k < xs.Size(); ++k) y.Data()[i] += T(k * keyset + 1 + op) * xs[k].Data()[i];
  }
}
OPWRIGHT_FUNCTION(add_weighted, AddWeighted)

template <class T>
void AddWeightedGrad(View<const T> dy, ViewList<T> dxs, int64_t keyset, int64_t op) {
  for (int64_t k = 0; k < dxs.Size(); ++k)
    for (int64_t i = 0; i < dy.Size(); ++i)
      dxs[k].Data()[i] = T(k * keyset + 1 + op) * dy.Data()[i];
}
OPWRIGHT_FUNCTION(add_weighted_grad, AddWeightedGrad)

template <class T>
void SumAll(ViewList<const T> xs, View<const T> bias, View<T> y) {
  for (int64_t i = 0; i < y.Size(); ++i) {
    y.Data()[i] = bias ? 3 * bias.Data()[i] : T(0);
    for (int64_t k = 0; k < xs.Size(); ++k) y.Data()[i] += T(k + 1) * xs[k].Data()[i];
  }
}
OPWRIGHT_FUNCTION(sum_all, SumAll)

template <class T>
void SumAllGrad(ViewList<const T> xs, View<const T>, View<const T> dy, ViewList<T> dxs,
                View<T> db) {
  for (int64_t i = 0; i < dy.Size(); ++i) {
    for (int64_t k = 0; k < xs.Size(); ++k) dxs[k].Data()[i] = T(k + 1) * dy.Data()[i];
    if (db) db.Data()[i] = 3 * dy.Data()[i];
  }
}
OPWRIGHT_FUNCTION(sum_all_grad, SumAllGrad)

template <class T>
void Lift(ViewList<const T> xs, View<const T> shift, View<T> y) {
  for (int64_t i = 0; i < y.Size(); ++i) {
    y.Data()[i] = shift.Data()[0];
    for (int64_t k = 0; k < xs.Size(); ++k) y.Data()[i] += xs[k].Data()[i] * xs[k].Data()[i];
  }
}
OPWRIGHT_FUNCTION(lift, Lift)

template <class T>
void LiftGrad(ViewList<const T> xs, View<const T> dy, ViewList<T> dxs, View<T> dshift) {
  dshift.Data()[0] = 0;
  for (int64_t i = 0; i < dy.Size(); ++i) {
    dshift.Data()[0] += dy.Data()[i];
    for (int64_t k = 0; k < xs.Size(); ++k) dxs[k].Data()[i] = 2 * xs[k].Data()[i] * dy.Data()[i];
  }
}
OPWRIGHT_FUNCTION(lift_grad, LiftGrad)

template <class T>
void Greatest(View<const T> x, View<T> values, View<int64_t> index) {
  const int64_t n = x.Dim(x.Rank() - 1);
  for (int64_t r = 0; r < values.Size(); ++r) {
    int64_t best = 0;
    for (int64_t i = 1; i < n; ++i)
      if (x.Data()[r * n + i] > x.Data()[r * n + best]) best = i;
    values.Data()[r] = x.Data()[r * n + best];
    index.Data()[r] = best;
  }
}
OPWRIGHT_FUNCTION(greatest, Greatest)

template <class T>
void GreatestGrad(View<const T> x, View<const int64_t> index, View<const T> dv, View<T> dx) {
  const int64_t n = x.Dim(x.Rank() - 1);
  for (int64_t i = 0; i < x.Size(); ++i) dx.Data()[i] = 0;
  for (int64_t r = 0; r < dv.Size(); ++r) dx.Data()[r * n + index.Data()[r]] = dv.Data()[r];
}
OPWRIGHT_FUNCTION(greatest_grad, GreatestGrad)

template <class T>
void Pair(View<const T> x, View<const T> y, View<T> p, View<T> q) {
  for (int64_t i = 0; i < x.Size(); ++i) {
    p.Data()[i] = x.Data()[i] * y.Data()[i];
    q.Data()[i] = x.Data()[i] + 3 * y.Data()[i];
  }
}
OPWRIGHT_FUNCTION(pair, Pair)

template <class T>
void PairGrad(View<const T> x, View<const T> y, View<const T> dp, View<const T> dq, View<T> dx,
              View<T> dy) {
  for (int64_t i = 0; i < x.Size(); ++i) {
    const T g = dq ? dq.Data()[i] : T(0);
    dx.Data()[i] = dp.Data()[i] * y.Data()[i] + g;
    dy.Data()[i] = dp.Data()[i] * x.Data()[i] + 3 * g;
  }
}
OPWRIGHT_FUNCTION(pair_grad, PairGrad)

void TakeRows(View<const float> x, View<const int32_t> idx, View<float> y) {
  for (int64_t i = 0; i < y.Dim(0); ++i)
    for (int64_t j = 0; j < y.Dim(1); ++j) y(i, j) = x(idx(i), j);
}
OPWRIGHT_FUNCTION(take_rows, TakeRows)

void TakeRowsGrad(View<const float> x, View<const int32_t> idx, View<const float> dy,
                  View<float> dx) {
  for (int64_t i = 0; i < x.Size(); ++i) dx.Data()[i] = 0;
  for (int64_t i = 0; i < dy.Dim(0); ++i)
    for (int64_t j = 0; j < dy.Dim(1); ++j) dx(idx(i), j) += dy(i, j);
}
OPWRIGHT_FUNCTION(take_rows_grad, TakeRowsGrad)

void Choose(View<const float> x, View<const bool> mask, View<const uint8_t> level,
            View<const int64_t> offset, View<float> y, View<int32_t> n) {
  for (int64_t i = 0; i < x.Size(); ++i) {
    y.Data()[i] = mask.Data()[i] ? x.Data()[i] : static_cast<float>(level.Data()[i]);
    n.Data()[i] = static_cast<int32_t>(offset.Data()[i]);
  }
}
OPWRIGHT_FUNCTION(choose, Choose)

template <class T>
void AddParts(View<const T> first, View<const T> x, ViewList<const T> rest, ViewList<T> parts) {
  for (int64_t k = 0; k < rest.Size(); ++k)
    for (int64_t i = 0; i < rest[k].Size(); ++i)
      parts[k].Data()[i] = rest[k].Data()[i] + x.Data()[i] + (first ? first.Data()[i] : T(0));
}
OPWRIGHT_FUNCTION(add_parts, AddParts)
""",
)

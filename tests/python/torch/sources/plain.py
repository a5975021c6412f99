# SPDX-License-Identifier: Apache-2.0
"""Elementwise operators, with broadcasting, many dtypes, attributes."""

from sources.describe import HEADER, attr, metadef, param

# The class form of the acl header, without a gradient.
element_add = (
    metadef(
        "element_add", [param("x", ["float32"]), param("y", ["float32"])], [param("z", ["float32"])]
    ),
    """#include "acl/acl.h"

class ElementAddKernel : public OpKernelBase {
 public:
  Status Compute(const OpKernelInput& input, OpKernelOutput* output) override {
    const auto& x = input.GetTensor(0);
    const auto& y = input.GetTensor(1);
    float* z = output->GetTensor(0)->Data<float>();
    for (int64_t i = 0; i < x.Size(); ++i) z[i] = x.Data<float>()[i] + y.Data<float>()[i];
    return SUCCESS;
  }
};
""",
)

# y = (x + b) * s with any broadcasting, in class form: the kernel sees each input's own shape.
fused_broadcast = (
    [
        metadef(
            "fused_broadcast",
            [param("x"), param("b"), param("s")],
            [param("y")],
            shape_rule="broadcast(x, b, s)",
            gradient="fused_broadcast_grad",
        ),
        metadef(
            "fused_broadcast_grad",
            [param("x"), param("b"), param("s"), param("grad_y")],
            [param(f"grad_{name}", kind="optional") for name in "xbs"],
            shape_rule="forward",
        ),
    ],
    HEADER
    + """
// The offset into a tensor that was broadcast to `shape`, for each element of shape.
static int64_t OffsetIn(const opwright::Tensor& t, opwright::List<int64_t> shape, int64_t i) {
  int64_t offset = 0;
  const int64_t lead = shape.Size() - t.Shape().Size();
  for (int64_t k = shape.Size() - 1; k >= 0; --k) {
    const int64_t at = i % shape[k];
    i /= shape[k];
    if (k >= lead && t.Shape()[k - lead] != 1) offset += at * t.Strides()[k - lead];
  }
  return offset;
}

template <class T>
static void Forward(const opwright::OpKernelInput& in, opwright::OpKernelOutput* out) {
  const auto &x = in.GetTensor(0), &b = in.GetTensor(1), &s = in.GetTensor(2);
  auto* y = out->GetTensor(0);
  for (int64_t i = 0; i < y->Size(); ++i)
    y->Data<T>()[i] =
        (x.Data<T>()[OffsetIn(x, y->Shape(), i)] + b.Data<T>()[OffsetIn(b, y->Shape(), i)]) *
        s.Data<T>()[OffsetIn(s, y->Shape(), i)];
}

template <class T>
static void Backward(const opwright::OpKernelInput& in, opwright::OpKernelOutput* out) {
  const auto &x = in.GetTensor(0), &b = in.GetTensor(1), &s = in.GetTensor(2),
             &dy = in.GetTensor(3);
  for (int32_t k = 0; k < 3; ++k) {
    auto* grad = out->GetTensor(k);
    if (grad == nullptr) continue;
    for (int64_t i = 0; i < grad->Size(); ++i) grad->Data<T>()[i] = 0;
    for (int64_t i = 0; i < dy.Size(); ++i) {
      const T g = dy.Data<T>()[i];
      const T at_s = s.Data<T>()[OffsetIn(s, dy.Shape(), i)];
      const T sum =
          x.Data<T>()[OffsetIn(x, dy.Shape(), i)] + b.Data<T>()[OffsetIn(b, dy.Shape(), i)];
      grad->Data<T>()[OffsetIn(*grad, dy.Shape(), i)] += k == 2 ? g * sum : g * at_s;
    }
  }
}

class FusedBroadcastKernel : public opwright::OpKernelBase {
 public:
  opwright::Status Compute(const opwright::OpKernelInput& in,
                           opwright::OpKernelOutput* out) override {
    in.GetTensor(0).DType().bits == 32 ? Forward<float>(in, out) : Forward<double>(in, out);
    return opwright::SUCCESS;
  }
};

class FusedBroadcastGradKernel : public opwright::OpKernelBase {
 public:
  opwright::Status Compute(const opwright::OpKernelInput& in,
                           opwright::OpKernelOutput* out) override {
    in.GetTensor(0).DType().bits == 32 ? Backward<float>(in, out) : Backward<double>(in, out);
    return opwright::SUCCESS;
  }
};
""",
)

FOUR = ["float16", "bfloat16", "float32", "float64"]

# Elementwise: four float columns, a second derivative of its own, and a gradient from the output.
elementwise = (
    [
        metadef("square", [param("x", FOUR)], [param("y", FOUR)], gradient="square_grad"),
        metadef(
            "square_grad",
            [param("x", FOUR), param("grad_y", FOUR)],
            [param("grad_x", FOUR)],
            shape_rule="same(x)",
        ),
        # y = scale * x ** exponent
        metadef(
            "power",
            [param("x")],
            [param("y")],
            attr=[attr("exponent", "int"), attr("scale", "float", 1.0)],
            gradient="power_grad",
        ),
        metadef(
            "power_grad",
            [param("x"), param("grad_y")],
            [param("grad_x")],
            attr=[attr("exponent", "int"), attr("scale", "float", 1.0)],
            shape_rule="same(x)",
            gradient="power_grad_grad",
        ),
        metadef(
            "power_grad_grad",
            [param("x"), param("grad_y"), param("grad_grad_x")],
            [param("grad_x"), param("grad_grad_y")],
            attr=[attr("exponent", "int"), attr("scale", "float", 1.0)],
            shape_rule="same(x)",
        ),
        # y = 1 / x, whose gradient needs only y
        metadef("inverse", [param("x")], [param("y")], gradient="inverse_grad"),
        metadef(
            "inverse_grad", [param("y"), param("grad_y")], [param("grad_x")], shape_rule="same(y)"
        ),
    ],
    HEADER
    + """
template <class T>
void Square(View<const T> x, View<T> y) {
  for (int64_t i = 0; i < x.Size(); ++i) y.Data()[i] = x.Data()[i] * x.Data()[i];
}
OPWRIGHT_FUNCTION(square, Square)

template <class T>
void SquareGrad(View<const T> x, View<const T> dy, View<T> dx) {
  for (int64_t i = 0; i < x.Size(); ++i) dx.Data()[i] = 2 * x.Data()[i] * dy.Data()[i];
}
OPWRIGHT_FUNCTION(square_grad, SquareGrad)

template <class T>
T Raised(T x, int64_t n) {
  T y = 1;
  for (int64_t k = 0; k < n; ++k) y *= x;
  return n < 0 ? T(0) : y;
}

template <class T>
void Power(View<const T> x, View<T> y, int64_t n, double scale) {
  for (int64_t i = 0; i < x.Size(); ++i) y.Data()[i] = T(scale) * Raised(x.Data()[i], n);
}
OPWRIGHT_FUNCTION(power, Power)

template <class T>
void PowerGrad(View<const T> x, View<const T> dy, View<T> dx, int64_t n, double scale) {
  for (int64_t i = 0; i < x.Size(); ++i)
    dx.Data()[i] = T(scale * n) * Raised(x.Data()[i], n - 1) * dy.Data()[i];
}
OPWRIGHT_FUNCTION(power_grad, PowerGrad)

template <class T>
void PowerGradGrad(View<const T> x, View<const T> dy, View<const T> ddx, View<T> dx, View<T> ddy,
                   int64_t n, double scale) {
  for (int64_t i = 0; i < x.Size(); ++i) {
    dx.Data()[i] =
        T(scale * n * (n - 1)) * Raised(x.Data()[i], n - 2) * dy.Data()[i] * ddx.Data()[i];
    ddy.Data()[i] = T(scale * n) * Raised(x.Data()[i], n - 1) * ddx.Data()[i];
  }
}
OPWRIGHT_FUNCTION(power_grad_grad, PowerGradGrad)

template <class T>
void Inverse(View<const T> x, View<T> y) {
  for (int64_t i = 0; i < x.Size(); ++i) y.Data()[i] = 1 / x.Data()[i];
}
OPWRIGHT_FUNCTION(inverse, Inverse)

template <class T>
void InverseGrad(View<const T> y, View<const T> dy, View<T> dx) {
  for (int64_t i = 0; i < y.Size(); ++i) dx.Data()[i] = -y.Data()[i] * y.Data()[i] * dy.Data()[i];
}
OPWRIGHT_FUNCTION(inverse_grad, InverseGrad)
""",
)

# One attribute of each type; y tells what arrived.
_ATTRS = [
    attr("count", "int"),
    attr("label", "string"),
    attr("rows", "list_list_int"),
    attr("ratio", "float", 0.5),
    attr("flag", "bool", True),
    attr("kind", "type", "float32"),
    attr("steps", "list_int", [1, 2]),
    attr("weights", "list_float", [0.25, 0.5]),
    attr("names", "list_string", ["ab", "c"]),
    attr("masks", "list_bool", [True, False, True]),
    attr("mode", "string", "fast"),
    attr("table", "list_list_int", [[1, 2], [3]]),
]
attributes = (
    metadef(
        "tell",
        [param("x", ["float64"], [-1])],
        [param("y", ["float64"], [12])],
        attr=_ATTRS,
        shape_rule=[12],
    ),
    HEADER
    + """
class TellKernel : public opwright::OpKernelBase {
 public:
  opwright::Status Compute(const opwright::OpKernelInput& in,
                           opwright::OpKernelOutput* out) override {
    double* y = out->GetTensor(0)->Data<double>();
    *y++ = static_cast<double>(in.Attr<int64_t>("count"));
    *y++ = Length(in.Attr<const char*>("label"));
    *y++ = Sum(in.Attr<opwright::List<OpwrightAttr>>("rows"));
    *y++ = in.Attr<double>("ratio");
    *y++ = in.Attr<bool>("flag") ? 1 : 0;
    *y++ = Length(in.Attr<const char*>("kind"));
    *y++ = Sum(in.Attr<opwright::List<int64_t>>("steps"));
    *y++ = Sum(in.Attr<opwright::List<double>>("weights"));
    double characters = 0;
    for (const char* name : in.Attr<opwright::List<const char*>>("names"))
      characters = characters * 10 + Length(name);
    *y++ = characters;
    double bits = 0;
    for (int64_t bit : in.Attr<opwright::List<int64_t>>("masks"))
      bits = bits * 2 + static_cast<double>(bit);
    *y++ = bits;
    *y++ = Length(in.Attr<const char*>("mode"));
    *y++ = Sum(in.Attr<opwright::List<OpwrightAttr>>("table"));
    return opwright::SUCCESS;
  }

 private:
  static double Length(const char* text) { return static_cast<double>(strlen(text)); }
  template <class T>
  static double Sum(opwright::List<T> values) {
    double sum = 0;
    for (const T& value : values) sum += static_cast<double>(value);
    return sum;
  }
  static double Sum(opwright::List<OpwrightAttr> rows) {
    double sum = 0;
    for (const OpwrightAttr& row : rows)
      sum = sum * 100 +
            Sum(opwright::List<int64_t>(static_cast<const int64_t*>(row.value.data), row.size));
    return sum;
  }
};
""",
)

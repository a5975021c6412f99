# SPDX-License-Identifier: Apache-2.0
"""Shapes that follow by every kind of rule."""

from sources.describe import HEADER, attr, metadef, param

shapes = (
    [
        metadef(
            "outer_flat",
            [param("x", shape=[-1]), param("y", shape=[-1])],
            [param("z", shape=[-1])],
            shape_rule="kernel",
            gradient="outer_flat_grad",
        ),
        metadef(
            "outer_flat_grad",
            [param("x", shape=[-1]), param("y", shape=[-1]), param("grad_z", shape=[-1])],
            [param("grad_x", shape=[-1]), param("grad_y", shape=[-1])],
            shape_rule="forward",
        ),
        metadef(
            "repeat_rows",
            [param("x", shape=[-1, -1])],
            [param("y", shape=[-1, -1])],
            attr=[attr("times", "int", 2)],
            shape_rule=["x.dim(0) * times", "x.dim(1)"],
            gradient="repeat_rows_grad",
        ),
        metadef(
            "repeat_rows_grad",
            [param("grad_y", shape=[-1, -1])],
            [param("grad_x", shape=[-1, -1])],
            shape_rule="forward",
        ),
        # The backward operator takes no forward input: its output's shape comes with the call.
        metadef(
            "total", [param("x")], [param("y", shape=[])], shape_rule=[], gradient="total_grad"
        ),
        metadef("total_grad", [param("grad_y", shape=[])], [param("grad_x")], shape_rule="forward"),
    ],
    HEADER
    + """
template <class T>
void Outer(const opwright::OpKernelInput& in, opwright::OpKernelOutput* out) {
  const auto &x = in.GetTensor(0), &y = in.GetTensor(1);
  T* z = out->GetTensor(0)->Data<T>();
  for (int64_t i = 0; i < x.Size(); ++i)
    for (int64_t j = 0; j < y.Size(); ++j) z[i * y.Size() + j] = x.Data<T>()[i] * y.Data<T>()[j];
}

class OuterFlatKernel : public opwright::OpKernelBase {
 public:
  opwright::Status Compute(const opwright::OpKernelInput& in,
                           opwright::OpKernelOutput* out) override {
    in.GetTensor(0).DType().bits == 32 ? Outer<float>(in, out) : Outer<double>(in, out);
    return opwright::SUCCESS;
  }
  opwright::Status InferShape(const opwright::InferInput& in, opwright::InferOutput* out) override {
    const int64_t dims[] = {in.GetTensor(0).Size() * in.GetTensor(1).Size()};
    out->SetShape(0, dims);
    return opwright::SUCCESS;
  }
};

template <class T>
void OuterGrad(View<const T> x, View<const T> y, View<const T> dz, View<T> dx, View<T> dy) {
  for (int64_t i = 0; i < x.Size(); ++i) dx(i) = 0;
  for (int64_t j = 0; j < y.Size(); ++j) dy(j) = 0;
  for (int64_t i = 0; i < x.Size(); ++i)
    for (int64_t j = 0; j < y.Size(); ++j) {
      dx(i) += dz(i * y.Size() + j) * y(j);
      dy(j) += dz(i * y.Size() + j) * x(i);
    }
}
OPWRIGHT_FUNCTION(outer_flat_grad, OuterGrad)

template <class T>
void RepeatRows(View<const T> x, View<T> y, int64_t) {
  for (int64_t i = 0; i < y.Dim(0); ++i)
    for (int64_t j = 0; j < y.Dim(1); ++j) y(i, j) = x(i % x.Dim(0), j);
}
OPWRIGHT_FUNCTION(repeat_rows, RepeatRows)

template <class T>
void RepeatRowsGrad(View<const T> dy, View<T> dx) {
  for (int64_t i = 0; i < dx.Size(); ++i) dx.Data()[i] = 0;
  for (int64_t i = 0; i < dy.Dim(0) && dx.Dim(0) > 0; ++i)
    for (int64_t j = 0; j < dy.Dim(1); ++j) dx(i % dx.Dim(0), j) += dy(i, j);
}
OPWRIGHT_FUNCTION(repeat_rows_grad, RepeatRowsGrad)

template <class T>
void Total(View<const T> x, View<T> y) {
  T sum = 0;
  for (int64_t i = 0; i < x.Size(); ++i) sum += x.Data()[i];
  y.Data()[0] = sum;
}
OPWRIGHT_FUNCTION(total, Total)

template <class T>
void TotalGrad(View<const T> dy, View<T> dx) {
  for (int64_t i = 0; i < dx.Size(); ++i) dx.Data()[i] = dy.Data()[0];
}
OPWRIGHT_FUNCTION(total_grad, TotalGrad)
""",
)

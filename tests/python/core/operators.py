# SPDX-License-Identifier: Apache-2.0
"""The operators that the tests of calls share: small kernels, each with one property."""

ALL_DTYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip
FLOATS = ["float32", "float64"]


def param(name, dtype=("float32",), shape=(-2,), **more):
    return {"name": name, "dtype": list(dtype), "format": ["ND"], "shape": list(shape), **more}


def operator(name, inputs, outputs, **more):
    head = {"op_name": name, "op_type": "Custom"}
    return {**head, "input_desc": inputs, "output_desc": outputs, **more}


def binary(name, dtype=("float32",), **more):
    shapes = {"shape_rule": "broadcast(x, y)", **more}
    return operator(name, [param("x", dtype), param("y", dtype)], [param("z", dtype)], **shapes)


def attr(name, kind, default):
    return {"name": name, "type": kind, "param_type": "optional", "default_value": default}


METADEF = [
    binary("element_add", ["float32", "float64"]),
    binary("strict_add", ["float32", "float64"], mixed_dtypes="error"),
    binary("single_add", mixed_dtypes="float32"),
    binary("wide_add", ["float64"]),
    operator("twice", [param("x")], [param("y")]),
    operator("echo", [param("x", ALL_DTYPES)], [param("y", ALL_DTYPES)]),
    operator("vector", [param("x", shape=[-1])], [param("y", shape=[-1])]),
    operator(
        "affine",
        [
            param("x"),
            param("w"),
            param("bias", param_type="optional"),
        ],
        [param("y")],
        attr=[attr("eps", "float", 0.5)],
        shape_rule="same(x)",
    ),
    operator(
        "join",
        [param("xs", shape=[-1], param_type="dynamic")],
        [param("y", shape=[-1])],
        shape_rule="kernel",
    ),
    operator(
        "copies",
        [param("xs", param_type="dynamic")],
        [param("ys", param_type="dynamic")],
        shape_rule="same(xs)",
    ),
    operator("sum_and_difference", [param("x"), param("y")], [param("s"), param("d")]),
    operator(
        "matmul",
        [param("a", shape=["n", "k"]), param("b", shape=["k", "m"])],
        [param("c", shape=["n", "m"])],
        shape_rule=["n", "m"],
    ),
    operator(
        "shrink",
        [param("x", shape=["n"])],
        [param("y", shape=[-1])],
        attr=[attr("by", "int", 2)],
        shape_rule=["n - by"],
    ),
    operator(
        "attributes",
        [param("x", shape=[-1])],
        [param("y", ["float64"], [12])],
        attr=[
            attr("int_value", "int", 1),
            attr("float_value", "float", 2.5),
            attr("bool_value", "bool", False),
            attr("text", "string", "mean"),
            attr("dtype", "type", "float32"),
            attr("ints", "list_int", [1, 2]),
            attr("floats", "list_float", [0.5]),
            attr("bools", "list_bool", [True]),
            attr("texts", "list_string", ["a", "bc"]),
            attr("nested", "list_list_int", [[1], [2, 3]]),
        ],
        shape_rule=[12],
    ),
    operator(
        "needs_axis",
        [param("x")],
        [param("y")],
        attr=[{"name": "axis", "type": "int", "param_type": "required"}],
    ),
    operator("increment", [param("x")], [param("y")], mutates=["x"]),
    operator("fails", [param("x")], [param("y")], attr=[attr("how", "int", 0)]),
]

SOURCE = r"""
#include <new>
#include <stdexcept>

#include <opwright/kernel.h>

using opwright::List;
using opwright::OpKernelInput;
using opwright::OpKernelOutput;
using opwright::Status;
using opwright::SUCCESS;
using opwright::View;

template <class T>
void Add(View<const T> x, View<const T> y, View<T> z) {
  // The inputs come expanded: offsets by the indices of the element's place.
  for (int64_t i = 0; i < z.Size(); ++i) {
    int64_t rest = i, at_x = 0, at_y = 0;
    for (int32_t k = z.Rank() - 1; k >= 0; --k) {
      at_x += rest % z.Dim(k) * x.Stride(k);
      at_y += rest % z.Dim(k) * y.Stride(k);
      rest /= z.Dim(k);
    }
    z.Data()[i] = x.Data()[at_x] + y.Data()[at_y];
  }
}
OPWRIGHT_FUNCTION(element_add, Add)
OPWRIGHT_FUNCTION(strict_add, Add)
OPWRIGHT_FUNCTION(single_add, Add)
OPWRIGHT_FUNCTION(wide_add, Add)

void Copy(const opwright::Tensor& from, float* to, float factor) {
  for (int64_t i = 0; i < from.Size(); ++i) to[i] = from.Data<float>()[i] * factor;
}


struct TwiceKernel : opwright::OpKernelBase {
  Status Compute(const OpKernelInput& input, OpKernelOutput* output) override {
    Copy(input.GetTensor(0), output->GetTensor(0)->Data<float>(), 2);
    return SUCCESS;
  }
};

struct VectorKernel : TwiceKernel {};
OPWRIGHT_KERNEL(vector, VectorKernel)

template <class T>
bool EchoAs(const OpKernelInput& input, OpKernelOutput* output) {
  const auto& x = input.GetTensor(0);
  const OpwrightDType dtype = x.DType(), wanted = opwright::detail::DTypeOf<T>::kValue;
  if (dtype.code != wanted.code || dtype.bits != wanted.bits) return false;
  T* y = output->GetTensor(0)->Data<T>();
  for (int64_t i = 0; i < x.Size(); ++i) y[i] = x.Data<T>()[i];
  return true;
}

template <class... Types>
bool EchoAny(const OpKernelInput& input, OpKernelOutput* output) {
  return (EchoAs<Types>(input, output) || ...);
}

struct EchoKernel : opwright::OpKernelBase {
  Status Compute(const OpKernelInput& input, OpKernelOutput* output) override {
    const bool known = EchoAny<bool, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
                               uint64_t, opwright::float16, opwright::bfloat16, float, double,
                               float _Complex, double _Complex>(input, output);
    return known ? Status(SUCCESS) : Status::Error("a dtype that no column lists");
  }
};

struct AffineKernel : opwright::OpKernelBase {
  Status Compute(const OpKernelInput& input, OpKernelOutput* output) override {
    const auto& x = input.GetTensor(0);
    const float* w = input.GetTensor(1).Data<float>();
    const float bias = input.Has(2) ? input.GetTensor(2).Data<float>()[0] : 0;
    float* y = output->GetTensor(0)->Data<float>();
    for (int64_t i = 0; i < x.Size(); ++i)
      y[i] = x.Data<float>()[i] * w[i] + bias + input.Attr<float>("eps");
    return SUCCESS;
  }
};

struct JoinKernel : opwright::OpKernelBase {
  Status InferShape(const opwright::InferInput& input, opwright::InferOutput* output) override {
    int64_t n = 0;
    for (const auto& x : input.GetList(0)) n += x.Size();
    output->SetShape(0, {n});
    return SUCCESS;
  }
  Status Compute(const OpKernelInput& input, OpKernelOutput* output) override {
    float* y = output->GetTensor(0)->Data<float>();
    for (const auto& x : input.GetList(0)) {
      Copy(x, y, 1);
      y += x.Size();
    }
    return SUCCESS;
  }
};

struct CopiesKernel : opwright::OpKernelBase {
  Status Compute(const OpKernelInput& input, OpKernelOutput* output) override {
    for (int64_t k = 0; k < input.GetList(0).Size(); ++k)
      Copy(input.GetList(0)[k], output->GetList(0)[k].Data<float>(), 1);
    return SUCCESS;
  }
};

struct SumAndDifferenceKernel : opwright::OpKernelBase {
  Status Compute(const OpKernelInput& input, OpKernelOutput* output) override {
    const auto& x = input.GetTensor(0);
    const float* y = input.GetTensor(1).Data<float>();
    for (int64_t i = 0; i < x.Size(); ++i) {
      output->GetTensor(0)->Data<float>()[i] = x.Data<float>()[i] + y[i];
      output->GetTensor(1)->Data<float>()[i] = x.Data<float>()[i] - y[i];
    }
    return SUCCESS;
  }
};

struct MatmulKernel : opwright::OpKernelBase {
  Status Compute(const OpKernelInput& input, OpKernelOutput* output) override {
    const auto& a = input.GetTensor(0);
    const auto& b = input.GetTensor(1);
    const int64_t n = a.Shape()[0], k = a.Shape()[1], m = b.Shape()[1];
    float* c = output->GetTensor(0)->Data<float>();
    for (int64_t i = 0; i < n * m; ++i) {
      c[i] = 0;
      for (int64_t j = 0; j < k; ++j)
        c[i] += a.Data<float>()[i / m * k + j] * b.Data<float>()[j * m + i % m];
    }
    return SUCCESS;
  }
};

struct ShrinkKernel : opwright::OpKernelBase {
  Status Compute(const OpKernelInput& input, OpKernelOutput* output) override {
    auto* y = output->GetTensor(0);
    for (int64_t i = 0; i < y->Size(); ++i)
      y->Data<float>()[i] = input.GetTensor(0).Data<float>()[i];
    return SUCCESS;
  }
};

// One number for each attribute, and the lengths of the lists.
struct AttributesKernel : opwright::OpKernelBase {
  Status Compute(const OpKernelInput& input, OpKernelOutput* output) override {
    double* y = output->GetTensor(0)->Data<double>();
    y[0] = static_cast<double>(input.Attr<int64_t>("int_value"));
    y[1] = input.Attr<double>("float_value");
    y[2] = input.Attr<bool>("bool_value");
    y[3] = static_cast<double>(strlen(input.Attr<const char*>("text")));
    y[4] = strcmp(input.Attr<const char*>("dtype"), "float64") == 0;
    y[5] = 0;
    const auto ints = input.Attr<List<int64_t>>("ints");
    for (int64_t v : ints) y[5] += static_cast<double>(v);
    y[6] = static_cast<double>(ints.Size());
    y[7] = 0;
    for (double v : input.Attr<List<double>>("floats")) y[7] += v;
    y[8] = 0;
    for (int64_t v : input.Attr<List<int64_t>>("bools")) y[8] += v ? 1 : 0;
    y[9] = 0;
    for (const char* v : input.Attr<List<const char*>>("texts"))
      y[9] += static_cast<double>(strlen(v));
    const auto nested = input.Attr<List<OpwrightAttr>>("nested");
    y[10] = static_cast<double>(nested.Size());
    y[11] = 0;
    for (const OpwrightAttr& inner : nested)
      for (int64_t k = 0; k < inner.size; ++k)
        y[11] += static_cast<double>(static_cast<const int64_t*>(inner.value.data)[k]);
    return SUCCESS;
  }
};

struct NeedsAxisKernel : TwiceKernel {};
OPWRIGHT_KERNEL(needs_axis, NeedsAxisKernel)

struct IncrementKernel : opwright::OpKernelBase {
  Status Compute(const OpKernelInput& input, OpKernelOutput* output) override {
    const auto& x = input.GetTensor(0);
    float* data = const_cast<float*>(x.Data<float>());
    for (int64_t i = 0; i < x.Size(); ++i) output->GetTensor(0)->Data<float>()[i] = data[i]++;
    return SUCCESS;
  }
};

struct FailsKernel : opwright::OpKernelBase {
  Status Compute(const OpKernelInput& input, OpKernelOutput*) override {
    switch (input.Attr<int>("how")) {
      case 1:
        throw 5;
      case 2:
        throw std::bad_alloc();
      case 3:
        return Status::Error("加法失败: é %d", 42);
      case 5:
        return Status::Error("half a word: \xe5\x8a \xff.");
      case 6:
        throw std::runtime_error("latin \xe9t\xe9");
      case 4:
        input.GetTensor(0).Data<double>();
        return SUCCESS;
      default:
        throw std::runtime_error("bad");
    }
  }
};
"""

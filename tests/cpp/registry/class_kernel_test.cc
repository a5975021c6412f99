// SPDX-License-Identifier: Apache-2.0
//
// Kernels written as classes, in both forms of the header.
#include <gtest/gtest.h>

#include "registry/kernels.h"

namespace opwright::test {
namespace {

constexpr const char* kSource = R"cpp(
#include <opwright/kernel.h>

  using opwright::OpKernelInput;
  using opwright::OpKernelOutput;
  using opwright::Status;

  namespace math {
  namespace {
  template <class T>
  T Twice(T x) {
    return x + x;
  }
  }  // namespace

// The operator twice: found by the class's name, inside namespaces.
  class TwiceKernel : public opwright::OpKernelBase {
   public:
    Status Compute(const OpKernelInput& in, OpKernelOutput* out) override {
      const auto& x = in.GetTensor(0);
      for (int64_t i = 0; i < x.Size(); ++i)
        out->GetTensor(0)->Data<float>()[i] = Twice(x.Data<float>()[i]);
      return opwright::SUCCESS;
    }
  };
  }  // namespace math

// A name that the rule does not give.
  struct Impl : opwright::OpKernelBase {
    int64_t calls = 0;
    Status Compute(const OpKernelInput& in, OpKernelOutput* out) override {
      out->GetTensor(0)->Data<float>()[0] =
          static_cast<float>(__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED));
      return opwright::SUCCESS;
    }
  };
  OPWRIGHT_KERNEL(call_count, Impl)

  class AttributesKernel : public opwright::OpKernelBase {
   public:
    Status Compute(const OpKernelInput& in, OpKernelOutput* out) override {
      double* z = out->GetTensor(0)->Data<double>();
      z[0] = static_cast<double>(in.Attr<int64_t>("i"));
      z[1] = in.Attr<int32_t>("i");
      z[2] = in.Attr<double>("f");
      z[3] = in.Attr<float>("f");
      z[4] = in.Attr<bool>("b");
      z[5] = static_cast<double>(strlen(in.Attr<const char*>("s")));
      z[6] = strcmp(in.Attr<const char*>("t"), "float16") == 0;
      z[7] = 0;
      for (const int64_t v : in.Attr<opwright::List<int64_t>>("li")) z[7] += static_cast<double>(v);
      for (const double v : in.Attr<opwright::List<double>>("lf")) z[7] += v;
      z[8] = static_cast<double>(in.Attr<opwright::List<const char*>>("ls").Size());
      z[9] = static_cast<double>(in.Attr<opwright::List<OpwrightAttr>>("lli")[1].size);
      z[10] = static_cast<double>(in.Attr<opwright::List<int64_t>>("lb")[0]);
      return opwright::SUCCESS;
    }
  };

  class WrongAttributeKernel : public opwright::OpKernelBase {
   public:
    Status Compute(const OpKernelInput& in, OpKernelOutput*) override {
      const int64_t which = in.Attr<int64_t>("which");
      if (which == 0) (void)in.Attr<float>("which");
      if (which == 1) (void)in.Attr<int64_t>("other");
      if (which == 2) (void)in.GetTensor(7);
      if (which == 3) (void)in.GetTensor(1);
      if (which > 3) (void)in.Attr<int32_t>("which");
      return opwright::SUCCESS;
    }
  };

  // Concatenation of a list, with the parts' count, and the shape by the class itself.
  class ConcatKernel : public opwright::OpKernelBase {
   public:
    Status InferShape(const opwright::InferInput& in, opwright::InferOutput* out) override {
      int64_t total = 0;
      for (const auto& x : in.GetList(0)) total += x.Size();
      out->SetShape(0, {total});
      return opwright::SUCCESS;
    }
    Status Compute(const OpKernelInput& in, OpKernelOutput* out) override {
      float* z = out->GetTensor(0)->Data<float>();
      for (const auto& x : in.GetList(0))
        for (int64_t i = 0; i < x.Size(); ++i) *z++ = x.Data<float>()[i];
      return opwright::SUCCESS;
    }
  };

  class SplitKernel : public opwright::OpKernelBase {
   public:
    Status Compute(const OpKernelInput& in, OpKernelOutput* out) override {
      for (int64_t k = 0; k < out->GetList(0).Size(); ++k)
        out->GetList(0)[k].Data<float>()[0] = in.GetList(0)[k].Data<float>()[0] +
                                              (in.Has(1) ? in.GetTensor(1).Data<float>()[0] : 100);
      if (auto* count = out->GetTensor(1)) count->Data<int64_t>()[0] = in.GetList(0).Size();
      return opwright::SUCCESS;
    }
  };

  class ScratchKernel : public opwright::OpKernelBase {
   public:
    Status Compute(const OpKernelInput& in, OpKernelOutput* out) override {
      double* z = out->GetTensor(0)->Data<double>();
      char* first = static_cast<char*>(in.Scratch(1));
      for (int k = 0; k < 20; ++k) {
        char* memory = static_cast<char*>(in.Scratch(100000));
        memset(memory, k, 100000);
        z[0] += reinterpret_cast<uintptr_t>(memory) % 64 == 0;
      }
      *first = 1;
      if (in.Attr<int64_t>("which") == 1) (void)in.Scratch(SIZE_MAX - 100);
      return opwright::SUCCESS;
    }
  };

  // What the header says of tensors.
  class InspectKernel : public opwright::OpKernelBase {
   public:
    Status Compute(const OpKernelInput& in, OpKernelOutput* out) override {
      const auto& x = in.GetTensor(0);
      double* z = out->GetTensor(0)->Data<double>();
      z[0] = static_cast<double>(x.Size());
      z[1] = static_cast<double>(x.Shape().Size());
      z[2] = static_cast<double>(x.Strides()[0]);
      z[3] = static_cast<double>(x.Shape()[1]);
      z[4] = x.DType().bits;
      return opwright::SUCCESS;
    }
  };
)cpp";

constexpr const char* kAclSource = R"cpp(
#include "acl/acl.h"

  class ElementAddKernel : public OpKernelBase {
   public:
    Status Compute(const OpKernelInput& input, OpKernelOutput* output) override {
      const Tensor& x = input.GetTensor(0);
      const Tensor& y = input.GetTensor(1);
      Tensor* z = output->GetTensor(0);
      float* x_data = x.Data<float>();
      float* y_data = y.Data<float>();
      float* z_data = z->Data<float>();
      for (int64_t i = 0; i < x.Size(); ++i) z_data[i] = x_data[i] + y_data[i];
      return SUCCESS;
    }
  };

  class FirstHalfKernel : public OpKernelBase {
   public:
    Status InferShape(const InferInput& input, InferOutput* output) override {
      output->SetShape(0, {input.GetTensor(0).Shape()[0] / 2});
      return SUCCESS;
    }
    Status Compute(const OpKernelInput& input, OpKernelOutput* output) override {
      for (int64_t i = 0; i < output->GetTensor(0)->Size(); ++i)
        output->GetTensor(0)->Data<float>()[i] = input.GetTensor(0).Data<float>()[i];
      return SUCCESS;
    }
  };
)cpp";

constexpr const char* kWhich = R"(, "attr": [{"name": "which", "type": "int"}])";

class ClassKernel : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const std::string dynamic = R"(, "param_type": "dynamic")";
    const std::string optional = R"(, "param_type": "optional")";
    const std::string doubles = Param1("z", R"(["float64"])", "[16]");
    const std::string attrs = StrCat(
        R"(, "shape_rule": [16], "attr": [)", Attribute("i", "int", "-3"), ",",
        Attribute("f", "float", "0.25"), ",", Attribute("b", "bool", "true"), ",",
        Attribute("s", "string", "\"four\""), ",", Attribute("t", "type", "\"float16\""), ",",
        Attribute("li", "list_int", "[1, 2]"), ",", Attribute("lf", "list_float", "[0.5]"), ",",
        Attribute("ls", "list_string", "[\"a\", \"b\", \"c\"]"), ",",
        Attribute("lli", "list_list_int", "[[1], [2, 3]]"), ",",
        Attribute("lb", "list_bool", "[true]"), "]");
    library_ = LoadOrFail(BuildLibrary(
        Operators(
            {Op(Float("x"), Float("z"), "", "twice"), Op(Float("x"), Float("z"), "", "call_count"),
             Op(Float("x"), doubles, attrs, "attributes"),
             Op(Float("x") + ", " + Float("y", "[-2]", optional), doubles,
                StrCat(kWhich, R"(, "shape_rule": [16])"), "wrong_attribute"),
             Op(Float("xs", "[-2]", dynamic), Float("z", "[-1]"), R"(, "shape_rule": "kernel")",
                "concat"),
             Op(Float("xs", "[1]", dynamic) + ", " + Float("y", "[1]", optional),
                Float("zs", "[1]", dynamic) + ", " + Param1("n", R"(["int64"])", "[1]", optional),
                R"j(, "shape_rule": {"zs": "same(xs)", "n": [1]})j", "split"),
             Op(Float("x"), doubles, StrCat(kWhich, R"(, "shape_rule": [16])"), "scratch"),
             Op(Float("x"), doubles, R"(, "shape_rule": [16])", "inspect")}),
        kSource));
    acl_ = LoadOrFail(
        BuildLibrary(Operators({Op(Float("x") + ", " + Float("y"), Float("z"), "", "element_add"),
                                Op(Float("x", "[-1]"), Float("z", "[-1]"),
                                   R"(, "shape_rule": "kernel")", "first_half")}),
                     kAclSource));
  }
  static std::shared_ptr<Library> library_;
  static std::shared_ptr<Library> acl_;
};
std::shared_ptr<Library> ClassKernel::library_;
std::shared_ptr<Library> ClassKernel::acl_;

TEST_F(ClassKernel, IsNamedByItsClassInSnakeCase) {
  Tensor x(kF32, {2}), z(kF32, {2});
  EXPECT_EQ(Call(*FindOrFail(*library_, "twice"), {x}, {z}), "");
  EXPECT_EQ(z.Values(), (std::vector<double>{2, 4}));
}

TEST_F(ClassKernel, HasOneObjectForAllCalls) {
  Tensor x(kF32, {1}), z(kF32, {1});
  const auto op = FindOrFail(*library_, "call_count");
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(Call(*op, {x}, {z}), "");
    EXPECT_EQ(z.Values()[0], i);
  }
}

TEST_F(ClassKernel, ReadsAttributesOfEveryType) {
  Tensor x(kF32, {1}), z(kF64, {16});
  z.Fill(0);
  EXPECT_EQ(Call(*FindOrFail(*library_, "attributes"), {x}, {z}), "");
  const std::vector<double> expected = {-3, -3, 0.25, 0.25, 1, 4, 1, 3.5, 3, 2, 1};
  const std::vector<double> values = z.Values();
  EXPECT_EQ(std::vector<double>(values.begin(), values.begin() + 11), expected);
}

TEST_F(ClassKernel, AsksForWhatTheMetadefDoesNotHaveAndIsTold) {
  const auto op = FindOrFail(*library_, "wrong_attribute");
  const auto error = [&](int64_t which) {
    Tensor x(kF32, {1}), z(kF64, {16});
    return Call(*op, {x, Arg()}, {z}, {IntAttr(which)});
  };
  EXPECT_EQ(error(0),
            "wrong_attribute: the kernel failed: attribute which has another type in the "
            "metadef: it is read as int64_t [CL012]");
  EXPECT_EQ(
      error(1),
      "wrong_attribute: the kernel failed: attribute other is not in the metadef, which lists "
      "which [CL012]");
  EXPECT_EQ(error(2),
            "wrong_attribute: the kernel failed: input 7 of 2 asked for: the metadef lists them "
            "from 0 [CL012]");
  EXPECT_EQ(error(3),
            "wrong_attribute: the kernel failed: input 1 is absent: ask Has(1) first [CL012]");
  EXPECT_EQ(error(int64_t{1} << 40),
            "wrong_attribute: the kernel failed: an attribute is 1099511627776, which an int32_t "
            "does not hold [CL012]");
  EXPECT_EQ(error(5), "");
}

TEST_F(ClassKernel, SaysItsShapeItself) {
  const auto op = FindOrFail(*library_, "concat");
  Tensor a(kF32, {2}), b(kF32, {1, 3}), z(kF32, {5});
  EXPECT_EQ(Call(*op, {Arg{&a, &b}}, {z}), "");
  EXPECT_EQ(z.Values(), (std::vector<double>{1, 2, 1, 2, 3}));
  Tensor wrong(kF32, {4});
  EXPECT_EQ(Call(*op, {Arg{&a, &b}}, {wrong}),
            "concat: output z has shape [4], [5] is due [CL008]");
}

TEST_F(ClassKernel, TakesListsAndOptionalTensors) {
  const auto op = FindOrFail(*library_, "split");
  Tensor a(kF32, {1}, {1}), b(kF32, {1}, {2}), y(kF32, {1}, {10}), za(kF32, {1}), zb(kF32, {1}),
      n(kI64, {1});
  EXPECT_EQ(Call(*op, {Arg{&a, &b}, y}, {Arg{&za, &zb}, n}), "");
  EXPECT_EQ(za.Values()[0], 11);
  EXPECT_EQ(zb.Values()[0], 12);
  EXPECT_EQ(n.Values()[0], 2);
  EXPECT_EQ(Call(*op, {Arg{&a, &b}, Arg()}, {Arg{&za, &zb}, Arg()}), "");
  EXPECT_EQ(zb.Values()[0], 102);
  EXPECT_EQ(Call(*op, {Arg{&a, &b}, y}, {Arg{&za}, n}),
            "split: output zs has 1 tensors, 2 are due [CL001]");
}

TEST_F(ClassKernel, GetsAlignedScratchAndAnErrorWhenThereIsNone) {
  const auto op = FindOrFail(*library_, "scratch");
  Tensor x(kF32, {1}), z(kF64, {16});
  z.Fill(0);
  EXPECT_EQ(Call(*op, {x}, {z}, {IntAttr(0)}), "");
  EXPECT_EQ(z.Values()[0], 20);
  const std::string error = Call(*op, {x}, {z}, {IntAttr(1)});
  EXPECT_EQ(error, StrCat("scratch: the kernel failed: no memory for ", SIZE_MAX - 100,
                          " bytes of scratch [CL012]"));
}

TEST_F(ClassKernel, SeesDenseTensors) {
  const auto op = FindOrFail(*library_, "inspect");
  Tensor x = Tensor::Strided(kF32, {2, 3}, {1, 2}, 0, 8);
  Tensor z(kF64, {16});
  EXPECT_EQ(Call(*op, {x}, {z}), "");
  const std::vector<double> values = z.Values();
  EXPECT_EQ(std::vector<double>(values.begin(), values.begin() + 5),
            (std::vector<double>{6, 2, 3, 3, 32}));
}

TEST_F(ClassKernel, OfTheAclFormCompilesAsItIsWritten) {
  Tensor x(kF32, {3}), y(kF32, {3}, {10, 20, 30}), z(kF32, {3}), half(kF32, {1});
  EXPECT_EQ(Call(*FindOrFail(*acl_, "element_add"), {x, y}, {z}), "");
  EXPECT_EQ(z.Values(), (std::vector<double>{11, 22, 33}));
  EXPECT_EQ(Call(*FindOrFail(*acl_, "first_half"), {x}, {half}), "");
  EXPECT_EQ(half.Values()[0], 1);
}

}  // namespace
}  // namespace opwright::test

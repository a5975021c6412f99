// SPDX-License-Identifier: Apache-2.0
//
// Whatever a kernel does, the process lives and the error has the operator's name.
#include <gtest/gtest.h>

#include "registry/kernels.h"

namespace opwright::test {
namespace {

constexpr const char* kSource = R"cpp(
#include <opwright/kernel.h>

#include <new>
#include <stdexcept>

  using opwright::OpKernelInput;
  using opwright::OpKernelOutput;
  using opwright::Status;

  class MisbehaveKernel : public opwright::OpKernelBase {
   public:
    Status Compute(const OpKernelInput& in, OpKernelOutput* out) override {
      switch (in.Attr<int64_t>("how")) {
        case 0:
          throw std::runtime_error("bad");
        case 1:
          throw 7;
        case 2:
          throw std::bad_alloc();
        case 3:
          return Status::Error("row %d of %s is wrong", 3, "x");
        case 4:
          out->GetTensor(0)->Data<double>();
          break;
        case 5:
          return opwright::FAILED;
        case 6:
          out->GetTensor(1);
          break;
        default:
          out->GetTensor(0)->Data<float>()[0] = 1;
      }
      return opwright::SUCCESS;
    }
    Status InferShape(const opwright::InferInput& in, opwright::InferOutput* out) override {
      if (in.Attr<int64_t>("how") == 20) throw std::logic_error("no shape");
      if (in.Attr<int64_t>("how") == 21) return Status::Error("x is too short");
      out->SetShape(0, {1});
      return opwright::SUCCESS;
    }
  };

  struct StubbornKernel : opwright::OpKernelBase {
    StubbornKernel() {
      static int tries = 0;
      if (++tries < 3) throw std::runtime_error("no licence yet");
    }
    Status Compute(const OpKernelInput&, OpKernelOutput* out) override {
      out->GetTensor(0)->Data<float>()[0] = 5;
      return opwright::SUCCESS;
    }
  };
)cpp";

class KernelErrors : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    library_ = LoadOrFail(BuildLibrary(
        Operators({Op(Float("x"), Float("z"),
                      R"(, "shape_rule": "kernel", "attr": [{"name": "how", "type": "int"}])",
                      "misbehave"),
                   Op(Float("x"), Float("z"), "", "stubborn")}),
        kSource));
  }
  static std::string Misbehave(int64_t how) {
    Tensor x(kF32, {1}), z(kF32, {1});
    return Call(*FindOrFail(*library_, "misbehave"), {x}, {z}, {IntAttr(how)});
  }
  static std::shared_ptr<Library> library_;
};
std::shared_ptr<Library> KernelErrors::library_;

TEST_F(KernelErrors, AnExceptionBecomesAnErrorWithItsText) {
  EXPECT_EQ(Misbehave(0), "misbehave: the kernel failed: Compute threw: bad [CL012]");
}

TEST_F(KernelErrors, AnythingElseThrownBecomesAnError) {
  EXPECT_EQ(
      Misbehave(1),
      "misbehave: the kernel failed: Compute threw something that is no std::exception [CL012]");
}

TEST_F(KernelErrors, NoMemoryIsSaidSo) {
  EXPECT_EQ(Misbehave(2),
            "misbehave: the kernel failed: Compute ran out of memory (std::bad_alloc) [CL010]");
}

TEST_F(KernelErrors, AStatusKeepsItsWords) {
  EXPECT_EQ(Misbehave(3), "misbehave: the kernel failed: row 3 of x is wrong [CL011]");
  EXPECT_EQ(Misbehave(5), "misbehave: the kernel failed: failed [CL011]");
}

TEST_F(KernelErrors, DataOfAnotherDtypeSaysWhichAndWhatToDo) {
  EXPECT_EQ(Misbehave(4),
            "misbehave: the kernel failed: Data<float64>() of a float32 tensor: ask DType(), or "
            "list only the dtypes that the "
            "kernel handles in the metadef [CL012]");
  EXPECT_EQ(Misbehave(6),
            "misbehave: the kernel failed: output 1 of 1 asked for: the metadef lists them from 0 "
            "[CL012]");
}

TEST_F(KernelErrors, InferShapeHasTheSameWall) {
  EXPECT_EQ(Misbehave(20), "misbehave: the kernel failed: InferShape threw: no shape [CL012]");
  EXPECT_EQ(Misbehave(21), "misbehave: the kernel failed: x is too short [CL011]");
}

TEST_F(KernelErrors, AfterAnErrorTheNextCallIsRight) {
  for (int64_t how = 0; how < 7; ++how) EXPECT_NE(Misbehave(how), "");
  EXPECT_EQ(Misbehave(99), "");
}

TEST_F(KernelErrors, AConstructorThatThrowsIsTriedAgainAtTheNextCall) {
  const auto op = FindOrFail(*library_, "stubborn");
  Tensor x(kF32, {1}), z(kF32, {1});
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(Call(*op, {x}, {z}),
              "stubborn: the constructor of the kernel class threw: no licence yet [CL012]");
  EXPECT_EQ(Call(*op, {x}, {z}), "");
  EXPECT_EQ(z.Values()[0], 5);
}

}  // namespace
}  // namespace opwright::test

// SPDX-License-Identifier: Apache-2.0
//
// Operators of a library: their gradients, handles, operators bound to another metadef.
#include "registry/library.h"

#include <gtest/gtest.h>

#include "registry/kernels.h"

namespace opwright::test {
namespace {

constexpr const char* kSource = R"cpp(
#include <opwright/kernel.h>

  using opwright::View;

  void Mul(View<const float> x, View<const float> y, View<float> z) {
    for (int64_t i = 0; i < z.Size(); ++i) z(i) = x(i) * y(i);
  }
  OPWRIGHT_FUNCTION(mul, Mul)
  OPWRIGHT_FUNCTION(lone, Mul)
  OPWRIGHT_FUNCTION(apart, Mul)
  OPWRIGHT_FUNCTION(slip, Mul)

  void MulGrad(View<const float> x, View<const float> y, View<const float> g, View<float> gx,
               View<float> gy) {
    for (int64_t i = 0; gx && i < g.Size(); ++i) gx(i) = g(i) * y(i);
    for (int64_t i = 0; gy && i < g.Size(); ++i) gy(i) = g(i) * x(i);
  }
  OPWRIGHT_FUNCTION(mul_grad, MulGrad)

  class BareKernel : public opwright::OpKernelBase {
   public:
    static inline int alive = 0;
    BareKernel() { ++alive; }
    ~BareKernel() override { --alive; }
    opwright::Status Compute(const opwright::OpKernelInput& in,
                             opwright::OpKernelOutput* out) override {
      out->GetTensor(0)->Data<float>()[0] =
          in.GetTensor(0).Data<float>()[0] + static_cast<float>(alive);
      return opwright::SUCCESS;
    }
  };
)cpp";

std::string Metadefs() {
  const std::string inputs = Float("x", "[-1]") + ", " + Float("y", "[-1]");
  const std::string optional = R"(, "param_type": "optional")";
  return Operators({Op(inputs, Float("z", "[-1]"), R"(, "gradient": "mul_grad")", "mul"),
                    Op(inputs, Float("z", "[-1]"), "", "lone"),
                    Op(inputs, Float("z", "[-1]"), R"(, "gradient": "apart_grad")", "apart"),
                    Op(inputs, Float("z", "[-1]"), R"(, "gradient": "mul_gard")", "slip"),
                    Op(inputs + ", " + Float("grad_z", "[-1]"),
                       Float("grad_x", "[-1]", optional) + ", " + Float("grad_y", "[-1]", optional),
                       R"(, "shape_rule": "forward")", "mul_grad"),
                    Op(Float("x"), Float("z"), "", "bare")});
}

class LibraryTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { path_ = BuildLibrary(Metadefs(), kSource); }
  static std::string GradientOf(Operator& op, std::vector<double>* grad_x) {
    Tensor x(kF32, {2}, {2, 3}), y(kF32, {2}, {5, 7}), z(kF32, {2}), g(kF32, {2}, {10, 100}),
        gx(kF32, {2});
    std::vector<Arg> inputs = {x, y}, outputs = {z}, grads = {g}, results = {gx, Arg()};
    const Status status = op.CallGradient(RawOf(inputs).data(), RawOf(outputs).data(), nullptr, 0,
                                          RawOf(grads).data(), RawOf(results).data());
    *grad_x = gx.Values();
    return status.ok() ? "" : status.error().Text();
  }
  static metadef::Operator Metadef(const std::string& text) {
    return metadef::Read(text, "t.json").operators.at(0);
  }
  static std::string path_;
};
std::string LibraryTest::path_;

TEST_F(LibraryTest, BindsTheGradientsThatItsMetadefsName) {
  const auto library = LoadOrFail(path_);
  EXPECT_TRUE(library->warnings().empty());
  const auto op = FindOrFail(*library, "mul");
  ASSERT_NE(op->backward(), nullptr);
  EXPECT_STREQ(op->backward()->name(), "mul_grad");
  std::vector<double> grad_x;
  EXPECT_EQ(GradientOf(*op, &grad_x), "");
  EXPECT_EQ(grad_x, (std::vector<double>{50, 700}));
}

TEST_F(LibraryTest, AnOperatorWithoutAGradientSaysHowToGiveItOne) {
  std::vector<double> grad_x;
  EXPECT_EQ(
      GradientOf(*FindOrFail(*LoadOrFail(path_), "lone"), &grad_x),
      "lone has no gradient; name a backward operator in its metadef's \"gradient\", or bind a "
      "Python rule (bprop=, @operator.bprop; register_operator_gradient of the acl form) "
      "[GR001]");
}

TEST_F(LibraryTest, ABackwardOperatorThatIsNotInTheLibraryIsNamed) {
  const auto library = LoadOrFail(path_);
  const auto op = FindOrFail(*library, "apart");
  EXPECT_EQ(op->MissingBackward(), "apart_grad");
  EXPECT_EQ(FindOrFail(*library, "mul")->MissingBackward(), "");
  EXPECT_EQ(FindOrFail(*library, "lone")->MissingBackward(), "");
  std::vector<double> grad_x;
  EXPECT_EQ(
      GradientOf(*op, &grad_x),
      StrCat("apart has no gradient: its backward operator apart_grad is not in ", library->path(),
             "; build both together, or bind a Python rule (bprop=, @operator.bprop; "
             "register_operator_gradient of the acl form) [GR001]"));
}

TEST_F(LibraryTest, ABackwardOperatorWithASlipInItsNameIsToldTheNearest) {
  std::vector<double> grad_x;
  EXPECT_NE(GradientOf(*FindOrFail(*LoadOrFail(path_), "slip"), &grad_x)
                .find("mul_gard is not in " + path_ + ", which has mul_grad: is that meant?"),
            std::string::npos);
}

TEST_F(LibraryTest, AGradientCanBeBoundByHandByNames) {
  const auto library = LoadOrFail(path_);
  Expected<std::shared_ptr<Operator>> op = Operator::Bind(
      *FindOrFail(*library, "lone"),
      Metadef(Op(Float("x", "[-1]") + ", " + Float("y", "[-1]"), Float("z", "[-1]"), "", "other")));
  ASSERT_TRUE(op.ok());
  ASSERT_TRUE((*op)->BindGradient(FindOrFail(*library, "mul_grad")).ok());
  std::vector<double> grad_x;
  EXPECT_EQ(GradientOf(**op, &grad_x), "");
  EXPECT_EQ(grad_x, (std::vector<double>{50, 700}));
}

TEST_F(LibraryTest, AGradientInTheLongFormIsBoundAsItSays) {
  // x and y change places: the gradient of "x" is that of y.
  const auto library = LoadOrFail(path_);
  const std::string metadef = Op(
      Float("x", "[-1]") + ", " + Float("y", "[-1]"), Float("z", "[-1]"),
      R"(, "gradient": {"op": "mul_grad", "inputs": ["y", "x", "grad_z"], "outputs": ["y", "x"]})",
      "other");
  Expected<std::shared_ptr<Operator>> op =
      Operator::Bind(*FindOrFail(*library, "lone"), Metadef(metadef));
  ASSERT_TRUE(op.ok());
  const Status bound = (*op)->BindGradient(FindOrFail(*library, "mul_grad"));
  ASSERT_TRUE(bound.ok()) << bound.error().Text();
  std::vector<double> grad_x;
  EXPECT_EQ(GradientOf(**op, &grad_x), "");
  EXPECT_EQ(grad_x, (std::vector<double>{50, 700})) << "gy of mul_grad, whose x is y";
}

TEST_F(LibraryTest, AGradientThatDoesNotFitIsRefusedAndChangesNothing) {
  const auto library = LoadOrFail(path_);
  Expected<std::shared_ptr<Operator>> op = Operator::Bind(
      *FindOrFail(*library, "bare"), Metadef(Op(Float("a"), Float("b"), "", "other")));
  ASSERT_TRUE(op.ok());
  const Status bound = (*op)->BindGradient(FindOrFail(*library, "mul_grad"));
  ASSERT_FALSE(bound.ok());
  EXPECT_TRUE(bound.error().id.starts_with("MD")) << bound.error().Text();
  EXPECT_EQ((*op)->backward(), nullptr);
}

TEST_F(LibraryTest, ABoundOperatorHasAKernelObjectOfItsOwnThatGoesWithIt) {
  const auto library = LoadOrFail(path_);
  const auto bare = FindOrFail(*library, "bare");
  EXPECT_EQ(CallScale(*bare, 10), 11);
  {
    Expected<std::shared_ptr<Operator>> other =
        Operator::Bind(*bare, Metadef(ScaleMetadef("other")));
    ASSERT_TRUE(other.ok());
    EXPECT_EQ(CallScale(**other, 10), 12);
    EXPECT_EQ(CallScale(*bare, 10), 12);
  }
  EXPECT_EQ(CallScale(*bare, 10), 11);
}

TEST_F(LibraryTest, AnUnknownNameGetsTheNamesThatAreThere) {
  const auto library = LoadOrFail(path_);
  const auto found = library->Get("mull");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(
      found.error().Text(),
      StrCat("no operator mull in ", library->path(),
             "; it has mul, lone, apart, slip, mul_grad and bare; did you mean mul? [LD013]"));
}

TEST_F(LibraryTest, AClosedLibraryRefusesCallsAndGradients) {
  const std::string path =
      BuildLibrary(Metadefs(), StrCat(kSource, "// a library of this test's own\n"));
  std::shared_ptr<Operator> op;
  {
    Expected<LibraryHandle> first = LoadLibrary(path);
    ASSERT_TRUE(first.ok());
    op = FindOrFail(**first, "mul");
    {
      Expected<LibraryHandle> second = LoadLibrary(path);
      ASSERT_TRUE(second.ok());
      EXPECT_EQ(second->shared(), first->shared());
    }
    std::vector<double> grad_x;
    EXPECT_EQ(GradientOf(*op, &grad_x), "") << "one of two handles is closed";
  }
  std::vector<double> grad_x;
  const std::string closed =
      StrCat("mul: its library ", path, " was closed; load it again [CL014]");
  EXPECT_EQ(GradientOf(*op, &grad_x), closed);
  Tensor x(kF32, {1}), z(kF32, {1});
  EXPECT_EQ(Call(*op, {x, x}, {z}), closed);
  for (const auto& library : LoadedLibraries()) EXPECT_NE(library->path(), path);
  const auto again = LoadOrFail(path);
  EXPECT_EQ(Call(*op, {x, x}, {z}), "") << "open again, the old operator works";
  EXPECT_EQ(FindOrFail(*again, "mul"), op);
}

TEST_F(LibraryTest, AKernelWithoutMetadefSaysWhatIsMissing) {
  const auto library = LoadOrFail(BuildKernels(ScaleSource("3")));
  const auto op = FindOrFail(*library, "scale");
  EXPECT_FALSE(op->has_metadef());
  Tensor x(kF32, {1}), z(kF32, {1});
  EXPECT_EQ(Call(*op, {x}, {z}),
            "scale: no metadef is bound to this kernel; call register_operator_model, or build the "
            "library with its op.json "
            "[RG003]");
  Expected<std::shared_ptr<Operator>> bound = Operator::Bind(*op, Metadef(ScaleMetadef()));
  ASSERT_TRUE(bound.ok());
  EXPECT_EQ(CallScale(**bound, 2), 6);
}

}  // namespace
}  // namespace opwright::test

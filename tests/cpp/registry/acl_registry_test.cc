// SPDX-License-Identifier: Apache-2.0
#include "registry/acl_registry.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "registry/kernels.h"

namespace opwright::test {
namespace {

std::string KernelSource(const std::string& factor) {
  return StrCat(ScaleSource(factor),
                "class ScaleGradKernel : public opwright::OpKernelBase {\n public:\n"
                "  opwright::Status Compute(const opwright::OpKernelInput& in, "
                "opwright::OpKernelOutput* out) override {\n"
                "    for (int64_t i = 0; i < in.GetTensor(0).Size(); ++i)\n"
                "      out->GetTensor(0)->Data<float>()[i] = in.GetTensor(0).Data<float>()[i] * (",
                factor, ");\n    return opwright::SUCCESS;\n  }\n};\n");
}

class Acl : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    library_ = BuildKernels(KernelSource("3"));
    other_library_ = BuildKernels(KernelSource("4"));
  }
  Acl() : folder_(std::move(*TempFolder::Make())) {
    model_ = Write("scale.json", ScaleMetadef());
    gradient_ = Write("scale_grad.json", Op(Float("grad_z"), Float("grad_x"),
                                            R"(, "shape_rule": "forward")", "scale_grad"));
  }
  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = JoinPath(folder_.path(), name);
    EXPECT_TRUE(WriteFileAtomic(path, text).ok());
    return path;
  }

  // Step 0 ... 3 in the right order.
  std::string Step(AclRegistry& registry, int step) const {
    const Status status = step == 0   ? registry.Load(library_)
                          : step == 1 ? registry.Register("scale")
                          : step == 2 ? registry.Model("scale", model_, "scale")
                                      : registry.Gradient("scale", gradient_);
    return status.ok() ? "" : status.error().Text();
  }
  static std::string TextOf(const Status& status) {
    return status.ok() ? "" : status.error().Text();
  }
  void AllSteps(AclRegistry& registry) const {
    for (int step = 0; step < 4; ++step) EXPECT_EQ(Step(registry, step), "");
  }

  static std::string library_;
  static std::string other_library_;
  std::string model_;
  std::string gradient_;
  TempFolder folder_;
};
std::string Acl::library_;
std::string Acl::other_library_;

constexpr const char* kCalls[] = {"load_operator_library", "register_operator",
                                  "register_operator_model", "register_operator_gradient"};

TEST_F(Acl, OneOrderOfTheFourStepsIsRightAndEveryOtherNamesTheMissingStep) {
  std::array<int, 4> order = {0, 1, 2, 3};
  int complete = 0;
  do {
    AclRegistry registry;
    bool all = true;
    int reached = 0;  // steps done in order
    for (const int step : order) {
      const std::string error = Step(registry, step);
      if (step == reached) {
        EXPECT_EQ(error, "");
        ++reached;
        continue;
      }
      all = false;
      EXPECT_TRUE(error.starts_with(StrCat(kCalls[step], " for scale: ", kCalls[reached],
                                           " is missing before it in process ", getpid())))
          << error;
      EXPECT_TRUE(error.ends_with("[RG001]")) << error;
    }
    complete += all;
    // Nothing was half done: what is left of the right order goes through.
    for (int step = reached; step < 4; ++step) EXPECT_EQ(Step(registry, step), "");
    EXPECT_EQ(registry.StateOf("scale"), AclRegistry::State::kWithGradient);
    EXPECT_EQ(CallScale(**registry.Find("scale"), 2), 6);
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_EQ(complete, 1);
}

TEST_F(Acl, EveryStepMayBeRepeated) {
  AclRegistry registry;
  for (int step = 0; step < 4; ++step)
    for (int again = 0; again < 3; ++again) EXPECT_EQ(Step(registry, step), "");
  const auto op = *registry.Find("scale");
  AllSteps(registry);
  EXPECT_EQ(*registry.Find("scale"), op) << "and changes nothing";
}

TEST_F(Acl, TheGradientIsThatOfTheRegisteredKernel) {
  AclRegistry registry;
  AllSteps(registry);
  Tensor x(kF32, {2}), z(kF32, {2}), g(kF32, {2}, {10, 20}), gx(kF32, {2});
  std::vector<Arg> inputs = {x}, outputs = {z}, grads = {g}, results = {gx};
  EXPECT_EQ(TextOf((*registry.Find("scale"))
                       ->CallGradient(RawOf(inputs).data(), RawOf(outputs).data(), nullptr, 0,
                                      RawOf(grads).data(), RawOf(results).data())),
            "");
  EXPECT_EQ(gx.Values(), (std::vector<double>{30, 60}));
}

TEST_F(Acl, AnotherKernelUnderTheNameIsRefusedWithBothIdentities) {
  AclRegistry registry;
  AllSteps(registry);
  ASSERT_TRUE(registry.Load(other_library_).ok());
  const std::string model = TextOf(registry.Model("scale", model_, "scale"));
  const std::string first = LoadOrFail(library_)->identity().substr(0, 8);
  const std::string second = LoadOrFail(other_library_)->identity().substr(0, 8);
  EXPECT_TRUE(model.starts_with("scale is registered already with kernel scale of ")) << model;
  EXPECT_NE(model.find(first), model.npos) << model;
  EXPECT_NE(model.find(second), model.npos) << model;
  EXPECT_TRUE(model.ends_with("[RG002]")) << model;
  const std::string gradient = TextOf(registry.Gradient("scale", gradient_));
  EXPECT_TRUE(gradient.starts_with("scale has the gradient scale_grad of ")) << gradient;
  EXPECT_NE(gradient.find(first), gradient.npos) << gradient;
  EXPECT_NE(gradient.find(second), gradient.npos) << gradient;
  EXPECT_EQ(CallScale(**registry.Find("scale"), 2), 6) << "the first one goes on";
}

TEST_F(Acl, AnotherMetadefOrGradientUnderTheNameIsRefused) {
  AclRegistry registry;
  AllSteps(registry);
  const std::string vector =
      Write("vector.json", Op(Float("x", "[-1]"), Float("z", "[-1]"), "", "scale"));
  EXPECT_TRUE(TextOf(registry.Model("scale", vector, "scale"))
                  .ends_with("call unregister_operator first [RG002]"));
  const std::string other =
      Write("other_grad.json", Op(Float("grad_z", "[-1]"), Float("grad_x", "[-1]"),
                                  R"(, "shape_rule": "forward")", "scale_grad"));
  const std::string error = TextOf(registry.Gradient("scale", other));
  EXPECT_NE(error.find("scale has the gradient scale_grad of "), error.npos) << error;
  EXPECT_NE(error.find("other_grad.json"), error.npos) << error;
  EXPECT_TRUE(error.ends_with("[RG002]")) << error;
}

TEST_F(Acl, AGradientForAMisspelledNameIsRefusedWithTheNearest) {
  AclRegistry registry;
  AllSteps(registry);
  const std::string error = TextOf(registry.Gradient("scael", gradient_));
  EXPECT_TRUE(error.starts_with(
      "register_operator_gradient for scael: register_operator is missing before it"))
      << error;
  EXPECT_NE(error.find("did you mean scale?"), error.npos) << error;
}

TEST_F(Acl, AKernelThatNoLibraryHasIsRefusedWithTheNames) {
  AclRegistry registry;
  ASSERT_TRUE(registry.Load(library_).ok());
  ASSERT_TRUE(registry.Register("scale").ok());
  const std::string error = TextOf(registry.Model("scale", model_, "scales"));
  EXPECT_TRUE(
      error.starts_with("no kernel scales in the loaded libraries; they have scale and scale_grad"))
      << error;
  EXPECT_NE(error.find("did you mean scale?"), error.npos) << error;
  EXPECT_EQ(registry.StateOf("scale"), AclRegistry::State::kRegistered);
}

TEST_F(Acl, AMetadefThatDoesNotFitIsRefused) {
  AclRegistry registry;
  ASSERT_TRUE(registry.Load(library_).ok());
  ASSERT_TRUE(registry.Register("scale").ok());
  const std::string none = TextOf(registry.Model("scale", "./none.json", "scale"));
  EXPECT_NE(none.find("./none.json"), none.npos) << none;
  EXPECT_NE(none.find(WorkingFolder()), none.npos) << none;
  const std::string broken =
      TextOf(registry.Model("scale", Write("broken.json", "{\"op_name\": 3}"), "scale"));
  EXPECT_NE(broken.find("broken.json:1:13: error:"), broken.npos) << broken;
  const std::string two = TextOf(registry.Model(
      "scale", Write("two.json", Operators({ScaleMetadef(), ScaleMetadef("b")})), "scale"));
  EXPECT_NE(two.find("holds 2 operators, one is due here: put each into a file of its own [RG004]"),
            two.npos)
      << two;
  const std::string other =
      TextOf(registry.Model("scale", Write("b.json", ScaleMetadef("b")), "scale"));
  EXPECT_NE(other.find("is of b, scale is due [RG004]"), other.npos) << other;
  EXPECT_EQ(registry.StateOf("scale"), AclRegistry::State::kRegistered);
  EXPECT_EQ(TextOf(registry.Model("scale", model_, "scale")), "");
}

TEST_F(Acl, AGradientThatDoesNotFitLeavesTheOperatorAsItWas) {
  AclRegistry registry;
  for (int step = 0; step < 3; ++step) EXPECT_EQ(Step(registry, step), "");
  const std::string wrong = Write("wrong.json", Op(Float("grad_other"), Float("grad_x"),
                                                   R"(, "shape_rule": "forward")", "scale_grad"));
  EXPECT_NE(TextOf(registry.Gradient("scale", wrong)), "");
  EXPECT_EQ(registry.StateOf("scale"), AclRegistry::State::kModelled);
  EXPECT_EQ(Step(registry, 3), "");
}

TEST_F(Acl, UnregisterMakesRoomForAnother) {
  AclRegistry registry;
  AllSteps(registry);
  const auto old = *registry.Find("scale");
  EXPECT_EQ(TextOf(registry.Unregister("scale")), "");
  EXPECT_EQ(registry.StateOf("scale"), AclRegistry::State::kUnregistered);
  const Expected<std::shared_ptr<Operator>> gone = registry.Find("scale");
  ASSERT_FALSE(gone.ok());
  EXPECT_TRUE(
      gone.error().Text().starts_with(StrCat("scale is not registered in this process, process ",
                                             getpid(), ": register_operator is missing")))
      << gone.error().Text();
  EXPECT_EQ(CallScale(*old, 2), 6) << "what somebody still holds works";
  const std::string again = TextOf(registry.Unregister("scale"));
  EXPECT_TRUE(
      again.starts_with("unregister_operator for scale: register_operator is missing before it"))
      << again;
  ASSERT_TRUE(registry.Load(other_library_).ok());
  for (int step = 1; step < 4; ++step) EXPECT_EQ(Step(registry, step), "");
  EXPECT_EQ(CallScale(**registry.Find("scale"), 2), 8) << "the latest library has the name";
}

TEST_F(Acl, TheLibraryThatWasLoadedLastHasTheKernelAlsoWhenItWasLoadedBefore) {
  AclRegistry registry;
  const struct {
    std::string path;
    double factor;
  } loads[] = {
      {library_, 3}, {other_library_, 4}, {library_, 3}, {library_, 3}, {other_library_, 4}};
  for (const auto& [path, factor] : loads) {
    ASSERT_TRUE(registry.Load(path).ok());
    for (int step = 1; step < 4; ++step) EXPECT_EQ(Step(registry, step), "");
    const auto op = *registry.Find("scale");
    EXPECT_EQ(CallScale(*op, 2), 2 * factor);
    EXPECT_EQ(op->backward()->library().identity(), LoadOrFail(path)->identity());
    EXPECT_EQ(TextOf(registry.Unregister("scale")), "");
  }
}

TEST_F(Acl, ALibraryLoadedAgainUnderARegisteredNameIsAnotherKernel) {
  AclRegistry registry;
  AllSteps(registry);
  ASSERT_TRUE(registry.Load(other_library_).ok());
  EXPECT_TRUE(TextOf(registry.Model("scale", model_, "scale")).ends_with("[RG002]"));
  ASSERT_TRUE(registry.Load(library_).ok());
  AllSteps(registry);
  EXPECT_EQ(CallScale(**registry.Find("scale"), 2), 6);
  ASSERT_TRUE(registry.Load(other_library_).ok());
  EXPECT_TRUE(TextOf(registry.Gradient("scale", gradient_)).ends_with("[RG002]"));
  EXPECT_EQ(CallScale(**registry.Find("scale"), 2), 6) << "and the first one goes on";
}

TEST_F(Acl, TheMessageNamesTheProcessAndItsRank) {
  AclRegistry registry;
  const ScopedEnv rank("RANK", "1");
  const Expected<std::shared_ptr<Operator>> op = registry.Find("scale");
  ASSERT_FALSE(op.ok());
  const std::string error = op.error().Text();
  EXPECT_NE(error.find(StrCat(
                "process ", getpid(),
                " (RANK=1): load_operator_library is missing; every process registers for itself")),
            error.npos)
      << error;
}

TEST_F(Acl, OperatorsOutliveTheRegistrysOwner) {
  std::shared_ptr<Operator> op;
  {
    AclRegistry registry;
    AllSteps(registry);
    op = *registry.Find("scale");
  }
  const auto keep_open = LoadOrFail(library_);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(CallScale(*op, 2), 6);
}

constexpr const char* kFunction = R"cpp(
#include <opwright/kernel.h>
  template <class T>
  void Blend(opwright::View<const T> x, opwright::View<T> z, double weight, const char*) {
    for (int64_t i = 0; i < z.Size(); ++i) z.Data()[i] = static_cast<T>(x.Data()[i] * weight);
  }
  OPWRIGHT_FUNCTION(blend, Blend)
)cpp";

// A metadef of the function: everything that it is compiled for, to be varied.
std::string BlendMetadef(const std::string& name, const std::string& dtypes,
                         const std::string& attrs, const std::string& kind = "required",
                         const std::string& more_inputs = "") {
  return Op(Param1("x", dtypes, "[-2]", StrCat(", \"param_type\": \"", kind, "\"")) + more_inputs,
            Param1("z", dtypes, "[-2]"),
            StrCat(", \"shape_rule\": \"same(x)\", \"attr\": [", attrs, "]"), name);
}

TEST_F(Acl, AFunctionKernelIsBoundToNoMetadefThatItWasNotBuiltFor) {
  const std::string dtypes = R"(["float32", "float64"])";
  const std::string weight = Attribute("weight", "float", "2.0");
  const std::string mode = Attribute("mode", "string", "\"a\"");
  const std::string both = weight + ", " + mode;
  const std::string path = BuildLibrary(BlendMetadef("blend", dtypes, both), kFunction);
  AclRegistry registry;
  ASSERT_TRUE(registry.Load(path).ok());
  ASSERT_TRUE(registry.Register("other").ok());
  const struct {
    std::string metadef;
    const char* words;
  } cases[] = {
      {BlendMetadef("other", R"(["float32"])", both),
       "2 dtype columns and the metadef of other lists 1;"},
      {BlendMetadef("other", R"(["float64", "float32"])", both),
       "input x of float32 in column 0 and the metadef of other lists float64;"},
      {BlendMetadef("other", dtypes, both, "optional"),
       "input x as required and the metadef of other lists input x as optional;"},
      {BlendMetadef("other", dtypes, both, "required", ", " + Param1("y", dtypes, "[-2]")),
       "1 input and the metadef of other lists 2 inputs;"},
      {BlendMetadef("other", dtypes, weight),
       "2 attributes and the metadef of other lists 1 attribute;"},
      {BlendMetadef("other", dtypes, Attribute("weight", "int", "3") + ", " + mode),
       "attribute 0 of type float and the metadef of other lists weight of type int there;"},
      {BlendMetadef("other", dtypes, mode + ", " + weight),
       "attribute 0 of type float and the metadef of other lists mode of type string there;"},
  };
  for (const auto& [metadef, words] : cases) {
    const std::string error = TextOf(registry.Model("other", Write("m.json", metadef), "blend"));
    EXPECT_TRUE(error.starts_with("the kernel blend was built for ")) << error;
    EXPECT_NE(error.find(words), error.npos) << error;
    EXPECT_TRUE(error.ends_with("; build it with this metadef [RG005]")) << error;
    EXPECT_EQ(registry.StateOf("other"), AclRegistry::State::kRegistered);
  }
  const std::string renamed = BlendMetadef(
      "other", dtypes, Attribute("w", "float", "4.0") + ", " + Attribute("t", "type", "\"int8\""));
  EXPECT_EQ(TextOf(registry.Model("other", Write("m.json", renamed), "blend")), "");
  EXPECT_EQ(CallScale(**registry.Find("other"), 2), 8);
}

// z = (x - y) * gain + shift, as a function and as a class.
constexpr const char* kByPosition = R"cc(
#include <opwright/kernel.h>
  void Difference(opwright::View<const float> x, opwright::View<const float> y,
                  opwright::View<float> z, double gain, double shift) {
    for (int64_t i = 0; i < x.Size(); ++i)
      z.Data()[i] = static_cast<float>((x.Data()[i] - y.Data()[i]) * gain + shift);
  }
  OPWRIGHT_FUNCTION(difference, Difference)
  class DifferenceClassKernel : public opwright::OpKernelBase {
   public:
    opwright::Status Compute(const opwright::OpKernelInput& in,
                             opwright::OpKernelOutput* out) override {
      const float* x = in.GetTensor(0).Data<float>();
      const float* y = in.GetTensor(1).Data<float>();
      const double gain = in.Attr<double>("gain"), shift = in.Attr<double>("shift");
      for (int64_t i = 0; i < in.GetTensor(0).Size(); ++i)
        out->GetTensor(0)->Data<float>()[i] = static_cast<float>((x[i] - y[i]) * gain + shift);
      return opwright::SUCCESS;
    }
  };
)cc";

std::string DifferenceMetadef(const std::string& name, const std::string& first,
                              const std::string& second, const std::string& attr,
                              const std::string& other_attr) {
  return Op(
      Float(first) + ", " + Float(second), Float("z"),
      StrCat(", \"shape_rule\": \"broadcast(", first, ", ", second, ")\", \"attr\": [",
             Attribute(attr, "float", "2.0"), ", ", Attribute(other_attr, "float", "1.0"), "]"),
      name);
}

TEST_F(Acl, NamesOfTheKernelInAnotherOrderAreRefusedAndOtherNamesAreNot) {
  const std::string path =
      BuildLibrary(StrCat("[", DifferenceMetadef("difference", "x", "y", "gain", "shift"), ", ",
                          DifferenceMetadef("difference_class", "x", "y", "gain", "shift"), "]"),
                   kByPosition);
  AclRegistry registry;
  ASSERT_TRUE(registry.Load(path).ok());
  const auto model = [&](const std::string& metadef, const std::string& kernel) {
    (void)registry.Unregister("other");
    EXPECT_TRUE(registry.Register("other").ok());
    return TextOf(registry.Model("other", Write("m.json", metadef), kernel));
  };
  const std::string turned = DifferenceMetadef("other", "y", "x", "gain", "shift");
  for (const std::string kernel : {"difference", "difference_class"}) {
    EXPECT_EQ(
        model(turned, kernel),
        StrCat("the kernel ", kernel,
               " was built for the inputs x, y, in this order, and the metadef of other lists "
               "y, x; they go by position: list them in the kernel's order, or build it with "
               "this metadef [RG011]"));
    EXPECT_EQ(model(DifferenceMetadef("other", "x", "y", "gain", "shift"), kernel), "");
    EXPECT_EQ(model(DifferenceMetadef("other", "left", "right", "gain", "shift"), kernel), "");
    // One name of the kernel's, at its own or at another place, beside one of one's own.
    EXPECT_EQ(model(DifferenceMetadef("other", "x", "right", "gain", "shift"), kernel), "");
    EXPECT_EQ(model(DifferenceMetadef("other", "y", "right", "gain", "shift"), kernel), "");
  }
  EXPECT_EQ(
      model(DifferenceMetadef("other", "x", "y", "shift", "gain"), "difference"),
      "the kernel difference was built for the attributes gain, shift, in this order, and the "
      "metadef of other lists shift, gain; they go by position: list them in the kernel's "
      "order, or build it with this metadef [RG011]");
  EXPECT_EQ(model(DifferenceMetadef("other", "x", "y", "shift", "gain"), "difference_class"), "")
      << "which asks for its attributes by name";
}

}  // namespace
}  // namespace opwright::test

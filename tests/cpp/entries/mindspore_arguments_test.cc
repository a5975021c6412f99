// SPDX-License-Identifier: Apache-2.0
//
// One row of tensors without names, as an operator's inputs and outputs.
#include "entries/mindspore/arguments.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <optional>

#include "base/dtype.h"
#include "base/text.h"
#include "entries/aot.h"
#include "entries/mindspore/attrs.h"
#include "metadef/testing.h"
#include "support/test_op.h"

namespace opwright::test {
namespace {

using entries::MindSporeArguments;
using metadef::Float;
using metadef::Param1;

std::string TextOf(const opwright::Status& status) {
  return status.ok() ? "" : status.error().Text();
}

double DoubleAt(const OpwrightArgument& argument) {
  return *static_cast<const double*>(argument.tensors[0].data);
}

// Tensors with one element each: 1, 2, 3 ... of float32, as "float32" or what is given.
class Numbered {
 public:
  explicit Numbered(const std::vector<const char*>& dtypes) {
    for (size_t i = 0; i < dtypes.size(); ++i) {
      const double number = static_cast<double>(i + 1);
      tensors_.push_back(std::make_unique<Tensor>(kF32, Dims{1}, std::initializer_list{number}));
      const bool is_tensor = dtypes[i] != kNone && dtypes[i] != kText;
      params_.push_back(is_tensor ? Param(*tensors_[i], dtypes[i]) : Param(dtypes[i]));
    }
    row_.emplace(params_);
    call_ = row_->Call();
  }
  const OpwrightAotCall& call() const { return call_; }

  static constexpr const char* kF = "float32";
  static constexpr const char* kNone = "none";
  static constexpr const char* kText = "string";

 private:
  std::vector<std::unique_ptr<Tensor>> tensors_;
  std::vector<Param> params_;
  std::optional<Row> row_;
  OpwrightAotCall call_ = {};
};
constexpr const char* kF = Numbered::kF;
constexpr const char* kNone = Numbered::kNone;
constexpr const char* kText = Numbered::kText;

// "1 [2 3] -": a tensor, a list, and an absent one.
std::string Numbers(const OpwrightArgument* arguments, int32_t count,
                    const OpwrightParamDef* const* params) {
  std::string text;
  for (int32_t i = 0; i < count; ++i) {
    std::vector<std::string> numbers;
    numbers.reserve(static_cast<size_t>(arguments[i].count));
    for (int64_t k = 0; k < arguments[i].count; ++k)
      numbers.push_back(StrCat(ReadElement(arguments[i].tensors[k].data, kF32)));
    const std::string joined = Join(numbers, " ");
    text += i > 0 ? " " : "";
    if (params[i]->kind == kOpwrightDynamic)
      text += StrCat("[", joined, "]");
    else
      text += joined.empty() ? "-" : joined;
  }
  return text;
}

// "INPUTS > OUTPUTS", or the error.
std::string TakenCall(const TestOp& op, const std::vector<const char*>& dtypes) {
  const Numbered row(dtypes);
  Arena arena(nullptr);
  MindSporeArguments given(op.def(), row.call(), arena);
  const opwright::Status status = given.TakeCall();
  if (!status.ok()) return status.error().Text();
  return StrCat(Numbers(given.inputs(), op.def().num_inputs, op.def().inputs), " > ",
                Numbers(given.outputs(), op.def().num_outputs, op.def().outputs));
}

// "INPUTS OUTPUTS, GRADIENTS OF OUTPUTS > GRADIENTS OF INPUTS", or the error.
std::string TakenGradient(const TestOp& op, const OpwrightGradient& gradient,
                          const std::vector<const char*>& dtypes) {
  const Numbered row(dtypes);
  Arena arena(nullptr);
  MindSporeArguments given(op.def(), row.call(), arena);
  const opwright::Status status = given.TakeGradient(gradient);
  if (!status.ok()) return status.error().Text();
  const OpwrightOpDef& def = op.def();
  return StrCat(Numbers(given.inputs(), def.num_inputs, def.inputs), " ",
                Numbers(given.outputs(), def.num_outputs, def.outputs), ", ",
                Numbers(given.output_grads(), def.num_outputs, def.outputs), " > ",
                Numbers(given.input_grads(), def.num_inputs, def.inputs));
}

constexpr const char* kOptional = R"(, "param_type": "optional")";
constexpr const char* kList = R"(, "param_type": "dynamic")";

// Inputs by their kinds, "" for a required one, called a, b, c ...; as many outputs, y, z ...
std::string Operands(const std::vector<const char*>& inputs,
                     const std::vector<const char*>& outputs) {
  std::vector<std::string> in, out;
  for (size_t i = 0; i < inputs.size(); ++i)
    in.push_back(Float(std::string(1, static_cast<char>('a' + i)), "[-2]", inputs[i]));
  for (size_t i = 0; i < outputs.size(); ++i)
    out.push_back(Float(std::string(1, static_cast<char>('y' + i)), "[-2]", outputs[i]));
  return metadef::Op(Join(in, ", "), Join(out, ", "), R"j(, "shape_rule": "same(a)")j", "f");
}

// x and y of float32 and float64, as the output. Where dtypes may be mixed, a number beside tensors
// of float64 is a tensor of float32 like any other.
std::string TwoFloats() {
  const std::string dtypes = R"(["float32", "float64"])";
  return metadef::Op(Param1("x", dtypes, "[-2]") + ", " + Param1("y", dtypes, "[-2]"),
                     Param1("z", dtypes, "[-2]"),
                     R"j(, "shape_rule": "same(x)", "mixed_dtypes": "error")j", "f");
}

// The gradient for inputs 0 and 1, from the operator's first output.
constexpr int32_t kBoth[] = {0, 1};
constexpr OpwrightRole kFirstOutput[] = {{kOpwrightRoleOutput, 0}};
const OpwrightGradient kGradient = {sizeof(OpwrightGradient), "f_grad", 1, 2, kFirstOutput, kBoth};

TEST(MindSporeRow, HasInputsThenOutputs) {
  TestOp op(Operands({"", ""}, {"", ""}));
  EXPECT_EQ(TakenCall(op, {kF, kF, kF, kF}), "1 2 > 3 4");
}

TEST(MindSporeRow, MayLeaveOutOptionalInputsAtTheEnd) {
  TestOp op(Operands({"", kOptional, kOptional}, {"", ""}));
  EXPECT_EQ(TakenCall(op, {kF, kF, kF, kF, kF}), "1 2 3 > 4 5");
  EXPECT_EQ(TakenCall(op, {kF, kF, kF, kF}), "1 2 - > 3 4");
  EXPECT_EQ(TakenCall(op, {kF, kF, kF}), "1 - - > 2 3");
}

TEST(MindSporeRow, HasNoneForAnAbsentInput) {
  TestOp op(Operands({"", kOptional, "", kOptional}, {""}));
  EXPECT_EQ(TakenCall(op, {kF, kNone, kF, kF, kF}), "1 - 3 4 > 5");
  EXPECT_EQ(TakenCall(op, {kF, kNone, kF, kNone, kF}), "1 - 3 - > 5");
  EXPECT_EQ(TakenCall(op, {kF, kNone, kF, kF}), "1 - 3 - > 4");
}

TEST(MindSporeRow, HasListsOfOneLength) {
  TestOp input(Operands({kList, ""}, {""}));
  EXPECT_EQ(TakenCall(input, {kF, kF, kF, kF, kF}), "[1 2 3] 4 > 5");
  EXPECT_EQ(TakenCall(input, {kF, kF}), "[] 1 > 2");
  TestOp both(Operands({kList, kOptional}, {kList}));
  EXPECT_EQ(TakenCall(both, {kF, kF, kF, kF, kF}), "[1 2] 3 > [4 5]");
  EXPECT_EQ(TakenCall(both, {kF, kF, kNone, kF, kF}), "[1 2] - > [4 5]");
}

TEST(MindSporeRow, OfAWrongLengthIsRefused) {
  TestOp op(Operands({"", kOptional}, {""}));
  const std::string due = " inputs and outputs, due are input a, input b, output y [CL001]";
  EXPECT_EQ(TakenCall(op, {kF}), "f: MindSpore gave 1" + due);
  EXPECT_EQ(TakenCall(op, {kF, kF, kF, kF}), "f: MindSpore gave 4" + due);
  TestOp lists(Operands({kList, ""}, {kList}));
  EXPECT_EQ(TakenCall(lists, {kF, kF, kF, kF}),
            "f: MindSpore gave 4 inputs and outputs, due are input a, input b, output y [CL001]");
  EXPECT_NE(TakenCall(lists, {}).find("gave 0"), std::string::npos);
}

TEST(MindSporeRow, WithSomethingElseThanATensorIsRefused) {
  TestOp op(Operands({"", kOptional}, {""}));
  EXPECT_EQ(TakenCall(op, {kText, kF, kF}),
            "f: input a has MindSpore's dtype string, a tensor is due [CL002]");
  EXPECT_EQ(TakenCall(op, {kF, kF, kNone}),
            "f: output y has MindSpore's dtype none, a tensor is due [CL002]");
}

TEST(MindSporeGradient, IsARowOfInputsOutputsAndTheGradientsOfBoth) {
  TestOp op(Operands({"", ""}, {"", ""}));
  constexpr OpwrightRole kRoles[] = {{kOpwrightRoleOutput, 1}, {kOpwrightRoleOutput, 0}};
  const OpwrightGradient both = {sizeof(OpwrightGradient), "f_grad", 2, 2, kRoles, kBoth};
  EXPECT_EQ(TakenGradient(op, both, std::vector(8, kF)), "1 2 3 4, 5 6 > 7 8");
  constexpr int32_t kSecond[] = {1};
  const OpwrightGradient second = {sizeof(OpwrightGradient), "f_grad", 2, 1, kRoles, kSecond};
  EXPECT_EQ(TakenGradient(op, second, std::vector(7, kF)), "1 2 3 4, 5 6 > - 7");
  EXPECT_EQ(TakenGradient(op, second, std::vector(8, kF)),
            "f: MindSpore gave 8 inputs and outputs, due are input a, input b, output y, output z, "
            "the gradient of output y, the gradient of output z, the gradient of input b [CL001]");
}

TEST(MindSporeGradient, HasOnlyTheOutputsThatTheBackwardOperatorTakes) {
  TestOp op(Operands({"", ""}, {"", ""}));
  EXPECT_EQ(TakenGradient(op, kGradient, std::vector(7, kF)), "1 2 3 -, 4 5 > 6 7");
  constexpr OpwrightRole kRoles[] = {{kOpwrightRoleGrad, 1}, {kOpwrightRoleInput, 1}};
  const OpwrightGradient none = {sizeof(OpwrightGradient), "f_grad", 2, 2, kRoles, kBoth};
  EXPECT_EQ(TakenGradient(op, none, std::vector(6, kF)), "1 2 - -, 3 4 > 5 6");
}

TEST(MindSporeGradient, HasATextForAnAbsentInputAndNothingBecomesOfItsGradient) {
  TestOp op(Operands({"", kOptional, ""}, {""}));
  EXPECT_EQ(TakenGradient(op, kGradient, {kF, kText, kF, kF, kF, kF, kF}), "1 - 3 4, 5 > 6 - -");
}

TEST(MindSporeGradient, OfIntegersIsZero) {
  TestOp op(metadef::Op(Param1("x", R"(["int64"])", "[-2]") + ", " + Float("y"), Float("z"),
                        R"j(, "shape_rule": "same(x)")j", "f"));
  Tensor x(kI64, {2}), y(kF32, {2}), z(kF32, {2}), grad(kF32, {2}), gx(kI64, {2}), gy(kF32, {2});
  Row row({{x, "int64"},
           {y, "float32"},
           {z, "float32"},
           {grad, "float32"},
           {gx, "int64"},
           {gy, "float32"}});
  const OpwrightAotCall call = row.Call();
  Arena arena(nullptr);
  MindSporeArguments given(op.def(), call, arena);
  EXPECT_EQ(TextOf(given.TakeGradient(kGradient)), "");
  EXPECT_EQ(gx.Values(), (std::vector<double>{0, 0}));
  EXPECT_EQ(gy.Values(), (std::vector<double>{1, 2}));  // the backward operator writes it
  EXPECT_EQ(given.input_grads()[0].count, 0);
  EXPECT_EQ(given.input_grads()[1].count, 1);
}

TEST(MindSporeGradient, ComplexGradientsAreRefused) {
  TestOp op(metadef::Op(Param1("x", R"(["complex64"])", "[-2]") + ", " + Float("y"),
                        Param1("z", R"(["complex64"])", "[-2]"), R"j(, "shape_rule": "same(x)")j",
                        "f"));
  Tensor x(kC64, {2}), y(kF32, {2}), z(kC64, {2}), grad(kC64, {2}), gx(kC64, {2}), gy(kF32, {2});
  Row row({{x, "complex64"},
           {y, "float32"},
           {z, "complex64"},
           {grad, "complex64"},
           {gx, "complex64"},
           {gy, "float32"}});
  const OpwrightAotCall call = row.Call();
  Arena arena(nullptr);
  MindSporeArguments given(op.def(), call, arena);
  EXPECT_EQ(TextOf(given.TakeGradient(kGradient)),
            "f: the gradient of input x is complex64; complex gradients are not supported in "
            "MindSpore [GR006]");
  EXPECT_EQ(gx.Values(), (std::vector<double>{1, 2}));  // as it was
}

TEST(MindSporeNumbers, AFloatIsWhatTheUserWrote) {
  TestOp op(TwoFloats());
  // 0.1 as MindSpore makes it float32; the output of float64 says that it was a number.
  Tensor x(kF64, {2}), y(kF32, {}, {0.1F}), z(kF64, {2});
  for (const double number : {0.1, -2.5e-7, 1e30, 3.0}) {
    y.Fill(number);
    Row row({{x, "float64"}, {y, "float32"}, {z, "float64"}});
    const OpwrightAotCall call = row.Call();
    Arena arena(nullptr);
    MindSporeArguments given(op.def(), call, arena);
    EXPECT_EQ(TextOf(given.TakeCall()), "");
    EXPECT_TRUE(given.inputs()[1].tensors[0].dtype == kWeakFloat);
    EXPECT_EQ(DoubleAt(given.inputs()[1]), number);
  }
}

TEST(MindSporeNumbers, IntegersAndBoolsAreWeakWhereTheOutputSaysSo) {
  TestOp op(TwoFloats());
  Tensor x(kF64, {2}), whole(kI64, {}, {-3}), truth(kBool, {}, {1}), z(kF64, {2});
  Arena arena(nullptr);
  Row row({{x, "float64"}, {whole, "int64"}, {z, "float64"}});
  const OpwrightAotCall call = row.Call();
  MindSporeArguments given(op.def(), call, arena);
  EXPECT_EQ(TextOf(given.TakeCall()), "");
  EXPECT_TRUE(given.inputs()[1].tensors[0].dtype == kWeakInt);
  EXPECT_EQ(*static_cast<const int64_t*>(given.inputs()[1].tensors[0].data), -3);
  Row other({{x, "float64"}, {truth, "bool"}, {z, "float64"}});
  const OpwrightAotCall of_truth = other.Call();
  MindSporeArguments given_truth(op.def(), of_truth, arena);
  EXPECT_EQ(TextOf(given_truth.TakeCall()), "");
  const OpwrightTensor& t = given_truth.inputs()[1].tensors[0];
  EXPECT_TRUE((t.dtype == OpwrightDType{kOpwrightBool, 64, 0}));
  EXPECT_EQ(*static_cast<const int64_t*>(t.data), 1);
}

TEST(MindSporeNumbers, ATensorWithoutDimensionsThatFitsStaysOne) {
  TestOp op(TwoFloats());
  Tensor x(kF32, {2}), y(kF32, {}, {0.5}), z(kF32, {2});
  Row row({{x, "float32"}, {y, "float32"}, {z, "float32"}});
  const OpwrightAotCall call = row.Call();
  Arena arena(nullptr);
  MindSporeArguments given(op.def(), call, arena);
  EXPECT_EQ(TextOf(given.TakeCall()), "");
  EXPECT_TRUE(given.inputs()[1].tensors[0].dtype == kF32);
  EXPECT_EQ(given.inputs()[1].tensors[0].data, y.first());
}

TEST(MindSporeNumbers, InAGradientTheyAreTensorsOfTheColumn) {
  TestOp op(TwoFloats());
  Tensor x(kF64, {2}), y(kF32, {}, {0.1F}), z(kF64, {2}), grad(kF64, {2}), gx(kF64, {2}),
      gy(kF32, {});
  Row row({{x, "float64"},
           {y, "float32"},
           {z, "float64"},
           {grad, "float64"},
           {gx, "float64"},
           {gy, "float32"}});
  const OpwrightAotCall call = row.Call();
  Arena arena(nullptr);
  MindSporeArguments given(op.def(), call, arena);
  EXPECT_EQ(TextOf(given.TakeGradient(kGradient)), "");
  EXPECT_TRUE(given.inputs()[1].tensors[0].dtype == kF64);
  EXPECT_EQ(DoubleAt(given.inputs()[1]), 0.1);
}

TEST(MindSporeNumbers, InfinityAndNanStay) {
  EXPECT_EQ(entries::AsWritten(INFINITY), INFINITY);
  EXPECT_EQ(entries::AsWritten(-INFINITY), -INFINITY);
  EXPECT_TRUE(std::isnan(entries::AsWritten(NAN)));
  EXPECT_TRUE(std::signbit(entries::AsWritten(-0.0F)));
}

}  // namespace
}  // namespace opwright::test

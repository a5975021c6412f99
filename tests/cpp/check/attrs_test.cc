// SPDX-License-Identifier: Apache-2.0
#include "check/attrs.h"

#include <gtest/gtest.h>

#include "library.h"
#include "metadef/metadef.h"

namespace opwright::check {
namespace {

// y and grad_x are expressions of v and, backward, g; `refuse` stands before both.
struct Elementwise {
  std::string name;
  std::vector<std::string> attrs;
  std::string read;  // declares what the expressions need
  std::string forward;
  std::string backward;
};

const std::vector<Elementwise> kOperators = {
    {"power",
     {Attr("n", "int", "2")},
     "const int64_t n = in.Attr<int64_t>(\"n\");",
     "n == 2 ? v * v : v * v * v",
     "2 * v * g"},
    {"triple_if",
     {Attr("flag", "bool", "false")},
     "const bool flag = in.Attr<bool>(\"flag\");",
     "flag ? 3 * v : v",
     "g"},
    {"required",
     {Attr("n", "int", "")},
     "const int64_t n = in.Attr<int64_t>(\"n\");",
     "static_cast<double>(n) * v",
     "g"},
    {"used",
     {Attr("n", "int", "2"), Attr("flag", "bool", "true"), Attr("ratio", "float", "1")},
     "const double r = in.Attr<double>(\"ratio\") * static_cast<double>(in.Attr<int64_t>(\"n\")) * "
     "(in.Attr<bool>(\"flag\") ? 1 : -1);",
     "r * v * v",
     "2 * r * v * g"},
    {"picky",
     {Attr("n", "int", "0"), Attr("how", "string", "\"mean\"")},
     "if (in.Attr<int64_t>(\"n\") != 0) return opwright::Status::Error(\"n must be 0\");",
     "v * v",
     "2 * v * g"},
    {"thrower",
     {Attr("n", "int", "0")},
     "if (in.Attr<int64_t>(\"n\") != 0) throw 1;",
     "v * v",
     "2 * v * g"},
    {"one_of_two",
     {Attr("a", "int", "1"), Attr("b", "int", "1")},
     "const int64_t a = in.Attr<int64_t>(\"a\"), b = in.Attr<int64_t>(\"b\");"
     "if (a != 1 && b != 1) return opwright::Status::Error(\"one of them must be 1\");",
     "static_cast<double>(a * b) * v",
     "static_cast<double>(0 * a + b) * g"},
    {"one_matters",
     {Attr("n", "int", "1"), Attr("flag", "bool", "true")},
     "const double r = static_cast<double>(in.Attr<int64_t>(\"n\")), s = in.Attr<bool>(\"flag\") ? "
     "1 "
     ": -1;",
     "r * s * v",
     "0 * r + s * g"},
    {"strange", {}, "", "v * v", "2 * v * g + 1 / (1 + v * v * v * v)"},
};

const std::string& Library() {
  static const std::string path = [] {
    std::string source = "#include <opwright/kernel.h>\n";
    std::vector<std::string> metadefs;
    for (const Elementwise& op : kOperators) {
      const std::string each = StrCat(op.read, "\nconst auto& x = in.GetTensor(0);\n",
                                      "for (int64_t i = 0; i < x.Size(); ++i) {\n"
                                      "  const double v = x.Data<double>()[i];\n");
      source += Kernel(
          op.name, StrCat(each, "  out->GetTensor(0)->Data<double>()[i] = ", op.forward, ";\n}"));
      source += Kernel(op.name + "_grad",
                       StrCat(each, "  const double g = in.GetTensor(1).Data<double>()[i];\n",
                              "  out->GetTensor(0)->Data<double>()[i] = ", op.backward, ";\n}"));
      metadefs.push_back(WithAttrs(
          Metadef(op.name, {"x: \"m\""}, {"y: \"m\""}, "same(x)", op.name + "_grad"), op.attrs));
      metadefs.push_back(WithAttrs(
          Metadef(op.name + "_grad", {"x: \"m\"", "grad_y: \"m\""}, {"grad_x: \"m\""}, "same(x)"),
          op.attrs));
    }
    return BuildLibrary("attrs", source, metadefs);
  }();
  return path;
}

std::string KindOf(const std::string& op) {
  const OperatorReport report = CheckOne(Library(), op);
  EXPECT_EQ(report.verdict, Verdict::kWrong) << TextOf(report);
  EXPECT_NE(TextOf(report).find("gradient of x: wrong [CK012]"), std::string::npos);
  return report.rows.empty() ? "" : report.rows[0].kind;
}

TEST(SecondValues, AGradientThatIsRightForTheDefaultIntOnlyIsWrong) {
  EXPECT_EQ(KindOf("power"), "an attribute's part is missing: wrong only with n=3");
  EXPECT_NE(TextOf(CheckOne(Library(), "power")).find("float64; n=3\n"), std::string::npos);
}

TEST(SecondValues, AGradientThatIsRightForTheDefaultBoolOnlyIsWrong) {
  EXPECT_EQ(KindOf("triple_if"),
            "missing factor: every element is 0.3333 times what is right; only with flag=true");
}

TEST(SecondValues, ARequiredAttributeHasTwoValuesToo) {
  EXPECT_EQ(KindOf("required"),
            "missing factor: every element is 0.5 times what is right; only with n=2");
}

TEST(SecondValues, AGradientThatUsesTheAttributesIsRight) {
  const OperatorReport report = CheckOne(Library(), "used");
  EXPECT_EQ(report.verdict, Verdict::kRight) << TextOf(report);
}

TEST(SecondValues, ThatTheOperatorRefusesAreNoFailureAndNoRefusedCase) {
  for (const char* op : {"picky", "thrower"}) {
    const OperatorReport report = CheckOne(Library(), op);
    EXPECT_EQ(report.verdict, Verdict::kRight) << TextOf(report);
    EXPECT_EQ(report.cases_refused, 0) << TextOf(report);
  }
}

TEST(SecondValues, ThatAreRefusedTogetherAreTriedAlone) {
  EXPECT_EQ(KindOf("one_of_two"),
            "missing factor: every element is 0.5 times what is right; only with a=2");
}

TEST(SecondValues, OneThatMakesNoDifferenceIsNotNamed) {
  EXPECT_EQ(KindOf("one_matters"),
            "missing factor: every element is 0.5 times what is right; only with n=2");
}

TEST(SecondValues, AWrongGradientAlwaysHasAKind) {
  EXPECT_EQ(KindOf("strange"),
            "one of its terms, or a factor that goes with the values: it has no wrong sign or "
            "constant factor as a whole, lacks no sum and is no other input's");
}

metadef::Lowered LoweredOf(const std::string& metadef) {
  metadef::ReadResult read = metadef::Read(metadef, "op.json");
  EXPECT_FALSE(read.HasErrors());
  Expected<metadef::Lowered> lowered = metadef::Lower(read.operators[0], {});
  EXPECT_TRUE(lowered.ok());
  return std::move(*lowered);
}

TEST(SecondValues, OfOneTypeDiffer) {
  const metadef::Lowered lowered = LoweredOf(
      WithAttrs(Metadef("op", {"x: -2"}, {"y: -2"}, "same(x)"),
                {Attr("keep", "int", "0"), Attr("axis", "int", "0"), Attr("alpha", "float", "1"),
                 Attr("beta", "float", "1"), Attr("k", "int", "1")}));
  EXPECT_EQ(SecondValuesText(lowered.def(), AttrChoices(lowered.def(), 1, false)[0]),
            "keep=2, axis=1, alpha=1.75, beta=2.1875, k=3");
}

TEST(SecondValues, AreNearTheFirstOnes) {
  const std::string metadef =
      WithAttrs(Metadef("op", {"x: -2"}, {"y: -2"}, "same(x)"),
                {Attr("axis", "int", "-1"), Attr("ratio", "float", "0"), Attr("how", "string", ""),
                 Attr("flag", "bool", ""), Attr("steps", "list_int", "[1]")});
  const metadef::Lowered lowered = LoweredOf(metadef);
  const OpwrightOpDef& def = lowered.def();
  EXPECT_TRUE(AttrChoices(def, 2, false)[0].none());
  const std::vector<SecondValues> choices = AttrChoices(def, 1, false);
  ASSERT_EQ(choices.size(), 5U);
  EXPECT_EQ(SecondValuesText(def, choices[0]), "axis=0, ratio=0.75, flag=false");
  EXPECT_EQ(SecondValuesText(def, choices[1]), "axis=0");
  EXPECT_EQ(SecondValuesText(def, choices[2]), "ratio=0.75");
  EXPECT_EQ(SecondValuesText(def, AttrChoices(def, 3, false)[1]), "ratio=0.75");
  EXPECT_TRUE(choices[4].none());
  EXPECT_EQ(SecondValuesText(def, AloneChoices(0, true)[0]), "axis=1");
  EXPECT_EQ(MakeAttrs(def, choices[0])[0].value.i, 0);
  EXPECT_EQ(MakeAttrs(def, {})[0].value.i, -1);
}

}  // namespace
}  // namespace opwright::check

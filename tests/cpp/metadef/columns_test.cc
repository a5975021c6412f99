// SPDX-License-Identifier: Apache-2.0
#include "testing.h"

namespace opwright::metadef {
namespace {

using Strings = std::vector<std::string>;

std::string TwoInputs(std::string_view x, std::string_view w, std::string_view y) {
  return Op(Param1("x", x, "[-2]") + ", " + Param1("w", w, "[-1]"), Param1("y", y, "[-2]"));
}

TEST(Columns, AliasesBecomeTheLongNames) {
  const Operator op = Good(Op(
      Param1("x", R"(["fp16", "half", "float", "fp32", "bf16", "double", "fp64"])", "[-2]") + ", " +
          Param1("k", R"(["int8", "int16", "int8", "int16", "int8", "int8", "int16"])", "[-1]"),
      Float("y")))[0];
  EXPECT_EQ(op.inputs[0].dtypes, (Strings{"float16", "float16", "float32", "float32", "bfloat16",
                                          "float64", "float64"}));
  EXPECT_EQ(op.num_columns, 7);
}

TEST(Columns, CaseAndUnderscoreSlipsAreErrorsWithTheNearestName) {
  for (const char* slip : {"Float32", "float_32", "FLOAT32", "flaot32"}) {
    const std::string text = Only(Op(Param1("x", StrCat("[\"", slip, "\"]"), "[-2]"), Float("y")));
    EXPECT_NE(text.find("write \"float32\" [MD015]"), text.npos) << text;
  }
}

TEST(Columns, OneEntryStandsForAll) {
  EXPECT_EQ(
      Good(TwoInputs(R"(["float32", "float16"])", R"(["int32"])", R"(["float32", "float16"])"))[0]
          .num_columns,
      2);
}

TEST(Columns, OtherLengthsNameBothLists) {
  const std::string text = Only(TwoInputs(R"(["float32", "float16"])", R"(["int32"])",
                                          R"(["float32", "float16", "bfloat16"])"));
  EXPECT_NE(text.find("output_desc[0].dtype: 3 entries, input_desc[0].dtype has 2"), text.npos)
      << text;
}

TEST(Columns, AFormatListIsComparedWithItsOwnDtypes) {
  const std::string text = Only(Op(
      Param1("x", R"(["float32", "float16", "bfloat16"])", "[-2]", R"(, "format": ["ND", "ND"])"),
      Float("y")));
  EXPECT_NE(text.find("input_desc[0].format: 2 entries, dtype has 3"), text.npos) << text;
}

TEST(Columns, AColumnThatIsNeverTakenIsAWarning) {
  const ReadResult result =
      Read(TwoInputs(R"(["float32", "float32"])", R"(["int32"])", R"(["float32", "float16"])"),
           "t.json");
  ASSERT_EQ(result.diagnostics.size(), 1u);
  EXPECT_EQ(result.diagnostics[0].id, "MD039");
  EXPECT_FALSE(result.HasErrors());
  EXPECT_EQ(result.operators.size(), 1u);
}

TEST(Columns, OtherFormatsThanNdAreCarried) {
  const Operator op = Good(Op(Float("x", "[-2]", R"(, "format": ["NC1HWC0"])"),
                              Float("y", "[-2]", R"(, "format": ["ND"])")))[0];
  EXPECT_EQ(op.inputs[0].formats, Strings{"NC1HWC0"});
}

}  // namespace
}  // namespace opwright::metadef

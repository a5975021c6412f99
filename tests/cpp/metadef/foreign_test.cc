// SPDX-License-Identifier: Apache-2.0
#include "testing.h"

namespace opwright::metadef {
namespace {

void ExpectForeign(const std::string& text, std::string_view words) {
  const std::string said = Only(text);
  EXPECT_NE(said.find(words), said.npos) << said;
  EXPECT_NE(said.find("[MD009]"), said.npos) << said;
}

TEST(Foreign, MsopgenPrototype) {
  const std::string prototype =
      R"({"op": "AddCustom", "input_desc": [{"name": "x", "param_type": "required",
          "format": ["ND", "ND"], "type": ["float", "half"]}], "output_desc": []})";
  ExpectForeign(prototype, "msopgen");
  ExpectForeign("[" + prototype + "]", "msopgen");
}

TEST(Foreign, SingleOpDescription) {
  ExpectForeign(
      R"([{"op": "Add", "input_desc": [{"format": "ND", "shape": [3, 4], "type": "float"}],
                     "output_desc": [{"format": "ND", "shape": [3, 4], "type": "float"}]}])",
      "single-op");
}

TEST(Foreign, MindSporeOperatorInfo) {
  ExpectForeign(R"({"op_name": "add", "inputs": [{"index": 0, "name": "x"}], "outputs": [],
                    "dtype_format": [[["float32", "DefaultFormat"]]], "target": "CPU"})",
                "CustomRegOp");
}

TEST(Foreign, AMetadefWithASlipIsStillAMetadef) {
  EXPECT_EQ(Ids(R"({"op_name": "a", "op": "b", "input_desc": [], "output_desc": []})"),
            (std::vector<std::string>{"MD005", "MD019"}));
}

}  // namespace
}  // namespace opwright::metadef

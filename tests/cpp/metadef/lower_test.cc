// SPDX-License-Identifier: Apache-2.0
#include "testing.h"

namespace opwright::metadef {
namespace {

TEST(Lower, FieldsOfTheFlatForm) {
  const Operator op = Good(Op(
      Param1("x", R"(["float32", "bf16"])", R"(["...", "n", 3, -1])") + "," +
          Param1("k", R"(["int64"])", "[-2]", R"(, "param_type": "dynamic", "format": ["NCHW"])"),
      Param1("y", R"(["float32", "bfloat16"])", R"(["n", "q"])", R"(, "param_type": "optional")"),
      R"(, "namespace": "mine", "mutates": ["k"], "side_effect": true, "mixed_dtypes": "float32",
          "shape_rule": ["n", 2],
          "attr": [{"name": "s", "type": "list_string", "default_value": ["a", "bc"]},
                   {"name": "r", "type": "float"},
                   {"name": "l", "type": "list_list_int", "default_value": [[1], [2, 3]]},
                   {"name": "t", "type": "string", "default_value": "hi"}])"))[0];
  Expected<Lowered> made = Lower(op, {});
  ASSERT_TRUE(made.ok());
  const OpwrightOpDef* before = &made->def();
  const Lowered lowered = std::move(*made);
  const OpwrightOpDef& def = lowered.def();
  EXPECT_EQ(&def, before);
  EXPECT_EQ(def.struct_size, sizeof def);
  EXPECT_STREQ(def.name, "test_op");
  EXPECT_STREQ(def.ns, "mine");
  EXPECT_EQ(def.num_columns, 2);
  ASSERT_EQ(def.num_inputs, 2);
  const OpwrightParamDef& x = *def.inputs[0];
  EXPECT_STREQ(x.name, "x");
  EXPECT_EQ(x.leading_any, 1);
  EXPECT_EQ(x.nd_format, 1);
  EXPECT_EQ(std::vector<int64_t>(x.dims, x.dims + x.num_dims), (std::vector<int64_t>{-2, 3, -1}));
  EXPECT_EQ(x.dtypes[1].code, kOpwrightBfloat);
  EXPECT_EQ(x.dtypes[1].bits, 16);
  const OpwrightParamDef& k = *def.inputs[1];
  EXPECT_EQ(k.kind, kOpwrightDynamic);
  EXPECT_EQ(k.nd_format, 0);
  EXPECT_EQ(k.leading_any, 1);
  EXPECT_EQ(k.num_dims, 0);
  EXPECT_EQ(k.dtypes[1].bits, 64);  // one dtype stands for both columns
  EXPECT_EQ(std::vector<int64_t>(def.outputs[0]->dims, def.outputs[0]->dims + 2),
            (std::vector<int64_t>{-2, -3}));
  EXPECT_EQ(def.outputs[0]->kind, kOpwrightOptional);
  EXPECT_EQ(def.num_symbols, 2);
  EXPECT_STREQ(def.symbols[1], "q");
  EXPECT_EQ(def.num_mutates, 1);
  EXPECT_EQ(def.mutates[0], 1);
  EXPECT_EQ(def.side_effect, 1);
  EXPECT_EQ(def.mixed_dtypes, kOpwrightMixedFloat32);
  EXPECT_EQ(std::string(def.json), op.json);
  EXPECT_EQ(def.gradient, nullptr);
  ASSERT_EQ(def.num_attrs, 4);
  const auto* strings = static_cast<const char* const*>(def.attrs[0]->default_value.value.data);
  EXPECT_EQ(def.attrs[0]->default_value.size, 2);
  EXPECT_STREQ(strings[1], "bc");
  EXPECT_EQ(def.attrs[1]->required, 1);
  EXPECT_EQ(def.attrs[1]->default_value.type, 0);
  const auto* lists = static_cast<const OpwrightAttr*>(def.attrs[2]->default_value.value.data);
  EXPECT_EQ(lists[1].type, kOpwrightAttrListInt);
  EXPECT_EQ(static_cast<const int64_t*>(lists[1].value.data)[1], 3);
  EXPECT_STREQ(def.attrs[3]->default_value.value.s, "hi");
  EXPECT_EQ(def.attrs[3]->default_value.size, 2);
  const OpwrightShapeRule& rule = *def.shape_rules[0];
  EXPECT_EQ(rule.kind, kOpwrightShapeDims);
  EXPECT_EQ(rule.code_size, 4);
  EXPECT_STREQ(rule.text, R"(["n", 2])");
}

TEST(Lower, BindsTheBackwardOperatorThatIsThere) {
  const std::string file = "[" + Op(Float("x"), Float("y"), R"(, "gradient": "g")", "f") + "," +
                           Op(Float("grad_y"), Float("grad_x"), "", "g") + "]";
  const std::vector<Operator> ops = Good(file);
  const Expected<Lowered> lowered = Lower(ops[0], ops);
  ASSERT_TRUE(lowered.ok());
  const OpwrightGradient* gradient = lowered->def().gradient;
  ASSERT_NE(gradient, nullptr);
  EXPECT_STREQ(gradient->op, "g");
  EXPECT_EQ(gradient->num_inputs, 1);
  EXPECT_EQ(gradient->inputs[0].kind, kOpwrightRoleGrad);
  EXPECT_EQ(gradient->outputs[0], 0);
  EXPECT_EQ(Lower(ops[0], {})->def().gradient, nullptr);
}

TEST(Lower, ABackwardOperatorThatDoesNotFitIsAnError) {
  const Operator forward = Good(Op(Float("x"), Float("y"), R"(, "gradient": "g")", "f"))[0];
  const std::vector<Operator> others =
      Good(Op(Float("dy"), Float("grad_x"), R"(, "shape_rule": "forward")", "g"));
  const Expected<Lowered> lowered = Lower(forward, others);
  ASSERT_FALSE(lowered.ok());
  EXPECT_EQ(lowered.error().id, "MD034");
}

TEST(Lower, AKernelHasNoGradientThatIsDerived) {
  const Expected<Lowered> lowered =
      Lower(Good(Op(Float("x"), Float("y"), R"(, "gradient": "auto")"))[0], {});
  ASSERT_FALSE(lowered.ok());
  EXPECT_EQ(lowered.error().id, "GR022");
}

}  // namespace
}  // namespace opwright::metadef

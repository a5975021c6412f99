// SPDX-License-Identifier: Apache-2.0
//
// The generated stub, compared with what it is generated from after the C compiler has read it.
#include "build/stub.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <sstream>
#include <string>

#include "base/file.h"
#include "base/layout.h"
#include "base/text.h"
#include "build/c_text.h"
#include "build/process.h"

namespace opwright::build {
namespace {

// Definitions for what a stub takes from elsewhere.
constexpr char kElsewhere[] =
    "#include \"opwright/stub.h\"\n"
    "const OpwrightKernel opwright_kernel_op = {sizeof(OpwrightKernel), \"op\", 0, 0, 0, 0, 0, "
    "0, 0};\n"
    "const OpwrightKernel opwright_kernel_bare = {sizeof(OpwrightKernel), \"bare\", 0, 0, 0, 0, 0, "
    "0, 0};\n"
    "OpwrightError* opwright_entry_create(const OpwrightKernel* k, void** i) { return 0; }\n"
    "OpwrightError* opwright_entry_compute(const OpwrightKernel* k, void* i, const OpwrightCall* "
    "c) { return 0; }\n"
    "OpwrightError* opwright_entry_infer_shape(const OpwrightKernel* k, void* i, const "
    "OpwrightCall* c) { return 0; }\n"
    "void opwright_torch_call(int32_t i, uint64_t* s, uint64_t a, uint64_t r) {}\n"
    "void opwright_torch_guard(int32_t i, uint64_t* s, uint64_t a, uint64_t r) {}\n"
    "const OpwrightFramework opwright_framework_torch = {0};\n"
    "int opwright_mindspore_call(int32_t i, const OpwrightAotCall* c) { return 0; }\n"
    "OpwrightVector opwright_mindspore_infer(int32_t i, int* n, int64_t** s, void* e) {\n"
    "  return (OpwrightVector){{0}};\n}\n";

class Stub : public testing::Test {
 protected:
  void TearDown() override {
    if (handle_ != nullptr) dlclose(handle_);
  }
  // An operator may have any name that does not start with opwright_ (MD012).
  static void ExpectOwnNames(const std::string& object, const StubRequest& request) {
    std::set<std::string> of_operators;
    for (const std::string& name : StubExports(request)) of_operators.insert(name);
    const auto run =
        RunProcess({"/usr/bin/nm", "--defined-only", "--format=just-symbols", object}, "");
    ASSERT_TRUE(run.ok() && run->ok()) << run->output;
    std::istringstream lines(run->output);
    int count = 0;
    for (std::string name; lines >> name; ++count)
      EXPECT_TRUE(name.starts_with("opwright_") || of_operators.contains(name)) << name;
    EXPECT_GT(count, 3);
  }
  const OpwrightLibrary* Compile(const StubRequest& request) {
    auto folder = TempFolder::Make();
    const std::string object = JoinPath(folder->path(), "stub.o");
    const std::string path = JoinPath(folder->path(), "stub.so");
    auto run = RunProcess({"/usr/bin/cc", "-std=c11", "-Wall", "-Werror", "-c", "-fPIC",
                           "-I" + Layout().include_dir, "-x", "c", "-o", object, "-"},
                          StubText(request) + kElsewhere);
    EXPECT_TRUE(run.ok() && run->ok()) << run->output;
    ExpectOwnNames(object, request);
    run = RunProcess({"/usr/bin/cc", "-shared", "-o", path, object}, "");
    EXPECT_TRUE(run.ok() && run->ok()) << run->output;
    handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(handle_, nullptr) << dlerror();
    return static_cast<const OpwrightLibrary*>(dlsym(handle_, OPWRIGHT_LIBRARY_SYMBOL));
  }
  void* handle_ = nullptr;
};

TEST_F(Stub, EveryFieldSurvivesTheCompiler) {
  const int64_t dims[] = {-1, 3, -2, std::numeric_limits<int64_t>::min()};
  const OpwrightDType dtypes[] = {{kOpwrightFloat, 32, 1}, {kOpwrightBfloat, 16, 1}};
  const OpwrightParamDef input{sizeof input, "x", kOpwrightOptional, 4, dims, dtypes, 1, 0};
  const OpwrightParamDef output{sizeof output, "z", kOpwrightDynamic, 0, nullptr, dtypes, 1, 1};
  const OpwrightParamDef* inputs[] = {&input};
  const OpwrightParamDef* outputs[] = {&output};

  const int64_t ints[] = {1, std::numeric_limits<int64_t>::min()};
  const double floats[] = {0.1, -0.0, HUGE_VAL, -HUGE_VAL, NAN};
  const char* strings[] = {"a\"b\\c?\?/", "算子\n\x01x"};
  const OpwrightAttr rows[] = {{kOpwrightAttrListInt, 0, 2, {.data = ints}},
                               {kOpwrightAttrListInt, 0, 0, {.data = nullptr}}};
  const OpwrightAttrDef attr_defs[] = {
      {sizeof(OpwrightAttrDef), "i", kOpwrightAttrInt, 0, {kOpwrightAttrInt, 0, 0, {.i = ints[1]}}},
      {sizeof(OpwrightAttrDef), "f", kOpwrightAttrFloat, 0, {kOpwrightAttrFloat, 0, 0, {.f = 0.1}}},
      {sizeof(OpwrightAttrDef),
       "s",
       kOpwrightAttrString,
       0,
       {kOpwrightAttrString, 0, 9, {.s = "a\"b\\c?\?/!"}}},
      {sizeof(OpwrightAttrDef),
       "li",
       kOpwrightAttrListInt,
       0,
       {kOpwrightAttrListInt, 0, 2, {.data = ints}}},
      {sizeof(OpwrightAttrDef),
       "lf",
       kOpwrightAttrListFloat,
       0,
       {kOpwrightAttrListFloat, 0, 5, {.data = floats}}},
      {sizeof(OpwrightAttrDef),
       "ls",
       kOpwrightAttrListString,
       0,
       {kOpwrightAttrListString, 0, 2, {.data = strings}}},
      {sizeof(OpwrightAttrDef),
       "ll",
       kOpwrightAttrListListInt,
       0,
       {kOpwrightAttrListListInt, 0, 2, {.data = rows}}},
      {sizeof(OpwrightAttrDef), "r", kOpwrightAttrInt, 1, {}}};
  const OpwrightAttrDef* attrs[8];
  for (int i = 0; i < 8; ++i) attrs[i] = &attr_defs[i];

  const int32_t args[] = {0};
  const int64_t code[] = {kOpwrightPush, 7};
  const OpwrightShapeRule rule{sizeof rule, kOpwrightShapeDims, 1, args, 2, code, 1,
                               0,           "[\"...\", 7]"};
  const OpwrightShapeRule* rules[] = {&rule};
  const char* symbols[] = {"n"};
  const OpwrightRole roles[] = {{kOpwrightRoleGrad, 0}, {kOpwrightRoleInput, 0}};
  const int32_t grads[] = {0};
  const OpwrightGradient gradient{sizeof gradient, "op_grad", 2, 1, roles, grads};
  const int32_t mutates[] = {0};
  const std::string json = "{\n  \"op_name\": \"op\", \"x\": \"?\?=\xc3\xa9\"\n}\n";
  const OpwrightOpDef def{sizeof def,  "op",    "ns",    2,         1,       1,
                          8,           1,       1,       inputs,    outputs, attrs,
                          rules,       symbols, mutates, &gradient, 1,       kOpwrightMixedError,
                          json.c_str()};

  const OpwrightLibrary* library =
      Compile({{{"op", &def}, {"bare", nullptr}}, "c++ 12", "x86-64-v3", "0.1.0"});
  ASSERT_NE(library, nullptr);
  EXPECT_EQ(library->struct_size, sizeof(OpwrightLibrary));
  EXPECT_EQ(library->abi_major, OPWRIGHT_ABI_MAJOR);
  EXPECT_STREQ(library->march, "x86-64-v3");
  EXPECT_STREQ(library->compiler, "c++ 12");
  ASSERT_EQ(library->num_operators, 2);
  EXPECT_EQ(library->num_frameworks, 1);
  EXPECT_EQ(library->operators[1]->def, nullptr);
  EXPECT_STREQ(library->operators[1]->kernel->name, "bare");

  const OpwrightOpDef& got = *library->operators[0]->def;
  EXPECT_STREQ(got.name, "op");
  EXPECT_STREQ(got.ns, "ns");
  EXPECT_EQ(got.json, json);
  EXPECT_EQ(got.side_effect, 1);
  EXPECT_EQ(got.mixed_dtypes, kOpwrightMixedError);
  EXPECT_STREQ(got.symbols[0], "n");
  EXPECT_EQ(got.mutates[0], 0);
  EXPECT_EQ(got.inputs[0]->kind, kOpwrightOptional);
  EXPECT_EQ(0, memcmp(got.inputs[0]->dims, dims, sizeof dims));
  EXPECT_EQ(0, memcmp(got.inputs[0]->dtypes, dtypes, sizeof dtypes));
  EXPECT_EQ(got.inputs[0]->nd_format, 0);
  EXPECT_EQ(got.outputs[0]->num_dims, 0);
  EXPECT_EQ(got.attrs[0]->default_value.value.i, ints[1]);
  EXPECT_EQ(got.attrs[1]->default_value.value.f, 0.1);
  EXPECT_STREQ(got.attrs[2]->default_value.value.s, "a\"b\\c?\?/!");
  EXPECT_EQ(0, memcmp(got.attrs[3]->default_value.value.data, ints, sizeof ints));
  const auto* read_floats = static_cast<const double*>(got.attrs[4]->default_value.value.data);
  EXPECT_EQ(0, memcmp(read_floats, floats, 4 * sizeof(double)));
  EXPECT_TRUE(std::isnan(read_floats[4]));
  const auto* read_strings =
      static_cast<const char* const*>(got.attrs[5]->default_value.value.data);
  EXPECT_STREQ(read_strings[0], strings[0]);
  EXPECT_STREQ(read_strings[1], strings[1]);
  const auto* read_rows = static_cast<const OpwrightAttr*>(got.attrs[6]->default_value.value.data);
  EXPECT_EQ(static_cast<const int64_t*>(read_rows[0].value.data)[1], ints[1]);
  EXPECT_EQ(read_rows[1].size, 0);
  EXPECT_EQ(got.attrs[7]->required, 1);
  EXPECT_EQ(got.shape_rules[0]->code[1], 7);
  EXPECT_STREQ(got.shape_rules[0]->text, rule.text);
  EXPECT_EQ(got.gradient->inputs[0].kind, kOpwrightRoleGrad);
  EXPECT_EQ(got.gradient->outputs[0], 0);
}

TEST_F(Stub, ALibraryWithoutOperatorsNeedsNoEntries) {
  const std::string text = StubText({{}, "c++", "", "0.1.0"});
  EXPECT_EQ(text.find("opwright_stub "), std::string::npos);
  const OpwrightLibrary* library = Compile({{}, "c++", "", "0.1.0"});
  ASSERT_NE(library, nullptr);
  EXPECT_EQ(library->num_operators, 0);
}

TEST(StubText, IsTheSameForTheSameRequest) {
  const StubRequest request{{{"op", nullptr}}, "c++", "", "0.1.0"};
  EXPECT_EQ(StubText(request), StubText(request));
}

TEST(CText, StringsHaveNoTrigraphsAndOnlyAscii) {
  EXPECT_EQ(CString("a?\?/b"), "\"a\\?\\?/b\"");
  EXPECT_EQ(CString("\xc3\xa9"
                    "1"),
            "\"\\303\\2511\"");
  EXPECT_EQ(CString("a\nb\n"), "\"a\\n\"\n    \"b\\n\"");
}

}  // namespace
}  // namespace opwright::build

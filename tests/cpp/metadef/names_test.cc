// SPDX-License-Identifier: Apache-2.0
#include "testing.h"

namespace opwright::metadef {
namespace {

std::string Named(std::string_view name) { return Op(Float("x"), Float("y"), "", name); }

TEST(Names, FormOfOpName) {
  EXPECT_EQ(Good(Named("element_add"))[0].name, "element_add");
  EXPECT_EQ(Good(Named(std::string(64, 'a')))[0].name.size(), 64u);
  EXPECT_EQ(Ids(Named(std::string(65, 'a'))), std::vector<std::string>{"MD011"});
  for (const char* name : {"ElementAdd", "element-add", "2add", "_add", "", "add ", "ädd", "a.b"})
    EXPECT_EQ(Ids(Named(name)), std::vector<std::string>{"MD011"}) << name;
}

TEST(Names, AWrongFormIsAnsweredWithARightOne) {
  for (const char* name : {"ElementAdd", "element-add", "elementAdd", "element add"}) {
    const std::string text = Only(Named(name));
    EXPECT_NE(text.find("write \"element_add\""), text.npos) << text;
  }
}

TEST(Names, KeywordsAndLibraryFunctionsAreRefused) {
  for (const char* name :
       {"exp", "sinf", "malloc", "main", "class", "lambda", "restrict", "template", "printf"})
    EXPECT_EQ(Ids(Named(name)), std::vector<std::string>{"MD012"}) << name;
  for (const char* name : {"add", "relu", "softmax", "expand", "element_exp"})
    EXPECT_EQ(Ids(Named(name)), std::vector<std::string>()) << name;
}

TEST(Names, NamesOfTheLibraryItselfAreRefused) {
  for (const char* name : {"opwright_torch_call", "opwright_note", "opwright_x"})
    EXPECT_EQ(Ids(Named(name)), std::vector<std::string>{"MD012"}) << name;
  for (const char* name : {"opwright", "note", "operators", "entry_0", "op0_def"})
    EXPECT_EQ(Ids(Named(name)), std::vector<std::string>()) << name;
}

TEST(Names, AttributesOfWhatListsOperatorsAreRefused) {
  for (const char* name : {"name", "load_operator_library"})
    EXPECT_EQ(Ids(Named(name)), std::vector<std::string>{"MD012"}) << name;
  for (const char* name : {"names", "load_library", "path", "os"})
    EXPECT_EQ(Ids(Named(name)), std::vector<std::string>()) << name;
}

TEST(Names, ArgumentsOfTheCallAreRefused) {
  for (const char* name : {"self", "name", "out", "dout", "cls", "requires_grad", "lambda"})
    EXPECT_EQ(Ids(Op(Float(name), Float("y"))), std::vector<std::string>{"MD012"}) << name;
  for (const char* name : {"exp", "dtype", "device", "keyset", "op"})
    EXPECT_EQ(Ids(Op(Float(name), Float("y"))), std::vector<std::string>()) << name;
}

TEST(Names, AreUniqueAcrossInputsOutputsAndAttributes) {
  EXPECT_EQ(Ids(Op(Float("x"), Float("x"))), std::vector<std::string>{"MD013"});
  EXPECT_EQ(Ids(Op(Float("x") + "," + Float("x"), Float("y"))), std::vector<std::string>{"MD013"});
  EXPECT_EQ(Ids(Op(Float("x"), Float("y"), R"(, "attr": [{"name": "y", "type": "int"}])")),
            std::vector<std::string>{"MD013"});
}

TEST(Names, Namespace) {
  EXPECT_EQ(Good(Named("a"))[0].ns, "opwright");
  EXPECT_EQ(Good(Op(Float("x"), Float("y"), R"(, "namespace": "my_ops")"))[0].ns, "my_ops");
  for (const std::string taken : {"aten", "prim", "prims", "torch", "higher_order", "import_module",
                                  "load_library", "loaded_libraries"})
    EXPECT_EQ(Ids(Op(Float("x"), Float("y"), StrCat(R"(, "namespace": ")", taken, "\""))),
              std::vector<std::string>{"MD012"})
        << taken;
  EXPECT_EQ(Ids(Op(Float("x"), Float("y"), R"(, "namespace": "My")")),
            std::vector<std::string>{"MD011"});
}

}  // namespace
}  // namespace opwright::metadef

// SPDX-License-Identifier: Apache-2.0
//
// What is linked, what a library then exports and records, and the words of a link that fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "base/cpu_features.h"
#include "base/layout.h"
#include "build/symbols.h"
#include "fixture.h"
#include "registry/elf_file.h"

namespace opwright::build {
namespace {

class Links : public BuildFixture {
 protected:
  std::string path_;
};

TEST_F(Links, AnUndefinedFunctionFailsTheLinkWithItsNameAndPlace) {
  Write("go.cpp",
        "int helper(int);\nextern \"C\" int go(int x) { return x < 0 ? helper(x) : x; }\n");
  auto built = Plain({"go.cpp"});
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.error().id, "BD014");
  EXPECT_SAYS(built.error().Text(), "helper(int)");
  EXPECT_SAYS(built.error().Text(), StrCat(Path("go.cpp"), ":2:"));
}

TEST_F(Links, AFunctionByTheNameOfAnOperatorIsDefinedTwice) {
  WriteOperator("op", "2");
  Write("op/more.cpp", StrCat("extern \"C\" int ", "scale", "(int x) { return x; }\n"));
  const std::string text = Refused("op", "BD016");
  EXPECT_SAYS(text, StrCat(Path("op/more.cpp"), " defines or calls a C function scale"));
  EXPECT_SAYS(text, "make it static");

  Write("op/more.cpp",
        "extern \"C\" float scale(float);\nfloat Twice(float x) { return scale(scale(x)); }\n");
  EXPECT_SAYS(Refused("op", "BD016"), "the name by which the library shows the operator");
}

TEST_F(Links, AnExternCThatWasMeantIsNamed) {
  Write("go.cpp", "int helper(int);\nextern \"C\" int go(int x) { return helper(x); }\n");
  Write("c.cpp", "\nextern \"C\" int helper(int x) { return -x; }\n");
  auto built = Plain({"go.cpp", "c.cpp"});
  ASSERT_FALSE(built.ok());
  EXPECT_SAYS(built.error().Text(), "an extern \"C\" is missing where it is declared");
  EXPECT_SAYS(built.error().Text(), StrCat(Path("c.cpp"), ":2"));

  Write("go.cpp",
        "extern \"C\" int helper(int);\nextern \"C\" int go(int x) { return helper(x); }\n");
  Write("c.cpp", "\nint helper(int x) { return -x; }\n");
  built = Plain({"go.cpp", "c.cpp"});
  ASSERT_FALSE(built.ok());
  EXPECT_SAYS(built.error().Text(), "an extern \"C\" is missing where it is defined");
  EXPECT_SAYS(built.error().Text(), "helper(int)");
}

TEST_F(Links, TheOtherStringAbiDoesNotMatter) {
  WriteOperator("op", "static_cast<float>(std::string(3, 'x').size())", "#include <string>\n");
  auto built = BuildOf("op", {"-D_GLIBCXX_USE_CXX11_ABI=0"});
  ASSERT_TRUE(built.ok()) << built.error().Text();
  EXPECT_EQ(Loaded(built->path)(1), 3);
}

TEST_F(Links, NoUniqueSymbolsAndNothingExportedButTheTableAndTheOperators) {
  WriteOperator("op", "Count()", "inline float Count() { static float n = 1; return n; }\n");
  auto built = BuildOf("op");
  ASSERT_TRUE(built.ok());
  Write("out.txt", "");
  ASSERT_EQ(
      system(StrCat("readelf -W --dyn-syms '", built->path, "' > '", Path("out.txt"), "'").c_str()),
      0);
  const std::string table = *ReadFile(Path("out.txt"));
  EXPECT_EQ(table.find("UNIQUE"), std::string::npos);
  std::vector<std::string> exported;
  for (const std::string& line : Split(table, '\n'))
    if (line.find("GLOBAL DEFAULT") != line.npos && line.find(" UND ") == line.npos)
      exported.push_back(line.substr(line.rfind(' ') + 1));
  std::sort(exported.begin(), exported.end());
  EXPECT_EQ(exported, (std::vector<std::string>{"opwright_library", "scale", "scaleInferShape"}));
}

TEST_F(Links, ObjectsAndArchivesMayHoldTheKernel) {
  Write("k.cpp", Source("helper()", "extern \"C\" float helper();\n") +
                     "OPWRIGHT_KERNEL(scale, ScaleKernel)\n");
  Write("h.c", "float helper(void) { return 4; }\n");
  Write("op.json", Metadef());
  const std::string include = Layout().include_dir;
  ASSERT_EQ(system(StrCat("c++ -fPIC -c -I'", include, "' -o '", Path("k.o"), "' '", Path("k.cpp"),
                          "' && cc -fPIC -c -o '", Path("h.o"), "' '", Path("h.c"), "' && ar rc '",
                          Path("libh.a"), "' '", Path("h.o"), "'")
                       .c_str()),
            0);
  Request request;
  request.sources = {Path("k.o")};
  request.flags = {"-L" + Path("."), "-lh"};
  auto built = Build(request);
  ASSERT_TRUE(built.ok()) << built.error().Text();
  EXPECT_EQ(Loaded(built->path)(2), 8);
}

TEST_F(Links, TheInstructionSetsOfTheFlagsAreRecordedAndAskedForAtLoad) {
  WriteOperator("op", "2");
  const auto features = [&](const std::vector<std::string>& flags) {
    auto built = BuildOf("op", flags);
    EXPECT_TRUE(built.ok()) << built.error().Text();
    path_ = built->path;
    const Expected<ElfFile> elf = ReadElf(path_, *ReadFile(path_));
    CpuFeatures found;
    std::copy(std::begin(elf->note->features), std::end(elf->note->features), found.begin());
    return found;
  };
  const auto has = [](const CpuFeatures& found, const std::string& macro) {
    const CpuFeatures one = FeaturesOfMacros(StrCat("#define ", macro, " 1\n"));
    for (size_t i = 0; i < one.size(); ++i)
      if ((found[i] & one[i]) != one[i]) return false;
    return true;
  };
  EXPECT_FALSE(has(features({}), "__XOP__"));
  EXPECT_TRUE(has(features({"-march=haswell"}), "__AVX2__"));
  EXPECT_FALSE(has(features({"-march=haswell"}), "__XOP__"));
  EXPECT_TRUE(has(features({"-march=haswell", "-mno-avx2"}), "__AVX__"));
  EXPECT_FALSE(has(features({"-march=haswell", "-mno-avx2"}), "__AVX2__"));
  const CpuFeatures found = features({"-mxop"});
  EXPECT_TRUE(has(found, "__XOP__"));
  EXPECT_TRUE(has(found, "__AVX__")) << "which it implies";
  EXPECT_FALSE(has(found, "__AVX2__"));
  if (const std::vector<std::string> missing = MissingFeatures(found); !missing.empty()) {
    OpwrightLibraryHandle* library = nullptr;
    OpwrightError* error = opwright_library_load(path_.c_str(), nullptr, &library);
    ASSERT_NE(error, nullptr);
    EXPECT_STREQ(error->code, "LD011");
    EXPECT_SAYS(std::string(error->message), missing[0]);
    error->destroy(error);
  }
}

TEST_F(Links, ExportedFunctionsOfAPlainLibraryAreFound) {
  Write("go.cpp", "extern \"C\" int go(int x) { return x; }\nint hidden(int x) { return x; }\n");
  auto built = Plain({"go.cpp"});
  ASSERT_TRUE(built.ok()) << built.error().Text();
  const std::vector<std::string> symbols = DefinedSymbols(built->path);
  EXPECT_NE(std::find(symbols.begin(), symbols.end(), "go"), symbols.end());
  EXPECT_EQ(std::find(symbols.begin(), symbols.end(), "_Z6hiddeni"), symbols.end());
}

}  // namespace
}  // namespace opwright::build

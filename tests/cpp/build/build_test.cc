// SPDX-License-Identifier: Apache-2.0
//
// Builds that succeed, and the words of those that do not.
#include "build/build.h"

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

class Builds : public BuildFixture {
 protected:
  // The error's whole text; "" with a failure when the build succeeds.
  std::string Refused(const std::string& name, const std::string& id,
                      std::vector<std::string> flags = {}) {
    auto built = BuildOf(name, std::move(flags));
    EXPECT_FALSE(built.ok());
    if (built.ok()) return "";
    EXPECT_EQ(built.error().id, id) << built.error().Text();
    return built.error().Text();
  }
  // As aoc does.
  Expected<Result> Plain(const std::vector<std::string>& names) {
    Request request;
    for (const std::string& name : names) request.sources.push_back(Path(name));
    request.allow_no_metadef = true;
    return Build(request);
  }
  std::string path_;
};

#define EXPECT_SAYS(text, words) EXPECT_NE((text).find(words), std::string::npos) << (text)

TEST_F(Builds, AFunctionKernelHasOneInstanceAColumn) {
  Write("op/f.cpp",
        "#include <opwright/kernel.h>\nusing opwright::View;\nnamespace n {\n"
        "template <class T> void Scale(View<const T> x, View<T> z, double factor) {\n"
        "  for (int64_t i = 0; i < x.Dim(0); ++i) z(i) = static_cast<T>(x(i) * factor);\n}\n"
        "OPWRIGHT_FUNCTION(scale, Scale)\n}\n");
  Write("op/op.json",
        "{\"op_name\": \"scale\", \"input_desc\": [{\"name\": \"x\", \"dtype\": [\"float64\", "
        "\"float32\", \"bfloat16\"], "
        "\"format\": [\"ND\"], \"shape\": [-1]}], \"output_desc\": [{\"name\": \"z\", \"dtype\": "
        "[\"float64\", \"float32\", "
        "\"bfloat16\"], \"format\": [\"ND\"], \"shape\": [-1]}], \"attr\": [{\"name\": \"factor\", "
        "\"type\": \"float\", "
        "\"param_type\": \"optional\", \"default_value\": 2.5}]}");
  auto built = BuildOf("op");
  ASSERT_TRUE(built.ok()) << built.error().Text();
  EXPECT_TRUE(built->warnings.empty());
  EXPECT_EQ(Loaded(built->path)(4), 10);
}

TEST_F(Builds, AFunctionKernelTakesEveryKindOfArgument) {
  Write("op/f.cpp",
        "#include <opwright/kernel.h>\nusing namespace opwright;\n"
        "Status Mix(View<const float> x, View<const float> bias, ViewList<const float> more,\n"
        "           View<float> z, int64_t i, double f, bool b, const char* s, List<int64_t> li,\n"
        "           List<double> lf, List<const char*> ls, List<int64_t> lb) {\n"
        "  if (bias || more.Size() != 0) return Status::Error(\"absent ones came\");\n"
        "  z(0) = x(0) + i + f + b + strlen(s) + li[1] + lf[0] + strlen(ls[0]) + lb[0];\n"
        "  return SUCCESS;\n}\nOPWRIGHT_FUNCTION(mix, Mix)\n");
  const auto attr = [](std::string_view name, std::string_view type, std::string_view value) {
    return StrCat("{\"name\": \"", name, "\", \"type\": \"", type,
                  "\", \"param_type\": \"optional\", \"default_value\": ", value, "}");
  };
  const auto param = [](std::string_view name, std::string_view kind) {
    return StrCat("{\"name\": \"", name,
                  "\", \"dtype\": [\"float32\"], \"format\": [\"ND\"], \"shape\": [-1], "
                  "\"param_type\": \"",
                  kind, "\"}");
  };
  Write("op/op.json",
        StrCat("{\"op_name\": \"mix\", \"input_desc\": [", param("x", "required"), ", ",
               param("bias", "optional"), ", ", param("more", "dynamic"), "], \"output_desc\": [",
               param("z", "required"), "], \"shape_rule\": \"same(x)\", \"attr\": [",
               attr("i", "int", "1"), ", ", attr("f", "float", "2.5"), ", ",
               attr("b", "bool", "true"), ", ", attr("s", "string", "\"abc\""), ", ",
               attr("li", "list_int", "[1, 20]"), ", ", attr("lf", "list_float", "[0.5]"), ", ",
               attr("ls", "list_string", "[\"abcd\"]"), ", ", attr("lb", "list_bool", "[true]"),
               "]}"));
  auto built = BuildOf("op");
  ASSERT_TRUE(built.ok()) << built.error().Text();
  EXPECT_EQ(Loaded(built->path, 3)(100), 100 + 1 + 2.5f + 1 + 3 + 20 + 0.5f + 4 + 1);
}

TEST_F(Builds, OneOperatorInTwoMetadefFiles) {
  Write("k.cpp", Source("2"));
  Write("a.json", Metadef());
  Write("b.json", Metadef());
  Request request;
  request.sources = {Path("k.cpp"), Path("a.json"), Path("b.json")};
  auto built = Build(request);
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.error().id, "BD011");
  EXPECT_SAYS(built.error().Text(), Path("a.json"));
}

TEST_F(Builds, ABraceThatIsNeverClosedExplainsAMissingKernel) {
  WriteOperator("op", "2", "namespace broken {\n");
  EXPECT_SAYS(Refused("op", "BD013"), Path("op/k.cpp"));
  Write("op/k.cpp",
        "#include <opwright/kernel.h>\nvoid f() {\nclass ScaleKernel : public "
        "opwright::OpKernelBase {};\n");
  EXPECT_SAYS(Refused("op", "BD008"), Path("op/k.cpp") + ":2 is never closed");
}

// Two columns, so that an error for each would be two.
std::string AffineMetadef() {
  const auto param = [](std::string_view name, std::string_view kind = "required") {
    return StrCat("{\"name\": \"", name,
                  "\", \"dtype\": [\"float32\", \"float64\"], \"shape\": [-1], \"param_type\": \"",
                  kind, "\"}");
  };
  return StrCat("{\"op_name\": \"affine\", \"input_desc\": [", param("x"), ", ",
                param("more", "dynamic"), "], \"output_desc\": [", param("y"),
                "], \"shape_rule\": \"same(x)\", \"attr\": [{\"name\": \"factor\", \"type\": "
                "\"float\", \"param_type\": \"required\"}]}");
}

struct Misfit {
  const char* name;
  const char* source;  // behind the include, which is line 1
  int line;
  const char* has;
};

class FunctionMisfit : public Builds, public testing::WithParamInterface<Misfit> {};

TEST_P(FunctionMisfit, IsOneErrorWithBothSignatures) {
  Write("op/f.cpp", StrCat("#include <opwright/kernel.h>\n", GetParam().source));
  Write("op/op.json", AffineMetadef());
  const auto built = BuildOf("op");
  ASSERT_FALSE(built.ok());
  ASSERT_EQ(built.error().diagnostics.size(), 1U) << built.error().Text();
  const Diagnostic& found = built.error().diagnostics[0];
  EXPECT_EQ(found.id, "BD029");
  EXPECT_EQ(found.line, GetParam().line);
  EXPECT_EQ(found.column, 0) << "it would be one of the generated line";
  EXPECT_EQ(found.message,
            StrCat("OPWRIGHT_FUNCTION(affine, Affine): by its metadef it is called as "
                   "Affine(opwright::View<const float> x, opwright::ViewList<const float> more, "
                   "opwright::View<float> y, double factor), ",
                   GetParam().has));
}

INSTANTIATE_TEST_SUITE_P(
    All, FunctionMisfit,
    testing::Values(
        Misfit{"an_input_is_missing",
               "template <class T>\nvoid Affine(opwright::View<const T> x, opwright::View<T> y, "
               "double factor) {}\n\nOPWRIGHT_FUNCTION(affine, Affine)\n",
               5,
               "the source has Affine(opwright::View<const T> x, opwright::View<T> y, double "
               "factor)"},
        Misfit{
            "a_list_is_one_view",
            "using opwright::View;\ntemplate <class T> void Affine(View<const T>, View<const T>, "
            "View<T>, double) {}\nOPWRIGHT_FUNCTION(affine, Affine)\n",
            4, "the source has Affine(View<const T>, View<const T>, View<T>, double)"},
        Misfit{"the_output_is_const",
               "template <class T> void Affine(opwright::View<const T> x, opwright::ViewList<const "
               "T> more, opwright::View<const T>* y, const double& factor = 1) "
               "{}\nOPWRIGHT_FUNCTION(affine, Affine)\n",
               3,
               "the source has Affine(opwright::View<const T> x, opwright::ViewList<const T> more, "
               "opwright::View<const T>* y, const double& factor=1)"},
        Misfit{"it_is_not_there", "OPWRIGHT_FUNCTION(affine, Affine)\n", 2,
               "and no such function is declared before the marker"}),
    [](const auto& info) { return info.param.name; });

struct Attribute {
  const char* type;  // of the metadef
  const char* fits;  // parameters that take it, with commas between
  const char* misfits;
};

class AttributeParameter : public Builds, public testing::WithParamInterface<Attribute> {};

TEST_P(AttributeParameter, IsOfItsVeryType) {
  const auto built = [&](const std::string& parameter) {
    Write("op/f.cpp", StrCat("#include <opwright/kernel.h>\n#include <string>\nusing "
                             "opwright::View;\ntemplate <class T> void Flow(View<const T>, "
                             "View<T>, bool, ",
                             parameter, " a) {}\nOPWRIGHT_FUNCTION(flow, Flow)\n"));
    return BuildOf("op");
  };
  Write("op/op.json",
        StrCat("{\"op_name\": \"flow\", \"input_desc\": [{\"name\": \"x\", \"dtype\": "
               "[\"float64\"], \"shape\": [-1]}], \"output_desc\": [{\"name\": \"y\", \"dtype\": "
               "[\"float64\"], \"shape\": [-1]}], \"shape_rule\": \"same(x)\", \"attr\": "
               "[{\"name\": \"first\", \"type\": \"bool\"}, {\"name\": \"a\", \"type\": \"",
               GetParam().type, "\"}]}"));
  for (const std::string& parameter : Split(GetParam().fits, ',')) {
    const auto result = built(parameter);
    EXPECT_TRUE(result.ok()) << parameter << ": " << result.error().Text();
  }
  for (const std::string& parameter : Split(GetParam().misfits, ',')) {
    const auto result = built(parameter);
    ASSERT_FALSE(result.ok()) << parameter;
    ASSERT_EQ(result.error().diagnostics.size(), 1U) << result.error().Text();
    EXPECT_EQ(result.error().diagnostics[0].id, "BD029") << parameter;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, AttributeParameter,
    testing::Values(Attribute{"int", "int64_t,const int64_t&,auto", "int,double,bool"},
                    Attribute{"float", "double,const double,T,auto", "float,int,const float&"},
                    Attribute{"bool", "bool", "int,double"},
                    Attribute{"string", "const char*,const std::string&", "bool,const void*"},
                    Attribute{"list_int", "opwright::List<int64_t>", "opwright::List<double>"}),
    [](const auto& info) { return std::string(info.param.type); });

TEST_F(Builds, AColumnThatDoesNotFitIsReportedAtTheMarker) {
  Write("op/f.cpp",
        "#include <opwright/kernel.h>\nvoid Scale(opwright::View<const float> x, "
        "opwright::View<float> z) {}\n\n"
        "OPWRIGHT_FUNCTION(scale, Scale)\n");
  Write("op/op.json",
        "{\"op_name\": \"scale\", \"input_desc\": [{\"name\": \"x\", \"dtype\": [\"float32\", "
        "\"int32\"], \"format\": [\"ND\"], "
        "\"shape\": [-1]}], \"output_desc\": [{\"name\": \"z\", \"dtype\": [\"float32\", "
        "\"int32\"], \"format\": [\"ND\"], "
        "\"shape\": [-1]}]}");
  const std::string said = Refused("op", "BD013");
  EXPECT_SAYS(said, StrCat(Path("op/f.cpp"), ":4"));
  EXPECT_SAYS(said, "called as Scale(opwright::View<const int32_t> x, opwright::View<int32_t> z)");
}

TEST_F(Builds, ASyntaxErrorIsShownFirstWithItsLine) {
  Write("op/k.cpp",
        "#include <opwright/kernel.h>\n\n\nint broken( { return 0; }\nclass ScaleKernel : public "
        "opwright::OpKernelBase {};\n");
  Write("op/op.json", Metadef());
  const auto built = BuildOf("op");
  ASSERT_FALSE(built.ok());
  ASSERT_FALSE(built.error().diagnostics.empty());
  const Diagnostic& first = built.error().diagnostics[0];
  EXPECT_EQ(first.file, Path("op/k.cpp"));
  EXPECT_EQ(first.line, 4);
  EXPECT_GT(first.column, 0);
  for (const Diagnostic& d : built.error().diagnostics)
    EXPECT_EQ(d.file, Path("op/k.cpp")) << Render(d);
  // The whole output is in a file that the message names.
  const std::string& message = built.error().message;
  const size_t at = message.find(Path("cache/log/"));
  ASSERT_NE(at, std::string::npos) << message;
  EXPECT_SAYS(*ReadFile(message.substr(at)), "int broken( {");
}

TEST_F(Builds, WarningsOfTheUsersLinesAreShown) {
  WriteOperator("op", "2", "static int unused() { int y; return 0; }\n");
  auto built = BuildOf("op");
  ASSERT_TRUE(built.ok());
  ASSERT_GE(built->warnings.size(), 1u);
  EXPECT_EQ(built->warnings[0].id, "BD025");
  EXPECT_EQ(built->warnings[0].file, Path("op/k.cpp"));
  EXPECT_EQ(built->warnings[0].line, 2);
}

TEST_F(Builds, PathsAndMessagesOutsideOfAsciiStayWhole) {
  SetEnv("LC_ALL", "zh_CN.UTF-8");
  SetEnv("LANGUAGE", "zh_CN");
  WriteOperator("算子/é", "2");
  auto built = BuildOf("算子/é", {}, "算子/é.so");
  ASSERT_TRUE(built.ok()) << built.error().Text();
  EXPECT_EQ(built->path, Path("算子/é.so"));
  EXPECT_EQ(Loaded(built->path)(3), 6);
  WriteOperator("算子/é", "nothing_there");
  const std::string text = Refused("算子/é", "BD013");
  EXPECT_SAYS(text, StrCat(Path("算子/é/k.cpp"), ":8:"));
  EXPECT_SAYS(text, "'nothing_there' was not declared");
}

TEST_F(Builds, PathsWithSpacesAndQuotes) {
  WriteOperator("a b'c#$d", "S", "#include \"s t.h\"\n");
  Write("a b'c#$d/s t.h", "#define S 2\n");
  auto built = BuildOf("a b'c#$d");
  ASSERT_TRUE(built.ok()) << built.error().Text();
  EXPECT_TRUE(BuildOf("a b'c#$d")->cache_hit);
  Write("a b'c#$d/s t.h", "#define S 3\n");
  auto again = BuildOf("a b'c#$d");
  ASSERT_TRUE(again.ok());
  EXPECT_FALSE(again->cache_hit);
}

TEST_F(Builds, NoCompilerIsOneClearError) {
  WriteOperator("op", "2");
  SetEnv("PATH", "/nowhere");
  const std::string text = Refused("op", "BD012");
  EXPECT_SAYS(text, "no C++ compiler found");
  EXPECT_SAYS(text, "apt-get install g++");
  SetEnv("CXX", "no-such-compiler");
  EXPECT_SAYS(Refused("op", "BD012"), "no-such-compiler");
}

TEST_F(Builds, AnUndefinedFunctionFailsTheLinkWithItsNameAndPlace) {
  Write("go.cpp",
        "int helper(int);\nextern \"C\" int go(int x) { return x < 0 ? helper(x) : x; }\n");
  auto built = Plain({"go.cpp"});
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.error().id, "BD014");
  EXPECT_SAYS(built.error().Text(), "helper(int)");
  EXPECT_SAYS(built.error().Text(), StrCat(Path("go.cpp"), ":2:"));
}

TEST_F(Builds, AFunctionByTheNameOfAnOperatorIsDefinedTwice) {
  WriteOperator("op", "2");
  Write("op/more.cpp", StrCat("extern \"C\" int ", "scale", "(int x) { return x; }\n"));
  const std::string text = Refused("op", "BD016");
  EXPECT_SAYS(text, StrCat(Path("op/more.cpp"), " defines or calls a C function scale"));
  EXPECT_SAYS(text, "make it static");

  Write("op/more.cpp",
        "extern \"C\" float scale(float);\nfloat Twice(float x) { return scale(scale(x)); }\n");
  EXPECT_SAYS(Refused("op", "BD016"), "the name by which the library shows the operator");
}

TEST_F(Builds, AnExternCThatWasMeantIsNamed) {
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

TEST_F(Builds, TheOtherStringAbiDoesNotMatter) {
  WriteOperator("op", "static_cast<float>(std::string(3, 'x').size())", "#include <string>\n");
  auto built = BuildOf("op", {"-D_GLIBCXX_USE_CXX11_ABI=0"});
  ASSERT_TRUE(built.ok()) << built.error().Text();
  EXPECT_EQ(Loaded(built->path)(1), 3);
}

TEST_F(Builds, NoUniqueSymbolsAndNothingExportedButTheTableAndTheOperators) {
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

TEST_F(Builds, ObjectsAndArchivesMayHoldTheKernel) {
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

TEST_F(Builds, TheKernelsAndTheMetadefMustAgree) {
  WriteOperator("op", "2");
  Write("op/op.json", Metadef("scales"));
  std::string text = Refused("op", "BD008");
  EXPECT_SAYS(text, "the operator scales has no kernel: the sources have scale");
  EXPECT_SAYS(text, "is scale meant?");
  EXPECT_SAYS(text, "BD009");

  Write("op/op.json", StrCat("[", Metadef("scale"), ",", Metadef("scale"), "]"));
  auto twice = BuildOf("op");
  ASSERT_FALSE(twice.ok());
  EXPECT_SAYS(twice.error().Text(), "scale");

  Write("op/op.json", Metadef());
  Write("op/second.cpp", Source("3"));
  text = Refused("op", "BD010");
  EXPECT_SAYS(text, Path("op/k.cpp") + ":3");
  EXPECT_SAYS(text, Path("op/second.cpp") + ":3");
}

TEST_F(Builds, WhatIsMissingIsNamed) {
  EXPECT_SAYS(Refused("nowhere", "BD001"), Path("nowhere"));
  Write("empty/notes.txt", "");
  EXPECT_SAYS(Refused("empty", "BD002"), "notes.txt");
  Write("bare/k.cpp", Source("2"));
  Write("bare/element.json", Metadef());
  EXPECT_SAYS(Refused("bare", "BD006"), "rename it to op.json");
  WriteOperator("none", "2");
  Write("none/k.cpp", "int f() { return 0; }\n");
  EXPECT_SAYS(Refused("none", "BD008"), "class ScaleKernel : public OpKernelBase");
  Write("k.txt", "");
  EXPECT_SAYS(Refused("k.txt", "BD003"), ".cpp");
  Write("plain.cpp", "int f() { return 0; }\n");
  EXPECT_EQ(Plain({"plain.cpp"}).error().id, "BD022");
  WriteOperator("op", "2");
  EXPECT_EQ(BuildOf("op", {}, "no/such/folder/lib.so").error().id, "BD021");
  EXPECT_EQ(BuildOf("op", {}, "op").error().id, "BD021");
  EXPECT_SAYS(Refused("op", "BD015", {"-lno_such_library"}), "libno_such_library.so");
}

TEST_F(Builds, MetadefErrorsComeWithTheirPlaces) {
  WriteOperator("op", "2");
  Write("op/op.json", Metadef("Scale"));
  auto built = BuildOf("op");
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.error().id, "BD007");
  ASSERT_FALSE(built.error().diagnostics.empty());
  EXPECT_EQ(built.error().diagnostics[0].id.substr(0, 2), "MD");
}

TEST_F(Builds, DeviceSourcesAreAnsweredInWords) {
  Write("cl/add_kernel.cl", "__kernel void element_add(__global const float* a) {}\n");
  Write("cl/op.json", Metadef("element_add"));
  std::string text = Refused("cl", "BD004");
  EXPECT_SAYS(text, "OpenCL C");
  EXPECT_SAYS(text, "class ElementAddKernel : public OpKernelBase");
  Write("ac/add.cpp",
        "#include \"kernel_operator.h\"\nextern \"C\" __global__ __aicore__ void "
        "add_custom(GM_ADDR x) {}\n");
  Write("ac/op.json", Metadef("add_custom"));
  text = Refused("ac", "BD005");
  EXPECT_SAYS(text, "Ascend C");
  EXPECT_SAYS(text, Path("ac/add.cpp") + ":1");
}

TEST_F(Builds, AMarkersNameMustBeAnOperatorName) {
  for (const char* name : {"ElementAdd", "2add"}) {
    Write("k.cpp", StrCat(Source("2"), "OPWRIGHT_KERNEL(", name, ", ScaleKernel)\n"));
    EXPECT_EQ(Plain({"k.cpp"}).error().id, "BD026") << name;
  }
}

TEST_F(Builds, TheInstructionSetsOfTheFlagsAreRecordedAndAskedForAtLoad) {
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

TEST_F(Builds, ExportedFunctionsOfAPlainLibraryAreFound) {
  Write("go.cpp", "extern \"C\" int go(int x) { return x; }\nint hidden(int x) { return x; }\n");
  auto built = Plain({"go.cpp"});
  ASSERT_TRUE(built.ok()) << built.error().Text();
  const std::vector<std::string> symbols = DefinedSymbols(built->path);
  EXPECT_NE(std::find(symbols.begin(), symbols.end(), "go"), symbols.end());
  EXPECT_EQ(std::find(symbols.begin(), symbols.end(), "_Z6hiddeni"), symbols.end());
}

}  // namespace
}  // namespace opwright::build

// SPDX-License-Identifier: Apache-2.0
//
// What a build is given: its files, their names, its metadefs, and the words for what is wrong with
// them.
#include "build/build.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "fixture.h"

namespace opwright::build {
namespace {

class Builds : public BuildFixture {};

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

TEST_F(Builds, ASourceWithoutTheHeaderIsToldToIncludeIt) {
  const std::string kernel = "class ScaleKernel : public opwright::OpKernelBase {};\n";
  Write("op/op.json", Metadef());
  Write("op/k.cpp", kernel);
  EXPECT_SAYS(Refused("op", "BD013"), "it includes nothing: write #include <opwright/kernel.h>");
  Write("op/k.cpp", "#include <vector>\n" + kernel);
  EXPECT_SAYS(Refused("op", "BD013"), "; it lacks #include <opwright/kernel.h>");
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

TEST_F(Builds, AProgramThatCompilesNothingIsNoCompiler) {
  WriteOperator("op", "2");
  SetEnv("CXX", "true");
  const std::string text = Refused("op", "BD012");
  EXPECT_SAYS(text, "/true ends with exit code 0 and has compiled nothing");
  EXPECT_SAYS(text, "set CXX");
}

TEST_F(Builds, APathMayHaveACommaInIt) {
  SetEnv("OPWRIGHT_CACHE", Path("a,b"));
  WriteOperator("o,p", "2");
  auto built = BuildOf("o,p");
  ASSERT_TRUE(built.ok()) << built.error().Text();
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
  Write("source/k.cpp", Source("2"));
  EXPECT_SAYS(Refused("source", "BD006"), "docs/metadef.md shows the form");
  WriteOperator("none", "2");
  Write("none/k.cpp", "int f() { return 0; }\n");
  EXPECT_SAYS(Refused("none", "BD008"), "class ScaleKernel : public OpKernelBase");
  Write("k.txt", "");
  EXPECT_SAYS(Refused("k.txt", "BD003"), ".cpp");
  Write("plain.cpp", "int f() { return 0; }\n");
  EXPECT_EQ(Plain({"plain.cpp"}).error().id, "BD022");
  WriteOperator("op", "2");
  EXPECT_SAYS(BuildOf("op", {}, "no/such/folder/lib.so").error().Text(),
              "its folder is not there; make it [BD021]");
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

TEST_F(Builds, TheOutputTakesNoFileOfTheUsers) {
  CountCompiler();
  Write("op/scale.h", "#define FACTOR 2\n");
  WriteOperator("op", "FACTOR", "#include \"scale.h\"\n");
  ASSERT_EQ(symlink("k.cpp", Path("op/link.so").c_str()), 0);
  for (const char* name : {"op/k.cpp", "op/op.json", "op/link.so", "op/scale.h"}) {
    const std::string before = *ReadFile(Path(name));
    auto built = BuildOf("op", {}, name);
    ASSERT_FALSE(built.ok()) << name;
    EXPECT_EQ(built.error().id, "BD021");
    EXPECT_NE(built.error().message.find(name), std::string::npos) << built.error().message;
    EXPECT_EQ(*ReadFile(Path(name)), before);
  }
  EXPECT_EQ(Compilations(), 0);
  ASSERT_EQ(mkfifo(Path("pipe.so").c_str(), 0600), 0);
  EXPECT_EQ(BuildOf("op", {}, "pipe.so").error().id, "BD021");
  // What a build may replace: an old library under any name, an empty file, a damaged library.
  ASSERT_BUILT(BuildOf("op", {}, "plain"));
  ASSERT_BUILT(BuildOf("op", {}, "plain"));
  Write("empty", "");
  ASSERT_BUILT(BuildOf("op", {}, "empty"));
  Write("damaged.so", "no library");
  ASSERT_BUILT(BuildOf("op", {}, "damaged.so"));
}

TEST_F(Builds, APipeIsNoSourceAndNoMetadef) {
  WriteOperator("op", "2");
  WriteOperator("other", "2");
  ASSERT_EQ(unlink(Path("op/k.cpp").c_str()), 0);
  ASSERT_EQ(mkfifo(Path("op/k.cpp").c_str(), 0600), 0);
  EXPECT_NE(Refused("op", "BD001").find("a pipe"), std::string::npos);
  ASSERT_EQ(unlink(Path("other/op.json").c_str()), 0);
  ASSERT_EQ(symlink("/dev/zero", Path("other/op.json").c_str()), 0);
  EXPECT_NE(Refused("other", "BD007").find("a device"), std::string::npos);
}

}  // namespace
}  // namespace opwright::build

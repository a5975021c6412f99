// SPDX-License-Identifier: Apache-2.0
//
// The scanner sees through comments, literals and preprocessor lines, and finds what a compiler
// would.
#include "build/source_scan.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/text.h"
#include "build/kernels.h"

namespace opwright::build {
namespace {

std::vector<std::string> Ops(std::string_view source) {
  std::vector<std::string> ops;
  for (const Kernel& kernel : FindKernels(ScanSource(source), "k.cpp")) ops.push_back(kernel.op);
  return ops;
}

using Names = std::vector<std::string>;

TEST(ScannerClasses, NameWithoutKernelInSnakeCaseIsTheOperator) {
  EXPECT_EQ(Ops("class ElementAddKernel : public OpKernelBase {};"), Names{"element_add"});
  EXPECT_EQ(Ops("struct RMSNorm final : opwright::OpKernelBase {};"), Names{"rms_norm"});
  EXPECT_EQ(Ops("class Kernel : public ::opwright::OpKernelBase {};"), Names{"kernel"});
}

TEST(ScannerClasses, QualifiedNameAndLine) {
  const auto kernels =
      FindKernels(ScanSource("\nnamespace a::b {\ninline namespace v1 { namespace {\n"
                             "class\n  ScaleKernel : public OpKernelBase {};\n}}}\n"),
                  "k.cpp");
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].target, "::a::b::v1::ScaleKernel");
  EXPECT_EQ(kernels[0].line, 5);
}

TEST(ScannerClasses, AttributesMacrosAndSeveralBases) {
  EXPECT_EQ(Ops("class [[nodiscard]] alignas(64) API AddKernel final : private Mixin<int, "
                "OpKernel>, public virtual "
                "opwright::OpKernelBase {};"),
            Names{"add"});
}

TEST(ScannerClasses, CommentsStringsAndRawStringsAreNoCode) {
  EXPECT_EQ(
      Ops("// class A : public OpKernelBase {};\n/* class B : public OpKernelBase {}; */\n"
          "const char* a = \"class C : public OpKernelBase {};\";\n"
          "const char* b = R\"x(class D : public OpKernelBase {}; )\" )x\";\n"
          "#define E class E : public OpKernelBase {};\n"
          "#define F \\\n  class F : public OpKernelBase {};\n"
          "// spliced \\\nclass G : public OpKernelBase {};\n"
          "const int c = 1'000; const char q = '\"'; class HKernel : public OpKernelBase {};"),
      Names{"h"});
}

// The comment of each line goes on to the next, and the class is code.
TEST(ScannerPreprocessor, ACommentBehindALiteralIsOne) {
  for (const char* line :
       {"#define Q '\"'", "#define Q '\\''", "#define Q \"\\\"\"", "#define Q \"'\"",
        "#define Q u8'\"'", "#if 1'000'0 > 2", "#define Q R\"(\")\"", "#define Q R\"x(/* )\" )x\"",
        "#define Q \"a\\\n\\\"\"", "#include \"x.h\""})
    EXPECT_EQ(Ops(StrCat(line, " /* over {\n lines */\nclass AKernel : public OpKernelBase {};\n")),
              Names{"a"})
        << line;
}

TEST(ScannerPreprocessor, WhatLooksLikeACommentInALiteralIsNone) {
  for (const char* line : {"#define Q \"/*\"", "#define Q \"\\\"/*\"", "#define Q '/*'",
                           "#define Q '\"' \"/*\"", "#error don't /* do"})
    EXPECT_EQ(Ops(StrCat(line, "\nclass AKernel : public OpKernelBase {};\n")), Names{"a"}) << line;
}

TEST(ScannerClasses, OnlyDirectlyAndAtNamespaceScope) {
  EXPECT_EQ(Ops("struct Outer { class In : public OpKernelBase {}; };\n"
                "void f() { class Local : public OpKernelBase {}; }\n"
                "template <class T> class Generic : public OpKernelBase {};\n"
                "class Other : public MyOpKernelBase {};\nclass Forward;\n"
                "enum class Mode : int { kA };\nstruct Uses f2(struct Uses);\n"
                "class AddKernel : public OpKernelBase { void g() { if (1) { } } };\n"),
            Names{"add"});
}

TEST(ScannerClasses, ABaseOfOthersIsMarkedAsSuch) {
  const auto kernels = FindKernels(ScanSource("class Common : public OpKernelBase {}; class "
                                              "AddKernel : public Common, public OpKernelBase {};"),
                                   "k");
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_TRUE(kernels[0].base);
  EXPECT_FALSE(kernels[1].base);
}

TEST(ScannerPreprocessor, BranchesStartFromTheSameBraces) {
  EXPECT_EQ(Ops("namespace a {\n#ifdef X\nvoid f(int) {\n#else\nvoid f(long) {\n#endif\n}\n}\n"
                "class AddKernel : public OpKernelBase {};\n"),
            Names{"add"});
  EXPECT_EQ(Ops("#if 0\nclass A : public OpKernelBase {};\n#else\nclass B : public OpKernelBase "
                "{};\n#endif\n"),
            Names{"b"});
  EXPECT_EQ(Ops("#if X\nclass A : public OpKernelBase {};\n#else\nclass A : public OpKernelBase "
                "{};\n#endif\n"),
            Names{"a"});
}

TEST(ScannerMarkers, AMarkerWinsOverTheClassRule) {
  const auto kernels = FindKernels(ScanSource("namespace n { class FooKernel : public OpKernelBase "
                                              "{}; \n OPWRIGHT_KERNEL(bar, FooKernel) }"),
                                   "k");
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].op, "bar");
  EXPECT_TRUE(kernels[0].marked);
  EXPECT_EQ(kernels[0].line, 2);
}

TEST(ScannerMarkers, FunctionsKnowTheirScope) {
  const auto kernels = FindKernels(ScanSource("namespace n {\ntemplate <class T> void f(View<const "
                                              "T>, View<T>) {}\nOPWRIGHT_FUNCTION(scale, f)\n}\n"
                                              "OPWRIGHT_FUNCTION(pow, (g<float, 2>))\n"),
                                   "k");
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].op, "scale");
  EXPECT_EQ(kernels[0].target, "::n");
  EXPECT_TRUE(kernels[0].function);
  EXPECT_EQ(kernels[1].target, "");
}

TEST(ScannerMarkers, FunctionsHaveTheirParameters) {
  const auto kernels = FindKernels(
      ScanSource("template <class T> void F(opwright::View<const T>x, View< T > * y,\n  int n[2], "
                 "R (*call)(int)) {}\nOPWRIGHT_FUNCTION(f, n::F<float>)\n"
                 "OPWRIGHT_FUNCTION(g, G)\n"),
      "k");
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].function_name, "n::F<float>");
  EXPECT_EQ(kernels[0].parameters,
            "opwright::View<const T> x, View<T>* y, int n[2], R(* call)(int)");
  EXPECT_EQ(kernels[1].parameters, "");
}

TEST(ScannerFunctions, LinkageAndDefinition) {
  const SourceScan scan = ScanSource(
      "int helper(int);\nextern \"C\" int go(int x) { return helper(x); }\n"
      "extern \"C\" {\nvoid a();\nvoid b() {}\n}\nstatic int s(int) { return 0; }\nint table[] = "
      "{f(1)};\n"
      "__attribute__((noinline)) float n(float) noexcept(true) { return 0; }\n");
  ASSERT_EQ(scan.functions.size(), 6u);
  EXPECT_EQ(scan.functions[0].name, "helper");
  EXPECT_FALSE(scan.functions[0].extern_c);
  EXPECT_FALSE(scan.functions[0].defined);
  EXPECT_EQ(scan.functions[1].name, "go");
  EXPECT_TRUE(scan.functions[1].extern_c);
  EXPECT_TRUE(scan.functions[1].defined);
  EXPECT_EQ(scan.functions[1].line, 2);
  EXPECT_TRUE(scan.functions[2].extern_c);
  EXPECT_FALSE(scan.functions[2].defined);
  EXPECT_TRUE(scan.functions[3].defined);
  EXPECT_TRUE(scan.functions[4].is_static);
  EXPECT_EQ(scan.functions[5].name, "n");
}

TEST(ScannerDialect, OpenClIsRecognisedWithItsKernel) {
  const SourceScan scan =
      ScanSource("// C++\n__kernel void element_add(__global const float* a) {}\n");
  EXPECT_EQ(scan.dialect, Dialect::kOpenCl);
  EXPECT_EQ(scan.dialect_line, 2);
  EXPECT_EQ(scan.dialect_kernel, "element_add");
}

TEST(ScannerDialect, AscendCIsRecognised) {
  const SourceScan scan = ScanSource(
      "#include \"kernel_operator.h\"\nextern \"C\" __global__ __aicore__ void add_custom(GM_ADDR "
      "x) { AscendC::TPipe p; }");
  EXPECT_EQ(scan.dialect, Dialect::kAscendC);
  EXPECT_EQ(scan.dialect_kernel, "add_custom");
  EXPECT_EQ(ScanSource("__global__ void k(float* x) {}").dialect, Dialect::kCuda);
  EXPECT_EQ(ScanSource("// __aicore__ __kernel\nint kernel = 1;").dialect, Dialect::kCpp);
}

TEST(ScannerRobustness, UnfinishedInputEndsTheScan) {
  for (const char* source :
       {"class", "class X :", "class X : public", "namespace {", "OPWRIGHT_KERNEL(", "R\"(",
        "\"abc", "/* open", "template <", "extern \"C\"", "#if 0", "}}}}", "#else", "#endif", "\\"})
    EXPECT_TRUE(Ops(source).empty()) << source;
}

TEST(ScannerRobustness, EveryPrefixOfASourceEndsTheScan) {
  const std::string source =
      "#if defined(A) && \\\n B\n#include \"x.h\"\nnamespace a::b { extern \"C\" { int f(int "
      "(*g)(int)); } }\n"
      "#elif 0\ntemplate <class T, int N = (1 > 0)> struct S<T[N]> : B<T> { };\n#endif\n"
      "class [[x]] K final : public OpKernelBase { const char* r = R\"d(})d\"; char c = '\\''; /* "
      "} */ };\n"
      "OPWRIGHT_KERNEL(k, a::K)\n__global__ __aicore__ void q(GM_ADDR x) { if (x) {} }\n";
  for (size_t size = 0; size <= source.size(); ++size) ScanSource(source.substr(0, size));
  for (size_t begin = 0; begin < source.size(); ++begin) ScanSource(source.substr(begin));
  EXPECT_EQ(Ops(source), Names{"k"});
}

TEST(ScannerRobustness, ABraceThatIsNeverClosedIsNamed) {
  EXPECT_EQ(ScanSource("namespace a {\nvoid f() {\n  if (1) {\n}\n}\n").open_brace, 1);
  EXPECT_EQ(ScanSource("namespace a {}\nvoid f() {}\n").open_brace, 0);
}

}  // namespace
}  // namespace opwright::build

// SPDX-License-Identifier: Apache-2.0
//
// Large numbers: one library with many operators, many libraries with one.
#include <gtest/gtest.h>

#include <filesystem>

#include "registry/kernels.h"

namespace opwright::test {
namespace {

TEST(ManyOperators, OneLibraryWithAThousandLoadsAndEachIsItself) {
  // One class template, a thousand markers: compiles in a moment.
  std::string source =
      "#include <opwright/kernel.h>\n"
      "template <int kFactor>\nstruct Times : opwright::OpKernelBase {\n"
      "  opwright::Status Compute(const opwright::OpKernelInput& in, opwright::OpKernelOutput* "
      "out) override {\n"
      "    *out->GetTensor(0)->Data<float>() = *in.GetTensor(0).Data<float>() * kFactor;\n    "
      "return opwright::SUCCESS;\n  }\n};\n";
  std::vector<std::string> metadefs;
  for (int k = 0; k < 1000; ++k) {
    source += StrCat("OPWRIGHT_KERNEL(times_", k, ", Times<", k % 10, ">)\n");
    metadefs.push_back(ScaleMetadef(StrCat("times_", k)));
  }
  const auto library = LoadOrFail(BuildLibrary(Operators(metadefs), source));
  ASSERT_EQ(library->operators().size(), 1000u);
  for (int k = 0; k < 1000; k += 37)
    EXPECT_EQ(CallScale(*FindOrFail(*library, StrCat("times_", k)), 3), 3 * (k % 10));
}

TEST(ManyOperators, ManyLibrariesWithOneOperatorOfOneNameEach) {
  // The built file with its factor patched in: another content, so another library.
  const std::string path = BuildLibrary(
      ScaleMetadef(),
      StrCat("extern \"C\" __attribute__((used)) const volatile char opwright_test_marker[] = "
             "\"opwright-test-marker-0000\";\n",
             ScaleSource(
                 "static_cast<float>((opwright_test_marker[24] - '0') + 10 * "
                 "(opwright_test_marker[23] - '0') + 100 * (opwright_test_marker[22] - '0'))")));
  const std::string bytes = *ReadFile(path);
  const size_t at = bytes.find("opwright-test-marker-");
  ASSERT_NE(at, bytes.npos);
  ASSERT_EQ(bytes.find("opwright-test-marker-", at + 1), bytes.npos);
  const TempFolder folder = std::move(*TempFolder::Make());
  std::vector<std::shared_ptr<Operator>> operators;
  for (int k = 0; k < 300; ++k) {
    std::string other = bytes;
    const std::string digits = StrCat(10000 + k).substr(1);
    other.replace(at + 21, 4, digits);
    const std::string copy = JoinPath(folder.path(), StrCat("lib", k, ".so"));
    ASSERT_TRUE(WriteFileAtomic(copy, other).ok());
    operators.push_back(FindOrFail(*LoadOrFail(copy), "scale"));
  }
  for (int k = 0; k < 300; ++k) EXPECT_EQ(CallScale(*operators[static_cast<size_t>(k)], 1), k);
}

}  // namespace
}  // namespace opwright::test

// SPDX-License-Identifier: Apache-2.0
//
// Backward kernels that are right for gradients of outputs near one only: a mean makes small ones,
// a scaled loss large ones. And wrong at the seams of blocks only.
#include "library.h"

namespace opwright::check {
namespace {

struct Backward {
  const char* name;
  const char* gx;  // element i of n, from g and x, of y = x * x
};

const std::vector<Backward>& NotLinear() {
  static const std::vector<Backward>& all = *new std::vector<Backward>{
      {"skips_small", "std::fabs(g[i]) < T(1e-4) ? T(0) : 2 * x[i] * g[i]"},
      {"clips_both", "2 * x[i] * std::min(std::max(g[i], T(-5)), T(5))"},
      {"limits_large", "2 * x[i] * std::min(g[i], T(1e4))"},
      {"divides_by_epsilon", "2 * x[i] * g[i] * std::fabs(g[i]) / (std::fabs(g[i]) + T(1e-9))"},
  };
  return all;
}

const std::vector<Backward>& AtSeams() {
  static const std::vector<Backward>& all = *new std::vector<Backward>{
      {"last_of_128", "i % 128 == 127 ? T(0) : 2 * x[i] * g[i]"},
      {"last_of_256", "i % 256 == 255 ? T(0) : 2 * x[i] * g[i]"},
      {"last_of_1024", "i % 1024 == 1023 ? T(0) : 2 * x[i] * g[i]"},
      {"first_of_1024", "(n > 1024 && i % 1024 == 0 ? 4 : 2) * x[i] * g[i]"},
  };
  return all;
}

const std::vector<Backward>& Sound() {
  static const std::vector<Backward>& all = *new std::vector<Backward>{
      {"plain", "2 * x[i] * g[i]"},
      {"spares_work", "g[i] == 0 ? T(0) : 2 * x[i] * g[i]"},
      {"huge_on_the_way", "T(double(x[i]) * T(1e30) * g[i] * T(2e-30))"},
      {"tiny_on_the_way", "T(double(x[i]) * T(1e-30) * g[i] * T(2e30))"},
  };
  return all;
}

// y [n] from x [n], float64 and float32.
const std::string& Library() {
  static const std::string& path = *new std::string([] {
    std::string source =
        "#include <opwright/kernel.h>\n#include <algorithm>\n#include <cmath>\n"
        "using opwright::View;\n";
    std::vector<std::string> metadefs;
    for (const auto* all : {&NotLinear(), &AtSeams(), &Sound()})
      for (const Backward& b : *all) {
        const std::string name = b.name;
        const std::string grad = name + "_grad";
        source += StrCat("template <class T> void F_", name,
                         "(View<const T> x, View<T> y) {\n  for (int64_t i = 0; i < x.Size(); ++i) "
                         "y.Data()[i] = x.Data()[i] * x.Data()[i];\n}\nOPWRIGHT_FUNCTION(",
                         name, ", F_", name, ")\n");
        source += StrCat("template <class T> void F_", grad,
                         "(View<const T> in, View<const T> grad_y, View<T> grad_x) {\n  const T* x "
                         "= in.Data();\n  const T* g = grad_y.Data();\n  const int64_t n = "
                         "in.Size();\n  for (int64_t i = 0; i < n; ++i) grad_x.Data()[i] = ",
                         b.gx, ";\n}\nOPWRIGHT_FUNCTION(", grad, ", F_", grad, ")\n");
        const std::string dtypes = "\"float64\", \"float32\"";
        metadefs.push_back(Metadef(name, {"x: \"n\""}, {"y: \"n\""}, "same(x)", grad, dtypes));
        metadefs.push_back(
            Metadef(grad, {"x: \"n\"", "grad_y: \"n\""}, {"grad_x: \"n\""}, "forward", "", dtypes));
      }
    return BuildLibrary("linear", source, metadefs);
  }());
  return path;
}

TEST(GradientsOfOutputs, ThatAreSmallOrLargeChangeNoFactor) {
  for (const Backward& b : NotLinear())
    for (uint64_t seed = 0; seed < Times(3); ++seed) {
      const OperatorReport op = CheckOne(Library(), b.name, 60, seed);
      EXPECT_EQ(op.verdict, Verdict::kWrong) << TextOf(op);
      EXPECT_NE(FindingOf(op, "CK023"), nullptr) << "seed " << seed << "\n" << TextOf(op);
    }
}

TEST(GradientsOfOutputs, AreMetAtTheSeamsOfBlocks) {
  for (const Backward& b : AtSeams())
    for (uint64_t seed = 0; seed < Times(3); ++seed)
      EXPECT_EQ(CheckOne(Library(), b.name, 60, seed).verdict, Verdict::kWrong)
          << b.name << ", seed " << seed;
}

TEST(GradientsOfOutputs, MayBeMultipliedInAnyOrder) {
  for (const Backward& b : Sound())
    for (uint64_t seed = 0; seed < Times(3); ++seed) {
      const OperatorReport op = CheckOne(Library(), b.name, 60, seed);
      EXPECT_EQ(op.verdict, Verdict::kRight) << "seed " << seed << "\n" << TextOf(op);
    }
}

}  // namespace
}  // namespace opwright::check

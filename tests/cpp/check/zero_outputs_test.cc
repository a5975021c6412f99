// SPDX-License-Identifier: Apache-2.0
//
// Operators that are zero or another constant for some shapes, whatever their inputs are: what
// rounding leaves of their gradient there is right, and a gradient that is wrong there or elsewhere
// is not.
#include "library.h"

namespace opwright::check {
namespace {

// NAME, SCALE and WRONG, which is added to the gradient of the output times this, are replaced; c
// is the number of classes.
constexpr char kLoss[] = R"cc(
  template <class T>
  void F_NAME(View<const T> x, View<T> y) {
    const int64_t c = x.Dim(1);
    for (int64_t i = 0; i < x.Dim(0); ++i) {
      T most = c > 0 ? x(i, 0) : T(0), sum = 0, loss = 0;
      for (int64_t j = 0; j < c; ++j) most = x(i, j) > most ? x(i, j) : most;
      for (int64_t j = 0; j < c; ++j) sum += std::exp(x(i, j) - most);
      for (int64_t j = 0; j < c; ++j)
        loss -= ((j == 0 ? T(0.9) : T(0)) + T(0.1) / T(c)) * (x(i, j) - most - std::log(sum));
      y(i) = T(SCALE) * loss;
    }
  }
  OPWRIGHT_FUNCTION(NAME, F_NAME)
  template <class T>
  void B_NAME(View<const T> x, View<const T> g, View<T> gx) {
    const int64_t c = x.Dim(1);
    for (int64_t i = 0; i < x.Dim(0); ++i) {
      T most = c > 0 ? x(i, 0) : T(0), sum = 0;
      for (int64_t j = 0; j < c; ++j) most = x(i, j) > most ? x(i, j) : most;
      for (int64_t j = 0; j < c; ++j) sum += std::exp(x(i, j) - most);
      for (int64_t j = 0; j < c; ++j) {
        const T p = std::exp(x(i, j) - most) / sum;
        const T right = (p - (j == 0 ? T(0.9) : T(0))) * g(i) - T(0.1) / T(c) * g(i);
        gx(i, j) = T(SCALE) * (right + g(i) * T(WRONG));
      }
    }
  }
  OPWRIGHT_FUNCTION(NAME_grad, B_NAME)
)cc";

// The same with two outputs for the backward, which have no gradient: the probabilities, which are
// one where there is one class, and the logarithm of the sum, which changes with x.
constexpr char kSaved[] = R"cc(
  template <class T>
  void F_NAME(View<const T> x, View<T> y, View<T> p, View<T> l) {
    const int64_t c = x.Dim(1);
    for (int64_t i = 0; i < x.Dim(0); ++i) {
      T most = c > 0 ? x(i, 0) : T(0), sum = 0, loss = 0;
      for (int64_t j = 0; j < c; ++j) most = x(i, j) > most ? x(i, j) : most;
      for (int64_t j = 0; j < c; ++j) sum += std::exp(x(i, j) - most);
      for (int64_t j = 0; j < c; ++j)
        loss -= ((j == 0 ? T(0.9) : T(0)) + T(0.1) / T(c)) * (x(i, j) - most - std::log(sum));
      y(i) = loss;
      for (int64_t j = 0; j < c; ++j) p(i, j) = std::exp(x(i, j) - most) / sum;
      l(i) = most + std::log(sum);
    }
  }
  OPWRIGHT_FUNCTION(NAME, F_NAME)
  template <class T>
  void B_NAME(View<const T> p, View<const T> g, View<T> gx) {
    const int64_t c = p.Dim(1);
    for (int64_t i = 0; i < p.Dim(0); ++i)
      for (int64_t j = 0; j < c; ++j)
        gx(i, j) =
            (p(i, j) - (j == 0 ? T(0.9) : T(0))) * g(i) - T(0.1) / T(c) * g(i) + g(i) * T(WRONG);
  }
  OPWRIGHT_FUNCTION(NAME_grad, B_NAME)
)cc";

// Over one row the deviation is zero, and what rounding leaves is divided by the root of 1e-5.
constexpr char kNormalized[] = R"cc(
  template <class T>
  T Spread_NAME(View<const T> x, int64_t j, T* mean) {
    T sum = 0, squares = 0;
    for (int64_t i = 0; i < x.Dim(0); ++i) sum += x(i, j);
    *mean = sum / T(x.Dim(0));
    for (int64_t i = 0; i < x.Dim(0); ++i) squares += (x(i, j) - *mean) * (x(i, j) - *mean);
    return 1 / std::sqrt(squares / T(x.Dim(0)) + T(1e-5));
  }
  template <class T>
  void F_NAME(View<const T> x, View<T> y) {
    for (int64_t j = 0; j < x.Dim(1); ++j) {
      T mean = 0;
      const T r = Spread_NAME(x, j, &mean);
      for (int64_t i = 0; i < x.Dim(0); ++i) y(i, j) = T(SCALE) * (x(i, j) - mean) * r;
    }
  }
  OPWRIGHT_FUNCTION(NAME, F_NAME)
  template <class T>
  void B_NAME(View<const T> x, View<const T> g, View<T> gx) {
    const int64_t n = x.Dim(0), c = x.Dim(1);
    for (int64_t j = 0; j < c; ++j) {
      T mean = 0, sum = 0, product = 0;
      const T r = Spread_NAME(x, j, &mean);
      for (int64_t i = 0; i < n; ++i) sum += g(i, j) * T(0.3);
      for (int64_t i = 0; i < n; ++i) product += g(i, j) * (x(i, j) - mean) * r / T(n);
      for (int64_t i = 0; i < n; ++i) {
        const T right = r * g(i, j) - r * sum / T(0.3) / T(n) - r * r * (x(i, j) - mean) * product;
        gx(i, j) = T(SCALE) * (right + g(i, j) * T(WRONG));
      }
    }
  }
  OPWRIGHT_FUNCTION(NAME_grad, B_NAME)
)cc";

struct Zero {
  const char* op;
  const char* source;
  const char* dtype;
  const char* scale;
  const char* wrong;
  bool right;
};

const std::vector<Zero>& Zeros() {
  static const std::vector<Zero>& zeros = *new std::vector<Zero>{
      {"loss", kLoss, "float64", "1", "0", true},
      {"loss_single", kLoss, "float32", "1", "0", true},
      {"normalized", kNormalized, "float64", "1", "0", true},
      {"normalized_single", kNormalized, "float32", "1", "0", true},
      {"tiny_loss", kLoss, "float64", "1e-12", "0", true},
      {"loss_wrong_at_one", kLoss, "float64", "1", "(c == 1 ? 1e-6 : 0)", false},
      {"loss_wrong_at_one_single", kLoss, "float32", "1", "(c == 1 ? 0.01 : 0)", false},
      {"tiny_loss_wrong", kLoss, "float64", "1e-12", "(c > 1 ? 0.05 : 0)", false},
      {"tiny_loss_wrong_at_one", kLoss, "float64", "1e-12", "(c == 1 ? 1 : 0)", false},
      {"saved_loss", kSaved, "float64", "1", "0", true},
      {"saved_loss_single", kSaved, "float32", "1", "0", true},
      {"saved_loss_wrong_at_one", kSaved, "float64", "1", "(c == 1 ? 1e-6 : 0)", false},
  };
  return zeros;
}

const std::string& Library() {
  static const std::string& path = *new std::string([] {
    std::string source =
        "#include <opwright/kernel.h>\n#include <cmath>\n  using opwright::View;\n";
    std::vector<std::string> metadefs;
    const std::string rows = "\"n\"";
    const std::string all = "\"n\", \"c\"";
    for (const Zero& zero : Zeros()) {
      const std::string name = zero.op;
      const std::string dtype = StrCat("\"", zero.dtype, "\"");
      const std::string& y = zero.source == kNormalized ? all : rows;
      source += Replaced(Replaced(Replaced(zero.source, "NAME", name), "SCALE", zero.scale),
                         "WRONG", zero.wrong);
      std::vector<std::string> outputs = {"y: " + y};
      std::vector<std::string> inputs = {(zero.source == kSaved ? "p: " : "x: ") + all,
                                         "grad_y: " + y};
      if (zero.source == kSaved) {
        outputs.push_back("p: " + all);
        outputs.push_back("l: " + rows);
      }
      metadefs.push_back(Metadef(name, {"x: " + all}, outputs, "", name + "_grad", dtype));
      metadefs.push_back(Metadef(name + "_grad", inputs, {"grad_x: " + all}, "forward", "", dtype));
    }
    return BuildLibrary("zero_outputs", source, metadefs);
  }());
  return path;
}

TEST(ZeroOutputs, AreJudgedByTheRoundingOfWhatTheyAreMadeOf) {
  for (const Zero& zero : Zeros())
    for (uint64_t seed = 0; seed < Times(4); ++seed) {
      const OperatorReport op = CheckOne(Library(), zero.op, 60, seed);
      EXPECT_EQ(op.verdict, zero.right ? Verdict::kRight : Verdict::kWrong)
          << "seed " << seed << "\n"
          << TextOf(op);
    }
}

}  // namespace
}  // namespace opwright::check

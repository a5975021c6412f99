// SPDX-License-Identifier: Apache-2.0
//
// Backward kernels that are wrong only far along an axis: behind a block, in its rest, in sums over
// more than a thousand elements. Each has a twin that is right.
#include "library.h"

namespace opwright::check {
namespace {

// Of y = x^3, in blocks.
constexpr char kBlocks[] = R"cc(
  template <class T>
  void F_cube(View<const T> x, View<T> y) {
    for (int64_t i = 0; i < x.Size(); ++i) y.Data()[i] = x.Data()[i] * x.Data()[i] * x.Data()[i];
  }
  // wrong(row, column, flat index)
  template <class T, class Wrong>
  void Cube(View<const T> x, View<const T> g, View<T> gx, Wrong wrong) {
    for (int64_t i = 0; i < x.Dim(0); ++i)
      for (int64_t k = 0; k < x.Dim(1); ++k)
        gx(i, k) = (wrong(i, k, i * x.Dim(1) + k) ? 2 : 3) * x(i, k) * x(i, k) * g(i, k);
  }
  // The second block begins one element early.
  template <class T>
  void B_stride(View<const T> x, View<const T> g, View<T> gx) {
    for (int64_t i = 0; i < x.Dim(0); ++i)
      for (int64_t k = 0; k < x.Dim(1); ++k) gx(i, k) = 3 * x(i, k) * x(i, k) * g(i, k - (k >= 1024));
  }
  OPWRIGHT_FUNCTION(stride, F_cube)
  OPWRIGHT_FUNCTION(stride_grad, B_stride)
)cc";

constexpr char kBlock[] = R"cc(
  template <class T>
  void B_NAME(View<const T> x, View<const T> g, View<T> gx) {
    Cube(x, g, gx, [&x](int64_t i, int64_t k, int64_t e) {
      (void)x, (void)i, (void)k, (void)e;
      return WRONG;
    });
  }
  OPWRIGHT_FUNCTION(NAME, F_cube)
  OPWRIGHT_FUNCTION(NAME_grad, B_NAME)
)cc";

struct Block {
  const char* name;
  const char* wrong;
};
constexpr Block kOfBlocks[] = {
    {"cube_right", "false"},
    {"behind_a_block", "k >= 128"},
    {"rest_of_a_row", "x.Dim(1) > 256 && k >= x.Dim(1) / 256 * 256"},
    {"rest_of_all", "x.Size() > 4096 && e >= x.Size() / 256 * 256"},
    {"many_rows", "i > 100"},
    {"last_row", "i > 100 && i + 1 == x.Dim(0)"},
    {"one_block", "k >= 1024 && k < 2048"},
};

// Of x[r, n] and w[n]: a row operator and a sum over the rows. The wrong ones sum 1,024 terms.
constexpr char kSums[] = R"cc(
  void F_softmax(View<const float> x, View<float> y) {
    for (int64_t i = 0; i < x.Dim(0); ++i) {
      double largest = -INFINITY, sum = 0;
      for (int64_t k = 0; k < x.Dim(1); ++k) largest = std::fmax(largest, x(i, k));
      for (int64_t k = 0; k < x.Dim(1); ++k) sum += std::exp(x(i, k) - largest);
      for (int64_t k = 0; k < x.Dim(1); ++k) y(i, k) = float(std::exp(x(i, k) - largest) / sum);
    }
  }
  template <bool kWrong>
  void B_softmax(View<const float>, View<const float> y, View<const float> g, View<float> gx) {
    const int64_t n = y.Dim(1);
    for (int64_t i = 0; i < y.Dim(0); ++i) {
      double sum = 0;
      for (int64_t k = 0; k < (kWrong && n > 1024 ? 1024 : n); ++k) sum += double(y(i, k)) * g(i, k);
      for (int64_t k = 0; k < n; ++k) gx(i, k) = float(y(i, k) * (g(i, k) - sum));
    }
  }
  OPWRIGHT_FUNCTION(softmax_right, F_softmax)
  OPWRIGHT_FUNCTION(softmax_right_grad, B_softmax<false>)
  OPWRIGHT_FUNCTION(softmax_wrong, F_softmax)
  OPWRIGHT_FUNCTION(softmax_wrong_grad, B_softmax<true>)

  template <class T>
  void F_norm(View<const T> x, View<const T> w, View<T> y) {
    for (int64_t i = 0; i < x.Dim(0); ++i) {
      double mean = 0, square = 0;
      for (int64_t k = 0; k < x.Dim(1); ++k) mean += x(i, k) / double(x.Dim(1));
      for (int64_t k = 0; k < x.Dim(1); ++k) square += (x(i, k) - mean) * (x(i, k) - mean);
      const double by = 1 / std::sqrt(square / double(x.Dim(1)) + 1e-5);
      for (int64_t k = 0; k < x.Dim(1); ++k) y(i, k) = T((x(i, k) - mean) * by * w(k));
    }
  }
  template <bool kWrong, class T>
  void Norm(View<const T> x, View<const T> w, View<const T> g, View<T> gx, View<T> gw) {
    const int64_t n = x.Dim(1);
    for (int64_t k = 0; gw && k < n; ++k) gw(k) = 0;
    for (int64_t i = 0; i < x.Dim(0); ++i) {
      double mean = 0, square = 0, first = 0, second = 0;
      for (int64_t k = 0; k < n; ++k) mean += x(i, k) / double(n);
      for (int64_t k = 0; k < n; ++k) square += (x(i, k) - mean) * (x(i, k) - mean);
      const double by = 1 / std::sqrt(square / double(n) + 1e-5);
      for (int64_t k = 0; k < (kWrong && n > 1024 ? 1024 : n); ++k) {
        first += double(g(i, k)) * w(k) / double(n);
        second += double(g(i, k)) * w(k) * (x(i, k) - mean) * by / double(n);
      }
      for (int64_t k = 0; k < n; ++k) {
        const double unit = (x(i, k) - mean) * by;
        if (gx) gx(i, k) = T(by * (double(g(i, k)) * w(k) - first - unit * second));
        if (gw) gw(k) += T(g(i, k) * unit);
      }
    }
  }
  template <class T>
  void B_norm(View<const T> x, View<const T> w, View<const T> g, View<T> gx, View<T> gw) {
    Norm<false>(x, w, g, gx, gw);
  }
  template <class T>
  void B_norm_wrong(View<const T> x, View<const T> w, View<const T> g, View<T> gx, View<T> gw) {
    Norm<true>(x, w, g, gx, gw);
  }
  OPWRIGHT_FUNCTION(norm_right, F_norm)
  OPWRIGHT_FUNCTION(norm_right_grad, B_norm)
  OPWRIGHT_FUNCTION(norm_wrong, F_norm)
  OPWRIGHT_FUNCTION(norm_wrong_grad, B_norm_wrong)

  void F_bias(View<const float> x, View<const float> w, View<float> y) {
    for (int64_t i = 0; i < x.Dim(0); ++i)
      for (int64_t k = 0; k < x.Dim(1); ++k) y(i, k) = x(i, k) + w(k);
  }
  template <bool kWrong>
  void B_bias(View<const float>, View<const float>, View<const float> g, View<float> gx,
              View<float> gw) {
    for (int64_t k = 0; gw && k < g.Dim(1); ++k) gw(k) = 0;
    for (int64_t i = 0; i < g.Dim(0); ++i)
      for (int64_t k = 0; k < g.Dim(1); ++k) {
        if (gx) gx(i, k) = g(i, k);
        if (gw && (!kWrong || i < 1024)) gw(k) += g(i, k);
      }
  }
  OPWRIGHT_FUNCTION(bias_right, F_bias)
  OPWRIGHT_FUNCTION(bias_right_grad, B_bias<false>)
  OPWRIGHT_FUNCTION(bias_wrong, F_bias)
  OPWRIGHT_FUNCTION(bias_wrong_grad, B_bias<true>)
)cc";

// a + 2 b, of which each may be broadcast; the wrong one sums 1,024 terms.
constexpr char kBroadcast[] = R"cc(
  // Of element i of y, that of an input.
  template <class In, class Out>
  int64_t Place(const In& a, const Out& y, int64_t i) {
    int64_t place = 0, inner = 1;
    for (int32_t d = 1; d <= y.Rank(); ++d) {
      const int64_t at = i % y.Dim(y.Rank() - d);
      i /= y.Dim(y.Rank() - d);
      if (d > a.Rank()) continue;
      if (a.Dim(a.Rank() - d) > 1) place += at * inner;
      inner *= a.Dim(a.Rank() - d);
    }
    return place;
  }
  void F_add(View<const double> a, View<const double> b, View<double> y) {
    // They come with the shape of y, and strides of 0.
    for (int64_t i = 0; i < y.Size(); ++i) {
      int64_t rest = i, in_a = 0, in_b = 0;
      for (int32_t d = y.Rank() - 1; d >= 0; rest /= y.Dim(d--)) {
        in_a += rest % y.Dim(d) * a.Stride(d);
        in_b += rest % y.Dim(d) * b.Stride(d);
      }
      y.Data()[i] = a.Data()[in_a] + 2 * b.Data()[in_b];
    }
  }
  template <bool kWrong>
  void B_add(View<const double>, View<const double>, View<const double> g, View<double> ga,
             View<double> gb) {
    for (View<double>* of : {&ga, &gb}) {
      if (!*of) continue;
      std::vector<int64_t> terms(of->Size());
      for (int64_t i = 0; i < of->Size(); ++i) of->Data()[i] = 0;
      for (int64_t i = 0; i < g.Size(); ++i) {
        const int64_t place = Place(*of, g, i);
        if (kWrong && ++terms[place] > 1024) continue;
        of->Data()[place] += (of == &gb ? 2 : 1) * g.Data()[i];
      }
    }
  }
  OPWRIGHT_FUNCTION(add_right, F_add)
  OPWRIGHT_FUNCTION(add_right_grad, B_add<false>)
  OPWRIGHT_FUNCTION(add_wrong, F_add)
  OPWRIGHT_FUNCTION(add_wrong_grad, B_add<true>)
)cc";

constexpr const char* kBlockNames[] = {"behind_a_block", "rest_of_a_row", "rest_of_all",
                                       "many_rows",      "last_row",      "one_block",
                                       "stride"};

const std::string& Library() {
  static const std::string& path = *new std::string([] {
    std::vector<std::string> metadefs;
    const std::string all = R"("r", "n")";
    const auto add = [&](const std::string& name, const std::vector<std::string>& inputs,
                         bool saved, const std::string& dtypes) {
      metadefs.push_back(Metadef(name, inputs, {"y: " + all}, "same(x)", name + "_grad", dtypes));
      std::vector<std::string> in = inputs;
      std::vector<std::string> out;
      for (const std::string& input : inputs) out.push_back("grad_" + input);
      if (saved) in.push_back("y: " + all);
      in.push_back("grad_y: " + all);
      metadefs.push_back(Metadef(name + "_grad", in, out, "forward", "", dtypes));
    };
    const std::string both = R"("float64", "float32")";
    for (const std::string name : kBlockNames) add(name, {"x: " + all}, false, R"("float64")");
    add("cube_right", {"x: " + all}, false, both);
    for (const std::string kind : {"_right", "_wrong"}) {
      add("softmax" + kind, {"x: " + all}, true, R"("float32")");
      add("norm" + kind, {"x: " + all, R"(w: "n")"}, false, both);
      add("bias" + kind, {"x: " + all, R"(w: "n")"}, false, R"("float32")");
      const std::string name = "add" + kind;
      metadefs.push_back(
          Metadef(name, {"a: -2", "b: -2"}, {"y: -2"}, "broadcast(a, b)", name + "_grad"));
      metadefs.push_back(Metadef(name + "_grad", {"a: -2", "b: -2", "grad_y: -2"},
                                 {"grad_a: -2", "grad_b: -2"}, "forward"));
    }
    std::string blocks = kBlocks;
    for (const Block& block : kOfBlocks)
      blocks += Replaced(Replaced(kBlock, "NAME", block.name), "WRONG", block.wrong);
    return BuildLibrary(
        "long_gradient",
        StrCat("#include <opwright/kernel.h>\n#include <cmath>\n#include <vector>\n",
               "using opwright::View;\n", blocks, kSums, kBroadcast),
        metadefs);
  }());
  return path;
}

void ExpectWrong(const std::string& name, const std::string& input) {
  for (uint64_t seed = 0; seed < Times(4); ++seed) {
    const OperatorReport op = CheckOne(Library(), name, 60, seed);
    EXPECT_EQ(op.verdict, Verdict::kWrong) << "seed " << seed << "\n" << TextOf(op);
    const GradientRow* const row = RowOf(op, input);
    ASSERT_NE(row, nullptr) << TextOf(op);
    EXPECT_FALSE(row->right) << "seed " << seed << "\n" << TextOf(op);
  }
}

class LongGradient : public testing::TestWithParam<const char*> {};

TEST_P(LongGradient, ThatIsWrongInSomeBlocksIsFound) { ExpectWrong(GetParam(), "x"); }

INSTANTIATE_TEST_SUITE_P(Blocks, LongGradient, testing::ValuesIn(kBlockNames),
                         [](const auto& info) { return info.param; });

TEST(LongGradients, InBlocksAreRight) { ExpectSound(Library(), "cube_right"); }

TEST(LongGradients, ThatSumAPartOfARowAreFound) {
  ExpectWrong("softmax_wrong", "x");
  ExpectWrong("norm_wrong", "x");
}

TEST(LongGradients, ThatSumARowAreRight) {
  ExpectSound(Library(), "softmax_right");
  ExpectSound(Library(), "norm_right");
}

TEST(LongGradients, ThatSumAPartOfTheRowsAreFound) { ExpectWrong("bias_wrong", "w"); }

TEST(LongGradients, ThatSumTheRowsAreRight) { ExpectSound(Library(), "bias_right"); }

TEST(LongGradients, ThatSumAPartOfWhatIsBroadcastAreFound) {
  ExpectWrong("add_wrong", "a");
  ExpectWrong("add_wrong", "b");
}

TEST(LongGradients, ThatSumWhatIsBroadcastAreRight) { ExpectSound(Library(), "add_right"); }

}  // namespace
}  // namespace opwright::check

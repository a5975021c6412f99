// SPDX-License-Identifier: Apache-2.0
//
// Attention without a mask: where scores are large a softmax is nearly one weight, terms of the
// size of other results cancel in its gradient, and weights are smaller than the last place of an
// output.
#include "library.h"

namespace opwright::check {
namespace {

constexpr const char* kSource = R"cc(
#include <math.h>
#include <opwright/kernel.h>
#include <vector>
  using opwright::View;

  // The weights of row i.
  template <class T>
  std::vector<T> Weights(View<const T> q, View<const T> k, int64_t i, double scale) {
    std::vector<T> w(k.Dim(0));
    T most = -INFINITY, sum = 0;
    for (int64_t j = 0; j < k.Dim(0); ++j) {
      for (int64_t c = 0; c < q.Dim(1); ++c) w[j] += q(i, c) * k(j, c);
      w[j] *= T(scale);
      most = w[j] > most ? w[j] : most;
    }
    for (T& each : w) sum += each = exp(each - most);
    for (T& each : w) each /= sum;
    return w;
  }

  template <class T>
  void Attend(View<const T> q, View<const T> k, View<const T> v, View<T> y, double scale) {
    for (int64_t i = 0; i < q.Dim(0); ++i) {
      const std::vector<T> w = Weights(q, k, i, scale);
      for (int64_t e = 0; e < v.Dim(1); ++e) {
        y(i, e) = 0;
        for (int64_t j = 0; j < k.Dim(0); ++j) y(i, e) += w[j] * v(j, e);
      }
    }
  }
  OPWRIGHT_FUNCTION(attend, Attend)

  template <class T>
  void AttendGrad(View<const T> q, View<const T> k, View<const T> v, View<const T> grad_y,
                  View<T> grad_q, View<T> grad_k, View<T> grad_v, double scale) {
    for (View<T>* view : {&grad_q, &grad_k, &grad_v})
      for (int64_t i = 0; i < view->Size(); ++i) view->Data()[i] = 0;
    for (int64_t i = 0; i < q.Dim(0); ++i) {
      const std::vector<T> w = Weights(q, k, i, scale);
      std::vector<T> grad_w(w.size());
      T mean = 0;
      for (int64_t j = 0; j < k.Dim(0); ++j) {
        for (int64_t e = 0; e < v.Dim(1); ++e) {
          grad_w[j] += grad_y(i, e) * v(j, e);
          grad_v(j, e) += grad_y(i, e) * w[j];
        }
        mean += w[j] * grad_w[j];
      }
      for (int64_t j = 0; j < k.Dim(0); ++j)
        for (int64_t c = 0; c < q.Dim(1); ++c) {
          const T score = w[j] * (grad_w[j] - mean) * T(scale);
          grad_q(i, c) += score * k(j, c);
          grad_k(j, c) += score * q(i, c);
        }
    }
  }
  OPWRIGHT_FUNCTION(attend_grad, AttendGrad)
)cc";

TEST(Attention, ThatIsRightIsRight) {
  const std::vector<std::string> inputs = {R"(q: "m", "c")", R"(k: "n", "c")", R"(v: "n", "e")"};
  const std::string y = R"(y: "m", "e")";
  const std::string dtypes = R"("float32", "float64")";
  const std::string scale = R"(, "attr": [{"name": "scale", "type": "float", )"
                            R"("param_type": "optional", "default_value": 1.0}])";
  std::vector<std::string> of_gradient = inputs;
  of_gradient.push_back("grad_" + y);
  const std::string library = BuildLibrary(
      "attention", kSource,
      {WithFields(Metadef("attend", inputs, {y}, "", "attend_grad", dtypes),
                  R"(, "shape_rule": ["m", "e"])" + scale),
       WithFields(Metadef("attend_grad", of_gradient,
                          {"grad_" + inputs[0], "grad_" + inputs[1], "grad_" + inputs[2]},
                          "forward", "", dtypes),
                  scale)});
  for (uint64_t seed = 0; seed < Times(12); ++seed) {
    const OperatorReport op = CheckOne(library, "attend", 60, seed);
    EXPECT_EQ(op.verdict, Verdict::kRight) << "seed " << seed << "\n" << TextOf(op);
  }
}

}  // namespace
}  // namespace opwright::check

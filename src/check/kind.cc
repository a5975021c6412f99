// SPDX-License-Identifier: Apache-2.0
#include "check/kind.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "check/number_text.h"

namespace opwright::check {
namespace {

double Largest(const std::vector<double>& values) {
  double largest = 0;
  for (double v : values) largest = std::max(largest, std::fabs(v));
  return largest;
}

int64_t NotFinite(const std::vector<double>& values) {
  return std::count_if(values.begin(), values.end(), [](double v) { return !std::isfinite(v); });
}

class Search {
 public:
  explicit Search(const Suspect& s)
      : s_(s), scale_(std::max(Largest(s.got), Largest(s.expected))) {}

  std::string Run() const {
    if (s_.expected.empty() || s_.got.size() != s_.expected.size()) return "";
    // Before the tests for size: a comparison with nan finds nothing.
    if (NotFinite(s_.expected) > 0) return "";
    if (const int64_t count = NotFinite(s_.got); count > 0)
      return StrCat("not finite: ", count, " of ",
                    Count(static_cast<int64_t>(s_.got.size()), "element"),
                    count == 1 ? " is" : " are", " nan or infinite");
    // Where the input is zero much fits by chance; other cases show what is so.
    if (!s_.input.empty() && Largest(s_.input) == 0) return "";
    // Where all of it should be zero, anything would fit.
    if (Largest(s_.expected) == 0) return "";
    if (Largest(s_.got) == 0) return "zero: the gradient is never computed";
    // Too little is wrong to tell one mistake from another, but for a common factor.
    if (Same(s_.expected)) return Factor();
    for (const auto& test :
         {&Search::Factor, &Search::Transposed, &Search::Cotangent, &Search::NotReduced,
          &Search::Swapped, &Search::Missing, &Search::Part, &Search::Permuted}) {
      std::string kind = (this->*test)();
      if (!kind.empty()) return kind;
    }
    return "";
  }

 private:
  bool Near(double a, double b) const { return std::fabs(a - b) <= s_.tolerance * scale_; }
  bool Same(const std::vector<double>& a) const {
    if (a.size() != s_.got.size()) return false;
    for (size_t k = 0; k < a.size(); ++k)
      if (!Near(a[k], s_.got[k])) return false;
    return true;
  }

  double Distance(const std::vector<double>& a) const {
    double distance = 0;
    for (size_t k = 0; k < a.size(); ++k)
      distance = std::max(distance, std::fabs(a[k] - s_.got[k]));
    return distance;
  }

  std::string Factor() const {
    double dot = 0;
    double square = 0;
    for (size_t k = 0; k < s_.got.size(); ++k) {
      dot += s_.got[k] * s_.expected[k];
      square += s_.expected[k] * s_.expected[k];
    }
    const double factor = square == 0 ? 0 : dot / square;
    if (factor == 0 || s_.expected.size() < 2)
      return s_.expected.size() == 1 && Near(s_.got[0], -s_.expected[0]) ? "sign" : "";
    std::vector<double> scaled = s_.expected;
    for (double& v : scaled) v *= factor;
    if (!Same(scaled) || FactorText(factor) == "1") return "";
    // Near what is right each factor near one would do: it must explain nearly all of the error.
    if (Distance(scaled) > 0.1 * Distance(s_.expected)) return "";
    if (std::fabs(factor + 1) < 1e-2) return "sign: it is the negative of what is right";
    return StrCat("missing factor: every element is ", FactorText(factor), " times what is right");
  }

  std::string Transposed() const {
    const size_t rank = s_.shape.size();
    if (rank < 2) return "";
    const int64_t rows = s_.shape[rank - 2];
    const int64_t columns = s_.shape[rank - 1];
    if (rows < 2 || columns < 2) return "";
    std::vector<double> turned(s_.expected.size());
    for (int64_t k = 0; k < static_cast<int64_t>(turned.size()); ++k) {
      const int64_t in_matrix = k % (rows * columns);
      const int64_t r = in_matrix / columns;
      const int64_t c = in_matrix % columns;
      turned[static_cast<size_t>(k - in_matrix + c * rows + r)] =
          s_.expected[static_cast<size_t>(k)];
    }
    if (Same(turned)) return "transposed: the last two dimensions are exchanged";
    return "";
  }

  std::string Cotangent() const {
    if (Same(s_.cotangent)) return "passed through: it is the output's gradient itself";
    if (s_.jacobian == nullptr) return "";
    std::vector<double> ones(s_.got.size());
    for (size_t k = 0; k < ones.size(); ++k)
      for (double d : (*s_.jacobian)[k]) ones[k] += d;
    return Same(ones)
               ? "the output's gradient is ignored: it would be right only for one of all ones"
               : "";
  }

  // Only one of the output elements that an input element goes to was counted: the sum over
  // broadcast dimensions is missing.
  std::string NotReduced() const {
    if (s_.jacobian == nullptr) return "";
    bool several = false;
    std::vector<double> first(s_.got.size());
    std::vector<double> last(s_.got.size());
    std::vector<double> plain_first(s_.got.size());
    std::vector<double> plain_last(s_.got.size());
    for (size_t k = 0; k < s_.got.size(); ++k) {
      int64_t terms = 0;
      for (size_t j = 0; j < s_.cotangent.size(); ++j) {
        const double d = (*s_.jacobian)[k][j];
        if (d == 0) continue;
        if (terms++ == 0) {
          first[k] = d * s_.cotangent[j];
          plain_first[k] = s_.cotangent[j];
        }
        last[k] = d * s_.cotangent[j];
        plain_last[k] = s_.cotangent[j];
      }
      several = several || terms > 1;
    }
    if (!several) return "";
    if (Same(first) || Same(last) || Same(plain_first) || Same(plain_last))
      return "not reduced: only one of the output elements that each input element goes to is "
             "counted; sum over the "
             "broadcast dimensions";
    // The cotangent copied flat, as far as there is room.
    if (s_.cotangent.size() > s_.got.size()) {
      const std::vector<double> head(
          s_.cotangent.begin(), s_.cotangent.begin() + static_cast<std::ptrdiff_t>(s_.got.size()));
      if (Same(head))
        return "not reduced: it is the begin of the output's gradient; sum over the broadcast "
               "dimensions";
    }
    return "";
  }

  std::string Swapped() const {
    for (const Named& other : s_.others)
      if (Same(other.values)) return StrCat("swapped inputs: it is the gradient of ", other.name);
    for (const Named& factor : s_.factors)
      if (Same(factor.values)) return StrCat("it is ", factor.name, " itself");
    return "";
  }

  // The ratio of what is right to what came is another tensor of the call.
  std::string Missing() const {
    for (const Named& factor : s_.factors) {
      const size_t n = factor.values.size();
      if (n == 0 || s_.got.size() % n != 0) continue;
      bool missing = true;
      bool doubled = true;
      for (size_t k = 0; k < s_.got.size(); ++k) {
        const double f = factor.values[k % n];
        missing = missing && Near(s_.got[k] * f, s_.expected[k]);
        doubled = doubled && Near(s_.got[k], s_.expected[k] * f);
      }
      if (missing) return StrCat("missing factor: times ", factor.name, " it would be right");
      if (doubled)
        return StrCat("a factor too many: divided by ", factor.name, " it would be right");
    }
    return "";
  }

  // Right in some places of one dimension and zero, or wrong, in the others.
  std::string Part() const {
    int64_t inner = 1;
    for (size_t d = s_.shape.size(); d-- > 0; inner *= s_.shape[d]) {
      const int64_t size = s_.shape[d];
      if (size < 2) continue;
      std::vector<bool> right(static_cast<size_t>(size), true);
      std::vector<bool> wrong(static_cast<size_t>(size), true);
      std::vector<bool> zeros(static_cast<size_t>(size), true);  // right by chance
      bool zero = true;
      for (int64_t k = 0; k < static_cast<int64_t>(s_.got.size()); ++k) {
        const auto at = static_cast<size_t>(k / inner % size);
        const auto e = static_cast<size_t>(k);
        const bool same = Near(s_.got[e], s_.expected[e]);
        right[at] = right[at] && same;
        wrong[at] = wrong[at] && !same;
        zeros[at] =
            zeros[at] && (Near(s_.expected[e], 0) || (e < s_.input.size() && s_.input[e] == 0));
        if (!same) zero = zero && s_.got[e] == 0;
      }
      std::vector<std::string> bad;
      bool clean = true;
      for (int64_t v = 0; v < size; ++v) {
        const auto at = static_cast<size_t>(v);
        clean = clean && ((right[at] && !zeros[at]) || wrong[at]);
        if (!right[at]) bad.push_back(StrCat(v));
      }
      // One element an index, and other numbers: that proves no pattern.
      if (size == static_cast<int64_t>(s_.got.size()) && !zero) continue;
      if (clean && !bad.empty() && static_cast<int64_t>(bad.size()) < size)
        return StrCat("a part of it: index ", JoinAnd(bad), " of dimension ",
                      static_cast<int64_t>(d), " is ", zero ? "zero" : "wrong",
                      ", the rest is right");
    }
    size_t zeros = 0;
    for (size_t k = 0; k < s_.got.size(); ++k) {
      if (Near(s_.got[k], s_.expected[k])) continue;
      if (s_.got[k] != 0) return "";
      ++zeros;
    }
    if (zeros == 0) return "";
    return StrCat("a part of it: ", Count(static_cast<int64_t>(zeros), "element"),
                  " zero, the rest is right");
  }

  std::string Permuted() const {
    std::vector<double> got = s_.got;
    std::vector<double> expected = s_.expected;
    std::sort(got.begin(), got.end());
    std::sort(expected.begin(), expected.end());
    for (size_t k = 0; k < got.size(); ++k)
      if (!Near(got[k], expected[k])) return "";
    return "the right numbers in other places";
  }

  const Suspect& s_;
  double scale_;
};

}  // namespace

std::string LikelyKind(const Suspect& suspect) { return Search(suspect).Run(); }

}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
//
// Gradients that are wrong only where blocks or vectors divide an axis, which is the branch that
// real sizes take.
#include "library.h"

namespace opwright::check {
namespace {

constexpr const char* kSource = R"cc(
  template <class T>
  void NAME(View<const T> x, View<T> y) {
    for (int64_t i = 0; i < x.Size(); ++i) y.Data()[i] = x.Data()[i] * x.Data()[i];
  }
  OPWRIGHT_FUNCTION(NAME, NAME)

  template <class T>
  void NAME_grad(View<const T> x, View<const T> g, View<T> d) {
    const int64_t m = x.Dim(0), n = x.Dim(x.Rank() - 1);
    (void)m;
    (void)n;
    for (int64_t i = 0; i < x.Size(); ++i)
      d.Data()[i] = (CONDITION ? 1 : 2) * x.Data()[i] * g.Data()[i];
  }
  OPWRIGHT_FUNCTION(NAME_grad, NAME_grad)
)cc";

struct Form {
  const char* op;
  const char* condition;  // where it is wrong
  const char* shape;
};
constexpr Form kForms[] = {
    {"last_16", "n % 16 == 0", R"("m", "n")"},
    {"last_64", "n % 64 == 0", R"("m", "n")"},
    {"first_32", "m % 32 == 0", R"("m", "n")"},
    {"both_16", "m % 16 == 0 && n % 16 == 0", R"("m", "n")"},
    {"last_of_any", "n % 32 == 0", "-2"},
    {"first_unknown", "m % 64 == 0", "-1, -1"},
    {"last_of_four", "n % 128 == 0", R"("b", "c", "h", "w")"},
    {"last_after_any", "n % 64 == 0", R"("...", "n")"},
    {"never", "false", R"("m", "n")"},
};

const std::string& Library() {
  static const std::string& path = *new std::string([] {
    std::string source = "#include <opwright/kernel.h>\n  using namespace opwright;\n";
    std::vector<std::string> metadefs;
    for (const Form& form : kForms) {
      source += Replaced(Replaced(kSource, "NAME", form.op), "CONDITION", form.condition);
      const std::string name = StrCat(form.op, "_grad");
      const std::string shape = form.shape;
      metadefs.push_back(Metadef(form.op, {"x: " + shape}, {"y: " + shape}, "same(x)", name));
      metadefs.push_back(
          Metadef(name, {"x: " + shape, "grad_y: " + shape}, {"grad_x: " + shape}, "forward"));
    }
    return BuildLibrary("whole_blocks", source, metadefs);
  }());
  return path;
}

TEST(WholeBlocks, ABranchForThemThatIsWrongIsFound) {
  for (const Form& form : kForms) {
    const OperatorReport op = CheckOne(Library(), form.op);
    const bool wrong = std::string(form.condition) != "false";
    EXPECT_EQ(op.verdict, wrong ? Verdict::kWrong : Verdict::kRight) << TextOf(op);
  }
}

}  // namespace
}  // namespace opwright::check

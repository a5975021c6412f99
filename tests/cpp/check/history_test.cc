// SPDX-License-Identifier: Apache-2.0
//
// Kernels that keep something of their first call, which shows when a call of another size follows.
#include "library.h"

namespace opwright::check {
namespace {

constexpr const char* kSource = R"cc(
#include <opwright/kernel.h>
#include <stdlib.h>
  using opwright::View;

  template <class T>
  void ScalesByFirst(View<const T> x, View<T> y) {
    static const T first = static_cast<T>(x.Size());
    for (int64_t i = 0; i < x.Size(); ++i) y.Data()[i] = x.Data()[i] * first;
  }
  OPWRIGHT_FUNCTION(scales_by_first, ScalesByFirst)

  template <class T>
  void Through(T* scratch, View<const T> x, View<T> y) {
    for (int64_t i = 0; i < x.Size(); ++i) scratch[i] = x.Data()[i];
    for (int64_t i = 0; i < x.Size(); ++i) y.Data()[i] = scratch[x.Size() - 1 - i];
  }

  template <class T>
  void ScratchOfFirst(View<const T> x, View<T> y) {
    thread_local T* const scratch = static_cast<T*>(malloc(x.Size() * sizeof(T)));
    Through(scratch, x, y);
    free(malloc(100000));
  }
  OPWRIGHT_FUNCTION(scratch_of_first, ScratchOfFirst)

  template <class T>
  void ScratchThatGrows(View<const T> x, View<T> y) {
    thread_local T* scratch = nullptr;
    thread_local int64_t room = 0;
    if (x.Size() > room) scratch = static_cast<T*>(realloc(scratch, x.Size() * sizeof(T)));
    if (x.Size() > room) room = x.Size();
    Through(scratch, x, y);
  }
  OPWRIGHT_FUNCTION(scratch_that_grows, ScratchThatGrows)

  template <class T>
  void Twice(View<const T> x, View<T> y) {
    for (int64_t i = 0; i < x.Size(); ++i) y.Data()[i] = 2 * x.Data()[i];
  }
  OPWRIGHT_FUNCTION(twice, Twice)

  // The sum over the gradient is of as many elements as the first call had.
  template <class T>
  void TwiceGrad(View<const T> x, View<const T> grad_y, View<T> grad_x) {
    static const int64_t first = x.Size();
    for (int64_t i = 0; i < x.Size(); ++i) grad_x.Data()[i] = i < first ? 2 * grad_y.Data()[i] : 0;
  }
  OPWRIGHT_FUNCTION(twice_grad, TwiceGrad)
)cc";

const std::string& Library() {
  static const std::string& path = *new std::string([] {
    std::vector<std::string> metadefs;
    for (const char* op : {"scales_by_first", "scratch_of_first", "scratch_that_grows"})
      metadefs.push_back(Metadef(op, {"x: -2"}, {"y: -2"}, "same(x)"));
    metadefs.push_back(Metadef("twice", {"x: -2"}, {"y: -2"}, "same(x)", "twice_grad"));
    metadefs.push_back(Metadef("twice_grad", {"x: -2", "grad_y: -2"}, {"grad_x: -2"}, "forward"));
    return BuildLibrary("history", kSource, metadefs);
  }());
  return path;
}

TEST(History, ASizeThatIsKeptChangesTheResults) {
  for (const char* name : {"scales_by_first", "twice"}) {
    const OperatorReport op = CheckOne(Library(), name);
    EXPECT_EQ(op.verdict, Verdict::kWrong) << TextOf(op);
    const Finding* found = FindingOf(op, "CK009");
    ASSERT_NE(found, nullptr) << TextOf(op);
    EXPECT_NE(found->message.find("gives other results after a call with x["), std::string::npos)
        << found->message;
    EXPECT_EQ(found->kind, "keeps something of its first call");
  }
}

TEST(History, AScratchOfTheFirstSizeIsOverrun) {
  const OperatorReport op = CheckOne(Library(), "scratch_of_first");
  EXPECT_EQ(op.verdict, Verdict::kWrong) << TextOf(op);
  EXPECT_NE(TextOf(op).find("during forward or backward, after a call with x["), std::string::npos)
      << TextOf(op);
}

TEST(History, AScratchThatGrowsIsRight) {
  const OperatorReport op = CheckOne(Library(), "scratch_that_grows");
  EXPECT_EQ(op.verdict, Verdict::kRight) << TextOf(op);
  EXPECT_TRUE(op.findings.empty());
}

}  // namespace
}  // namespace opwright::check

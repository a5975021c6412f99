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

  // So much that what lies beyond belongs to nobody.
  constexpr int64_t kEach = 512;

  template <class T>
  void Through(T* scratch, View<const T> x, View<T> y) {
    for (int64_t i = 0; i < x.Size(); ++i) scratch[i * kEach] = x.Data()[i];
    for (int64_t i = 0; i < x.Size(); ++i) y.Data()[i] = scratch[(x.Size() - 1 - i) * kEach];
  }

  template <class T>
  void ScratchOfFirst(View<const T> x, View<T> y) {
    thread_local T* const scratch = static_cast<T*>(malloc(x.Size() * kEach * sizeof(T)));
    Through(scratch, x, y);
  }
  OPWRIGHT_FUNCTION(scratch_of_first, ScratchOfFirst)

  template <class T>
  void ScratchThatGrows(View<const T> x, View<T> y) {
    thread_local T* scratch = nullptr;
    thread_local int64_t room = 0;
    if (x.Size() > room) scratch = static_cast<T*>(realloc(scratch, x.Size() * kEach * sizeof(T)));
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

  template <class T>
  void RowMean(View<const T> x, View<T> y) {
    for (int64_t i = 0; i < x.Dim(0); ++i) {
      y(i) = 0;
      for (int64_t j = 0; j < x.Dim(1); ++j) y(i) += x(i, j) / x.Dim(1);
    }
  }
  OPWRIGHT_FUNCTION(row_mean, RowMean)

  // Where x has no elements it is not called.
  template <class T>
  void RowMeanGrad(View<const T> x, View<const T> grad_y, View<T> grad_x) {
    static const T share = T(1) / x.Dim(1);
    for (int64_t i = 0; i < x.Dim(0); ++i)
      for (int64_t j = 0; j < x.Dim(1); ++j) grad_x(i, j) = grad_y(i) * share;
  }
  OPWRIGHT_FUNCTION(row_mean_grad, RowMeanGrad)

  // A table of the length alone.
  template <class T>
  void Powers(View<const T> x, View<T> y, double base) {
    thread_local T* table = nullptr;
    thread_local int64_t length = -1;
    if (length != x.Size()) {
      table = static_cast<T*>(realloc(table, (x.Size() + 1) * sizeof(T)));
      for (int64_t i = 0; i < x.Size(); ++i) table[i] = T(base) + i;
      length = x.Size();
    }
    for (int64_t i = 0; i < x.Size(); ++i) y.Data()[i] = x.Data()[i] * table[i];
  }
  OPWRIGHT_FUNCTION(powers, Powers)
)cc";

const std::string& Library() {
  static const std::string& path = *new std::string([] {
    std::vector<std::string> metadefs;
    for (const char* op : {"scales_by_first", "scratch_of_first", "scratch_that_grows"})
      metadefs.push_back(Metadef(op, {"x: -2"}, {"y: -2"}, "same(x)"));
    metadefs.push_back(Metadef("twice", {"x: -2"}, {"y: -2"}, "same(x)", "twice_grad"));
    metadefs.push_back(Metadef("twice_grad", {"x: -2", "grad_y: -2"}, {"grad_x: -2"}, "forward"));
    const std::string x = R"(x: "m", "n")";
    metadefs.push_back(Metadef("row_mean", {x}, {R"(y: "m")"}, "", "row_mean_grad"));
    metadefs.push_back(Metadef("row_mean_grad", {x, R"(grad_y: "m")"}, {"grad_" + x}, "forward"));
    metadefs.push_back(
        WithFields(Metadef("powers", {"x: -2"}, {"y: -2"}, "same(x)"),
                   R"(, "attr": [{"name": "base", "type": "float", "param_type": "optional", )"
                   R"("default_value": 2.0}])"));
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

TEST(History, WhatABackwardKernelOrATableKeepsChangesTheResults) {
  for (const char* name : {"row_mean", "powers"}) {
    const OperatorReport op = CheckOne(Library(), name);
    EXPECT_EQ(op.verdict, Verdict::kWrong) << TextOf(op);
    EXPECT_NE(FindingOf(op, "CK009"), nullptr) << TextOf(op);
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

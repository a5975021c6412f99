// SPDX-License-Identifier: Apache-2.0
//
// An operator with one case's inputs in one dtype column: arrays for everything that its forward
// and its backward call touch, and the calls themselves.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "check/array.h"
#include "check/attrs.h"
#include "check/cases.h"
#include "check/guarded_lists.h"
#include "registry/library.h"

namespace opwright::check {

using ArrayLists = std::vector<std::vector<Array>>;  // [input or output][tensor]
using Counts = std::vector<int64_t>;

Counts CountsOf(const ArrayLists& lists);
int64_t Total(const Counts& counts);
int64_t CountElements(const ArrayLists& lists);
// Appends a dense tensor for each array.
void AppendTensors(ArrayLists& lists, std::vector<OpwrightTensor>* tensors);

// One tensor that is due a gradient.
struct Wanted {
  int32_t input = 0;
  int64_t item = 0;
  int32_t row = 0;  // of the report
};
inline Array& At(ArrayLists& lists, const Wanted& w) {
  return lists[static_cast<size_t>(w.input)][static_cast<size_t>(w.item)];
}
inline const Array& At(const ArrayLists& lists, const Wanted& w) {
  return lists[static_cast<size_t>(w.input)][static_cast<size_t>(w.item)];
}

class Trial {
 public:
  Trial(Operator& op, int32_t column, const Case& c, uint64_t seed, const SecondValues& second);
  // The same values in another column.
  Trial(const Trial& other, int32_t column);

  // Other values for all inputs.
  void Refill(Values values, Random* random);

  // Makes the outputs. The error of a shape that is refused.
  Status MakeOutputs();
  // tensors: inputs, outputs.
  Status Forward(OpwrightTensor* tensors);
  // From arrays to arrays, with none of the checks.
  Status Forward();
  // tensors: inputs, outputs, cotangents, gradients; counts of the last two.
  Status Backward(OpwrightTensor* tensors, const Counts& cotangents, const Counts& gradients);
  Status Backward(ArrayLists& cotangents, ArrayLists& gradients);

  // For the float outputs: random where the backward operator takes their gradient, else zeros.
  ArrayLists MakeCotangents(Random* random) const;
  // For the inputs that are due a gradient.
  ArrayLists MakeGradients() const;
  std::vector<Wanted> wanted() const;
  std::string NameOf(const Wanted& w) const;

  Operator& op() const { return op_; }
  const OpwrightOpDef& def() const { return op_.def(); }
  int32_t column() const { return column_; }
  OpwrightDType InputType(int32_t i) const { return def().inputs[i]->dtypes[column_]; }
  // The least precise float of the column: it sets what can be told apart.
  OpwrightDType LeastFloat() const;

  ArrayLists inputs;
  ArrayLists outputs;
  std::vector<OpwrightAttr> attrs;

 private:
  void MoveNearAttrs(Random* random);
  void MaskLargest(Random* random);

  GuardedLists lists_;  // of attrs
  Operator& op_;
  int32_t column_;
  int64_t limit_;  // of integers
};

}  // namespace opwright::check

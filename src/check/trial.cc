// SPDX-License-Identifier: Apache-2.0
#include "check/trial.h"

#include <algorithm>
#include <cmath>

#include "base/dtype.h"
#include "base/text.h"
#include "check/child.h"
#include "check/gradient_due.h"
#include "registry/host.h"
#include "runtime/gradient.h"

namespace opwright::check {
namespace {

std::vector<OpwrightArgument> Split(OpwrightTensor* tensors, const Counts& counts) {
  std::vector<OpwrightArgument> arguments;
  for (int64_t count : counts) {
    arguments.push_back({count == 0 ? nullptr : tensors, count});
    tensors += count;
  }
  return arguments;
}

// Float attributes of other sizes are there against a division by zero, or stand for "none".
constexpr double kLeastMark = 0.01;
constexpr double kLargestMark = 1e6;

// Indices must be valid for the smallest dimension that they could go over.
int64_t IntegerLimit(const Case& c) {
  int64_t limit = 3;
  for (const auto& shapes : c.shapes)
    for (const Shape& shape : shapes)
      for (int64_t dim : shape) limit = std::min(limit, std::max<int64_t>(dim, 1));
  return limit;
}

}  // namespace

Counts CountsOf(const ArrayLists& lists) {
  Counts counts;
  for (const auto& list : lists) counts.push_back(static_cast<int64_t>(list.size()));
  return counts;
}

int64_t Total(const Counts& counts) {
  int64_t total = 0;
  for (int64_t count : counts) total += count;
  return total;
}

int64_t CountElements(const ArrayLists& lists) {
  int64_t count = 0;
  for (const auto& list : lists)
    for (const Array& array : list) count += array.size();
  return count;
}

void AppendTensors(ArrayLists& lists, std::vector<OpwrightTensor>* tensors) {
  for (auto& list : lists)
    for (Array& array : list) tensors->push_back(array.Tensor());
}

Trial::Trial(Operator& op, int32_t column, const Case& c, uint64_t seed, const SecondValues& second)
    : attrs(MakeAttrs(op.def(), second)),
      lists_(GuardLists(op.def(), &attrs)),
      op_(op),
      column_(column),
      limit_(IntegerLimit(c)) {
  for (int32_t i = 0; i < def().num_inputs; ++i) {
    std::vector<Array> list;
    for (const Shape& shape : c.shapes[static_cast<size_t>(i)])
      list.emplace_back(InputType(i), shape);
    inputs.push_back(std::move(list));
  }
  Random random(seed);
  Refill(c.values, &random);
}

Trial::Trial(const Trial& other, int32_t column)
    : attrs(other.attrs),
      lists_(other.lists_),
      op_(other.op_),
      column_(column),
      limit_(other.limit_) {
  const auto convert = [](const ArrayLists& from, const auto& dtype_of) {
    ArrayLists to;
    for (size_t i = 0; i < from.size(); ++i) {
      std::vector<Array> list;
      for (const Array& array : from[i]) {
        list.emplace_back(dtype_of(static_cast<int32_t>(i)), array.shape);
        for (int64_t k = 0; k < array.size(); ++k) list.back().Set(k, array.Get(k));
      }
      to.push_back(std::move(list));
    }
    return to;
  };
  inputs = convert(other.inputs, [&](int32_t i) { return InputType(i); });
  outputs = convert(other.outputs, [&](int32_t i) { return def().outputs[i]->dtypes[column_]; });
}

void Trial::Refill(Values values, Random* random) {
  for (auto& list : inputs)
    for (Array& array : list) Fill(&array, values, limit_, random);
  if (values == Values::kNearAttrs) MoveNearAttrs(random);
  if (values == Values::kMasked) MaskLargest(random);
}

// As logits are masked: one in four of the first input that has as many elements as any.
void Trial::MaskLargest(Random* random) {
  Array* largest = nullptr;
  for (auto& list : inputs)
    for (Array& array : list)
      if (IsFloat(array.dtype) && (largest == nullptr || array.size() > largest->size()))
        largest = &array;
  for (int64_t k = 0; largest != nullptr && k < largest->size(); ++k)
    if (random->Bits() % 4 == 0) largest->Set(k, -INFINITY);
}

// Three elements of four: one above an attribute, one below, one on the other side of zero.
void Trial::MoveNearAttrs(Random* random) {
  std::vector<double> marks;
  for (const OpwrightAttr& attr : attrs)
    if (attr.type == kOpwrightAttrFloat && std::fabs(attr.value.f) >= kLeastMark &&
        std::fabs(attr.value.f) <= kLargestMark)
      marks.push_back(attr.value.f);
  if (marks.empty()) return;
  for (auto& list : inputs)
    for (Array& array : list)
      for (int64_t k = 0; IsFloat(array.dtype) && k < array.size(); ++k) {
        const double mark = marks[static_cast<size_t>(k / 4) % marks.size()];
        const double away = random->Uniform(0.05, 0.5);
        const double near[] = {array.Get(k), mark * (1 + away), mark * (1 - away),
                               -mark * (1 + away)};
        array.Set(k, near[k % 4]);
      }
}

Status Trial::MakeOutputs() {
  std::vector<OpwrightTensor> tensors;
  AppendTensors(inputs, &tensors);
  const std::vector<OpwrightArgument> arguments = Split(tensors.data(), CountsOf(inputs));
  CallArguments call;
  call.inputs = arguments.data();
  call.num_inputs = def().num_inputs;
  call.attrs = attrs.data();
  call.num_attrs = def().num_attrs;
  Arena arena(DefaultHost());
  std::vector<InferredOutput> inferred(static_cast<size_t>(def().num_outputs));
  OPWRIGHT_RETURN_IF_ERROR(op_.Infer(call, inferred.data(), arena));
  outputs.clear();
  for (const InferredOutput& output : inferred) {
    std::vector<Array> list;
    for (int64_t k = 0; k < output.count; ++k)
      list.emplace_back(output.dtype, Shape(output.shapes[k].dims,
                                            output.shapes[k].dims + output.shapes[k].ndim));
    outputs.push_back(std::move(list));
  }
  return {};
}

Status Trial::Forward(OpwrightTensor* tensors) {
  const Counts counts = CountsOf(inputs);
  const std::vector<OpwrightArgument> in = Split(tensors, counts);
  std::vector<OpwrightArgument> out = Split(tensors + Total(counts), CountsOf(outputs));
  CallArguments call;
  call.inputs = in.data();
  call.num_inputs = def().num_inputs;
  call.outputs = out.data();
  call.num_outputs = def().num_outputs;
  call.attrs = attrs.data();
  call.num_attrs = def().num_attrs;
  Status status = op_.Call(call);
  CountReturned();
  return status;
}

Status Trial::Forward() {
  std::vector<OpwrightTensor> tensors;
  AppendTensors(inputs, &tensors);
  AppendTensors(outputs, &tensors);
  return Forward(tensors.data());
}

Status Trial::Backward(OpwrightTensor* tensors, const Counts& cotangents, const Counts& gradients) {
  OpwrightTensor* at = tensors;
  const auto next = [&](const Counts& counts) {
    std::vector<OpwrightArgument> arguments = Split(at, counts);
    at += Total(counts);
    return arguments;
  };
  const auto in = next(CountsOf(inputs));
  const auto out = next(CountsOf(outputs));
  const auto cotangent = next(cotangents);
  const auto gradient = next(gradients);
  Status status = op_.CallGradient(in.data(), out.data(), attrs.data(), def().num_attrs,
                                   cotangent.data(), gradient.data());
  CountReturned();
  return status;
}

Status Trial::Backward(ArrayLists& cotangents, ArrayLists& gradients) {
  std::vector<OpwrightTensor> tensors;
  for (ArrayLists* lists : {&inputs, &outputs, &cotangents, &gradients})
    AppendTensors(*lists, &tensors);
  return Backward(tensors.data(), CountsOf(cotangents), CountsOf(gradients));
}

ArrayLists Trial::MakeCotangents(Random* random) const {
  ArrayLists cotangents;
  const OpwrightGradient* const gradient = op_.gradient();
  for (const auto& list : outputs) {
    const auto output = static_cast<int32_t>(cotangents.size());
    const bool taken = gradient == nullptr || TakesGradientOf(*gradient, output);
    std::vector<Array> own;
    for (const Array& array : list) {
      if (!IsFloat(array.dtype)) continue;
      own.emplace_back(array.dtype, array.shape);
      if (taken) FillCotangent(&own.back(), random);
    }
    cotangents.push_back(std::move(own));
  }
  return cotangents;
}

std::vector<Wanted> Trial::wanted() const {
  std::vector<Wanted> wanted;
  if (op_.gradient() == nullptr) return wanted;
  const std::vector<RowName> rows = RowsOf(def());
  for (size_t r = 0; r < rows.size(); ++r) {
    const RowName& row = rows[r];
    const auto& list = inputs[static_cast<size_t>(row.input)];
    if (row.item < static_cast<int64_t>(list.size()) && IsFloat(InputType(row.input)) &&
        GivesGradient(*op_.gradient(), row.input))
      wanted.push_back({row.input, row.item, static_cast<int32_t>(r)});
  }
  return wanted;
}

std::string Trial::NameOf(const Wanted& w) const {
  return ItemName(*def().inputs[w.input], static_cast<size_t>(w.item));
}

ArrayLists Trial::MakeGradients() const {
  ArrayLists gradients(inputs.size());
  for (const Wanted& w : wanted()) {
    const Array& input = inputs[static_cast<size_t>(w.input)][static_cast<size_t>(w.item)];
    gradients[static_cast<size_t>(w.input)].emplace_back(input.dtype, input.shape);
  }
  return gradients;
}

OpwrightDType Trial::LeastFloat() const {
  OpwrightDType least = kFloat64;
  const auto look = [&](OpwrightDType dtype) {
    if (IsFloat(dtype) && Epsilon(dtype) > Epsilon(least)) least = dtype;
  };
  for (int32_t i = 0; i < def().num_inputs; ++i) look(def().inputs[i]->dtypes[column_]);
  for (int32_t i = 0; i < def().num_outputs; ++i) look(def().outputs[i]->dtypes[column_]);
  return least;
}

}  // namespace opwright::check

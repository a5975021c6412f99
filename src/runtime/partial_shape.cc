// SPDX-License-Identifier: Apache-2.0
#include "runtime/partial_shape.h"

#include <algorithm>
#include <optional>

#include "runtime/shape.h"
#include "runtime/shape_program.h"

namespace opwright {
namespace {

constexpr int64_t kUnknown = -1;
const PartialShape kUnknownRank = {-2};

bool HasRank(const PartialShape& shape) { return shape.size() != 1 || shape[0] != -2; }

// Of what must be equal: what either knows.
PartialShape Merge(const PartialShape& a, const PartialShape& b) {
  if (!HasRank(a)) return b;
  if (!HasRank(b) || a.size() != b.size()) return a;
  PartialShape merged = a;
  for (size_t k = 0; k < a.size(); ++k)
    if (merged[k] < 0) merged[k] = b[k];
  return merged;
}

PartialShape Broadcast(const PartialShape& a, const PartialShape& b) {
  if (!HasRank(a) || !HasRank(b)) return kUnknownRank;
  const PartialShape& longer = a.size() >= b.size() ? a : b;
  const PartialShape& other = a.size() >= b.size() ? b : a;
  PartialShape shape = longer;
  for (size_t k = 0; k < other.size(); ++k) {
    int64_t& dim = shape[longer.size() - other.size() + k];
    if (dim == 1 || (dim < 0 && other[k] > 1)) dim = other[k];
  }
  return shape;
}

class Rules {
 public:
  Rules(const OpwrightOpDef& def, const std::vector<PartialShape>& inputs,
        const OpwrightAttr* attrs)
      : def_(def),
        inputs_(inputs),
        attrs_(attrs),
        symbols_(static_cast<size_t>(def.num_symbols), kUnknown) {
    for (int32_t i = 0; i < def.num_inputs; ++i)
      Bind(*def.inputs[i], inputs[static_cast<size_t>(i)]);
  }

  PartialShape Output(int32_t output) const {
    const OpwrightShapeRule& rule = *def_.shape_rules[output];
    switch (rule.kind) {
      case kOpwrightShapeSame:
      case kOpwrightShapeForward:
        return Over(rule, Merge);
      case kOpwrightShapeBroadcast:
        return Over(rule, Broadcast);
      case kOpwrightShapeDims:
        return Dims(rule);
      default:
        return kUnknownRank;
    }
  }

 private:
  void Bind(const OpwrightParamDef& param, const PartialShape& shape) {
    const auto due = static_cast<size_t>(param.num_dims);
    const bool fits = HasRank(shape) && shape.size() >= due;
    const size_t lead = fits ? shape.size() - due : 0;
    // Of an input whose rank is unknown nothing is known, and no other stands in.
    if (leading_input_.Take(param)) {
      leading_.reset();
      if (fits) leading_ = PartialShape(shape.begin(), shape.begin() + static_cast<int64_t>(lead));
    }
    if (!fits) return;
    for (size_t k = 0; k < due; ++k)
      if (param.dims[k] <= -2 && shape[lead + k] >= 0)
        symbols_[static_cast<size_t>(-(param.dims[k] + 2))] = shape[lead + k];
  }

  template <class Join>
  PartialShape Over(const OpwrightShapeRule& rule, const Join& join) const {
    if (rule.num_args == 0) return kUnknownRank;
    PartialShape shape = inputs_[static_cast<size_t>(rule.args[0])];
    for (int32_t k = 1; k < rule.num_args; ++k)
      shape = join(shape, inputs_[static_cast<size_t>(rule.args[k])]);
    return shape;
  }

  int64_t Dim(int64_t input, int64_t axis) const {
    const PartialShape& shape = inputs_[static_cast<size_t>(input)];
    if (!HasRank(shape)) return kUnknown;
    if (axis < 0) axis += static_cast<int64_t>(shape.size());
    return axis < 0 || axis >= static_cast<int64_t>(shape.size())
               ? kUnknown
               : shape[static_cast<size_t>(axis)];
  }

  // The value that an instruction reads, if it is known.
  std::optional<int64_t> Read(int64_t op, const int64_t* operands) const {
    const auto known = [](int64_t dim) {
      return dim < 0 ? std::nullopt : std::optional<int64_t>(dim);
    };
    if (op == kOpwrightSymbol) return known(symbols_[static_cast<size_t>(*operands)]);
    if (op == kOpwrightDim) return known(Dim(operands[0], operands[1]));
    if (op == kOpwrightAttrInt64) {
      const OpwrightAttr& given = attrs_[*operands];
      return (given.type != 0 ? given : def_.attrs[*operands]->default_value).value.i;
    }
    const PartialShape& shape = inputs_[static_cast<size_t>(*operands)];
    return HasRank(shape) ? std::optional(static_cast<int64_t>(shape.size())) : std::nullopt;
  }

  PartialShape Dims(const OpwrightShapeRule& rule) const {
    PartialShape shape;
    if (rule.leading_any) {
      if (!leading_.has_value()) return kUnknownRank;
      shape = *leading_;
    }
    std::vector<std::optional<int64_t>> dims(static_cast<size_t>(rule.code_size));
    const int32_t count = RunShapeProgram(
        rule, dims.data(),
        [this](int64_t op, const int64_t* operands) { return Read(op, operands); }, nullptr);
    dims.resize(static_cast<size_t>(count));
    // A negative result is an error of the call, and no dimension that could stand here.
    for (const std::optional<int64_t>& dim : dims)
      shape.push_back(std::max(dim.value_or(kUnknown), kUnknown));
    return shape;
  }

  const OpwrightOpDef& def_;
  const std::vector<PartialShape>& inputs_;
  const OpwrightAttr* attrs_;
  std::vector<int64_t> symbols_;
  std::optional<PartialShape> leading_;  // none: unknown
  LeadingInput leading_input_;
};

}  // namespace

std::vector<PartialShape> InferPartialShapes(const OpwrightOpDef& def,
                                             const std::vector<PartialShape>& inputs,
                                             const OpwrightAttr* attrs) {
  const Rules rules(def, inputs, attrs);
  std::vector<PartialShape> shapes;
  for (int32_t i = 0; i < def.num_outputs; ++i) shapes.push_back(rules.Output(i));
  return shapes;
}

}  // namespace opwright

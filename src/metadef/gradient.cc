// SPDX-License-Identifier: Apache-2.0
#include "metadef/gradient.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "base/dtype.h"
#include "base/dtype_name.h"
#include "base/spelling.h"
#include "base/text.h"
#include "metadef/fields.h"

namespace opwright::metadef {
namespace {

constexpr std::string_view kGrad = "grad_";

std::optional<int32_t> IndexOf(const std::vector<Param>& params, std::string_view name) {
  for (size_t i = 0; i < params.size(); ++i)
    if (params[i].name == name) return static_cast<int32_t>(i);
  return std::nullopt;
}

bool IsFloatName(const std::string& dtype) {
  const uint8_t code = DTypeNamed(dtype).code;
  return code == kOpwrightFloat || code == kOpwrightBfloat || code == kOpwrightComplex;
}

// Has a gradient in one column at least.
bool HasFloat(const Param& param) {
  return std::any_of(param.dtypes.begin(), param.dtypes.end(), IsFloatName);
}

std::string_view KindText(ParamType type) { return ParamKindName(static_cast<int32_t>(type)); }

// Whether a tensor of the one shape list can be of the other.
bool MayBeEqual(const Shape& a, const Shape& b) {
  const size_t least = std::min(a.dims.size(), b.dims.size());
  if (!a.any_leading && b.dims.size() > a.dims.size()) return false;
  if (!b.any_leading && a.dims.size() > b.dims.size()) return false;
  for (size_t k = 1; k <= least; ++k) {
    const int64_t one = a.dims[a.dims.size() - k].value;
    const int64_t other = b.dims[b.dims.size() - k].value;
    if (one >= 0 && other >= 0 && one != other) return false;
  }
  return true;
}

class Binder {
 public:
  Binder(const Operator& forward, const Operator* backward)
      : forward_(forward), backward_(backward) {}

  std::vector<Diagnostic> Run(Binding* binding) {
    const GradientSpec& spec = forward_.gradient;
    const bool long_form = spec.long_form && (backward_ == nullptr || spec.op == backward_->name);
    if (!long_form && backward_ == nullptr) return {};
    std::vector<std::string> inputs = spec.inputs;
    std::vector<std::string> outputs = spec.outputs;
    if (!long_form) {
      inputs = Names(backward_->inputs);
      outputs = Names(backward_->outputs);
    } else if (backward_ != nullptr) {
      CheckCount(inputs.size(), backward_->inputs, "input");
      CheckCount(outputs.size(), backward_->outputs, "output");
    }
    for (size_t i = 0; i < inputs.size(); ++i) BindInput(inputs[i], i, long_form, binding);
    for (size_t i = 0; i < outputs.size(); ++i) BindOutput(outputs, i, long_form, binding);
    if (backward_ != nullptr) CheckAttrs();
    return std::move(found_);
  }

 private:
  static std::vector<std::string> Names(const std::vector<Param>& params) {
    std::vector<std::string> names;
    for (const Param& param : params) names.push_back(param.name);
    return names;
  }

  void Say(std::string_view id, const std::string& message, std::string hint = "") {
    const Span& span = forward_.gradient.span;
    const std::string backward = backward_ != nullptr ? backward_->name : forward_.gradient.op;
    found_.push_back(
        {std::string(id), Severity::kError, forward_.file, span.line, span.column, span.length,
         StrCat("gradient of ", forward_.name, " by ", backward, ": ", message), std::move(hint)});
  }

  void CheckCount(size_t listed, const std::vector<Param>& params, std::string_view noun) {
    if (listed == params.size()) return;
    Say("MD033",
        StrCat("\"", noun, "s\" lists ", Count(static_cast<int64_t>(listed), "name"), ", ",
               backward_->name, " has ", Count(static_cast<int64_t>(params.size()), noun), " (",
               Join(Names(params), ", "), ")"),
        "list one name for each, in order");
  }

  const Param* Own(const std::vector<Param> Operator::* params, size_t i) const {
    if (backward_ == nullptr || i >= (backward_->*params).size()) return nullptr;
    return &(backward_->*params)[i];
  }

  void BindInput(const std::string& name, size_t i, bool long_form, Binding* binding) {
    OpwrightRole role{kOpwrightRoleInput, -1};
    const Param* source = nullptr;
    if (const auto input = IndexOf(forward_.inputs, name)) {
      role = {kOpwrightRoleInput, *input};
      source = &forward_.inputs[static_cast<size_t>(*input)];
    } else if (const auto output = IndexOf(forward_.outputs, name)) {
      role = {kOpwrightRoleOutput, *output};
      source = &forward_.outputs[static_cast<size_t>(*output)];
    } else if (name.starts_with(kGrad)) {
      if (const auto grad = IndexOf(forward_.outputs, name.substr(kGrad.size()))) {
        role = {kOpwrightRoleGrad, *grad};
        source = &forward_.outputs[static_cast<size_t>(*grad)];
      }
    }
    binding->inputs.push_back(role);
    if (source == nullptr) return UnknownInput(name, long_form);
    if (role.kind == kOpwrightRoleGrad && !HasFloat(*source))
      Say("MD035", StrCat(name, " is the gradient of ", source->name, ", which has no float dtype"),
          "leave it out; what is no float has no gradient");
    const Param* own = Own(&Operator::inputs, i);
    if (own == nullptr) return;
    CheckFits(role.kind == kOpwrightRoleGrad ? "the gradient of " : "", *source, "takes", *own);
    const bool list_differs =
        (source->param_type == ParamType::kDynamic) != (own->param_type == ParamType::kDynamic);
    const bool may_lack = role.kind == kOpwrightRoleInput &&
                          source->param_type == ParamType::kOptional &&
                          own->param_type == ParamType::kRequired;
    if (list_differs || may_lack)
      Say("MD037",
          StrCat(source->name, " is ", KindText(source->param_type), " in ", forward_.name,
                 ", the input ", own->name, " of ", backward_->name, " that takes ",
                 role.kind == kOpwrightRoleGrad ? "its gradient" : "it", " is ",
                 KindText(own->param_type)),
          StrCat("write \"param_type\": \"", KindText(source->param_type), "\" for ", own->name));
  }

  // what: before the name of `source`. does: what the backward operator does with it.
  void CheckFits(std::string_view what, const Param& source, std::string_view does,
                 const Param& own) {
    if (MayBeEqual(source.shape, own.shape)) return;
    Say("MD044",
        StrCat(backward_->name, " ", does, " ", what, source.name, " as ", own.name,
               ", whose shape list is ", ShapeText(own.shape), ", and that of ", source.name,
               " is ", ShapeText(source.shape)),
        StrCat("write \"shape\": ", ShapeText(source.shape), " for ", own.name));
  }

  // A backward operator with no grad_OUTPUT means it by another name.
  bool TakesNoGradient() const {
    return std::none_of(backward_->inputs.begin(), backward_->inputs.end(),
                        [](const Param& param) { return param.name.starts_with(kGrad); });
  }

  void UnknownInput(const std::string& name, bool long_form) {
    std::vector<std::string> names = Names(forward_.inputs);
    for (const Param& output : forward_.outputs) names.push_back(output.name);
    std::vector<std::string> grads;
    for (const Param& output : forward_.outputs)
      if (HasFloat(output)) grads.push_back(StrCat(kGrad, output.name));
    names.insert(names.end(), grads.begin(), grads.end());
    const std::string nearest = long_form || !TakesNoGradient() ? Nearest(name, names)
                                : grads.size() == 1             ? grads[0]
                                                                : "";
    const std::string what = long_form ? StrCat("\"inputs\" has ", name, ", which")
                                       : StrCat("the input ", name, " of ", backward_->name);
    Say("MD034", StrCat(what, " is no input, output or gradient of an output of ", forward_.name),
        nearest.empty() ? StrCat("known are ", JoinAnd(names)) : StrCat("write ", nearest));
  }

  void BindOutput(const std::vector<std::string>& all, size_t i, bool long_form, Binding* binding) {
    const std::string& name = all[i];
    std::string_view target = name;
    if (!long_form) target = target.starts_with(kGrad) ? target.substr(kGrad.size()) : "";
    const auto index = IndexOf(forward_.inputs, target);
    if (!index) {
      binding->outputs.push_back(-1);
      std::vector<std::string> names;
      for (const Param& input : forward_.inputs)
        if (HasFloat(input)) names.push_back(long_form ? input.name : StrCat(kGrad, input.name));
      const bool none = names.empty();
      std::erase_if(names, [&](const std::string& known) {
        return std::find(all.begin(), all.end(), known) != all.end();
      });
      const std::string nearest = names.size() == 1 ? names[0] : Nearest(name, names);
      return Say("MD034",
                 long_form
                     ? StrCat("\"outputs\" has ", name, ", which is no input of ", forward_.name)
                     : StrCat("the output ", name, " of ", backward_->name,
                              " is not named grad_INPUT after an input of ", forward_.name),
                 !nearest.empty() ? StrCat("write ", nearest)
                 : none           ? StrCat(forward_.name, " has no float input")
                 : names.empty()  ? "each of its float inputs has a gradient already; leave it out"
                                  : StrCat("known are ", JoinAnd(names)));
    }
    const Param& input = forward_.inputs[static_cast<size_t>(*index)];
    if (std::find(binding->outputs.begin(), binding->outputs.end(), *index) !=
        binding->outputs.end())
      Say("MD036", StrCat("two outputs are the gradient of ", input.name),
          "each input has one gradient");
    binding->outputs.push_back(*index);
    if (!HasFloat(input))
      Say("MD035", StrCat(name, " is given as gradient, but ", input.name, " has no float dtype"),
          "leave it out; what is no float has no gradient");
    const Param* own = Own(&Operator::outputs, i);
    if (own == nullptr) return;
    if (!HasFloat(*own))
      Say("MD035",
          StrCat("the output ", own->name, " of ", backward_->name, " is the gradient of ",
                 input.name, " and has no float dtype"),
          "give it the dtypes of that input");
    CheckFits("the gradient of ", input, "gives", *own);
    // An absent input says nothing about the shape of its gradient, so that must be absent too.
    if (input.param_type != own->param_type &&
        (input.param_type != ParamType::kRequired || own->param_type == ParamType::kDynamic))
      Say("MD037",
          StrCat(input.name, " is ", KindText(input.param_type), " in ", forward_.name,
                 ", its gradient ", own->name, " in ", backward_->name, " is ",
                 KindText(own->param_type)),
          StrCat("write \"param_type\": \"", KindText(input.param_type), "\" for ", own->name));
  }

  // Attributes with the same name are passed on; others must have a default.
  void CheckAttrs() {
    std::unordered_map<std::string_view, const Attr*> attrs;
    for (const Attr& attr : forward_.attrs) attrs.emplace(attr.name, &attr);
    for (const Attr& own : backward_->attrs) {
      const auto named = attrs.find(own.name);
      const Attr* found = named != attrs.end() ? named->second : nullptr;
      if (found == nullptr) {
        if (own.required)
          Say("MD038",
              StrCat(backward_->name, " needs the attribute ", own.name, ", which ", forward_.name,
                     " does not have"),
              StrCat("give it a default, or add it to ", forward_.name));
      } else if (found->type != own.type) {
        Say("MD038",
            StrCat("the attribute ", own.name, " is ", AttrTypeText(found->type), " in ",
                   forward_.name, " and ", AttrTypeText(own.type), " in ", backward_->name),
            StrCat("write \"type\": \"", AttrTypeText(found->type), "\" in both"));
      }
    }
  }

  const Operator& forward_;
  const Operator* backward_;
  std::vector<Diagnostic> found_;
};

}  // namespace

std::vector<Diagnostic> CheckGradient(const Operator& forward, const Operator* backward,
                                      Binding* binding) {
  return Binder(forward, backward).Run(binding);
}

std::vector<std::string> ColumnsWithoutGradient(const Operator& forward, const Operator& backward,
                                                const Binding& binding) {
  // As the dispatcher chooses: a gradient may be of any float dtype, the rest is widened at most.
  const auto fits = [&](int column, int own) {
    for (size_t i = 0; i < binding.inputs.size(); ++i) {
      const OpwrightRole& role = binding.inputs[i];
      const std::vector<Param>& params =
          role.kind == kOpwrightRoleInput ? forward.inputs : forward.outputs;
      const OpwrightDType given = DTypeNamed(params[static_cast<size_t>(role.index)].DType(column));
      const OpwrightDType taken = DTypeNamed(backward.inputs[i].DType(own));
      const bool is_grad = role.kind == kOpwrightRoleGrad && IsFloat(given) && IsFloat(taken);
      if (!(given == taken) && !is_grad && !HoldsFloat(taken, given)) return false;
    }
    return true;
  };
  std::vector<std::string> lacking;
  for (int column = 0; column < forward.num_columns; ++column) {
    std::vector<std::string> names;
    for (const Param& input : forward.inputs) names.push_back(input.DType(column));
    bool is_there = std::none_of(names.begin(), names.end(), IsFloatName);
    for (int own = 0; own < backward.num_columns && !is_there; ++own) is_there = fits(column, own);
    if (!is_there) lacking.push_back(StrCat("(", Join(names, ", "), ")"));
  }
  return lacking;
}

Expected<Binding> BindGradient(const Operator& forward, const Operator& backward) {
  Binding binding;
  std::vector<Diagnostic> found = CheckGradient(forward, &backward, &binding);
  if (found.empty()) return binding;
  Error error{found[0].id,
              StrCat(backward.name, " does not fit ", forward.name, " as its backward operator"),
              std::move(found)};
  return error;
}

}  // namespace opwright::metadef

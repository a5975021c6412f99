// SPDX-License-Identifier: Apache-2.0
#include "metadef/shape_rule.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"
#include "metadef/shape_rule_reader.h"
#include "opwright/c_api.h"

namespace opwright::metadef {
namespace {

// Appends the dimension; false when its value is not known.
bool AppendKnown(const std::vector<std::string>& symbols, const Dim& dim,
                 std::vector<int64_t>* code) {
  if (dim.symbol.empty()) {
    code->insert(code->end(), {kOpwrightPush, dim.value});
    return dim.value >= 0;
  }
  const auto found = std::find(symbols.begin(), symbols.end(), dim.symbol);
  code->insert(code->end(), {kOpwrightSymbol, found - symbols.begin()});
  return found != symbols.end();
}

// The rule of an output without one; nullopt when it was reported. place: where the output stands.
std::optional<ShapeRule> Infer(Checker& checker, const Operator& op,
                               const std::vector<std::string>& symbols, const Param& output,
                               const JsonValue& place, const std::string& path) {
  ShapeRule rule;
  rule.span = output.span;
  bool present = false;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    if (op.inputs[i].shape != output.shape) continue;
    rule.args.push_back(static_cast<int32_t>(i));
    present |= op.inputs[i].param_type != ParamType::kOptional;
  }
  if (present) {
    rule.kind = kOpwrightShapeSame;
    std::vector<std::string> names;
    names.reserve(rule.args.size());
    for (int32_t i : rule.args) names.push_back(op.inputs[static_cast<size_t>(i)].name);
    rule.text = StrCat("same(", Join(names, ", "), ")");
    return rule;
  }
  const bool optional_only = !rule.args.empty();
  rule.args.clear();
  rule.text = ShapeText(output.shape);
  rule.kind = kOpwrightShapeDims;
  rule.leading_any = output.shape.any_leading;
  bool known = !output.shape.any_leading;  // "..." could be that of any input, or of none
  for (const Dim& dim : output.shape.dims) known = known && AppendKnown(symbols, dim, &rule.code);
  if (known) return rule;
  checker.Error("MD030", place,
                StrCat(path, ": nothing says what shape ", output.name.empty() ? "it" : output.name,
                       " has: ", optional_only ? "only optional inputs have" : "no input has",
                       " the shape list ", rule.text,
                       ", and not all of its entries are numbers and dimensions named by inputs"),
                StrCat("write a \"shape_rule\", ", kShapeRules));
  return std::nullopt;
}

// What a rule gives, as far as it is plain: a list of dimensions, or the list of the input that it
// is the same as. nullopt: nothing is known of it.
std::optional<Shape> GivenBy(const JsonValue& rule, const ShapeRule& read, const Operator& op,
                             const std::vector<std::string>& symbols) {
  if (read.kind == kOpwrightShapeSame && !read.args.empty())
    return op.inputs[static_cast<size_t>(read.args[0])].shape;
  if (!rule.is(JsonKind::kList)) return std::nullopt;
  Shape given;
  for (const JsonValue& item : rule.items) {
    const bool text = item.is(JsonKind::kString);
    if (text && item.string == "...") {
      given.any_leading = true;
      continue;
    }
    Dim dim;
    if (item.is(JsonKind::kInt)) dim.value = item.integer;
    if (text && std::find(symbols.begin(), symbols.end(), item.string) != symbols.end())
      dim.symbol = item.string;
    given.dims.push_back(std::move(dim));
  }
  return given;
}

// Numbers that differ, and dimensions of inputs with two names.
bool Contradict(const Dim& a, const Dim& b, const std::vector<std::string>& symbols) {
  const auto is_of_input = [&](const Dim& dim) {
    return std::find(symbols.begin(), symbols.end(), dim.symbol) != symbols.end();
  };
  if (a.value >= 0 && b.value >= 0) return a.value != b.value;
  return a.symbol != b.symbol && is_of_input(a) && is_of_input(b);
}

// A rule that gives what the output's own shape list does not allow.
void CheckGiven(Checker& checker, const JsonValue& rule, const Shape& given,
                const std::vector<std::string>& symbols, const Param& output,
                const std::string& path) {
  const Shape& listed = output.shape;
  const size_t gives = given.dims.size();
  const size_t lists = listed.dims.size();
  const bool fits = listed.any_leading  ? given.any_leading || gives >= lists
                    : given.any_leading ? gives <= lists
                                        : gives == lists;
  const auto say = [&](const std::string& what, const char* hint) {
    checker.Error(
        "MD043", rule,
        StrCat(path, " gives ", what, ", and the shape list of ",
               output.name.empty() ? "the output" : output.name, " is ", ShapeText(listed)),
        hint);
  };
  if (!fits)
    return say(StrCat(given.any_leading ? "at least " : "",
                      Count(static_cast<int64_t>(gives), "dimension")),
               "give both one number of dimensions");
  for (size_t k = 1; k <= std::min(gives, lists); ++k)
    if (Contradict(given.dims[gives - k], listed.dims[lists - k], symbols))
      return say(ShapeText(given), "give both the same dimensions");
}

std::string OutputHint(const std::string& word, const std::vector<Param>& outputs) {
  std::vector<std::string> names;
  names.reserve(outputs.size());
  for (const Param& output : outputs) names.push_back(output.name);
  const std::string nearest = Nearest(word, names);
  return nearest.empty() ? StrCat("outputs are ", JoinAnd(names))
                         : StrCat("write \"", nearest, "\"");
}

}  // namespace

std::vector<std::string> SymbolsOf(const std::vector<Param>& inputs,
                                   const std::vector<Param>& outputs) {
  std::vector<std::string> symbols;
  std::unordered_set<std::string_view> seen;
  for (const std::vector<Param>* params : {&inputs, &outputs})
    for (const Param& param : *params)
      for (const Dim& dim : param.shape.dims)
        if (!dim.symbol.empty() && seen.insert(dim.symbol).second) symbols.push_back(dim.symbol);
  return symbols;
}

void ReadShapeRules(Checker& checker, const JsonValue* rule, const JsonValue& outputs,
                    const std::string& path, bool shapes_known, Operator* op) {
  const std::vector<std::string> symbols = SymbolsOf(op->inputs);
  ShapeRuleReader reader(checker, *op, symbols);
  std::vector<const JsonValue*> rules(op->outputs.size(), nullptr);
  const bool by_output = rule != nullptr && rule->is(JsonKind::kObject);
  if (by_output) {
    const auto indices = IndicesOf(op->outputs);
    const bool all_named = AllNamed(op->outputs);
    for (const JsonMember& member : rule->members) {
      const auto found = indices.find(member.key);
      if (found == indices.end() && !all_named) continue;
      if (found == indices.end()) {
        checker.Error("MD028", member.key_begin, member.key_end,
                      StrCat(path, "shape_rule: ", JsonQuote(member.key), " is no output"),
                      checker.TakeHint() ? OutputHint(member.key, op->outputs) : "");
        continue;
      }
      const JsonValue*& slot = rules[static_cast<size_t>(found->second)];
      if (slot != nullptr) {
        checker.Error("MD004", member.key_begin, member.key_end,
                      StrCat("the key ", JsonQuote(member.key), " stands twice in one object"),
                      "remove one of them");
        continue;
      }
      slot = &member.value;
    }
  }
  bool shared_rule_failed = false;
  for (size_t i = 0; i < op->outputs.size(); ++i) {
    const JsonValue* own = by_output || rule == nullptr ? rules[i] : rule;
    const std::string own_path =
        by_output ? StrCat(path, "shape_rule.", op->outputs[i].name) : StrCat(path, "shape_rule");
    std::optional<ShapeRule> read;
    const bool needs_shapes = own == nullptr || own->is(JsonKind::kList);
    if (needs_shapes && !shapes_known) {
      op->shape_rules.emplace_back();
      continue;
    }
    if (own == nullptr) {
      read = Infer(checker, *op, symbols, op->outputs[i], outputs.items[i],
                   StrCat(path, "output_desc[", i, "]"));
    } else if (!shared_rule_failed) {  // one rule for all outputs is reported once
      read = reader.Read(*own, own_path, i);
      shared_rule_failed = !by_output && !read;
      if (read && shapes_known)
        if (const auto given = GivenBy(*own, *read, *op, symbols))
          CheckGiven(checker, *own, *given, symbols, op->outputs[i], own_path);
    }
    op->shape_rules.push_back(read ? std::move(*read) : ShapeRule{});
  }
}

}  // namespace opwright::metadef

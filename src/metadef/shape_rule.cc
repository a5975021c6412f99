// SPDX-License-Identifier: Apache-2.0
#include "metadef/shape_rule.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"
#include "metadef/expression.h"
#include "opwright/c_api.h"

namespace opwright::metadef {
namespace {

constexpr std::string_view kRules =
    "\"same(x)\", \"broadcast(x, y)\", \"kernel\", \"forward\" or a list of dimensions";

bool AnyInputLeads(const Operator& op) {
  return std::any_of(op.inputs.begin(), op.inputs.end(),
                     [](const Param& input) { return input.shape.any_leading; });
}

std::string ShapeText(const Shape& shape) {
  if (shape.any_leading && shape.dims.empty()) return "[-2]";
  std::vector<std::string> entries;
  if (shape.any_leading) entries.emplace_back("\"...\"");
  for (const Dim& dim : shape.dims)
    entries.push_back(dim.symbol.empty() ? StrCat(dim.value) : JsonQuote(dim.symbol));
  return StrCat("[", Join(entries, ", "), "]");
}

// The first of a name counts.
std::unordered_map<std::string_view, int32_t> IndicesOf(const std::vector<Param>& params) {
  std::unordered_map<std::string_view, int32_t> indices;
  for (const Param& param : params)
    indices.emplace(param.name, static_cast<int32_t>(&param - params.data()));
  return indices;
}

template <class Item>
bool AllNamed(const std::vector<Item>& items) {
  return std::none_of(items.begin(), items.end(),
                      [](const Item& item) { return item.name.empty(); });
}

class RuleReader {
 public:
  RuleReader(Checker& checker, const Operator& op)
      : checker_(checker),
        op_(op),
        symbols_(SymbolsOf(op.inputs)),
        indices_(IndicesOf(op.inputs)),
        inputs_named_(AllNamed(op.inputs)),
        scope_{op.inputs, op.attrs, symbols_, inputs_named_ && AllNamed(op.attrs)} {}

  // The rule for one output; nullopt when it was reported.
  std::optional<ShapeRule> Read(const JsonValue& value, const std::string& path, size_t output) {
    ShapeRule rule;
    rule.span = checker_.SpanOf(value);
    rule.text = value.is(JsonKind::kString)
                    ? value.string
                    : std::string(checker_.text().substr(value.begin, value.end - value.begin));
    const bool good = value.is(JsonKind::kString) ? ReadNamed(value, path, output, &rule)
                      : value.is(JsonKind::kList) ? ReadDims(value, path, &rule)
                                                  : NoRule(value, path);
    return good ? std::optional(std::move(rule)) : std::nullopt;
  }

  std::optional<ShapeRule> Infer(const Param& output, const JsonValue& place,
                                 const std::string& path) {
    ShapeRule rule;
    rule.span = output.span;
    bool present = false;
    for (size_t i = 0; i < op_.inputs.size(); ++i) {
      if (op_.inputs[i].shape != output.shape) continue;
      rule.args.push_back(static_cast<int32_t>(i));
      present |= op_.inputs[i].param_type != ParamType::kOptional;
    }
    if (present) {
      rule.kind = kOpwrightShapeSame;
      std::vector<std::string> names;
      names.reserve(rule.args.size());
      for (int32_t i : rule.args) names.push_back(op_.inputs[static_cast<size_t>(i)].name);
      rule.text = StrCat("same(", Join(names, ", "), ")");
      return rule;
    }
    const bool optional_only = !rule.args.empty();
    rule.args.clear();
    rule.text = ShapeText(output.shape);
    rule.kind = kOpwrightShapeDims;
    rule.leading_any = output.shape.any_leading;
    bool known = !output.shape.any_leading;  // "..." could be that of any input, or of none
    for (const Dim& dim : output.shape.dims) known = known && AppendKnown(dim, &rule.code);
    if (known) return rule;
    checker_.Error(
        "MD030", place,
        StrCat(path, ": nothing says what shape ", output.name.empty() ? "it" : output.name,
               " has: ", optional_only ? "only optional inputs have" : "no input has",
               " the shape list ", rule.text,
               ", and not all of its entries are numbers and dimensions named by inputs"),
        StrCat("write a \"shape_rule\", ", kRules));
    return std::nullopt;
  }

 private:
  bool AppendKnown(const Dim& dim, std::vector<int64_t>* code) const {
    if (dim.symbol.empty()) {
      code->insert(code->end(), {kOpwrightPush, dim.value});
      return dim.value >= 0;
    }
    const auto found = std::find(symbols_.begin(), symbols_.end(), dim.symbol);
    code->insert(code->end(), {kOpwrightSymbol, found - symbols_.begin()});
    return found != symbols_.end();
  }

  bool NoRule(const JsonValue& value, const std::string& path) {
    checker_.Error("MD007", value, StrCat(path, " is ", Describe(value), ", expected ", kRules));
    return false;
  }

  bool BadRule(const JsonValue& value, size_t begin, size_t end, const std::string& path,
               const std::string& message, std::string hint) {
    checker_.ErrorInString("MD029", value, begin, end, StrCat(path, ": ", message),
                           std::move(hint));
    return false;
  }

  bool ReadNamed(const JsonValue& value, const std::string& path, size_t output, ShapeRule* rule) {
    const std::string& text = value.string;
    const std::string_view trimmed = Trim(text);
    if (trimmed == "kernel") {
      rule->kind = kOpwrightShapeKernel;
      return true;
    }
    if (trimmed == "forward") {
      rule->kind = kOpwrightShapeForward;
      BindForward(output, rule);
      return true;
    }
    const size_t open = text.find('(');
    const std::string word(Trim(std::string_view(text).substr(0, open)));
    if (word == "same") rule->kind = kOpwrightShapeSame;
    if (word == "broadcast") rule->kind = kOpwrightShapeBroadcast;
    if (rule->kind != 0 && open != text.npos) return ReadArguments(value, path, open, rule);
    const std::vector<std::string> words = {"same", "broadcast", "kernel", "forward"};
    const std::string nearest = rule->kind != 0 ? word : Nearest(word, words);
    std::string hint = StrCat("write ", kRules);
    if (nearest == "same" || nearest == "broadcast")
      hint = StrCat("write \"", nearest, "(",
                    op_.inputs.empty() || op_.inputs[0].name.empty() ? "x" : op_.inputs[0].name,
                    ")\"");
    else if (!nearest.empty())
      hint = StrCat("write \"", nearest, "\"");
    std::vector<int64_t> code;
    RuleError ignored;
    if (rule->kind == 0 && CompileExpression(text, scope_, &code, &ignored))
      hint = StrCat("an expression is one dimension of a list: write [", JsonQuote(text), "]");
    return BadRule(value, 0, text.size(), path, StrCat(JsonQuote(text), " is no shape rule"), hint);
  }

  // The short form of a backward operator: grad_x has the shape of the own input x, if there is
  // one.
  void BindForward(size_t output, ShapeRule* rule) {
    const std::string_view name = op_.outputs[output].name;
    if (!name.starts_with("grad_")) return;
    if (const auto input = indices_.find(name.substr(5)); input != indices_.end())
      rule->args.push_back(input->second);
  }

  bool ReadArguments(const JsonValue& value, const std::string& path, size_t open,
                     ShapeRule* rule) {
    const std::string& text = value.string;
    const size_t close = text.find(')', open);
    if (close == text.npos)
      return BadRule(value, text.size(), text.size(), path, "the rule ends, expected ')'", "");
    const size_t after = text.find_first_not_of(" \t", close + 1);
    if (after != text.npos)
      return BadRule(value, after, text.size(), path,
                     StrCat("found '", text.substr(after), "' after the rule"), "remove it");
    size_t begin = open + 1;
    std::unordered_set<int32_t> seen;
    for (;;) {
      const size_t end = std::min(text.find(',', begin), close);
      if (!ReadArgument(value, path, begin, end, &seen, rule)) return false;
      if (end == close) return true;
      begin = end + 1;
    }
  }

  bool ReadArgument(const JsonValue& value, const std::string& path, size_t begin, size_t end,
                    std::unordered_set<int32_t>* seen, ShapeRule* rule) {
    const std::string_view text = value.string;
    while (begin < end && text[begin] == ' ') ++begin;
    while (end > begin && text[end - 1] == ' ') --end;
    const std::string name(text.substr(begin, end - begin));
    if (const auto input = indices_.find(name); input != indices_.end()) {
      if (!seen->insert(input->second).second)
        return BadRule(value, begin, end, path, StrCat("the input ", name, " stands twice"),
                       "remove one of them");
      rule->args.push_back(input->second);
      return true;
    }
    if (name.empty())
      return BadRule(value, begin, end, path, "the name of an input is missing", "");
    if (!inputs_named_) return true;  // it may be the one whose name could not be read
    std::vector<std::string> names;
    for (const Param& input : op_.inputs) names.push_back(input.name);
    const std::string nearest = Nearest(name, names);
    checker_.ErrorInString("MD028", value, begin, end, StrCat(path, ": ", name, " is no input"),
                           !nearest.empty() ? StrCat("write ", nearest)
                           : names.empty()  ? std::string("the operator has no inputs")
                                            : StrCat("inputs are ", JoinAnd(names)));
    return false;
  }

  bool ReadDims(const JsonValue& value, const std::string& path, ShapeRule* rule) {
    rule->kind = kOpwrightShapeDims;
    bool good = true;
    for (size_t i = 0; i < value.items.size(); ++i)
      good &= ReadDim(value.items[i], StrCat(path, "[", i, "]"), i, rule);
    const size_t dims = value.items.size() - rule->leading_any;
    if (dims > OPWRIGHT_MAX_RANK) {
      checker_.Error(
          "MD020", value,
          StrCat(path, " has ", dims, " dimensions, at most ", OPWRIGHT_MAX_RANK, " are possible"));
      return false;
    }
    return good;
  }

  bool ReadDim(const JsonValue& entry, const std::string& path, size_t position, ShapeRule* rule) {
    if (entry.is(JsonKind::kInt) && !entry.out_of_range && entry.integer >= 0) {
      rule->code.insert(rule->code.end(), {kOpwrightPush, entry.integer});
      return true;
    }
    if (!entry.is(JsonKind::kString)) {
      checker_.Error("MD020", entry,
                     StrCat(path, " is ", Describe(entry),
                            ", expected a number of at least 0 or an expression in a string"),
                     entry.is(JsonKind::kInt) && !entry.out_of_range
                         ? "a rule computes every dimension; write \"kernel\" if the kernel does"
                         : "");
      return false;
    }
    if (entry.string == "...") {
      const bool bound = AnyInputLeads(op_);
      if (position == 0 && bound) {
        rule->leading_any = true;
        return true;
      }
      checker_.Error("MD022", entry,
                     position != 0
                         ? StrCat(path, " is \"...\", which can only come first")
                         : StrCat(path, " is \"...\", but no input has further dimensions"),
                     position != 0 ? "write it as the first entry"
                                   : "write \"...\" first in the shape list of an input too");
      return false;
    }
    RuleError error;
    scope_.hints = checker_.HasHint();
    if (CompileExpression(entry.string, scope_, &rule->code, &error)) return true;
    checker_.TakeHint();
    checker_.ErrorInString(error.id, entry, error.begin, error.end,
                           StrCat(path, ": ", error.message), error.hint);
    return false;
  }

  Checker& checker_;
  const Operator& op_;
  std::vector<std::string> symbols_;
  std::unordered_map<std::string_view, int32_t> indices_;  // of the inputs
  bool inputs_named_;  // each has a name that could be read
  RuleScope scope_;
};

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
  RuleReader reader(checker, *op);
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
      read = reader.Infer(op->outputs[i], outputs.items[i], StrCat(path, "output_desc[", i, "]"));
    } else if (!shared_rule_failed) {  // one rule for all outputs is reported once
      read = reader.Read(*own, own_path, i);
      shared_rule_failed = !by_output && !read;
    }
    op->shape_rules.push_back(read ? std::move(*read) : ShapeRule{});
  }
}

}  // namespace opwright::metadef

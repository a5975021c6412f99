// SPDX-License-Identifier: Apache-2.0
#include "metadef/shape_rule_reader.h"

#include <algorithm>

#include "base/text.h"
#include "opwright/c_api.h"

namespace opwright::metadef {
namespace {

bool AnyInputLeads(const Operator& op) {
  return std::any_of(op.inputs.begin(), op.inputs.end(),
                     [](const Param& input) { return input.shape.any_leading; });
}

}  // namespace

std::unordered_map<std::string_view, int32_t> IndicesOf(const std::vector<Param>& params) {
  std::unordered_map<std::string_view, int32_t> indices;
  for (const Param& param : params)
    indices.emplace(param.name, static_cast<int32_t>(&param - params.data()));
  return indices;
}

ShapeRuleReader::ShapeRuleReader(Checker& checker, const Operator& op,
                                 const std::vector<std::string>& symbols)
    : checker_(checker),
      op_(op),
      indices_(IndicesOf(op.inputs)),
      inputs_named_(AllNamed(op.inputs)),
      scope_{op.inputs, op.attrs, symbols, inputs_named_ && AllNamed(op.attrs)} {}

std::optional<ShapeRule> ShapeRuleReader::Read(const JsonValue& value, const std::string& path,
                                               size_t output) {
  ShapeRule rule;
  rule.span = checker_.SpanOf(value);
  rule.text = value.is(JsonKind::kString) ? value.string : OnOneLine(value);
  const bool good = value.is(JsonKind::kString) ? ReadNamed(value, path, output, &rule)
                    : value.is(JsonKind::kList) ? ReadDims(value, path, &rule)
                                                : NoRule(value, path);
  return good ? std::optional(std::move(rule)) : std::nullopt;
}

std::string ShapeRuleReader::OnOneLine(const JsonValue& list) const {
  std::vector<std::string> items;
  items.reserve(list.items.size());
  for (const JsonValue& item : list.items)
    items.emplace_back(checker_.text().substr(item.begin, item.end - item.begin));
  return StrCat("[", Join(items, ", "), "]");
}

bool ShapeRuleReader::NoRule(const JsonValue& value, const std::string& path) {
  checker_.Error("MD007", value, StrCat(path, " is ", Describe(value), ", expected ", kShapeRules));
  return false;
}

bool ShapeRuleReader::BadRule(const JsonValue& value, size_t begin, size_t end,
                              const std::string& path, const std::string& message,
                              std::string hint) {
  checker_.ErrorInString("MD029", value, begin, end, StrCat(path, ": ", message), std::move(hint));
  return false;
}

bool ShapeRuleReader::ReadNamed(const JsonValue& value, const std::string& path, size_t output,
                                ShapeRule* rule) {
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
  std::string hint = StrCat("write ", kShapeRules);
  if (nearest == "same" || nearest == "broadcast")
    hint =
        StrCat("write \"", nearest, "(",
               op_.inputs.empty() || op_.inputs[0].name.empty() ? "x" : op_.inputs[0].name, ")\"");
  else if (!nearest.empty())
    hint = StrCat("write \"", nearest, "\"");
  std::vector<int64_t> code;
  RuleError ignored;
  if (rule->kind == 0 && CompileExpression(text, scope_, &code, &ignored))
    hint = StrCat("an expression is one dimension of a list: write [", JsonQuote(text), "]");
  return BadRule(value, 0, text.size(), path, StrCat(JsonQuote(text), " is no shape rule"), hint);
}

void ShapeRuleReader::BindForward(size_t output, ShapeRule* rule) {
  const std::string_view name = op_.outputs[output].name;
  if (!name.starts_with("grad_")) return;
  if (const auto input = indices_.find(name.substr(5)); input != indices_.end())
    rule->args.push_back(input->second);
}

bool ShapeRuleReader::ReadArguments(const JsonValue& value, const std::string& path, size_t open,
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

bool ShapeRuleReader::ReadArgument(const JsonValue& value, const std::string& path, size_t begin,
                                   size_t end, std::unordered_set<int32_t>* seen, ShapeRule* rule) {
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
  if (name.empty()) return BadRule(value, begin, end, path, "the name of an input is missing", "");
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

bool ShapeRuleReader::ReadDims(const JsonValue& value, const std::string& path, ShapeRule* rule) {
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

bool ShapeRuleReader::ReadDim(const JsonValue& entry, const std::string& path, size_t position,
                              ShapeRule* rule) {
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
                   position != 0 ? StrCat(path, " is \"...\", which can only come first")
                                 : StrCat(path, " is \"...\", but no input has further dimensions"),
                   position != 0 ? "write it as the first entry"
                                 : "write \"...\" first in the shape list of an input too");
    return false;
  }
  RuleError error;
  scope_.hints = checker_.HasHint();
  if (CompileExpression(entry.string, scope_, &rule->code, &error)) return true;
  checker_.TakeHint();
  checker_.ErrorInString(error.id, entry, error.begin, error.end, StrCat(path, ": ", error.message),
                         error.hint);
  return false;
}

}  // namespace opwright::metadef

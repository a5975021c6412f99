// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/file.h"
#include "base/text.h"
#include "metadef/checker.h"
#include "metadef/fields.h"
#include "metadef/foreign.h"
#include "metadef/gradient.h"
#include "metadef/metadef.h"
#include "metadef/operator.h"

namespace opwright::metadef {
namespace {

// An operator read, and its object in the tree.
struct Entry {
  Reading reading;
  const JsonValue* object;
  std::string path;
};

// op_name must be unique in a file, whether the rest of the operator is right or not.
void CheckNames(Checker& checker, std::vector<Entry>* entries) {
  std::unordered_map<std::string_view, size_t> first_at;
  for (Entry& entry : *entries) {
    const JsonValue* name = entry.object->Find("op_name");
    if (name == nullptr || !name->is(JsonKind::kString)) continue;
    const auto [first, added] = first_at.emplace(name->string, name->begin);
    if (added) continue;
    checker.Error("MD014", *name,
                  StrCat(entry.path, "op_name: ", JsonQuote(name->string),
                         " is the name of an operator of this file already, at ",
                         checker.Place(first->second)),
                  "give each operator its own name");
    entry.reading = {};
  }
}

// What is said of names alone, which an operator with other errors has too.
bool IsOfNames(std::string_view id) { return id == "MD033" || id == "MD034" || id == "MD036"; }

// A backward operator may be in another file, but a name that is nearly one of this file is a slip.
void WarnOfSlip(Checker& checker, const std::vector<Entry>& entries, const Operator& forward,
                const JsonValue& field) {
  // Each is compared with all: in a file of thousands not each one is.
  constexpr size_t kMany = 1000;
  if (entries.size() > kMany && !checker.TakeHint()) return;
  std::vector<std::string> names;
  for (const Entry& other : entries)
    if (other.reading.named && other.reading.op.name != forward.name)
      names.push_back(other.reading.op.name);
  const std::string nearest = Nearest(forward.gradient.op, names);
  if (nearest.empty()) return;
  checker.Warning("MD040", field.begin, field.end,
                  StrCat("gradient of ", forward.name, ": no operator of this file is named ",
                         forward.gradient.op),
                  StrCat("is ", nearest, " meant?"));
}

// An attribute of the backward operator that the forward one lacks keeps its default for ever.
void WarnOfLoneAttrs(Checker& checker, const Operator& forward, const Operator& backward,
                     const JsonValue& field) {
  std::unordered_set<std::string_view> shared;
  for (const Attr& attr : forward.attrs) shared.insert(attr.name);
  for (const Attr& own : backward.attrs) {
    if (own.required || shared.contains(own.name)) continue;
    checker.Warning(
        "MD041", field.begin, field.end,
        StrCat("the attribute ", own.name, " of ", backward.name, " is no attribute of ",
               forward.name, ": it has its default in every gradient"),
        StrCat("use the forward attribute's name, or add ", own.name, " to ", forward.name));
  }
}

// Calls in such a column are right, and their gradients errors.
void WarnOfColumns(Checker& checker, const Operator& forward, const Operator& backward,
                   const Binding& binding, const JsonValue& field) {
  const std::vector<std::string> lacking = ColumnsWithoutGradient(forward, backward, binding);
  if (lacking.empty()) return;
  checker.Warning("MD042", field.begin, field.end,
                  StrCat(backward.name, " has no dtype column for ", JoinAnd(lacking), ", which ",
                         forward.name, " takes: its gradient is an error there"),
                  StrCat("add what is missing to each \"dtype\" of ", backward.name));
}

// Whether the forward operator says that an output has the shape of this input.
bool HasShapeOf(const Operator& forward, int32_t output, int32_t input) {
  const ShapeRule& rule = forward.shape_rules[static_cast<size_t>(output)];
  return rule.kind == kOpwrightShapeSame &&
         std::find(rule.args.begin(), rule.args.end(), input) != rule.args.end();
}

// Under "forward" a gradient of an output that has the shape of an input has that input's shape
// too: a kernel of one loop over both reads no further, whoever calls it.
void TieToForward(const Operator& forward, const Binding& binding, Operator* backward) {
  const auto is_list = [&](size_t i) {
    return backward->inputs[i].param_type == ParamType::kDynamic;
  };
  for (ShapeRule& rule : backward->shape_rules) {
    if (rule.kind != kOpwrightShapeForward || rule.args.size() != 1) continue;
    const auto own = static_cast<size_t>(rule.args[0]);
    if (binding.inputs[own].kind != kOpwrightRoleInput || is_list(own)) continue;
    for (size_t i = 0; i < binding.inputs.size(); ++i) {
      const OpwrightRole& role = binding.inputs[i];
      if (role.kind == kOpwrightRoleGrad && !is_list(i) &&
          HasShapeOf(forward, role.index, binding.inputs[own].index))
        rule.args.push_back(static_cast<int32_t>(i));
    }
  }
}

void CheckGradients(Checker& checker, std::vector<Entry>* entries) {
  std::vector<bool> bad(entries->size());
  std::unordered_map<std::string_view, Reading*> named;
  std::unordered_map<std::string_view, int> forwards;  // of a backward operator
  for (Entry& entry : *entries) {
    if (entry.reading.named) named.insert_or_assign(entry.reading.op.name, &entry.reading);
    ++forwards[entry.reading.op.gradient.op];
  }
  for (size_t i = 0; i < entries->size(); ++i) {
    const Reading& forward = (*entries)[i].reading;
    if (!forward.named || forward.op.gradient.kind != GradientSpec::Kind::kOperator) continue;
    const auto found = named.find(forward.op.gradient.op);
    Reading* backward = found != named.end() ? found->second : nullptr;
    const bool good = forward.good && (backward == nullptr || backward->good);
    const JsonValue& field = *(*entries)[i].object->Find("gradient");
    if (backward == nullptr)
      WarnOfSlip(checker, *entries, forward.op, field);
    else
      WarnOfLoneAttrs(checker, forward.op, backward->op, field);
    Binding binding;
    for (Diagnostic& d :
         CheckGradient(forward.op, backward != nullptr ? &backward->op : nullptr, &binding)) {
      if (!good && !IsOfNames(d.id)) continue;
      checker.Error(d.id, field, std::move(d.message), std::move(d.hint));
      bad[i] = true;
    }
    if (!good || bad[i] || backward == nullptr) continue;
    WarnOfColumns(checker, forward.op, backward->op, binding, field);
    if (forwards[backward->op.name] == 1) TieToForward(forward.op, binding, &backward->op);
  }
  for (size_t i = 0; i < entries->size(); ++i)
    if (bad[i]) (*entries)[i].reading.good = false;
}

void ReadRoot(Checker& checker, const JsonValue& root, ReadResult* result) {
  if (RecognizeForeign(checker, root)) return;
  std::vector<Entry> entries;
  if (root.is(JsonKind::kObject)) {
    entries.push_back({ReadOperator(checker, root, ""), &root, ""});
  } else if (root.is(JsonKind::kList)) {
    if (root.items.empty())
      checker.Error("MD010", root, "the file is an empty list, expected at least one operator", "");
    for (size_t i = 0; i < root.items.size(); ++i) {
      const std::string path = StrCat("[", i, "]");
      if (!root.items[i].is(JsonKind::kObject)) {
        checker.Error(
            "MD010", root.items[i],
            StrCat(path, " is ", Describe(root.items[i]), ", expected an operator, an object"), "");
        continue;
      }
      const std::string prefix = StrCat(path, ".");
      entries.push_back({ReadOperator(checker, root.items[i], prefix), &root.items[i], prefix});
    }
  } else {
    checker.Error("MD010", root,
                  StrCat("the file is ", Describe(root),
                         ", expected an operator, an object, or a list "
                         "of operators"),
                  "");
  }
  CheckNames(checker, &entries);
  CheckGradients(checker, &entries);
  for (Entry& entry : entries)
    if (entry.reading.good) result->operators.push_back(std::move(entry.reading.op));
}

}  // namespace

bool ReadResult::HasErrors() const {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic& d) { return d.severity == Severity::kError; });
}

ReadResult Read(std::string_view text, const std::string& file) {
  ReadResult result;
  const JsonValue root = ParseJson(text, file, &result.diagnostics);
  if (!result.diagnostics.empty()) return result;
  Checker checker(text, file);
  ReadRoot(checker, root, &result);
  result.diagnostics = checker.Take();
  return result;
}

ReadResult ReadFile(const std::string& path) {
  const Expected<std::string> text = opwright::ReadFile(path);
  if (text.ok()) return Read(*text, path);
  ReadResult result;
  result.diagnostics.push_back(
      {"MD001", Severity::kError, path, 0, 0, 0, text.error().message, ""});
  return result;
}

std::string CanonicalDType(std::string_view name) {
  for (const DTypeSpelling& row : DTypeSpellings())
    if (row.written == name) return std::string(row.canonical);
  return "";
}

}  // namespace opwright::metadef

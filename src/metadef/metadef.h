// SPDX-License-Identifier: Apache-2.0
//
// The metadef: what an operator is. Read() takes JSON to operators and diagnostics; Lower() takes
// an operator to the flat form of the C interface that the dispatcher works on.
//
//   metadef::ReadResult result = metadef::ReadFile("op.json");
//   for (const Diagnostic& d : result.diagnostics) puts(Render(d).c_str());
//   Expected<metadef::Lowered> lowered = metadef::Lower(result.operators[0], result.operators);
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "opwright/c_api.h"

namespace opwright::metadef {

// A place in the metadef's file; lines and columns from 1, columns in code points.
struct Span {
  int line = 0;
  int column = 0;
  int length = 0;
};

enum class ParamType { kRequired = 0, kOptional = 1, kDynamic = 2 };

// One entry of a shape list.
struct Dim {
  int64_t value = -1;  // >= 0 fixed, -1 unknown
  std::string symbol;  // a named dimension; value is -1
  bool operator==(const Dim&) const = default;
};

struct Shape {
  bool any_leading = false;  // "..." in front; with no dims it is [-2], any rank
  std::vector<Dim> dims;
  bool operator==(const Shape&) const = default;
};
// As it is written: ["...", "n", -1].
std::string ShapeText(const Shape& shape);

struct Param {
  std::string name;
  std::vector<std::string> dtypes;  // canonical names; 1 or as many as there are columns
  std::vector<std::string> formats;
  Shape shape;
  ParamType param_type = ParamType::kRequired;
  Span span;

  const std::string& DType(int column) const {
    return dtypes[dtypes.size() == 1 ? 0 : static_cast<size_t>(column)];
  }
};

enum class AttrType {  // the numbers of the C interface
  kInt = kOpwrightAttrInt,
  kFloat = kOpwrightAttrFloat,
  kString = kOpwrightAttrString,
  kBool = kOpwrightAttrBool,
  kType = kOpwrightAttrType,
  kListInt = kOpwrightAttrListInt,
  kListFloat = kOpwrightAttrListFloat,
  kListString = kOpwrightAttrListString,
  kListBool = kOpwrightAttrListBool,
  kListListInt = kOpwrightAttrListListInt,
};

// A default value, in the fields that its type needs.
struct AttrValue {
  int64_t i = 0;
  double f = 0;
  std::string s;
  std::vector<int64_t> ints;  // list_int, list_bool
  std::vector<double> floats;
  std::vector<std::string> strings;
  std::vector<std::vector<int64_t>> int_lists;
};

struct Attr {
  std::string name;
  AttrType type = AttrType::kInt;
  bool required = false;
  AttrValue default_value;
  Span span;
};

// How one output's shape follows, parsed and resolved to indices.
struct ShapeRule {
  int32_t kind = 0;  // kOpwrightShapeSame ...
  std::vector<int32_t> args;
  std::vector<int64_t> code;
  bool leading_any = false;
  std::string text;
  Span span;
};

// The "gradient" field.
struct GradientSpec {
  enum class Kind { kNone, kAuto, kOperator };
  Kind kind = Kind::kNone;
  std::string op;
  bool long_form = false;
  std::vector<std::string> inputs;   // of the long form
  std::vector<std::string> outputs;  // of the long form
  Span span;
};

struct Operator {
  std::string name;
  std::string ns = "opwright";
  std::vector<Param> inputs;
  std::vector<Param> outputs;
  std::vector<Attr> attrs;
  std::vector<std::string> symbols;
  std::vector<ShapeRule> shape_rules;  // one an output
  GradientSpec gradient;
  std::vector<int32_t> mutates;  // inputs
  bool side_effect = false;
  int32_t mixed_dtypes = kOpwrightPromote;
  std::string json;  // this operator's own text
  std::string file;
  Span span;
  int num_columns = 1;
};

struct ReadResult {
  std::vector<Operator> operators;  // those without errors
  std::vector<Diagnostic> diagnostics;  // in the order of the file
  bool HasErrors() const;
};

// All problems in one pass; a JSON syntax error comes alone. Never throws.
ReadResult Read(std::string_view text, const std::string& file);
// MD001 as the only diagnostic when the file cannot be read.
ReadResult ReadFile(const std::string& path);
// Of an operator folder.
inline constexpr std::string_view kFileName = "op.json";

// The flat form, with the memory that it points to. Movable; def() stays where it is.
class Lowered {
 public:
  struct Storage;
  explicit Lowered(std::unique_ptr<Storage> storage);
  Lowered(Lowered&&) noexcept;
  Lowered& operator=(Lowered&&) noexcept;
  ~Lowered();
  const OpwrightOpDef& def() const;

 private:
  std::unique_ptr<Storage> storage_;
};

// others: where the backward operator of op.gradient is looked for; when it is not among them,
// def().gradient is null (it may be bound later).
Expected<Lowered> Lower(const Operator& op, std::span<const Operator> others);

// The binding of a backward operator to its forward one, by the rule of the "gradient" field: what
// each input of backward is, and whose gradient each output is. MD errors where it does not fit.
struct Binding {
  std::vector<OpwrightRole> inputs;
  std::vector<int32_t> outputs;
};
Expected<Binding> BindGradient(const Operator& forward, const Operator& backward);

// The JSON Schema (2020-12) of one metadef file, from the same table as the rules.
std::string EmitSchema();

// "fp16" -> "float16", "float32" -> "float32", unknown -> "".
std::string CanonicalDType(std::string_view name);

}  // namespace opwright::metadef

// SPDX-License-Identifier: Apache-2.0
//
// Recursive descent with Python's precedence. Constant parts are computed here, so that a division
// by zero or a negative size that is certain is an error of the metadef and not of each call.
#include "metadef/expression.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/shape_op.h"
#include "base/text.h"
#include "opwright/c_api.h"

namespace opwright::metadef {
namespace {

constexpr int kMaxNesting = 64;

bool Letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool Digit(char c) { return c >= '0' && c <= '9'; }

class Compiler {
 public:
  Compiler(std::string_view text, const RuleScope& scope, std::vector<int64_t>* code,
           RuleError* error)
      : text_(text), scope_(scope), code_(code), error_(error) {}

  bool Run() {
    Skip();
    if (at_ == text_.size())
      return Fail("MD027", 0, text_.size(), "the expression is empty, expected a dimension",
                  "write a number, a name or an expression");
    Value value;
    if (!Sum(&value)) return false;
    if (at_ < text_.size()) return Unexpected("an operator or the end");
    if (value.constant && *value.constant < 0)
      return Fail("MD027", 0, text_.size(),
                  StrCat("the dimension is ", *value.constant, ", expected at least 0"),
                  "write \"kernel\" as the rule if the kernel computes the shape");
    return true;
  }

 private:
  // What was compiled last: where its program starts, and its value if it is a constant.
  struct Value {
    size_t start = 0;
    std::optional<int64_t> constant;
  };

  bool Fail(std::string_view id, size_t begin, size_t end, std::string message, std::string hint) {
    *error_ = {std::string(id), begin, end, std::move(message), std::move(hint)};
    return false;
  }

  void Skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  bool Eat(std::string_view token) {
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    Skip();
    return true;
  }

  bool Unexpected(std::string_view expected) {
    if (at_ >= text_.size())
      return Fail("MD027", text_.size(), text_.size(),
                  StrCat("the expression ends, expected ", expected), "");
    const std::string_view rest = text_.substr(at_);
    std::string hint;
    size_t length = 1;
    while (at_ + length < text_.size() &&
           (static_cast<unsigned char>(text_[at_ + length]) & 0xc0) == 0x80)
      ++length;
    if (rest.starts_with("**")) {
      length = 2;
      hint = "there is no power; write a product";
    } else if (rest[0] == '/') {
      hint = "write // for the quotient rounded down, ceil_div(a, b) for the one rounded up";
    } else if (rest[0] == '[') {
      hint = "write x.dim(0) for the first dimension of x";
    } else if (rest[0] == '.') {
      hint = Digit(at_ + 1 < text_.size() ? text_[at_ + 1] : ' ')
                 ? "dimensions are whole numbers"
                 : "write x.dim(0) or x.rank, where x is an input";
    } else if (Letter(rest[0]) || Digit(rest[0])) {
      while (length < rest.size() && (Letter(rest[length]) || Digit(rest[length]))) ++length;
      hint = "an operator is missing; products are written with *";
    }
    return Fail("MD027", at_, at_ + length,
                StrCat("found '", rest.substr(0, length), "', expected ", expected), hint);
  }

  bool Binary(int64_t opcode, size_t operator_at, size_t operator_end, Value* left,
              const Value& right) {
    const bool divides =
        opcode == kOpwrightFloorDiv || opcode == kOpwrightMod || opcode == kOpwrightCeilDiv;
    if (divides && right.constant == 0)
      return Fail("MD027", operator_at, operator_end, "the divisor is 0", "");
    if (left->constant && right.constant) {
      const std::optional<int64_t> folded = ApplyShapeOp(opcode, *left->constant, *right.constant);
      if (!folded)
        return Fail("MD027", operator_at, operator_end, "the value does not fit in 64 bits", "");
      code_->resize(left->start);
      Push(*folded, left);
      return true;
    }
    code_->push_back(opcode);
    left->constant.reset();
    return true;
  }

  void Push(int64_t number, Value* value) {
    *value = {code_->size(), number};
    code_->insert(code_->end(), {kOpwrightPush, number});
  }

  bool Sum(Value* value) {
    if (!Product(value)) return false;
    for (;;) {
      const size_t operator_at = at_;
      const bool add = Eat("+");
      if (!add && !Eat("-")) return true;
      Value right;
      if (!Product(&right)) return false;
      if (!Binary(add ? kOpwrightAdd : kOpwrightSub, operator_at, operator_at + 1, value, right))
        return false;
    }
  }

  bool Product(Value* value) {
    if (!Signed(value)) return false;
    for (;;) {
      const size_t operator_at = at_;
      if (text_.substr(at_).starts_with("**")) return Unexpected("a dimension");
      int64_t opcode = 0;
      if (Eat("*"))
        opcode = kOpwrightMul;
      else if (Eat("//"))
        opcode = kOpwrightFloorDiv;
      else if (Eat("%"))
        opcode = kOpwrightMod;
      else
        return true;
      const size_t length = opcode == kOpwrightFloorDiv ? 2 : 1;
      Value right;
      if (!Signed(&right)) return false;
      if (!Binary(opcode, operator_at, operator_at + length, value, right)) return false;
    }
  }

  bool Signed(Value* value) {
    const size_t sign_at = at_;
    if (Eat("+")) return Nested([&] { return Signed(value); });
    if (!Eat("-")) return Primary(value);
    if (!Nested([&] { return Signed(value); })) return false;
    if (!value->constant) {
      code_->push_back(kOpwrightNeg);
      return true;
    }
    if (*value->constant == INT64_MIN)
      return Fail("MD027", sign_at, at_, "the value does not fit in 64 bits", "");
    const int64_t negated = -*value->constant;
    code_->resize(value->start);
    Push(negated, value);
    return true;
  }

  template <class Parse>
  bool Nested(Parse parse) {
    if (++nesting_ > kMaxNesting)
      return Fail("MD027", at_, at_ + 1,
                  StrCat("the expression is nested deeper than ", kMaxNesting, " levels"), "");
    const bool good = parse();
    --nesting_;
    return good;
  }

  bool Primary(Value* value) {
    if (at_ < text_.size() && Digit(text_[at_])) return Number(value);
    if (Eat("(")) {
      if (!Nested([&] { return Sum(value); })) return false;
      return Eat(")") || Unexpected("an operator or ')'");
    }
    if (at_ < text_.size() && Letter(text_[at_])) return Named(value);
    return Unexpected("a number, a name or '('");
  }

  bool Integer(int64_t* number) {
    const size_t begin = at_;
    while (at_ < text_.size() && Digit(text_[at_])) ++at_;
    const auto [end, status] = std::from_chars(text_.data() + begin, text_.data() + at_, *number);
    if (status != std::errc())
      return Fail("MD027", begin, at_, "the number does not fit in 64 bits", "");
    Skip();
    return true;
  }

  bool Number(Value* value) {
    int64_t number = 0;
    if (!Integer(&number)) return false;
    Push(number, value);
    return true;
  }

  std::string_view Word() {
    const size_t begin = at_;
    while (at_ < text_.size() && (Letter(text_[at_]) || Digit(text_[at_]))) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    Skip();
    return word;
  }

  bool Named(Value* value) {
    const size_t begin = at_;
    const std::string_view word = Word();
    const size_t end = begin + word.size();
    *value = {code_->size(), std::nullopt};
    if (word == "min") return Function(kOpwrightMin, word, begin, value);
    if (word == "max") return Function(kOpwrightMax, word, begin, value);
    if (word == "ceil_div") return Function(kOpwrightCeilDiv, word, begin, value);
    for (size_t i = 0; i < scope_.inputs.size(); ++i)
      if (scope_.inputs[i].name == word) return OfInput(static_cast<int64_t>(i), begin, end);
    for (size_t i = 0; i < scope_.symbols.size(); ++i) {
      if (scope_.symbols[i] != word) continue;
      code_->insert(code_->end(), {kOpwrightSymbol, static_cast<int64_t>(i)});
      return true;
    }
    for (size_t i = 0; i < scope_.attrs.size(); ++i) {
      if (scope_.attrs[i].name != word) continue;
      if (scope_.attrs[i].type != AttrType::kInt)
        return Fail("MD028", begin, end, StrCat("the attribute ", word, " is no int"),
                    "a shape is computed from int attributes only");
      code_->insert(code_->end(), {kOpwrightAttrInt64, static_cast<int64_t>(i)});
      return true;
    }
    if (!scope_.complete) return OfInput(kUnread, begin, end);
    const std::string nearest = scope_.hints ? Nearest(word, NamesInScope(scope_)) : "";
    return Fail("MD028", begin, end,
                StrCat(word, " is no input, int attribute or named dimension of an input"),
                nearest.empty()
                    ? StrCat("name a dimension \"", word, "\" in the shape list of an input")
                    : StrCat("write ", nearest));
  }

  bool Function(int64_t opcode, std::string_view word, size_t begin, Value* value) {
    if (!Eat("(")) return Unexpected(StrCat("'(' after ", word));
    int arguments = 0;
    do {
      Value argument;
      if (!Nested([&] { return Sum(&argument); })) return false;
      ++arguments;
      if (arguments == 1) {
        *value = argument;
      } else if (!Binary(opcode, begin, begin + word.size(), value, argument)) {
        return false;
      }
    } while (Eat(","));
    if (at_ >= text_.size() || text_[at_] != ')') return Unexpected("',' or ')'");
    const bool right = opcode == kOpwrightCeilDiv ? arguments == 2 : arguments >= 2;
    if (!right)
      return Fail("MD027", begin, at_ + 1,
                  StrCat(word, " has ", Count(arguments, "argument"), ", expected ",
                         opcode == kOpwrightCeilDiv ? "2" : "at least 2"),
                  "");
    Eat(")");
    return true;
  }

  bool OfInput(int64_t index, size_t begin, size_t end) {
    Param unread;
    unread.name = text_.substr(begin, end - begin);
    unread.shape.any_leading = true;
    const Param& input = index == kUnread ? unread : scope_.inputs[static_cast<size_t>(index)];
    const std::string choices = StrCat("write ", input.name, ".dim(0) for a dimension, ",
                                       input.name, ".rank for their number");
    const bool member_follows = Eat(".");
    if (!member_follows && index == kUnread) {  // an attribute
      code_->insert(code_->end(), {kOpwrightPush, 0});
      return true;
    }
    if (!member_follows)
      return Fail("MD027", begin, end, StrCat(input.name, " is an input, not a number"), choices);
    if (input.param_type == ParamType::kDynamic)
      return Fail("MD028", begin, end,
                  StrCat(input.name, " is a list of tensors and has no shape of its own"),
                  "write \"kernel\" as the rule");
    const size_t member_at = at_;
    const std::string_view member = Word();
    if (member == "rank") {
      code_->insert(code_->end(), {kOpwrightRank, index});
      return true;
    }
    if (member != "dim")
      return Fail("MD027", member_at, std::max(member_at + member.size(), member_at + 1),
                  StrCat(input.name, ".", member, " is not known, expected dim or rank"), choices);
    if (!Eat("(")) return Unexpected("'(' after dim");
    const size_t axis_at = at_;
    const bool negative = Eat("-");
    if (at_ >= text_.size() || !Digit(text_[at_])) return Unexpected("the number of a dimension");
    int64_t axis = 0;
    if (!Integer(&axis)) return false;
    if (negative) axis = -axis;
    const size_t axis_end = at_;
    if (!Eat(")")) return Unexpected("')'");
    const auto rank = static_cast<int64_t>(input.shape.dims.size());
    const int64_t limit = input.shape.any_leading ? OPWRIGHT_MAX_RANK : rank;
    if (axis >= limit || axis < -limit)
      return Fail("MD028", axis_at, axis_end,
                  input.shape.any_leading
                      ? StrCat("the dimension ", axis, " is beyond the largest rank, ", limit)
                      : StrCat(input.name, " has rank ", rank, " and no dimension ", axis),
                  "");
    code_->insert(code_->end(), {kOpwrightDim, index, axis});
    return true;
  }

  static constexpr int64_t kUnread = -1;  // an input or attribute whose name could not be read

  std::string_view text_;
  const RuleScope& scope_;
  std::vector<int64_t>* code_;
  RuleError* error_;
  size_t at_ = 0;
  int nesting_ = 0;
};

}  // namespace

bool CompileExpression(std::string_view text, const RuleScope& scope, std::vector<int64_t>* code,
                       RuleError* error) {
  return Compiler(text, scope, code, error).Run();
}

std::vector<std::string> NamesInScope(const RuleScope& scope) {
  std::vector<std::string> names;
  for (const Param& input : scope.inputs) names.push_back(input.name);
  for (const std::string& symbol : scope.symbols) names.push_back(symbol);
  for (const Attr& attr : scope.attrs)
    if (attr.type == AttrType::kInt) names.push_back(attr.name);
  return names;
}

}  // namespace opwright::metadef

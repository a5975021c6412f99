// SPDX-License-Identifier: Apache-2.0
#include "build/source_scan.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "build/token.h"

namespace opwright::build {
namespace {

using Kind = Token::Kind;

class Scanner {
 public:
  explicit Scanner(std::string_view text) : tokens_(Tokenize(text)) {}

  SourceScan Run() {
    while (at_ < tokens_.size()) {
      const Token& token = tokens_[at_];
      if (token.kind == Kind::kDirective) {
        Conditional(token.text);
        ++at_;
      } else if (skipping_) {
        ++at_;
      } else {
        NoteDialect(token);
        Step(token);
      }
    }
    if (!open_.empty()) scan_.open_brace = open_.back().line;
    return std::move(scan_);
  }

 private:
  enum class Scope { kNamespace, kExternC, kOther };
  struct Open {
    Scope scope;
    std::string name;
    int line = 0;
  };
  // What is known of the declaration that is being read.
  struct Declaration {
    bool is_template = false;
    bool extern_c = false;
    bool is_static = false;
    bool initialised = false;
    std::string function;
    int line = 0;
  };
  struct Branch {
    std::vector<Open> open;
    bool skipping_before = false;
    bool taken = false;  // an `#if 1` branch was read: the others are not
  };

  void Push(Scope scope, std::string name = "") {
    open_.push_back({scope, std::move(name), Next(0).line});
  }
  bool AtNamespaceScope() const {
    return std::all_of(open_.begin(), open_.end(),
                       [](const Open& open) { return open.scope != Scope::kOther; });
  }
  std::string ScopeName() const {
    std::string name;
    for (const Open& open : open_)
      if (!open.name.empty()) name += StrCat("::", open.name);
    return name;
  }
  const Token& Next(size_t ahead = 1) const {
    static const Token kEnd{Kind::kPunctuation, "", 0};
    return at_ + ahead < tokens_.size() ? tokens_[at_ + ahead] : kEnd;
  }

  // The branches of a conditional each start from the braces that were open before it.
  void Conditional(std::string_view text) {
    const auto starts = [&](std::string_view word) {
      return text.starts_with(word) &&
             (text.size() == word.size() ||
              !std::isalnum(static_cast<unsigned char>(text[word.size()])));
    };
    if (starts("include") && text.find("kernel_operator.h") != text.npos && !skipping_)
      SetDialect(Dialect::kAscendC, "kernel_operator.h", tokens_[at_].line);
    if (starts("if") || starts("ifdef") || starts("ifndef")) {
      const std::string_view condition = starts("if") ? Trim(text.substr(2)) : "";
      branches_.push_back({open_, skipping_, condition == "1" || condition == "true"});
      if (condition == "0" || condition == "false") skipping_ = true;
    } else if ((text.starts_with("el")) && !branches_.empty()) {
      Branch& branch = branches_.back();
      open_ = branch.open;
      skipping_ = branch.skipping_before || branch.taken;
    } else if (starts("endif") && !branches_.empty()) {
      skipping_ = branches_.back().skipping_before;
      branches_.pop_back();
    }
  }

  void SetDialect(Dialect dialect, std::string_view sign, int line) {
    if (scan_.dialect != Dialect::kCpp) return;
    scan_.dialect = dialect;
    scan_.dialect_sign = sign;
    scan_.dialect_line = line;
  }

  void NoteDialect(const Token& token) {
    if (token.kind != Kind::kWord) return;
    if (token.text == "__aicore__" || token.text == "GM_ADDR" || token.text == "TPipe")
      SetDialect(Dialect::kAscendC, token.text, token.line);
    if (token.text == "__kernel" || (token.text == "kernel" && Next().Is("void")))
      SetDialect(Dialect::kOpenCl, token.text, token.line);
    // Ascend C says __global__ __aicore__, CUDA says __global__ alone.
    if (token.text == "__global__")
      SetDialect(Next().Is("__aicore__") ? Dialect::kAscendC : Dialect::kCuda, token.text,
                 token.line);
    const bool device =
        token.text == "__kernel" || token.text == "kernel" || token.text == "__global__";
    if (!device || scan_.dialect == Dialect::kCpp || !scan_.dialect_kernel.empty()) return;
    for (size_t i = 1; i < 12 && !Next(i).Is(";") && !Next(i).Is("{"); ++i) {
      if (Next(i).kind != Kind::kWord || !Next(i + 1).Is("(") || Next(i).text.starts_with("__"))
        continue;
      scan_.dialect_kernel = Next(i).text;
      return;
    }
  }

  void Step(const Token& token) {
    if (token.Is("}")) {
      if (!open_.empty()) open_.pop_back();
      declaration_ = {};
      ++at_;
      return;
    }
    if (!AtNamespaceScope()) {
      if (token.Is("{")) Push(Scope::kOther);
      ++at_;
      return;
    }
    if (token.Is("{")) {
      EndDeclaration(true);
      Push(Scope::kOther);
      ++at_;
    } else if (token.Is(";")) {
      EndDeclaration(false);
      ++at_;
    } else if (token.kind == Kind::kWord) {
      Word(token);
    } else if (token.Is("(")) {
      SkipBalanced("(", ")");
    } else {
      if (token.Is("=") && declaration_.function.empty()) declaration_.initialised = true;
      ++at_;
    }
  }

  void Word(const Token& token) {
    if (token.text == "namespace") return Namespace();
    if (token.text == "class" || token.text == "struct") return Class();
    if (token.text == "OPWRIGHT_KERNEL" || token.text == "OPWRIGHT_FUNCTION") return Marker(token);
    if (token.text == "template") {
      ++at_;
      declaration_.is_template = true;
      if (Next(0).Is("<")) SkipBalanced("<", ">");
      return;
    }
    if (token.text == "extern" && Next().kind == Kind::kString) {
      const bool c = Next().text == "C";
      at_ += 2;
      if (Next(0).Is("{")) {
        Push(Scope::kExternC);
        ++at_;
      } else {
        declaration_.extern_c = c;
      }
      return;
    }
    ++at_;
    if (token.text == "static") declaration_.is_static = true;
    if (token.text == "enum") {
      if (Next(0).Is("class") || Next(0).Is("struct")) ++at_;
    } else if (token.text == "__attribute__" || token.text == "alignas" ||
               token.text == "decltype" || token.text == "noexcept" || token.text == "__declspec" ||
               token.text == "asm" || token.text == "__asm__" || token.text == "static_assert") {
      if (Next(0).Is("(")) SkipBalanced("(", ")");
    } else if (Next(0).Is("(") && declaration_.function.empty() && !declaration_.initialised) {
      declaration_.function = token.text;
      declaration_.line = token.line;
      // The definition of a member, a constructor among them, is no function of that name.
      if (at_ < 2 || !tokens_[at_ - 2].Is("::")) functions_.insert(token.text);
      parameters_[token.text] = Parenthesized();
    }
  }

  // What stands between the parenthesis here and its closing one, in the usual spacing.
  std::string Parenthesized() const {
    std::string text;
    int depth = 0;
    const auto is_word = [](const Token& token) {
      return token.kind == Kind::kWord || token.kind == Kind::kNumber;
    };
    for (size_t i = 0; at_ + i < tokens_.size(); ++i) {
      const Token& token = Next(i);
      if (token.Is("(") && depth++ == 0) continue;
      if (token.Is(")") && --depth == 0) break;
      const Token& before = Next(i - 1);
      const bool behind = is_word(before) || before.Is(">") || before.Is("*") || before.Is("&");
      if (before.Is(",") || (behind && is_word(token))) text += ' ';
      text += token.text;
    }
    return text;
  }

  void EndDeclaration(bool defined) {
    if (!declaration_.function.empty() && !declaration_.is_template) {
      const bool in_c = std::any_of(open_.begin(), open_.end(),
                                    [](const Open& open) { return open.scope == Scope::kExternC; });
      scan_.functions.push_back({declaration_.function, in_c || declaration_.extern_c, defined,
                                 declaration_.is_static, declaration_.line});
    }
    declaration_ = {};
  }

  void Namespace() {
    ++at_;
    std::vector<std::string> names;
    while (at_ < tokens_.size() && !Next(0).Is("{") && !Next(0).Is(";") && !Next(0).Is("=")) {
      if (Next(0).Is("[")) {
        SkipBalanced("[", "]");
      } else {
        if (Next(0).kind == Kind::kWord && !Next(0).Is("inline")) names.push_back(Next(0).text);
        ++at_;
      }
    }
    if (!Next(0).Is("{")) return;  // an alias or a using directive
    Push(Scope::kNamespace, Join(names, "::"));
    ++at_;
  }

  void Class() {
    ScannedClass found;
    found.line = Next().line;
    bool qualified = false;
    bool specialised = declaration_.is_template;
    ++at_;
    for (; at_ < tokens_.size(); ++at_) {
      const Token& token = Next(0);
      if (token.Is("[")) {
        SkipBalanced("[", "]");
        --at_;
      } else if (token.Is("<")) {
        specialised = true;
        SkipBalanced("<", ">");
        --at_;
      } else if (token.Is("alignas") || token.Is("__attribute__") || token.Is("__declspec")) {
        ++at_;
        SkipBalanced("(", ")");
        --at_;
      } else if (token.Is("::")) {
        qualified = true;
      } else if (token.kind == Kind::kWord && token.text != "final") {
        found.name = token.text;
        found.line = token.line;
      } else if (token.kind != Kind::kWord) {
        break;
      }
    }
    if (Next(0).Is(":")) {
      ++at_;
      Bases(&found.bases);
    }
    // Anything else is a use of the type, `struct X f();`, and is read on as a declaration.
    if (!Next(0).Is("{")) return;
    if (!specialised && !qualified && !found.name.empty()) {
      found.qualified = StrCat(ScopeName(), "::", found.name);
      const bool known =
          std::any_of(scan_.classes.begin(), scan_.classes.end(), [&](const auto& other) {
            return other.qualified == found.qualified;  // the other branch of an #if
          });
      if (!known) scan_.classes.push_back(std::move(found));
    }
    Push(Scope::kOther);
    declaration_ = {};
    ++at_;
  }

  void Bases(std::vector<std::string>* bases) {
    std::string last;
    for (; at_ < tokens_.size() && !Next(0).Is("{") && !Next(0).Is(";"); ++at_) {
      const Token& token = Next(0);
      if (token.Is("<")) {
        SkipBalanced("<", ">");
        --at_;
      } else if (token.Is(",")) {
        bases->push_back(std::move(last));
        last.clear();
      } else if (token.kind == Kind::kWord) {
        last = token.text;
      }
    }
    if (!last.empty()) bases->push_back(std::move(last));
  }

  void Marker(const Token& token) {
    ScannedMarker marker;
    marker.function = token.text == "OPWRIGHT_FUNCTION";
    marker.scope = ScopeName();
    marker.line = token.line;
    ++at_;
    if (!Next(0).Is("(")) return;
    ++at_;
    int depth = 1;
    std::string* part = &marker.op;
    for (; at_ < tokens_.size(); ++at_) {
      const Token& piece = Next(0);
      if (piece.Is("(")) ++depth;
      if (piece.Is(")") && --depth == 0) break;
      if (piece.Is(",") && depth == 1 && part == &marker.op) {
        part = &marker.target;
      } else {
        *part += piece.text;
      }
    }
    if (at_ == tokens_.size()) return;
    ++at_;
    const std::string plain = marker.target.substr(0, marker.target.find('<'));
    const auto found = parameters_.find(plain.substr(plain.rfind(':') + 1));
    if (found != parameters_.end()) marker.parameters = found->second;
    const bool is_function = functions_.contains(marker.target);
    const bool is_class =
        std::any_of(scan_.classes.begin(), scan_.classes.end(),
                    [&](const ScannedClass& other) { return other.name == marker.target; });
    marker.is_misfit = is_function != is_class && marker.function != is_function;
    scan_.markers.push_back(std::move(marker));
    declaration_ = {};
  }

  // From an opening token to behind its closing one; behind the opening one when it closes nowhere.
  void SkipBalanced(std::string_view open, std::string_view close) {
    const size_t begin = at_;
    int depth = 0;
    for (; at_ < tokens_.size(); ++at_) {
      const Token& token = Next(0);
      if (token.kind == Kind::kDirective) continue;
      NoteDialect(token);
      if (token.Is(open)) ++depth;
      if (token.Is(close) && --depth == 0) {
        ++at_;
        return;
      }
      if (open == "<" && (token.Is(";") || token.Is("{"))) return;
    }
    at_ = begin + 1;
  }

  std::vector<Token> tokens_;
  size_t at_ = 0;
  bool skipping_ = false;
  std::vector<Open> open_;
  std::vector<Branch> branches_;
  Declaration declaration_;
  std::set<std::string> functions_;  // those seen so far, without scope
  std::map<std::string, std::string> parameters_;  // of the functions seen so far
  SourceScan scan_;
};

}  // namespace

SourceScan ScanSource(std::string_view text) { return Scanner(text).Run(); }

}  // namespace opwright::build

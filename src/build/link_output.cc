// SPDX-License-Identifier: Apache-2.0
#include "build/link_output.h"

#include <algorithm>
#include <charconv>

#include "base/file.h"
#include "base/text.h"
#include "build/symbols.h"

namespace opwright::build {
namespace {

struct Reference {
  std::string symbol;  // as the linker shows it, demangled
  std::string file;
  int line = 0;
  std::string function;
};

std::string_view After(std::string_view text, std::string_view mark) {
  const size_t at = text.find(mark);
  return at == text.npos ? std::string_view() : text.substr(at + mark.size());
}

// GNU ld:  ld: k.o: in function `go': / k.cpp:3: undefined reference to `helper(int)'
// lld:     ld.lld: error: undefined symbol: helper(int) / >>> referenced by k.cpp:3 (/x/k.cpp:3)
std::vector<Reference> References(std::string_view output, const LinkInputs& inputs) {
  std::vector<Reference> found;
  std::string function;
  std::string object;
  for (const std::string& line : Split(output, '\n')) {
    if (const std::string_view name = After(line, ": in function `"); !name.empty()) {
      function = name.substr(0, name.rfind('\''));
      const std::string_view head = std::string_view(line).substr(0, line.find(": in function `"));
      object = head.substr(head.rfind(' ') == head.npos ? 0 : head.rfind(' ') + 1);
    } else if (const std::string_view name = After(line, "undefined reference to `");
               !name.empty()) {
      Reference reference{std::string(name.substr(0, name.rfind('\''))), "", 0, function};
      std::string_view head = std::string_view(line).substr(0, line.find(": undefined reference"));
      if (const size_t ld = head.find("ld: "); ld != head.npos) head.remove_prefix(ld + 4);
      const size_t colon = head.rfind(':');
      const char* const end = head.data() + head.size();
      if (colon != head.npos &&
          std::from_chars(head.data() + colon + 1, end, reference.line).ptr == end)
        reference.file = head.substr(0, colon);
      if (reference.file.empty() || reference.line == 0) {
        const std::string holder(head.substr(0, head.find(":(")));
        const auto source = inputs.sources.find(FileExists(holder) ? holder : object);
        reference.line = 0;
        reference.file = source != inputs.sources.end() ? source->second : holder;
      }
      found.push_back(std::move(reference));
    } else if (const std::string_view symbol = After(line, "undefined symbol: "); !symbol.empty()) {
      found.push_back({std::string(symbol), "", 0, ""});
    } else if (const std::string_view place = After(line, ">>> referenced by ");
               !place.empty() && !found.empty()) {
      if (!found.back().file.empty()) continue;
      const std::string_view full = After(place, "(");
      const std::string_view path = full.empty() ? place : full.substr(0, full.rfind(')'));
      const size_t colon = path.rfind(':');
      if (colon == path.npos) continue;
      found.back().file = path.substr(0, colon);
      std::from_chars(path.data() + colon + 1, path.data() + path.size(), found.back().line);
    }
  }
  return found;
}

// Where a source defines a function of that name: "k.cpp:3", "" when none does.
std::string DefinedAt(const std::string& name, const LinkInputs& inputs) {
  for (const auto& [source, scan] : inputs.scans)
    for (const ScannedFunction& function : scan.functions)
      if (function.name == name && function.defined && !function.is_static)
        return StrCat(source, ":", function.line);
  return "";
}

std::string NameOf(const std::string& object, const LinkInputs& inputs) {
  const auto source = inputs.sources.find(object);
  return source != inputs.sources.end() ? source->second : object;
}

// What to do about one missing symbol.
std::string Advice(const std::string& symbol, const LinkInputs& inputs) {
  if (symbol.starts_with(kTablePrefix))
    return StrCat(
        "the kernel of ", symbol.substr(kTablePrefix.size()),
        " was read in the source but not compiled: is it inside an #if that is not taken?");
  if (symbol.starts_with("vtable for "))
    return StrCat(symbol.substr(11),
                  " declares a virtual function that no source defines: define it");
  const bool cpp = symbol.find('(') != std::string::npos;
  const std::string name = FunctionName(symbol);
  for (const std::string& object : inputs.objects) {
    for (const std::string& defined : DefinedSymbols(object)) {
      if (cpp && defined == name) {
        const std::string at = DefinedAt(name, inputs);
        return StrCat("an extern \"C\" is missing where it is declared: ",
                      at.empty() ? NameOf(object, inputs) : at, " defines ", name,
                      " as a C function, and it is used as a C++ one");
      }
      if (!cpp && defined.starts_with("_Z")) {
        const std::string shown = Demangle(defined);
        if (shown.find('(') == std::string::npos || FunctionName(shown) != symbol) continue;
        const std::string at = DefinedAt(name, inputs);
        return StrCat("an extern \"C\" is missing where it is defined: ",
                      at.empty() ? NameOf(object, inputs) : at, " defines ", shown,
                      " as a C++ function, and it is used as a C one");
      }
    }
  }
  return "give the source, the object or the -l library that defines it";
}

}  // namespace

Error DescribeLinkFailure(std::string_view output, const LinkInputs& inputs) {
  std::vector<Diagnostic> diagnostics;
  std::vector<std::string> symbols;
  for (const Reference& reference : References(output, inputs)) {
    if (std::find(symbols.begin(), symbols.end(), reference.symbol) != symbols.end()) continue;
    symbols.push_back(reference.symbol);
    Diagnostic d;
    d.id = "BD014";
    d.file = reference.file;
    d.line = reference.line;
    d.message = StrCat(reference.symbol, " is used",
                       reference.function.empty() ? "" : StrCat(" in ", reference.function),
                       " and defined nowhere");
    d.hint = Advice(reference.symbol, inputs);
    diagnostics.push_back(std::move(d));
  }
  if (!symbols.empty()) {
    Error error =
        MakeError("BD014", StrCat("the library does not link: ",
                                  Count(static_cast<int64_t>(symbols.size()), "undefined symbol")));
    error.diagnostics = std::move(diagnostics);
    return error;
  }

  std::vector<std::string> missing, twice;
  std::vector<std::string> rest;
  for (const std::string& line : Split(output, '\n')) {
    std::string_view name = After(line, "cannot find -l");
    if (name.empty()) name = After(line, "unable to find library -l");
    if (!name.empty()) missing.emplace_back(name.substr(0, name.find(':')));
    std::string_view again = After(line, "multiple definition of `");
    again = again.substr(0, again.find('\''));
    if (!again.empty() && std::find(twice.begin(), twice.end(), again) == twice.end())
      twice.emplace_back(again);
    const std::string_view text = Trim(line);
    if (!text.empty() && !text.starts_with("collect2:") && text.find("ld returned") == text.npos) {
      std::string shown(text);
      for (const auto& [object, source] : inputs.sources)
        for (size_t at = shown.find(object); at != shown.npos; at = shown.find(object))
          shown.replace(at, object.size(), source);
      rest.push_back(std::move(shown));
    }
  }
  if (!missing.empty())
    return MakeError(
        "BD015",
        StrCat("the library does not link: no library ", JoinAnd(missing), " (lib", missing[0],
               ".so or lib", missing[0],
               ".a) in the -L folders or the system's: check the name after -l, add its -L "
               "folder, or install its development package"));
  if (!twice.empty())
    return MakeError(
        "BD016", StrCat("the library does not link: ", JoinAnd(twice),
                        " is defined twice; make one static or put it into a namespace (a library "
                        "has a C function by the name of each operator itself)"));
  if (rest.size() > 8) rest.resize(8);
  return MakeError("BD016", StrCat("the library does not link:\n  ", Join(rest, "\n  ")));
}

}  // namespace opwright::build

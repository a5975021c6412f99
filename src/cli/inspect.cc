// SPDX-License-Identifier: Apache-2.0
#include "cli/inspect.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "base/dtype_name.h"
#include "base/file.h"
#include "base/spelling.h"
#include "base/text.h"
#include "cli/build.h"
#include "registry/elf_file.h"
#include "registry/loader.h"
#include "runtime/attrs.h"
#include "runtime/shape.h"

namespace opwright::cli {
namespace {

// "x [..., n] float32 | float64"
std::string ParamText(const OpwrightOpDef& def, const OpwrightParamDef& param) {
  constexpr const char* kKinds[] = {"", " (optional)", " (list)"};
  std::vector<std::string> dtypes;
  for (int32_t c = 0; c < def.num_columns; ++c) dtypes.push_back(DTypeName(param.dtypes[c]));
  return StrCat(param.name, " ", PatternText(def, param, ""), " ", Join(dtypes, " | "),
                kKinds[param.kind]);
}

std::string OperatorText(const Operator& op) {
  if (!op.has_metadef()) return StrCat("  ", op.name(), ": a kernel without metadef\n");
  const OpwrightOpDef& def = op.def();
  std::string text = StrCat("  ", def.ns, "::", def.name, "\n");
  for (int32_t i = 0; i < def.num_inputs; ++i)
    text += StrCat("    in   ", ParamText(def, *def.inputs[i]), "\n");
  for (int32_t i = 0; i < def.num_outputs; ++i)
    text += StrCat("    out  ", ParamText(def, *def.outputs[i]), ", shape ",
                   def.shape_rules[i]->text, "\n");
  for (int32_t i = 0; i < def.num_attrs; ++i) {
    const OpwrightAttrDef& attr = *def.attrs[i];
    text += StrCat("    attr ", attr.name, " ", AttrTypeName(attr.type),
                   attr.required != 0 ? " (required)" : StrCat(" = ", AttrText(attr.default_value)),
                   "\n");
  }
  const std::string missing = op.MissingBackward();
  text += StrCat("    gradient ",
                 op.gradient() != nullptr ? op.gradient()->op
                 : missing.empty()        ? "none"
                                          : StrCat(missing, ", which is not in this library"),
                 "\n");
  return text;
}

std::string Strings(const std::vector<std::string>& list) {
  std::vector<std::string> quoted;
  for (const std::string& item : list) quoted.push_back(JsonQuote(item));
  return StrCat("[", Join(quoted, ", "), "]");
}

std::string OperatorJson(const Operator& op) {
  return StrCat(
      "{\"name\": ", JsonQuote(op.name()), ", \"gradient\": ",
      op.has_metadef() && op.gradient() != nullptr ? JsonQuote(op.gradient()->op) : "null",
      ", \"metadef\": ", op.has_metadef() ? op.def().json : "null", "}");
}

int Fail(const Error& error, int code) {
  fprintf(stderr, "error: %s\n", error.Text().c_str());
  return code;
}

}  // namespace

int RunInspect(const std::string& path, const std::string& format,
               const std::optional<std::string>& sha256) {
  std::string file = path;
  if (IsDirectory(path)) {
    build::Request request;
    request.sources = {path};
    Expected<build::Result> built = BuildAndTell(request);
    if (!built.ok()) return 2;
    file = built->path;
  }
  Expected<LibraryHandle> library = LoadLibrary(file, sha256);
  if (!library.ok()) return Fail(library.error(), library.error().id == "LD001" ? 2 : 1);
  Expected<std::string> bytes = ReadFile((*library)->path());
  if (!bytes.ok()) return Fail(bytes.error(), 2);
  Expected<ElfFile> elf = ReadElf((*library)->path(), *bytes);
  if (!elf.ok()) return Fail(elf.error(), 1);

  const OpwrightLibrary& raw = (*library)->raw();
  const std::string march = *raw.march != '\0' ? raw.march : "x86-64";
  const std::string abi = StrCat(raw.abi_major, ".", raw.abi_minor);
  std::vector<std::string> frameworks;
  for (int32_t i = 0; i < raw.num_frameworks; ++i) frameworks.emplace_back(raw.frameworks[i]->name);
  // MindSpore finds operators by their exported names.
  const auto is_exported = [&](const auto& op) { return elf->Exports(op->name()); };
  if (std::any_of((*library)->operators().begin(), (*library)->operators().end(), is_exported))
    frameworks.emplace_back("mindspore");

  if (format == "json") {
    std::vector<std::string> operators;
    for (const auto& op : (*library)->operators()) operators.push_back(OperatorJson(*op));
    printf(
        "{\"path\": %s,\n \"identity\": %s,\n \"size\": %zu,\n \"abi\": %s,\n \"opwright\": %s,\n "
        "\"compiler\": %s,\n"
        " \"march\": %s,\n \"needed\": %s,\n \"exports\": %s,\n \"frameworks\": %s,\n "
        "\"operators\": [%s]}\n",
        JsonQuote((*library)->path()).c_str(), JsonQuote((*library)->identity()).c_str(),
        bytes->size(), JsonQuote(abi).c_str(), JsonQuote(raw.opwright_version).c_str(),
        JsonQuote(raw.compiler).c_str(), JsonQuote(march).c_str(), Strings(elf->needed).c_str(),
        Strings(elf->exports).c_str(), Strings(frameworks).c_str(),
        Join(operators, ",\n  ").c_str());
    return 0;
  }
  printf("%s\n  identity %s\n  size %zu bytes, ABI %s, built by Opwright %s with %s for %s\n",
         (*library)->path().c_str(), (*library)->identity().c_str(), bytes->size(), abi.c_str(),
         raw.opwright_version, raw.compiler, march.c_str());
  printf("  needs %s\n  entries for %s\n", Join(elf->needed, ", ").c_str(),
         frameworks.empty() ? "no framework" : Join(frameworks, ", ").c_str());
  for (const auto& op : (*library)->operators()) fputs(OperatorText(*op).c_str(), stdout);
  for (const std::string& warning : (*library)->warnings())
    printf("warning: %s\n", warning.c_str());
  return 0;
}

}  // namespace opwright::cli

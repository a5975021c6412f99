// SPDX-License-Identifier: Apache-2.0
#include "registry/signature_fit.h"

#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/dtype_name.h"
#include "base/spelling.h"
#include "base/text.h"
#include "runtime/attrs.h"

namespace opwright {
namespace {

struct Param {
  int32_t kind;
  std::vector<OpwrightDType> dtypes;
};

// A signature, of a kernel or of a metadef.
struct Signature {
  int32_t num_columns = 0;
  std::vector<Param> inputs;
  std::vector<Param> outputs;
  std::vector<int32_t> attrs;
};

Signature Of(const OpwrightOpDef& def) {
  Signature signature;
  signature.num_columns = def.num_columns;
  const auto take = [&](const OpwrightParamDef* const* params, int32_t n, std::vector<Param>* to) {
    for (int32_t i = 0; i < n; ++i)
      to->push_back({params[i]->kind, {params[i]->dtypes, params[i]->dtypes + def.num_columns}});
  };
  take(def.inputs, def.num_inputs, &signature.inputs);
  take(def.outputs, def.num_outputs, &signature.outputs);
  for (int32_t i = 0; i < def.num_attrs; ++i) signature.attrs.push_back(def.attrs[i]->type);
  return signature;
}

Signature Of(const OpwrightSignature& built) {
  Signature signature;
  signature.num_columns = built.num_columns;
  for (int32_t i = 0; i < built.num_inputs + built.num_outputs; ++i) {
    const OpwrightDType* dtypes = built.dtypes + static_cast<ptrdiff_t>(i) * built.num_columns;
    (i < built.num_inputs ? signature.inputs : signature.outputs)
        .push_back({built.kinds[i], {dtypes, dtypes + built.num_columns}});
  }
  signature.attrs.assign(built.attr_types, built.attr_types + built.num_attrs);
  return signature;
}

// The C++ type that carries an attribute: text and lists of flags are carried alike.
int32_t Carrier(int32_t type) {
  return type == kOpwrightAttrType       ? kOpwrightAttrString
         : type == kOpwrightAttrListBool ? kOpwrightAttrListInt
                                         : type;
}

// What differs, as two halves of a sentence; empty when nothing does.
struct Difference {
  std::string built;
  std::string listed;
};

Difference CompareParams(const char* what, const std::vector<Param>& built,
                         const std::vector<Param>& listed, const OpwrightParamDef* const* params) {
  const auto count = [&](const std::vector<Param>& list) {
    return Count(static_cast<int64_t>(list.size()), what);
  };
  if (built.size() != listed.size()) return {count(built), count(listed)};
  for (size_t i = 0; i < built.size(); ++i) {
    const auto sentence = [&](const std::string& fact) {
      return StrCat(what, " ", params[i]->name, " ", fact);
    };
    if (built[i].kind != listed[i].kind)
      return {sentence(StrCat("as ", ParamKindName(built[i].kind))),
              sentence(StrCat("as ", ParamKindName(listed[i].kind)))};
    for (size_t c = 0; c < built[i].dtypes.size(); ++c)
      if (!(built[i].dtypes[c] == listed[i].dtypes[c]))
        return {sentence(StrCat("of ", DTypeName(built[i].dtypes[c]), " in column ", c)),
                DTypeName(listed[i].dtypes[c])};
  }
  return {};
}

Difference Compare(const Signature& built, const Signature& listed, const OpwrightOpDef& model) {
  if (built.num_columns != listed.num_columns)
    return {Count(built.num_columns, "dtype column"), StrCat(listed.num_columns)};
  Difference difference = CompareParams("input", built.inputs, listed.inputs, model.inputs);
  if (difference.built.empty())
    difference = CompareParams("output", built.outputs, listed.outputs, model.outputs);
  if (!difference.built.empty()) return difference;
  const auto count = [](const std::vector<int32_t>& attrs) {
    return Count(static_cast<int64_t>(attrs.size()), "attribute");
  };
  if (built.attrs.size() != listed.attrs.size()) return {count(built.attrs), count(listed.attrs)};
  for (size_t i = 0; i < built.attrs.size(); ++i)
    if (Carrier(built.attrs[i]) != Carrier(listed.attrs[i]))
      return {StrCat("attribute ", i, " of type ", AttrTypeName(built.attrs[i])),
              StrCat(model.attrs[i]->name, " of type ", AttrTypeName(listed.attrs[i]), " there")};
  return {};
}

template <class Part>
std::vector<std::string> NamesOf(const Part* const* parts, int32_t n) {
  std::vector<std::string> names;
  for (int32_t i = 0; i < n; ++i) names.emplace_back(parts[i]->name);
  return names;
}

// Arguments go by position, so that other names are other words for the same. The same names at
// other positions are a mistake: what is called one thing would be taken for the other.
Status CheckOrder(const OpwrightOperatorEntry& entry, const OpwrightOpDef& model) {
  const OpwrightOpDef& built = *entry.def;
  // A class kernel asks for its attributes by name.
  const bool function = entry.kernel->takes_expanded != 0;
  const struct {
    const char* what;
    std::vector<std::string> built, listed;
  } lists[] = {
      {"inputs", NamesOf(built.inputs, built.num_inputs), NamesOf(model.inputs, model.num_inputs)},
      {"outputs", NamesOf(built.outputs, built.num_outputs),
       NamesOf(model.outputs, model.num_outputs)},
      {"attributes", NamesOf(built.attrs, function ? built.num_attrs : 0),
       NamesOf(model.attrs, function ? model.num_attrs : 0)},
  };
  for (const auto& list : lists) {
    if (!IsReordered(list.built, list.listed)) continue;
    return MakeError(
        "RG011", StrCat("the kernel ", entry.kernel->name, " was built for the ", list.what, " ",
                        Join(list.built, ", "), ", in this order, and the metadef of ", model.name,
                        " lists ", Join(list.listed, ", "),
                        "; they go by position: list them in the kernel's order, or build it with "
                        "this metadef"));
  }
  return {};
}

}  // namespace

Status FitsKernel(const OpwrightOperatorEntry& entry, const OpwrightOpDef& model) {
  const OpwrightKernel& kernel = *entry.kernel;
  Difference difference;
  if (OPWRIGHT_HAS(OpwrightKernel, &kernel, signature) && kernel.signature != nullptr)
    difference = Compare(Of(*kernel.signature), Of(model), model);
  else if (kernel.takes_expanded != 0 && entry.def != nullptr)  // built before kernels said it
    difference = Compare(Of(*entry.def), Of(model), model);
  if (difference.built.empty()) return entry.def != nullptr ? CheckOrder(entry, model) : Status();
  return MakeError("RG005", StrCat("the kernel ", kernel.name, " was built for ", difference.built,
                                   " and the metadef of ", model.name, " lists ", difference.listed,
                                   "; build it with this metadef"));
}

}  // namespace opwright

// SPDX-License-Identifier: Apache-2.0
#include "registry/acl_registry.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/environment.h"
#include "base/file.h"
#include "base/text.h"
#include "metadef/metadef.h"
#include "metadef/reserved.h"
#include "registry/loader.h"

namespace opwright {
namespace {

using State = AclRegistry::State;
using Step = AclRegistry::Step;

// The whole order of the acl form: the least state that a step needs, and the call that is missing
// while it is not reached.
struct Rule {
  const char* call;
  State needs;
};
constexpr Rule RuleOf(Step step) {
  switch (step) {
    case Step::kLoad:
      return {"load_operator_library", State::kNoLibrary};
    case Step::kRegister:
      return {"register_operator", State::kUnregistered};
    case Step::kModel:
      return {"register_operator_model", State::kRegistered};
    case Step::kGradient:
      return {"register_operator_gradient", State::kModelled};
    case Step::kUnregister:
      return {"unregister_operator", State::kRegistered};
    case Step::kCall:
      break;
  }
  return {"a call", State::kModelled};
}

// The call that leads out of a state.
const char* NextCall(State state) {
  constexpr Step kSteps[] = {Step::kLoad, Step::kRegister, Step::kModel};
  for (const Step step : kSteps)
    if (RuleOf(step).needs == state) return RuleOf(step).call;
  return RuleOf(Step::kGradient).call;
}

// "process 4711 (RANK=1)"
std::string ThisProcess() {
  const std::string rank = EnvironmentVariable("RANK");
  return StrCat("process ", getpid(), rank.empty() ? "" : StrCat(" (RANK=", rank, ")"));
}

Expected<metadef::Operator> ReadOneMetadef(const std::string& path) {
  const std::string absolute = AbsolutePath(path);
  Expected<std::string> text = ReadFile(absolute);
  if (!text.ok()) return MakeError("RG004", DescribeMissing(path, "read the metadef", ENOENT));
  metadef::ReadResult result = metadef::Read(*text, absolute);
  if (result.HasErrors()) {
    Error error = MakeError("RG004", StrCat("the metadef ", path, " has errors"));
    error.diagnostics = std::move(result.diagnostics);
    return error;
  }
  if (result.operators.size() != 1)
    return MakeError("RG004",
                     StrCat("the metadef ", path, " holds ", result.operators.size(),
                            " operators, one is due here: put each into a file of its own"));
  return std::move(result.operators[0]);
}

}  // namespace

AclRegistry& AclRegistry::Get() {
  static AclRegistry* const registry = new AclRegistry;
  return *registry;
}

State AclRegistry::StateOfLocked(const std::string& name) const {
  if (libraries_.empty()) return State::kNoLibrary;
  const auto found = entries_.find(name);
  if (found == entries_.end()) return State::kUnregistered;
  if (found->second.op == nullptr) return State::kRegistered;
  return found->second.gradient_metadef.empty() ? State::kModelled : State::kWithGradient;
}

State AclRegistry::StateOf(const std::string& name) {
  const std::lock_guard lock(mutex_);
  return StateOfLocked(name);
}

Error AclRegistry::Missing(const std::string& name, Step step, State state) const {
  std::vector<std::string> names;
  for (const auto& [known, entry] : entries_) names.push_back(known);
  const std::string nearest = state == State::kUnregistered ? Nearest(name, names) : "";
  // Who calls an operator asks whether it is there; who registers one, what comes first.
  const std::string what = step == Step::kCall
                               ? StrCat(name, " is not registered in this process, ", ThisProcess(),
                                        ": ", NextCall(state), " is missing")
                               : StrCat(RuleOf(step).call, " for ", name, ": ", NextCall(state),
                                        " is missing before it in ", ThisProcess());
  return MakeError("RG001", StrCat(what,
                                   "; every process registers for itself, in the order "
                                   "load_operator_library, register_operator, "
                                   "register_operator_model, register_operator_gradient",
                                   nearest.empty() ? "" : StrCat("; did you mean ", nearest, "?")));
}

Status AclRegistry::Check(const std::string& name, Step step) const {
  const State state = StateOfLocked(name);
  if (state >= RuleOf(step).needs) return {};
  return Missing(name, step, state);
}

Status AclRegistry::Load(const std::string& path) {
  Expected<LibraryHandle> handle = LoadLibrary(path);
  if (!handle.ok()) return handle.TakeError();
  const std::lock_guard lock(mutex_);
  // One that is loaded again is the latest: its kernels count from now on.
  std::erase_if(libraries_, [&](const LibraryHandle& known) {
    return known->identity() == (*handle)->identity();
  });
  libraries_.push_back(std::move(*handle));
  return {};
}

Status AclRegistry::Register(const std::string& name) {
  const std::lock_guard lock(mutex_);
  OPWRIGHT_RETURN_IF_ERROR(Check(name, Step::kRegister));
  if (!metadef::IsSnakeName(name))
    return MakeError(
        "RG009",
        StrCat("\"", name,
               "\" is no operator name: small letters, digits and _, a letter first, at most ",
               metadef::kMaxNameLength));
  entries_.try_emplace(name);
  return {};
}

Expected<std::shared_ptr<Operator>> AclRegistry::FindKernel(const std::string& kernel) const {
  std::vector<std::string> names;
  std::vector<std::string> paths;
  for (auto library = libraries_.rbegin(); library != libraries_.rend(); ++library) {
    if (std::shared_ptr<Operator> op = (*library)->Find(kernel)) return op;
    for (const auto& op : (*library)->operators()) names.emplace_back(op->name());
    paths.push_back((*library)->path());
  }
  const std::string nearest = Nearest(kernel, names);
  return MakeError("RG006", StrCat("no kernel ", kernel, " in the loaded libraries; they have ",
                                   JoinAnd(names), " (", Join(paths, ", "), ")",
                                   nearest.empty() ? "" : StrCat("; did you mean ", nearest, "?")));
}

Status AclRegistry::Model(const std::string& name, const std::string& metadef_path,
                          const std::string& kernel) {
  const std::lock_guard lock(mutex_);
  OPWRIGHT_RETURN_IF_ERROR(Check(name, Step::kModel));
  Expected<metadef::Operator> model = ReadOneMetadef(metadef_path);
  if (!model.ok()) return model.TakeError();
  if (model->name != name)
    return MakeError("RG004", StrCat("the metadef ", metadef_path, " is of ", model->name, ", ",
                                     name, " is due"));
  Expected<std::shared_ptr<Operator>> code = FindKernel(kernel);
  if (!code.ok()) return code.TakeError();
  Entry& entry = entries_[name];
  if (entry.op != nullptr) {
    const std::string old_identity = entry.op->library().identity();
    const std::string new_identity = (*code)->library().identity();
    if (entry.metadef == model->json && entry.kernel == kernel && old_identity == new_identity)
      return {};
    return MakeError(
        "RG002",
        StrCat(name, " is registered already with kernel ", entry.kernel, " of ",
               entry.op->library().path(), " (", old_identity.substr(0, 8),
               "); another one was given: kernel ", kernel, " of ", (*code)->library().path(), " (",
               new_identity.substr(0, 8), "), or another metadef; call unregister_operator first"));
  }
  Expected<std::shared_ptr<Operator>> bound = Operator::Bind(**code, *model);
  if (!bound.ok()) return bound.TakeError();
  entry.op = std::move(*bound);
  entry.code = std::move(*code);
  entry.metadef = model->json;
  entry.kernel = kernel;
  return {};
}

Status AclRegistry::Gradient(const std::string& name, const std::string& metadef_path) {
  const std::lock_guard lock(mutex_);
  OPWRIGHT_RETURN_IF_ERROR(Check(name, Step::kGradient));
  Expected<metadef::Operator> model = ReadOneMetadef(metadef_path);
  if (!model.ok()) return model.TakeError();
  Expected<std::shared_ptr<Operator>> code = FindKernel(model->name);
  if (!code.ok()) return code.TakeError();
  Entry& entry = entries_[name];
  if (!entry.gradient_metadef.empty()) {
    const Library& old_library = entry.op->backward()->library();
    const Library& new_library = (*code)->library();
    if (entry.gradient_metadef == model->json && old_library.identity() == new_library.identity())
      return {};
    return MakeError(
        "RG002", StrCat(name, " has the gradient ", entry.op->backward()->name(), " of ",
                        old_library.path(), " (", old_library.identity().substr(0, 8),
                        ") already; ", model->name, " of ", metadef_path, " with the kernel of ",
                        new_library.path(), " (", new_library.identity().substr(0, 8),
                        ") is another one; call unregister_operator first"));
  }
  Expected<std::shared_ptr<Operator>> backward = Operator::Bind(**code, *model);
  if (!backward.ok()) return backward.TakeError();
  // A new operator takes the place of the one without gradient, which calls on other threads and
  // the frameworks may hold.
  const metadef::ReadResult forward = metadef::Read(entry.metadef, name);
  Expected<std::shared_ptr<Operator>> whole = Operator::Bind(*entry.code, forward.operators.at(0));
  if (!whole.ok()) return whole.TakeError();
  OPWRIGHT_RETURN_IF_ERROR((*whole)->BindGradient(std::move(*backward)));
  entry.op = std::move(*whole);
  entry.gradient_metadef = model->json;
  return {};
}

Status AclRegistry::Unregister(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (entries_.erase(name) > 0) return {};
  return Missing(name, Step::kUnregister, StateOfLocked(name));
}

Expected<std::shared_ptr<Operator>> AclRegistry::Find(const std::string& name) {
  const std::lock_guard lock(mutex_);
  OPWRIGHT_RETURN_IF_ERROR(Check(name, Step::kCall));
  return entries_[name].op;
}

std::vector<std::string> AclRegistry::Names() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries_)
    if (entry.op != nullptr) names.push_back(name);
  return names;
}

}  // namespace opwright

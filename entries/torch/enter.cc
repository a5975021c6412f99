// SPDX-License-Identifier: Apache-2.0
//
// How the operators get into PyTorch: at load when PyTorch is there, or when Opwright says so.
// Until Opwright takes over, a guard (guard.cc) stands before each operator.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <mutex>
#include <vector>

#include "base/text.h"
#include "entries/torch/schema.h"
#include "entries/torch/shim.h"
#include "opwright/stub.h"

namespace opwright::entries {
namespace {

struct State {
  std::mutex mutex;
  bool entered = false;
  std::string ns;  // "": each operator's own
  std::vector<TorchHandle> libraries;  // kept: their end would be the operators' end
  std::vector<TorchHandle> guards;
};

State& TheState() {
  static State* const state = new State;
  return *state;
}

bool OpwrightIsHere() { return dlopen("libopwright.so", RTLD_NOLOAD | RTLD_LAZY) != nullptr; }

// This library's own path, which PyTorch shows as the place of registration.
const char* OwnPath() {
  static Dl_info info;
  static const bool found = dladdr(&opwright_stub, &info) != 0;
  return found ? info.dli_fname : "an operator library";
}

std::string LastError(const TorchShim& torch) {
  return TorchFailure(torch, "PyTorch refused it (is the name taken?)");
}

struct Registration {
  const TorchShim& torch;
  std::vector<TorchHandle> made;
  std::string failure;

  TorchHandle Library(const char* ns, const char* key) {
    TorchHandle library = nullptr;
    const int32_t failed = key == nullptr ? torch.library_fragment(ns, OwnPath(), 1, &library)
                                          : torch.library_impl(ns, key, OwnPath(), 1, &library);
    if (failed != 0) {
      failure = StrCat("no library for namespace ", ns, ": ", LastError(torch));
      return nullptr;
    }
    made.push_back(library);
    return library;
  }

  bool Define(const OpwrightStubOperator& op, const char* ns, const std::string& name) {
    const std::string schema = TorchSchema(*op.entry->def, name);
    TorchHandle fragment = Library(ns, nullptr);
    if (fragment == nullptr) return false;
    if (torch.define(fragment, schema.c_str()) != 0) {
      failure = StrCat(ns, "::", schema, ": ", LastError(torch));
      return false;
    }
    // A call without any tensor has no device to be dispatched by.
    TorchHandle kernels =
        Library(ns, AlwaysTakesTensor(*op.entry->def) ? "CPU" : "CompositeExplicitAutograd");
    if (kernels == nullptr) return false;
    if (torch.implement(kernels, name.c_str(), op.torch_kernel, torch.version) != 0) {
      failure = StrCat(ns, "::", name, ": ", LastError(torch));
      return false;
    }
    return true;
  }

  bool Implement(TorchHandle library, const OpwrightStubOperator& op, const char* ns) {
    const char* const name = op.entry->def->name;
    if (torch.implement(library, name, op.torch_guard, torch.version) == 0) return true;
    failure = StrCat("the guard of ", ns, "::", name, ": ", LastError(torch));
    return false;
  }

  // What is made goes to guards: the operator that the guard calls is of no use without it.
  bool Guard(const OpwrightStubOperator& op, const char* ns, std::vector<TorchHandle>* guards) {
    const std::string name = op.entry->def->name;
    const size_t before = made.size();
    if (!Define(op, ns, StrCat("_", name, "_without_gradient"))) return false;
    TorchHandle library = Library(ns, "Autograd");
    if (library == nullptr) return false;
    if (!Implement(library, op, ns)) return false;
    // In inference mode nothing is recorded, and what is written is counted all the same.
    if (op.entry->def->num_mutates > 0) {
      library = Library(ns, "ADInplaceOrView");
      if (library == nullptr || !Implement(library, op, ns)) return false;
    }
    guards->insert(guards->end(), made.begin() + static_cast<ptrdiff_t>(before), made.end());
    made.resize(before);
    return true;
  }
};

// The latest first: a guard before the operator that it calls.
void Delete(const TorchShim& torch, std::vector<TorchHandle>* libraries) {
  for (auto library = libraries->rbegin(); library != libraries->rend(); ++library)
    torch.delete_library(*library);
  libraries->clear();
}

// guarded: for a loader that knows nothing of gradients. Entering without takes guards away.
int32_t Register(const char* ns, bool guarded, char* message, size_t message_size) {
  State& state = TheState();
  const std::lock_guard lock(state.mutex);
  const auto say = [&](const std::string& text) {
    if (message != nullptr && message_size > 0) snprintf(message, message_size, "%s", text.c_str());
    return 2;
  };
  std::string why;
  const TorchShim* torch = FindTorch(&why);
  if (torch == nullptr) return why.empty() ? 1 : say(why);
  ForgetTorchFailure(*torch);
  if (!guarded) Delete(*torch, &state.guards);
  if (state.entered) return 0;
  Registration registration{*torch, {}, {}};
  for (int32_t i = 0; i < opwright_stub.num_operators; ++i) {
    const OpwrightStubOperator& op = opwright_stub.operators[i];
    if (op.entry->def == nullptr) continue;
    const char* space = ns != nullptr ? ns : op.entry->def->ns;
    const bool done = registration.Define(op, space, op.entry->def->name) &&
                      (!guarded || registration.Guard(op, space, &state.guards));
    if (!done) {
      Delete(*torch, &state.guards);
      Delete(*torch, &registration.made);
      return say(registration.failure);
    }
  }
  state.libraries = std::move(registration.made);
  state.ns = ns == nullptr ? "" : ns;
  state.entered = true;
  return 0;
}

int32_t Enter(const char* ns, char* message, size_t message_size) {
  return Register(ns, false, message, message_size);
}

const char* Entered() {
  State& state = TheState();
  const std::lock_guard lock(state.mutex);
  return state.entered ? state.ns.c_str() : nullptr;
}

// Runs when any loader maps the library. With Opwright in the process a taken name is no fault: it
// registers this library under a namespace of its own.
__attribute__((constructor)) void OnLoad() {
  char message[1024];
  if (Register(nullptr, true, message, sizeof message) != 2 || OpwrightIsHere()) return;
  fprintf(stderr, "opwright: %s registers no operator in PyTorch: %s [RG010]\n", OwnPath(),
          message);
}

}  // namespace
}  // namespace opwright::entries

extern "C" {

const OpwrightFramework opwright_framework_torch = {
    sizeof(OpwrightFramework), "torch", &opwright::entries::Enter, &opwright::entries::Entered};

}  // extern "C"

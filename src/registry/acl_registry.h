// SPDX-License-Identifier: Apache-2.0
//
// The acl form's registry: operators by name, put together in four steps of one order: load a
// library, register the name, give it its metadef and kernel, give it its gradient. Each process
// has its own.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/error.h"
#include "registry/library.h"

namespace opwright {

class AclRegistry {
 public:
  // How far an operator's name has come.
  enum class State { kNoLibrary, kUnregistered, kRegistered, kModelled, kWithGradient };
  enum class Step { kLoad, kRegister, kModel, kGradient, kCall, kUnregister };

  static AclRegistry& Get();

  // Each is idempotent, but that the library of the last load has the kernels; a different thing
  // under the same name is refused with both identities. On an error the registry is as it was.
  Status Load(const std::string& path);
  Status Register(const std::string& name);
  Status Model(const std::string& name, const std::string& metadef_path, const std::string& kernel);
  Status Gradient(const std::string& name, const std::string& metadef_path);
  Status Unregister(const std::string& name);
  // RG001 when it is not registered in this process.
  Expected<std::shared_ptr<Operator>> Find(const std::string& name);
  State StateOf(const std::string& name);
  // The operators that can be called.
  std::vector<std::string> Names();

 private:
  struct Entry {
    std::shared_ptr<Operator> op;  // from the model step on
    std::shared_ptr<Operator> code;  // the kernel it was bound to
    std::string metadef;  // its text
    std::string kernel;
    std::string gradient_metadef;
  };
  State StateOfLocked(const std::string& name) const;
  Status Check(const std::string& name, Step step) const;
  Error Missing(const std::string& name, Step step, State state) const;
  // The kernel of a name in the libraries, the latest first.
  Expected<std::shared_ptr<Operator>> FindKernel(const std::string& kernel) const;

  std::mutex mutex_;
  std::vector<LibraryHandle> libraries_;  // in the order of their last load
  std::map<std::string, Entry> entries_;
};

}  // namespace opwright

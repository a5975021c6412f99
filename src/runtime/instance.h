// SPDX-License-Identifier: Apache-2.0
//
// A kernel's object, made at its first use by whichever thread comes first.
#pragma once

#include <atomic>
#include <string_view>

#include "base/error.h"
#include "base/text.h"
#include "opwright/c_api.h"
#include "runtime/c_error.h"

namespace opwright {

class LazyInstance {
 public:
  // The object of the entry's kernel, always one entry. Where its constructor fails, the error in
  // the operator's name; the next call tries again.
  Expected<void*> Get(const OpwrightOperatorEntry& entry, std::string_view name) {
    if (is_made()) return object_;
    return Make(entry, name);
  }
  bool is_made() const { return made_.load(std::memory_order_acquire); }
  void* object() const { return object_; }  // once it is made

 private:
  Expected<void*> Make(const OpwrightOperatorEntry& entry, std::string_view name) {
    while (busy_.test_and_set(std::memory_order_acquire)) busy_.wait(true);
    OpwrightError* error = nullptr;
    if (!made_.load(std::memory_order_relaxed)) {
      error = entry.create(entry.kernel, &object_);
      if (error == nullptr) made_.store(true, std::memory_order_release);
    }
    busy_.clear(std::memory_order_release);
    busy_.notify_one();
    if (error == nullptr) return object_;
    Error own = FromC(error);
    own.message = StrCat(name, ": ", own.message);
    return own;
  }

  std::atomic<bool> made_ = false;
  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  void* object_ = nullptr;
};

}  // namespace opwright

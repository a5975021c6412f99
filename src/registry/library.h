// SPDX-License-Identifier: Apache-2.0
//
// A loaded operator library and its operators.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "metadef/metadef.h"
#include "opwright/c_api.h"
#include "runtime/instance.h"
#include "runtime/launch.h"

namespace opwright {

class Library;

// Everything about one call but the operator.
struct CallArguments {
  const OpwrightArgument* inputs = nullptr;
  int32_t num_inputs = 0;
  OpwrightArgument* outputs = nullptr;
  int32_t num_outputs = 0;
  const OpwrightAttr* attrs = nullptr;
  int32_t num_attrs = 0;
  OutputAllocator* allocator = nullptr;
  const uint8_t* wanted = nullptr;
  const ShapeList* known_shapes = nullptr;  // see Launch
};

// One operator, called from any thread. With a metadef of its library, or one bound later.
class Operator {
 public:
  Operator(Library* library, const OpwrightOperatorEntry* entry);
  // The kernel of `kernel` under the metadef given. RG005 when it was compiled for another one.
  static Expected<std::shared_ptr<Operator>> Bind(const Operator& kernel,
                                                  const metadef::Operator& metadef);
  ~Operator();
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  const char* name() const;
  // Another one for each operator that this process ever had.
  uint64_t number() const { return number_; }
  bool has_metadef() const { return def_ != nullptr; }
  const OpwrightOpDef& def() const { return *def_; }
  const OpwrightOperatorEntry& entry() const { return *entry_; }
  // What calls from here on go through, with the same kernel. For opwright check, which stops it.
  void ReplaceEntry(const OpwrightOperatorEntry* entry) { entry_ = entry; }
  Library& library() const { return *library_; }

  // CL014 when its library is closed, RG003 without metadef.
  Status CheckUsable() const;
  Status Call(const CallArguments& arguments);
  Status Infer(const CallArguments& arguments, InferredOutput* result, Arena& arena);

  // The backward operator: of the same library, or bound by BindGradient. Null: none.
  Operator* backward() const { return backward_.get(); }
  const OpwrightGradient* gradient() const { return gradient_; }
  // The backward operator that its metadef names, when none is bound; "" otherwise.
  std::string MissingBackward() const;
  // The words of GR001, where there is no backward operator.
  std::string NoGradientText() const;
  Status BindGradient(std::shared_ptr<Operator> backward);
  // What is called as the gradient of this operator. See runtime/gradient.h.
  Status CallGradient(const OpwrightArgument* inputs, const OpwrightArgument* outputs,
                      const OpwrightAttr* attrs, int32_t num_attrs,
                      const OpwrightArgument* output_grads, const OpwrightArgument* input_grads);

  // The kernel's object, made at the first use.
  Expected<void*> Instance() { return instance_.Get(*entry_, name()); }

 private:
  friend class Library;
  Operator() = default;
  static uint64_t NextNumber();
  Status Prepare(const CallArguments& arguments, Launch* launch);

  const uint64_t number_ = NextNumber();
  Library* library_ = nullptr;
  const OpwrightOperatorEntry* entry_ = nullptr;
  const OpwrightOpDef* def_ = nullptr;
  std::optional<metadef::Lowered> own_def_;
  LazyInstance instance_;
  std::shared_ptr<Operator> backward_;
  const OpwrightGradient* gradient_ = nullptr;
  struct OwnGradient {
    metadef::Binding binding;
    OpwrightGradient gradient;
  };
  std::unique_ptr<OwnGradient> own_gradient_;
};

// One content, mapped once in this process and never unmapped: frameworks and threads may run its
// code until the process ends. A library with no open handle refuses calls.
class Library : public std::enable_shared_from_this<Library> {
 public:
  Library(std::string path, std::string identity, const OpwrightLibrary* raw);

  const std::string& path() const { return path_; }
  const std::string& identity() const { return identity_; }  // SHA-256 of the file
  const OpwrightLibrary& raw() const { return *raw_; }
  const std::vector<std::shared_ptr<Operator>>& operators() const { return operators_; }
  std::vector<std::string> OperatorNames() const;
  std::shared_ptr<Operator> Find(std::string_view name) const;
  // LD013 with the names that the library has.
  Expected<std::shared_ptr<Operator>> Get(std::string_view name) const;

  // Of the loads, each once.
  std::vector<std::string> warnings() const;
  void Warn(std::string warning);

  void Open() { open_.fetch_add(1, std::memory_order_relaxed); }
  void Close() { open_.fetch_sub(1, std::memory_order_relaxed); }
  bool is_open() const { return open_.load(std::memory_order_relaxed) > 0; }

 private:
  std::string path_;
  std::string identity_;
  const OpwrightLibrary* raw_;
  std::vector<std::shared_ptr<Operator>> operators_;
  std::atomic<int64_t> open_ = 0;
  mutable std::mutex warnings_mutex_;
  std::vector<std::string> warnings_;
};

// A counted claim on an open library.
class LibraryHandle {
 public:
  explicit LibraryHandle(std::shared_ptr<Library> library) : library_(std::move(library)) {
    library_->Open();
  }
  LibraryHandle(LibraryHandle&& other) noexcept = default;
  LibraryHandle& operator=(LibraryHandle&& other) noexcept {
    std::swap(library_, other.library_);
    return *this;
  }
  LibraryHandle(const LibraryHandle& other) : LibraryHandle(other.library_) {}
  LibraryHandle& operator=(const LibraryHandle&) = delete;
  ~LibraryHandle() {
    if (library_ != nullptr) library_->Close();
  }
  Library& operator*() const { return *library_; }
  Library* operator->() const { return library_.get(); }
  const std::shared_ptr<Library>& shared() const { return library_; }

 private:
  std::shared_ptr<Library> library_;
};

}  // namespace opwright

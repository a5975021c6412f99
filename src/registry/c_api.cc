// SPDX-License-Identifier: Apache-2.0
//
// The functions of opwright/c_api.h over the C++ classes. Nothing is thrown past here.
#include "opwright/c_api.h"

#include <algorithm>
#include <exception>
#include <initializer_list>
#include <new>
#include <optional>
#include <utility>

#include "base/text.h"
#include "registry/library.h"
#include "registry/loader.h"
#include "runtime/c_error.h"

struct OpwrightLibraryHandle {
  opwright::LibraryHandle handle;
};

struct OpwrightOperator {
  opwright::LibraryHandle library;  // keeps it open
  std::shared_ptr<opwright::Operator> op;
};

namespace {

using opwright::Status;

// Runs body, which returns a Status, and turns what goes wrong into an error that the caller owns.
template <class Body>
OpwrightError* Guard(const Body& body) noexcept {
  try {
    Status status = body();
    return status.ok() ? nullptr : opwright::ToC(status.error());
  } catch (const std::bad_alloc&) {
    return opwright::ToC(opwright::MakeError("CL010", "no memory"));
  } catch (const std::exception& error) {
    return opwright::ToC(opwright::MakeError("IN001", error.what()));
  } catch (...) {
    return opwright::ToC(
        opwright::MakeError("IN001", "something that is no std::exception was thrown"));
  }
}

// Pointers that must be there, by the names of the parameters.
Status Given(std::initializer_list<std::pair<const void*, const char*>> pointers) {
  for (const auto& [pointer, name] : pointers)
    if (pointer == nullptr)
      return opwright::MakeError("CL016",
                                 opwright::StrCat(name, " is NULL, which says nothing here"));
  return {};
}

}  // namespace

extern "C" {

OpwrightError* opwright_library_load(const char* path, const char* sha256,
                                     OpwrightLibraryHandle** library) {
  return Guard([&]() -> Status {
    OPWRIGHT_RETURN_IF_ERROR(Given({{path, "path"}, {library, "library"}}));
    const auto pin = sha256 != nullptr ? std::optional<std::string>(sha256) : std::nullopt;
    opwright::Expected<opwright::LibraryHandle> handle = opwright::LoadLibrary(path, pin);
    if (!handle.ok()) return handle.TakeError();
    *library = new OpwrightLibraryHandle{std::move(*handle)};
    return {};
  });
}

void opwright_library_close(OpwrightLibraryHandle* library) { delete library; }

const char* opwright_library_path(const OpwrightLibraryHandle* library) {
  return library->handle->path().c_str();
}

const char* opwright_library_identity(const OpwrightLibraryHandle* library) {
  return library->handle->identity().c_str();
}

int32_t opwright_library_num_operators(const OpwrightLibraryHandle* library) {
  return static_cast<int32_t>(library->handle->operators().size());
}

const char* opwright_library_operator_name(const OpwrightLibraryHandle* library, int32_t index) {
  const auto& operators = library->handle->operators();
  return index < 0 || static_cast<size_t>(index) >= operators.size()
             ? nullptr
             : operators[static_cast<size_t>(index)]->name();
}

OpwrightError* opwright_operator_find(OpwrightLibraryHandle* library, const char* name,
                                      OpwrightOperator** op) {
  return Guard([&]() -> Status {
    OPWRIGHT_RETURN_IF_ERROR(Given({{library, "library"}, {name, "name"}, {op, "op"}}));
    opwright::Expected<std::shared_ptr<opwright::Operator>> found = library->handle->Get(name);
    if (!found.ok()) return found.TakeError();
    *op = new OpwrightOperator{library->handle, std::move(*found)};
    return {};
  });
}

void opwright_operator_release(OpwrightOperator* op) { delete op; }

const OpwrightOpDef* opwright_operator_def(const OpwrightOperator* op) {
  return op != nullptr && op->op->has_metadef() ? &op->op->def() : nullptr;
}

namespace {

// A count above 0 without an array.
Status CheckArrays(const OpwrightOperator* op, const OpwrightArgument* inputs, int32_t num_inputs,
                   const void* outputs, int32_t num_outputs) {
  const struct {
    const void* array;
    int32_t count;
    const char* what;
  } given[] = {{inputs, num_inputs, " inputs"}, {outputs, num_outputs, " outputs"}};
  for (const auto& [array, count, what] : given)
    if (count < 0 || (array == nullptr && count > 0))
      return opwright::MakeError("CL001", opwright::StrCat(op->op->name(), ": ", count, what,
                                                           " given, and no array of them"));
  return {};
}

}  // namespace

OpwrightError* opwright_operator_call(OpwrightOperator* op, const OpwrightArgument* inputs,
                                      int32_t num_inputs, const OpwrightArgument* outputs,
                                      int32_t num_outputs, const OpwrightAttr* attrs,
                                      int32_t num_attrs) {
  return Guard([&]() -> Status {
    OPWRIGHT_RETURN_IF_ERROR(Given({{op, "op"}}));
    constexpr int32_t kMost = 256;
    if (num_outputs < 0 || num_outputs > kMost)
      return opwright::MakeError(
          "CL001", opwright::StrCat(num_outputs, " outputs given; 0 to ", kMost, " are supported"));
    OPWRIGHT_RETURN_IF_ERROR(CheckArrays(op, inputs, num_inputs, outputs, num_outputs));
    OpwrightArgument own[kMost];
    std::copy(outputs, outputs + num_outputs, own);
    opwright::CallArguments arguments;
    arguments.inputs = inputs;
    arguments.num_inputs = num_inputs;
    arguments.outputs = own;
    arguments.num_outputs = num_outputs;
    arguments.attrs = attrs;
    arguments.num_attrs = attrs == nullptr ? 0 : num_attrs;
    return op->op->Call(arguments);
  });
}

OpwrightError* opwright_operator_infer(OpwrightOperator* op, const OpwrightArgument* inputs,
                                       int32_t num_inputs, const OpwrightAttr* attrs,
                                       int32_t num_attrs, OpwrightShape* outputs,
                                       int32_t num_outputs) {
  return Guard([&]() -> Status {
    OPWRIGHT_RETURN_IF_ERROR(Given({{op, "op"}}));
    opwright::CallArguments arguments;
    arguments.inputs = inputs;
    arguments.num_inputs = num_inputs;
    arguments.attrs = attrs;
    arguments.num_attrs = attrs == nullptr ? 0 : num_attrs;
    OPWRIGHT_RETURN_IF_ERROR(CheckArrays(op, inputs, num_inputs, outputs, num_outputs));
    const int32_t due = op->op->has_metadef() ? op->op->def().num_outputs : 0;
    if (op->op->has_metadef() && due != num_outputs)
      return opwright::MakeError("CL001",
                                 opwright::StrCat(op->op->name(), ": room for ", num_outputs,
                                                  " outputs, the metadef lists ", due));
    opwright::Arena arena(nullptr);
    auto* inferred = arena.Make<opwright::InferredOutput>(std::max(due, 1));
    OPWRIGHT_RETURN_IF_ERROR(op->op->Infer(arguments, inferred, arena));
    for (int32_t i = 0; i < num_outputs; ++i) {
      if (inferred[i].count != 1)
        return opwright::MakeError(
            "CL001", opwright::StrCat(op->op->name(), ": output ", op->op->def().outputs[i]->name,
                                      " is dynamic; its shapes are those of its tensors"));
      outputs[i].ndim = inferred[i].shapes[0].ndim;
      outputs[i].dtype = inferred[i].dtype;
      std::copy_n(inferred[i].shapes[0].dims, outputs[i].ndim, outputs[i].dims);
    }
    return {};
  });
}

}  // extern "C"

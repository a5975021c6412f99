// SPDX-License-Identifier: Apache-2.0
//
// For C++ programs that use operators: a thin C++17 layer over c_api.h. Link Opwright::opwright.
//
//   opwright::Library library = opwright::Library::Load("libelement_add.so");
//   opwright::Operator add = library["element_add"];
//   std::vector<float> x(8, 1), y(8, 2), z(8);
//   add.Call({{x.data(), {8}}, {y.data(), {8}}}, {{z.data(), {8}}});
//
// What goes wrong is thrown as opwright::Error. An operator may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "opwright/c_api.h"
#include "opwright/view.h"

namespace opwright {
inline namespace v1 {

// A failure: what() has the words, code() the stable id, such as "CL002".
class Error : public std::runtime_error {
 public:
  Error(std::string code, const std::string& message)
      : std::runtime_error(message + " [" + code + "]"), code_(std::move(code)) {}
  const std::string& code() const { return code_; }

 private:
  std::string code_;
};

namespace internal {

inline void ThrowIfError(OpwrightError* error) {
  if (error == nullptr) return;
  Error thrown(error->code, error->message);
  error->destroy(error);
  throw thrown;
}

}  // namespace internal

// Somebody else's memory as a tensor: dense and row-major, or with strides in elements.
class TensorRef {
 public:
  template <class T>
  TensorRef(T* data, std::vector<int64_t> shape, std::vector<int64_t> strides = {})
      : TensorRef(
            const_cast<void*>(static_cast<const void*>(data)),
            ::opwright::detail::DTypeOf<typename ::opwright::detail::RemoveConst<T>::Type>::kValue,
            std::move(shape), std::move(strides)) {}
  TensorRef(void* data, OpwrightDType dtype, std::vector<int64_t> shape,
            std::vector<int64_t> strides = {})
      : shape_(std::move(shape)), strides_(std::move(strides)), data_(data), dtype_(dtype) {
    if (!strides_.empty() && strides_.size() != shape_.size())
      throw Error("CL004", "a tensor of " + std::to_string(shape_.size()) +
                               " dimensions was given " + std::to_string(strides_.size()) +
                               " strides; one for each dimension is due");
  }

  // Valid while this object lives and is not changed.
  OpwrightTensor raw() const {
    OpwrightTensor tensor = {};
    tensor.data = data_;
    tensor.device_type = 1;
    tensor.ndim = static_cast<int32_t>(shape_.size());
    tensor.dtype = dtype_;
    tensor.shape = const_cast<int64_t*>(shape_.data());
    tensor.strides = strides_.empty() ? nullptr : const_cast<int64_t*>(strides_.data());
    return tensor;
  }

 private:
  std::vector<int64_t> shape_;
  std::vector<int64_t> strides_;
  void* data_;
  OpwrightDType dtype_;
};

// An input or output: one tensor, none (an optional one left out), or a list.
class Argument {
 public:
  Argument(TensorRef tensor) : tensors_{std::move(tensor)} {}  // NOLINT: a tensor is an argument
  template <class T>
  Argument(T* data, std::vector<int64_t> shape, std::vector<int64_t> strides = {})
      : tensors_{TensorRef(data, std::move(shape), std::move(strides))} {}
  Argument(std::nullptr_t) {}                                                  // NOLINT
  Argument(std::vector<TensorRef> tensors) : tensors_(std::move(tensors)) {}  // NOLINT
  const std::vector<TensorRef>& tensors() const { return tensors_; }

 private:
  std::vector<TensorRef> tensors_;
};

// An attribute's value, by name.
struct Attribute {
  using Value =
      std::variant<int64_t, double, bool, std::string, std::vector<int64_t>, std::vector<double>,
                   std::vector<std::string>, std::vector<bool>, std::vector<std::vector<int64_t>>>;
  // Any type of number. Throws CL006 when an integer does not fit int64_t.
  template <class Number, std::enable_if_t<std::is_arithmetic_v<Number>, int> = 0>
  Attribute(std::string attribute, Number number)
      : name(std::move(attribute)), value(Of(name, number)) {}
  Attribute(std::string attribute, const char* text)
      : name(std::move(attribute)), value(std::string(text)) {}
  // Lists of other types of numbers: list_int and list_float hold int64_t and double.
  template <class Number, std::enable_if_t<std::is_arithmetic_v<Number>, int> = 0>
  Attribute(std::string attribute, const std::vector<Number>& numbers)
      : name(std::move(attribute)), value(Of(name, numbers)) {}
  Attribute(std::string attribute, Value of) : name(std::move(attribute)), value(std::move(of)) {}
  std::string name;
  Value value;

 private:
  template <class Number>
  using Carrier =
      std::conditional_t<std::is_same_v<Number, bool>, bool,
                         std::conditional_t<std::is_integral_v<Number>, int64_t, double>>;
  template <class Number>
  static Carrier<Number> Of(const std::string& attribute, Number number) {
    if constexpr (std::is_unsigned_v<Number> && sizeof(Number) >= sizeof(int64_t))
      if (number > static_cast<std::make_unsigned_t<int64_t>>(INT64_MAX))
        throw Error("CL006", "attribute " + attribute + " is " + std::to_string(number) +
                                 ", which int64_t does not hold");
    return static_cast<Carrier<Number>>(number);
  }
  template <class Number>
  static std::vector<Carrier<Number>> Of(const std::string& attribute,
                                         const std::vector<Number>& numbers) {
    std::vector<Carrier<Number>> values;
    values.reserve(numbers.size());
    for (const Number number : numbers) values.push_back(Of(attribute, number));
    return values;
  }
};

struct Shape {
  std::vector<int64_t> dims;
  OpwrightDType dtype;
};

class Operator {
 public:
  // Runs the operator on the caller's memory. One argument for each input and output of the
  // metadef.
  void Call(const std::vector<Argument>& inputs, const std::vector<Argument>& outputs,
            const std::vector<Attribute>& attributes = {}) const {
    const Lowered in(inputs);
    const Lowered out(outputs);
    const LoweredAttributes attrs(def(), attributes);
    Call(in.arguments.data(), Size(inputs), out.arguments.data(), Size(outputs),
         attrs.values.data(), Size(attrs.values));
  }
  // The same without a copy of anything, for calls that are counted in nanoseconds.
  void Call(const OpwrightArgument* inputs, int32_t num_inputs, const OpwrightArgument* outputs,
            int32_t num_outputs, const OpwrightAttr* attrs = nullptr, int32_t num_attrs = 0) const {
    internal::ThrowIfError(opwright_operator_call(op_.get(), inputs, num_inputs, outputs,
                                                  num_outputs, attrs, num_attrs));
  }

  // The shape and dtype of each output, without running the kernel.
  std::vector<Shape> Infer(const std::vector<Argument>& inputs,
                           const std::vector<Attribute>& attributes = {}) const {
    const Lowered in(inputs);
    const LoweredAttributes attrs(def(), attributes);
    std::vector<OpwrightShape> raw(static_cast<size_t>(def().num_outputs));
    internal::ThrowIfError(opwright_operator_infer(op_.get(), in.arguments.data(), Size(inputs),
                                                   attrs.values.data(), Size(attrs.values),
                                                   raw.data(), def().num_outputs));
    std::vector<Shape> shapes;
    for (const OpwrightShape& shape : raw)
      shapes.push_back({{shape.dims, shape.dims + shape.ndim}, shape.dtype});
    return shapes;
  }

  // The lowered metadef. Throws RG003 when the library was built without one.
  const OpwrightOpDef& def() const {
    if (op_ == nullptr) throw Error("CL016", "the operator was moved to another handle");
    const OpwrightOpDef* def = opwright_operator_def(op_.get());
    if (def == nullptr) throw Error("RG003", "the kernel has no metadef");
    return *def;
  }
  std::string name() const { return def().name; }

 private:
  friend class Library;
  explicit Operator(OpwrightOperator* op) : op_(op, &opwright_operator_release) {}

  template <class T>
  static int32_t Size(const std::vector<T>& list) {
    return static_cast<int32_t>(list.size());
  }

  struct Lowered {
    explicit Lowered(const std::vector<Argument>& from) {
      size_t count = 0;
      for (const Argument& argument : from) count += argument.tensors().size();
      tensors.reserve(count);  // no element moves from here on
      for (const Argument& argument : from) {
        OpwrightTensor* const first = tensors.data() + tensors.size();
        for (const TensorRef& tensor : argument.tensors()) tensors.push_back(tensor.raw());
        const auto n = static_cast<int64_t>(argument.tensors().size());
        arguments.push_back({n == 0 ? nullptr : first, n});
      }
    }
    std::vector<OpwrightTensor> tensors;
    std::vector<OpwrightArgument> arguments;
  };

  struct LoweredAttributes {
    LoweredAttributes(const OpwrightOpDef& def, const std::vector<Attribute>& from) {
      if (from.empty()) return;
      values.resize(static_cast<size_t>(def.num_attrs));
      for (const Attribute& attribute : from) {
        int32_t index = 0;
        while (index < def.num_attrs && attribute.name != def.attrs[index]->name) ++index;
        if (index < def.num_attrs && values[static_cast<size_t>(index)].type != 0)
          throw Error("CL006",
                      std::string(def.name) + ": attribute " + attribute.name + " was given twice");
        if (index == def.num_attrs)
          throw Error("CL006", std::string(def.name) + ": no attribute is named " + attribute.name +
                                   Known(def));
        values[static_cast<size_t>(index)] = Lower(attribute.value);
      }
    }

    static std::string Known(const OpwrightOpDef& def) {
      std::string names;
      for (int32_t i = 0; i < def.num_attrs; ++i)
        names += (i > 0 ? ", " : "; it has ") + std::string(def.attrs[i]->name);
      return names.empty() ? "; it has no attributes" : names;
    }

    static void CheckText(const std::string& text) {
      if (text.find('\0') != std::string::npos)
        throw Error("CL006",
                    "a text of an attribute has a zero byte, which kernels take for its end");
    }

    OpwrightAttr Lower(const Attribute::Value& value) {
      OpwrightAttr attr = {};
      if (const auto* number = std::get_if<int64_t>(&value)) {
        attr.type = kOpwrightAttrInt;
        attr.value.i = *number;
      } else if (const auto* real = std::get_if<double>(&value)) {
        attr.type = kOpwrightAttrFloat;
        attr.value.f = *real;
      } else if (const auto* flag = std::get_if<bool>(&value)) {
        attr.type = kOpwrightAttrBool;
        attr.value.i = *flag ? 1 : 0;
      } else if (const auto* text = std::get_if<std::string>(&value)) {
        CheckText(*text);
        attr.type = kOpwrightAttrString;
        attr.size = static_cast<int64_t>(text->size());
        attr.value.s = text->c_str();
      } else if (const auto* ints = std::get_if<std::vector<int64_t>>(&value)) {
        attr = List(kOpwrightAttrListInt, ints->size(), ints->data());
      } else if (const auto* reals = std::get_if<std::vector<double>>(&value)) {
        attr = List(kOpwrightAttrListFloat, reals->size(), reals->data());
      } else if (const auto* strings = std::get_if<std::vector<std::string>>(&value)) {
        auto& pointers = Keep<const char*>();
        for (const std::string& string : *strings) {
          CheckText(string);
          pointers.push_back(string.c_str());
        }
        attr = List(kOpwrightAttrListString, pointers.size(), pointers.data());
      } else if (const auto* flags = std::get_if<std::vector<bool>>(&value)) {
        auto& numbers = Keep<int64_t>();
        for (const bool each : *flags) numbers.push_back(each ? 1 : 0);
        attr = List(kOpwrightAttrListBool, numbers.size(), numbers.data());
      } else {
        auto& rows = Keep<OpwrightAttr>();
        for (const auto& row : std::get<std::vector<std::vector<int64_t>>>(value))
          rows.push_back(List(kOpwrightAttrListInt, row.size(), row.data()));
        attr = List(kOpwrightAttrListListInt, rows.size(), rows.data());
      }
      return attr;
    }

    // A list that lives as long as the values do.
    template <class T>
    std::vector<T>& Keep() {
      auto list = std::make_shared<std::vector<T>>();
      kept.push_back(list);
      return *list;
    }

    static OpwrightAttr List(int32_t type, size_t size, const void* data) {
      OpwrightAttr attr = {};
      attr.type = type;
      attr.size = static_cast<int64_t>(size);
      attr.value.data = data;
      return attr;
    }

    std::vector<OpwrightAttr> values;
    std::vector<std::shared_ptr<void>> kept;
  };

  std::shared_ptr<OpwrightOperator> op_;
};

// A loaded operator library. Copies share one handle; operators keep it open.
class Library {
 public:
  // path: absolute, relative, or a bare file name that is looked up in $OPWRIGHT_PATH too. sha256:
  // 64 hex digits that the file must have, or "".
  static Library Load(const std::string& path, const std::string& sha256 = "") {
    OpwrightLibraryHandle* handle = nullptr;
    internal::ThrowIfError(
        opwright_library_load(path.c_str(), sha256.empty() ? nullptr : sha256.c_str(), &handle));
    return Library(handle);
  }

  Operator operator[](const std::string& name) const {
    OpwrightOperator* op = nullptr;
    internal::ThrowIfError(opwright_operator_find(handle_.get(), name.c_str(), &op));
    return Operator(op);
  }

  std::string path() const { return opwright_library_path(handle_.get()); }
  // The SHA-256 of the file.
  std::string identity() const { return opwright_library_identity(handle_.get()); }
  std::vector<std::string> operators() const {
    std::vector<std::string> names;
    for (int32_t i = 0; i < opwright_library_num_operators(handle_.get()); ++i)
      names.emplace_back(opwright_library_operator_name(handle_.get(), i));
    return names;
  }

 private:
  explicit Library(OpwrightLibraryHandle* handle) : handle_(handle, &opwright_library_close) {}
  std::shared_ptr<OpwrightLibraryHandle> handle_;
};

}  // namespace v1
}  // namespace opwright

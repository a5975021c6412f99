// SPDX-License-Identifier: Apache-2.0
//
// A call on numpy arrays: Python's arguments bound to the metadef's inputs and attributes, the
// operator run without the GIL, outputs as new arrays or the ones given by out=.
#include <cstring>
#include <map>

#include "attr_value.h"
#include "base/dtype_name.h"
#include "base/text.h"
#include "bind.h"
#include "numpy_array.h"
#include "numpy_input.h"
#include "numpy_outputs.h"
#include "runtime/strided.h"

namespace opwright::python {
namespace {

// "out" as every call in a program has it; set once.
PyObject* out_name = nullptr;

constexpr int kMost = 64;  // inputs, outputs or attributes of one call on the fast path

int32_t IndexOf(const OpwrightParamDef* const* params, int32_t n, const char* name) {
  for (int32_t i = 0; i < n; ++i)
    if (strcmp(params[i]->name, name) == 0) return i;
  return -1;
}

// One call's arguments. Borrowed references to what the caller holds, owned ones in kept_.
class Call {
 public:
  explicit Call(const OpwrightOpDef& def) : def_(def), arena_(nullptr), taker_(def, arena_) {}

  // False: an argument is of another framework.
  bool Bind(PyObject* args, PyObject* kwargs) {
    const Py_ssize_t positional = PyTuple_Size(args);
    if (def_.num_inputs > kMost || def_.num_outputs > kMost || def_.num_attrs > kMost)
      Raise(MakeError("CL001",
                      StrCat(def_.name, ": more than ", kMost, " inputs, outputs or attributes")));
    if (positional > def_.num_inputs)
      Raise(MakeError("CL001", StrCat(def_.name, ": ", Count(positional, "positional argument"),
                                      " given, the metadef lists ", Count(def_.num_inputs, "input"),
                                      "; attributes are passed by keyword")));
    for (int32_t i = 0; i < def_.num_inputs; ++i)
      given_[i] = i < positional ? PyTuple_GetItem(args, i) : nullptr;
    for (int32_t i = 0; i < def_.num_outputs; ++i) outputs_[i] = {nullptr, 0};
    if (kwargs != nullptr && PyDict_Size(kwargs) > 0) BindKeywords(kwargs, positional);
    for (int32_t i = 0; i < def_.num_inputs; ++i)
      if (!TakeInput(i)) return false;
    return true;
  }

  // Outputs that a gradient call leaves out, and shapes that only it knows.
  void ForGradient(const std::vector<bool>& wanted, const PassedShapes& shapes) {
    for (size_t i = 0; i < kMost; ++i) wanted_[i] = i >= wanted.size() || wanted[i];
    has_wanted_ = !wanted.empty();
    shapes_ = &shapes;
  }

  PyObject* Run(PyOperator& op) {
    NumpyOutputs made(def_, arena_);
    if (out_ != nullptr) TakeOut();
    CallArguments arguments;
    arguments.wanted = has_wanted_ ? wanted_ : nullptr;
    arguments.inputs = inputs_;
    arguments.num_inputs = def_.num_inputs;
    arguments.outputs = outputs_;
    arguments.num_outputs = def_.num_outputs;
    arguments.attrs = attrs_;
    arguments.num_attrs = has_attrs_ ? def_.num_attrs : 0;
    arguments.allocator = out_ != nullptr ? nullptr : &made;
    arguments.known_shapes = KnownShapes();
    Status status = [&] {
      const nb::gil_scoped_release release;
      return op.op->Call(arguments);
    }();
    if (!status.ok()) Raise(status.error());
    if (out_ != nullptr) return Py_NewRef(out_);
    if (made.IsSingle()) return made.Single().release().ptr();
    if (def_.num_outputs == 1) return made.Take(0).release().ptr();
    PyObject* tuple = PyTuple_New(def_.num_outputs);
    for (int32_t i = 0; i < def_.num_outputs; ++i)
      PyTuple_SetItem(tuple, i, made.Take(i).release().ptr());
    return tuple;
  }

  // (shape, dtype) of each output; those of a dynamic one as a list.
  nb::object Infer(PyOperator& op) {
    CallArguments arguments;
    arguments.inputs = inputs_;
    arguments.num_inputs = def_.num_inputs;
    arguments.attrs = attrs_;
    arguments.num_attrs = has_attrs_ ? def_.num_attrs : 0;
    auto* inferred = arena_.Make<InferredOutput>(def_.num_outputs);
    RaiseIfError([&] {
      const nb::gil_scoped_release release;
      return op.op->Infer(arguments, inferred, arena_);
    }());
    nb::list outputs;
    for (int32_t i = 0; i < def_.num_outputs; ++i) {
      for (int64_t k = 0; k < inferred[i].count; ++k) {
        nb::list shape;
        for (int32_t d = 0; d < inferred[i].shapes[k].ndim; ++d)
          shape.append(inferred[i].shapes[k].dims[d]);
        outputs.append(nb::make_tuple(shape, opwright::DTypeName(inferred[i].dtype)));
      }
    }
    return outputs;
  }

 private:
  // The shapes that were passed, one an output, as the dispatcher takes them; null while one that
  // is due is missing, so that it says which.
  const ShapeList* KnownShapes() {
    if (shapes_ == nullptr) return nullptr;
    auto* known = arena_.Make<ShapeList>(def_.num_outputs);
    for (int32_t i = 0; i < def_.num_outputs; ++i) {
      known[i] = {};
      const auto found = shapes_->find(def_.outputs[i]->name);
      if (found != shapes_->end())
        known[i] = ListOf(found->second);
      else if (IsOfCaller(*def_.shape_rules[i]))
        return nullptr;
    }
    return known;
  }

  ShapeList ListOf(const std::vector<std::vector<int64_t>>& passed) {
    const auto count = static_cast<int64_t>(passed.size());
    auto* shapes = arena_.Make<ShapeView>(count);
    for (int64_t k = 0; k < count; ++k) {
      const std::vector<int64_t>& shape = passed[static_cast<size_t>(k)];
      shapes[k] = {static_cast<int32_t>(shape.size()), shape.data()};
    }
    return {count, shapes};
  }

  void BindKeywords(PyObject* kwargs, Py_ssize_t positional) {
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    Py_ssize_t at = 0;
    while (PyDict_Next(kwargs, &at, &key, &value)) {
      if (key == out_name || PyUnicode_CompareWithASCIIString(key, "out") == 0) {
        if (value != Py_None) out_ = value;
        continue;
      }
      const char* name = PyUnicode_AsUTF8AndSize(key, nullptr);
      if (name == nullptr) throw nb::python_error();
      if (const int32_t i = IndexOf(def_.inputs, def_.num_inputs, name); i >= 0) {
        if (i < positional)
          Raise(MakeError("CL001", StrCat(def_.name, ": input ", name, " is given twice")));
        given_[i] = value;
        continue;
      }
      BindAttr(name, value);
    }
  }

  void BindAttr(const char* name, PyObject* value) {
    for (int32_t i = 0; i < def_.num_attrs; ++i) {
      if (strcmp(def_.attrs[i]->name, name) != 0) continue;
      if (!has_attrs_)
        memset(attrs_, 0, sizeof(OpwrightAttr) * static_cast<size_t>(def_.num_attrs));
      has_attrs_ = true;
      attrs_[i] = AttrFromPython(def_, *def_.attrs[i], value, arena_);
      return;
    }
    std::vector<std::string> names;
    for (int32_t i = 0; i < def_.num_inputs; ++i) names.emplace_back(def_.inputs[i]->name);
    for (int32_t i = 0; i < def_.num_attrs; ++i) names.emplace_back(def_.attrs[i]->name);
    names.emplace_back("out");
    const std::string nearest = Nearest(name, names);
    Raise(MakeError(
        "CL006",
        StrCat(def_.name, ": no input or attribute is named ", name, "; there are ", JoinAnd(names),
               nearest.empty() ? "" : StrCat("; did you mean ", nearest, "?"))));
  }

  bool TakeInput(int32_t i) {
    PyObject* value = given_[i];
    if (def_.inputs[i]->kind == kOpwrightDynamic) return TakeList(i, value);
    if (value == nullptr || value == Py_None) {
      inputs_[i] = {nullptr, 0};
      return true;
    }
    if (!taker_.Take(i, value, &tensors_[i])) return false;
    inputs_[i] = {&tensors_[i], 1};
    return true;
  }

  bool TakeList(int32_t i, PyObject* value) {
    if (value == nullptr || (!PyList_Check(value) && !PyTuple_Check(value)))
      Raise(MakeError("CL001", StrCat(def_.name, ": input ", def_.inputs[i]->name,
                                      " takes a list of tensors")));
    const nb::object items = nb::steal(PySequence_Tuple(value));
    const Py_ssize_t n = PyTuple_Size(items.ptr());
    auto* tensors = arena_.Make<OpwrightTensor>(n);
    for (Py_ssize_t k = 0; k < n; ++k)
      if (!taker_.Take(i, PyTuple_GetItem(items.ptr(), k), &tensors[k])) return false;
    kept_.push_back(items);
    inputs_[i] = {tensors, n};
    return true;
  }

  // Whether an output can be written to this.
  bool IsOwnMemory(PyObject* value, OpwrightTensor* tensor) {
    return ViewArray(value, tensor, arena_) == ArrayFit::kOk && IsWriteable(value) &&
           !IsMasked(value);
  }

  void TakeOut() {
    // First: one array for one output, the commonest.
    if (def_.num_outputs == 1 && def_.outputs[0]->kind != kOpwrightDynamic &&
        IsOwnMemory(out_, out_tensors_)) {
      outputs_[0] = {out_tensors_, 1};
      return;
    }
    const bool several = PyTuple_Check(out_) || PyList_Check(out_);
    const Py_ssize_t n = several ? PySequence_Size(out_) : 1;
    // A list for the one output that is a list is no list of outputs.
    const bool is_list = def_.num_outputs == 1 && def_.outputs[0]->kind == kOpwrightDynamic;
    if (n != def_.num_outputs && !is_list)
      Raise(MakeError("CL001", StrCat(def_.name, ": out= holds ", Count(n, "tensor"),
                                      ", the operator has ", Count(def_.num_outputs, "output"))));
    for (int32_t i = 0; i < def_.num_outputs; ++i) {
      const nb::object item =
          several && !is_list ? nb::steal(PySequence_GetItem(out_, i)) : nb::borrow(out_);
      if (item.is_none() && def_.outputs[i]->kind == kOpwrightOptional) {
        outputs_[i] = {nullptr, 0};
        continue;
      }
      if (def_.outputs[i]->kind == kOpwrightDynamic)
        Raise(MakeError("CL008",
                        StrCat(def_.name, ": out= is not taken for output ", def_.outputs[i]->name,
                               ", which is a list of tensors; call without out=")));
      if (!IsOwnMemory(item.ptr(), &out_tensors_[i]))
        Raise(MakeError("CL008", StrCat(def_.name, ": out= for ", def_.outputs[i]->name,
                                        " must be a writeable numpy array of plain "
                                        "memory, in this machine's byte order")));
      outputs_[i] = {&out_tensors_[i], 1};
      if (several) kept_.push_back(item);  // a list may change while the GIL is released
    }
  }

  const OpwrightOpDef& def_;
  Arena arena_;
  InputTaker taker_;
  PyObject* given_[kMost];
  PyObject* out_ = nullptr;
  bool has_attrs_ = false;
  OpwrightArgument inputs_[kMost];
  OpwrightArgument outputs_[kMost];
  OpwrightTensor tensors_[kMost];
  OpwrightTensor out_tensors_[kMost];
  OpwrightAttr attrs_[kMost];
  uint8_t wanted_[kMost];
  bool has_wanted_ = false;
  const PassedShapes* shapes_ = nullptr;
  std::vector<nb::object> kept_;
};

PyObject* CallNumpy(PyOperator& op, PyObject* args, PyObject* kwargs) {
  if (!op.op->has_metadef()) RaiseIfError(op.op->Call({}));
  Call call(op.op->def());
  if (!call.Bind(args, kwargs)) return Py_NewRef(Py_NotImplemented);
  return call.Run(op);
}

PyObject* CallNumpyFast(PyObject* self, PyObject* const* args, Py_ssize_t) {
  try {
    return CallNumpy(*nb::inst_ptr<PyOperator>(self), args[0], args[1]);
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

}  // namespace

nb::object CallNumpyForGradient(PyOperator& op, const nb::tuple& args, const nb::dict& kwargs,
                                const std::vector<bool>& wanted, const PassedShapes& shapes) {
  Call call(op.op->def());
  if (!call.Bind(args.ptr(), kwargs.ptr())) return nb::borrow(Py_NotImplemented);
  call.ForGradient(wanted, shapes);
  return nb::steal(call.Run(op));
}

nb::object InferNumpy(PyOperator& op, PyObject* args, PyObject* kwargs) {
  if (!op.op->has_metadef()) RaiseIfError(op.op->Call({}));
  Call call(op.op->def());
  if (!call.Bind(args, kwargs))
    Raise(MakeError("CL013", StrCat(op.op->name(), ": infer takes things with shape and dtype")));
  return call.Infer(op);
}

nb::object NumpyCaller(nb::handle op) {
  // As METH_FASTCALL wants it: a function of three parameters behind the type of one of two.
  static PyMethodDef method = {
      "call_numpy", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&CallNumpyFast)),
      METH_FASTCALL,
      "args: a tuple; kwargs: a dict. NotImplemented for another framework's tensors."};
  return nb::steal(PyCFunction_NewEx(&method, op.ptr(), nullptr));
}

void InitNumpy(nb::module_&) {
  ImportNumpy();
  out_name = PyUnicode_InternFromString("out");
}

}  // namespace opwright::python

// SPDX-License-Identifier: Apache-2.0
#include "attr_value.h"

#include <cstring>

#include "base/spelling.h"
#include "base/text.h"
#include "bind.h"
#include "numpy_array.h"
#include "runtime/attrs.h"

namespace opwright::python {
namespace {

class Converter {
 public:
  Converter(const OpwrightOpDef& def, const OpwrightAttrDef& attr, PyObject* whole, Arena& arena)
      : def_(def), attr_(attr), whole_(whole), arena_(arena) {}

  OpwrightAttr Convert(PyObject* value, int32_t type) {
    const nb::object plain = WithoutNumpy(value);
    value = plain.ptr();
    OpwrightAttr out = {type, 0, 0, {}};
    switch (type) {
      case kOpwrightAttrInt:
        out.value.i = Int(value);
        break;
      case kOpwrightAttrFloat:
        out.value.f = Float(value);
        break;
      case kOpwrightAttrBool:
        out.value.i = Bool(value);
        break;
      case kOpwrightAttrString:
        out.value.s = Text(value, &out.size);
        break;
      case kOpwrightAttrType:
        out.value.s = Text(DTypeName(value).ptr(), &out.size);
        break;
      case kOpwrightAttrListInt:
        List<int64_t>(value, &out, [&](PyObject* item) { return Int(item); });
        break;
      case kOpwrightAttrListBool:
        List<int64_t>(value, &out, [&](PyObject* item) { return Bool(item); });
        break;
      case kOpwrightAttrListFloat:
        List<double>(value, &out, [&](PyObject* item) { return Float(item); });
        break;
      case kOpwrightAttrListString:
        List<const char*>(value, &out, [&](PyObject* item) {
          int64_t size;
          return Text(item, &size);
        });
        break;
      default:
        List<OpwrightAttr>(value, &out,
                           [&](PyObject* item) { return Convert(item, kOpwrightAttrListInt); });
    }
    return out;
  }

 private:
  // The whole value is said, not the item of it that does not fit.
  [[noreturn]] void Fail() {
    const std::string given = nb::cast<std::string>(nb::repr(nb::handle(whole_)));
    const bool is_wide = attr_.type == kOpwrightAttrInt && PyLong_CheckExact(whole_);
    Raise(MakeError("CL006", StrCat(def_.name, ": attribute ", attr_.name, " is ",
                                    AttrTypeName(attr_.type), is_wide ? " of 64 bits" : "",
                                    " in the metadef, ", given.substr(0, 80), " was given")));
  }

  // An array as a list, a number of numpy as Python's. A masked item is None, which fits nothing.
  static nb::object WithoutNumpy(PyObject* value) {
    return IsOfNumpy(value) ? nb::handle(value).attr("tolist")() : nb::borrow(value);
  }

  int64_t Int(PyObject* value) {
    if (!PyLong_Check(value) || PyBool_Check(value)) Fail();
    const int64_t number = PyLong_AsLongLong(value);
    if (number == -1 && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      Fail();
    }
    return number;
  }

  double Float(PyObject* value) {
    if (PyBool_Check(value) || (!PyFloat_Check(value) && !PyLong_Check(value))) Fail();
    const double number = PyFloat_AsDouble(value);
    if (number == -1.0 && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      Fail();
    }
    return number;
  }

  int64_t Bool(PyObject* value) {
    if (!PyBool_Check(value)) Fail();
    return value == Py_True;
  }

  const char* Text(PyObject* value, int64_t* size) {
    if (!PyUnicode_Check(value)) Fail();
    Py_ssize_t length = 0;
    const char* text = PyUnicode_AsUTF8AndSize(value, &length);
    if (text == nullptr) throw nb::python_error();
    if (strlen(text) != static_cast<size_t>(length)) Fail();  // kernels see C strings
    char* copy = arena_.Make<char>(length + 1);
    memcpy(copy, text, static_cast<size_t>(length) + 1);
    *size = length;
    return copy;
  }

  // "float32" of a string, a numpy dtype or type, a framework's dtype.
  nb::object DTypeName(PyObject* value) {
    if (value == Py_None) Fail();
    if (PyUnicode_Check(value)) return nb::borrow(value);
    return nb::module_::import_("opwright._dtypes").attr("name_of")(nb::handle(value));
  }

  template <class T, class ToItem>
  void List(PyObject* value, OpwrightAttr* out, const ToItem& to_item) {
    if (!PyList_Check(value) && !PyTuple_Check(value) && !PyRange_Check(value)) Fail();
    const nb::object items = nb::steal(PySequence_Tuple(value));
    if (!items.is_valid()) throw nb::python_error();
    const Py_ssize_t n = PyTuple_Size(items.ptr());
    T* data = arena_.Make<T>(n);
    for (Py_ssize_t k = 0; k < n; ++k)
      data[k] = to_item(WithoutNumpy(PyTuple_GetItem(items.ptr(), k)).ptr());
    out->size = n;
    out->value.data = data;
  }

  const OpwrightOpDef& def_;
  const OpwrightAttrDef& attr_;
  PyObject* whole_;
  Arena& arena_;
};

template <class T, class Make>
nb::list ListToPython(const OpwrightAttr& attr, const Make& make) {
  nb::list out;
  for (int64_t k = 0; k < attr.size; ++k)
    out.append(make(static_cast<const T*>(attr.value.data)[k]));
  return out;
}

}  // namespace

OpwrightAttr AttrFromPython(const OpwrightOpDef& def, const OpwrightAttrDef& attr, PyObject* value,
                            Arena& arena) {
  return Converter(def, attr, value, arena).Convert(value, attr.type);
}

nb::object AttrToPython(const OpwrightAttr& attr) {
  switch (attr.type) {
    case kOpwrightAttrInt:
      return nb::int_(attr.value.i);
    case kOpwrightAttrFloat:
      return nb::float_(attr.value.f);
    case kOpwrightAttrBool:
      return nb::bool_(attr.value.i != 0);
    case kOpwrightAttrString:
    case kOpwrightAttrType:
      return nb::str(attr.value.s, static_cast<size_t>(attr.size));
    case kOpwrightAttrListInt:
      return ListToPython<int64_t>(attr, [](int64_t v) { return nb::int_(v); });
    case kOpwrightAttrListBool:
      return ListToPython<int64_t>(attr, [](int64_t v) { return nb::bool_(v != 0); });
    case kOpwrightAttrListFloat:
      return ListToPython<double>(attr, [](double v) { return nb::float_(v); });
    case kOpwrightAttrListString:
      return ListToPython<const char*>(attr, [](const char* v) { return nb::str(v); });
    case kOpwrightAttrListListInt:
      return ListToPython<OpwrightAttr>(attr,
                                        [](const OpwrightAttr& v) { return AttrToPython(v); });
    default:
      return nb::none();
  }
}

}  // namespace opwright::python

// SPDX-License-Identifier: Apache-2.0
//
// Errors of the core as Python exceptions, the table of error ids, and words for them.
#include "base/ids.h"
#include "base/text.h"
#include "bind.h"

namespace opwright::python {

void Raise(const Error& error) {
  nb::list diagnostics;
  for (const Diagnostic& d : error.diagnostics) {
    nb::dict row;
    row["id"] = d.id;
    row["severity"] = SeverityName(d.severity);
    row["file"] = d.file;
    row["line"] = d.line;
    row["column"] = d.column;
    row["message"] = d.message;
    row["hint"] = d.hint;
    row["text"] = Render(d);
    diagnostics.append(row);
  }
  const nb::object made =
      nb::module_::import_("opwright._errors").attr("make")(error.id, error.Text(), diagnostics);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
  throw nb::python_error();
}

void InitErrors(nb::module_& m) {
  m.def(
      "error_ids",
      [] {
        nb::list rows;
        for (const ErrorId& row : AllErrorIds())
          rows.append(nb::make_tuple(std::string(row.id), row.acl_code, std::string(row.summary),
                                     std::string(row.cause), std::string(row.cure)));
        return rows;
      },
      "The rows of the table of errors: id, acl code, summary, cause, cure.");
  m.def(
      "nearest",
      [](const std::string& word, const std::vector<std::string>& candidates) {
        return Nearest(word, candidates);
      },
      "The candidate that the word was probably meant to be; \"\" when none is near.");
}

}  // namespace opwright::python

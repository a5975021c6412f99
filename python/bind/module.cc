// SPDX-License-Identifier: Apache-2.0
//
// opwright._core: the core as Python sees it. Each topic is a file of its own beside this one.
#include "bind.h"
#include "opwright/c_api.h"

NB_MODULE(_core, m) {
  m.doc() = "The core of Opwright.";
  // Frameworks hold operators until the process ends: that is no leak.
  nanobind::set_leak_warnings(false);
  m.def("version", &opwright_version, "The version of libopwright.so, such as \"0.1.0\".");
  opwright::python::InitErrors(m);
  opwright::python::InitNumpy(m);
  opwright::python::InitLibrary(m);
  opwright::python::InitDef(m);
  opwright::python::InitMemory(m);
  opwright::python::InitAcl(m);
  opwright::python::InitTools(m);
}

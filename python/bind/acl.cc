// SPDX-License-Identifier: Apache-2.0
//
// The acl form's registry, for the compatibility package.
#include "registry/acl_registry.h"

#include "bind.h"

namespace opwright::python {

void InitAcl(nb::module_& m) {
  nb::module_ acl = m.def_submodule(
      "acl", "The registry of the acl form. Errors raise; the compatibility package makes codes.");
  acl.def("load", [](const std::string& path) { RaiseIfError(AclRegistry::Get().Load(path)); });
  acl.def("register",
          [](const std::string& name) { RaiseIfError(AclRegistry::Get().Register(name)); });
  acl.def("model",
          [](const std::string& name, const std::string& metadef, const std::string& kernel) {
            RaiseIfError(AclRegistry::Get().Model(name, metadef, kernel));
          });
  acl.def("gradient", [](const std::string& name, const std::string& metadef) {
    RaiseIfError(AclRegistry::Get().Gradient(name, metadef));
  });
  acl.def("unregister",
          [](const std::string& name) { RaiseIfError(AclRegistry::Get().Unregister(name)); });
  acl.def("names", [] { return AclRegistry::Get().Names(); }, "The operators that can be called.");
  acl.def("find", [](const std::string& name) {
    std::shared_ptr<Operator> op = ValueOrRaise(AclRegistry::Get().Find(name));
    return PyOperator{std::make_shared<Claim>(LibraryHandle(op->library().shared_from_this())), op};
  });
}

}  // namespace opwright::python

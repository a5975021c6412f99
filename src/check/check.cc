// SPDX-License-Identifier: Apache-2.0
#include "check/check.h"

#include <set>

#include "base/file.h"
#include "build/build.h"
#include "check/load_probe.h"
#include "registry/loader.h"

namespace opwright::check {
namespace {

// A folder is built first. The library stays in the cache until it is loaded.
Expected<build::Result> LibraryOf(const std::string& path) {
  build::Result given;
  given.path = path;
  if (!IsDirectory(path)) return given;
  build::Request request;
  request.sources = {path};
  return build::Build(request);
}

std::vector<std::shared_ptr<Operator>> Checked(const Library& library, const Operator* only) {
  // A backward operator without a gradient of its own is checked through its forward operator.
  std::set<const Operator*> through;
  for (const auto& op : library.operators())
    if (op->backward() != nullptr && op->backward()->backward() == nullptr)
      through.insert(op->backward());
  std::vector<std::shared_ptr<Operator>> checked;
  for (const auto& op : library.operators()) {
    const bool asked = only == nullptr || op.get() == only || op->backward() == only;
    if (asked && !through.contains(op.get())) checked.push_back(op);
  }
  return checked;
}

}  // namespace

Expected<Report> CheckLibrary(const std::string& path, const Options& options) {
  Expected<build::Result> file = LibraryOf(path);
  if (!file.ok()) return file.TakeError();
  if (std::optional<Finding> finding = ProbeLoad(file->path, options.timeout_seconds)) {
    Report report;
    report.path = path;
    report.seed = options.seed;
    report.findings.push_back(std::move(*finding));
    report.warnings = std::move(file->warnings);
    return report;
  }
  Expected<LibraryHandle> library = LoadLibrary(file->path);
  if (!library.ok()) return library.TakeError();
  Expected<Report> report = CheckLibrary(**library, options);
  if (report.ok()) {
    report->path = path;
    report->warnings = std::move(file->warnings);
  }
  return report;
}

Expected<Report> CheckLibrary(const Library& library, const Options& options) {
  const Operator* only = nullptr;
  if (!options.op.empty()) {
    Expected<std::shared_ptr<Operator>> found = library.Get(options.op);
    if (!found.ok()) return found.TakeError();
    only = found->get();
  }
  Report report;
  report.path = library.path();
  report.seed = options.seed;
  for (const std::shared_ptr<Operator>& op : Checked(library, only))
    report.operators.push_back(CheckOperator(*op, options));
  return report;
}

}  // namespace opwright::check

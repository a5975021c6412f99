// SPDX-License-Identifier: Apache-2.0
#include "check/check.h"

#include <set>

#include "base/file.h"
#include "build/build.h"
#include "registry/loader.h"

namespace opwright::check {

Verdict Report::verdict() const {
  Verdict verdict = operators.empty() ? Verdict::kUndecided : Verdict::kRight;
  for (const OperatorReport& op : operators) {
    if (op.verdict == Verdict::kWrong) return Verdict::kWrong;
    if (op.verdict == Verdict::kUndecided) verdict = Verdict::kUndecided;
  }
  return verdict;
}

const char* VerdictName(Verdict verdict) {
  return verdict == Verdict::kRight ? "right" : verdict == Verdict::kWrong ? "wrong" : "undecided";
}

namespace {

// A folder is built first.
Expected<LibraryHandle> Open(const std::string& path) {
  if (!IsDirectory(path)) return LoadLibrary(path);
  build::Request request;
  request.sources = {path};
  Expected<build::Result> built = build::Build(request);
  if (!built.ok()) return built.TakeError();
  return LoadLibrary(built->path);
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
  Expected<LibraryHandle> library = Open(path);
  if (!library.ok()) return library.TakeError();
  Expected<Report> report = CheckLibrary(**library, options);
  if (report.ok()) report->path = path;
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

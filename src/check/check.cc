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

}  // namespace

Expected<Report> CheckLibrary(const std::string& path, const Options& options) {
  Report report;
  report.path = path;
  report.seed = options.seed;
  Expected<LibraryHandle> library = Open(path);
  if (!library.ok()) return library.TakeError();
  // A backward operator without a gradient of its own is checked through its forward operator.
  std::set<const Operator*> backward;
  for (const auto& op : (*library)->operators())
    if (op->backward() != nullptr && op->backward()->backward() == nullptr)
      backward.insert(op->backward());
  if (!options.op.empty()) {
    Expected<std::shared_ptr<Operator>> found = (*library)->Get(options.op);
    if (!found.ok()) return found.TakeError();
    for (const auto& op : (*library)->operators())
      if (op.get() == found->get() ? !backward.contains(op.get()) : op->backward() == found->get())
        report.operators.push_back(CheckOperator(*op, options));
    return report;
  }
  for (const auto& op : (*library)->operators())
    if (!backward.contains(op.get())) report.operators.push_back(CheckOperator(*op, options));
  return report;
}

}  // namespace opwright::check

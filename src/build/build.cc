// SPDX-License-Identifier: Apache-2.0
#include "build/build.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

#include "base/cache_folder.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/text.h"
#include "build/cache.h"
#include "build/compile.h"
#include "build/link.h"
#include "build/manifest.h"
#include "build/output.h"
#include "build/plan.h"
#include "build/process.h"
#include "build/stub.h"
#include "build/toolchain.h"

namespace opwright::build {
namespace {

// One attempt to build: a plan and what its keys are made of.
class Builder {
 public:
  Builder(const Request& request, Cache* cache, const Toolchain& toolchain, bool last_attempt)
      : request_(request), cache_(*cache), toolchain_(toolchain), last_attempt_(last_attempt) {}

  // Nothing when a file changed while it was compiled.
  Expected<std::optional<Result>> Run() {
    Expected<Plan> plan = MakePlan(request_);
    if (!plan.ok()) return plan.TakeError();
    plan_ = std::move(*plan);
    if (!request_.output.empty())
      OPWRIGHT_RETURN_IF_ERROR(CheckOutput(AbsolutePath(request_.output), plan_));
    result_.warnings = plan_.warnings;
    OPWRIGHT_RETURN_IF_ERROR(MakeJobs());

    Expected<std::optional<std::string>> hit = Lookup();
    if (!hit.ok()) return hit.TakeError();
    if (!hit->has_value()) {
      Expected<FileLock> lock = cache_.Lock(RequestKey());
      if (!lock.ok()) return lock.TakeError();
      hit = Lookup();
      if (!hit.ok()) return hit.TakeError();
      if (!hit->has_value()) {
        Expected<std::optional<std::string>> made = Make();
        if (!made.ok()) {
          // A misspelt field of the metadef may be why the kernel does not fit it.
          Error error = made.TakeError();
          error.diagnostics.insert(error.diagnostics.begin(), plan_.warnings.begin(),
                                   plan_.warnings.end());
          return error;
        }
        if (!made->has_value()) return std::optional<Result>();
        result_.path = **made;
        return std::optional<Result>(std::move(result_));
      }
    }
    result_.cache_hit = true;
    result_.path = **hit;
    return std::optional<Result>(std::move(result_));
  }

 private:
  Status MakeJobs() {
    StubRequest stub;
    for (const std::string& name : plan_.names) {
      StubOperator op{name, nullptr};
      for (size_t i = 0; i < plan_.operators.size(); ++i)
        if (plan_.operators[i].name == name) op.def = &plan_.lowered[i].def();
      stub.operators.push_back(op);
    }
    stub.compiler = toolchain_.cxx.version;
    stub.march = plan_.flags.march;
    stub.opwright_version = OPWRIGHT_VERSION;
    const Assumed assumed = AssumedBy(toolchain_.cxx, plan_.flags, cache_);
    stub.features = assumed.features;
    exports_ = StubExports(stub);
    exports_.insert(exports_.end(), plan_.functions.begin(), plan_.functions.end());
    for (const Unit& unit : plan_.units)
      jobs_.push_back(UnitJob(unit, plan_, toolchain_.cxx, assumed));
    jobs_.push_back(StubJob(StubText(stub), toolchain_.c));

    Expected<std::string> archive = EntryArchive();
    if (!archive.ok()) return archive.TakeError();
    Sha256 hash;
    hash.Field(BuildIdentity()).Field(toolchain_.cxx.identity).Field(CompilerEnvironment());
    for (const std::string& flag : BaseLinkFlags()) hash.Field(flag);
    for (const std::string& flag : plan_.flags.link) hash.Field(flag);
    for (const std::string& name : exports_) hash.Field(name);
    std::vector<std::string> files = plan_.inputs.objects;
    files.insert(files.end(), plan_.flags.libraries.begin(), plan_.flags.libraries.end());
    files.push_back(*archive);
    for (const std::string& file : files) {
      Expected<std::string> content = cache_.ContentHash(file);
      if (!content.ok()) return WithId(content.TakeError(), "BD001");
      hash.Field(file).Field(*content);
    }
    link_key_ = hash.Hex();
    return {};
  }

  // Of all that is known before headers are: what is built once among many that ask.
  std::string RequestKey() const {
    Sha256 hash;
    hash.Field(link_key_);
    for (const CompileJob& job : jobs_) hash.Field(job.base_key);
    return hash.Hex();
  }

  std::string LibraryName() const {
    if (!plan_.names.empty()) return plan_.names[0];
    if (!plan_.functions.empty()) return plan_.functions[0];
    return "library";
  }

  // Of all that is known before the linker tells what it read.
  std::string LinkBaseKey(const std::vector<std::string>& object_keys) const {
    Sha256 hash;
    hash.Field(link_key_);
    for (const std::string& key : object_keys) hash.Field(key);
    return hash.Hex();
  }

  std::string LinkManifest(const std::string& base_key) const {
    return JoinPath(cache_.Manifests(), StrCat("link-", base_key.substr(0, 40), ".txt"));
  }

  // state: of the files that were linked.
  std::string LibraryPath(const std::string& base_key, const std::string& state) const {
    Sha256 hash;
    hash.Field(base_key).Field(state);
    return JoinPath(cache_.Libraries(),
                    StrCat(LibraryName(), "-", hash.Hex().substr(0, 20), ".so"));
  }

  // The library of these inputs, if the cache has it whole.
  Expected<std::optional<std::string>> Lookup() {
    std::vector<std::string> keys;
    for (const CompileJob& job : jobs_) {
      std::optional<std::string> key = KnownKey(cache_, job);
      if (!key.has_value()) return std::optional<std::string>();
      keys.push_back(std::move(*key));
    }
    const std::string base_key = LinkBaseKey(keys);
    const std::optional<std::string> state = Manifest::CurrentState(LinkManifest(base_key));
    if (!state.has_value()) return std::optional<std::string>();
    const std::string path = LibraryPath(base_key, *state);
    const Presence presence = CheckPublished(path);
    if (presence == Presence::kWhole) return std::optional<std::string>(path);
    if (presence == Presence::kDamaged && !damage_told_) {
      damage_told_ = true;
      Diagnostic warning;
      warning.id = "CA005";
      warning.severity = Severity::kWarning;
      warning.message = StrCat("the cached library ", path,
                               " is not what was written there (truncated or changed)");
      warning.hint = "it is built again";
      result_.warnings.push_back(std::move(warning));
    }
    return std::optional<std::string>();
  }

  // Compiles and links, under the key's lock.
  Expected<std::optional<std::string>> Make() {
    std::vector<std::optional<Expected<Compiled>>> done(jobs_.size());
    std::atomic<size_t> next{0};
    const auto work = [&] {
      for (size_t i = next++; i < jobs_.size(); i = next++)
        done[i] = CompileObject(cache_, jobs_[i], last_attempt_);
    };
    {
      std::vector<std::jthread> helpers;
      const size_t threads = std::min(jobs_.size(), static_cast<size_t>(CompileJobs()));
      for (size_t i = 1; i < threads; ++i) helpers.emplace_back(work);
      work();
    }

    LinkJob link;
    std::vector<std::string> keys;
    for (size_t i = 0; i < jobs_.size(); ++i) {
      Expected<Compiled>& compiled = *done[i];
      if (!compiled.ok()) return compiled.TakeError();
      if (compiled->ran) result_.commands.push_back(compiled->command);
      if (compiled->unsteady) {
        if (last_attempt_)
          return MakeError("BD028", StrCat(jobs_[i].source,
                                           " changes while it is compiled: build again when it is "
                                           "written"));
        return std::optional<std::string>();
      }
      result_.warnings.insert(result_.warnings.end(), compiled->warnings.begin(),
                              compiled->warnings.end());
      keys.push_back(compiled->key);
      link.objects.push_back(ObjectPath(cache_, compiled->key));
      if (!jobs_[i].source.empty()) link.sources[link.objects.back()] = jobs_[i].source;
    }
    link.exports = exports_;
    link.name = LibraryName();
    Expected<TempFolder> scratch = TempFolder::Make(cache_.Temporary());
    if (!scratch.ok()) return WithId(scratch.TakeError(), "CA003");
    const std::string made = JoinPath(scratch->path(), "out.so");
    Expected<Linked> linked =
        LinkLibrary(cache_, link, plan_, toolchain_.cxx, scratch->path(), made);
    if (!linked.ok()) return linked.TakeError();
    result_.commands.push_back(linked->command);
    if (linked->unsteady && !last_attempt_) return std::optional<std::string>();
    const std::string base_key = LinkBaseKey(keys);
    const Searched searched = SearchedFor(linked->files, plan_.flags.library_dirs);
    // Where the list is not whole nothing tells whether the library is up to date: it is linked
    // anew each time.
    Expected<std::string> state =
        linked->lists_all ? Manifest::Write(LinkManifest(base_key), searched, FindRivals(searched))
                          : Sha256OfFile(made);
    if (!state.ok()) return WithId(state.TakeError(), "CA003");
    std::string path = LibraryPath(base_key, *state);
    OPWRIGHT_RETURN_IF_ERROR(Publish(made, path));
    return std::optional<std::string>(std::move(path));
  }

  const Request& request_;
  Cache& cache_;
  const Toolchain& toolchain_;
  const bool last_attempt_;
  Plan plan_;
  std::vector<CompileJob> jobs_;  // the units, then the stub
  std::vector<std::string> exports_;
  std::string link_key_;
  bool damage_told_ = false;
  Result result_;
};

}  // namespace

Expected<Result> BuildIn(Cache* cache, const Toolchain& toolchain, const Request& request) {
  constexpr int kAttempts = 3;
  Expected<FileLock> kept = LockEntries(cache->root(), FileLock::Kind::kShared);
  if (!kept.ok()) return kept.TakeError();
  for (int attempt = 1;; ++attempt) {
    Expected<std::optional<Result>> built =
        Builder(request, cache, toolchain, attempt == kAttempts).Run();
    if (!built.ok()) return built.TakeError();
    if (!built->has_value()) continue;
    Result result = std::move(**built);
    result.kept = std::move(*kept);
    result.warnings.insert(result.warnings.begin(), cache->warnings().begin(),
                           cache->warnings().end());
    if (!request.output.empty()) {
      const std::string output = AbsolutePath(request.output);
      OPWRIGHT_RETURN_IF_ERROR(CopyOut(result.path, output));
      result.path = output;
    }
    return result;
  }
}

Expected<Result> Build(const Request& request) {
  Expected<Cache> cache = Cache::Open();
  if (!cache.ok()) return cache.TakeError();
  Expected<Toolchain> toolchain = FindToolchain(*cache);
  if (!toolchain.ok()) return toolchain.TakeError();
  return BuildIn(&*cache, *toolchain, request);
}

}  // namespace opwright::build

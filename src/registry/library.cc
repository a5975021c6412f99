// SPDX-License-Identifier: Apache-2.0
#include "registry/library.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "registry/host.h"
#include "registry/signature_fit.h"
#include "runtime/gradient.h"

namespace opwright {

Operator::Operator(Library* library, const OpwrightOperatorEntry* entry)
    : library_(library), entry_(entry), def_(entry->def) {}

uint64_t Operator::NextNumber() {
  static std::atomic<uint64_t> last = 0;
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

const char* Operator::name() const { return def_ != nullptr ? def_->name : entry_->kernel->name; }

Expected<std::shared_ptr<Operator>> Operator::Bind(const Operator& kernel,
                                                   const metadef::Operator& metadef) {
  Expected<metadef::Lowered> lowered = metadef::Lower(metadef, {});
  if (!lowered.ok()) return lowered.TakeError();
  OPWRIGHT_RETURN_IF_ERROR(FitsKernel(*kernel.entry_, lowered->def()));
  std::shared_ptr<Operator> bound(new Operator);
  bound->library_ = kernel.library_;
  bound->entry_ = kernel.entry_;
  bound->own_def_ = std::move(*lowered);
  bound->def_ = &bound->own_def_->def();
  return bound;
}

Operator::~Operator() {
  // Of bound operators alone: those of a library stay until the process ends.
  if (!instance_.is_made() || entry_->kernel->destroy == nullptr) return;
  entry_->kernel->destroy(instance_.object());
}

Status Operator::CheckUsable() const {
  if (!library_->is_open())
    return MakeError(
        "CL014", StrCat(name(), ": its library ", library_->path(), " was closed; load it again"));
  if (def_ == nullptr)
    return MakeError(
        "RG003",
        StrCat(name(),
               ": no metadef is bound to this kernel; call register_operator_model, or build "
               "the library with its op.json"));
  return {};
}

Status Operator::Prepare(const CallArguments& arguments, Launch* launch) {
  if (!library_->is_open() || def_ == nullptr) return CheckUsable();
  Expected<void*> instance = Instance();
  if (!instance.ok()) return instance.TakeError();
  launch->entry = entry_;
  launch->def = def_;
  launch->instance = *instance;
  launch->host = DefaultHost();
  launch->inputs = arguments.inputs;
  launch->num_inputs = arguments.num_inputs;
  launch->outputs = arguments.outputs;
  launch->num_outputs = arguments.num_outputs;
  launch->attrs = arguments.attrs;
  launch->num_attrs = arguments.num_attrs;
  launch->allocator = arguments.allocator;
  launch->wanted = arguments.wanted;
  launch->known_shapes = arguments.known_shapes;
  return {};
}

Status Operator::Call(const CallArguments& arguments) {
  Launch launch;
  OPWRIGHT_RETURN_IF_ERROR(Prepare(arguments, &launch));
  return Run(launch);
}

Status Operator::Infer(const CallArguments& arguments, InferredOutput* result, Arena& arena) {
  Launch launch;
  OPWRIGHT_RETURN_IF_ERROR(Prepare(arguments, &launch));
  return opwright::Infer(launch, result, arena);
}

Status Operator::BindGradient(std::shared_ptr<Operator> backward) {
  // The library's own metadefs were bound by the build: their indices fit.
  if (def_->gradient != nullptr && backward->def().name == std::string_view(def_->gradient->op) &&
      backward->library_ == library_ && !own_def_.has_value() && !backward->own_def_.has_value()) {
    gradient_ = def_->gradient;
    backward_ = std::move(backward);
    return {};
  }
  const metadef::ReadResult forward = metadef::Read(def_->json, name());
  const metadef::ReadResult other = metadef::Read(backward->def().json, backward->name());
  if (forward.operators.size() != 1 || other.operators.size() != 1)
    return MakeError("IN001", StrCat("the metadef of ", name(), " or ", backward->name(),
                                     " does not read back"));
  metadef::Operator spec = forward.operators[0];
  // Bound by hand: by the rule of names, unless the forward metadef spells the lists out.
  if (!spec.gradient.long_form || spec.gradient.op != backward->name()) {
    spec.gradient = {};
    spec.gradient.kind = metadef::GradientSpec::Kind::kOperator;
    spec.gradient.op = backward->name();
  }
  Expected<metadef::Binding> binding = metadef::BindGradient(spec, other.operators[0]);
  if (!binding.ok()) return binding.TakeError();
  auto own = std::make_unique<OwnGradient>();
  own->binding = std::move(*binding);
  own->gradient = {sizeof(OpwrightGradient),
                   backward->name(),
                   static_cast<int32_t>(own->binding.inputs.size()),
                   static_cast<int32_t>(own->binding.outputs.size()),
                   own->binding.inputs.data(),
                   own->binding.outputs.data()};
  own_gradient_ = std::move(own);
  gradient_ = &own_gradient_->gradient;
  backward_ = std::move(backward);
  return {};
}

std::string Operator::MissingBackward() const {
  if (backward_ != nullptr || def_ == nullptr) return "";
  const metadef::ReadResult read = metadef::Read(def_->json, name());
  return read.operators.size() == 1 ? read.operators[0].gradient.op : "";
}

std::string Operator::NoGradientText() const {
  constexpr std::string_view kElse =
      ", or bind a Python rule (bprop=, @operator.bprop; register_operator_gradient of the acl "
      "form)";
  const std::string missing = MissingBackward();
  if (missing.empty())
    return StrCat(
        name(), " has no gradient; name a backward operator in its metadef's \"gradient\"", kElse);
  const std::string nearest = Nearest(missing, library_->OperatorNames());
  return StrCat(name(), " has no gradient: its backward operator ", missing, " is not in ",
                library_->path(),
                nearest.empty() ? "" : StrCat(", which has ", nearest, ": is that meant?"),
                "; build both together", kElse);
}

Status Operator::CallGradient(const OpwrightArgument* inputs, const OpwrightArgument* outputs,
                              const OpwrightAttr* attrs, int32_t num_attrs,
                              const OpwrightArgument* output_grads,
                              const OpwrightArgument* input_grads) {
  OPWRIGHT_RETURN_IF_ERROR(CheckUsable());
  if (backward_ == nullptr) return MakeError("GR001", NoGradientText());
  OPWRIGHT_RETURN_IF_ERROR(backward_->CheckUsable());
  Expected<void*> instance = backward_->Instance();
  if (!instance.ok()) return instance.TakeError();
  GradientCall call;
  call.forward = def_;
  call.gradient = gradient_;
  call.entry = backward_->entry_;
  call.backward = backward_->def_;
  call.instance = *instance;
  call.host = DefaultHost();
  call.inputs = inputs;
  call.outputs = outputs;
  call.attrs = attrs;
  call.num_attrs = num_attrs;
  call.output_grads = output_grads;
  call.input_grads = input_grads;
  return RunGradient(call);
}

Library::Library(std::string path, std::string identity, const OpwrightLibrary* raw)
    : path_(std::move(path)), identity_(std::move(identity)), raw_(raw) {
  for (int32_t i = 0; i < raw->num_operators; ++i)
    operators_.push_back(std::make_shared<Operator>(this, raw->operators[i]));
  for (const auto& op : operators_) {
    if (!op->has_metadef() || op->def().gradient == nullptr) continue;
    if (std::shared_ptr<Operator> backward = Find(op->def().gradient->op))
      if (Status bound = op->BindGradient(backward); !bound.ok()) Warn(bound.error().Text());
  }
}

std::shared_ptr<Operator> Library::Find(std::string_view name) const {
  for (const auto& op : operators_)
    if (op->name() == name) return op;
  return nullptr;
}

std::vector<std::string> Library::OperatorNames() const {
  std::vector<std::string> names;
  for (const auto& op : operators_) names.emplace_back(op->name());
  return names;
}

Expected<std::shared_ptr<Operator>> Library::Get(std::string_view name) const {
  if (std::shared_ptr<Operator> op = Find(name)) return op;
  const std::vector<std::string> names = OperatorNames();
  const std::string nearest = Nearest(name, names);
  return MakeError("LD013", StrCat("no operator ", name, " in ", path_, "; it has ", JoinAnd(names),
                                   nearest.empty() ? "" : StrCat("; did you mean ", nearest, "?")));
}

std::vector<std::string> Library::warnings() const {
  const std::lock_guard lock(warnings_mutex_);
  return warnings_;
}

void Library::Warn(std::string warning) {
  const std::lock_guard lock(warnings_mutex_);
  if (std::find(warnings_.begin(), warnings_.end(), warning) == warnings_.end())
    warnings_.push_back(std::move(warning));
}

}  // namespace opwright

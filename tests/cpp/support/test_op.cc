// SPDX-License-Identifier: Apache-2.0
#include "support/test_op.h"

#include <gtest/gtest.h>

#include "base/dtype.h"
#include "base/dtype_name.h"
#include "base/text.h"
#include "runtime/c_error.h"
#include "runtime/strided.h"

namespace opwright::test {
namespace {

// Where element k of a tensor with strides lies.
char* Locate(const OpwrightTensor& t, int64_t k) {
  int64_t offset = 0;
  for (int32_t d = t.ndim - 1; d >= 0; --d) {
    offset += k % t.shape[d] * t.strides[d];
    k /= t.shape[d];
  }
  return static_cast<char*>(t.data) + t.byte_offset + offset * (t.dtype.bits / 8);
}

}  // namespace

double In(const OpwrightCall& call, int32_t i, int64_t k) {
  const OpwrightTensor& t = call.inputs[i].tensors[0];
  return ReadElement(Locate(t, k), t.dtype);
}

void Out(const OpwrightCall& call, int32_t i, int64_t k, double value) {
  const OpwrightTensor& t = call.outputs[i].tensors[0];
  WriteElement(Locate(t, k), t.dtype, value);
}

int64_t SizeOf(const OpwrightTensor& tensor) {
  int64_t size = 1;
  for (int32_t k = 0; k < tensor.ndim; ++k) size *= tensor.shape[k];
  return size;
}

TestOp::TestOp(const std::string& text, Body body) : body_(std::move(body)) {
  metadef::ReadResult read = metadef::Read(text, "test.json");
  for (const Diagnostic& diagnostic : read.diagnostics)
    ADD_FAILURE() << Render(diagnostic) << "\n" << text;
  metadef_ = std::move(read.operators.at(0));
  Expected<metadef::Lowered> lowered = metadef::Lower(metadef_, {});
  if (!lowered.ok()) ADD_FAILURE() << lowered.error().Text();
  lowered_ = std::make_unique<metadef::Lowered>(std::move(*lowered));
  kernel_.struct_size = sizeof kernel_;
  kernel_.name = metadef_.name.c_str();
  entry_ = {sizeof entry_, &kernel_, &def(), nullptr, &Compute, &InferShape};
}

TestOp& TestOp::TakesExpanded() {
  kernel_.takes_expanded = 1;
  return *this;
}

TestOp& TestOp::WithInferShape(Body body) {
  infer_ = std::move(body);
  kernel_.infer_shape = &Never;  // the dispatcher asks only whether there is one
  return *this;
}

OpwrightError* TestOp::Compute(const OpwrightKernel*, void* self_pointer,
                               const OpwrightCall* call) {
  auto* self = static_cast<TestOp*>(self_pointer);
  ++self->calls;
  self->column = call->column;
  if (self->body_) self->body_(*call);
  return nullptr;
}

OpwrightError* TestOp::InferShape(const OpwrightKernel*, void* self, const OpwrightCall* call) {
  static_cast<TestOp*>(self)->infer_(*call);
  return nullptr;
}

Launch TestOp::MakeLaunch(std::vector<OpwrightArgument>& inputs, std::vector<OpwrightAttr>& attrs) {
  Launch launch;
  launch.entry = &entry_;
  launch.def = &def();
  launch.instance = this;
  launch.inputs = inputs.data();
  launch.num_inputs = static_cast<int32_t>(inputs.size());
  launch.attrs = attrs.data();
  launch.num_attrs = static_cast<int32_t>(attrs.size());
  return launch;
}

std::string TestOp::Run(std::vector<Arg> inputs, std::vector<Arg> outputs,
                        std::vector<OpwrightAttr> attrs) {
  std::vector<OpwrightArgument> in = RawOf(inputs);
  std::vector<OpwrightArgument> out = RawOf(outputs);
  Launch launch = MakeLaunch(in, attrs);
  launch.outputs = out.data();
  launch.num_outputs = static_cast<int32_t>(out.size());
  const Status status = opwright::Run(launch);
  return status.ok() ? "" : status.error().Text();
}

std::string TestOp::Infer(std::vector<Arg> inputs, std::vector<OpwrightAttr> attrs) {
  std::vector<OpwrightArgument> in = RawOf(inputs);
  const Launch launch = MakeLaunch(in, attrs);
  Arena arena(nullptr);
  std::vector<InferredOutput> outputs(metadef_.outputs.size());
  const Status status = opwright::Infer(launch, outputs.data(), arena);
  if (!status.ok()) return status.error().Text();
  std::string text;
  for (size_t i = 0; i < outputs.size(); ++i) {
    text += i > 0 ? "; " : "";
    for (int64_t k = 0; k < outputs[i].count; ++k)
      text += StrCat(k > 0 ? ", " : "", DTypeName(outputs[i].dtype),
                     ShapeText(outputs[i].shapes[k].ndim, outputs[i].shapes[k].dims));
  }
  return text;
}

std::string TestOp::RunAsGradientOf(TestOp& forward, std::vector<Arg> inputs,
                                    std::vector<Arg> outputs, std::vector<Arg> output_grads,
                                    std::vector<Arg> input_grads, std::vector<OpwrightAttr> attrs) {
  metadef::Operator spec = forward.metadef();
  if (!spec.gradient.long_form) spec.gradient = {};
  spec.gradient.kind = metadef::GradientSpec::Kind::kOperator;
  spec.gradient.op = metadef_.name;
  Expected<metadef::Binding> binding = metadef::BindGradient(spec, metadef_);
  if (!binding.ok()) return binding.error().Text();
  const OpwrightGradient gradient = {sizeof(OpwrightGradient),
                                     metadef_.name.c_str(),
                                     static_cast<int32_t>(binding->inputs.size()),
                                     static_cast<int32_t>(binding->outputs.size()),
                                     binding->inputs.data(),
                                     binding->outputs.data()};
  std::vector<OpwrightArgument> in = RawOf(inputs);
  std::vector<OpwrightArgument> out = RawOf(outputs);
  std::vector<OpwrightArgument> grads = RawOf(output_grads);
  std::vector<OpwrightArgument> results = RawOf(input_grads);
  GradientCall call;
  call.forward = &forward.def();
  call.gradient = &gradient;
  call.entry = &entry_;
  call.backward = &def();
  call.instance = this;
  call.inputs = in.data();
  call.outputs = out.data();
  call.attrs = attrs.data();
  call.num_attrs = static_cast<int32_t>(attrs.size());
  call.output_grads = grads.data();
  call.input_grads = results.data();
  const Status status = RunGradient(call);
  return status.ok() ? "" : status.error().Text();
}

std::string TestOp::Column(std::vector<Arg> inputs) {
  std::vector<OpwrightArgument> in = RawOf(inputs);
  std::vector<OpwrightAttr> attrs;
  const Launch launch = MakeLaunch(in, attrs);
  Arena arena(nullptr);
  std::vector<InferredOutput> outputs(metadef_.outputs.size());
  const Status status = opwright::Infer(launch, outputs.data(), arena);
  if (!status.ok()) return status.error().Text();
  for (int32_t c = 0; c < def().num_columns; ++c)
    if (def().outputs[0]->dtypes[c] == outputs[0].dtype) return StrCat(c);
  return "none";
}

}  // namespace opwright::test

// SPDX-License-Identifier: Apache-2.0
//
// An operator whose kernel is a function of the test: a metadef in, no build, and everything that
// the dispatcher hands to the kernel can be looked at.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "metadef/metadef.h"
#include "runtime/gradient.h"
#include "runtime/launch.h"
#include "support/tensor.h"

namespace opwright::test {

// In a kernel: element k of input or output i.
double In(const OpwrightCall& call, int32_t i, int64_t k);
void Out(const OpwrightCall& call, int32_t i, int64_t k, double value);
int64_t SizeOf(const OpwrightTensor& tensor);

class TestOp {
 public:
  using Body = std::function<void(const OpwrightCall&)>;
  // The metadef of one operator. Without a body the kernel does nothing.
  explicit TestOp(const std::string& metadef, Body body = {});
  TestOp(const TestOp&) = delete;

  // The kernel gets the inputs named in broadcast(...) expanded, as a function kernel does.
  TestOp& TakesExpanded();
  TestOp& WithInferShape(Body body);

  // "" or the error's text.
  std::string Run(std::vector<Arg> inputs, std::vector<Arg> outputs,
                  std::vector<OpwrightAttr> attrs = {});
  // "float32[2, 3]", several outputs with "; " between, tensors of a dynamic one with ", "; or the
  // error.
  std::string Infer(std::vector<Arg> inputs, std::vector<OpwrightAttr> attrs = {});
  // The column that a call with these inputs takes, or the error.
  std::string Column(std::vector<Arg> inputs);
  // This operator run as the gradient of `forward`.
  std::string RunAsGradientOf(TestOp& forward, std::vector<Arg> inputs, std::vector<Arg> outputs,
                              std::vector<Arg> output_grads, std::vector<Arg> input_grads,
                              std::vector<OpwrightAttr> attrs = {});

  int calls = 0;
  int32_t column = -1;  // of the last call
  const OpwrightOpDef& def() const { return lowered_->def(); }
  const metadef::Operator& metadef() const { return metadef_; }

 private:
  Launch MakeLaunch(std::vector<OpwrightArgument>& inputs, std::vector<OpwrightAttr>& attrs);
  static OpwrightError* Compute(const OpwrightKernel*, void* self, const OpwrightCall* call);
  static OpwrightError* InferShape(const OpwrightKernel*, void* self, const OpwrightCall* call);
  static int32_t Never(void*, const OpwrightCall*) { return 1; }

  metadef::Operator metadef_;
  std::unique_ptr<metadef::Lowered> lowered_;
  Body body_;
  Body infer_;
  OpwrightKernel kernel_ = {};
  OpwrightOperatorEntry entry_ = {};
};

}  // namespace opwright::test

// SPDX-License-Identifier: Apache-2.0
//
// One call, made many times between guard pages: does it stay in its buffers, write all of its
// outputs and none of its inputs, and give the same bits each time and on several threads?
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "check/operands.h"
#include "check/record.h"
#include "check/threads.h"

namespace opwright::check {

class Contract {
 public:
  // what: "forward", "backward". other: for the calls at the same time; null: the same elements in
  // another order are as valid as they were.
  Contract(Recorder* recorder, std::string op, std::string what, std::vector<Operand> operands,
           Invoke invoke, OtherValues other = nullptr)
      : recorder_(*recorder),
        op_(std::move(op)),
        what_(std::move(what)),
        operands_(std::move(operands)),
        invoke_(std::move(invoke)),
        other_(std::move(other)) {}

  // The error of the first call, after which nothing more is tried. Else the results are in the
  // arrays and what was found with the recorder.
  Status Run();

 private:
  // After the first call: more of them in the same memory, one after the other and at the same
  // time. False: one failed.
  bool RunAgain(Buffers* buffers, const Bytes& first);
  // With the inputs in read-only memory, and all data at other addresses. False: it failed.
  bool RunElsewhere(const Bytes& first);
  Status CallIn(Buffers* buffers, Poison poison, Bytes* results);
  // Parts of a loop of the kernel at the same time.
  void CheckParts(Buffers* buffers);
  void CheckModes(unsigned before);
  void CheckMargins(Buffers* buffers);
  void CheckInputs(Buffers* buffers);
  void Compare(const Bytes& first, const Bytes& other_poison, const Bytes& again);
  bool Failed(const Status& status, const char* when);

  Recorder& recorder_;
  std::string op_;
  std::string what_;
  std::vector<Operand> operands_;
  Invoke invoke_;
  OtherValues other_;
  bool wrote_inputs_ = false;
};

}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
//
// One call, made many times between guard pages: does it stay in its buffers, write all of its
// outputs and none of its inputs, and give the same bits each time and on several threads?
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "check/array.h"
#include "check/record.h"

namespace opwright::check {

// What outputs hold before a call: they are poisoned in two ways, to tell results from leftovers.
enum class Poison { kFirst, kOther };

enum class Access { kRead, kWrite, kBoth };

struct Operand {
  std::string name;  // "input x", "output y", "gradient of x"
  Access access = Access::kRead;
  Array* array = nullptr;  // the values; of a written one it receives the results
};

// Makes the call on tensors in the order of the operands.
using Invoke = std::function<Status(OpwrightTensor* tensors)>;

class Contract {
 public:
  // what: "forward", "backward".
  Contract(Recorder* recorder, std::string op, std::string what, std::vector<Operand> operands,
           Invoke invoke)
      : recorder_(*recorder),
        op_(std::move(op)),
        what_(std::move(what)),
        operands_(std::move(operands)),
        invoke_(std::move(invoke)) {}

  // The error of the first call, after which nothing more is tried. Else the results are in the
  // arrays and what was found with the recorder.
  Status Run();

 private:
  struct Buffers;
  using Bytes = std::vector<std::vector<char>>;  // one an operand, empty for what is only read

  Status CallIn(Buffers* buffers, Poison poison, Bytes* results);
  void CheckMargins(Buffers* buffers);
  void CheckInputs(Buffers* buffers);
  void Compare(const Bytes& first, const Bytes& other_poison, const Bytes& again);
  void CheckThreads(const Bytes& expected);
  bool Failed(const Status& status, const char* when);
  // The first element that differs, or -1.
  int64_t FirstDifference(size_t operand, const Bytes& a, const Bytes& b) const;
  std::string ElementText(size_t operand, int64_t element) const;

  Recorder& recorder_;
  std::string op_;
  std::string what_;
  std::vector<Operand> operands_;
  Invoke invoke_;
  bool wrote_inputs_ = false;
};

}  // namespace opwright::check

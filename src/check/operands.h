// SPDX-License-Identifier: Apache-2.0
//
// The memory of one call: a guarded buffer for each operand, what outputs hold before the call, and
// where the results of two calls differ.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "check/array.h"
#include "check/guarded_buffer.h"

namespace opwright::check {

// What outputs hold before a call: they are poisoned in two ways, to tell results from leftovers.
enum class Poison { kFirst, kOther };

enum class Access { kRead, kWrite, kBoth };

struct Operand {
  std::string name;  // "input x", "output y", "gradient of x"
  Access access = Access::kRead;
  Array* array = nullptr;  // the values; of a written one it receives the results
};

using Bytes = std::vector<std::vector<char>>;  // one an operand, empty for what is only read

struct Buffers {
  std::vector<std::unique_ptr<GuardedBuffer>> memory;
  std::vector<OpwrightTensor> tensors;

  Buffers(const std::vector<Operand>& operands, Flush flush);
};

// One real number of what an output holds before a call. Adding to it shows in every dtype: a float
// of the size of one, which adding does not round away; or a signaling NaN, which even adding zero
// makes quiet.
struct Element {
  size_t size;
  char bytes[8];

  Element(OpwrightDType dtype, Poison poison);
  // Whether the n bytes, of one element, are it; a complex one is two.
  bool Is(const char* at, size_t n) const;
};

void Fill(GuardedBuffer* memory, OpwrightDType dtype, Poison poison);

double ValueOf(const std::vector<char>& bytes, OpwrightDType dtype, int64_t element);

// The first element of an operand whose value differs, or -1. The signs of zeros and NaN do not
// count: a largest one may take either from any part of a loop.
int64_t FirstDifference(const Operand& operand, const std::vector<char>& a,
                        const std::vector<char>& b);

// "element [1, 2] of output y"
std::string ElementText(const Operand& operand, int64_t element);

}  // namespace opwright::check

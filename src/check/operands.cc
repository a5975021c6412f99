// SPDX-License-Identifier: Apache-2.0
#include "check/operands.h"

#include <cmath>
#include <cstring>

#include "base/dtype.h"
#include "base/text.h"
#include "runtime/strided.h"

namespace opwright::check {

Buffers::Buffers(const std::vector<Operand>& operands, Flush flush) {
  for (const Operand& operand : operands) {
    tensors.push_back(operand.array->Tensor());
    memory.push_back(std::make_unique<GuardedBuffer>(operand.name, ShapeText(tensors.back()),
                                                     operand.array->bytes.size(), flush));
    tensors.back().data = memory.back()->data();
  }
}

Element::Element(OpwrightDType dtype, Poison poison) {
  const bool complex = dtype.code == kOpwrightComplex;
  size = static_cast<size_t>(ItemSize(dtype)) / (complex ? 2 : 1);
  const bool is_float = complex || IsFloat(dtype);
  uint64_t bits = 0x5A5A5A5A5A5A5A5A;
  if (is_float)
    bits = size == 8                       ? 0x3FF5A5A5A5A5A5A5
           : size == 4                     ? 0x3FAD5A5A
           : dtype.code == kOpwrightBfloat ? 0x3FAD
                                           : 0x3D5A;
  if (poison == Poison::kOther) bits = is_float ? bits | uint64_t{1} << (8 * size - 2) : ~bits;
  memcpy(bytes, &bits, sizeof bytes);
}

bool Element::Is(const char* at, size_t n) const {
  return memcmp(at, bytes, size) == 0 && memcmp(at + n - size, bytes, size) == 0;
}

void Fill(GuardedBuffer* memory, OpwrightDType dtype, Poison poison) {
  const Element element(dtype, poison);
  for (size_t at = 0; at < memory->size(); at += element.size)
    memcpy(memory->data() + at, element.bytes, element.size);
}

double ValueOf(const std::vector<char>& bytes, OpwrightDType dtype, int64_t element) {
  Array one(dtype, {1});
  memcpy(one.bytes.data(), bytes.data() + element * ItemSize(dtype), one.bytes.size());
  return one.Get(0);
}

int64_t FirstDifference(const Operand& operand, const std::vector<char>& a,
                        const std::vector<char>& b) {
  const OpwrightDType dtype = operand.array->dtype;
  const auto item = static_cast<size_t>(ItemSize(dtype));
  for (int64_t k = 0; k < operand.array->size(); ++k) {
    const size_t at = static_cast<size_t>(k) * item;
    if (memcmp(a.data() + at, b.data() + at, item) == 0) continue;
    if (!IsFloat(dtype)) return k;
    const double x = ValueOf(a, dtype, k);
    const double y = ValueOf(b, dtype, k);
    if (x != y && !(std::isnan(x) && std::isnan(y))) return k;
  }
  return -1;
}

std::string ElementText(const Operand& operand, int64_t element) {
  return StrCat("element ", IndexText(operand.array->shape, element), " of ", operand.name);
}

}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
#include "check/contract.h"

#include <xmmintrin.h>

#include <algorithm>
#include <cstring>

#include "base/dtype.h"
#include "base/text.h"
#include "check/preempt.h"
#include "check/threads.h"
#include "runtime/strided.h"

namespace opwright::check {
namespace {

// How often one part of a loop is stopped for another, and within how many instructions early is.
constexpr uint64_t kPreemptions = 12;
constexpr int64_t kEarly = 400;
// Parts that wait for each other so often take turns.
constexpr int kMostLate = 4;

}  // namespace

Status Contract::CallIn(Buffers* buffers, Poison poison, Bytes* results) {
  for (size_t k = 0; k < operands_.size(); ++k) {
    GuardedBuffer& memory = *buffers->memory[k];
    const std::vector<char>& bytes = operands_[k].array->bytes;
    if (operands_[k].access == Access::kWrite)
      Fill(&memory, operands_[k].array->dtype, poison);
    else if (!bytes.empty())
      memcpy(memory.data(), bytes.data(), bytes.size());
  }
  const unsigned modes = _mm_getcsr() & ~_MM_EXCEPT_MASK;
  Status status = invoke_(buffers->tensors.data());
  CheckModes(modes);
  if (!status.ok()) return status;
  results->assign(operands_.size(), {});
  for (size_t k = 0; k < operands_.size(); ++k)
    if (operands_[k].access != Access::kRead) (*results)[k] = buffers->memory[k]->Copy();
  CheckMargins(buffers);
  CheckInputs(buffers);
  return {};
}

// Rounding, and whether small numbers count as zero, are the thread's, which is the caller's.
void Contract::CheckModes(unsigned before) {
  if ((_mm_getcsr() & ~_MM_EXCEPT_MASK) == before) return;
  _mm_setcsr(before);
  recorder_.Add("CK027", Severity::kError, "",
                StrCat(what_, " of ", op_, " leaves the thread's floating-point mode changed: ",
                       "rounding, or what becomes of numbers below the least normal one"));
}

void Contract::CheckMargins(Buffers* buffers) {
  for (size_t k = 0; k < operands_.size(); ++k) {
    const auto damaged = buffers->memory[k]->Damage();
    if (!damaged.has_value()) continue;
    recorder_.Add("CK001", Severity::kError, operands_[k].name,
                  StrCat(what_, " of ", op_, " wrote ", Count(damaged->bytes, "byte"),
                         damaged->before ? " before the begin of " : " past the end of ",
                         operands_[k].name, " (", static_cast<int64_t>(buffers->memory[k]->size()),
                         " bytes, shape ", ShapeText(buffers->tensors[k]), "), the nearest ",
                         damaged->distance, damaged->distance == 1 ? " byte away" : " bytes away"),
                  damaged->before ? "writes before the begin" : "writes past the end");
    buffers->memory[k]->Repair();
  }
}

void Contract::CheckInputs(Buffers* buffers) {
  for (size_t k = 0; k < operands_.size(); ++k) {
    if (operands_[k].access != Access::kRead) continue;
    const Array& array = *operands_[k].array;
    const char* const now = buffers->memory[k]->data();
    if (array.bytes.empty() || memcmp(now, array.bytes.data(), array.bytes.size()) == 0) continue;
    wrote_inputs_ = true;
    const auto item = static_cast<size_t>(ItemSize(array.dtype));
    int64_t element = 0;
    while (memcmp(now + element * static_cast<int64_t>(item),
                  array.bytes.data() + element * static_cast<int64_t>(item), item) == 0)
      ++element;
    const std::vector<char> bytes(now, now + array.bytes.size());
    recorder_.Add("CK008", Severity::kError, operands_[k].name,
                  StrCat(what_, " of ", op_, " wrote ", operands_[k].name, ": element ",
                         IndexText(array.shape, element), " was ", array.Get(element), " and is ",
                         ValueOf(bytes, array.dtype, element), " after the call"),
                  "writes an input");
  }
}

void Contract::Compare(const Bytes& first, const Bytes& other_poison, const Bytes& again) {
  for (size_t k = 0; k < operands_.size(); ++k) {
    const Array& array = *operands_[k].array;
    if (operands_[k].access == Access::kRead || array.bytes.empty()) continue;
    if (const int64_t at = FirstDifference(operands_[k], first[k], again[k]); at >= 0) {
      recorder_.Add(
          "CK009", Severity::kError, operands_[k].name,
          StrCat(what_, " of ", op_, " gave different results for the same inputs: ",
                 ElementText(operands_[k], at), " was ", ValueOf(first[k], array.dtype, at),
                 ", then ", ValueOf(again[k], array.dtype, at)),
          "not deterministic");
      continue;
    }
    if (operands_[k].access != Access::kWrite) continue;
    const auto item = static_cast<size_t>(ItemSize(array.dtype));
    const Element poison(array.dtype, Poison::kFirst);
    const Element other(array.dtype, Poison::kOther);
    int64_t unwritten = 0;
    int64_t example = -1;
    int64_t read = -1;
    for (int64_t i = 0; i < array.size(); ++i) {
      const char* const a = first[k].data() + static_cast<size_t>(i) * item;
      const char* const b = other_poison[k].data() + static_cast<size_t>(i) * item;
      if (memcmp(a, b, item) == 0) continue;
      // Signs of zeros do not count here either; NaN may come of the poison.
      if (IsFloat(array.dtype) && ValueOf(first[k], array.dtype, i) == 0 &&
          ValueOf(other_poison[k], array.dtype, i) == 0)
        continue;
      if (poison.Is(a, item) && other.Is(b, item)) {
        ++unwritten;
        if (example < 0) example = i;
      } else if (read < 0) {
        read = i;
      }
    }
    if (unwritten > 0)
      recorder_.Add("CK006", Severity::kError, operands_[k].name,
                    StrCat(what_, " of ", op_, " did not write ", unwritten, " of the ",
                           Count(array.size(), "element"), " of ", operands_[k].name,
                           "; the first is ", IndexText(array.shape, example)),
                    "not written");
    if (read >= 0)
      recorder_.Add(
          "CK007", Severity::kError, operands_[k].name,
          StrCat(what_, " of ", op_, " used what was in ", operands_[k].name,
                 " before the call: ", ElementText(operands_[k], read), " is ",
                 ValueOf(first[k], array.dtype, read), " or ",
                 ValueOf(other_poison[k], array.dtype, read), " by the memory's old contents"),
          "adds to an output that it never set to zero");
  }
}

void Contract::CheckParts(Buffers* buffers) {
  Bytes apart;
  std::vector<int64_t> instructions;
  {
    Preemption none(0, {});
    if (!CallIn(buffers, Poison::kFirst, &apart).ok()) return;
    instructions = none.instructions();
  }
  // All zero: nothing was stepped, as under a sanitizer that holds signals back.
  if (std::none_of(instructions.begin(), instructions.end(), [](int64_t n) { return n > 0; }))
    return;
  Random random(instructions.size());
  int late = 0;
  for (uint64_t round = 0; round < kPreemptions && late < kMostLate; ++round) {
    // Every other one early: where a part is long, what it does again and again begins there.
    std::vector<int64_t> stops;
    for (const int64_t all : instructions) {
      const int64_t among = round % 2 == 0 ? std::min<int64_t>(all, kEarly) : all;
      stops.push_back(1 + static_cast<int64_t>(random.Uniform(0, static_cast<double>(among))));
    }
    Preemption preemption(round, stops);
    Bytes together;
    if (Failed(CallIn(buffers, Poison::kFirst, &together), "with its parts at the same time"))
      return;
    late += preemption.late();
    for (size_t k = 0; k < operands_.size(); ++k) {
      if (operands_[k].access == Access::kRead) continue;
      const int64_t at = FirstDifference(operands_[k], apart[k], together[k]);
      if (at < 0) continue;
      const OpwrightDType dtype = operands_[k].array->dtype;
      recorder_.Add("CK010", Severity::kError, operands_[k].name,
                    StrCat(what_, " of ", op_, " gives other results when ", preemption.PartsText(),
                           " of a ParallelFor run at the same time: ",
                           ElementText(operands_[k], at), " is ", ValueOf(together[k], dtype, at),
                           ", one after the other it is ", ValueOf(apart[k], dtype, at)),
                    "the parts of a ParallelFor write the same memory");
      return;
    }
  }
}

bool Contract::Failed(const Status& status, const char* when) {
  if (status.ok()) return false;
  recorder_.Add("CK009", Severity::kError, "",
                StrCat(what_, " of ", op_, " took the same inputs once and failed ", when, ": ",
                       status.error().message),
                "not deterministic");
  return true;
}

bool Contract::RunAgain(Buffers* buffers, const Bytes& first) {
  Bytes other;
  Bytes again;
  recorder_.Stage(what_ + ", called again");
  if (Failed(CallIn(buffers, Poison::kOther, &other), "at the second call")) return false;
  if (Failed(CallIn(buffers, Poison::kFirst, &again), "at the third call")) return false;
  Compare(first, other, again);
  if (!recorder_.Has("CK006") && !recorder_.Has("CK007") && !recorder_.Has("CK008")) {
    recorder_.Stage(what_ + ", with parts of a ParallelFor at the same time");
    CheckParts(buffers);
  }
  // An output that keeps what was there before differs between threads for no other reason.
  if (!recorder_.Has("CK006") && !recorder_.Has("CK007") && !recorder_.Has("CK008") &&
      !recorder_.Has("CK009")) {
    recorder_.Stage(what_ + ", called by several threads");
    CheckThreads(&recorder_, StrCat(what_, " of ", op_), operands_, invoke_,
                 other_ ? other_() : Moved(operands_), first);
  }
  return true;
}

bool Contract::RunElsewhere(const Bytes& first) {
  recorder_.Stage(what_ + ", with the inputs in read-only memory");
  Buffers buffers(operands_, Flush::kBegin);
  for (size_t k = 0; k < operands_.size() && !wrote_inputs_; ++k) {
    const Array& array = *operands_[k].array;
    if (operands_[k].access != Access::kRead || array.bytes.empty()) continue;
    memcpy(buffers.memory[k]->data(), array.bytes.data(), array.bytes.size());
    buffers.memory[k]->SetReadOnly(true);
  }
  // The inputs are in place; what is written is poisoned here.
  for (size_t k = 0; k < operands_.size(); ++k) {
    const std::vector<char>& bytes = operands_[k].array->bytes;
    GuardedBuffer& memory = *buffers.memory[k];
    if (operands_[k].access == Access::kWrite)
      Fill(&memory, operands_[k].array->dtype, Poison::kFirst);
    else if ((operands_[k].access == Access::kBoth || wrote_inputs_) && !bytes.empty())
      memcpy(memory.data(), bytes.data(), bytes.size());
  }
  if (Failed(invoke_(buffers.tensors.data()), "with its data elsewhere in memory")) return false;
  CheckMargins(&buffers);
  CheckInputs(&buffers);
  Bytes moved(operands_.size());
  for (size_t k = 0; k < operands_.size(); ++k)
    if (operands_[k].access != Access::kRead) moved[k] = buffers.memory[k]->Copy();
  for (size_t k = 0; k < operands_.size(); ++k) {
    if (operands_[k].access == Access::kRead || recorder_.Has("CK009") || recorder_.Has("CK001"))
      continue;
    const int64_t at = FirstDifference(operands_[k], first[k], moved[k]);
    if (at < 0) continue;
    const OpwrightDType dtype = operands_[k].array->dtype;
    recorder_.Add("CK011", Severity::kWarning, operands_[k].name,
                  StrCat(what_, " of ", op_, " depends on where its data lies in memory: ",
                         ElementText(operands_[k], at), " is ", ValueOf(first[k], dtype, at),
                         " or ", ValueOf(moved[k], dtype, at)),
                  "reads beyond its buffers, or sums in another order by alignment");
  }
  return true;
}

Status Contract::Run() {
  Bytes first;
  {
    recorder_.Stage(what_);
    Buffers buffers(operands_, Flush::kEnd);
    OPWRIGHT_RETURN_IF_ERROR(CallIn(&buffers, Poison::kFirst, &first));
    // The results are there for what follows, whatever is found from here on.
    for (size_t k = 0; k < operands_.size(); ++k)
      if (operands_[k].access == Access::kWrite) operands_[k].array->bytes = first[k];
    if (!RunAgain(&buffers, first)) return {};
  }
  if (!RunElsewhere(first)) return {};
  for (size_t k = 0; k < operands_.size(); ++k)
    if (operands_[k].access == Access::kBoth) operands_[k].array->bytes = first[k];
  return {};
}

}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
#include "check/contract.h"

#include <cstring>
#include <latch>
#include <memory>
#include <thread>

#include "base/text.h"
#include "check/guarded_buffer.h"
#include "runtime/dtype.h"

namespace opwright::check {
namespace {

constexpr size_t kThreads = 4;
constexpr int kRepeats = 8;

// One real number of what an output holds before a call. Adding to it shows in every dtype: a float
// of the size of one, which adding does not round away; or a signaling NaN, which even adding zero
// makes quiet.
struct Element {
  size_t size;
  char bytes[8];

  Element(OpwrightDType dtype, Poison poison) {
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
  // Whether the n bytes, of one element, are it; a complex one is two.
  bool Is(const char* at, size_t n) const {
    return memcmp(at, bytes, size) == 0 && memcmp(at + n - size, bytes, size) == 0;
  }
};

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

}  // namespace

struct Contract::Buffers {
  std::vector<std::unique_ptr<GuardedBuffer>> memory;
  std::vector<OpwrightTensor> tensors;

  Buffers(const std::vector<Operand>& operands, Flush flush) {
    for (const Operand& operand : operands) {
      memory.push_back(
          std::make_unique<GuardedBuffer>(operand.name, operand.array->bytes.size(), flush));
      tensors.push_back(operand.array->Tensor());
      tensors.back().data = memory.back()->data();
    }
  }
};

Status Contract::CallIn(Buffers* buffers, Poison poison, Bytes* results) {
  for (size_t k = 0; k < operands_.size(); ++k) {
    GuardedBuffer& memory = *buffers->memory[k];
    const std::vector<char>& bytes = operands_[k].array->bytes;
    if (operands_[k].access == Access::kWrite)
      Fill(&memory, operands_[k].array->dtype, poison);
    else if (!bytes.empty())
      memcpy(memory.data(), bytes.data(), bytes.size());
  }
  OPWRIGHT_RETURN_IF_ERROR(invoke_(buffers->tensors.data()));
  results->assign(operands_.size(), {});
  for (size_t k = 0; k < operands_.size(); ++k)
    if (operands_[k].access != Access::kRead) (*results)[k] = buffers->memory[k]->Copy();
  CheckMargins(buffers);
  CheckInputs(buffers);
  return {};
}

void Contract::CheckMargins(Buffers* buffers) {
  for (size_t k = 0; k < operands_.size(); ++k) {
    const auto damaged = buffers->memory[k]->Damage();
    if (!damaged.has_value()) continue;
    recorder_.Add(
        "CK001", Severity::kError, operands_[k].name,
        StrCat(what_, " of ", op_, " wrote ", Count(damaged->bytes, "byte"),
               damaged->before ? " before the begin of " : " past the end of ", operands_[k].name,
               " (", static_cast<int64_t>(buffers->memory[k]->size()), " bytes), the nearest ",
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

int64_t Contract::FirstDifference(size_t operand, const Bytes& a, const Bytes& b) const {
  const auto item = static_cast<size_t>(ItemSize(operands_[operand].array->dtype));
  for (size_t at = 0; at + item <= a[operand].size(); at += item)
    if (memcmp(a[operand].data() + at, b[operand].data() + at, item) != 0)
      return static_cast<int64_t>(at / item);
  return -1;
}

std::string Contract::ElementText(size_t operand, int64_t element) const {
  return StrCat("element ", IndexText(operands_[operand].array->shape, element), " of ",
                operands_[operand].name);
}

void Contract::Compare(const Bytes& first, const Bytes& other_poison, const Bytes& again) {
  for (size_t k = 0; k < operands_.size(); ++k) {
    const Array& array = *operands_[k].array;
    if (operands_[k].access == Access::kRead || array.bytes.empty()) continue;
    if (const int64_t at = FirstDifference(k, first, again); at >= 0) {
      recorder_.Add("CK009", Severity::kError, operands_[k].name,
                    StrCat(what_, " of ", op_, " gave different results for the same inputs: ",
                           ElementText(k, at), " was ", ValueOf(first[k], array.dtype, at),
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
          StrCat(what_, " of ", op_, " used what was in ", operands_[k].name, " before the call: ",
                 ElementText(k, read), " is ", ValueOf(first[k], array.dtype, read), " or ",
                 ValueOf(other_poison[k], array.dtype, read), " by the memory's old contents"),
          "adds to an output that it never set to zero");
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

// Half of the threads work on other values: state that is shared and always holds the same would
// not show.
void Contract::CheckThreads(const Bytes& expected) {
  // A written input cannot be shared.
  for (const Operand& operand : operands_)
    if (operand.access == Access::kBoth) return;
  Buffers inputs[2] = {Buffers(operands_, Flush::kEnd), Buffers(operands_, Flush::kEnd)};
  for (size_t k = 0; k < operands_.size(); ++k) {
    const std::vector<char>& bytes = operands_[k].array->bytes;
    if (operands_[k].access != Access::kRead || bytes.empty()) continue;
    memcpy(inputs[0].memory[k]->data(), bytes.data(), bytes.size());
    // The same elements in another order are as valid as they were.
    const auto item = static_cast<size_t>(ItemSize(operands_[k].array->dtype));
    memcpy(inputs[1].memory[k]->data(), bytes.data() + item, bytes.size() - item);
    memcpy(inputs[1].memory[k]->data() + bytes.size() - item, bytes.data(), item);
  }
  Bytes wanted[2] = {expected, Bytes(operands_.size())};
  if (invoke_(inputs[1].tensors.data()).ok()) {
    for (size_t k = 0; k < operands_.size(); ++k)
      if (operands_[k].access != Access::kRead) wanted[1][k] = inputs[1].memory[k]->Copy();
  } else {
    // The kernel asks for an order: all threads work on the values that it takes.
    wanted[1] = expected;
    for (size_t k = 0; k < operands_.size(); ++k) {
      const std::vector<char>& bytes = operands_[k].array->bytes;
      if (operands_[k].access == Access::kRead && !bytes.empty())
        memcpy(inputs[1].memory[k]->data(), bytes.data(), bytes.size());
    }
  }

  std::vector<std::unique_ptr<Buffers>> own;
  for (size_t t = 0; t < kThreads; ++t) {
    own.push_back(std::make_unique<Buffers>(operands_, Flush::kEnd));
    for (size_t k = 0; k < operands_.size(); ++k) {
      if (operands_[k].access == Access::kRead)
        own.back()->tensors[k].data = inputs[t % 2].memory[k]->data();
      else
        Fill(own.back()->memory[k].get(), operands_[k].array->dtype, Poison::kFirst);
    }
  }
  // What each thread saw first: an error, or results that differ. Each call is looked at, since a
  // collision is rare.
  struct Seen {
    std::string error;
    Bytes results;
  };
  std::vector<Seen> seen(kThreads);
  std::vector<std::thread> threads;
  std::latch start(kThreads);
  for (size_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      Buffers& mine = *own[t];
      start.arrive_and_wait();
      for (int repeat = 0; repeat < kRepeats && seen[t].error.empty() && seen[t].results.empty();
           ++repeat) {
        if (Status status = invoke_(mine.tensors.data()); !status.ok())
          seen[t].error = status.error().message;
        Bytes results(operands_.size());
        bool same = true;
        for (size_t k = 0; k < operands_.size(); ++k) {
          if (operands_[k].access == Access::kRead) continue;
          results[k] = mine.memory[k]->Copy();
          same = same && results[k] == wanted[t % 2][k];
        }
        if (!same) seen[t].results = std::move(results);
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (size_t t = 0; t < kThreads; ++t) {
    const std::string how =
        StrCat(" when ", static_cast<int64_t>(kThreads), " threads called it at once");
    if (!seen[t].error.empty())
      recorder_.Add("CK010", Severity::kError, "",
                    StrCat(what_, " of ", op_, " failed", how, ": ", seen[t].error),
                    "not thread-safe");
    for (size_t k = 0; k < operands_.size() && seen[t].error.empty() && !seen[t].results.empty();
         ++k) {
      if (operands_[k].access == Access::kRead) continue;
      const int64_t at = FirstDifference(k, wanted[t % 2], seen[t].results);
      if (at < 0) continue;
      const OpwrightDType dtype = operands_[k].array->dtype;
      recorder_.Add("CK010", Severity::kError, operands_[k].name,
                    StrCat(what_, " of ", op_, " gave other results", how, ": ", ElementText(k, at),
                           " is ", ValueOf(seen[t].results[k], dtype, at), ", alone it is ",
                           ValueOf(wanted[t % 2][k], dtype, at)),
                    "not thread-safe");
    }
  }
}

Status Contract::Run() {
  Bytes first;
  Bytes other;
  Bytes again;
  {
    recorder_.Stage(what_);
    Buffers buffers(operands_, Flush::kEnd);
    OPWRIGHT_RETURN_IF_ERROR(CallIn(&buffers, Poison::kFirst, &first));
    // The results are there for what follows, whatever is found from here on.
    for (size_t k = 0; k < operands_.size(); ++k)
      if (operands_[k].access == Access::kWrite) operands_[k].array->bytes = first[k];
    recorder_.Stage(what_ + ", called again");
    if (Failed(CallIn(&buffers, Poison::kOther, &other), "at the second call")) return {};
    if (Failed(CallIn(&buffers, Poison::kFirst, &again), "at the third call")) return {};
    Compare(first, other, again);
    // An output that keeps what was there before differs between threads for no other reason.
    if (!recorder_.Has("CK006") && !recorder_.Has("CK007") && !recorder_.Has("CK008") &&
        !recorder_.Has("CK009")) {
      recorder_.Stage(what_ + ", called by several threads");
      CheckThreads(first);
    }
  }
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
  if (Failed(invoke_(buffers.tensors.data()), "with its data elsewhere in memory")) return {};
  CheckMargins(&buffers);
  CheckInputs(&buffers);
  Bytes moved(operands_.size());
  for (size_t k = 0; k < operands_.size(); ++k)
    if (operands_[k].access != Access::kRead) moved[k] = buffers.memory[k]->Copy();
  for (size_t k = 0; k < operands_.size(); ++k) {
    if (operands_[k].access == Access::kRead || recorder_.Has("CK009") || recorder_.Has("CK001"))
      continue;
    const int64_t at = FirstDifference(k, first, moved);
    if (at < 0) continue;
    const OpwrightDType dtype = operands_[k].array->dtype;
    recorder_.Add("CK011", Severity::kWarning, operands_[k].name,
                  StrCat(what_, " of ", op_,
                         " depends on where its data lies in memory: ", ElementText(k, at), " is ",
                         ValueOf(first[k], dtype, at), " or ", ValueOf(moved[k], dtype, at)),
                  "reads beyond its buffers, or sums in another order by alignment");
  }
  for (size_t k = 0; k < operands_.size(); ++k)
    if (operands_[k].access == Access::kBoth) operands_[k].array->bytes = first[k];
  return {};
}

}  // namespace opwright::check

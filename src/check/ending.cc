// SPDX-License-Identifier: Apache-2.0
#include "check/ending.h"

#include <signal.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace opwright::check {
namespace {

// "wrote" of "it wrote memory"
const char* Did(FaultAccess access) {
  return access == FaultAccess::kRead      ? "read"
         : access == FaultAccess::kWritten ? "wrote"
                                           : "touched";
}

// "past the end" after the verb of what was done.
std::string Does(FaultAccess access, std::string_view where) {
  return StrCat(access == FaultAccess::kRead      ? "reads "
                : access == FaultAccess::kWritten ? "writes "
                                                  : "reads or writes ",
                where);
}

std::string DistanceText(const Crash& crash) {
  const bool before = crash.offset < 0;
  return StrCat(Count(before ? -crash.offset : crash.offset - crash.size, "byte"),
                before ? " before the begin of " : " past the end of ", crash.buffer.chars, " (",
                crash.size, " bytes, shape ", crash.shape.chars, ")");
}

struct Fault {
  const char* id;  // a row of src/base/ids/ck.def
  std::string argument;  // the tensor or list that it is of
  std::string where;  // in words; "" where nothing is known
  std::string kind;  // what the mistake may be
};

// Of an address in the pages of no tensor: the nearest one is named where an index may lead there.
Fault FarFault(const Crash& crash) {
  constexpr uint64_t kNull = 1 << 16;
  constexpr int64_t kFar = int64_t{1} << 36;
  Fault fault = {"CK002", "", "", ""};
  if (crash.signal != SIGSEGV) return fault;
  if (crash.code == SI_KERNEL) {
    fault.kind =
        "an index or a Dim(k) beyond the tensor's rank, or a vector access that needs aligned "
        "data: tensors are aligned to their element only";
    return fault;
  }
  char address[32];
  snprintf(address, sizeof address, "0x%llx", static_cast<unsigned long long>(crash.address));
  fault.where = StrCat("; it ", Did(crash.access), " memory at ", address);
  if (crash.address < kNull) {
    fault.kind =
        "a null pointer, as that of an optional input that is not given or of an output that is "
        "not wanted";
  } else if (crash.at_stack != 0) {
    fault.kind =
        "the stack ran out, by a large local array or a recursion without end, or an index is "
        "outside of a local array";
  } else if (crash.buffer.chars[0] != 0 && std::abs(crash.offset) < kFar) {
    fault.kind = "an index far out of bounds, or a pointer that was never set";
    fault.where += StrCat(", ", DistanceText(crash), ", the nearest of its buffers");
  } else {
    fault.kind = "a pointer that was never set, or whose memory is gone";
  }
  return fault;
}

Fault FaultOf(const Crash& crash) {
  const char* const tensor = crash.buffer.chars;
  if (crash.is_near != 0 || tensor[0] == 0) return FarFault(crash);
  if (crash.offset < 0 || crash.offset >= crash.size)
    return {"CK001", tensor, StrCat("; it ", Did(crash.access), " memory ", DistanceText(crash)),
            Does(crash.access, crash.offset < 0 ? "before the begin" : "past the end")};
  return {"CK008", tensor,
          StrCat("; it wrote byte ", crash.offset, " of ", tensor, ", which is not its to write"),
          "writes what is not its to write"};
}

}  // namespace

std::string SignalText(int number) {
  const char* name = sigabbrev_np(number);
  const char* what = sigdescr_np(number);
  return StrCat("SIG", name != nullptr ? name : "?", " (", what != nullptr ? what : "unknown", ")");
}

std::string NoChildText(int number) {
  return StrCat("no child process could be started (", strerrordesc_np(number), ")");
}

Finding FindingOfEnding(const Outcome& outcome, const ChildState& state, const std::string& op,
                        double timeout_seconds) {
  Finding finding;
  const std::string during = StrCat(" during ", state.stage.chars);
  switch (outcome.ending) {
    case Ending::kCrashed: {
      Fault fault = FaultOf(state.crash);
      finding.id = fault.id;
      finding.argument = std::move(fault.argument);
      finding.kind = std::move(fault.kind);
      finding.message = StrCat(op, " crashed with ", SignalText(outcome.code), during, fault.where);
      break;
    }
    case Ending::kExited:
      finding.id = "CK003";
      finding.message = StrCat(op, " ended the process with status ", outcome.code, during,
                               "; a kernel must never call exit()");
      break;
    case Ending::kTimedOut:
      finding.id = "CK004";
      finding.message = StrCat(op, " did not return within ", timeout_seconds, " s", during);
      break;
    default:
      return Warning("CK018", outcome.ending == Ending::kNoChild
                                  ? NoChildText(outcome.code)
                                  : StrCat("the check ran out of memory", during));
  }
  return finding;
}

Finding FindingOfSlow(double timeout_seconds) {
  return Warning("CK018",
                 StrCat("each call returns, but the calls of a case take longer than ",
                        timeout_seconds, " s together; --timeout gives a slow operator more time"));
}

}  // namespace opwright::check

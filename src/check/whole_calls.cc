// SPDX-License-Identifier: Apache-2.0
#include "check/whole_calls.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <utility>

#include "base/text.h"
#include "check/operands.h"
#include "check/preempt.h"

namespace opwright::check {
namespace {

// How often a call is stopped, evenly over the instructions that are counted: a long one less
// often, since each instruction takes microseconds.
constexpr int64_t kMostStops = 64;
constexpr int64_t kInstructions = 20000;  // of all stops together
// Calls that wait for each other so often take turns.
constexpr int kMostLate = 2;

// One call forward and one backward, with arrays of its own.
struct Side {
  Trial trial;
  ArrayLists cotangents = {};
  ArrayLists gradients = {};
};

struct Direction {
  Operator& op;
  const char* what;
  const char* result;  // before the name of a parameter
  const OpwrightParamDef* const* params;  // of the results
  std::function<Status(Side*)> call;
  std::function<ArrayLists&(Side*)> results;
};

// What a call leaves unwritten is not right because it was there before.
void Overwrite(ArrayLists* results) {
  for (auto& list : *results)
    for (Array& array : list) std::fill(array.bytes.begin(), array.bytes.end(), char{0x5A});
}

// The first element that is another than alone; "" where there is none.
std::string FirstOther(const Direction& direction, ArrayLists* now, const ArrayLists& alone) {
  for (size_t i = 0; i < now->size(); ++i)
    for (size_t k = 0; k < (*now)[i].size(); ++k) {
      Array& array = (*now)[i][k];
      const std::vector<char>& before = alone[i][k].bytes;
      const Operand operand = {StrCat(direction.result, ItemName(*direction.params[i], k)),
                               Access::kWrite, &array};
      const int64_t at = FirstDifference(operand, before, array.bytes);
      if (at < 0) continue;
      return StrCat(ElementText(operand, at), " is ", ValueOf(array.bytes, array.dtype, at),
                    ", alone it is ", ValueOf(before, array.dtype, at));
    }
  return "";
}

// Calls of an operator while this lives: the kernel of the next one is stopped.
class Interruption {
 public:
  explicit Interruption(Operator& op) : op_(op), own_(op.entry()), entry_(own_) {
    entry_.compute = &Compute;
    op.ReplaceEntry(&entry_);
    current = this;
  }
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  ~Interruption() { op_.ReplaceEntry(&own_); }

  // Both calls; see Interrupt.
  Interrupted Run(int64_t stop, const std::function<void()>& call, std::function<void()> between) {
    stop_ = stop;
    between_ = std::move(between);
    begun_ = false;
    interrupted_ = {};
    call();
    return interrupted_;
  }

 private:
  static OpwrightError* Compute(const OpwrightKernel* kernel, void* instance,
                                const OpwrightCall* call) {
    Interruption& now = *current;
    OpwrightError* error = nullptr;
    const auto run = [&] { error = now.own_.compute(kernel, instance, call); };
    if (now.begun_.exchange(true))
      run();
    else
      now.interrupted_ = Interrupt(now.stop_, run, now.between_);
    return error;
  }

  static inline Interruption* current = nullptr;
  Operator& op_;
  const OpwrightOperatorEntry& own_;
  OpwrightOperatorEntry entry_;
  int64_t stop_ = 0;
  std::function<void()> between_;
  std::atomic<bool> begun_ = false;
  Interrupted interrupted_;
};

void Interleave(const Direction& direction, Side* stopped, Side* between, Random* random,
                Recorder* recorder) {
  recorder->Stage(StrCat(direction.what, ", stopped for another call"));
  Side* const sides[] = {stopped, between};
  ArrayLists alone[2];
  for (size_t k = 0; k < 2; ++k) {
    if (!direction.call(sides[k]).ok()) return;
    alone[k] = direction.results(sides[k]);
  }
  const Preemption loops(0, {});
  Interruption interruption(direction.op);
  int64_t all = 0;
  int64_t stops = 0;
  int late = 0;
  for (int64_t round = 0; round <= stops && late < kMostLate; ++round) {
    // The first one counts.
    const double part = random->Uniform(static_cast<double>(round) - 1, static_cast<double>(round));
    const int64_t stop = round == 0 ? 0
                                    : 1 + static_cast<int64_t>(part * static_cast<double>(all) /
                                                               static_cast<double>(stops));
    for (Side* const side : sides) Overwrite(&direction.results(side));
    Status status[2];
    const Interrupted call = interruption.Run(
        stop, [&] { status[0] = direction.call(stopped); },
        [&] { status[1] = direction.call(between); });
    if (round == 0) {
      all = call.instructions;
      // Nothing was stepped.
      if (all == 0) return;
      stops = std::min(2 * kInstructions / all, kMostStops);
    }
    late += call.late;
    for (size_t k = 0; k < 2; ++k) {
      const std::string other = status[k].ok()
                                    ? FirstOther(direction, &direction.results(sides[k]), alone[k])
                                    : status[k].error().message;
      if (other.empty()) continue;
      recorder->Add("CK010", Severity::kError, "",
                    StrCat(direction.what, " of ", direction.op.name(),
                           status[k].ok() ? " gives other results when " : " fails when ",
                           k == 0 ? "another call is made before it ends: "
                                  : "it is made before another call ends: ",
                           other),
                    "not thread-safe");
      return;
    }
  }
}

}  // namespace

void RunWholeCalls(Operator& op, const Columns& columns, const Known& known, Recorder* recorder) {
  recorder->SetTried(known.c.values, known.second, SecondValuesText(op.def(), known.second));
  Random random(known.seed ^ 0x9e3779b1u);
  Side stopped{Trial(op, columns.column, known.c, known.seed, known.second)};
  Side between{Trial(op, columns.column, known.c, random.Bits(), known.second)};
  for (Side* side : {&stopped, &between})
    if (!side->trial.MakeOutputs().ok()) return;
  Interleave(
      {op, "forward", "output ", op.def().outputs, [](Side* side) { return side->trial.Forward(); },
       [](Side* side) -> ArrayLists& { return side->trial.outputs; }},
      &stopped, &between, &random, recorder);
  if (!columns.has_gradient) return;
  for (Side* side : {&stopped, &between}) {
    if (!side->trial.Forward().ok()) return;
    side->cotangents = side->trial.MakeCotangents(&random);
    side->gradients = side->trial.MakeGradients();
  }
  Interleave({*op.backward(), "backward", "gradient of input ", op.def().inputs,
              [](Side* side) { return side->trial.Backward(side->cotangents, side->gradients); },
              [](Side* side) -> ArrayLists& { return side->gradients; }},
             &stopped, &between, &random, recorder);
}

}  // namespace opwright::check

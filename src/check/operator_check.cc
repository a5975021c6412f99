// SPDX-License-Identifier: Apache-2.0
//
// One operator: every case of every dtype column in a child of its own, and when to stop.
#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <utility>

#include "base/dtype.h"
#include "base/text.h"
#include "check/attrs.h"
#include "check/case_attrs.h"
#include "check/case_list.h"
#include "check/case_multiples.h"
#include "check/check.h"
#include "check/ending.h"
#include "check/gradient_due.h"
#include "check/gradient_rows.h"
#include "check/run_case.h"
#include "check/smaller_case.h"
#include "check/tally.h"
#include "check/whole_calls.h"
#include "registry/library.h"
#include "runtime/attrs.h"

namespace opwright::check {
namespace {

// After so many ended children the rest would say the same.
constexpr int kMostCrashes = 8;
// And after so many cases without the time to judge them.
constexpr int kMostSlow = 2;
// Accepted cases that are run again for one value of an attribute.
constexpr size_t kMostAgain = 8;
// Cases that are run again with an attribute's other value.
constexpr size_t kMostOtherValues = 12;
// With a tensor of more elements than that a smaller one is tried first.
constexpr int64_t kTooMany = 5000;

class OperatorCheck {
 public:
  OperatorCheck(Operator& op, const Options& options) : op_(op), options_(options) {
    tally_.report.name = op.name();
  }

  OperatorReport Run() {
    tally_.report.note =
        op_.has_metadef()
            ? ForgottenText(op_)
            : "no metadef: nothing says what its inputs are; build the library with its op.json";
    if (!tally_.report.note.empty()) {
      tally_.report.verdict = Verdict::kUndecided;
      return std::move(tally_.report);
    }
    gradient_column_ = PrepareRows(op_, &tally_);
    RunCases();
    tally_.Judge(def());
    return std::move(tally_.report);
  }

 private:
  const OpwrightOpDef& def() const { return op_.def(); }

  void RunCases() {
    const std::vector<Case> cases = MakeCases(def());
    const int32_t reference = gradient_column_ >= 0 ? gradient_column_ : WidestColumn(op_, false);
    // It comes first: its findings say most.
    std::vector<int32_t> order = {reference};
    for (int32_t c = 0; c < def().num_columns; ++c)
      if (c != reference) order.push_back(c);
    void* const shared = MapShared(sizeof(CaseRecord));
    for (const int32_t column : order) {
      Columns columns{column, reference, gradient_column_,
                      op_.backward() != nullptr && HasGradientColumn(op_, column)};
      known_.clear();
      for (size_t k = 0; k < cases.size() && MayGoOn(); ++k)
        if (IsTried(def(), columns, cases[k])) RunOne(columns, cases[k], k, shared);
      if (column == reference) {
        size_t number = cases.size();
        Seek(columns, &number, shared);
        RunMissingValues(columns, number, shared);
      }
      for (const auto& [number, c] : sought_)
        if (column != reference && MayGoOn()) RunOne(columns, c, number, shared);
      if (column == reference) RunOtherValues(columns, shared);
      if (ended_ == 0) RunAfterOthers(columns, shared);
      if (ended_ == 0) RunInterrupted(columns, shared);
    }
    UnmapShared(shared, sizeof(CaseRecord));
  }

  bool MayGoOn() const { return ended_ < kMostCrashes && !hangs_ && too_slow_ < kMostSlow; }

  // Of an operator that refuses shapes: those that it may want, until any two named dimensions have
  // differed, or until one was taken.
  void Seek(const Columns& columns, size_t* number, void* shared) {
    if (tally_.report.cases_refused == 0) return;
    for (const DimPair& pair : PairsOfDims(def())) {
      const auto differ = [&](const Known& known) { return Differ(def(), pair, known.c); };
      if (std::any_of(accepted_.begin(), accepted_.end(), differ)) continue;
      if (pair.larger < pair.smaller) SeekOne(columns, CasesOfEqual(def(), pair), number, shared);
      SeekOne(columns, CasesOfMultiple(def(), pair), number, shared);
    }
    for (const int64_t multiple : UsualMultiples(def()))
      if (accepted_.empty()) SeekOne(columns, CasesOfMultiples(def(), multiple), number, shared);
  }

  void SeekOne(const Columns& columns, const std::vector<Case>& cases, size_t* number,
               void* shared) {
    const size_t accepted = accepted_.size();
    for (Case c : cases) {
      if (accepted_.size() > accepted || !MayGoOn()) return;
      c.sought = true;
      RunOne(columns, c, *number, shared);
      if (accepted_.size() > accepted) {
        sought_.emplace_back(*number, c);
        tally_.fits_other_shapes = true;
      }
      ++*number;
    }
  }

  // Which values of attributes a case has goes by turns: an operator that accepts few shapes may
  // not have met each, or in too few cases.
  void RunMissingValues(const Columns& columns, size_t number, void* shared) {
    for (const AttrValue& value : tally_.attrs.Missing(def())) {
      const std::vector<Known> accepted = accepted_;
      SecondValues alone = {value.second ? value.bit() : 0};
      if (!accepted.empty()) alone.length = accepted[0].second.length;
      size_t again = 0;
      for (Known other : accepted) {
        const bool has_second = (other.second.which & value.bit()) != 0;
        if (has_second == value.second) continue;
        if (++again > kMostAgain) break;
        other.second.which ^= value.bit();
        RunMissing(columns, value, other, shared);
        if (other.second.which != alone.which) {
          other.second.which = alone.which;
          RunMissing(columns, value, other, shared);
        }
      }
      const OpwrightAttr attr = MakeAttrs(def(), alone)[static_cast<size_t>(value.attr)];
      if (attr.type != kOpwrightAttrInt) continue;
      for (const Case& c : CasesOfMultiples(def(), attr.value.i))
        RunMissing(columns, value, {c, SeedOf(number++), alone, {}}, shared);
    }
  }

  void RunMissing(const Columns& columns, const AttrValue& value, const Known& known,
                  void* shared) {
    if (tally_.attrs.IsMetOften(value) || !MayGoOn()) return;
    Case c = known.c;
    c.fixed = known.second;
    if (LargestOf(c) > kTooMany) {
      const int times = tally_.attrs.Times(value);
      (void)RunWithin(columns, SmallerCase(def(), c), known.seed, shared);
      if (tally_.attrs.Times(value) > times || !MayGoOn()) return;
      c.samples_few = true;
    }
    (void)RunWithin(columns, c, known.seed, shared);
  }

  // An attribute whose two values give the same results: cases that were run, from the last on, are
  // run with the other value until the results differ.
  void RunOtherValues(const Columns& columns, void* shared) {
    const std::vector<Known> known = known_;
    for (const int32_t attr : AttrsWithSecond(def())) {
      size_t alike = 0;
      bool differs = false;
      const size_t step = known.size() / kMostOtherValues + 1;
      for (size_t k = known.size(); k > 0 && !differs && MayGoOn(); k -= std::min(k, step)) {
        const Known& each = known[k - 1];
        Case c = each.c;
        c.fixed = each.second;
        c.fixed->which ^= uint64_t{1} << attr;
        const size_t before = known_.size();
        differs = RunWithin(columns, c, each.seed, shared) != Answer::kTaken;
        if (differs || known_.size() == before) continue;
        differs = known_.back().results != each.results;
        ++alike;
      }
      if (!differs && alike > 0 && MayGoOn()) TakeUnread(attr);
    }
  }

  void TakeUnread(int32_t attr) {
    const auto text = [&](uint64_t which) {
      return AttrText(MakeAttrs(def(), {which})[static_cast<size_t>(attr)]);
    };
    const std::string name = def().attrs[attr]->name;
    Finding finding =
        Warning("CK026", StrCat("the attribute ", name, " changes nothing: ", text(0), " and ",
                                text(uint64_t{1} << attr), " give the same results in each case"));
    finding.argument = StrCat("attribute ", name);
    tally_.AddFinding(std::move(finding));
  }

  uint64_t SeedOf(size_t number) const { return options_.seed * 1000003 + number; }

  // Each child so far has met one size only, and one value of each attribute: the smallest case
  // after the largest, and the other way round, also the smallest without an empty tensor, which
  // may be the first whose backward kernel is called; and one after itself with other values.
  void RunAfterOthers(const Columns& columns, void* shared) {
    if (known_.empty()) return;
    const auto [least, most] = std::minmax_element(known_.begin(), known_.end(), &HasFewer);
    const auto small = std::min_element(known_.begin(), known_.end(), &HasFewerAndSome);
    for (const Known& each : {*least, *small}) {
      RunAfterOther(columns, each, *most, shared);
      RunAfterOther(columns, *most, each, shared);
      if (small == least) break;
    }
    Known other = known_[0];
    other.second.which ^= ~uint64_t{0};
    if (!AttrsWithSecond(def()).empty()) RunAfterOther(columns, other, known_[0], shared);
  }

  void RunAfterOther(const Columns& columns, const Known& before, const Known& after,
                     void* shared) {
    const bool alike =
        before.c.shapes == after.c.shapes && before.second.which == after.second.which;
    if (ended_ > 0 || alike) return;
    RunKnown(columns, after, shared,
             [&](Recorder* recorder) { RunAfter(op_, columns, before, after, recorder); });
  }

  // The first case is of an ordinary size, which a call goes through while it is counted.
  void RunInterrupted(const Columns& columns, void* shared) {
    if (known_.empty() || tally_.HasFound("CK010")) return;
    RunKnown(columns, known_[0], shared,
             [&](Recorder* recorder) { RunWholeCalls(op_, columns, known_[0], recorder); });
  }

  static bool HasFewer(const Known& a, const Known& b) { return ElementsOf(a.c) < ElementsOf(b.c); }

  // Those with an empty tensor come last.
  static bool HasFewerAndSome(const Known& a, const Known& b) {
    return std::pair(HasEmpty(a.c), ElementsOf(a.c)) < std::pair(HasEmpty(b.c), ElementsOf(b.c));
  }

  // Of a slow operator, as far as there is time.
  void RunKnown(const Columns& columns, const Known& known, void* shared,
                const std::function<void(Recorder*)>& body) {
    const auto [record, outcome] = InChild(shared, body);
    const std::string text = TextOf(columns, known.c, *record);
    tally_.Take(*record, known.c, text);
    const bool has_ended = outcome.ending == Ending::kFinished && record->state.threw == 0;
    if (!has_ended && outcome.ending != Ending::kTooSlow) TakeEnding(outcome, record->state, text);
  }

  std::pair<CaseRecord*, Outcome> InChild(void* shared,
                                          const std::function<void(Recorder*)>& body) {
    memset(shared, 0, sizeof(CaseRecord));
    auto* record = static_cast<CaseRecord*>(shared);
    const Outcome outcome = RunInChild(&record->state, options_.timeout_seconds, [&] {
      Recorder recorder(record);
      body(&recorder);
    });
    return {record, outcome};
  }

  std::string TextOf(const Columns& columns, const Case& c, const CaseRecord& record) const {
    std::string text = CaseText(def(), columns.column, c);
    for (const std::string& attrs :
         {std::string(record.second_values.chars), RequiredText(def(), record.second)})
      if (!attrs.empty()) text += StrCat("; ", attrs);
    return text;
  }

  // An operator whose time grows faster than its inputs is tried with smaller ones.
  void RunOne(const Columns& columns, const Case& c, size_t number, void* shared) {
    const uint64_t seed = SeedOf(number);
    if (!smaller_.contains(number) && RunWithin(columns, c, seed, shared) != Answer::kTooSlow)
      return;
    Case& smaller = smaller_.try_emplace(number, SmallerCase(def(), c)).first->second;
    smaller.sought = true;
    if (smaller.shapes != c.shapes && RunWithin(columns, smaller, seed, shared) == Answer::kTaken)
      return;
    tally_.undecided = true;
    ++too_slow_;
    Finding finding = FindingOfSlow(options_.timeout_seconds);
    finding.case_text = CaseText(def(), columns.column, c);
    tally_.AddFinding(std::move(finding));
  }

  enum class Answer { kTaken, kRefused, kTooSlow };

  // kTooSlow: there was no time for all of its calls.
  Answer RunWithin(const Columns& columns, Case c, uint64_t seed, void* shared) {
    const auto [record, outcome] =
        InChild(shared, [&](Recorder* recorder) { RunCase(op_, columns, c, seed, recorder); });
    c.values = record->values;
    const std::string text = TextOf(columns, c, *record);
    if (outcome.ending == Ending::kTooSlow) {
      tally_.TakeUnfinished(*record, c, text);
      return Answer::kTooSlow;
    }
    tally_.Take(*record, c, text);
    if (record->results.chars[0] != 0 && record->empty == 0)
      known_.push_back({c, seed, record->second, record->results.chars});
    if (outcome.ending == Ending::kFinished && record->state.threw == 0) {
      TakeFinished(*record, c, seed);
      return record->refused == 0 ? Answer::kTaken : Answer::kRefused;
    }
    TakeEnding(outcome, record->state, text);
    return Answer::kTaken;
  }

  void TakeFinished(const CaseRecord& record, const Case& c, uint64_t seed) {
    tally_.attrs.Take(record, c);
    if (record.refused == 0) {
      ++tally_.report.cases_run;
      tally_.judged += record.empty == 0;
      if (record.empty == 0 && !c.slight && !c.long_axis && !c.fixed)
        accepted_.push_back({c, seed, record.second, {}});
      return;
    }
    // These values or shapes may be refused.
    if (c.fixed || c.sought) return;
    ++tally_.report.cases_refused;
    const std::string reason = record.refusal.chars;
    std::vector<std::string>& refusals = tally_.report.refusals;
    if (refusals.size() < 8 &&
        std::find(refusals.begin(), refusals.end(), reason) == refusals.end())
      refusals.push_back(reason);
  }

  void TakeEnding(const Outcome& outcome, const ChildState& state, const std::string& text) {
    Finding finding = FindingOfEnding(outcome, state, tally_.report.name, options_.timeout_seconds);
    finding.case_text = text;
    switch (outcome.ending) {
      case Ending::kTimedOut:
        hangs_ = true;
        [[fallthrough]];
      case Ending::kCrashed:
      case Ending::kExited:
        ++tally_.report.cases_run;
        ++tally_.judged;
        break;
      default:
        tally_.undecided = true;
    }
    ++ended_;
    tally_.AddFinding(std::move(finding));
  }

  Operator& op_;
  const Options& options_;
  Tally tally_;
  std::vector<Known> known_;  // of the column
  std::vector<Known> accepted_;  // cases of several elements, without their results
  std::vector<std::pair<size_t, Case>> sought_;  // those that were sought, by number
  int32_t gradient_column_ = -1;
  int ended_ = 0;
  bool hangs_ = false;
  std::map<size_t, Case> smaller_;  // of the cases, by number, that take too long
  int too_slow_ = 0;  // also then
};

}  // namespace

OperatorReport CheckOperator(Operator& op, const Options& options) {
  return OperatorCheck(op, options).Run();
}

}  // namespace opwright::check

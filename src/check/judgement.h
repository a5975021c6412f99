// SPDX-License-Identifier: Apache-2.0
//
// One element of a gradient against the differences there.
#pragma once

#include "check/slope.h"

namespace opwright::check {

struct Judgement {
  bool decided = false;
  double expected = 0;
  double error = 0;
  double tolerance = 0;

  bool right() const { return decided && error <= tolerance; }
  // Whether a wrong factor of a few percent would be seen.
  bool fine() const;
};

// What the differences are judged by, beside the slope itself.
struct Measure {
  double scale = 0;  // the largest slope of the whole gradient
  double noise = 0;  // of the gradient's element
  double floor = 0;  // what rounding leaves of a gradient that is zero
  double hidden = 0;  // a slope that small moves no output's last place
  OpwrightDType dtype = {};  // the least precise
};

// One element's gradient by the differences there: their slope where the function is smooth, else
// whatever lies between the slopes to either side.
Judgement Judge(const Slope& slope, double got, const Measure& measure);

// A factor that all elements have in common, which averages out what the noise of each hides in a
// narrow dtype. What does not average out: the rounding of an output that many elements move, as
// that of a loss, and of outputs of one value, which is the same.
class CommonFactor {
 public:
  explicit CommonFactor(OpwrightDType dtype) : dtype_(dtype) {}
  // In a narrow dtype only.
  bool applies() const;
  // Of an element that is right where the function is smooth. rounding: of its slope.
  void Add(double got, const Judgement& judged, const RoundingByValue& rounding);
  // Whether it is not one.
  bool wrong() const;
  double value() const { return product_ / square_; }
  // How far it may be from one.
  double allowed() const;

 private:
  OpwrightDType dtype_;
  double product_ = 0;  // weighted by what is known of each element
  double square_ = 0;
  double got_square_ = 0;
  RoundingByValue rounding_;  // of the product
  int64_t elements_ = 0;
};

}  // namespace opwright::check

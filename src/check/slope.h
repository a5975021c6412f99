// SPDX-License-Identifier: Apache-2.0
//
// The slope of a weighted sum of outputs along one element of one input, from outputs at a few
// points, with the noise that was measured while taking it.
#pragma once

#include <cmath>
#include <map>
#include <vector>

#include "check/own_values.h"

namespace opwright::check {

// What rounding leaves of a slope, of all outputs of one value, but for its sign, together: they
// may be rounded alike.
using RoundingByValue = std::map<double, double>;

// How many times the rounding of one difference Richardson's weights let through.
constexpr double kRichardson = 1.5;

// The derivative of sum(c * out) by one element of one input, for one cotangent c.
struct Slope {
  double value = 0;
  double noise = 0;
  double rounding = 0;  // the part of the noise that does not come from the step
  // What a smaller step said, where one did: with more noise, but without what a large step misses.
  double before = NAN;
  double before_noise = 0;
  // Rounding of intermediate values as large as the operator's results elsewhere, which may be
  // there and which nothing shows.
  double floor = 0;
  double length = 0;  // of the short step, from one side to the other
  double terms = 0;  // the sum of the sizes of what was summed
  double sides = 0;  // that of the slopes to either side
  bool smooth = true;  // false: a kink or a jump, or something that is not finite
  bool kink = false;  // the slopes to either side differ, or nothing is finite
  // What the differences to either side say: at a kink every slope between them is one.
  double low = 0;
  double high = 0;
  double side_noise = INFINITY;
  // The slopes go on changing at smaller steps, or those of tied elements do not add up: they say
  // nothing of a finite gradient.
  bool unsettled = false;
  // It grows without bound as the step shrinks, as that of a cube root at zero: an infinite
  // gradient of that sign is right, and nothing is said of a finite one.
  bool up = false;
  bool down = false;
  bool endless() const { return up || down; }
};

// The outputs at x + h, x - h, x + h/2, x - h/2; at 0 also with a far smaller step.
struct Samples {
  std::vector<double> out[6];
  double at[6];
  size_t count;
};

// Whether output j is another at one of the points.
bool Moves(const Samples& s, const std::vector<double>& centre, size_t j);

// moving: the outputs that the element is known to move, though perhaps by less than their last
// place; may be null.
Slope SlopeOf(const Samples& s, const OwnValues& own, double x, const std::vector<double>& c,
              const std::vector<bool>* moving);

// Whether the slopes at the far smaller step are others: `slope` is one of a scale only.
bool Unsettled(const Slope& slope, const Samples& s, const OwnValues& own, double x,
               const std::vector<double>& c);

// Whether it grows without bound. samples: from the largest step on, at 0.
void FindEndless(const std::vector<Samples>& samples, const OwnValues& own,
                 const std::vector<double>& c, Slope* slope);

// Slopes of one element with growing steps, from the smallest on: as long as they agree, the one
// with the least noise is right. A larger step that does not agree is too large, and so are those
// after it.
class Agreement {
 public:
  void Add(const Slope& slope, double step);
  // Whether there is one that another confirms, or that is clear alone. size: of the results.
  bool settled(double size) const;
  bool empty() const { return taken_.empty(); }
  // Whether the outputs have gone through all of their values within the smallest steps.
  bool too_fast() const { return first_reach_ > 0.25 * reach_; }
  Slope Best() const;

 private:
  struct Taken {
    Slope slope;
    double step;
  };
  std::vector<Taken> taken_;
  size_t best_ = 0;
  bool ended_ = false;
  // How far the two smallest steps move the outputs beyond rounding, how far any step does.
  int steps_ = 0;
  double first_reach_ = 0;
  double reach_ = 0;
};

}  // namespace opwright::check

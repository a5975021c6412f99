// SPDX-License-Identifier: Apache-2.0
//
// What is said of a child that could not be started.
#include "check/ending.h"

#include <cerrno>

#include <gtest/gtest.h>

namespace opwright::check {
namespace {

TEST(Ending, AChildThatCouldNotBeStartedIsNoMistakeOfTheOperatorAndSaysWhy) {
  const ChildState state = {};
  const Finding finding = FindingOfEnding({Ending::kNoChild, EAGAIN}, state, "add", 60);
  EXPECT_EQ(finding.id, "CK018");
  EXPECT_EQ(finding.severity, Severity::kWarning);
  EXPECT_EQ(finding.message,
            "no child process could be started (Resource temporarily unavailable)");
}

}  // namespace
}  // namespace opwright::check

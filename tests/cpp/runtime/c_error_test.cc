// SPDX-License-Identifier: Apache-2.0
#include "runtime/c_error.h"

#include <gtest/gtest.h>

namespace opwright {
namespace {

TEST(CError, SaysDiagnosticsInTheWordsOfTheCommandLine) {
  const Error error("RG004", "the metadef has errors",
                    {{"MD002", Severity::kError, "op.json", 3, 5, 2, "a \"b\"", "write c"},
                     {"MD030", Severity::kWarning, "", 0, 0, 0, "d", ""}});
  OpwrightError* c = ToC(error);
  EXPECT_STREQ(c->diagnostics,
               R"([{"file": "op.json", "line": 3, "column": 5, "length": 2, "severity": "error", )"
               R"("id": "MD002", "message": "a \"b\"", "hint": "write c"}, )"
               R"({"file": "", "line": 0, "column": 0, "length": 0, "severity": "warning", )"
               R"("id": "MD030", "message": "d", "hint": ""}])");
  c->destroy(c);
}

TEST(CError, HasNoListWithoutDiagnostics) {
  OpwrightError* c = ToC(Error("CL001", "no"));
  EXPECT_EQ(c->diagnostics, nullptr);
  c->destroy(c);
}

}  // namespace
}  // namespace opwright

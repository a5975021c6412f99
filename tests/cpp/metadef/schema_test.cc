// SPDX-License-Identifier: Apache-2.0
//
// The committed schema is the one that the table gives. After a change of the table write it anew:
//   OPWRIGHT_WRITE_SCHEMA=1 build/dev/tests/cpp/metadef/metadef_test --gtest_filter=Schema.*
#include <cstdlib>

#include "testing.h"

namespace opwright::metadef {
namespace {

TEST(Schema, IsTheCommittedOne) {
  const std::string path = AbsolutePath(OPWRIGHT_REPOSITORY "/schema/metadef.schema.json");
  if (std::getenv("OPWRIGHT_WRITE_SCHEMA") != nullptr) {
    ASSERT_TRUE(WriteFileAtomic(path, EmitSchema()).ok());
  }
  const Expected<std::string> committed = opwright::ReadFile(path);
  ASSERT_TRUE(committed.ok()) << committed.error().message;
  EXPECT_EQ(EmitSchema(), *committed);
}

}  // namespace
}  // namespace opwright::metadef

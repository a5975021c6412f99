// SPDX-License-Identifier: Apache-2.0
//
// Tests use the cache of the build tree, never the user's.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/file.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (!opwright::MakeFolders(OPWRIGHT_TEST_WORK "/cache", 0700).ok()) return 2;
  setenv("OPWRIGHT_CACHE", OPWRIGHT_TEST_WORK "/cache", 1);
  for (const char* name : {"OPWRIGHT_PATH", "RANK", "CXX", "CC"}) unsetenv(name);
  return RUN_ALL_TESTS();
}

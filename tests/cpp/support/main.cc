// SPDX-License-Identifier: Apache-2.0
//
// Tests use the cache of the build tree, never the user's.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/file.h"

#ifdef __SANITIZE_THREAD__
// A forked child starts threads of its own: the sanitizer goes on, and only stops to look for races
// there.
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }
#endif

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (!opwright::MakeFolders(OPWRIGHT_TEST_WORK "/cache", 0700).ok()) return 2;
  setenv("OPWRIGHT_CACHE", OPWRIGHT_TEST_WORK "/cache", 1);
  for (const char* name : {"OPWRIGHT_PATH", "RANK", "CXX", "CC"}) unsetenv(name);
  return RUN_ALL_TESTS();
}

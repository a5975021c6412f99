// SPDX-License-Identifier: Apache-2.0
//
// Running compilers: how many at once, in which environment, and what comes back.
#include "build/process.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "base/file.h"
#include "fixture.h"

namespace opwright::build {
namespace {

class Process : public BuildFixture {};

TEST_F(Process, MaxJobsLimitsTheCompilers) {
  const int all = CompileJobs();
  EXPECT_GE(all, 1);
  SetEnv("MAX_JOBS", "1");
  EXPECT_EQ(CompileJobs(), 1);
  SetEnv("MAX_JOBS", "100000");
  EXPECT_EQ(CompileJobs(), all);
  SetEnv("MAX_JOBS", "none");
  EXPECT_EQ(CompileJobs(), all);
}

TEST_F(Process, InputOutputExitCodeAndSignal) {
  const std::string large(1 << 20, 'x');
  auto echoed = RunProcess({"/bin/cat"}, large);
  ASSERT_TRUE(echoed.ok());
  EXPECT_TRUE(echoed->output == large);
  EXPECT_EQ(RunProcess({"/bin/sh", "-c", "echo e >&2; exit 3"})->exit_code, 3);
  EXPECT_EQ(RunProcess({"/bin/sh", "-c", "kill -9 $$"})->exit_code, 137);
  auto missing = RunProcess({"/no/such/program"});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().id, "BD027");
}

TEST_F(Process, TheLanguageIsEnglishAndTheFolderDoesNotMatter) {
  SetEnv("LANG", "zh_CN.UTF-8");
  SetEnv("LC_MESSAGES", "zh_CN.UTF-8");
  SetEnv("LANGUAGE", "zh");
  auto run = RunProcess({"/bin/sh", "-c", "pwd; env"});
  ASSERT_TRUE(run.ok());
  EXPECT_TRUE(run->output.starts_with("/\n"));
  EXPECT_EQ(run->output.find("zh"), std::string::npos);
  EXPECT_NE(run->output.find("LC_ALL=C.UTF-8"), std::string::npos);
}

TEST_F(Process, ATimeLimitEndsTheProgramAndThoseItStarted) {
  RunOptions options;
  options.seconds = 2;
  auto run = RunProcess({"/bin/sh", "-c", "sleep 1000 & echo $!; exec sleep 1000"}, options);
  ASSERT_TRUE(run.ok());
  EXPECT_TRUE(run->timed_out);
  EXPECT_FALSE(run->ok());
  const int started = std::atoi(run->output.c_str());
  ASSERT_GT(started, 0) << run->output;
  // Killed: gone, or a zombie until its new parent looks.
  std::string state = "R";
  for (int wait = 0; wait < 500 && state != "" && state != "Z"; ++wait) {
    usleep(10'000);
    Expected<std::string> stat = ReadFile("/proc/" + std::to_string(started) + "/stat");
    state = stat.ok() ? stat->substr(stat->rfind(") ") + 2, 1) : "";
  }
  EXPECT_TRUE(state == "" || state == "Z") << state;
}

TEST_F(Process, WithinItsTimeLimitAProgramEndsAsWithoutOne) {
  RunOptions options;
  options.seconds = 1000;
  options.input = "text";
  options.in_working_folder = true;
  auto run = RunProcess({"/bin/sh", "-c", "cat; pwd; exit 3"}, options);
  ASSERT_TRUE(run.ok());
  EXPECT_FALSE(run->timed_out);
  EXPECT_EQ(run->exit_code, 3);
  EXPECT_EQ(run->output, "text" + WorkingFolder() + "\n");
}

TEST(CommandText, CanBeTypedIntoAShell) {
  EXPECT_EQ(CommandText({"c++", "-DX=1", "a b", "it's", ""}), "c++ -DX=1 'a b' 'it'\\''s' ''");
}

}  // namespace
}  // namespace opwright::build

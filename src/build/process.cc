// SPDX-License-Identifier: Apache-2.0
#include "build/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "base/file.h"
#include "base/text.h"

extern char** environ;

namespace opwright::build {
namespace {

// The environment without what changes a compiler's language or adds remarks of its own.
std::vector<std::string> Environment() {
  std::vector<std::string> kept;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    if (name == "LANG" || name == "LANGUAGE" || name.starts_with("LC_") || name == "GCC_COLORS")
      continue;
    kept.emplace_back(text);
  }
  kept.emplace_back("LC_ALL=C.UTF-8");
  return kept;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { Close(); }
  int get() const { return fd_; }
  void Close() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

Error SpawnError(const std::string& program, int error_number) {
  return MakeError("BD027", StrCat("cannot start ", program, ": ", std::strerror(error_number)));
}

// A file without a name, positioned at its start: a pipe could fill while nobody reads.
int InputFile(std::string_view input) {
  const int fd = memfd_create("opwright", MFD_CLOEXEC);
  while (fd >= 0 && !input.empty()) {
    const ssize_t n = write(fd, input.data(), input.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      close(fd);
      return -1;
    }
    input.remove_prefix(static_cast<size_t>(n));
  }
  if (fd >= 0) lseek(fd, 0, SEEK_SET);
  return fd;
}

using Clock = std::chrono::steady_clock;

// Whether there is something to read, or an end of it, before the deadline.
bool ReadableBefore(int fd, Clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd waiting{fd, POLLIN, 0};
    const int ready = poll(&waiting, 1, static_cast<int>(std::clamp<int64_t>(left, 0, 1000)));
    if (ready > 0) return true;
    if (left <= 0) return false;
  }
}

}  // namespace

Expected<Finished> RunProcess(const std::vector<std::string>& argv, std::string_view input) {
  RunOptions options;
  options.input = input;
  return RunProcess(argv, options);
}

Expected<Finished> RunProcess(const std::vector<std::string>& argv, const RunOptions& options) {
  const bool limited = options.seconds > 0;
  std::vector<std::string> arguments = argv;
  std::vector<std::string> variables = Environment();
  const std::vector<char*> argument_pointers = Pointers(arguments);
  const std::vector<char*> variable_pointers = Pointers(variables);

  const Fd in(InputFile(options.input));
  int ends[2];
  if (in.get() < 0 || pipe2(ends, O_CLOEXEC) != 0) return SpawnError(argv[0], errno);
  const Fd out(ends[0]);
  Fd child_out(ends[1]);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.get(), 0);
  posix_spawn_file_actions_adddup2(&actions, child_out.get(), 1);
  posix_spawn_file_actions_adddup2(&actions, child_out.get(), 2);
  if (!options.in_working_folder) posix_spawn_file_actions_addchdir_np(&actions, "/");
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // A group of its own can be killed whole.
  if (limited) posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t child = 0;
  const int failed = posix_spawn(&child, argv[0].c_str(), &actions, &attributes,
                                 argument_pointers.data(), variable_pointers.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  child_out.Close();
  if (failed != 0) return SpawnError(argv[0], failed);

  Finished finished;
  const auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(
                         std::chrono::duration<double>(std::min(options.seconds, 1e6)));
  char buffer[16384];
  for (;;) {
    if (limited && !ReadableBefore(out.get(), deadline)) {
      finished.timed_out = true;
      kill(-child, SIGKILL);
      break;
    }
    const ssize_t n = read(out.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    finished.output.append(buffer, static_cast<size_t>(n));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno == EINTR) continue;
    // A host that ignores SIGCHLD takes the status away; what the compiler wrote then decides.
    return errno == ECHILD ? Expected<Finished>(std::move(finished)) : SpawnError(argv[0], errno);
  }
  finished.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return finished;
}

std::string CommandText(const std::vector<std::string>& argv) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=+,:@%";
  std::string text;
  for (const std::string& word : argv) {
    if (!text.empty()) text += ' ';
    if (!word.empty() && word.find_first_not_of(kPlain) == word.npos) {
      text += word;
      continue;
    }
    text += '\'';
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += '\'';
  }
  return text;
}

int CompileJobs() {
  cpu_set_t set;
  int jobs = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  // "max 100000", or the quota and its period in microseconds.
  if (Expected<std::string> quota = ReadFile("/sys/fs/cgroup/cpu.max"); quota.ok()) {
    char* rest = nullptr;
    const long allowed = std::strtol(quota->c_str(), &rest, 10);
    const long period = rest != nullptr ? std::strtol(rest, nullptr, 10) : 0;
    if (allowed > 0 && period > 0)
      jobs = std::min(jobs, static_cast<int>(std::max(1L, (allowed + period - 1) / period)));
  }
  if (const char* asked = std::getenv("MAX_JOBS"))
    if (const long most = std::strtol(asked, nullptr, 10); most > 0)
      jobs = static_cast<int>(std::min<long>(jobs, most));
  return std::max(jobs, 1);
}

}  // namespace opwright::build

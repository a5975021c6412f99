// SPDX-License-Identifier: Apache-2.0
//
// What the doctor finds: one line, and what to do where something is wrong.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace opwright::doctor {

// kNote: good to know, nothing to do at once. kWarning: some uses fail. kError: Opwright, or a
// framework that is installed, does not work.
enum class Level { kOk, kNote, kWarning, kError };

struct Finding {
  Level level = Level::kOk;
  std::string check;  // what was looked at; scripts may ask for it by this name
  std::string found;
  std::string cure;  // "" when nothing is wrong
};

using Findings = std::vector<Finding>;

inline void Add(Findings* findings, Level level, std::string check, std::string found,
                std::string cure = "") {
  findings->push_back({level, std::move(check), std::move(found), std::move(cure)});
}

}  // namespace opwright::doctor

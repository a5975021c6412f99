// SPDX-License-Identifier: Apache-2.0
//
// aoc: a kernel source to an operator library without metadef, with a compiler's flags.
#pragma once

namespace opwright::cli {

int RunAoc(int argc, char** argv);

}  // namespace opwright::cli

// SPDX-License-Identifier: Apache-2.0
//
// Words for a JSON syntax error: the parser knows that a token is wrong, this file says which slip
// it is.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"

namespace opwright::metadef {

// What the parser knew when it gave up.
struct SyntaxContext {
  size_t after = 0;    // end of the last key, value or opening bracket that it took
  size_t stop = 0;     // bytes that it had read
  char container = 0;  // the innermost one: '{', '[' or 0
  size_t container_begin = 0;
  bool after_key = false;  // that last token was a key
  bool number_overflow = false;
};

Diagnostic ExplainSyntaxError(std::string_view text, const std::string& file,
                              const SyntaxContext& context);

}  // namespace opwright::metadef

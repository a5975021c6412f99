// SPDX-License-Identifier: Apache-2.0
//
// Operators written in a test: their kernels and metadefs become one library, built once for all
// tests.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "build/build.h"
#include "check/check.h"

namespace opwright::check {

// "x: \"...\", \"n\"": a name and a shape list. A "?" before the name: optional, "*": dynamic.
inline std::string Params(const std::vector<std::string>& params, const std::string& dtypes) {
  std::vector<std::string> out;
  for (const std::string& param : params) {
    const size_t colon = param.find(':');
    const std::string kind = param[0] == '?' ? "optional" : param[0] == '*' ? "dynamic" : "";
    const size_t begin = kind.empty() ? 0 : 1;
    out.push_back(StrCat("{\"name\": \"", param.substr(begin, colon - begin), "\", \"dtype\": [",
                         dtypes, "], \"format\": [\"ND\"], \"shape\": [", param.substr(colon + 1),
                         "]", kind.empty() ? "" : StrCat(", \"param_type\": \"", kind, "\""), "}"));
  }
  return StrCat("[", Join(out, ", "), "]");
}

inline std::string Metadef(const std::string& name, const std::vector<std::string>& inputs,
                           const std::vector<std::string>& outputs, const std::string& rule,
                           const std::string& gradient = "",
                           const std::string& dtypes = "\"float64\"") {
  return StrCat("{\"op_name\": \"", name,
                "\", \"op_type\": \"Custom\", \"input_desc\": ", Params(inputs, dtypes),
                ", \"output_desc\": ", Params(outputs, dtypes),
                rule.empty() ? std::string() : StrCat(", \"shape_rule\": \"", rule, "\""),
                gradient.empty() ? std::string() : StrCat(", \"gradient\": \"", gradient, "\""),
                "}");
}

// The metadef with further fields, each with a comma in front.
inline std::string WithFields(std::string metadef, const std::string& fields) {
  metadef.pop_back();
  return StrCat(metadef, fields, "}");
}

// One without a value is required.
inline std::string Attr(const std::string& name, const std::string& type,
                        const std::string& value) {
  const std::string common = StrCat("{\"name\": \"", name, "\", \"type\": \"", type, "\", ");
  return value.empty()
             ? StrCat(common, "\"param_type\": \"required\"}")
             : StrCat(common, "\"param_type\": \"optional\", \"default_value\": ", value, "}");
}

inline std::string WithAttrs(const std::string& metadef, const std::vector<std::string>& attrs) {
  return WithFields(metadef, StrCat(", \"attr\": [", Join(attrs, ", "), "]"));
}

// A class kernel with this body; `in` and `out` are its arguments.
inline std::string Kernel(const std::string& name, const std::string& body) {
  return StrCat("class K_", name,
                " : public opwright::OpKernelBase {\n public:\n  opwright::Status Compute(const "
                "opwright::OpKernelInput& in, "
                "opwright::OpKernelOutput* out) override {\n    (void)in; (void)out;\n",
                body, "\n    return opwright::SUCCESS;\n  }\n};\nOPWRIGHT_KERNEL(", name, ", K_",
                name, ")\n\n");
}

// Each `from` of the text is `to`.
inline std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

// The path of the library, built in a folder of the build tree; "" with a failure.
inline std::string BuildLibrary(const std::string& name, const std::string& source,
                                const std::vector<std::string>& metadefs) {
  const std::string folder = JoinPath(OPWRIGHT_CHECK_WORK, name);
  setenv("OPWRIGHT_CACHE", JoinPath(OPWRIGHT_CHECK_WORK, "cache").c_str(), 1);
  EXPECT_TRUE(MakeFolders(folder).ok());
  EXPECT_TRUE(WriteFileAtomic(JoinPath(folder, "kernels.cpp"), source).ok());
  EXPECT_TRUE(
      WriteFileAtomic(JoinPath(folder, "op.json"), StrCat("[", Join(metadefs, ",\n"), "]")).ok());
  build::Request request;
  request.sources = {folder};
  Expected<build::Result> built = build::Build(request);
  EXPECT_TRUE(built.ok()) << built.error().Text();
  return built.ok() ? built->path : "";
}

// How many seeds are tried: memory, which sanitizers look at, is the same with each.
inline uint64_t Times(uint64_t seeds) {
#if defined(__SANITIZE_ADDRESS__)
  (void)seeds;
  return 1;
#else
  return seeds;
#endif
}

// What random values come near to is luck. $OPWRIGHT_CHECK_SEEDS asks for more.
inline uint64_t Seeds() {
  const char* const asked = getenv("OPWRIGHT_CHECK_SEEDS");
  return asked != nullptr ? strtoull(asked, nullptr, 10) : Times(2);
}

inline OperatorReport CheckOne(const std::string& library, const std::string& op,
                               double timeout = 60, uint64_t seed = 1) {
  Options options;
  options.seed = seed;
  options.op = op;
  options.timeout_seconds = timeout;
  Expected<Report> report = CheckLibrary(library, options);
  EXPECT_TRUE(report.ok()) << report.error().Text();
  if (!report.ok() || report->operators.size() != 1) return {};
  return report->operators[0];
}

inline std::string TextOf(const OperatorReport& op) {
  Report report;
  report.operators = {op};
  return RenderText(report);
}

// Right and without a finding, at the first seeds.
inline void ExpectSound(const std::string& library, const std::string& name) {
  for (uint64_t seed = 0; seed < Times(4); ++seed) {
    const OperatorReport op = CheckOne(library, name, 60, seed);
    EXPECT_EQ(op.verdict, Verdict::kRight) << "seed " << seed << "\n" << TextOf(op);
    EXPECT_TRUE(op.findings.empty()) << "seed " << seed << "\n" << TextOf(op);
  }
}

inline const Finding* FindingOf(const OperatorReport& op, const std::string& id) {
  for (const Finding& finding : op.findings)
    if (finding.id == id) return &finding;
  return nullptr;
}

inline const GradientRow* RowOf(const OperatorReport& op, const std::string& input) {
  for (const GradientRow& row : op.rows)
    if (row.input == input) return &row;
  return nullptr;
}

}  // namespace opwright::check

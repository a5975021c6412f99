// SPDX-License-Identifier: Apache-2.0
//
// Functions of every scale and steepness: the right gradient passes, and one that is off by a few
// percent, in its sign or in one element does not.
#include <algorithm>

#include "library.h"

namespace opwright::check {
namespace {

struct Function {
  const char* name;
  const char* dtype;
  const char* f;  // of v, a double of float64 and else a float
  const char* df;
};

const std::vector<Function>& Functions() {
  static const std::vector<Function>& functions = *new std::vector<Function>{
      {"tiny_square", "float64", "V(1e-12) * v * v", "V(2e-12) * v"},
      {"tiniest_sine", "float64", "V(1e-30) * std::sin(v)", "V(1e-30) * std::cos(v)"},
      {"huge_sine", "float64", "V(1e12) * std::sin(v)", "V(1e12) * std::cos(v)"},
      {"tiny_square_single", "float32", "V(1e-12) * v * v", "V(2e-12) * v"},
      {"tiniest_line_single", "float32", "V(1e-30) * v", "V(1e-30)"},
      {"huge_sine_single", "float32", "V(1e12) * std::sin(v)", "V(1e12) * std::cos(v)"},
      {"fast_sine", "float64", "std::sin(V(1e5) * v)", "V(1e5) * std::cos(V(1e5) * v)"},
      {"steep_tanh", "float64", "std::tanh(V(1e4) * v)",
       "V(1e4) * (1 - std::tanh(V(1e4) * v) * std::tanh(V(1e4) * v))"},
      {"steep_exp", "float64", "std::exp(30 * v)", "30 * std::exp(30 * v)"},
      {"reciprocal", "float64", "1 / v", "-1 / (v * v)"},
      {"reciprocal_single", "float32", "1 / v", "-1 / (v * v)"},
      {"ninth_power", "float64", "std::pow(v, V(9))", "9 * std::pow(v, V(8))"},
      {"ninth_power_single", "float32", "std::pow(v, V(9))", "9 * std::pow(v, V(8))"},
      {"flat_log", "float64", "std::log1p(V(1e-6) * v)", "V(1e-6) / (1 + V(1e-6) * v)"},
      {"flat_log_single", "float32", "std::log1p(V(1e-6) * v)", "V(1e-6) / (1 + V(1e-6) * v)"},
      {"offset_single", "float32", "V(1e6) + v", "V(1)"},
      {"slope_under_offset", "float64", "1 + V(1e-13) * v", "V(1e-13)"},
      {"inner_single", "float64", "float(v) * std::sin(float(v))",
       "std::sin(float(v)) + float(v) * std::cos(float(v))"},
      {"square_half", "float16", "v * v", "2 * v"},
      {"tanh_half", "float16", "std::tanh(v)", "1 - std::tanh(v) * std::tanh(v)"},
      {"square_bfloat", "bfloat16", "v * v", "2 * v"},
  };
  return functions;
}

struct Off {
  const char* name;
  const char* factor;  // of element i
};

// Too fast for the steps that a dtype has, under an offset that swallows it, or smaller than all
// numbers that have their digits.
const std::vector<Function>& Hidden() {
  static const std::vector<Function>& functions = *new std::vector<Function>{
      {"fast_sine_single", "float32", "std::sin(V(1e5) * v)", "V(1e5) * std::cos(V(1e5) * v)"},
      {"line_under_offset", "float64", "1 + V(1e-17) * v", "V(1e-17)"},
      {"subnormal", "float64", "V(1e-311) * v", "V(1e-311)"},
      {"subnormal_single", "float32", "V(1e-41) * v", "V(1e-41)"},
  };
  return functions;
}

// Narrow dtypes whose values often lie on a kink or a step, or nearest to it.
const std::vector<Function>& Stepped() {
  static const std::vector<Function>& functions = *new std::vector<Function>{
      {"floor_half", "float16", "std::floor(v)", "V(0)"},
      {"positive_part_half", "float16", "v > 0 ? v : V(0)", "(v > 0 ? V(1) : V(0))"},
      {"clamp_bfloat", "bfloat16", "v < -1 ? V(-1) : v > 1 ? V(1) : v",
       "(v >= -1 && v <= 1 ? V(1) : V(0))"},
  };
  return functions;
}

const std::vector<Off>& Offs() {
  static const std::vector<Off>& offs = *new std::vector<Off>{
      {"right", "V(1)"},
      {"too_large", "V(1.05)"},
      {"sign", "V(-1)"},
      {"one_element", "(i > 0 ? V(1) : sizeof(T) == 2 ? V(1.5) : V(1.05))"},
  };
  return offs;
}

constexpr char kHead[] =
    "#include <opwright/kernel.h>\n#include <cmath>\n#include <type_traits>\n"
    "using opwright::View;\n"
    "template <class T> using Wide = std::conditional_t<sizeof(T) == 8, double, float>;\n";

// f and df are expressions of v and of its dtype V; df of the element's number i too.
void AddOperator(const std::string& name, const std::string& dtypes, const std::string& f,
                 const std::string& df, std::string* source, std::vector<std::string>* metadefs) {
  const std::string each =
      "  using V = Wide<T>;\n  for (int64_t i = 0; i < x.Size(); ++i) {\n"
      "    const V v = static_cast<V>(x.Data()[i]);\n    (void)v;\n";
  *source += StrCat("template <class T> void F_", name, "(View<const T> x, View<T> y) {\n", each,
                    "    y.Data()[i] = static_cast<T>(V(", f, "));\n  }\n}\nOPWRIGHT_FUNCTION(",
                    name, ", F_", name, ")\n");
  *source += StrCat("template <class T> void G_", name,
                    "(View<const T> x, View<const T> g, View<T> gx) {\n", each,
                    "    gx.Data()[i] = static_cast<T>(V(static_cast<V>(g.Data()[i]) * (", df,
                    ")));\n  }\n}\nOPWRIGHT_FUNCTION(", name, "_grad, G_", name, ")\n");
  metadefs->push_back(Metadef(name, {"x: -2"}, {"y: -2"}, "same(x)", name + "_grad", dtypes));
  metadefs->push_back(
      Metadef(name + "_grad", {"x: -2", "grad_y: -2"}, {"grad_x: -2"}, "same(x)", "", dtypes));
}

const std::string& Library() {
  static const std::string& path = *new std::string([] {
    std::string source = kHead;
    std::vector<std::string> metadefs;
    for (const auto* functions : {&Functions(), &Hidden(), &Stepped()})
      for (const Function& fn : *functions)
        for (const Off& off : Offs())
          AddOperator(StrCat(fn.name, "_", off.name), StrCat("\"", fn.dtype, "\""), fn.f,
                      StrCat(off.factor, " * (", fn.df, ")"), &source, &metadefs);
    return BuildLibrary("scales", source, metadefs);
  }());
  return path;
}

// One dtype column of two is wrong by a twentieth, whatever the scale.
struct Column {
  const char* name;
  const char* narrow;
  const char* scale;
  const char* f;  // of v
  const char* df;
  const char* output;  // factors of the narrow column
  const char* gradient;
  bool right;
};
const std::vector<Column>& Columns() {
  static const std::vector<Column>& columns = *new std::vector<Column>{
      {"single", "float32", "1e-12", "std::sin(v)", "std::cos(v)", "1", "1", true},
      {"single_output", "float32", "1e-12", "std::sin(v)", "std::cos(v)", "1.05", "1", false},
      {"single_gradient", "float32", "1e-12", "std::sin(v)", "std::cos(v)", "1", "1.05", false},
      {"single_huge", "float32", "1e12", "std::sin(v)", "std::cos(v)", "1", "1", true},
      {"single_huge_gradient", "float32", "1e12", "std::sin(v)", "std::cos(v)", "1", "1.05", false},
      {"half", "float16", "1", "std::sin(v)", "std::cos(v)", "1", "1", true},
      {"half_output", "float16", "1", "std::sin(v)", "std::cos(v)", "1.05", "1", false},
      {"half_gradient", "float16", "1", "std::sin(v)", "std::cos(v)", "1", "1.05", false},
  };
  return columns;
}

const std::string& ColumnLibrary() {
  static const std::string& path = *new std::string([] {
    std::string source = kHead;
    std::vector<std::string> metadefs;
    for (const Column& c : Columns()) {
      const auto of = [&](const char* f, const char* factor) {
        return StrCat("V(", c.scale, ") * ", f, " * (sizeof(T) == 8 ? V(1) : V(", factor, "))");
      };
      AddOperator(StrCat("column_", c.name), StrCat("\"float64\", \"", c.narrow, "\""),
                  of(c.f, c.output), of(c.df, c.gradient), &source, &metadefs);
    }
    return BuildLibrary("scale_columns", source, metadefs);
  }());
  return path;
}

TEST(ScaleOfColumns, IsThatOfTheOperator) {
  for (const Column& c : Columns()) {
    const OperatorReport op = CheckOne(ColumnLibrary(), StrCat("column_", c.name));
    EXPECT_EQ(op.verdict, c.right ? Verdict::kRight : Verdict::kWrong) << TextOf(op);
    EXPECT_EQ(FindingOf(op, "CK016") != nullptr, !c.right) << TextOf(op);
  }
}

class OfEveryScale : public testing::TestWithParam<std::string> {};

TEST_P(OfEveryScale, ARightGradientPasses) {
  for (uint64_t seed = 1; seed <= Seeds(); ++seed) {
    const OperatorReport op = CheckOne(Library(), GetParam() + "_right", 60, seed);
    EXPECT_EQ(op.verdict, Verdict::kRight) << "seed " << seed << "\n" << TextOf(op);
    EXPECT_TRUE(op.findings.empty()) << "seed " << seed << "\n" << TextOf(op);
  }
}

TEST_P(OfEveryScale, AWrongOneIsFound) {
  for (const Off& off : Offs()) {
    if (&off == &Offs()[0]) continue;
    const OperatorReport op = CheckOne(Library(), StrCat(GetParam(), "_", off.name));
    EXPECT_EQ(op.verdict, Verdict::kWrong) << off.name << "\n" << TextOf(op);
  }
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const Function& fn : Functions()) names.emplace_back(fn.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Scales, OfEveryScale, testing::ValuesIn(Names()),
                         [](const auto& info) { return info.param; });

TEST(OfNarrowDTypes, StepsAreNeverCalledWrong) {
  for (const Function& fn : Stepped())
    for (uint64_t seed = 1; seed <= std::max(Times(12), Seeds()); ++seed) {
      const OperatorReport op = CheckOne(Library(), StrCat(fn.name, "_right"), 60, seed);
      EXPECT_EQ(op.verdict, Verdict::kRight) << "seed " << seed << "\n" << TextOf(op);
    }
}

TEST(OfNoScale, WhatCannotBeDecidedIsSaid) {
  for (const Function& fn : Hidden())
    for (const char* off : {"right", "sign"}) {
      const OperatorReport op = CheckOne(Library(), StrCat(fn.name, "_", off));
      EXPECT_EQ(op.verdict, Verdict::kUndecided) << TextOf(op);
      EXPECT_TRUE(RowOf(op, "x")->checked ? FindingOf(op, "CK020") != nullptr
                                          : RowOf(op, "x")->skipped > 0)
          << TextOf(op);
    }
}

}  // namespace
}  // namespace opwright::check

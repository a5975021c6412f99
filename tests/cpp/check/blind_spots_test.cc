// SPDX-License-Identifier: Apache-2.0
//
// Backward kernels whose mistake shows in few calls only: at sizes that are equal or multiples of
// an attribute, at values of a range, with one attribute or one optional input of several. Each has
// a twin that is right.
#include "blind_spots.h"
#include "library.h"

namespace opwright::check {
namespace {

std::string AttrsText(const Spot& spot) {
  std::vector<std::string> attrs;
  for (const SpotAttr& attr : spot.attrs)
    attrs.push_back(StrCat("{\"name\": \"", attr.name, "\", \"type\": \"", attr.type,
                           "\", \"param_type\": \"optional\", \"default_value\": ", attr.value,
                           "}"));
  return StrCat(", \"attr\": [", Join(attrs, ", "), "]");
}

// The rule is a list of dimensions or, without brackets, a word.
std::string MetadefOf(const Spot& spot, const std::string& name, bool backward) {
  std::vector<std::string> inputs = spot.inputs;
  std::vector<std::string> outputs = {spot.output};
  if (backward) {
    outputs.clear();
    for (const std::string& input : spot.inputs)
      if (input[0] != '?' && input[0] != '#') outputs.push_back("grad_" + input);
    inputs.push_back("grad_" + spot.output);
  }
  std::string text =
      Metadef(backward ? name + "_grad" : name, inputs, outputs, backward ? "forward" : spot.rule,
              backward ? "" : name + "_grad", StrCat("\"", spot.dtype, "\""));
  if (!backward && spot.rule[0] == '[')
    text = Replaced(text, StrCat("\"", spot.rule, "\""), spot.rule);
  text = Replaced(text, "{\"name\": \"#t\", \"dtype\": [\"float64\"]",
                  "{\"name\": \"t\", \"dtype\": [\"int64\"]");
  return WithFields(text, AttrsText(spot));
}

const std::string& Library() {
  static const std::string& path = *new std::string([] {
    std::string source = kSpotHead;
    std::vector<std::string> metadefs;
    for (const Spot& spot : Spots())
      for (const char* kind : {"right", "wrong"}) {
        const std::string name = StrCat(spot.name, "_", kind);
        source += Replaced(Replaced(spot.source, "NAME", name), "GOOD",
                           kind == std::string("right") ? "true" : "false");
        metadefs.push_back(MetadefOf(spot, name, false));
        metadefs.push_back(MetadefOf(spot, name, true));
      }
    return BuildLibrary("blind_spots", source, metadefs);
  }());
  return path;
}

class BlindSpots : public testing::TestWithParam<std::string> {};

TEST_P(BlindSpots, AWrongGradientIsFound) {
  for (uint64_t seed = 1; seed <= Times(4); ++seed) {
    const OperatorReport op = CheckOne(Library(), GetParam() + "_wrong", 60, seed);
    EXPECT_EQ(op.verdict, Verdict::kWrong) << "seed " << seed << "\n" << TextOf(op);
  }
}

TEST_P(BlindSpots, ARightOnePasses) {
  for (uint64_t seed = 1; seed <= Times(4); ++seed) {
    const OperatorReport op = CheckOne(Library(), GetParam() + "_right", 60, seed);
    EXPECT_EQ(op.verdict, Verdict::kRight) << "seed " << seed << "\n" << TextOf(op);
    EXPECT_TRUE(op.findings.empty()) << "seed " << seed << "\n" << TextOf(op);
  }
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const Spot& spot : Spots())
    if (spot.decided) names.push_back(spot.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Calls, BlindSpots, testing::ValuesIn(Names()),
                         [](const auto& info) { return info.param; });

// What zeros and single elements say is not enough, whether the gradient is right or not.
TEST(Undecided, IsAGradientThatWasComparedAtZerosAlone) {
  const OperatorReport op = CheckOne(Library(), "zeros_alone_wrong");
  EXPECT_EQ(op.verdict, Verdict::kUndecided) << TextOf(op);
  EXPECT_FALSE(op.rows[0].checked);
  EXPECT_NE(TextOf(op).find("gradient of x: not checked: "), std::string::npos) << TextOf(op);
}

TEST(Undecided, IsAGradientThatWasComparedForSingleElementsAlone) {
  const OperatorReport op = CheckOne(Library(), "one_element_wrong");
  EXPECT_EQ(op.verdict, Verdict::kUndecided) << TextOf(op);
  EXPECT_EQ(op.rows[0].reason,
            "only zeros and single elements were compared: other calls were refused, or could not "
            "be compared");
}

TEST(Undecided, IsAComplexGradient) {
  const OperatorReport op = CheckOne(Library(), "complex_square_wrong");
  EXPECT_EQ(op.verdict, Verdict::kUndecided) << TextOf(op);
  EXPECT_EQ(op.rows[0].reason, "gradients of complex dtypes are not compared with differences");
}

TEST(Refused, WordsSpeakOfRequiredAttributesOnlyWhereThereAreSome) {
  const OperatorReport op = CheckOne(Library(), "refuses_all_wrong");
  EXPECT_EQ(op.verdict, Verdict::kUndecided);
  ASSERT_NE(FindingOf(op, "CK018"), nullptr) << TextOf(op);
  EXPECT_EQ(TextOf(op).find("required"), std::string::npos) << TextOf(op);
}

}  // namespace
}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
//
// opwright/opwright.h as a C++17 program without Python uses it: load, infer, call, read errors.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "opwright/opwright.h"

namespace {

int failures = 0;

void Expect(bool right, const char* what) {
  if (right) return;
  std::printf("FAILED: %s\n", what);
  ++failures;
}

template <class Body>
std::string CodeOf(const Body& body) {
  try {
    body();
  } catch (const opwright::Error& error) {
    return error.code();
  }
  return "no error";
}

// What an operator that turns each attribute into a number makes of them.
std::vector<double> Read(const opwright::Operator& op,
                         const std::vector<opwright::Attribute>& attributes) {
  const std::vector<double> x = {1};
  std::vector<double> z(7);
  op.Call({{x.data(), {1}}}, {{z.data(), {7}}}, attributes);
  return z;
}

void ReadAttributes(const opwright::Operator& op) {
  using Numbers = std::vector<double>;
  using Attributes = std::vector<opwright::Attribute>;
  const std::vector<Attributes> integers = {{{"axis", 3}},           {{"axis", int64_t{3}}},
                                            {{"axis", 3L}},          {{"axis", 3LL}},
                                            {{"axis", size_t{3}}},   {{"axis", 3U}},
                                            {{"axis", int16_t{3}}},  {{"axis", uint8_t{3}}},
                                            {{"axis", uint64_t{3}}}, {{"axis", Numbers(3).size()}}};
  for (const Attributes& attributes : integers)
    Expect(Read(op, attributes) == Numbers{3, 0, 0, 0, 0, 0, 0}, "an integer of any type");
  const std::vector<Attributes> reals = {{{"rate", 0.5}}, {{"rate", 0.5F}}, {{"rate", 0.5L}}};
  for (const Attributes& attributes : reals)
    Expect(Read(op, attributes) == Numbers{0, 0.5, 0, 0, 0, 0, 0}, "a float of any type");
  Expect(Read(op, {{"on", true}}) == Numbers{0, 0, 1, 0, 0, 0, 0}, "a bool");
  const std::vector<Attributes> sizes = {{{"sizes", std::vector<int64_t>{1, 2}}},
                                         {{"sizes", std::vector<int>{1, 2}}},
                                         {{"sizes", std::vector<size_t>{1, 2}}}};
  for (const Attributes& attributes : sizes)
    Expect(Read(op, attributes) == Numbers{0, 0, 0, 12, 0, 0, 0}, "a list of integers");
  const std::vector<Attributes> weights = {{{"weights", std::vector<double>{4, 5}}},
                                           {{"weights", std::vector<float>{4, 5}}}};
  for (const Attributes& attributes : weights)
    Expect(Read(op, attributes) == Numbers{0, 0, 0, 0, 45, 0, 0}, "a list of floats");
  Expect(Read(op, {{"flags", std::vector<bool>{true, false, true}}, {"axis", 1}}) ==
             Numbers{1, 0, 0, 0, 0, 101, 0},
         "a list of bools");
  Expect(Read(op, {{"rows", std::vector<std::vector<int64_t>>{{1, 2}, {}, {3}}}}) ==
             Numbers{0, 0, 0, 0, 0, 0, 1203},
         "a list of lists");
  Expect(CodeOf([] { opwright::Attribute("axis", ~size_t{0}); }) == "CL006",
         "an integer that int64_t does not hold");
  Expect(CodeOf([&] { Read(op, {{"axis", 1}, {"axis", 2}}); }) == "CL006",
         "an attribute that is given twice");
  std::string said;
  try {
    Read(op, {{"sizes", std::string("sum\0", 4)}});
  } catch (const opwright::Error& error) {
    said = error.what();
  }
  Expect(said.find("zero byte") != std::string::npos, "a text with a zero byte");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const opwright::Library library = opwright::Library::Load(argv[1]);
  Expect(library.operators() == std::vector<std::string>{"fused_add_scale", "fused_add_scale_grad"},
         "the operators are listed");
  Expect(opwright::Library::Load(argv[1], library.identity()).path() == library.path(),
         "a pin that fits");

  const opwright::Operator op = library["fused_add_scale"];
  const std::vector<float> x = {1, 2, 3, 4, 5, 6}, bias = {10, 20, 30}, scale = {1, 2, 3};
  std::vector<float> y(6);
  op.Call({{x.data(), {2, 3}}, {bias.data(), {3}}, {scale.data(), {3}}}, {{y.data(), {2, 3}}});
  Expect(y == std::vector<float>{11, 44, 99, 14, 50, 108}, "the values of a dense call");
  // The transpose of a [3, 2] array.
  op.Call({opwright::TensorRef(x.data(), {2, 3}, {1, 2}), {bias.data(), {3}}, {scale.data(), {3}}},
          {{y.data(), {2, 3}}});
  Expect(y == std::vector<float>{11, 46, 105, 12, 48, 108}, "the values of a strided call");

  y.assign(6, 0);
  op.Call({{x.data(), {2, 3}, {1, 2}}, {bias.data(), {3}}, {scale.data(), {3}}},
          {{y.data(), {2, 3}}});
  Expect(y == std::vector<float>{11, 46, 105, 12, 48, 108}, "strides in an argument");

  const std::vector<opwright::Shape> shapes =
      op.Infer({{x.data(), {2, 3}}, {bias.data(), {3}}, {scale.data(), {3}}});
  Expect(shapes.size() == 1 && shapes[0].dims == std::vector<int64_t>{2, 3} &&
             shapes[0].dtype.bits == 32,
         "the inferred shape");

  Expect(CodeOf([&] { opwright::TensorRef(x.data(), {2, 3}, {1}); }) == "CL004",
         "strides of another number");
  opwright::Operator moved_from = op;
  const opwright::Operator moved_to = std::move(moved_from);
  Expect(CodeOf([&] { moved_from.name(); }) == "CL016", "an operator that was moved");
  Expect(opwright_operator_def(nullptr) == nullptr, "no operator has no metadef");

  Expect(CodeOf([] { opwright::Library::Load("/no/such/library.so"); }) == "LD001",
         "a missing file");
  Expect(CodeOf([&] { library["fused_ad_scale"]; }) == "LD013", "a misspelled operator");
  Expect(CodeOf([&] { op.Call({{x.data(), {6}}}, {{y.data(), {6}}}); }) == "CL001",
         "inputs missing");
  Expect(CodeOf([&] {
           op.Call({{x.data(), {2, 3}}, {bias.data(), {3}}, {scale.data(), {3}}},
                   {{y.data(), {2, 3}}}, {{"eps", 1.0}});
         }) == "CL006",
         "an attribute that is not there");
  ReadAttributes(opwright::Library::Load(argv[2])["read_attributes"]);
  return failures == 0 ? 0 : 1;
}

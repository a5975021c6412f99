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

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
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

  const std::vector<opwright::Shape> shapes =
      op.Infer({{x.data(), {2, 3}}, {bias.data(), {3}}, {scale.data(), {3}}});
  Expect(shapes.size() == 1 && shapes[0].dims == std::vector<int64_t>{2, 3} &&
             shapes[0].dtype.bits == 32,
         "the inferred shape");

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
  return failures == 0 ? 0 : 1;
}

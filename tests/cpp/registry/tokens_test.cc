// SPDX-License-Identifier: Apache-2.0
#include "registry/tokens.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "registry/kernels.h"

namespace opwright::test {
namespace {

std::string Path(const std::string& factor = "2") {
  return BuildLibrary(ScaleMetadef(), ScaleSource(factor));
}

std::shared_ptr<Operator> Bound(const Operator& kernel, const std::string& more) {
  const std::string text = Op(Float("x"), Float("z"), more, "scale");
  Expected<std::shared_ptr<Operator>> op =
      Operator::Bind(kernel, metadef::Read(text, "t.json").operators.at(0));
  EXPECT_TRUE(op.ok()) << (op.ok() ? "" : op.error().Text());
  return *op;
}

TEST(Tokens, FindTheOperator) {
  const auto op = FindOrFail(*LoadOrFail(Path()), "scale");
  const int64_t token = TokenOf(op);
  EXPECT_GT(token, 0);
  EXPECT_EQ(FindByToken(token), op);
  EXPECT_EQ(FindByToken(token - 1), nullptr);
}

TEST(Tokens, AreThoseOfTheContent) {
  const auto op = FindOrFail(*LoadOrFail(Path()), "scale");
  const std::string copy = StrCat(WorkFolder(), "/tokens_copy.so");
  std::filesystem::copy_file(Path(), copy, std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(TokenOf(FindOrFail(*LoadOrFail(copy), "scale")), TokenOf(op));
  EXPECT_NE(TokenOf(FindOrFail(*LoadOrFail(Path("3")), "scale")), TokenOf(op));
}

TEST(Tokens, TellMetadefsAndGradientsApart) {
  const auto op = FindOrFail(*LoadOrFail(Path()), "scale");
  const auto first = Bound(*op, R"j(, "shape_rule": "same(x)")j");
  const auto again = Bound(*op, R"j(, "shape_rule": "same(x)")j");
  const auto other = Bound(*op, R"j(, "shape_rule": "broadcast(x)")j");
  EXPECT_EQ(TokenOf(first), TokenOf(again));
  EXPECT_EQ(FindByToken(TokenOf(first)), first);  // which token was asked for last
  EXPECT_NE(TokenOf(first), TokenOf(op));
  EXPECT_NE(TokenOf(first), TokenOf(other));
}

TEST(Tokens, OfAClosedLibraryFindAnOperatorThatRefusesCalls) {
  int64_t token = 0;
  {
    Expected<LibraryHandle> handle = LoadLibrary(Path("5"));
    ASSERT_TRUE(handle.ok());
    token = TokenOf(FindOrFail(**handle, "scale"));
    Tensor x(kF32, {1}, {2}), z(kF32, {1});
    EXPECT_EQ(Call(*FindByToken(token), {x}, {z}), "");
    EXPECT_EQ(z.Values(), std::vector<double>{10});
  }
  const auto op = FindByToken(token);
  ASSERT_NE(op, nullptr);
  Tensor x(kF32, {1}), z(kF32, {1});
  EXPECT_NE(Call(*op, {x}, {z}).find("[CL014]"), std::string::npos);
}

}  // namespace
}  // namespace opwright::test

// SPDX-License-Identifier: Apache-2.0
#include "metadef/expression.h"

#include <algorithm>

#include "testing.h"

namespace opwright::metadef {
namespace {

// Inputs x (n, m) and any (any rank), attributes k (int) and f (float).
class Expression : public testing::Test {
 protected:
  Expression() {
    Param x;
    x.name = "x";
    x.shape.dims = {{-1, "n"}, {-1, "m"}};
    Param any;
    any.name = "any";
    any.shape.any_leading = true;
    inputs_ = {x, any};
    Attr k;
    k.name = "k";
    Attr f;
    f.name = "f";
    f.type = AttrType::kFloat;
    attrs_ = {k, f};
  }

  std::vector<int64_t> Code(std::string_view text) {
    std::vector<int64_t> code;
    RuleError error;
    EXPECT_TRUE(CompileExpression(text, {inputs_, attrs_, symbols_}, &code, &error))
        << error.message;
    return code;
  }

  // "BEGIN-END ID"
  std::string Fails(std::string_view text) {
    std::vector<int64_t> code;
    RuleError error;
    if (CompileExpression(text, {inputs_, attrs_, symbols_}, &code, &error)) return "";
    return StrCat(error.begin, "-", error.end, " ", error.id);
  }

  std::vector<Param> inputs_;
  std::vector<Attr> attrs_;
  std::vector<std::string> symbols_ = {"n", "m"};
};

using Program = std::vector<int64_t>;

TEST_F(Expression, Leaves) {
  EXPECT_EQ(Code("7"), (Program{kOpwrightPush, 7}));
  EXPECT_EQ(Code("m"), (Program{kOpwrightSymbol, 1}));
  EXPECT_EQ(Code("k"), (Program{kOpwrightAttrInt64, 0}));
  EXPECT_EQ(Code("x.dim(-1)"), (Program{kOpwrightDim, 0, -1}));
  EXPECT_EQ(Code(" any . rank "), (Program{kOpwrightRank, 1}));
}

TEST_F(Expression, PrecedenceAndOrderAreThoseOfPython) {
  EXPECT_EQ(Code("n+m*k"), (Program{kOpwrightSymbol, 0, kOpwrightSymbol, 1, kOpwrightAttrInt64, 0,
                                    kOpwrightMul, kOpwrightAdd}));
  EXPECT_EQ(Code("(n+m)*k"), (Program{kOpwrightSymbol, 0, kOpwrightSymbol, 1, kOpwrightAdd,
                                      kOpwrightAttrInt64, 0, kOpwrightMul}));
  EXPECT_EQ(Code("n-m-k"), (Program{kOpwrightSymbol, 0, kOpwrightSymbol, 1, kOpwrightSub,
                                    kOpwrightAttrInt64, 0, kOpwrightSub}));
  EXPECT_EQ(Code("n//2%m"), (Program{kOpwrightSymbol, 0, kOpwrightPush, 2, kOpwrightFloorDiv,
                                     kOpwrightSymbol, 1, kOpwrightMod}));
  EXPECT_EQ(Code("-n + 9"),
            (Program{kOpwrightSymbol, 0, kOpwrightNeg, kOpwrightPush, 9, kOpwrightAdd}));
  EXPECT_EQ(Code("min(n, m, 4)"), (Program{kOpwrightSymbol, 0, kOpwrightSymbol, 1, kOpwrightMin,
                                           kOpwrightPush, 4, kOpwrightMin}));
  EXPECT_EQ(Code("ceil_div(n, k)"),
            (Program{kOpwrightSymbol, 0, kOpwrightAttrInt64, 0, kOpwrightCeilDiv}));
}

TEST_F(Expression, ConstantsAreComputed) {  // values from Python
  EXPECT_EQ(Code("2 + 3 * 4"), (Program{kOpwrightPush, 14}));
  EXPECT_EQ(Code("-7 // 2 + 10"), (Program{kOpwrightPush, 6}));
  EXPECT_EQ(Code("-7 % 3"), (Program{kOpwrightPush, 2}));
  EXPECT_EQ(Code("7 % -3 + 5"), (Program{kOpwrightPush, 3}));
  EXPECT_EQ(Code("ceil_div(7, 2)"), (Program{kOpwrightPush, 4}));
  EXPECT_EQ(Code("ceil_div(-7, 2) + 3"), (Program{kOpwrightPush, 0}));
  EXPECT_EQ(Code("max(2, 9 - 1)"), (Program{kOpwrightPush, 8}));
  EXPECT_EQ(Code("n + 2 * 3"), (Program{kOpwrightSymbol, 0, kOpwrightPush, 6, kOpwrightAdd}));
}

TEST_F(Expression, ErrorsHaveTheirBytes) {
  EXPECT_EQ(Fails(""), "0-0 MD027");
  EXPECT_EQ(Fails("n / 2"), "2-3 MD027");
  EXPECT_EQ(Fails("n ** 2"), "2-4 MD027");
  EXPECT_EQ(Fails("2n"), "1-2 MD027");
  EXPECT_EQ(Fails("n + q"), "4-5 MD028");
  EXPECT_EQ(Fails("n + f"), "4-5 MD028");
  EXPECT_EQ(Fails("x + 1"), "0-1 MD027");
  EXPECT_EQ(Fails("x.shape"), "2-7 MD027");
  EXPECT_EQ(Fails("x.dim(2)"), "6-7 MD028");
  EXPECT_EQ(Fails("x.dim(-3)"), "6-8 MD028");
  EXPECT_EQ(Fails("x.dim(k)"), "6-7 MD027");
  EXPECT_EQ(Fails("any.dim(40)"), "8-10 MD028");
  EXPECT_EQ(Fails("n % (1 - 1)"), "2-3 MD027");
  EXPECT_EQ(Fails("1 - 2"), "0-5 MD027");
  EXPECT_EQ(Fails("9223372036854775808"), "0-19 MD027");
  EXPECT_EQ(Fails("9223372036854775807 + 1"), "20-21 MD027");
  EXPECT_EQ(Fails("(n"), "2-2 MD027");
  EXPECT_EQ(Fails("n)"), "1-2 MD027");
  EXPECT_EQ(Fails("min(n)"), "0-6 MD027");
  EXPECT_EQ(Fails("ceil_div(n, 2, 3)"), "0-17 MD027");
  EXPECT_EQ(Fails("n; m"), "1-2 MD027");
  EXPECT_EQ(Fails("1.5"), "1-2 MD027");
}

TEST_F(Expression, DeepNestingIsAnErrorAndNoCrash) {
  EXPECT_NE(Fails(std::string(100000, '(')), "");
  EXPECT_NE(Fails(std::string(100000, '-') + "n"), "");
  EXPECT_EQ(Fails(std::string(60, '(') + "n" + std::string(60, ')')), "");
}

}  // namespace
}  // namespace opwright::metadef

// SPDX-License-Identifier: Apache-2.0
//
// Function kernels: one instance for each dtype column, called by position as the metadef says.
#include <gtest/gtest.h>

#include "fixture.h"

namespace opwright::build {
namespace {

class FunctionKernels : public BuildFixture {};

TEST_F(FunctionKernels, AFunctionKernelHasOneInstanceAColumn) {
  Write("op/f.cpp",
        "#include <opwright/kernel.h>\nusing opwright::View;\nnamespace n {\n"
        "template <class T> void Scale(View<const T> x, View<T> z, double factor) {\n"
        "  for (int64_t i = 0; i < x.Dim(0); ++i) z(i) = static_cast<T>(x(i) * factor);\n}\n"
        "OPWRIGHT_FUNCTION(scale, Scale)\n}\n");
  Write("op/op.json",
        "{\"op_name\": \"scale\", \"input_desc\": [{\"name\": \"x\", \"dtype\": [\"float64\", "
        "\"float32\", \"bfloat16\"], "
        "\"format\": [\"ND\"], \"shape\": [-1]}], \"output_desc\": [{\"name\": \"z\", \"dtype\": "
        "[\"float64\", \"float32\", "
        "\"bfloat16\"], \"format\": [\"ND\"], \"shape\": [-1]}], \"attr\": [{\"name\": \"factor\", "
        "\"type\": \"float\", "
        "\"param_type\": \"optional\", \"default_value\": 2.5}]}");
  auto built = BuildOf("op");
  ASSERT_TRUE(built.ok()) << built.error().Text();
  EXPECT_TRUE(built->warnings.empty());
  EXPECT_EQ(Loaded(built->path)(4), 10);
}

TEST_F(FunctionKernels, AFunctionKernelTakesEveryKindOfArgument) {
  Write("op/f.cpp",
        "#include <opwright/kernel.h>\nusing namespace opwright;\n"
        "Status Mix(View<const float> x, View<const float> bias, ViewList<const float> more,\n"
        "           View<float> z, int64_t i, double f, bool b, const char* s, List<int64_t> li,\n"
        "           List<double> lf, List<const char*> ls, List<int64_t> lb) {\n"
        "  if (bias || more.Size() != 0) return Status::Error(\"absent ones came\");\n"
        "  z(0) = x(0) + i + f + b + strlen(s) + li[1] + lf[0] + strlen(ls[0]) + lb[0];\n"
        "  return SUCCESS;\n}\nOPWRIGHT_FUNCTION(mix, Mix)\n");
  const auto attr = [](std::string_view name, std::string_view type, std::string_view value) {
    return StrCat("{\"name\": \"", name, "\", \"type\": \"", type,
                  "\", \"param_type\": \"optional\", \"default_value\": ", value, "}");
  };
  const auto param = [](std::string_view name, std::string_view kind) {
    return StrCat("{\"name\": \"", name,
                  "\", \"dtype\": [\"float32\"], \"format\": [\"ND\"], \"shape\": [-1], "
                  "\"param_type\": \"",
                  kind, "\"}");
  };
  Write("op/op.json",
        StrCat("{\"op_name\": \"mix\", \"input_desc\": [", param("x", "required"), ", ",
               param("bias", "optional"), ", ", param("more", "dynamic"), "], \"output_desc\": [",
               param("z", "required"), "], \"shape_rule\": \"same(x)\", \"attr\": [",
               attr("i", "int", "1"), ", ", attr("f", "float", "2.5"), ", ",
               attr("b", "bool", "true"), ", ", attr("s", "string", "\"abc\""), ", ",
               attr("li", "list_int", "[1, 20]"), ", ", attr("lf", "list_float", "[0.5]"), ", ",
               attr("ls", "list_string", "[\"abcd\"]"), ", ", attr("lb", "list_bool", "[true]"),
               "]}"));
  auto built = BuildOf("op");
  ASSERT_TRUE(built.ok()) << built.error().Text();
  EXPECT_EQ(Loaded(built->path, 3)(100), 100 + 1 + 2.5f + 1 + 3 + 20 + 0.5f + 4 + 1);
}

// Two columns, so that an error for each would be two.
std::string AffineMetadef() {
  const auto param = [](std::string_view name, std::string_view kind = "required") {
    return StrCat("{\"name\": \"", name,
                  "\", \"dtype\": [\"float32\", \"float64\"], \"shape\": [-1], \"param_type\": \"",
                  kind, "\"}");
  };
  return StrCat("{\"op_name\": \"affine\", \"input_desc\": [", param("x"), ", ",
                param("more", "dynamic"), "], \"output_desc\": [", param("y"),
                "], \"shape_rule\": \"same(x)\", \"attr\": [{\"name\": \"factor\", \"type\": "
                "\"float\", \"param_type\": \"required\"}]}");
}

struct Misfit {
  const char* name;
  const char* source;  // behind the include, which is line 1
  int line;
  const char* has;
};

class FunctionMisfit : public BuildFixture, public testing::WithParamInterface<Misfit> {};

TEST_P(FunctionMisfit, IsOneErrorWithBothSignatures) {
  Write("op/f.cpp", StrCat("#include <opwright/kernel.h>\n", GetParam().source));
  Write("op/op.json", AffineMetadef());
  const auto built = BuildOf("op");
  ASSERT_FALSE(built.ok());
  ASSERT_EQ(built.error().diagnostics.size(), 1U) << built.error().Text();
  const Diagnostic& found = built.error().diagnostics[0];
  EXPECT_EQ(found.id, "BD029");
  EXPECT_EQ(found.line, GetParam().line);
  EXPECT_EQ(found.column, 0) << "it would be one of the generated line";
  EXPECT_EQ(found.message,
            StrCat("OPWRIGHT_FUNCTION(affine, Affine): by its metadef it is called as "
                   "Affine(opwright::View<const float> x, opwright::ViewList<const float> more, "
                   "opwright::View<float> y, double factor), ",
                   GetParam().has));
}

INSTANTIATE_TEST_SUITE_P(
    All, FunctionMisfit,
    testing::Values(
        Misfit{"an_input_is_missing",
               "template <class T>\nvoid Affine(opwright::View<const T> x, opwright::View<T> y, "
               "double factor) {}\n\nOPWRIGHT_FUNCTION(affine, Affine)\n",
               5,
               "the source has Affine(opwright::View<const T> x, opwright::View<T> y, double "
               "factor)"},
        Misfit{
            "a_list_is_one_view",
            "using opwright::View;\ntemplate <class T> void Affine(View<const T>, View<const T>, "
            "View<T>, double) {}\nOPWRIGHT_FUNCTION(affine, Affine)\n",
            4, "the source has Affine(View<const T>, View<const T>, View<T>, double)"},
        Misfit{"the_output_is_const",
               "template <class T> void Affine(opwright::View<const T> x, opwright::ViewList<const "
               "T> more, opwright::View<const T>* y, const double& factor = 1) "
               "{}\nOPWRIGHT_FUNCTION(affine, Affine)\n",
               3,
               "the source has Affine(opwright::View<const T> x, opwright::ViewList<const T> more, "
               "opwright::View<const T>* y, const double& factor=1)"},
        Misfit{"it_is_not_there", "OPWRIGHT_FUNCTION(affine, Affine)\n", 2,
               "and no such function is declared before the marker"}),
    [](const auto& info) { return info.param.name; });

TEST_F(FunctionKernels, AnInputThatIsWrittenIsAViewOfItsOwn) {
  const auto metadef = AffineMetadef();
  Write("op/op.json",
        StrCat(metadef.substr(0, metadef.size() - 1), ", \"mutates\": [\"x\", \"more\"]}"));
  const auto source = [](std::string_view constness) {
    return StrCat(
        "#include <opwright/kernel.h>\nusing opwright::View;\ntemplate <class T> void "
        "Affine(View<",
        constness,
        "T> x, opwright::ViewList<T> more, View<T> y, double) "
        "{\n  for (int64_t i = 0; i < y.Dim(0); ++i) y(i) = x(i);\n}\n"
        "OPWRIGHT_FUNCTION(affine, Affine)\n");
  };
  Write("op/f.cpp", source(""));
  const auto built = BuildOf("op");
  ASSERT_TRUE(built.ok()) << built.error().Text();
  Write("op/f.cpp", source("const "));
  const auto misfit = BuildOf("op");
  ASSERT_FALSE(misfit.ok());
  EXPECT_NE(misfit.error().Text().find(
                "it is called as Affine(opwright::View<float> x, opwright::ViewList<float> more, "
                "opwright::View<float> y, double factor), the source has Affine(View<const T> x"),
            std::string::npos)
      << misfit.error().Text();
}

struct Attribute {
  const char* type;  // of the metadef
  const char* fits;  // parameters that take it, with commas between
  const char* misfits;
};

class AttributeParameter : public BuildFixture, public testing::WithParamInterface<Attribute> {};

TEST_P(AttributeParameter, IsOfItsVeryType) {
  const auto built = [&](const std::string& parameter) {
    Write("op/f.cpp", StrCat("#include <opwright/kernel.h>\n#include <string>\nusing "
                             "opwright::View;\ntemplate <class T> void Flow(View<const T>, "
                             "View<T>, bool, ",
                             parameter, " a) {}\nOPWRIGHT_FUNCTION(flow, Flow)\n"));
    return BuildOf("op");
  };
  Write("op/op.json",
        StrCat("{\"op_name\": \"flow\", \"input_desc\": [{\"name\": \"x\", \"dtype\": "
               "[\"float64\"], \"shape\": [-1]}], \"output_desc\": [{\"name\": \"y\", \"dtype\": "
               "[\"float64\"], \"shape\": [-1]}], \"shape_rule\": \"same(x)\", \"attr\": "
               "[{\"name\": \"first\", \"type\": \"bool\"}, {\"name\": \"a\", \"type\": \"",
               GetParam().type, "\"}]}"));
  for (const std::string& parameter : Split(GetParam().fits, ',')) {
    const auto result = built(parameter);
    EXPECT_TRUE(result.ok()) << parameter << ": " << result.error().Text();
  }
  for (const std::string& parameter : Split(GetParam().misfits, ',')) {
    const auto result = built(parameter);
    ASSERT_FALSE(result.ok()) << parameter;
    ASSERT_EQ(result.error().diagnostics.size(), 1U) << result.error().Text();
    EXPECT_EQ(result.error().diagnostics[0].id, "BD029") << parameter;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, AttributeParameter,
    testing::Values(Attribute{"int", "int64_t,const int64_t&,auto", "int,double,bool"},
                    Attribute{"float", "double,const double,T,auto", "float,int,const float&"},
                    Attribute{"bool", "bool", "int,double"},
                    Attribute{"string", "const char*,const std::string&", "bool,const void*"},
                    Attribute{"list_int", "opwright::List<int64_t>", "opwright::List<double>"}),
    [](const auto& info) { return std::string(info.param.type); });

TEST_F(FunctionKernels, AColumnThatDoesNotFitIsReportedAtTheMarker) {
  Write("op/f.cpp",
        "#include <opwright/kernel.h>\nvoid Scale(opwright::View<const float> x, "
        "opwright::View<float> z) {}\n\n"
        "OPWRIGHT_FUNCTION(scale, Scale)\n");
  Write("op/op.json",
        "{\"op_name\": \"scale\", \"input_desc\": [{\"name\": \"x\", \"dtype\": [\"float32\", "
        "\"int32\"], \"format\": [\"ND\"], "
        "\"shape\": [-1]}], \"output_desc\": [{\"name\": \"z\", \"dtype\": [\"float32\", "
        "\"int32\"], \"format\": [\"ND\"], "
        "\"shape\": [-1]}]}");
  const std::string said = Refused("op", "BD013");
  EXPECT_SAYS(said, StrCat(Path("op/f.cpp"), ":4"));
  EXPECT_SAYS(said, "called as Scale(opwright::View<const int32_t> x, opwright::View<int32_t> z)");
}

TEST_F(FunctionKernels, AMisspeltFieldIsToldBesideTheMisfitThatComesOfIt) {
  Write("op/f.cpp",
        "#include <opwright/kernel.h>\nvoid Scale(opwright::View<const float> x, "
        "opwright::View<float> z, double factor) {}\nOPWRIGHT_FUNCTION(scale, Scale)\n");
  Write("op/op.json",
        "{\"op_name\": \"scale\", \"input_desc\": [{\"name\": \"x\", \"dtype\": [\"float32\"], "
        "\"shape\": [-1]}], \"output_desc\": [{\"name\": \"z\", \"dtype\": [\"float32\"], "
        "\"shape\": [-1]}], \"attrs\": [{\"name\": \"factor\", \"type\": \"float\"}]}");
  const std::string said = Refused("op", "BD013");
  EXPECT_SAYS(said, "the field \"attrs\" is not known and says nothing; write \"attr\" [MD005]");
  EXPECT_SAYS(said, "[BD029]");
}

// The metadef has x, y -> z with an attribute gain.
TEST_F(FunctionKernels, WithoutAMetadefAreRefusedAtTheMarker) {
  Write("k.cpp",
        "#include <opwright/kernel.h>\n"
        "void Twice(opwright::View<const float> x, opwright::View<float> y) { y(0) = 2 * x(0); }\n"
        "OPWRIGHT_FUNCTION(twice, Twice)\n");
  auto built = Plain({"k.cpp"});
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.error().id, "BD023");
  EXPECT_SAYS(built.error().message, Path("k.cpp") + ":3: OPWRIGHT_FUNCTION(twice, ...)");
}

TEST_F(FunctionKernels, WhoseParametersHaveTheMetadefsNamesInAnotherOrderAreRefused) {
  const auto param = [](const char* name) {
    return StrCat("{\"name\": \"", name, "\", \"dtype\": [\"float32\"], \"shape\": [-1]}");
  };
  Write("op/op.json",
        StrCat("{\"op_name\": \"difference\", \"input_desc\": [", param("x"), ", ", param("y"),
               "], \"output_desc\": [", param("z"),
               "], \"shape_rule\": \"same(x)\", \"attr\": [{\"name\": \"gain\", \"type\": "
               "\"float\", \"param_type\": \"optional\", \"default_value\": 1.0}]}"));
  const auto write = [&](const std::string& parameters) {
    Write("op/f.cpp", StrCat("#include <opwright/kernel.h>\nusing opwright::View;\n"
                             "template <class T>\nvoid Difference(",
                             parameters, ") {}\nOPWRIGHT_FUNCTION(difference, Difference)\n"));
  };
  write("View<const T> y, View<const T> x, View<T> z, double gain");
  EXPECT_SAYS(Refused("op", "BD030"),
              StrCat(Path("op/f.cpp"),
                     ":5: OPWRIGHT_FUNCTION(difference, Difference): the parameters of Difference "
                     "are y, x, z, gain and the metadef lists x, y, z, gain; they go by position"));
  write("const View<const T>& y, View<const T> x, View<T> z, double gain = 1");
  EXPECT_SAYS(Refused("op", "BD030"), "are y, x, z, gain");
  // Other names say nothing of an order, and a parameter needs none.
  for (const char* parameters :
       {"View<const T> x, View<const T> y, View<T> z, double gain",
        "View<const T> left, View<const T> right, View<T> out, double factor",
        "View<const T> y, View<const T> other, View<T> z, double gain",
        "View<const T>, View<const T>, View<T>, double"}) {
    write(parameters);
    const auto built = BuildOf("op");
    EXPECT_TRUE(built.ok()) << parameters << ": " << built.error().Text();
  }
}

// The compiler says much of either, and not what is wrong.
TEST_F(FunctionKernels, AMarkerOfTheOtherKindIsOneErrorAtItsLine) {
  Write("op/op.json", AffineMetadef());
  const std::string function =
      "template <class T>\nvoid Affine(View<const T> x, ViewList<const T> more, View<T> y) {}\n";
  const std::string kernel =
      "class Affine : public OpKernelBase {\n public:\n  Status Compute(const OpKernelInput&, "
      "OpKernelOutput*) override { return SUCCESS; }\n};\n";
  const auto write = [&](const std::string& text) {
    Write("op/f.cpp", StrCat("#include <opwright/kernel.h>\nusing namespace opwright;\n", text));
  };
  write(function + "OPWRIGHT_KERNEL(affine, Affine)\n");
  EXPECT_SAYS(Refused("op", "BD031"),
              StrCat(Path("op/f.cpp"),
                     ":5: OPWRIGHT_KERNEL(affine, Affine): Affine is a function; write "
                     "OPWRIGHT_FUNCTION(affine, Affine)"));
  write(kernel + "OPWRIGHT_FUNCTION(affine, Affine)\n");
  EXPECT_SAYS(Refused("op", "BD031"),
              StrCat(Path("op/f.cpp"),
                     ":7: OPWRIGHT_FUNCTION(affine, Affine): Affine is a class; write "
                     "OPWRIGHT_KERNEL(affine, Affine)"));
}

TEST_F(FunctionKernels, AClassOfAHeaderWhoseMembersAreDefinedHereIsNoFunction) {
  Write("op/op.json", AffineMetadef());
  Write("op/affine.h",
        "#include <opwright/kernel.h>\nusing namespace opwright;\n"
        "class Affine : public OpKernelBase {\n public:\n  Affine();\n"
        "  Status Compute(const OpKernelInput&, OpKernelOutput*) override;\n};\n");
  Write("op/f.cpp",
        "#include \"affine.h\"\nAffine::Affine() {}\n"
        "Status Affine::Compute(const OpKernelInput&, OpKernelOutput*) { return SUCCESS; }\n"
        "OPWRIGHT_KERNEL(affine, Affine)\n");
  const auto built = BuildOf("op");
  EXPECT_TRUE(built.ok()) << built.error().Text();
}

}  // namespace
}  // namespace opwright::build

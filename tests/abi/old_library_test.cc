// SPDX-License-Identifier: Apache-2.0
//
// A library that was built when the structs were smaller: what they had then is read, and nothing
// behind it.
#include <gtest/gtest.h>

#include "base/layout.h"
#include "registry/acl_registry.h"
#include "registry/kernels.h"

namespace opwright::test {
namespace {

// The tables of version 1.0, each with what nobody may follow behind it.
constexpr const char* kOldLibrary = R"c(
#include "opwright/c_api.h"
#define POISON ((void*)8)

typedef struct Kernel10 {
  size_t struct_size;
  const char* name;
  void* (*create)(void);
  void (*destroy)(void*);
  int32_t (*compute)(void*, const OpwrightCall*);
  int32_t (*infer_shape)(void*, const OpwrightCall*);
  int32_t takes_expanded;
  int32_t reserved;
} Kernel10;

typedef struct Note10 {
  uint32_t name_size, desc_size, type;
  char name[12];
  uint32_t struct_size;
  int32_t abi_major, abi_minor;
  uint32_t tensor_size, call_size, op_def_size;
  char march[32];
  char opwright_version[32];
} Note10;

static int32_t Compute(void* instance, const OpwrightCall* call) {
  const OpwrightTensor* x = call->inputs[0].tensors;
  const OpwrightTensor* z = call->outputs[0].tensors;
  int64_t n = 1;
  for (int32_t k = 0; k < x->ndim; ++k) n *= x->shape[k];
  for (int64_t i = 0; i < n; ++i) ((float*)z->data)[i] = 3 * ((float*)x->data)[i];
  return 0;
}
static OpwrightError* Create(const OpwrightKernel* kernel, void** instance) {
  *instance = 0;
  return 0;
}
static OpwrightError* Run(const OpwrightKernel* kernel, void* instance, const OpwrightCall* call) {
  kernel->compute(instance, call);
  return 0;
}

static const struct { Kernel10 table; void* behind[4]; } kernel = {
    {sizeof(Kernel10), "old", 0, 0, &Compute, 0, 1, 0}, {POISON, POISON, POISON, POISON}};

static const OpwrightDType dtypes[] = {{kOpwrightFloat, 32, 1}};
static const OpwrightParamDef x = {sizeof x, "x", 0, 0, 0, dtypes, 1, 1};
static const OpwrightParamDef z = {sizeof z, "z", 0, 0, 0, dtypes, 1, 1};
static const OpwrightParamDef* const inputs[] = {&x};
static const OpwrightParamDef* const outputs[] = {&z};
static const int32_t args[] = {0};
static const OpwrightShapeRule rule = {sizeof rule, kOpwrightShapeSame, 1, args, 0, 0, 0, 0, ""};
static const OpwrightShapeRule* const rules[] = {&rule};
static const struct { OpwrightOpDef table; void* behind[4]; } def = {
    {sizeof(OpwrightOpDef), "old", "opwright", 1, 1, 1, 0, 0, 0, inputs, outputs, 0, rules, 0, 0, 0,
     0, 0, "{}"},
    {POISON, POISON, POISON, POISON}};

static const OpwrightOperatorEntry entry = {sizeof entry, (const OpwrightKernel*)&kernel,
                                            &def.table, &Create, &Run, 0};
static const OpwrightOperatorEntry* const operators[] = {&entry};

__attribute__((section(OPWRIGHT_NOTE_SECTION), used, aligned(4))) static const Note10 note = {
    9, sizeof(Note10) - offsetof(Note10, struct_size), OPWRIGHT_NOTE_TYPE, OPWRIGHT_NOTE_NAME,
    sizeof(Note10) - offsetof(Note10, struct_size), 1, 0, sizeof(OpwrightTensor),
    sizeof(OpwrightCall), sizeof(OpwrightOpDef), "", "0.1.0"};
__attribute__((section(OPWRIGHT_NOTE_SECTION), used, aligned(4))) static const uint32_t after[] = {
    4, 4, 99, 0x00787878, 0xffffffff};

const OpwrightLibrary opwright_library = {sizeof(OpwrightLibrary), 1, 0, "0.1.0", "cc", "", 1, 0,
                                          operators, 0};
)c";

class OldLibrary : public testing::Test {
 protected:
  OldLibrary() : folder_(std::move(*TempFolder::Make())) {}
  std::string Path(const std::string& name) const { return JoinPath(folder_.path(), name); }
  std::string Compile() const {
    return CompileObject(kOldLibrary, Path("libold.so"), StrCat("-I", Layout().include_dir));
  }
  TempFolder folder_;
};

TEST_F(OldLibrary, LoadsAndRuns) {
  const auto library = LoadOrFail(Compile());
  ASSERT_NE(library, nullptr);
  EXPECT_EQ(library->raw().abi_minor, 0);
  EXPECT_EQ(CallScale(*FindOrFail(*library, "old"), 2), 6);
}

TEST_F(OldLibrary, IsBoundByWhatItsOwnMetadefSays) {
  AclRegistry registry;
  ASSERT_TRUE(registry.Load(Compile()).ok());
  ASSERT_TRUE(registry.Register("renamed").ok());
  const auto bind = [&](const std::string& metadef) {
    EXPECT_TRUE(WriteFileAtomic(Path("m.json"), metadef).ok());
    const Status status = registry.Model("renamed", Path("m.json"), "old");
    return status.ok() ? "" : status.error().Text();
  };
  const std::string doubles = R"(["float64"])";
  EXPECT_EQ(bind(Op(Param1("x", doubles, "[-2]"), Param1("z", doubles, "[-2]"), "", "renamed")),
            "the kernel old was built for input x of float32 in column 0 and the metadef of "
            "renamed lists float64; build it with this metadef [RG005]");
  EXPECT_EQ(bind(ScaleMetadef("renamed")), "");
  EXPECT_EQ(CallScale(**registry.Find("renamed"), 2), 6);
}

// A struct that lacks what version 1.0 had is none of this interface.
TEST_F(OldLibrary, ASmallerOneThanVersionOneIsRefused) {
  std::string source = kOldLibrary;
  const std::string whole = "opwright_library = {sizeof(OpwrightLibrary)";
  source.replace(source.find(whole), whole.size(), whole + " - 8");
  CompileObject(source, Path("libsmall.so"), StrCat("-I", Layout().include_dir));
  const std::string error = LoadError(Path("libsmall.so"));
  EXPECT_TRUE(error.ends_with("[LD009]")) << error;
}

}  // namespace
}  // namespace opwright::test

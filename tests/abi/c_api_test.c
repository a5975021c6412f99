/* SPDX-License-Identifier: Apache-2.0
 *
 * The C interface as a C program uses it: load, find, infer, call, read errors. The library has the
 * operator scale: z = x * 3, and the operator bad, which fails.
 */
#include <stdio.h>
#include <string.h>

#include "layout.h"

static char failed[600];

#define CHECK(condition)                                                    \
  do {                                                                      \
    if (!(condition)) {                                                     \
      snprintf(failed, sizeof failed, "line %d: %s", __LINE__, #condition); \
      return failed;                                                        \
    }                                                                       \
  } while (0)

/* The error must have the code and hold the text; it is given back. */
static const char* expect_error(OpwrightError* error, const char* code, const char* text) {
  CHECK(error != NULL);
  CHECK(error->struct_size == sizeof(OpwrightError));
  const int right = strcmp(error->code, code) == 0 && strstr(error->message, text) != NULL;
  if (!right)
    snprintf(failed, sizeof failed, "%s: %s, not %s: ...%s...", error->code, error->message, code,
             text);
  error->destroy(error);
  return right ? NULL : failed;
}
#define EXPECT_ERROR(call, code, text)                        \
  do {                                                        \
    const char* wrong = expect_error((call), (code), (text)); \
    if (wrong != NULL) return wrong;                          \
  } while (0)

const char* c_api_test(const char* path) {
  OpwrightLibraryHandle* library = NULL;
  EXPECT_ERROR(opwright_library_load("./no-such-library.so", NULL, &library), "LD001",
               "no-such-library.so");
  CHECK(library == NULL);
  CHECK(opwright_library_load(path, NULL, &library) == NULL);
  CHECK(library != NULL);
  CHECK(strcmp(opwright_library_path(library), path) == 0);
  CHECK(strlen(opwright_library_identity(library)) == 64);
  CHECK(opwright_library_num_operators(library) == 2);
  CHECK(strcmp(opwright_library_operator_name(library, 0), "scale") == 0);
  CHECK(opwright_library_operator_name(library, 2) == NULL);
  CHECK(opwright_library_operator_name(library, -1) == NULL);

  OpwrightLibraryHandle* pinned = NULL;
  CHECK(opwright_library_load(path, opwright_library_identity(library), &pinned) == NULL);
  opwright_library_close(pinned);
  EXPECT_ERROR(opwright_library_load(path, "00", &pinned), "LD012", "expected 64 hex digits");
  EXPECT_ERROR(opwright_library_load(path, "", &pinned), "LD012", "expected 64 hex digits");
  EXPECT_ERROR(opwright_library_load(NULL, NULL, &pinned), "CL016", "path is NULL");
  EXPECT_ERROR(opwright_library_load(path, NULL, NULL), "CL016", "library is NULL");

  OpwrightOperator* scale = NULL;
  OpwrightOperator* bad = NULL;
  EXPECT_ERROR(opwright_operator_find(library, "scal", &scale), "LD013", "did you mean scale?");
  EXPECT_ERROR(opwright_operator_find(NULL, "scale", &scale), "CL016", "library is NULL");
  EXPECT_ERROR(opwright_operator_find(library, NULL, &scale), "CL016", "name is NULL");
  EXPECT_ERROR(opwright_operator_find(library, "scale", NULL), "CL016", "op is NULL");
  CHECK(opwright_operator_find(library, "scale", &scale) == NULL);
  CHECK(opwright_operator_find(library, "bad", &bad) == NULL);
  const OpwrightOpDef* def = opwright_operator_def(scale);
  CHECK(def->struct_size == sizeof(OpwrightOpDef));
  CHECK(strcmp(def->name, "scale") == 0 && strcmp(def->ns, "opwright") == 0);
  CHECK(def->num_inputs == 1 && strcmp(def->inputs[0]->name, "x") == 0);
  CHECK(strstr(def->json, "\"op_name\"") != NULL);

  float x[6] = {1, 2, 3, 4, 5, 6};
  float z[6] = {0};
  int64_t shape[2] = {3, 2};
  int64_t transposed[2] = {1, 3};
  OpwrightTensor in = {x, 1, 0, 2, {kOpwrightFloat, 32, 1}, shape, transposed, 0};
  OpwrightTensor out = {z, 1, 0, 2, {kOpwrightFloat, 32, 1}, shape, NULL, 0};
  const OpwrightArgument input = {&in, 1};
  const OpwrightArgument output = {&out, 1};

  OpwrightShape inferred;
  CHECK(opwright_operator_infer(scale, &input, 1, NULL, 0, &inferred, 1) == NULL);
  CHECK(inferred.ndim == 2 && inferred.dims[0] == 3 && inferred.dims[1] == 2);
  CHECK(inferred.dtype.code == kOpwrightFloat && inferred.dtype.bits == 32);
  EXPECT_ERROR(opwright_operator_infer(scale, &input, 1, NULL, 0, &inferred, 2), "CL001",
               "room for 2 outputs");

  /* The operator keeps its library open. */
  opwright_library_close(library);
  CHECK(opwright_operator_call(scale, &input, 1, &output, 1, NULL, 0) == NULL);
  const float expected[6] = {3, 12, 6, 15, 9, 18};
  CHECK(memcmp(z, expected, sizeof z) == 0);

  EXPECT_ERROR(opwright_operator_call(NULL, &input, 1, &output, 1, NULL, 0), "CL016", "op is NULL");
  EXPECT_ERROR(opwright_operator_infer(NULL, &input, 1, NULL, 0, &inferred, 1), "CL016",
               "op is NULL");
  EXPECT_ERROR(opwright_operator_call(scale, &input, -1, &output, 1, NULL, 0), "CL001",
               "-1 inputs given");
  EXPECT_ERROR(opwright_operator_call(scale, &input, 0, &output, 1, NULL, 0), "CL001",
               "0 inputs given");
  EXPECT_ERROR(opwright_operator_call(scale, &input, 1, &output, -1, NULL, 0), "CL001",
               "-1 outputs given");
  EXPECT_ERROR(opwright_operator_call(scale, &input, 1, &output, 1000, NULL, 0), "CL001",
               "1000 outputs given");
  EXPECT_ERROR(opwright_operator_call(scale, NULL, 1, &output, 1, NULL, 0), "CL001",
               "1 inputs given, and no array of them");
  EXPECT_ERROR(opwright_operator_call(scale, &input, 1, NULL, 1, NULL, 0), "CL001",
               "1 outputs given, and no array of them");
  EXPECT_ERROR(opwright_operator_infer(scale, &input, 1, NULL, 0, NULL, 1), "CL001",
               "1 outputs given, and no array of them");
  in.shape = NULL;
  EXPECT_ERROR(opwright_operator_call(scale, &input, 1, &output, 1, NULL, 0), "CL004",
               "input x has rank");
  in.shape = shape;
  EXPECT_ERROR(opwright_operator_call(bad, &input, 1, &output, 1, NULL, 0), "CL011",
               "bad: the kernel failed: on purpose");
  in.dtype.bits = 64;
  EXPECT_ERROR(opwright_operator_call(scale, &input, 1, &output, 1, NULL, 0), "CL002",
               "dtype float64 of input x");

  opwright_operator_release(scale);
  opwright_operator_release(bad);
  opwright_operator_release(NULL);
  opwright_library_close(NULL);
  return NULL;
}

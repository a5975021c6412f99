/* SPDX-License-Identifier: Apache-2.0
 *
 * The binary interface of Opwright, in C11: what an operator library exports, what a kernel is
 * given with each call, and the functions of libopwright.so for C and C++ programs.
 *
 *   OpwrightLibraryHandle* lib = NULL;
 *   OpwrightError* error = opwright_library_load("libelement_add.so", NULL, &lib);
 *   if (error) { fprintf(stderr, "%s\n", error->message); error->destroy(error); }
 *
 * Rules of the interface
 * - A struct starts with struct_size and grows only at its end. Arrays of structs that can grow are
 *   arrays of pointers. OpwrightDType, OpwrightTensor, OpwrightArgument, OpwrightAttr, OpwrightRole
 *   and OpwrightShape have no struct_size: they are frozen and never grow. OpwrightNote starts as
 *   ELF has it; its struct_size comes behind that.
 * - A function that can fail returns OpwrightError*: NULL is success; the caller owns the error and
 *   gives it back through its own destroy. Nothing is thread-local, nothing is thrown.
 * - Memory is freed by the side that allocated it.
 */
#ifndef OPWRIGHT_C_API_H_
#define OPWRIGHT_C_API_H_

#include <stddef.h>
#include <stdint.h>

#define OPWRIGHT_ABI_MAJOR 1
#define OPWRIGHT_ABI_MINOR 1

/* Whether a struct, which an older build may have made, has the field: what is read of every field
 * that came after version 1.0. */
#define OPWRIGHT_HAS(type, pointer, field) \
  ((pointer)->struct_size >= offsetof(type, field) + sizeof((pointer)->field))

/* The most dimensions that a tensor may have. */
#define OPWRIGHT_MAX_RANK 32

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Tensors: the layout of DLPack's DLTensor, frozen ---------------------------------------- */

enum {
  kOpwrightInt = 0,
  kOpwrightUInt = 1,
  kOpwrightFloat = 2,
  kOpwrightBfloat = 4,
  kOpwrightComplex = 5,
  kOpwrightBool = 6
};

typedef struct OpwrightDType {
  uint8_t code; /* kOpwrightInt ... */
  uint8_t bits; /* of one lane */
  uint16_t lanes; /* 1; or 0: a number of the host language without a dtype of its own, stored as
                     int64 or float64: it takes the dtype of the column that the tensors choose */
} OpwrightDType;

typedef struct OpwrightTensor {
  void* data; /* may be NULL when the tensor is empty */
  int32_t device_type; /* 1 = CPU */
  int32_t device_id;
  int32_t ndim;
  OpwrightDType dtype;
  int64_t* shape;
  int64_t* strides; /* in elements; NULL: dense, row-major */
  uint64_t byte_offset; /* from data to the first element */
} OpwrightTensor;

/* One input or output as the metadef lists it: count 1 for a required one, 0 or 1 for an optional
 * one (0: absent, or an unwanted output), any number for a dynamic one. Frozen. */
typedef struct OpwrightArgument {
  OpwrightTensor* tensors;
  int64_t count;
} OpwrightArgument;

/* ---- Attributes ------------------------------------------------------------------------------ */

enum {
  kOpwrightAttrInt = 1, /* i */
  kOpwrightAttrFloat = 2, /* f */
  kOpwrightAttrString = 3, /* s, UTF-8, size bytes, followed by a zero byte */
  kOpwrightAttrBool = 4, /* i, 0 or 1 */
  kOpwrightAttrType = 5, /* s: the dtype's name as numpy spells it */
  kOpwrightAttrListInt = 6, /* data: int64_t[size] */
  kOpwrightAttrListFloat = 7, /* data: double[size] */
  kOpwrightAttrListString = 8, /* data: const char*[size] */
  kOpwrightAttrListBool = 9, /* data: int64_t[size], 0 or 1 */
  kOpwrightAttrListListInt = 10 /* data: OpwrightAttr[size], each kOpwrightAttrListInt */
};

/* One attribute value. Frozen. The memory behind s and data is the giver's, valid for the call. */
typedef struct OpwrightAttr {
  int32_t type; /* 0: not given, the default is taken */
  int32_t reserved; /* zero */
  int64_t size; /* of s or data; zero otherwise */
  union {
    int64_t i;
    double f;
    const char* s;
    const void* data;
  } value;
} OpwrightAttr;

/* ---- Errors ---------------------------------------------------------------------------------- */

typedef struct OpwrightError {
  size_t struct_size;
  const char* code; /* stable id, "CL003" */
  const char* message; /* UTF-8; may have several lines */
  const char* diagnostics; /* JSON list of diagnostics, or NULL */
  void (*destroy)(struct OpwrightError* self);
} OpwrightError;

/* ---- Host services: handed to a kernel with each call ---------------------------------------- */

typedef struct OpwrightHost {
  size_t struct_size;
  void* context;
  /* 64-byte aligned; NULL when there is no memory. */
  void* (*allocate)(void* context, size_t bytes);
  void (*release)(void* context, void* memory, size_t bytes);
  /* Calls body(body_context, begin, end) for the parts of [0, n), each of at least grain items.
   * The parts depend on n and grain only, never on the number of threads. body must not throw. */
  void (*parallel_for)(void* context, int64_t n, int64_t grain,
                       void (*body)(void* body_context, int64_t begin, int64_t end),
                       void* body_context);
  /* level: 0 debug, 1 info, 2 warning, 3 error. */
  void (*log)(void* context, int32_t level, const char* message);
} OpwrightHost;

/* ---- The metadef, lowered: what the dispatcher needs of it, without any text to parse -------- */

enum { kOpwrightRequired = 0, kOpwrightOptional = 1, kOpwrightDynamic = 2 };

/* An input or an output. dims[k]: >= 0 fixed, -1 unknown, <= -2 the symbol number -(dims[k] + 2).
 * Any rank, [-2] in the metadef, is leading_any with no dims. */
typedef struct OpwrightParamDef {
  size_t struct_size;
  const char* name;
  int32_t kind; /* kOpwrightRequired ... */
  int32_t num_dims;
  const int64_t* dims;
  const OpwrightDType* dtypes; /* num_columns of the operator */
  int32_t leading_any; /* 1: any further dimensions in front of dims */
  int32_t nd_format; /* 0: a format other than ND, refused at call time */
} OpwrightParamDef;

typedef struct OpwrightAttrDef {
  size_t struct_size;
  const char* name;
  int32_t type; /* kOpwrightAttrInt ... */
  int32_t required;
  OpwrightAttr default_value; /* of an optional attribute */
} OpwrightAttrDef;

/* How one output's shape follows. */
enum {
  kOpwrightShapeSame = 1, /* that of the inputs args[], which must be equal */
  kOpwrightShapeBroadcast = 2, /* of the inputs args[], by numpy's rule */
  kOpwrightShapeKernel = 3, /* the kernel's infer_shape says */
  kOpwrightShapeForward = 4, /* that of the input args[0], if any, else of the output given */
  kOpwrightShapeDims = 5 /* code, a stack program that leaves one number for each dimension */
};

/* The stack program: one opcode, then its operands, each an int64_t. */
enum {
  kOpwrightPush = 1, /* value */
  kOpwrightSymbol = 2, /* number of the symbol */
  kOpwrightAttrInt64 = 3, /* number of the attribute */
  kOpwrightDim = 4, /* input, axis (negative: from the end) */
  kOpwrightRank = 5, /* input */
  kOpwrightAdd = 6,
  kOpwrightSub = 7,
  kOpwrightMul = 8,
  kOpwrightFloorDiv = 9,
  kOpwrightMod = 10, /* sign of the divisor, as in Python */
  kOpwrightMin = 11,
  kOpwrightMax = 12,
  kOpwrightCeilDiv = 13,
  kOpwrightNeg = 14
};

typedef struct OpwrightShapeRule {
  size_t struct_size;
  int32_t kind; /* kOpwrightShapeSame ... */
  int32_t num_args;
  const int32_t* args;
  int64_t code_size;
  const int64_t* code;
  int32_t leading_any; /* of kOpwrightShapeDims: the dims that "..." stood for come first */
  int32_t reserved;
  const char* text; /* the rule as it was written, for messages */
} OpwrightShapeRule;

/* What an input of a backward operator is. */
enum { kOpwrightRoleInput = 0, kOpwrightRoleOutput = 1, kOpwrightRoleGrad = 2 };

typedef struct OpwrightRole {
  int32_t kind; /* Input: forward input; Output: forward output; Grad: of that output */
  int32_t index;
} OpwrightRole;

typedef struct OpwrightGradient {
  size_t struct_size;
  const char* op; /* the backward operator's name */
  int32_t num_inputs; /* of the backward operator */
  int32_t num_outputs;
  const OpwrightRole* inputs;
  const int32_t* outputs; /* the forward input whose gradient each output is */
} OpwrightGradient;

enum { kOpwrightPromote = 0, kOpwrightMixedFloat32 = 1, kOpwrightMixedError = 2 };

typedef struct OpwrightOpDef {
  size_t struct_size;
  const char* name;
  const char* ns; /* the namespace in PyTorch */
  int32_t num_columns;
  int32_t num_inputs;
  int32_t num_outputs;
  int32_t num_attrs;
  int32_t num_symbols;
  int32_t num_mutates;
  const OpwrightParamDef* const* inputs;
  const OpwrightParamDef* const* outputs;
  const OpwrightAttrDef* const* attrs;
  const OpwrightShapeRule* const* shape_rules; /* one an output */
  const char* const* symbols;
  const int32_t* mutates; /* inputs that the kernel writes */
  const OpwrightGradient* gradient; /* NULL: none */
  int32_t side_effect;
  int32_t mixed_dtypes; /* kOpwrightPromote ... */
  const char* json; /* the metadef's own text */
} OpwrightOpDef;

/* ---- Kernels --------------------------------------------------------------------------------- */

/* One call of a kernel. Inputs are dense and row-major (a function kernel's may be expanded, with
 * stride 0), outputs are dense, dtypes are those of the column. */
typedef struct OpwrightCall {
  size_t struct_size;
  const OpwrightOpDef* def;
  const OpwrightArgument* inputs;
  const OpwrightArgument* outputs; /* NULL while shapes are inferred */
  const OpwrightAttr* attrs; /* in metadef order, defaults filled in */
  int32_t num_inputs;
  int32_t num_outputs;
  int32_t num_attrs;
  int32_t column;
  const OpwrightHost* host; /* NULL: no services, everything is serial */
  void* frame; /* of the caller, for the functions below */
  /* Keeps a copy of the message; the first one wins. */
  void (*fail)(void* frame, const char* message);
  /* 64-byte aligned memory, valid until the call ends; NULL when there is none. */
  void* (*scratch)(void* frame, size_t bytes);
  /* While shapes are inferred: the shape of one output. */
  void (*set_shape)(void* frame, int32_t output, int32_t ndim, const int64_t* shape);
} OpwrightCall;

/* What a function kernel was compiled for: it takes no other metadef. Inputs, then outputs. */
typedef struct OpwrightSignature {
  size_t struct_size;
  int32_t num_columns;
  int32_t num_inputs;
  int32_t num_outputs;
  int32_t num_attrs;
  const int32_t* kinds; /* kOpwrightRequired ... */
  const OpwrightDType* dtypes; /* num_columns for each */
  const int32_t* attr_types; /* kOpwrightAttrInt ... */
} OpwrightSignature;

/* What a kernel source defines, one for each operator. compute and infer_shape return 0, or call
 * fail and return another number; they may throw and are called through OpwrightOperatorEntry. */
typedef struct OpwrightKernel {
  size_t struct_size;
  const char* name; /* the operator's */
  void* (*create)(void);
  void (*destroy)(void* instance);
  int32_t (*compute)(void* instance, const OpwrightCall* call);
  int32_t (*infer_shape)(void* instance, const OpwrightCall* call); /* NULL: it has none */
  int32_t takes_expanded; /* 1: inputs named in broadcast(...) come expanded, with stride 0 */
  int32_t reserved;
  const OpwrightSignature* signature; /* since 1.1; NULL: any metadef, as a class kernel asks */
} OpwrightKernel;

/* ---- What an operator library exports -------------------------------------------------------- */

typedef struct OpwrightOperatorEntry {
  size_t struct_size;
  const OpwrightKernel* kernel;
  const OpwrightOpDef* def; /* NULL: a library without metadef */
  /* Run the kernel behind a wall that no exception passes. */
  OpwrightError* (*create)(const OpwrightKernel* kernel, void** instance);
  OpwrightError* (*compute)(const OpwrightKernel* kernel, void* instance, const OpwrightCall* call);
  OpwrightError* (*infer_shape)(const OpwrightKernel* kernel, void* instance,
                                const OpwrightCall* call);
} OpwrightOperatorEntry;

/* A framework whose own loader accepts the library: how its operators get there when the loader's
 * constructor could not (the framework was imported later, or the plain namespace was taken). */
typedef struct OpwrightFramework {
  size_t struct_size;
  const char* name; /* "torch" */
  /* Registers every operator under the namespace (NULL: each operator's own). 0 when they are
   * there, now or before; 1: the framework is not in the process; 2: message says why not. */
  int32_t (*enter)(const char* ns, char* message, size_t message_size);
  /* The namespace under which the operators are registered, "" for each operator's own; NULL: they
   * are not. */
  const char* (*entered)(void);
} OpwrightFramework;

typedef struct OpwrightLibrary {
  size_t struct_size;
  int32_t abi_major;
  int32_t abi_minor;
  const char* opwright_version;
  const char* compiler;
  const char* march; /* "" for the baseline */
  int32_t num_operators;
  int32_t num_frameworks;
  const OpwrightOperatorEntry* const* operators;
  const OpwrightFramework* const* frameworks;
} OpwrightLibrary;

/* The one data symbol that makes a shared object an operator library. */
#define OPWRIGHT_LIBRARY_SYMBOL "opwright_library"

/* The same facts where they can be read without mapping the file: an ELF note with this name and
 * type, in a section named OPWRIGHT_NOTE_SECTION. */
#define OPWRIGHT_NOTE_SECTION ".note.opwright"
#define OPWRIGHT_NOTE_NAME "Opwright"
#define OPWRIGHT_NOTE_TYPE 1

typedef struct OpwrightNote {
  uint32_t name_size; /* 9, with the zero byte */
  uint32_t desc_size; /* sizeof(OpwrightNote) - offset of struct_size */
  uint32_t type;
  char name[12];
  uint32_t struct_size; /* of the description that follows, itself included */
  int32_t abi_major;
  int32_t abi_minor;
  uint32_t tensor_size; /* sizeof(OpwrightTensor) */
  uint32_t call_size; /* sizeof(OpwrightCall) */
  uint32_t op_def_size; /* sizeof(OpwrightOpDef) */
  char march[32];
  char opwright_version[32];
  uint32_t features[4]; /* since 1.1: bits of the instruction sets that the code may use, numbered
                           in src/base/cpu_features.cc; checked before the file is mapped */
} OpwrightNote;

/* ---- libopwright.so -------------------------------------------------------------------------- */

typedef struct OpwrightLibraryHandle OpwrightLibraryHandle;
typedef struct OpwrightOperator OpwrightOperator;

/* "0.1.0" */
const char* opwright_version(void);

/* path: absolute, relative to the working folder, or a bare file name, which is looked up in
 * $OPWRIGHT_PATH too. sha256: 64 hex digits that the file must have, or NULL. */
OpwrightError* opwright_library_load(const char* path, const char* sha256,
                                     OpwrightLibraryHandle** library);
/* The library refuses calls once its last handle is closed and its last operator released; its code
 * stays mapped until the process ends, since frameworks and threads may still run it. */
void opwright_library_close(OpwrightLibraryHandle* library);
const char* opwright_library_path(const OpwrightLibraryHandle* library);
/* The SHA-256 of the file, 64 hex digits. */
const char* opwright_library_identity(const OpwrightLibraryHandle* library);
int32_t opwright_library_num_operators(const OpwrightLibraryHandle* library);
/* NULL for an index that is none. */
const char* opwright_library_operator_name(const OpwrightLibraryHandle* library, int32_t index);

OpwrightError* opwright_operator_find(OpwrightLibraryHandle* library, const char* name,
                                      OpwrightOperator** op);
void opwright_operator_release(OpwrightOperator* op);
/* NULL for an operator of a library without metadef. */
const OpwrightOpDef* opwright_operator_def(const OpwrightOperator* op);

/* Runs the operator. inputs and outputs: one OpwrightArgument for each that the metadef lists, any
 * strides; attrs: num_attrs values in metadef order (type 0: the default), or NULL for none. The
 * outputs' memory is the caller's, their shapes and dtypes are checked. */
OpwrightError* opwright_operator_call(OpwrightOperator* op, const OpwrightArgument* inputs,
                                      int32_t num_inputs, const OpwrightArgument* outputs,
                                      int32_t num_outputs, const OpwrightAttr* attrs,
                                      int32_t num_attrs);

/* The shape and dtype of each output: outputs[i] holds room for OPWRIGHT_MAX_RANK dimensions. */
typedef struct OpwrightShape {
  int32_t ndim;
  OpwrightDType dtype;
  int64_t dims[OPWRIGHT_MAX_RANK];
} OpwrightShape;

OpwrightError* opwright_operator_infer(OpwrightOperator* op, const OpwrightArgument* inputs,
                                       int32_t num_inputs, const OpwrightAttr* attrs,
                                       int32_t num_attrs, OpwrightShape* outputs,
                                       int32_t num_outputs);

#ifdef __cplusplus
}
#endif

#endif /* OPWRIGHT_C_API_H_ */

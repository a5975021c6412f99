// SPDX-License-Identifier: Apache-2.0
#include "base/cpu_features.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <iterator>

#include "base/text.h"

namespace opwright {
namespace {

enum Register { kEax, kEbx, kEcx, kEdx };
// The state that the system must keep for a feature's registers: bits of XCR0.
constexpr uint32_t kNone = 0, kYmm = 0x6, kZmm = 0xe6, kTiles = 0x60000;

// What compilers use unasked, once it is enabled, and what only asks for numbers. Features of the
// system (xsave, pku, rtm ...) are left out: virtual machines hide them, and no code comes of them.
// The place in the table is the bit: it grows at its end only.
struct Feature {
  const char* name;  // as -m takes it
  const char* macro;
  uint32_t leaf;  // of the cpuid instruction
  uint32_t subleaf;
  Register in;
  int bit;
  uint32_t state;
};
constexpr Feature kFeatures[] = {
    {"sse3", "__SSE3__", 1, 0, kEcx, 0, kNone},
    {"ssse3", "__SSSE3__", 1, 0, kEcx, 9, kNone},
    {"sse4.1", "__SSE4_1__", 1, 0, kEcx, 19, kNone},
    {"sse4.2", "__SSE4_2__", 1, 0, kEcx, 20, kNone},
    {"popcnt", "__POPCNT__", 1, 0, kEcx, 23, kNone},
    {"cx16", "__GCC_HAVE_SYNC_COMPARE_AND_SWAP_16", 1, 0, kEcx, 13, kNone},
    {"sahf", "__LAHF_SAHF__", 0x80000001, 0, kEcx, 0, kNone},
    {"movbe", "__MOVBE__", 1, 0, kEcx, 22, kNone},
    {"lzcnt", "__LZCNT__", 0x80000001, 0, kEcx, 5, kNone},
    {"bmi", "__BMI__", 7, 0, kEbx, 3, kNone},
    {"bmi2", "__BMI2__", 7, 0, kEbx, 8, kNone},
    {"avx", "__AVX__", 1, 0, kEcx, 28, kYmm},
    {"avx2", "__AVX2__", 7, 0, kEbx, 5, kYmm},
    {"fma", "__FMA__", 1, 0, kEcx, 12, kYmm},
    {"f16c", "__F16C__", 1, 0, kEcx, 29, kYmm},
    {"pclmul", "__PCLMUL__", 1, 0, kEcx, 1, kNone},
    {"aes", "__AES__", 1, 0, kEcx, 25, kNone},
    {"sha", "__SHA__", 7, 0, kEbx, 29, kNone},
    {"gfni", "__GFNI__", 7, 0, kEcx, 8, kNone},
    {"vaes", "__VAES__", 7, 0, kEcx, 9, kYmm},
    {"vpclmulqdq", "__VPCLMULQDQ__", 7, 0, kEcx, 10, kYmm},
    {"adx", "__ADX__", 7, 0, kEbx, 19, kNone},
    {"rdrnd", "__RDRND__", 1, 0, kEcx, 30, kNone},
    {"rdseed", "__RDSEED__", 7, 0, kEbx, 18, kNone},
    {"movdiri", "__MOVDIRI__", 7, 0, kEcx, 27, kNone},
    {"movdir64b", "__MOVDIR64B__", 7, 0, kEcx, 28, kNone},
    {"avx512f", "__AVX512F__", 7, 0, kEbx, 16, kZmm},
    {"avx512dq", "__AVX512DQ__", 7, 0, kEbx, 17, kZmm},
    {"avx512ifma", "__AVX512IFMA__", 7, 0, kEbx, 21, kZmm},
    {"avx512pf", "__AVX512PF__", 7, 0, kEbx, 26, kZmm},
    {"avx512er", "__AVX512ER__", 7, 0, kEbx, 27, kZmm},
    {"avx512cd", "__AVX512CD__", 7, 0, kEbx, 28, kZmm},
    {"avx512bw", "__AVX512BW__", 7, 0, kEbx, 30, kZmm},
    {"avx512vl", "__AVX512VL__", 7, 0, kEbx, 31, kZmm},
    {"avx512vbmi", "__AVX512VBMI__", 7, 0, kEcx, 1, kZmm},
    {"avx512vbmi2", "__AVX512VBMI2__", 7, 0, kEcx, 6, kZmm},
    {"avx512vnni", "__AVX512VNNI__", 7, 0, kEcx, 11, kZmm},
    {"avx512bitalg", "__AVX512BITALG__", 7, 0, kEcx, 12, kZmm},
    {"avx512vpopcntdq", "__AVX512VPOPCNTDQ__", 7, 0, kEcx, 14, kZmm},
    {"avx5124vnniw", "__AVX5124VNNIW__", 7, 0, kEdx, 2, kZmm},
    {"avx5124fmaps", "__AVX5124FMAPS__", 7, 0, kEdx, 3, kZmm},
    {"avx512vp2intersect", "__AVX512VP2INTERSECT__", 7, 0, kEdx, 8, kZmm},
    {"avx512fp16", "__AVX512FP16__", 7, 0, kEdx, 23, kZmm},
    {"avx512bf16", "__AVX512BF16__", 7, 1, kEax, 5, kZmm},
    {"avxvnni", "__AVXVNNI__", 7, 1, kEax, 4, kYmm},
    {"avxifma", "__AVXIFMA__", 7, 1, kEax, 23, kYmm},
    {"avxvnniint8", "__AVXVNNIINT8__", 7, 1, kEdx, 4, kYmm},
    {"avxneconvert", "__AVXNECONVERT__", 7, 1, kEdx, 5, kYmm},
    {"avxvnniint16", "__AVXVNNIINT16__", 7, 1, kEdx, 10, kYmm},
    {"sha512", "__SHA512__", 7, 1, kEax, 0, kYmm},
    {"sm3", "__SM3__", 7, 1, kEax, 1, kYmm},
    {"sm4", "__SM4__", 7, 1, kEax, 2, kYmm},
    {"cmpccxadd", "__CMPCCXADD__", 7, 1, kEax, 7, kNone},
    {"amx-tile", "__AMX_TILE__", 7, 0, kEdx, 24, kTiles},
    {"amx-int8", "__AMX_INT8__", 7, 0, kEdx, 25, kTiles},
    {"amx-bf16", "__AMX_BF16__", 7, 0, kEdx, 22, kTiles},
    {"amx-fp16", "__AMX_FP16__", 7, 1, kEax, 21, kTiles},
    {"sse4a", "__SSE4A__", 0x80000001, 0, kEcx, 6, kNone},
    {"xop", "__XOP__", 0x80000001, 0, kEcx, 11, kYmm},
    {"fma4", "__FMA4__", 0x80000001, 0, kEcx, 16, kYmm},
    {"tbm", "__TBM__", 0x80000001, 0, kEcx, 21, kNone},
    {"3dnow", "__3dNOW__", 0x80000001, 0, kEdx, 31, kNone},
};
static_assert(std::size(kFeatures) <= 32 * std::tuple_size_v<CpuFeatures>);

bool IsSet(const CpuFeatures& features, size_t bit) {
  return (features[bit / 32] >> (bit % 32) & 1) != 0;
}

#if defined(__x86_64__)
// XCR0; 0 where the system does not say.
uint64_t KeptState() {
  uint32_t registers[4];
  constexpr uint32_t kOsxsave = 1u << 27;
  if (!__get_cpuid(1, &registers[0], &registers[1], &registers[2], &registers[3]) ||
      (registers[kEcx] & kOsxsave) == 0)
    return 0;
  uint32_t low = 0;
  uint32_t high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}

bool ProcessorHas(const Feature& feature) {
  static const uint64_t kept = KeptState();
  uint32_t registers[4] = {};
  return __get_cpuid_count(feature.leaf, feature.subleaf, &registers[0], &registers[1],
                           &registers[2], &registers[3]) != 0 &&
         (registers[feature.in] >> feature.bit & 1) != 0 && (kept & feature.state) == feature.state;
}
#else
bool ProcessorHas(const Feature&) { return true; }
#endif

}  // namespace

CpuFeatures FeaturesOfMacros(std::string_view macros) {
  CpuFeatures features = {};
  const std::string text = StrCat("\n", macros);
  for (size_t bit = 0; bit < std::size(kFeatures); ++bit)
    if (text.find(StrCat("\n#define ", kFeatures[bit].macro, " ")) != text.npos)
      features[bit / 32] |= 1u << (bit % 32);
  return features;
}

std::vector<std::string> MissingFeatures(const CpuFeatures& features) {
  std::vector<std::string> missing;
  for (size_t bit = 0; bit < 32 * features.size(); ++bit) {
    if (!IsSet(features, bit)) continue;
    if (bit >= std::size(kFeatures))
      missing.push_back(StrCat("number ", bit));
    else if (!ProcessorHas(kFeatures[bit]))
      missing.emplace_back(kFeatures[bit].name);
  }
  return missing;
}

const char* ProcessorLevel() {
  if (__builtin_cpu_supports("x86-64-v4")) return "x86-64-v4";
  if (__builtin_cpu_supports("x86-64-v3")) return "x86-64-v3";
  return __builtin_cpu_supports("x86-64-v2") ? "x86-64-v2" : "x86-64";
}

}  // namespace opwright

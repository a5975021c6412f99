// SPDX-License-Identifier: Apache-2.0
//
// What is refused before or while a file is mapped, and in which words.
#include "registry/loader.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <filesystem>
#include <fstream>

#include "base/cache_folder.h"
#include "registry/elf_file.h"
#include "registry/kernels.h"

namespace opwright::test {
namespace {

class Loader : public testing::Test {
 protected:
  Loader() : folder_(std::move(*TempFolder::Make())) {}
  std::string Path(const std::string& name) const { return JoinPath(folder_.path(), name); }
  void Write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(MakeFolders(DirName(Path(name))).ok());
    ASSERT_TRUE(WriteFileAtomic(Path(name), text).ok());
  }
  // The object file of a source, for `opwright build` to link.
  std::string CompileTo(const std::string& name, const std::string& source,
                        const std::string& command) {
    Write(name + ".cpp", source);
    const std::string line = StrCat(command, " -o '", Path(name), "' '", Path(name), ".cpp'");
    EXPECT_EQ(system(line.c_str()), 0) << line;
    return Path(name);
  }

 private:
  TempFolder folder_;
};

TEST_F(Loader, AMissingFileIsNamedAsGivenAsResolvedAndWithTheWorkingFolder) {
  const std::string error = LoadError("./libs/none.so");
  const std::string here = WorkingFolder();
  EXPECT_NE(error.find("./libs/none.so"), error.npos) << error;
  EXPECT_NE(error.find(here + "/libs/none.so"), error.npos) << error;
  EXPECT_NE(error.find("working folder " + here), error.npos) << error;
  EXPECT_TRUE(error.ends_with("[LD001]")) << error;
}

TEST_F(Loader, AMissingFileHasTheNameBesideItThatMayBeMeant) {
  Write("product.so", "");
  const std::string error = LoadError(Path("prodcut.so"));
  EXPECT_TRUE(error.ends_with("; did you mean product.so? [LD001]")) << error;
}

TEST_F(Loader, AnEmptyPathIsToldAsSuch) {
  EXPECT_EQ(LoadError(""), "the path is empty; give a library or an operator folder [LD001]");
}

TEST_F(Loader, OneThatTheCacheHadIsToldAsSuch) {
  const std::string error = LoadError(JoinPath(CacheFolderPath(), "lib/gone.so"));
  EXPECT_NE(error.find("it was built into the cache, which has been emptied since"), error.npos)
      << error;
}

TEST_F(Loader, ADirectoryIsNoLibrary) {
  EXPECT_EQ(LoadError(DirName(Path("x"))),
            StrCat(DirName(Path("x")),
                   " is a directory; give the .so file, or build the folder first [LD002]"));
}

TEST_F(Loader, ATextFileIsNoElfFile) {
  Write("add.so", "int main() {}\n");
  EXPECT_EQ(
      LoadError(Path("add.so")),
      StrCat(Path("add.so"), " is not an ELF file; build a library with `opwright build` [LD003]"));
  Write("empty.so", "");
  EXPECT_NE(LoadError(Path("empty.so")).find("is not an ELF file (it is empty)"),
            std::string::npos);
}

TEST_F(Loader, APythonModuleIsRecognised) {
  CompileObject("void PyInit_fast(void) {}", Path("fast.so"));
  EXPECT_EQ(LoadError(Path("fast.so")), StrCat(Path("fast.so"),
                                               ": ELF is right, but it exports no operator entry "
                                               "(expected opwright_library); it exports "
                                               "PyInit_fast: this is a Python module; build the "
                                               "operator with `opwright build` [LD007]"));
}

TEST_F(Loader, OtherFrameworksLibrariesAreRecognised) {
  CompileObject("void RegisterCustomOps(void) {}", Path("ort.so"));
  EXPECT_NE(LoadError(Path("ort.so"))
                .find("exports RegisterCustomOps: this is an ONNX Runtime operator library"),
            std::string::npos);
  CompileObject("void __tvm_ffi_add(void) {}", Path("tvm.so"));
  EXPECT_NE(LoadError(Path("tvm.so")).find("this is a tvm-ffi library"), std::string::npos);
  CompileObject("int a, b, c, d, e, f; static int g; int* h(void) { return &g; }",
                Path("plain.so"));
  EXPECT_NE(LoadError(Path("plain.so")).find(", ...; build the operator"), std::string::npos)
      << LoadError(Path("plain.so"));
}

TEST_F(Loader, AnObjectFileAndAProgramAreNoLibraries) {
  CompileTo("k.o", "int f() { return 1; }", "c++ -c");
  EXPECT_EQ(
      LoadError(Path("k.o")),
      StrCat(Path("k.o"),
             " is an object file, not linked yet; link it with `opwright build` or `aoc` [LD006]"));
  CompileTo("program", "int main() {}", "c++ -no-pie");
  EXPECT_NE(LoadError(Path("program")).find("is no shared object"), std::string::npos);
}

TEST_F(Loader, AMissingDependencyIsNamedWithTheFoldersSearched) {
  CompileObject("int helper(void) { return 1; }", Path("deps/libhelper_dep.so"),
                StrCat("-Wl,-soname,libhelper_dep.so"));
  const std::string source = StrCat("extern \"C\" int helper(void);\n", ScaleSource("helper()"));
  const std::string path =
      BuildLibrary(ScaleMetadef(), source,
                   {StrCat("-L", Path("deps")), "-lhelper_dep", "-Wl,-rpath," + Path("deps")});
  ASSERT_TRUE(std::filesystem::remove(Path("deps/libhelper_dep.so")));
  const std::string error = LoadError(path);
  EXPECT_TRUE(error.starts_with(
      StrCat(path, " needs libhelper_dep.so, which is not found; searched: ", DirName(path), ", ",
             Path("deps"), ", ")))
      << error;
  EXPECT_EQ(error.find(DirName(OPWRIGHT_TEST_LIBRARY)), error.npos)
      << "the program's own search path has no part in it: " << error;
  EXPECT_NE(error.find("/lib"), error.npos) << "the system's folders too: " << error;
  EXPECT_TRUE(error.ends_with("[LD008]")) << error;
}

TEST_F(Loader, ASanitizerThatTheProcessDidNotStartWithIsRefused) {
  // Of its name only: the real one would be there already in a build with sanitizers.
  CompileObject("int helper(void) { return 1; }", Path("deps/libasan.so.99"),
                "-Wl,-soname,libasan.so.99");
  const std::string source = StrCat("extern \"C\" int helper(void);\n", ScaleSource("helper()"));
  const std::string path =
      BuildLibrary(ScaleMetadef(), source,
                   {StrCat("-L", Path("deps")), "-l:libasan.so.99", "-Wl,-rpath," + Path("deps")});
  EXPECT_EQ(LoadError(path),
            StrCat(path,
                   " is built with a sanitizer: libasan.so.99 would end this process, which "
                   "did not start with it; build it without -fsanitize, or start with "
                   "LD_PRELOAD=$(gcc -print-file-name=libasan.so.99) [LD017]"));
}

TEST_F(Loader, AnUndefinedSymbolIsFoundAtTheLoadAndDemangled) {
  const std::string source = StrCat("namespace helpers { int Missing(int); }\n",
                                    ScaleSource("x.Size() > 99 ? helpers::Missing(1) : 1"));
  const std::string error = LoadError(BuildLibrary(ScaleMetadef(), source, {"-Wl,-z,undefs"}));
  EXPECT_NE(error.find("undefined symbol helpers::Missing(int); link what defines it"), error.npos)
      << error;
  EXPECT_TRUE(error.ends_with("[LD010]")) << error;
}

TEST_F(Loader, AnotherStringAbiIsNamedWithBothValues) {
  const std::string source =
      StrCat("#include <string>\nnamespace adapter { int Call(const std::string&); }\n",
             ScaleSource("x.Size() > 99 ? adapter::Call(\"\") : 1"));
  const std::string path =
      BuildLibrary(ScaleMetadef(), source, {"-D_GLIBCXX_USE_CXX11_ABI=0", "-Wl,-z,undefs"});
  const std::string error = LoadError(path);
  EXPECT_NE(error.find("undefined symbol adapter::Call("), error.npos) << error;
  EXPECT_NE(error.find("_GLIBCXX_USE_CXX11_ABI=0"), error.npos) << error;
  EXPECT_NE(error.find("this process has 1"), error.npos) << error;
}

TEST_F(Loader, ANameThatReadsLikeAStringIsNoStringAbi) {
  for (const char* name : {"PassSs", "PassRKSs"}) {
    const std::string source =
        StrCat("namespace helpers { int ", name, "(int); }\n",
               ScaleSource(StrCat("x.Size() > 99 ? helpers::", name, "(1) : 1")));
    const std::string error = LoadError(BuildLibrary(ScaleMetadef(), source, {"-Wl,-z,undefs"}));
    EXPECT_NE(error.find("; link what defines it"), error.npos) << error;
  }
  const std::string source = StrCat(
      "namespace mystd { struct string {}; }\nnamespace helpers { int Take(mystd::string); }\n",
      ScaleSource("x.Size() > 99 ? helpers::Take({}) : 1"));
  const std::string error = LoadError(BuildLibrary(ScaleMetadef(), source, {"-Wl,-z,undefs"}));
  EXPECT_NE(error.find("helpers::Take(mystd::string); link what defines it"), error.npos) << error;
}

TEST_F(Loader, APinnedFileMustHaveItsHash) {
  const std::string path = BuildLibrary(ScaleMetadef(), ScaleSource("7"));
  const std::string wrong(64, '0');
  const std::string error = LoadError(path, wrong);
  EXPECT_TRUE(error.starts_with(path + " has SHA-256 ")) << error;
  EXPECT_TRUE(error.ends_with(wrong + " was asked for: it is not the file that was pinned [LD012]"))
      << error;
  const auto library = LoadOrFail(path);
  EXPECT_EQ(LoadError(path, library->identity()), "loaded");
  EXPECT_EQ(library->identity().size(), 64u);
}

TEST_F(Loader, ABareNameIsLookedUpInThePathVariableAsItIsNow) {
  const std::string built = BuildLibrary(ScaleMetadef(), ScaleSource("8"));
  std::filesystem::create_directory(Path("libs"));
  std::filesystem::copy_file(built, Path("libs/libscale8.so"));
  EXPECT_NE(LoadError("libscale8.so").find("[LD001]"), std::string::npos);
  {
    const ScopedEnv env("OPWRIGHT_PATH", StrCat("/nowhere::", Path("libs")).c_str());
    EXPECT_EQ(LoadError("libscale8.so"), "loaded");
    EXPECT_NE(LoadError("./libscale8.so").find("[LD001]"), std::string::npos) << "no bare name";
    const std::string missing = LoadError("libscale9.so");
    EXPECT_NE(missing.find("looked at "), missing.npos) << missing;
    EXPECT_NE(missing.find(Path("libs/libscale9.so")), missing.npos) << missing;
  }
  EXPECT_NE(LoadError("libscale8.so").find("[LD001]"), std::string::npos);
}

TEST_F(Loader, ARelativePathIsMadeAbsoluteAtOnce) {
  const std::string built = BuildLibrary(ScaleMetadef(), ScaleSource("9"));
  std::filesystem::copy_file(built, Path("librelative.so"));
  const std::string before = WorkingFolder();
  ASSERT_EQ(chdir(DirName(Path("x")).c_str()), 0);
  const auto library = LoadOrFail("./librelative.so");
  ASSERT_EQ(chdir("/"), 0);
  EXPECT_EQ(library->path(), Path("librelative.so"));
  EXPECT_EQ(CallScale(*FindOrFail(*library, "scale"), 2), 18);
  ASSERT_EQ(chdir(before.c_str()), 0);
}

TEST_F(Loader, PathsMayHaveAnyUtf8) {
  const std::string built = BuildLibrary(ScaleMetadef(), ScaleSource("10"));
  const std::string path = Path("\xe7\xae\x97\xe5\xad\x90/\xc3\xa9 a'b.so");
  ASSERT_TRUE(MakeFolders(DirName(path)).ok());
  std::filesystem::copy_file(built, path);
  const auto library = LoadOrFail(path);
  EXPECT_EQ(library->path(), path);
  EXPECT_EQ(CallScale(*FindOrFail(*library, "scale"), 2), 20);
  EXPECT_NE(LoadError(path + "x").find(path + "x"), std::string::npos);
  const auto built_there = [&] {
    return BuildLibrary(ScaleMetadef(), StrCat("// \xe7\xae\x97\n", ScaleSource("11")));
  }();
  EXPECT_EQ(LoadError(built_there), "loaded");
}

TEST_F(Loader, FloatingPointModesAreAsTheyWereAndTheLibraryIsNamed) {
  // Linked by hand: the build never links with -ffast-math.
  const std::string start = CompileTo(
      "fast.o",
      "static void Set() __attribute__((constructor));\n"
      "static void Set() { __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040); }\n",
      "c++ -c -fPIC");
  const std::string path = BuildLibrary(ScaleMetadef(), ScaleSource("12"), {start});
  const unsigned before = _mm_getcsr();
  const auto library = LoadOrFail(path);
  EXPECT_EQ(_mm_getcsr() & ~0x3fu, before & ~0x3fu);
  ASSERT_EQ(library->warnings().size(), 1u);
  EXPECT_NE(library->warnings()[0].find("changed the thread's floating-point modes"),
            std::string::npos);
  EXPECT_TRUE(library->warnings()[0].ends_with("[LD014]"));
}

TEST_F(Loader, UniqueSymbolsAreAWarning) {
  const std::string object =
      CompileTo("unique.o",
                "struct S { static inline int value = 1; };\n"
                "__attribute__((visibility(\"default\"))) int* Value() { return &S::value; }\n",
                "c++ -c -fPIC -std=c++17 -fgnu-unique");
  const std::string linked = CompileTo(
      "unique.so", "struct S { static inline int value = 1; }; int* Value() { return &S::value; }",
      "c++ -shared -fPIC -std=c++17 -fgnu-unique");
  Expected<ElfFile> elf = ReadElf(linked, *ReadFile(linked));
  ASSERT_TRUE(elf.ok());
  ASSERT_EQ(elf->unique_symbols.size(), 1u) << "what the compiler makes by itself";
  const auto library = LoadOrFail(BuildLibrary(ScaleMetadef(), ScaleSource("13"), {object}));
  EXPECT_TRUE(library->warnings().empty()) << "an operator library hides them";
}

TEST_F(Loader, AFileThatMayNotBeReadIsNamedWithTheReason) {
  if (geteuid() == 0) {
    // Root may read anything: a link that leads round in a circle is what cannot be opened.
    ASSERT_EQ(symlink(Path("loop.so").c_str(), Path("loop.so").c_str()), 0);
    EXPECT_NE(LoadError(Path("loop.so")).find("[LD001]"), std::string::npos);
    return;
  }
  Write("secret.so", "x");
  ASSERT_EQ(chmod(Path("secret.so").c_str(), 0), 0);
  EXPECT_NE(LoadError(Path("secret.so")).find("Permission denied"), std::string::npos);
}

}  // namespace
}  // namespace opwright::test

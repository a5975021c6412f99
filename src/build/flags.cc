// SPDX-License-Identifier: Apache-2.0
#include "build/flags.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "base/cpu_features.h"
#include "base/file.h"
#include "base/text.h"
#include "opwright/c_api.h"

namespace opwright::build {
namespace {

Diagnostic Warning(std::string_view id, std::string message, std::string hint) {
  Diagnostic warning;
  warning.id = id;
  warning.severity = Severity::kWarning;
  warning.message = std::move(message);
  warning.hint = std::move(hint);
  return warning;
}

// The longer ones before those that they begin with.
constexpr std::string_view kWithValue[] = {"-iquote",      "-isystem",  "-idirafter",
                                           "-include",     "-imacros",  "-isysroot",
                                           "--sysroot=",   "--sysroot", "-iwithprefixbefore",
                                           "-iwithprefix", "-iprefix",  "-imultilib",
                                           "-target",      "-B",        "-I",
                                           "-L",           "-l",        "-D",
                                           "-U",           "-Xlinker"};

// Whose value says where the compiler's own folders are. They need not be there.
constexpr std::string_view kOfCompiler[] = {
    "-isysroot", "-iwithprefixbefore", "-iwithprefix", "-iprefix", "-imultilib", "-target", "-B"};

class Reader {
 public:
  explicit Reader(Flags* out) : out_(*out) {}

  Status Read(const std::vector<std::string>& flags) {
    for (size_t i = 0; i < flags.size(); ++i) {
      const std::string& flag = flags[i];
      if (flag.empty()) continue;
      if (flag[0] == '@') return FileOfFlags(flag);
      std::string option;
      std::string value;
      bool joined = false;
      if (TakesValue(flag, &option, &value, &joined)) {
        if (!joined) {
          if (i + 1 == flags.size())
            return MakeError("BD018", StrCat("the flag ", flag, " has no value"));
          value = flags[++i];
        }
        OPWRIGHT_RETURN_IF_ERROR(WithValue(option, value));
      } else {
        OPWRIGHT_RETURN_IF_ERROR(Plain(flag));
      }
    }
    FindLibraries();
    out_.library_dirs = library_dirs_;
    return {};
  }

 private:
  // -I DIR and -IDIR; the long ones take their value apart only, as compilers write it.
  static bool TakesValue(const std::string& flag, std::string* option, std::string* value,
                         bool* joined) {
    for (const std::string_view known : kWithValue) {
      if (!flag.starts_with(known)) continue;
      *option = known;
      *value = flag.substr(option->size());
      *joined = !value->empty();
      return true;
    }
    return false;
  }

  static Error FileOfFlags(const std::string& flag) {
    return MakeError("BD018", StrCat("the flag ", flag,
                                     " names a file of flags, whose content would not "
                                     "be part of the cache key: give the flags themselves"));
  }

  // A word for the linker alone. A file that it names is a part of the key: the linker lists those
  // that it links (link.cc), and not those that say how, such as --retain-symbols-file's.
  Status LinkerWord(const std::string& word) {
    if (word.starts_with('@')) return FileOfFlags(word);
    const size_t equals = word.find('=');
    const std::string path = equals == word.npos ? word : word.substr(equals + 1);
    if (path.starts_with('/') && FileExists(path) && !IsDirectory(path))
      out_.libraries.push_back(path);
    return {};
  }

  Status WithValue(const std::string& option, const std::string& value) {
    if (option == "-D" || option == "-U") {
      out_.compile.push_back(option + value);
    } else if (option == "-Xlinker") {
      out_.link.insert(out_.link.end(), {option, value});
      return LinkerWord(value);
    } else if (option == "-l") {
      // What these hold in the form that this one replaces is in every operator library already.
      if (value == "acl" || value == "ascendcl") return {};
      out_.link.push_back(option + value);
      names_.push_back(value);
    } else if (option.starts_with("--sysroot")) {
      out_.compile.push_back("--sysroot=" + AbsolutePath(value));
    } else if (std::find(std::begin(kOfCompiler), std::end(kOfCompiler), option) !=
               std::end(kOfCompiler)) {
      out_.compile.insert(out_.compile.end(),
                          {option, option == "-isysroot" ? AbsolutePath(value) : value});
    } else {
      const std::string path = AbsolutePath(value);
      const bool folder = option != "-include" && option != "-imacros";
      if (folder && !IsDirectory(path)) {
        out_.warnings.push_back(
            Warning("BD020", StrCat("the folder of ", option, value, " does not exist"),
                    value.empty() || value[0] == '/'
                        ? "it is left out"
                        : StrCat("it was resolved to ", path, " and is left out")));
        return {};
      }
      if (option == "-L") {
        out_.link.push_back(option + path);
        library_dirs_.push_back(path);
        return {};
      }
      if (folder) out_.include_dirs.push_back(path);
      if (option == "-I") {
        out_.compile.push_back(option + path);
      } else {
        out_.compile.insert(out_.compile.end(), {option, path});
      }
    }
    return {};
  }

  Status Plain(const std::string& flag) {
    if (flag.starts_with("-march=")) {
      if (out_.march.empty()) out_.march = flag.substr(7);
    } else if (flag == "-ffast-math" || flag == "-Ofast" || flag == "-funsafe-math-optimizations") {
      // At link it would switch the whole process to flush-to-zero when the library is loaded.
      out_.compile.push_back(flag);
      out_.warnings.push_back(Warning("BD019", StrCat(flag, " lets the compiler change results"),
                                      "it is used for the sources and left out at link, where it "
                                      "would change the floating-point "
                                      "mode of the whole process"));
    } else if (flag.starts_with("-Wl,") || flag == "-pthread" || flag.starts_with("-fuse-ld=")) {
      out_.link.push_back(flag);
      if (flag == "-pthread") out_.compile.push_back(flag);
      if (flag.starts_with("-Wl,"))
        for (const std::string& word : Split(flag.substr(4), ','))
          OPWRIGHT_RETURN_IF_ERROR(LinkerWord(word));
    } else if (flag == "-shared" || flag == "-c" || flag == "-fPIC" || flag == "-fpic") {
      // Always so.
    } else if (flag == "-S" || flag == "-E" || flag == "-M" || flag == "-MM" ||
               flag == "-fsyntax-only") {
      return MakeError("BD018", StrCat("the flag ", flag,
                                       " stops before there is an object, and a library is "
                                       "built here: leave it out"));
    } else {
      out_.compile.push_back(flag);
      if (flag.starts_with("-fsanitize=") || flag == "-fopenmp" || flag == "--coverage")
        out_.link.push_back(flag);
    }
    return {};
  }

  // The file that a -l finds in one folder, "" when none: -l:FILE names it, else a shared object
  // goes before an archive.
  static std::string LibraryIn(const std::string& folder, const std::string& name) {
    std::vector<std::string> files = {StrCat("lib", name, ".so"), StrCat("lib", name, ".a")};
    if (name.starts_with(':')) files = {name.substr(1)};
    for (const std::string& file : files)
      if (std::string path = JoinPath(folder, file); FileExists(path)) return path;
    return "";
  }

  void FindLibraries() {
    for (const std::string& name : names_) {
      for (const std::string& folder : library_dirs_) {
        const std::string found = LibraryIn(folder, name);
        if (found.empty()) continue;
        out_.libraries.push_back(found);
        // What was found at link is found at load.
        const std::string rpath = StrCat("-rpath=", folder);
        if (!found.ends_with(".a") &&
            std::find(out_.link.begin(), out_.link.end(), rpath) == out_.link.end())
          out_.link.insert(out_.link.end(), {"-Xlinker", rpath});
        break;
      }
    }
  }

  Flags& out_;
  std::vector<std::string> names_;
  std::vector<std::string> library_dirs_;
};

}  // namespace

bool TakesNextWord(std::string_view flag) {
  return std::find(std::begin(kWithValue), std::end(kWithValue), flag) != std::end(kWithValue);
}

Expected<Flags> ReadFlags(const std::vector<std::string>& flags, const std::string& march) {
  Flags out;
  out.march = march;
  OPWRIGHT_RETURN_IF_ERROR(Reader(&out).Read(flags));
  if (out.march == "native") out.march = ProcessorLevel();
  if (out.march == "x86-64") out.march.clear();
  constexpr size_t kLongest = sizeof(OpwrightNote::march) - 1;
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '+' || c == '.' ||
           c == '_';
  };
  if (out.march.size() > kLongest || !std::all_of(out.march.begin(), out.march.end(), plain))
    return MakeError(
        "BD018", StrCat("\"", out.march, "\" is no architecture name: write --march=x86-64-v3, ",
                        "--march=native or another name of the compiler's -march, at most ",
                        kLongest, " characters"));
  return out;
}

std::vector<std::string> BaseCompileFlags(bool clang) {
  // -g1: lines for backtraces and for the linker's messages, of DWARF 4, because binutils 2.40
  // loses the file names of DWARF 5 when the main file has none. In this order: a -gdwarf behind
  // -g1 would mean -g2.
  std::vector<std::string> flags = {"-std=c++17",
                                    "-O3",
                                    "-gdwarf-4",
                                    "-g1",
                                    "-pipe",
                                    "-fPIC",
                                    "-fvisibility=hidden",
                                    "-fvisibility-inlines-hidden",
                                    "-ffunction-sections",
                                    "-fdata-sections",
                                    "-ffp-contract=off",
                                    "-fno-math-errno",
                                    "-fno-trapping-math",
                                    "-Wall",
                                    "-Werror=return-type"};
  // A unique symbol keeps the old code mapped when a rebuilt library is loaded; clang makes none.
  if (!clang) flags.emplace_back("-fno-gnu-unique");
  return flags;
}

std::vector<std::string> BaseLinkFlags() {
  return {"-shared",           "-Wl,-z,defs",         "-Wl,-Bsymbolic",    "-Wl,--exclude-libs,ALL",
          "-Wl,--gc-sections", "-Wl,--build-id=sha1", "-Wl,-rpath,$ORIGIN"};
}

}  // namespace opwright::build

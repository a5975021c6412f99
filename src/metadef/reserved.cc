// SPDX-License-Identifier: Apache-2.0
#include "metadef/reserved.h"

#include <algorithm>

namespace opwright::metadef {
namespace {

// The tables are sorted, as Contains searches them, and filled line by line.
// clang-format off
constexpr std::string_view kKeywords[] = {
    "alignas", "alignof", "and", "and_eq", "as", "asm", "assert", "async", "auto", "await",
    "bitand", "bitor", "bool", "break", "case", "catch", "char", "char16_t", "char32_t", "char8_t",
    "class", "co_await", "co_return", "co_yield", "compl", "concept", "const", "const_cast",
    "consteval", "constexpr", "constinit", "continue", "decltype", "def", "default", "del",
    "delete", "do", "double", "dynamic_cast", "elif", "else", "enum", "except", "explicit",
    "export", "extern", "false", "finally", "float", "for", "friend", "from", "global", "goto",
    "if", "import", "in", "inline", "int", "is", "lambda", "long", "mutable", "namespace", "new",
    "noexcept", "nonlocal", "not", "not_eq", "nullptr", "operator", "or", "or_eq", "pass",
    "private", "protected", "public", "raise", "register", "reinterpret_cast", "requires",
    "restrict", "return", "short", "signed", "sizeof", "static", "static_assert", "static_cast",
    "struct", "switch", "template", "this", "thread_local", "throw", "true", "try", "typedef",
    "typeid", "typename", "typeof", "union", "unsigned", "using", "virtual", "void", "volatile",
    "wchar_t", "while", "with", "xor", "xor_eq", "yield"};

// An operator's name becomes a C symbol; one of these would take the library's place.
constexpr std::string_view kLibraryNames[] = {
    "abort", "abs", "accept", "access", "acos", "acosf", "acosh", "acoshf", "acoshl", "acosl",
    "alarm", "aligned_alloc", "asctime", "asin", "asinf", "asinh", "asinhf", "asinhl", "asinl",
    "asprintf", "atan", "atan2", "atan2f", "atan2l", "atanf", "atanh", "atanhf", "atanhl", "atanl",
    "atexit", "atof", "atoi", "atol", "atoll", "basename", "bcmp", "bcopy", "bind", "brk",
    "bsearch", "bzero", "cabs", "cacos", "calloc", "canonicalize", "canonicalizef", "canonicalizel",
    "carg", "casin", "catan", "cbrt", "cbrtf", "cbrtl", "ccos", "ccosh", "ceil", "ceilf", "ceill",
    "cexp", "chdir", "chmod", "chown", "cimag", "clearenv", "clock", "clog", "clone", "close",
    "closedir", "conj", "connect", "copysign", "copysignf", "copysignl", "cos", "cosf", "cosh",
    "coshf", "coshl", "cosl", "cpow", "cproj", "creal", "creat", "csin", "csinh", "csqrt", "ctan",
    "ctanh", "ctime", "daemon", "difftime", "dirname", "div", "dlclose", "dlerror", "dlopen",
    "dlsym", "dprintf", "drem", "dup", "dup2", "endgrent", "environ", "epoll_create", "epoll_wait",
    "erf", "erfc", "erfcf", "erfcl", "erff", "erfl", "err", "errno", "errx", "execl", "execv",
    "execve", "execvp", "exit", "exp", "exp10", "exp10f", "exp10l", "exp2", "exp2f", "exp2l",
    "expf", "expl", "expm1", "expm1f", "expm1l", "fabs", "fabsf", "fabsl", "fclose", "fcntl",
    "fdim", "fdimf", "fdiml", "fdopen", "feof", "ferror", "fflush", "ffs", "fgetc", "fgets",
    "fileno", "finite", "finitef", "finitel", "flock", "floor", "floorf", "floorl", "fma", "fmaf",
    "fmal", "fmax", "fmaxf", "fmaxl", "fmin", "fminf", "fminl", "fmod", "fmodf", "fmodl", "fopen",
    "fork", "fprintf", "fputc", "fputs", "fread", "free", "freopen", "frexp", "frexpf", "frexpl",
    "fscanf", "fseek", "fstat", "fsync", "ftell", "ftime", "ftruncate", "fwrite", "gamma", "getc",
    "getchar", "getcwd", "getenv", "getgid", "getline", "getopt", "getpid", "getppid", "gets",
    "gettimeofday", "getuid", "glob", "gmtime", "hypot", "hypotf", "hypotl", "ilogb", "ilogbf",
    "ilogbl", "index", "inet_addr", "initstate", "ioctl", "isalnum", "isalpha", "isatty", "isblank",
    "iscntrl", "isdigit", "isgraph", "isinf", "islower", "isnan", "isprint", "ispunct", "isspace",
    "isupper", "isxdigit", "j0", "j0f", "j0l", "j1", "j1f", "j1l", "jn", "jnf", "jnl", "kill",
    "labs", "ldexp", "ldexpf", "ldexpl", "ldiv", "lgamma", "lgammaf", "lgammal", "link", "listen",
    "llabs", "lldiv", "llrint", "llrintf", "llrintl", "llround", "llroundf", "llroundl",
    "localtime", "lockf", "log", "log10", "log10f", "log10l", "log1p", "log1pf", "log1pl", "log2",
    "log2f", "log2l", "logb", "logbf", "logbl", "logf", "logl", "longjmp", "lrint", "lrintf",
    "lrintl", "lround", "lroundf", "lroundl", "lseek", "lstat", "main", "malloc", "mblen",
    "memalign", "memchr", "memcmp", "memcpy", "memmem", "memmove", "mempcpy", "memset", "mkdir",
    "mkfifo", "mkstemp", "mktemp", "mktime", "mlock", "mmap", "modf", "modff", "modfl", "mount",
    "mprotect", "mremap", "msync", "munmap", "nan", "nanf", "nanl", "nanosleep", "nearbyint",
    "nearbyintf", "nearbyintl", "nextafter", "nextafterf", "nextafterl", "nexttoward",
    "nexttowardf", "nexttowardl", "nice", "open", "opendir", "pause", "pclose", "perror", "pipe",
    "poll", "popen", "posix_memalign", "pow", "powf", "powl", "printf", "psignal", "pthread_create",
    "ptrace", "putc", "putchar", "putenv", "puts", "qsort", "rand", "random", "read", "readdir",
    "readlink", "readv", "realloc", "realpath", "recv", "recvfrom", "regcomp", "regexec",
    "remainder", "remainderf", "remainderl", "remove", "remquo", "remquof", "remquol", "rename",
    "rewind", "rindex", "rint", "rintf", "rintl", "rmdir", "round", "roundeven", "roundevenf",
    "roundevenl", "roundf", "roundl", "sbrk", "scalb", "scalbf", "scalbl", "scalbln", "scalblnf",
    "scalblnl", "scalbn", "scalbnf", "scalbnl", "scanf", "select", "sem_wait", "send", "sendfile",
    "sendto", "setbuf", "setenv", "setjmp", "setlocale", "setsid", "setvbuf", "shutdown",
    "sigaction", "signal", "significand", "significandf", "significandl", "sigprocmask", "sin",
    "sincos", "sincosf", "sincosl", "sinf", "sinh", "sinhf", "sinhl", "sinl", "sleep", "snprintf",
    "socket", "splice", "sprintf", "sqrt", "sqrtf", "sqrtl", "srand", "srandom", "sscanf", "stat",
    "stderr", "stdin", "stdout", "stpcpy", "strcasecmp", "strcat", "strchr", "strcmp", "strcpy",
    "strcspn", "strdup", "strerror", "strftime", "strlen", "strncat", "strncmp", "strncpy",
    "strndup", "strnlen", "strpbrk", "strrchr", "strsep", "strspn", "strstr", "strtod", "strtof",
    "strtok", "strtol", "strtold", "strtoll", "strtoul", "strtoull", "strxfrm", "swab", "symlink",
    "sync", "syscall", "sysconf", "syslog", "system", "tan", "tanf", "tanh", "tanhf", "tanhl",
    "tanl", "tee", "tempnam", "tgamma", "tgammaf", "tgammal", "time", "times", "tmpfile", "tmpnam",
    "tolower", "toupper", "trunc", "truncate", "truncf", "truncl", "ttyname", "tzset", "umask",
    "umount", "uname", "ungetc", "unlink", "unsetenv", "usleep", "utime", "valloc", "vfork",
    "vfprintf", "vprintf", "vsnprintf", "vsprintf", "wait", "waitpid", "warn", "warnx", "wcslen",
    "write", "writev", "y0", "y0f", "y0l", "y1", "y1f", "y1l", "yn", "ynf", "ynl"};
// clang-format on

constexpr std::string_view kArgumentNames[] = {"cls", "dout",          "name",
                                               "out", "requires_grad", "self"};
constexpr std::string_view kCompilerArguments[] = {"kernel", "node"};
constexpr std::string_view kEffectArguments[] = {"dispatch_key", "mode", "op", "token"};
constexpr std::string_view kMutationArguments[] = {"dispatch_key", "mode", "node"};
constexpr std::string_view kHiddenOperatorNames[] = {"load_operator_library", "name"};
constexpr std::string_view kTakenNamespaces[] = {
    "aten", "higher_order", "import_module", "load_library", "loaded_libraries",
    "prim", "prims",        "torch"};
constexpr std::string_view kRuleFunctions[] = {"ceil_div", "max", "min"};

static_assert(std::ranges::is_sorted(kKeywords));
static_assert(std::ranges::is_sorted(kLibraryNames));
static_assert(std::ranges::is_sorted(kArgumentNames));
static_assert(std::ranges::is_sorted(kCompilerArguments));
static_assert(std::ranges::is_sorted(kEffectArguments));
static_assert(std::ranges::is_sorted(kMutationArguments));
static_assert(std::ranges::is_sorted(kHiddenOperatorNames));
static_assert(std::ranges::is_sorted(kTakenNamespaces));
static_assert(std::ranges::is_sorted(kRuleFunctions));

bool Lower(char c) { return c >= 'a' && c <= 'z'; }
bool Upper(char c) { return c >= 'A' && c <= 'Z'; }
bool Digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

bool IsSnakeName(std::string_view name) {
  return !name.empty() && name.size() <= kMaxNameLength && Lower(name[0]) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return Lower(c) || Digit(c) || c == '_'; });
}

bool IsSymbolName(std::string_view name) {
  return !name.empty() && name.size() <= kMaxNameLength && !Digit(name[0]) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return Lower(c) || Upper(c) || Digit(c) || c == '_'; });
}

std::span<const std::string_view> Keywords() { return kKeywords; }
std::span<const std::string_view> LibraryNames() { return kLibraryNames; }
std::span<const std::string_view> ArgumentNames() { return kArgumentNames; }
std::span<const std::string_view> CompilerArguments() { return kCompilerArguments; }
std::span<const std::string_view> EffectArguments() { return kEffectArguments; }
std::span<const std::string_view> MutationArguments() { return kMutationArguments; }
std::span<const std::string_view> HiddenOperatorNames() { return kHiddenOperatorNames; }
std::span<const std::string_view> TakenNamespaces() { return kTakenNamespaces; }
std::span<const std::string_view> RuleFunctions() { return kRuleFunctions; }

bool Contains(std::span<const std::string_view> names, std::string_view name) {
  return std::binary_search(names.begin(), names.end(), name);
}

}  // namespace opwright::metadef

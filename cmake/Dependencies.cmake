# SPDX-License-Identifier: Apache-2.0
#
# What the core needs of the system and of Python: one message names all that is missing.

# The Python of the checkout's own build environment, when `make` has made one.
if(NOT DEFINED Python_EXECUTABLE AND EXISTS ${PROJECT_SOURCE_DIR}/.venv-build/bin/python)
  set(Python_EXECUTABLE ${PROJECT_SOURCE_DIR}/.venv-build/bin/python)
endif()
find_package(Python 3.10 COMPONENTS Interpreter OPTIONAL_COMPONENTS Development.Module)

# Another Python than last time has other headers: those of numpy 1 would serve numpy 1 only.
if(DEFINED OPWRIGHT_HEADERS_OF AND NOT OPWRIGHT_HEADERS_OF STREQUAL "${Python_EXECUTABLE}")
  unset(NLOHMANN_JSON_INCLUDE_DIR CACHE)
  unset(OPWRIGHT_NUMPY_INCLUDE_DIR CACHE)
  unset(OPWRIGHT_NANOBIND_INCLUDE_DIR CACHE)
  unset(nanobind_DIR CACHE)
endif()
set(OPWRIGHT_HEADERS_OF "${Python_EXECUTABLE}" CACHE INTERNAL "The Python whose packages gave the headers")

# Where a Python package keeps its headers: `expression` gives the folder.
function(opwright_python_headers variable header module expression)
  if(NOT ${variable} AND Python_EXECUTABLE)
    execute_process(
      COMMAND ${Python_EXECUTABLE} -c "import os, ${module} as m; print(${expression})"
      OUTPUT_VARIABLE folder
      OUTPUT_STRIP_TRAILING_WHITESPACE
      ERROR_QUIET
    )
    find_path(${variable} ${header} PATHS ${folder} NO_DEFAULT_PATH)
  endif()
endfunction()

# nlohmann/json 3.12 knows the place of every value; the PyPI package nlohmann-json carries it.
opwright_python_headers(NLOHMANN_JSON_INCLUDE_DIR nlohmann/json.hpp nlohmann_json
                        "os.path.join(os.path.dirname(m.__file__), 'include')"
)
find_path(LIBELF_INCLUDE_DIR gelf.h)
find_library(LIBELF_LIBRARY elf)
find_path(CLI11_INCLUDE_DIR CLI/CLI.hpp)
find_path(OPENSSL_INCLUDE_DIR openssl/sha.h)
find_library(OPENSSL_CRYPTO_STATIC libcrypto.a)
set(
  needed
  "LIBELF_INCLUDE_DIR|libelf-dev"
  "LIBELF_LIBRARY|libelf-dev"
  "CLI11_INCLUDE_DIR|libcli11-dev"
  "OPENSSL_INCLUDE_DIR|libssl-dev"
  "OPENSSL_CRYPTO_STATIC|libssl-dev"
)
set(needed_of_pip "NLOHMANN_JSON_INCLUDE_DIR|nlohmann-json==3.12.0")
if(OPWRIGHT_PYTHON)
  opwright_python_headers(OPWRIGHT_NUMPY_INCLUDE_DIR numpy/arrayobject.h numpy "m.get_include()")
  opwright_python_headers(OPWRIGHT_NANOBIND_INCLUDE_DIR nanobind/nanobind.h nanobind "m.include_dir()")
  list(APPEND needed "Python_Development.Module_FOUND|python3-dev")
  list(
    APPEND needed_of_pip
    "OPWRIGHT_NUMPY_INCLUDE_DIR|'numpy>=2'"
    "OPWRIGHT_NANOBIND_INCLUDE_DIR|nanobind==3.1.0"
  )
endif()
if(OPWRIGHT_TESTS)
  find_path(GTEST_INCLUDE_DIR gtest/gtest.h)
  list(APPEND needed "GTEST_INCLUDE_DIR|libgtest-dev")
endif()
if(OPWRIGHT_BENCH)
  find_path(BENCHMARK_INCLUDE_DIR benchmark/benchmark.h)
  list(APPEND needed "BENCHMARK_INCLUDE_DIR|libbenchmark-dev")
endif()

# VARIABLE|package pairs -> the packages whose variable is not set, in `result`.
function(opwright_missing result)
  set(missing "")
  foreach(pair IN LISTS ARGN)
    string(REPLACE "|" ";" pair "${pair}")
    list(GET pair 0 variable)
    list(GET pair 1 package)
    if(NOT ${variable})
      list(APPEND missing ${package})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES missing)
  list(JOIN missing " " missing)
  set(${result} "${missing}" PARENT_SCOPE)
endfunction()
opwright_missing(missing_of_apt ${needed})
opwright_missing(missing_of_pip ${needed_of_pip})
set(commands "")
if(missing_of_apt)
  string(APPEND commands "  apt-get install ${missing_of_apt}\n")
endif()
if(missing_of_pip)
  string(APPEND commands "  ${Python_EXECUTABLE} -m pip install ${missing_of_pip}\n")
endif()
if(commands)
  message(FATAL_ERROR "Opwright needs packages that are not installed. Install them with:\n${commands}")
endif()

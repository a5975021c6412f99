# SPDX-License-Identifier: Apache-2.0
#
# What the core needs of the system: one message names all that is missing.
find_program(OPWRIGHT_PYTHON_FOR_HEADERS NAMES python3 python)
find_path(NLOHMANN_JSON_INCLUDE_DIR nlohmann/json.hpp HINTS ${NLOHMANN_JSON_INCLUDE_DIR})
if(NOT NLOHMANN_JSON_INCLUDE_DIR AND OPWRIGHT_PYTHON_FOR_HEADERS)
  # The PyPI package nlohmann-json carries 3.12, which knows the place of every value.
  execute_process(
    COMMAND ${OPWRIGHT_PYTHON_FOR_HEADERS} -c
            "import nlohmann_json, os; print(os.path.join(os.path.dirname(nlohmann_json.__file__), 'include'))"
    OUTPUT_VARIABLE nlohmann_json_dir
    OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_QUIET)
  find_path(NLOHMANN_JSON_INCLUDE_DIR nlohmann/json.hpp PATHS ${nlohmann_json_dir} NO_DEFAULT_PATH)
endif()
find_path(LIBELF_INCLUDE_DIR gelf.h)
find_library(LIBELF_LIBRARY elf)
find_path(CLI11_INCLUDE_DIR CLI/CLI.hpp)
find_path(OPENSSL_INCLUDE_DIR openssl/sha.h)
find_library(OPENSSL_CRYPTO_STATIC libcrypto.a)

set(missing "")
foreach(
  pair
  "LIBELF_INCLUDE_DIR;libelf-dev"
  "LIBELF_LIBRARY;libelf-dev"
  "CLI11_INCLUDE_DIR;libcli11-dev"
  "OPENSSL_INCLUDE_DIR;libssl-dev"
  "OPENSSL_CRYPTO_STATIC;libssl-dev")
  list(GET pair 0 variable)
  list(GET pair 1 package)
  if(NOT ${variable})
    list(APPEND missing ${package})
  endif()
endforeach()
if(missing)
  list(REMOVE_DUPLICATES missing)
  list(JOIN missing " " packages)
  message(FATAL_ERROR "Opwright needs Debian packages that are not installed. Install them with:\n"
                      "  apt-get install ${packages}\n")
endif()
if(NOT NLOHMANN_JSON_INCLUDE_DIR)
  message(FATAL_ERROR "Opwright needs the headers of nlohmann/json 3.12. Install them with:\n"
                      "  pip install nlohmann-json==3.12.0\n")
endif()

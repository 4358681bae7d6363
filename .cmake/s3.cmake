# SPDX-License-Identifier: MIT
# cairn::s3: what cairn/s3.hpp needs besides cairn::cairn: libcurl, libcrypto, and the definitions. Each project compiles them with its own
# libraries, so the target is not exported. `cairn_include_dir` is the folder of the headers.
find_package(CURL 7.85 ${cairn_s3_required} QUIET)
find_package(OpenSSL 1.1 ${cairn_s3_required} QUIET COMPONENTS Crypto)
if(CURL_FOUND AND OpenSSL_FOUND AND TARGET cairn::cairn AND NOT TARGET cairn::s3)
  add_library(cairn_s3 STATIC EXCLUDE_FROM_ALL "${cairn_include_dir}/cairn/definitions/s3.cpp")
  add_library(cairn::s3 ALIAS cairn_s3)
  target_link_libraries(cairn_s3 PUBLIC cairn::cairn PRIVATE CURL::libcurl OpenSSL::Crypto)
  target_compile_options(cairn_s3 PRIVATE ${cairn_warnings} $<$<OR:$<CONFIG:>,$<CONFIG:Debug>>:-O2>)  # as cairn::cairn
  set_target_properties(cairn_s3 PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF)
endif()

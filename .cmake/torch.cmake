# SPDX-License-Identifier: MIT
# cairn::torch: what cairn/adapters/torch.hpp needs besides cairn::cairn: libtorch, and the definitions of the adapters. Each project
# compiles them with its own libtorch, so the target is not exported. `cairn_include_dir` is the folder of the headers.
enable_language(C)  # libtorch's CMake package needs it
find_package(Torch ${cairn_torch_required} QUIET)
if(Torch_FOUND AND TARGET cairn::cairn AND NOT TARGET cairn::torch)
  add_library(cairn_torch STATIC EXCLUDE_FROM_ALL "${cairn_include_dir}/cairn/definitions/torch.cpp")
  add_library(cairn::torch ALIAS cairn_torch)
  target_include_directories(cairn_torch SYSTEM PUBLIC ${TORCH_INCLUDE_DIRS})
  target_link_libraries(cairn_torch PUBLIC cairn::cairn ${TORCH_LIBRARIES})
  target_compile_options(cairn_torch PRIVATE $<$<OR:$<CONFIG:>,$<CONFIG:Debug>>:-O2>)  # as cairn::cairn
  set_target_properties(cairn_torch PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF)
endif()

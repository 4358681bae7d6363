# cairn_torch: what cairn/adapters/torch.hpp needs, for the tests and the examples. Found by files, because Debian's package libtorch-dev has CMake files
# that look for more than it brings.
find_path(CAIRN_TORCH_INCLUDE torch/torch.h PATH_SUFFIXES torch/csrc/api/include DOC "The folder of torch/torch.h")
mark_as_advanced(CAIRN_TORCH_INCLUDE)
foreach(library IN ITEMS torch torch_cpu c10)
  find_library(CAIRN_${library}_LIBRARY ${library})
  mark_as_advanced(CAIRN_${library}_LIBRARY)
endforeach()
if(CAIRN_TORCH_INCLUDE AND CAIRN_torch_LIBRARY AND CAIRN_torch_cpu_LIBRARY AND CAIRN_c10_LIBRARY AND NOT TARGET cairn_torch)
  add_library(cairn_torch INTERFACE)
  target_include_directories(cairn_torch SYSTEM INTERFACE "${CAIRN_TORCH_INCLUDE}" "${CAIRN_TORCH_INCLUDE}/../../../..")
  target_link_libraries(cairn_torch INTERFACE "${CAIRN_torch_LIBRARY}" "${CAIRN_torch_cpu_LIBRARY}" "${CAIRN_c10_LIBRARY}")
endif()

# cairn_torch: what cairn/adapters/torch.hpp needs, for the tests, the examples and the bench programs.
find_package(Torch QUIET)
if(Torch_FOUND AND NOT TARGET cairn_torch)
  add_library(cairn_torch INTERFACE)
  target_include_directories(cairn_torch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})
  target_link_libraries(cairn_torch INTERFACE ${TORCH_LIBRARIES})
endif()

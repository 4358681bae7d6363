# SPDX-License-Identifier: MIT
# cairn::parity: what cairn/parity.hpp needs besides cairn::cairn: ISA-L. Included where it is asked for, by the build or by the installed package.
find_path(CAIRN_ISAL_INCLUDE_DIR isa-l/erasure_code.h)
find_library(CAIRN_ISAL_LIBRARY isal)
mark_as_advanced(CAIRN_ISAL_INCLUDE_DIR CAIRN_ISAL_LIBRARY)
if(CAIRN_ISAL_INCLUDE_DIR AND CAIRN_ISAL_LIBRARY AND TARGET cairn::cairn AND NOT TARGET cairn::parity)
  add_library(cairn::parity INTERFACE IMPORTED GLOBAL)
  target_link_libraries(cairn::parity INTERFACE cairn::cairn "${CAIRN_ISAL_LIBRARY}")
  target_include_directories(cairn::parity INTERFACE "${CAIRN_ISAL_INCLUDE_DIR}")
elseif(cairn_parity_required AND NOT TARGET cairn::parity)
  message(FATAL_ERROR "cairn::parity needs ISA-L (libisal-dev): isa-l/erasure_code.h or the library isal was not found")
endif()

// Why a type cannot be saved or loaded. refuse.hpp has the advice for each.
#pragma once

namespace cairn::detail {

enum class problem : unsigned char {
  none,
  unknown_type,
  raw_pointer,
  pointer_to_array,
  pointer_to_void,
  pointer_to_incomplete,
  polymorphic_without_list,
  union_member,
  piecewise_distribution,
  eigen_without_adapter,
  uncounted,
  base_class,
  too_many_fields,
  no_address,
  reference_member,
  volatile_part,
  const_part,
  const_content,
  inherited_list,
  unlisted_members,
  inaccessible,
  derived_class,
  no_default_constructor,
  keys_without_order,
  span_of_objects,
  array_of_objects,
  device_tensor
};

}  // namespace cairn::detail

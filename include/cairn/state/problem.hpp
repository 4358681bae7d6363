// SPDX-License-Identifier: MIT
// Why a type cannot be saved or loaded. refuse.hpp has the advice for each.
#pragma once

namespace cairn::inline v0_1::detail {

enum class problem : unsigned char {
  none,
  unknown_type,
  raw_pointer,
  function_pointer,
  pointer_to_array,
  pointer_to_void,
  pointer_to_incomplete,
  polymorphic_without_list,
  list_without_rtti,
  pointer_to_volatile,
  listed_types_none,
  listed_type_incomplete,
  listed_type_without_name,
  listed_type_not_derived,
  listed_type_abstract,
  base_without_virtual_functions,
  listed_type_twice,
  listed_types_of_one_name,
  listed_type_without_portable_name,
  base_without_virtual_destructor,
  const_pointee_with_deleter,
  const_pointee_without_constructor,
  union_member,
  piecewise_distribution,
  eigen_type,
  uncounted,
  base_class,
  too_many_fields,
  no_address,
  skip_list,
  reference_member,
  volatile_part,
  const_part,
  const_adapter_part,
  const_content,
  inherited_list,
  unlisted_members,
  inaccessible,
  hidden_members,
  tuple_size,
  no_default_constructor,
  keys_without_order,
  pointer_keys,
  keys_not_copied,
  span_of_objects,
  array_of_objects,
  device_tensor,
  tensor_of_objects,
  adapter_form,
  cereal_several,
  cereal_not_saved,
  cereal_not_loaded,
  cereal_inherited,
  cereal_no_default_constructor,
  cereal_load_and_construct,
  change_of_no_member,
  former_name_in_use,
  version_too_small,
  version_type,
  versioned_base,
  migration,
  fields_line,
  bases_line,
  skip_line,
  changes_line,
  skip_beside_fields,
  lines_of_base,
  no_member,
  equal_paths,
  reserved_path,
  sparse_sequence,
  multi_index,
  multi_array_without_adapter,
  armadillo_type,
  lacks_operations,
  adapter_of_itself,
  enum_list,
  foreign_type,
  not_assigned,
  enum_names
};

/// Whether a container has the problem because of its elements or keys. If these have a problem of their own, that is
/// the cause, and is reported instead.
consteval bool is_of_content(problem what) {
  return what == problem::const_content || what == problem::not_assigned || what == problem::no_default_constructor ||
         what == problem::keys_without_order || what == problem::span_of_objects || what == problem::array_of_objects;
}

/// Whether refuse_lines.hpp has the advice.
consteval bool is_of_lines(problem what) { return what >= problem::fields_line && what <= problem::not_assigned; }

}  // namespace cairn::inline v0_1::detail

// The closed list of types behind a pointer to a base class.
#pragma once

namespace cairn {

/// The types that an object behind a pointer to a base class may have.
template <class... Types>
struct one_of {};

/// Specialise it for a base class: `template <> struct cairn::polymorphic<layer> : cairn::one_of<dense, conv> {};`
/// A checkpoint can name only one of these types, so that a file never selects other code to run.
template <class Base>
struct polymorphic;

namespace detail {

template <class Base>
concept has_type_list = requires { sizeof(polymorphic<Base>); };

}  // namespace detail
}  // namespace cairn

// SPDX-License-Identifier: MIT
// The closed list of types behind a pointer to a base class, and the names by which a checkpoint knows them.
#pragma once

#include "cairn/state/name_text.hpp"

namespace cairn::inline v0_1 {

/// The types that an object behind a pointer to a base class may have. Each is a class, or a `named` class.
template <class... Types>
struct one_of {};

/// A class in a list, and the name that checkpoints store for it. A load also accepts the `Former` names, and the name
/// that the class has in a list without `named`: `cairn::one_of<dense, cairn::named<"conv2d", convolution<float>,
/// "conv">>`. Name the classes of a list, so that you can rename and template them later. A class without a name is
/// stored under its C++ name without namespaces, which a class that a template makes does not have.
template <detail::name_text Name, class Type, detail::name_text... Former>
struct named {};

/// Specialise it for a base class: `template <> struct cairn::polymorphic<layer> : cairn::one_of<dense, conv> {};`
/// A checkpoint can name only one of these types, so that a file never selects other code to run.
template <class Base>
struct polymorphic;

namespace detail {

/// A class with a `polymorphic`, which may be of another form.
template <class Base>
concept names_its_types = requires { sizeof(polymorphic<Base>); };

template <class... Types>
void take_type_list(const one_of<Types...>*);

template <class Base>
concept has_type_list =
    names_its_types<Base> && requires(const polymorphic<Base>* list) { detail::take_type_list(list); };

}  // namespace detail
}  // namespace cairn::inline v0_1

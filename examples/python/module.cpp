// SPDX-License-Identifier: MIT
// The Python module cairn._cairn: Cairn's own reader and writer, with numpy arrays. The package around it is in
// src/cairn/.
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "cairn/arrays.hpp"
#include "cairn/core/dtype.hpp"
#include "cairn/encode/lc.hpp"  // makes its codecs known to the reader
#include "cairn/encode/lossless.hpp"
#include "cairn/export.hpp"
#include "cairn/inspect.hpp"
#include "cairn/store/naming.hpp"

namespace py = pybind11;

namespace {

/// numpy has no bfloat16 and no 8-bit floating point.
bool is_in_numpy(cairn::dtype type) {
  return type != cairn::dtype::bf16 && type != cairn::dtype::f8_e4m3 && type != cairn::dtype::f8_e5m2;
}

/// The numpy type of the elements, or of their bits.
py::dtype numpy_type(cairn::dtype type) {
  if (type == cairn::dtype::boolean) return py::dtype("?");
  const auto name = std::string(cairn::name(type));  // "F32"
  const char kind = is_in_numpy(type) ? static_cast<char>(name[0] - 'A' + 'a') : 'u';
  return py::dtype(kind + std::to_string(cairn::size_of(type)));
}

/// The type that a numpy array is stored as; `chosen` is one of the same width for which numpy has no type of its own.
cairn::dtype stored_type(const std::string& name, const py::array& array,
                         const std::map<std::string, std::string>& chosen) {
  if (const auto at = chosen.find(name); at != chosen.end()) {
    const auto type = cairn::parse_dtype(at->second);
    if (!type || !numpy_type(*type).equal(array.dtype()))
      throw py::type_error("\"" + name + "\" of type " + py::str(array.dtype()).cast<std::string>() +
                           " is not the bits of " + at->second);
    return *type;
  }
  for (std::size_t i = 0; i < cairn::dtype_count; ++i) {
    const auto type = static_cast<cairn::dtype>(i);
    if (is_in_numpy(type) && numpy_type(type).equal(array.dtype())) return type;
  }
  throw py::type_error("\"" + name + "\" of type " + py::str(array.dtype()).cast<std::string>() + " cannot be saved");
}

cairn::checkpoint open_checkpoint(const std::string& path) {
  const py::gil_scoped_release others_run;
  return cairn::open(path);
}

py::array read_array(const cairn::checkpoint& from, const std::string& name) {
  const auto info = from.tensor(name);
  py::array made(numpy_type(info.type), std::vector<py::ssize_t>(info.shape.begin(), info.shape.end()));
  const std::span bytes(static_cast<std::byte*>(made.mutable_data()), info.bytes);
  const py::gil_scoped_release others_run;
  from.read(name, bytes);
  return made;
}

std::uint64_t save(const std::string& path, const std::map<std::string, py::array>& arrays, std::uint64_t step,
                   std::map<std::string, double> metrics, std::map<std::string, std::string> metadata,
                   const std::optional<cairn::checkpoint>& like, const std::map<std::string, std::string>& dtypes,
                   bool encode, bool durable) {
  std::vector<cairn::named_array> named;
  for (const auto& [name, array] : arrays) {
    const auto* const shape = array.shape();
    auto& made = named.emplace_back(
        cairn::named_array{name, stored_type(name, array, dtypes), {shape, shape + array.ndim()}, array.data()});
    if ((array.flags() & py::array::c_style) == 0) made.strides.assign(array.strides(), array.strides() + array.ndim());
  }
  cairn::save_options options{
      .durable = durable, .step = step, .metrics = std::move(metrics), .metadata = std::move(metadata)};
  if (encode) options.codecs = {{"*", cairn::codecs::lossless{}}};
  const py::gil_scoped_release others_run;
  return (like ? cairn::save_arrays(path, named, *like, options) : cairn::save_arrays(path, named, options)).bytes;
}

/// Exports the arrays of `names`, under the names that these map to. Returns the files.
std::vector<std::string> export_arrays(const cairn::checkpoint& from, const std::string& path,
                                       const std::map<std::string, std::string>& names,
                                       std::map<std::string, std::string> metadata, std::uint64_t file_bytes,
                                       bool durable) {
  for (const auto& [name, ignored] : names) static_cast<void>(from.tensor(name));  // throws where there is none
  cairn::export_options options;
  options.filter = [&](std::string_view name) { return names.contains(std::string(name)); };
  options.rename = [&](std::string_view name) { return names.at(std::string(name)); };
  options.metadata = std::move(metadata);
  options.file_bytes = file_bytes;
  options.durable = durable;
  const py::gil_scoped_release others_run;
  return cairn::export_safetensors(from, path, options).files;
}

/// Step and path of the checkpoints of a run, and why the index of one cannot be read, in the order of steps. `restore`
/// tries the last one first.
std::vector<std::tuple<std::uint64_t, std::string, std::string>> runs(const std::string& place) {
  const py::gil_scoped_release others_run;
  const auto listed = cairn::list_checkpoints(place);
  std::vector<std::tuple<std::uint64_t, std::string, std::string>> all;
  for (const auto& each : listed)
    if (cairn::detail::parse_checkpoint_name(each.name))
      all.emplace_back(each.step, place + "/" + each.name, each.problem);
  return all;
}

py::dict describe(const cairn::checkpoint& from, const std::string& name) {
  const auto info = from.tensor(name);
  py::dict made;
  made["dtype"] = std::string(cairn::name(info.type));
  made["shape"] = py::tuple(py::cast(info.shape));
  made["bytes"] = info.bytes;
  made["stored_bytes"] = info.stored_bytes;
  made["codec"] = info.codec;
  made["is_delta"] = info.is_delta;
  return made;
}

/// In place of an object without a checkpoint, whose functions would read memory that is not there.
PyObject* refuse_new(PyTypeObject* /*type*/, PyObject* /*arguments*/, PyObject* /*named*/) {
  PyErr_SetString(PyExc_TypeError, "a cairn.Checkpoint is made by cairn.open(path)");
  return nullptr;
}

std::vector<std::string> names_of(const cairn::checkpoint& from) {
  std::vector<std::string> names;
  for (const auto& each : from.tensors()) names.push_back(each.name);
  return names;
}

}  // namespace

PYBIND11_MODULE(_cairn, module) {
  static py::exception<cairn::error> error(module, "Error", PyExc_RuntimeError);
  error.attr("__doc__") =
      "What every failing call raises, with the text of the library; `code` is its code: \"not_found\", \"corrupt\", "
      "...";
  py::register_exception_translator([](std::exception_ptr cause) {
    try {
      if (cause) std::rethrow_exception(cause);
    } catch (const cairn::error& failure) {
      const py::object made = static_cast<py::object&>(error)(failure.what());
      made.attr("code") = std::string(cairn::name(failure.code()));
      PyErr_SetObject(error.ptr(), made.ptr());
    }
  });
  module.doc() = "Cairn's reader and writer. Use the package cairn, which is made of it.";
  py::class_<cairn::checkpoint> opened(module, "Checkpoint", "An open checkpoint.");
  reinterpret_cast<PyTypeObject*>(opened.ptr())->tp_new = refuse_new;
  opened.def_property_readonly("path", [](const cairn::checkpoint& self) { return self.path(); })
      .def_property_readonly("step", &cairn::checkpoint::step)
      .def_property_readonly("metrics", [](const cairn::checkpoint& self) { return self.metrics(); })
      .def_property_readonly("metadata", [](const cairn::checkpoint& self) { return self.metadata(); })
      .def("keys", names_of, "The names of the arrays, sorted.")
      .def("info", describe, py::arg("name"), "What is known of an array without reading it.")
      .def("verify", &cairn::checkpoint::verify, py::arg("threads") = 0, py::call_guard<py::gil_scoped_release>(),
           "Checks all stored bytes against their checksums.")
      .def("__contains__", [](const cairn::checkpoint& self, const std::string& name) { return self.contains(name); })
      .def("read", read_array, py::arg("name"), "Reads and verifies an array.");
  module.def("open", open_checkpoint, py::arg("path"), "Opens a checkpoint, the newest one of a directory, or a file.");
  module.def("runs", runs, py::arg("place"),
             "Step and path of the checkpoints at a place, and what is wrong with them.");
  module.def("save", save, py::arg("path"), py::arg("arrays"), py::arg("step"), py::arg("metrics"), py::arg("metadata"),
             py::arg("like"), py::arg("dtypes"), py::arg("encode"), py::arg("durable"),
             "Saves arrays as a checkpoint.");
  module.def("export_safetensors", export_arrays, py::arg("source"), py::arg("path"), py::arg("names"),
             py::arg("metadata"), py::arg("file_bytes"), py::arg("durable"), "Exports arrays as safetensors files.");
}

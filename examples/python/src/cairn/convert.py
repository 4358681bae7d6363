# SPDX-License-Identifier: MIT
"""Makes a safetensors file of a file of PyTorch (.pt, .pth, .bin) or numpy (.npz, .npy), which `cairn import` and `cairn.open` read.

    python -m cairn.convert IN OUT.safetensors

Keys of dicts and places in lists become names, joined by dots: `model.0.weight`. A file of one array has the name `array`. Numbers become arrays without
dimensions. Values of other types are left out and named. No code of a file is run: PyTorch loads it with `weights_only=True`, numpy with
`allow_pickle=False`. A file whose arrays take more than half of the memory is refused, however small it is.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
import zipfile
from typing import Any, Iterator, Mapping, NamedTuple

import numpy as np

__all__ = ["convert"]

NUMPY = {"bool": "BOOL", "uint8": "U8", "int8": "I8", "uint16": "U16", "int16": "I16", "float16": "F16", "uint32": "U32", "int32": "I32", "float32": "F32",
         "uint64": "U64", "int64": "I64", "float64": "F64"}
TORCH = {"bfloat16": "BF16", "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2"}


MOST_VALUES = 1_000_000


class Stored(NamedTuple):
    """An array as safetensors stores it."""

    dtype: str
    shape: tuple[int, ...]
    width: int  # bytes of an element
    content: bytes


def _of_numpy(name: str, array: Any) -> Stored:
    kind = array.dtype.name
    if kind not in NUMPY:
        raise ValueError(f"{name} is of {kind}, which safetensors cannot hold")
    return Stored(NUMPY[kind], array.shape, array.itemsize, array.astype(array.dtype.newbyteorder("<")).tobytes())


def _of_torch(name: str, tensor: Any) -> Stored:
    kind = str(tensor.dtype).removeprefix("torch.")
    if kind not in {**NUMPY, **TORCH} or "strided" not in str(tensor.layout):
        raise ValueError(f"{name} is of {kind}, {tensor.layout}, which safetensors cannot hold")
    plain = tensor.detach().resolve_neg().contiguous().reshape(-1)
    bits = plain.view(importlib.import_module("torch").uint8) if kind in TORCH else plain
    return Stored({**NUMPY, **TORCH}[kind], tuple(tensor.shape), tensor.element_size(), bits.numpy().tobytes())


def _require_memory(bytes_of_arrays: int) -> None:
    """Refuses arrays of which the machine, or the container, cannot hold two copies: what is read and what is written."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for limit in ("memory.max", "memory/memory.limit_in_bytes"):  # of cgroups of version 2 and 1
        try:
            with open("/sys/fs/cgroup/" + limit) as file:
                memory = min(memory, int(file.read()))
        except (OSError, ValueError):  # there is no such file, or it says "max"
            pass
    if 2 * bytes_of_arrays > memory:
        raise ValueError(f"its arrays take twice {bytes_of_arrays} bytes, and this machine has {memory}; use one with more memory")


def _leaves(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """All values in dicts and lists, with their names."""
    if isinstance(value, (Mapping, list, tuple)):
        for key, each in value.items() if isinstance(value, Mapping) else enumerate(value):
            yield from _leaves(f"{name}.{key}" if name else str(key), each)
    else:
        yield name or "array", value


def _read(path: str) -> Any:
    with open(path, "rb") as file:
        begin = file.read(6)
    if begin == b"\x93NUMPY":
        return np.load(path, allow_pickle=False)
    if begin.startswith(b"PK"):
        with zipfile.ZipFile(path) as archive:
            files = archive.infolist()
        _require_memory(sum(each.file_size for each in files))
        if all(each.filename.endswith(".npy") for each in files):
            with np.load(path, allow_pickle=False) as arrays:
                return dict(arrays)
    torch = importlib.import_module("torch")
    return torch.load(path, map_location="cpu", weights_only=True)


def _write(path: str, arrays: dict[str, Stored]) -> None:
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    ordered = sorted(arrays.items(), key=lambda each: -each[1].width)  # so that all are aligned
    end = 0
    for name, each in ordered:
        header[name] = {"dtype": each.dtype, "shape": each.shape, "data_offsets": [end, end + len(each.content)]}
        end += len(each.content)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    try:
        with open(path + ".part", "wb") as file:
            file.write(len(text).to_bytes(8, "little") + text)
            for _, each in ordered:
                file.write(each.content)
        os.replace(path + ".part", path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path + ".part")


def convert(source: str | os.PathLike[str], path: str | os.PathLike[str]) -> list[str]:
    """Makes the safetensors file `path`. Returns the names of the values of `source` that are neither arrays nor numbers."""
    values: dict[str, Any] = {}
    left_out: list[str] = []
    total = 0  # a file may have few bytes of many values: lists that contain each other, strides of 0
    for count, (name, value) in enumerate(_leaves("", _read(os.fspath(source)))):
        if count == MOST_VALUES:
            raise ValueError(f"it has more than {MOST_VALUES} values")
        if name in values or name == "__metadata__":
            raise ValueError(f"two values would have the name {name}, or it is reserved")
        if isinstance(value, (bool, int, float, np.ndarray, np.generic)):
            values[name] = np.asarray(value)
            total += values[name].nbytes
        elif hasattr(value, "layout"):  # a tensor of PyTorch
            values[name] = value
            total += value.numel() * value.element_size()
        else:
            left_out.append(name)
    _require_memory(total)
    arrays = {name: (_of_torch if hasattr(value, "layout") else _of_numpy)(name, value) for name, value in values.items()}
    if not arrays:
        raise ValueError("there is no array" + (": save the state_dict() of a module" if left_out else ""))
    _write(os.fspath(path), arrays)
    return left_out


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit("usage: python -m cairn.convert IN OUT.safetensors")
    try:
        left_out = convert(sys.argv[1], sys.argv[2])
    except Exception as cause:  # of numpy, PyTorch and pickle: of many types
        sys.exit(f"{sys.argv[1]} cannot be converted: {cause}")
    for name in left_out:
        print(f"left out, since it is no array: {name}")


if __name__ == "__main__":
    main()

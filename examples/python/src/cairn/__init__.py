# SPDX-License-Identifier: MIT
"""Reads and writes Cairn's checkpoints as numpy arrays.

    with cairn.open("run") as checkpoint:      # a checkpoint, a directory of them (the newest), or a safetensors file
        print(checkpoint.step, checkpoint.metrics)
        weight = checkpoint["model.weight"]    # a numpy array, read and verified now

    cairn.save("changed", {"model.weight": weight}, step=7)

All failures are `cairn.Error`, with the library's text, and its code in `code`: "not_found", "corrupt", "unsupported", ...
"""

from __future__ import annotations

import operator
import os
from typing import Any, Callable, Iterable, Iterator, Mapping, NamedTuple, TypeGuard, Union

import numpy as np
from numpy.typing import NDArray

from . import _cairn
from ._cairn import Error

__all__ = ["Checkpoint", "Error", "Run", "export_safetensors", "load_dict", "open", "runs", "safe_open", "save", "verify"]


Array = NDArray[Any]
PathLike = Union[str, "os.PathLike[str]"]


class Checkpoint(Mapping[str, Array]):
    """An open checkpoint: a mapping from names to arrays, which are read when they are asked for.

    bfloat16 and 8-bit floating point, which numpy does not have, come as uint16 and uint8 with the same bits; `info(name)["dtype"]` names the stored type.
    """

    def __new__(cls, opened: _cairn.Checkpoint | None = None) -> Checkpoint:
        if not isinstance(opened, _cairn.Checkpoint):
            raise TypeError("a cairn.Checkpoint is made by cairn.open(path)")
        return super().__new__(cls)

    def __init__(self, opened: _cairn.Checkpoint):
        self._opened = opened

    @property
    def path(self) -> str:
        """Of the checkpoint."""
        return self._opened.path

    @property
    def step(self) -> int:
        """The step of the training at which it was saved."""
        return self._opened.step

    @property
    def metrics(self) -> dict[str, float]:
        """The numbers that the trainer has saved, such as the loss."""
        return self._opened.metrics

    @property
    def metadata(self) -> dict[str, str]:
        """The texts that the trainer has saved."""
        return self._opened.metadata

    def info(self, name: str) -> dict[str, Any]:
        """dtype, shape, bytes, stored_bytes, codec ("" if stored as it is) and is_delta of an array."""
        if name not in self:
            raise KeyError(name)
        return self._opened.info(name)

    def verify(self, threads: int = 0) -> None:
        """Checks all stored bytes against their checksums; 0 threads: as many as there are cores."""
        self._opened.verify(_natural("threads", threads, 32))

    def __getitem__(self, name: str) -> Array:
        if name not in self:
            raise KeyError(name)
        return self._opened.read(name)

    def get_tensor(self, name: str) -> Array:
        """As `checkpoint[name]`: the name that safetensors gives it."""
        return self[name]

    def __contains__(self, name: object) -> bool:
        return _is_text(name) and name in self._opened

    def __iter__(self) -> Iterator[str]:
        return iter(self._opened.keys())

    def __len__(self) -> int:
        return len(self._opened.keys())

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __repr__(self) -> str:
        return f"<cairn.Checkpoint {self.path!r}, step {self.step}, {len(self)} arrays>"


def _is_text(name: object) -> TypeGuard[str]:
    """Whether it is a str that UTF-8 can hold, as all names in checkpoints are."""
    return isinstance(name, str) and not any("\ud800" <= each <= "\udfff" for each in name)


def _path(path: PathLike) -> str:
    text = os.fspath(path)
    if not _is_text(text):
        raise TypeError(f"a path is a str or a pathlib.Path, in UTF-8, and not {text!r}")
    return text


def _natural(name: str, value: int, bits: int = 64) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = -1
    if not 0 <= number < 1 << bits:
        raise TypeError(f"{name} must be a whole number from 0 to 2^{bits} - 1, not {value!r}")
    return number


def _numbers(name: str, values: Mapping[str, float]) -> dict[str, float]:
    for key, value in _mapping(name, values).items():
        if not hasattr(value, "__float__"):
            raise TypeError(f"{name}: {key!r} must be a number, not {value!r}")
    return {key: float(value) for key, value in values.items()}


def _texts(name: str, values: Mapping[str, str]) -> dict[str, str]:
    for key, value in _mapping(name, values).items():
        if not _is_text(value):
            raise TypeError(f"{name}: {key!r} must be a text in UTF-8, not {value!r}")
    return dict(values)


def _mapping(name: str, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """`values`, whose keys are names."""
    if not isinstance(values, Mapping):
        raise TypeError(f"{name} must be a dict, not {values!r}")
    for key in values:
        if not _is_text(key):
            raise TypeError(f"{name}: a name must be a text in UTF-8, not {key!r}")
    return values


class Run(NamedTuple):
    """A checkpoint of a place."""

    step: int
    path: str
    problem: str  # why its index cannot be read; empty if it can


def open(path: PathLike) -> Checkpoint:
    """Opens a checkpoint, the newest one of a directory of checkpoints, or a safetensors file."""
    return Checkpoint(_cairn.open(_path(path)))


def safe_open(path: PathLike, framework: str = "np", device: str = "cpu") -> Checkpoint:
    """As `open`, with the arguments of safetensors' function of that name."""
    if framework not in ("np", "numpy") or device != "cpu":
        raise ValueError("cairn.safe_open gives numpy arrays on the cpu; use torch.from_numpy on them")
    return open(path)


def load_dict(path: PathLike, names: Iterable[str] | None = None) -> dict[str, Array]:
    """All arrays of a checkpoint, or those of these names."""
    opened = open(path)
    return {name: opened[name] for name in (opened if names is None else names)}


def save(path: PathLike, arrays: Mapping[str, Array], *, step: int = 0, metrics: Mapping[str, float] = {}, metadata: Mapping[str, str] = {},
         like: Checkpoint | None = None, dtypes: Mapping[str, str] = {}, lossless: bool = False, durable: bool = True) -> int:
    """Saves arrays as the checkpoint `path`, which appears at once and whole. Returns the bytes of its files.

    like: a C++ state that loads this checkpoint loads the new one, too. The names, types and shapes must be the same.
    metadata: texts, saved with the checkpoint. durable: a crash of the machine afterwards cannot lose it.
    dtypes: the stored types of arrays of bits, by name: {"model.weight": "BF16"} for one of uint16.
    lossless: the arrays are encoded, and smaller; else other programs can read them as safetensors.
    """
    kept = {name: np.asarray(array) for name, array in _mapping("arrays", arrays).items()}
    types = _texts("dtypes", dtypes)
    for name in types:
        if name not in kept:
            raise KeyError(name)
    if like is not None and not isinstance(like, Checkpoint):
        raise TypeError(f"like must be what cairn.open returns, not {like!r}")
    return _cairn.save(_path(path), kept, _natural("step", step), _numbers("metrics", metrics), _texts("metadata", metadata),
                       None if like is None else like._opened, types, bool(lossless), bool(durable))


def export_safetensors(source: Checkpoint | PathLike, path: PathLike, *, rename: Callable[[str], str | None] | None = None,
                       metadata: Mapping[str, str] = {"format": "pt"}, file_bytes: int = 5_000_000_000, durable: bool = True) -> list[str]:
    """Writes arrays, decoded, as safetensors files for other programs: one file if `path` ends in ".safetensors", else a directory with
    model.safetensors, or with an index and files of `file_bytes` at most. Returns the files.

    rename: gives the name of an array in the files, or None for an array to leave out. Not given: all arrays under their own names.
    """
    opened = source if isinstance(source, Checkpoint) else open(source)
    names = {name: name if rename is None else rename(name) for name in opened}
    for old, new in names.items():
        if new is not None and not _is_text(new):
            raise TypeError(f"rename gives {new!r} for {old!r}: it must give a name in UTF-8, or None to leave the array out")
    chosen = {old: new for old, new in names.items() if new is not None}
    return _cairn.export_safetensors(opened._opened, _path(path), chosen, _texts("metadata", metadata), _natural("file_bytes", file_bytes),
                                     bool(durable))


def verify(path: PathLike) -> None:
    """Checks all stored bytes of a checkpoint, and of those that it is built on."""
    open(path).verify()


def runs(place: PathLike) -> list[Run]:
    """The checkpoints at a place, in order of step. A restore takes the last one that is whole, and never one with a problem."""
    return [Run(*each) for each in _cairn.runs(_path(place))]

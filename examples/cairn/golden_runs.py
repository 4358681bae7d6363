# SPDX-License-Identifier: MIT
"""What the tests of the program share: runs of checkpoints that are in tests/golden."""
import ctypes
import ctypes.util
import pathlib
import re
import shutil


def change_index(path, change):
    """Changes the text of an index, and its checksum to that of the new text."""
    xxhash = ctypes.CDLL(ctypes.util.find_library("xxhash") or "libxxhash.so.0")
    xxhash.XXH3_64bits.restype = ctypes.c_uint64
    text = re.sub(r'("checksum":")[0-9a-f]{16}', lambda found: found.group(1) + 16 * "0", change(path.read_text()), count=1)
    data = text.encode()
    path.write_text(text.replace(16 * "0", f"{xxhash.XXH3_64bits(data, ctypes.c_size_t(len(data))):016x}", 1))


def make_run(golden, name, losses, notes=None):
    """A run of four checkpoints with these losses, as texts of JSON, and for each number the notes of a policy."""
    shutil.copytree(pathlib.Path(golden, "chain-4"), name)
    for number, loss in enumerate(losses, start=1):
        text = f'"metrics":{{"loss":{loss}}}' + (f',"notes":{notes(number)}' if notes else "")
        change_index(pathlib.Path(name, f"step-{number:09}", "index.json"), lambda index: index.replace('"metrics":{}', text, 1))

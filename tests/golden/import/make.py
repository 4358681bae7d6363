# SPDX-License-Identifier: MIT
"""Wrote the files of this folder once, with numpy 1.24 and PyTorch 1.13: they never change."""

from collections import OrderedDict

import numpy as np
import torch

arrays = {
    "weight": np.arange(6, dtype=np.float32).reshape(2, 3) / 2,
    "columns": np.asfortranarray(np.arange(6, dtype=np.float64).reshape(2, 3)),
    "step": np.int64(-7),
    "bytes": np.array([1, 2, 255], np.uint8),
    "half": np.array([1, 2], np.float16),
    "flags": np.array([True, False]),
}
np.savez("plain.npz", **arrays)
np.savez_compressed("compressed.npz", **arrays)
np.save("one.npy", np.array([1, 2, 3, 4], np.float32))

weight = torch.arange(6, dtype=torch.float32).reshape(2, 3)
model = OrderedDict([("0.weight", torch.nn.Parameter(weight)), ("0.bias", torch.tensor([0.5, -0.5]))])
optimizer = {"state": {0: {"step": torch.tensor(12.0), "exp_avg": weight * 2}}, "param_groups": [{"lr": 0.1, "betas": (0.9, 0.999), "name": "all"}]}
torch.save({"model": model, "optimizer": optimizer, "epoch": 3, "name": "net"}, "trainer.pt")

torch.save(
    {
        "first": weight,
        "tied": weight,
        "transposed": weight.t(),
        "part": weight[1, 1:],
        "expanded": torch.tensor([7.0]).expand(3),
        "empty": torch.zeros(0, 4),
        "scalar": torch.tensor(2.5, dtype=torch.float64),
        "bf16": torch.ones(2, dtype=torch.bfloat16),
        "half": torch.ones(2, dtype=torch.float16),
        "bool": torch.tensor([True, False]),
        "i8": torch.tensor([-1], dtype=torch.int8),
        "i16": torch.tensor([-2, -1, 0], dtype=torch.int16),
        "i32": torch.tensor([-1], dtype=torch.int32),
        "i64": torch.tensor([-1], dtype=torch.int64),
        "u8": torch.tensor([255], dtype=torch.uint8),
    },
    "tensors.pt",
)

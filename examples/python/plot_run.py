# SPDX-License-Identifier: MIT
"""Plots the losses and the weights of a run: python plot_run.py RUN [PICTURE].

The cells can be run one by one in an editor or notebook that knows `# %%`.
"""

# %% The checkpoints of the run.
import sys

import cairn
import matplotlib

matplotlib.use("agg")  # draws into files; leave this out in a notebook
import matplotlib.pyplot as plt
import numpy as np

place = sys.argv[1] if len(sys.argv) > 1 else "run"
picture = sys.argv[2] if len(sys.argv) > 2 else "run.png"
checkpoints = [cairn.open(run.path) for run in cairn.runs(place)]
if not checkpoints:
    sys.exit(f"{place} has no checkpoints")
steps = [each.step for each in checkpoints]

# %% The metrics that the trainer passed to `step` or `save`.
figure, (losses, weights) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
metrics = sorted({name for each in checkpoints for name in each.metrics})
for metric in metrics:
    losses.plot(steps, [each.metrics.get(metric, np.nan) for each in checkpoints], marker="o", label=metric)
losses.set(xlabel="step", title="metrics")
if metrics:
    losses.legend()

# %% How far the weights spread: the middle 90 % of each array, over the steps.
infos = {name: checkpoints[-1].info(name) for name in checkpoints[-1]}
floats = [name for name, info in infos.items() if info["dtype"] in ("F16", "F32", "F64") and np.prod(info["shape"]) >= 100]
largest = sorted(floats, key=lambda name: infos[name]["bytes"])[-4:]
for name in largest:
    low, middle, high = zip(*(np.quantile(each[name], [0.05, 0.5, 0.95]) for each in checkpoints))
    line, = weights.plot(steps, middle, label=name)
    weights.fill_between(steps, low, high, color=line.get_color(), alpha=0.2)
weights.set(xlabel="step", title="weights: median, and the middle 90 %")
if largest:
    weights.legend()

# %%
figure.savefig(picture)
print(f"{picture}: steps {steps[0]} to {steps[-1]}, {len(largest)} arrays")

# SPDX-License-Identifier: Apache-2.0
"""A result in Python, cell by cell: run it as a script, or open it as a notebook where `# %%` begins a cell."""

# %% A result. RESULT names your own (HDF5 or SION); else a simulated fabric with one slow host is measured.
import os
import subprocess
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import leadline

here = Path(__file__).resolve().parent if "__file__" in globals() else Path.cwd()
path = Path(os.environ.get("RESULT", "run.h5"))
if not path.exists():
    fabric = here.parent / "fabrics" / "slow-host.json"
    words = ["--local", "8", "--transport", f"model:{fabric}", "--message-size", "8B,1KiB,32KiB,1MiB", "--quiet"]
    subprocess.run(["leadline", "link", *words, "--output", path], check=True, stdout=subprocess.DEVNULL)
result = leadline.load_link(path)
print(result)

# %% The times of one message size: an array that knows its name, its unit and the host of each rank.
smallest = min(result.message_sizes_bytes)
times = result.times["median", smallest, 0]
print()
print(times)
print(np.round(times))

# %% Hosts to hosts. NaN is what was not measured, such as a host with one rank and itself.
hosts = times.by_host("median")
print("\nmedian between hosts, ns")
for host, row in zip(hosts.row_hosts, hosts.values, strict=True):
    print(f"{host:>16}", *(f"{value:10.0f}" for value in row))

# %% The five slowest pairs. `times.to_pandas()` is the same as a table of pandas.
table = times.to_table()
print("\nslowest pairs")
for index in np.argsort(table["time_ns_median"])[::-1][:5]:
    ends = (f"{table[f'{end}_rank'][index]} on {table[f'{end}_host'][index]}" for end in ("from", "to"))
    print(" to ".join(ends), f"{table['time_ns_median'][index]:.0f} ns")

# %% Each size of the sweep: what the usual and the slowest pair reach.
bandwidths = [result.bandwidths["median", size, 0].values for size in result.message_sizes_bytes]
middle = [float(np.nanmedian(values)) for values in bandwidths]
least = [float(np.nanmin(values)) for values in bandwidths]
print("\nsize in bytes, bandwidth of the middle and of the slowest pair in MiB/s")
for size, *both in zip(result.message_sizes_bytes, middle, least, strict=True):
    print(f"{size:10}", *(f"{value / 2**20:10.1f}" for value in both))

# %% A picture of both.
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
times.plot(left)
right.loglog(result.message_sizes_bytes, np.array(middle) / 2**20, "o-", label="middle pair")
right.loglog(result.message_sizes_bytes, np.array(least) / 2**20, "o--", label="slowest pair")
right.set(xlabel="message size in bytes", ylabel="bandwidth in MiB/s")
right.legend()
figure.savefig("look_at_a_result.png", dpi=120)
print("\nlook_at_a_result.png")

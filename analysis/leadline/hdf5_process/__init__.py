# SPDX-License-Identifier: Apache-2.0
"""The HDF5 library in processes of its own: a damaged file makes it crash, run without end, or take all memory.

`server` is the only module that imports h5py, and `client` is what readers call. One server process serves a command;
it imports h5py once and forks a process for each file that is opened. That process has limits of memory and processor
time, and dies alone.
"""

from leadline.hdf5_process.client import Dataset, Group, Hdf5File, LibraryError

__all__ = ["Dataset", "Group", "Hdf5File", "LibraryError"]

# SPDX-License-Identifier: Apache-2.0
"""Spack's recipe: builds the checkout that this file lies in, at a branch or a tag."""

from pathlib import Path

from spack.package import conflicts, depends_on, license, variant, version, when, which  # noqa: A004
from spack_repo.builtin.build_systems.cmake import CMakePackage, generator

CHECKOUT = Path(__file__).resolve().parents[7]


class Leadline(CMakePackage):
    """Measures a cluster's network and file system and says which host, link, switch or storage target is slow."""

    homepage = CHECKOUT.as_uri()
    git = CHECKOUT.as_uri()

    license("Apache-2.0")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    variant("mpi", default=True, description="Transport mpi for the ABI of this MPI; that of MPI 5 is always built")
    variant("ucx", default=True, description="Transport ucx")
    variant("libfabric", default=True, description="Transport libfabric")
    variant("verbs", default=True, description="Transport verbs (InfiniBand and RoCE)")
    variant("psm2", default=False, description="Transport psm2 (Omni-Path)")
    variant("pmix", default=True, description="Ranks that srun --mpi=pmix or prun starts")
    variant("cuda", default=False, description="NCCL for the transport nccl; the transport cuda needs the driver alone")
    variant("analysis", default=True, description="Reports, exports, history, acceptance tests; written in Python")

    generator("ninja", "make", default="ninja")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("help2man", type="build")
    depends_on("cli11@2.1:", type="build")
    depends_on("nlohmann-json@3.11:", type="build")
    depends_on("fmt@9:")
    depends_on("hdf5@1.10: ~mpi")  # a parallel HDF5 is linked with one MPI library, and Leadline with none

    depends_on("mpi", when="+mpi")
    depends_on("ucx@1.11:", when="+ucx")
    depends_on("libfabric@1.9:", when="+libfabric")
    depends_on("rdma-core", when="+verbs")
    depends_on("opa-psm2", when="+psm2")
    depends_on("pmix", when="+pmix")
    depends_on("nccl@2.13:", when="+cuda", type="run")

    with when("+analysis"):
        depends_on("python@3.10:", type=("build", "run"))
        depends_on("py-numpy@1.23:", type="run")
        depends_on("py-h5py@3.7: ~mpi", type="run")
        depends_on("py-jinja2@3.0:", type="run")
        depends_on("py-matplotlib@3.6:", type="run")
        depends_on("py-pyyaml@6.0:", type="run")

    conflicts("%gcc@:10", msg="Leadline is written in C++20")
    conflicts("%clang@:13", msg="Leadline is written in C++20")
    conflicts("platform=darwin", msg="Leadline runs on Linux")

    sanity_check_is_file = ("bin/leadline", "bin/linktest")

    def cmake_args(self):
        """What the variants say; and where the loader finds the libraries that the program opens by their names."""
        arguments = [self.define("LEADLINE_TESTS", False), self.define("LEADLINE_PORTALS4", False)]
        for choice in ("mpi", "ucx", "libfabric", "verbs", "psm2", "pmix", "analysis"):
            arguments.append(self.define_from_variant(f"LEADLINE_{choice.upper()}", choice))
        if self.spec.satisfies("+analysis"):
            arguments.append(self.define("LEADLINE_PYTHON", self.spec["python"].command.path))
        folders = [self.prefix.lib]
        for opened in ("ucx", "libfabric", "rdma-core", "opa-psm2", "pmix", "nccl"):
            if opened in self.spec and not self.spec[opened].external:
                folders += [self.spec[opened].prefix.lib, self.spec[opened].prefix.lib64]
        return [*arguments, self.define("CMAKE_INSTALL_RPATH", folders)]

    def test_link(self):
        """Two processes measure the link between them."""
        leadline = which(self.prefix.bin.leadline)
        leadline("link", "--local", "2", "--messages", "5", "--wait", "yield", "--format", "none")

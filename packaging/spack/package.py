# SPDX-License-Identifier: BSD-3-Clause
"""Spack's recipe: in a repository of packages, packages/keel-mpi/package.py."""

import os

from spack.package import *


class KeelMpi(AutotoolsPackage):
    """Keel MPI: MPI 5.0 by the Standard ABI, which also runs programs of MPICH and Open MPI as they are."""

    homepage = "https://keel.example.org/"
    url = "https://keel.example.org/keel-0.2.0.tar.xz"

    license("BSD-3-Clause")

    # Who publishes a tarball writes its checksum here: make dist-checksum.
    version("0.2.0")

    variant("fortran", default=True, description="Fortran bindings: mpif.h and the modules mpi and mpi_f08")
    variant("ofi", default=False, description="The device ch_ofi, over libfabric")
    variant("ucx", default=False, description="The device ch_ucx, over UCX")
    variant("hwloc", default=True, description="mpiexec binds ranks to cores by hwloc")

    provides("mpi@:5.0")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.8:", type="build")
    depends_on("nettle@3.4:")
    depends_on("hwloc@2:", when="+hwloc")
    depends_on("libfabric", when="+ofi")
    depends_on("ucx", when="+ucx")

    filter_compiler_wrappers("mpicc", "mpicxx", "mpifort", relative_root="bin")

    def configure_args(self):
        args = []
        for option in ("hwloc", "ofi", "ucx"):
            args += [] if f"+{option}" in self.spec else [f"--without-{option}"]
        if "~fortran" in self.spec:
            args.append("--disable-fortran")
        return args

    def setup_run_environment(self, env):
        self.setup_wrappers(env)

    def setup_dependent_build_environment(self, env, dependent_spec):
        self.setup_wrappers(env)
        # What is built with this MPI is built by Spack's own wrappers of compilers.
        env.set("KEEL_CC", spack_cc)
        env.set("KEEL_CXX", spack_cxx)
        if "+fortran" in self.spec:
            env.set("KEEL_FC", spack_fc)

    def setup_wrappers(self, env):
        env.set("MPICC", os.path.join(self.prefix.bin, "mpicc"))
        env.set("MPICXX", os.path.join(self.prefix.bin, "mpicxx"))
        if "+fortran" in self.spec:
            for name in ("MPIF77", "MPIF90", "MPIFC"):
                env.set(name, os.path.join(self.prefix.bin, "mpifort"))

    def setup_dependent_package(self, module, dependent_spec):
        self.spec.mpicc = os.path.join(self.prefix.bin, "mpicc")
        self.spec.mpicxx = os.path.join(self.prefix.bin, "mpicxx")
        if "+fortran" in self.spec:
            self.spec.mpifc = os.path.join(self.prefix.bin, "mpifort")
            self.spec.mpif77 = os.path.join(self.prefix.bin, "mpif77")

    @property
    def libs(self):
        names = ["libmpi_abi"]
        if "+fortran" in self.spec and "fortran" in self.spec.last_query.extra_parameters:
            names.insert(0, "libmpifort_abi")
        return find_libraries(names, root=self.prefix, shared=True, recursive=True)

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def try_it(self):
        with working_dir(self.stage.source_path):
            Executable(os.path.join(self.prefix.bin, "mpicc"))("-O2", "-o", "heat2d", "examples/heat2d.c", "-lm")
            Executable(os.path.join(self.prefix.bin, "mpiexec"))("-n", "4", "./heat2d")

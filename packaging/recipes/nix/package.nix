# SPDX-License-Identifier: Apache-2.0
# Nix's recipe, of the checkout that this file lies in:
#   nix-build --expr 'with import <nixpkgs> { }; callPackage ./packaging/recipes/nix/package.nix { }'
{
  lib,
  stdenv,
  cmake,
  help2man,
  ninja,
  pkg-config,
  cli11,
  fmt,
  hdf5,
  nlohmann_json,
  libfabric,
  mpi,
  pmix,
  rdma-core,
  ucx,
  python3,
  withAnalysis ? true,
}:

let
  # Opened at run time, each by its transport: their folders come into the run path by hand.
  opened = [
    libfabric
    pmix
    rdma-core
    ucx
  ];
  python = python3.withPackages (packages: [
    packages.h5py
    packages.jinja2
    packages.matplotlib
    packages.numpy
    packages.pyyaml
  ]);
in
stdenv.mkDerivation {
  pname = "leadline";
  version = "0.1.0";
  src = lib.cleanSource ../../..;

  nativeBuildInputs = [
    cmake
    help2man
    ninja
    pkg-config
  ];
  buildInputs = [
    cli11
    fmt
    hdf5
    mpi
    nlohmann_json
  ]
  ++ opened;

  cmakeFlags = [
    (lib.cmakeBool "LEADLINE_TESTS" false)
    (lib.cmakeBool "LEADLINE_MPI" true)
    (lib.cmakeBool "LEADLINE_UCX" true)
    (lib.cmakeBool "LEADLINE_LIBFABRIC" true)
    (lib.cmakeBool "LEADLINE_VERBS" true)
    (lib.cmakeBool "LEADLINE_PSM2" false)
    (lib.cmakeBool "LEADLINE_PORTALS4" false)
    (lib.cmakeBool "LEADLINE_PMIX" true)
    (lib.cmakeBool "LEADLINE_ANALYSIS" withAnalysis)
  ]
  ++ lib.optional withAnalysis (lib.cmakeFeature "LEADLINE_PYTHON" python.interpreter);

  postFixup = ''
    patchelf --add-rpath ${lib.makeLibraryPath opened} $out/bin/leadline
  '';

  meta = {
    description = "Measures a cluster's network and file system and says which host, link, switch or storage target is slow";
    license = lib.licenses.asl20;
    platforms = lib.platforms.linux;
    mainProgram = "leadline";
  };
}

// SPDX-License-Identifier: Apache-2.0
// Matrices that the tests make up: from a formula, or from a simulated machine with planted faults.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "diagnosis/diagnose.hpp"
#include "diagnosis/evidence.hpp"
#include "diagnosis/rows.hpp"
#include "synthetic/machine.hpp"
#include "synthetic/simulator.hpp"

namespace leadline::diagnosis {

/// ln ns of an ordered pair; NaN = not measured.
using Matrix = std::function<double(std::uint32_t from, std::uint32_t to)>;

void fill(DenseRows& rows, const Matrix& matrix);

/// Ranks `ranks_per_host` a host in order, sockets alternating blocks of a host; leaf switches of so many hosts.
struct Shape {
  std::uint32_t hosts_a_leaf = 4, num_leaves = 4, ranks_per_host = 4, sockets_per_host = 2;
};

synthetic::Machine machine_of(const Shape& shape);
Layout layout_of(const synthetic::Machine& machine);

synthetic::PlantedFault planted(Component component, double factor = 1.5,
                                FaultDirection direction = FaultDirection::both);

/// What a link test of a machine would give, as a diagnosis asks for it.
class Measured {
 public:
  explicit Measured(const synthetic::Machine& machine, std::size_t num_workers = 1);

  const Layout& layout() const { return layout_; }
  const synthetic::Simulator& simulator() const { return simulator_; }

  /// The main test's; means only with a fault that loses messages.
  double logarithm(Symptom symptom, std::uint32_t from, std::uint32_t to) const;

  /// Loads as result files do.
  const DenseRows& rows(Symptom symptom);

  /// Leaves pairs out of what rows() gives.
  void leave_out(const std::function<bool(std::uint32_t from, std::uint32_t to)>& is_hole) { is_hole_ = is_hole; }

  Retest retest();
  Question question();
  Diagnosis diagnosis() { return diagnose(question()); }

 private:
  synthetic::Simulator simulator_;
  Layout layout_;
  DenseRows rows_;
  bool has_means_;
  std::function<bool(std::uint32_t, std::uint32_t)> is_hole_;
};

/// Those that are no notes, each as "kind first second level socket way symptom"; of planted ones as a diagnosis should
/// name them.
std::vector<std::string> faults_of(const Diagnosis& diagnosis);
std::vector<std::string> faults_of(const synthetic::Machine& machine);
std::string described(Component component, FaultDirection direction, Symptom symptom = Symptom::slow);

/// The same of suspects.
std::vector<std::string> components_of(const std::vector<Suspect>& suspects);

/// Every number and word, numbers to the last bit.
std::string in_full(const Diagnosis& diagnosis);

}  // namespace leadline::diagnosis

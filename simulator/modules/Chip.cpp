#include "simulator/modules/Chip.h"

#include "simulator/timing/Wiring.h"

namespace orrery::sim {
namespace {

template <class... F> struct Overloaded : F... {
  using F::operator()...;
};
template <class... F> Overloaded(F...) -> Overloaded<F...>;

} // namespace

Chip::Chip(sc_core::sc_module_name name, Simulation &simulation, Step &step,
           size_t linkCount)
    : sc_module(name), step(step), clock("clock", simulation, step.start),
      memory("mem", clock, step), vxm("vxm", clock, step),
      sxmWest("sxm_west", clock, step, 0), sxmEast("sxm_east", clock, step, 1),
      host("host", clock, step), icu("icu", clock, step) {
  for (int32_t p = 0; p < step.geometry.planes(); ++p) {
    planes.push_back(std::make_unique<MatrixPlane>(
        ("plane_" + std::to_string(p)).c_str(), clock, step, p));
  }
  auto perSide = size_t(step.geometry.planesPerHemisphere);
  for (size_t p = 0; p < planes.size(); ++p) {
    std::vector<MatrixPlane *> pair;
    for (size_t i = 0; i < perSide; ++i) {
      pair.push_back(planes[p / perSide * perSide + i].get());
    }
    planes[p]->setPair(std::move(pair));
  }
  for (size_t k = 1; k <= linkCount; ++k) {
    links.push_back(std::make_unique<ChipLink>(
        ("link_" + std::to_string(k)).c_str(), clock, step, LinkNumber(k)));
  }
  for (uint32_t i = 0; i < step.program.instructions.size(); ++i) {
    distribute(i);
  }
}

/// Bursts whose vectors do not come one after another mean nothing.
void Chip::checkShape(uint32_t number) const {
  std::visit(
      [&](const auto &op) {
        if constexpr (requires { op.shape; }) {
          if (!isWellFormed(op.shape)) {
            step.fail(number, step.instruction(number).tick,
                      "a burst shape whose times do not increase");
          }
        }
      },
      step.instruction(number).operation);
}

void Chip::checkFetch(uint32_t number, const FetchOp &op) const {
  if (op.slice >= step.geometry.slices() ||
      op.bank >= step.machine.sram.banks) {
    step.fail(number, step.instruction(number).tick,
              "slice " + std::to_string(op.slice) + " bank " +
                  std::to_string(op.bank) + " of " +
                  std::to_string(step.geometry.slices()) + " slices of " +
                  std::to_string(step.machine.sram.banks) + " banks");
  }
}

MatrixPlane &Chip::planeOf(uint32_t number, uint32_t plane) {
  if (plane >= planes.size()) {
    step.fail(number, step.instruction(number).tick,
              "plane " + std::to_string(plane) + " of " +
                  std::to_string(planes.size()));
  }
  return *planes[plane];
}

ChipLink &Chip::linkOf(uint32_t number, LinkNumber link) {
  if (link > links.size()) {
    step.fail(number, step.instruction(number).tick,
              "link " + std::to_string(link) + " of " +
                  std::to_string(links.size()));
  }
  return *links[link - 1];
}

void Chip::finish() {
  for (const auto &plane : planes) {
    plane->checkAllUsed();
  }
  for (const auto &link : links) {
    link->finish();
  }
}

void Chip::distribute(uint32_t number) {
  const Instruction &i = step.instruction(number);
  if (i.tick < 0 || i.tick > kMaxTick) {
    step.fail(number, i.tick, "an instruction outside cycles 0 to 2^48");
  }
  checkShape(number);
  std::visit(
      Overloaded{
          [&](const ReadOp &) { memory.addRead(number); },
          [&](const WriteOp &) { memory.addWrite(number); },
          [&](const LoadOp &o) { planeOf(number, o.plane).addLoad(number); },
          [&](const InstallOp &o) {
            planeOf(number, o.plane).addInstall(number);
          },
          [&](const MatmulOp &o) {
            planeOf(number, o.plane).addMatmul(number);
          },
          [&](const VectorOp &) { vxm.add(number); },
          [&](const PermuteOp &o) {
            if (o.sxm > 1) {
              step.fail(number, i.tick,
                        "sxm " + std::to_string(o.sxm) + " of 2");
            }
            (o.sxm == 0 ? sxmWest : sxmEast).add(number);
          },
          [&](const ReceiveOp &o) {
            o.link == kHostLink ? host.addReceive(number)
                                : linkOf(number, o.link).addReceive(number);
          },
          [&](const SendOp &o) {
            o.link == kHostLink ? host.addSend(number)
                                : linkOf(number, o.link).addSend(number);
          },
          [&](const FetchOp &o) {
            checkFetch(number, o);
            icu.add(number);
          },
      },
      i.operation);
}

} // namespace orrery::sim

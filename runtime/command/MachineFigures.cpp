#include "runtime/command/MachineFigures.h"

namespace orrery::command {

std::vector<MachineFigure> machineFigures(const Machine &m) {
  double slices = m.geometry().slices(), planes = m.geometry().planes();
  double lanes = m.lanes, hertz = m.clockMhz * 1e6;
  double install = planes * m.matrix.installStreams * lanes;
  double macs = planes * lanes * lanes;
  double hostBytes = 4 * lanes / (4 * double(m.timing.hostVector));
  std::vector<MachineFigure> figures = {
      {"sram_mib", double(m.sramBytes()) / (1 << 20),
       "slices x banks x vectors x lanes"},
      {"sram_read_bytes_per_tick", slices * lanes, "slices x lanes"},
      {"sram_read_tb_per_s", slices * lanes * hertz * 1e-12,
       "read bytes a tick x clock"},
      {"stream_bytes_per_tick", 2 * double(m.streamsPerDirection) * lanes,
       "2 x streams x lanes, at each position"},
      {"install_bytes_per_tick", install, "planes x install streams x lanes"},
      {"install_tb_per_s", install * hertz * 1e-12,
       "install bytes a tick x clock"},
      {"int8_macs_per_tick", macs, "planes x lanes x lanes"},
      {"int8_tops", 2 * macs * hertz * 1e-12, "2 x MACs a tick x clock"},
      {"f16_tflops",
       macs / 2 / double(m.matrix.f16TicksPerRow) * 2 * hertz * 1e-12,
       "2 x MACs / 2 planes / ticks a row x clock"},
      {"alu_ops_per_tick", lanes * m.alusPerLane, "lanes x ALUs a lane"},
      {"host_gb_per_s", hostBytes * hertz * 1e-9,
       "lanes / ticks a host vector x clock"},
      {"host_latency_us", m.microseconds(m.timing.host), "host ticks / clock"},
  };
  if (m.link.ports > 0) {
    figures.push_back({"link_gb_per_s",
                       lanes / double(m.link.vectorTicks) * hertz * 1e-9,
                       "lanes / link ticks a vector x clock, each direction"});
    figures.push_back({"link_latency_us", m.microseconds(m.link.latency),
                       "link ticks / clock"});
  }
  if (m.system.chips > 1) {
    double chips = m.system.chips;
    figures.push_back({"system_chips", chips, "chips"});
    figures.push_back(
        {"system_links", double(m.system.links.size()), "cables"});
    figures.push_back({"system_sram_mib",
                       chips * double(m.sramBytes()) / (1 << 20),
                       "chips x SRAM"});
  }
  return figures;
}

Json figuresJson(const Machine &machine) {
  Json out = Json::object();
  for (const MachineFigure &f : machineFigures(machine)) {
    out[f.name] = f.value;
  }
  return out;
}

} // namespace orrery::command

#include "simulator/report/Counters.h"

#include <nlohmann/json.hpp>

namespace orrery::sim {

UnitIndex::UnitIndex(const Machine &machine)
    : slices(machine.geometry().slices()), planes(machine.geometry().planes()),
      ports(size_t(machine.link.ports)) {}

Counters makeCounters(const Machine &machine) {
  UnitIndex index(machine);
  Counters c;
  c.units.resize(index.count());
  for (int32_t s = 0; s < index.slices; ++s) {
    c.units[index.read(s)].name = "slice " + std::to_string(s) + " read";
    c.units[index.write(s)].name = "slice " + std::to_string(s) + " write";
  }
  for (int32_t p = 0; p < index.planes; ++p) {
    std::string plane = "plane " + std::to_string(p);
    c.units[index.load(p)].name = plane + " load";
    c.units[index.install(p)].name = plane + " install";
    c.units[index.matmul(p)].name = plane + " matmul";
  }
  c.units[index.vector()].name = "vxm";
  c.units[index.permute(0)].name = "sxm west";
  c.units[index.permute(1)].name = "sxm east";
  c.units[index.hostIn()].name = "host in";
  c.units[index.hostOut()].name = "host out";
  for (size_t k = 1; k <= index.ports; ++k) {
    std::string number = std::to_string(k);
    c.units[index.linkIn(LinkNumber(k))].name = "link in " + number;
    c.units[index.linkOut(LinkNumber(k))].name = "link out " + number;
  }
  c.units[index.fetch()].name = "icu";
  c.links.resize(index.ports);
  c.slices.resize(size_t(index.slices));
  c.streams.resize(2 * size_t(machine.streamsPerDirection));
  return c;
}

uint64_t Counters::bytesRead() const {
  uint64_t sum = 0;
  for (const SliceCounters &s : slices) {
    sum += s.bytesRead;
  }
  return sum;
}

uint64_t Counters::bytesWritten() const {
  uint64_t sum = 0;
  for (const SliceCounters &s : slices) {
    sum += s.bytesWritten;
  }
  return sum;
}

uint64_t Counters::linkBytesOut() const {
  uint64_t sum = 0;
  for (const LinkCounters &link : links) {
    sum += link.bytesOut;
  }
  return sum;
}

uint64_t Counters::hopBytes() const {
  uint64_t sum = 0;
  for (const StreamCounters &s : streams) {
    sum += s.hopBytes;
  }
  return sum;
}

double staticJoules(const Machine &m, Tick ticks) {
  return m.energy.staticWatts * m.microseconds(ticks) * 1e-6;
}

void finishCounters(Counters &c, const Machine &m, Tick ticks) {
  for (UnitCounters &u : c.units) {
    u.idleTicks = uint64_t(ticks) - u.busyTicks;
  }
  const EnergyParameters &e = m.energy;
  constexpr double kPico = 1e-12;
  c.energy.sramReadJoules = double(c.bytesRead()) * e.sramReadPjPerByte * kPico;
  c.energy.sramWriteJoules =
      double(c.bytesWritten()) * e.sramWritePjPerByte * kPico;
  c.energy.streamJoules = double(c.hopBytes()) * e.streamHopPjPerByte * kPico;
  c.energy.macJoules =
      (double(c.int8Macs) * e.int8MacPj + double(c.f16Macs) * e.f16MacPj) *
      kPico;
  c.energy.aluJoules = double(c.aluOps) * e.aluPj * kPico;
  c.energy.hostJoules =
      double(c.hostBytesIn + c.hostBytesOut) * e.hostPjPerByte * kPico;
  c.energy.linkJoules = double(c.linkBytesOut()) * e.linkPjPerByte * kPico;
  c.energy.staticJoules = staticJoules(m, ticks);
}

std::string formatCounters(const Counters &c) {
  using Json = nlohmann::ordered_json;
  Json units = Json::array(), slices = Json::array(), streams = Json::array(),
       links = Json::array();
  for (const UnitCounters &u : c.units) {
    units.push_back({{"name", u.name},
                     {"instructions", u.instructions},
                     {"vectors", u.vectors},
                     {"busy_ticks", u.busyTicks},
                     {"idle_ticks", u.idleTicks}});
  }
  for (const SliceCounters &s : c.slices) {
    slices.push_back(
        {{"bytes_read", s.bytesRead}, {"bytes_written", s.bytesWritten}});
  }
  for (const StreamCounters &s : c.streams) {
    streams.push_back({{"vectors", s.vectors},
                       {"hop_bytes", s.hopBytes},
                       {"dropped_vectors", s.droppedVectors}});
  }
  for (const LinkCounters &link : c.links) {
    links.push_back({{"bytes_out", link.bytesOut},
                     {"bytes_in", link.bytesIn},
                     {"crossing_ticks", link.crossingTicks},
                     {"most_buffered_vectors", link.mostBufferedVectors},
                     {"held_vector_ticks", link.heldVectorTicks},
                     {"wait_ticks", link.waitTicks}});
  }
  const EnergyCounters &e = c.energy;
  Json all = {{"sram_bytes_read", c.bytesRead()},
              {"sram_bytes_written", c.bytesWritten()},
              {"read_bytes_taken", c.readBytesTaken},
              {"read_bytes_dropped", c.readBytesDropped},
              {"fetched_bytes", c.fetchedBytes},
              {"stream_hop_bytes", c.hopBytes()},
              {"int8_macs", c.int8Macs},
              {"f16_macs", c.f16Macs},
              {"alu_ops", c.aluOps},
              {"host_bytes_in", c.hostBytesIn},
              {"host_bytes_out", c.hostBytesOut},
              {"host_wait_ticks", c.hostWaitTicks},
              {"other_wait_ticks", c.otherWaitTicks},
              {"energy",
               {{"sram_read_joules", e.sramReadJoules},
                {"sram_write_joules", e.sramWriteJoules},
                {"stream_joules", e.streamJoules},
                {"mac_joules", e.macJoules},
                {"alu_joules", e.aluJoules},
                {"host_joules", e.hostJoules},
                {"link_joules", e.linkJoules},
                {"static_joules", e.staticJoules},
                {"total_joules", e.totalJoules()}}}};
  all["units"] = units;
  all["slices"] = slices;
  all["streams"] = streams;
  all["links"] = links;
  return all.dump(1) + "\n";
}

} // namespace orrery::sim

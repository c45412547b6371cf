#include "machine/MachineFields.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace orrery {

namespace {

/// Follows member pointers from a Machine to one of its numbers.
template <auto... Path> auto &at(Machine &m) { return (m.*....*Path); }

template <auto Member> constexpr auto sram = at<&Machine::sram, Member>;
template <auto Member> constexpr auto mxm = at<&Machine::matrix, Member>;
template <auto Member> constexpr auto ticks = at<&Machine::timing, Member>;
template <auto Member> constexpr auto c2c = at<&Machine::link, Member>;
template <auto Member> constexpr auto energy = at<&Machine::energy, Member>;

using Sram = SramParameters;
using Mxm = MatrixParameters;
using Time = TimingParameters;
using Energy = EnergyParameters;
using C2c = LinkParameters;

constexpr double kMaxTicks = 10'000;
constexpr double kMaxHostTicks = 10'000'000;
constexpr double kMaxPicojoules = 1e6;
/// The instruction set numbers and counts streams in a byte.
constexpr double kMaxStreams = 252;
constexpr double kMaxQueueBytes = 16 << 20;
/// A description asks for memory when a chip is simulated.
constexpr Bytes kMaxSramBytes = Bytes(4) << 30;

const std::array kFields{
    NumberField{"", "clock_mhz", at<&Machine::clockMhz>, 1, 100'000},
    NumberField{"", "lanes", at<&Machine::lanes>, 32, 1024, 32},
    NumberField{"", "streams_per_direction", at<&Machine::streamsPerDirection>,
                8, kMaxStreams},
    NumberField{"sram", "slices_per_hemisphere",
                sram<&Sram::slicesPerHemisphere>, 12, 256},
    NumberField{"sram", "banks", sram<&Sram::banks>, 2, 2},
    NumberField{"sram", "vectors_per_bank", sram<&Sram::vectorsPerBank>, 16,
                65'536},
    NumberField{"mxm", "planes_per_hemisphere", mxm<&Mxm::planesPerHemisphere>,
                1, 4},
    NumberField{"mxm", "install_streams", mxm<&Mxm::installStreams>, 4,
                kMaxStreams, 4},
    NumberField{"mxm", "activation_vectors", mxm<&Mxm::activationVectors>, 1,
                65'536},
    NumberField{"mxm", "f16_ticks_per_row", mxm<&Mxm::f16TicksPerRow>, 1, 64},
    NumberField{"vxm", "alus_per_lane", at<&Machine::alusPerLane>, 1, 256},
    NumberField{"icu", "instruction_bytes", at<&Machine::instructionBytes>, 8,
                64},
    NumberField{"icu", "queue_bytes", at<&Machine::queueBytes>, 64,
                kMaxQueueBytes},
    NumberField{"icu", "fetch_vectors", at<&Machine::fetchVectors>, 1, 16},
    NumberField{"timing", "read_ticks", ticks<&Time::read>, 1, kMaxTicks},
    NumberField{"timing", "write_ticks", ticks<&Time::write>, 1, kMaxTicks},
    NumberField{"timing", "load_ticks", ticks<&Time::load>, 1, kMaxTicks},
    NumberField{"timing", "install_ticks", ticks<&Time::install>, 1, kMaxTicks},
    NumberField{"timing", "matmul_ticks", ticks<&Time::matmul>, 1, kMaxTicks},
    NumberField{"timing", "alu_ticks", ticks<&Time::alu>, 1, kMaxTicks},
    NumberField{"timing", "special_ticks", ticks<&Time::special>, 1, kMaxTicks},
    NumberField{"timing", "cross_ticks", ticks<&Time::cross>, 1, kMaxTicks},
    NumberField{"timing", "reduce_ticks", ticks<&Time::reduce>, 1, kMaxTicks},
    NumberField{"timing", "permute_ticks", ticks<&Time::permute>, 1, kMaxTicks},
    NumberField{"timing", "transpose_ticks", ticks<&Time::transpose>, 1,
                kMaxTicks},
    NumberField{"timing", "host_ticks", ticks<&Time::host>, 1, kMaxHostTicks},
    NumberField{"timing", "host_vector_ticks", ticks<&Time::hostVector>, 1,
                kMaxHostTicks},
    NumberField{"timing", "fetch_ticks", ticks<&Time::fetch>, 1, kMaxTicks},
    NumberField{"c2c", "ports", c2c<&C2c::ports>, 0, 128},
    NumberField{"c2c", "link_ticks", c2c<&C2c::latency>, 1, kMaxHostTicks},
    NumberField{"c2c", "link_vector_ticks", c2c<&C2c::vectorTicks>, 1,
                kMaxHostTicks},
    NumberField{"c2c", "buffer_vectors", c2c<&C2c::bufferVectors>, 8,
                1'000'000},
    NumberField{"energy", "sram_read_pj_per_byte",
                energy<&Energy::sramReadPjPerByte>, 0, kMaxPicojoules},
    NumberField{"energy", "sram_write_pj_per_byte",
                energy<&Energy::sramWritePjPerByte>, 0, kMaxPicojoules},
    NumberField{"energy", "stream_hop_pj_per_byte",
                energy<&Energy::streamHopPjPerByte>, 0, kMaxPicojoules},
    NumberField{"energy", "int8_mac_pj", energy<&Energy::int8MacPj>, 0,
                kMaxPicojoules},
    NumberField{"energy", "f16_mac_pj", energy<&Energy::f16MacPj>, 0,
                kMaxPicojoules},
    NumberField{"energy", "alu_pj", energy<&Energy::aluPj>, 0, kMaxPicojoules},
    NumberField{"energy", "host_pj_per_byte", energy<&Energy::hostPjPerByte>, 0,
                kMaxPicojoules},
    NumberField{"energy", "link_pj_per_byte", energy<&Energy::linkPjPerByte>, 0,
                kMaxPicojoules},
    NumberField{"energy", "static_watts", energy<&Energy::staticWatts>, 0,
                100'000},
};

constexpr std::array<std::string_view, 8> kObjects{
    "", "sram", "mxm", "vxm", "icu", "timing", "c2c", "energy"};

Error relation(std::string path, std::string expected, int64_t found) {
  return {std::move(path) + ": expected " + std::move(expected) + ", found " +
          std::to_string(found)};
}

} // namespace

std::string NumberField::path() const {
  return object.empty() ? std::string(key)
                        : std::string(object) + "." + std::string(key);
}

double NumberField::get(const Machine &m) const {
  // The members are reached through one set of accessors, made for set().
  auto &machine = const_cast<Machine &>(m);
  return std::visit([&](auto reach) { return double(reach(machine)); }, member);
}

void NumberField::set(Machine &m, double value) const {
  std::visit(
      [&](auto reach) {
        reach(m) = std::remove_reference_t<decltype(reach(m))>(value);
      },
      member);
}

std::string NumberField::range() const {
  if (low == high) {
    return numberText(low);
  }
  std::string text = whole() ? "a whole number" : "a number";
  text += " from " + numberText(low) + " to " + numberText(high);
  return multiple == 1 ? text
                       : text + ", a multiple of " + std::to_string(multiple);
}

bool NumberField::allows(double value) const {
  bool inside = value >= low && value <= high; // false for NaN
  return inside && (!whole() || std::fmod(value, multiple) == 0);
}

std::span<const NumberField> numberFields() { return kFields; }
std::span<const std::string_view> numberObjects() { return kObjects; }

Status checkRelations(const Machine &m) {
  int32_t install = m.matrix.installStreams;
  if (install > m.streamsPerDirection) {
    return relation("mxm.install_streams",
                    "at most streams_per_direction = " +
                        std::to_string(m.streamsPerDirection),
                    install);
  }
  if (m.lanes % install != 0) {
    return relation("mxm.install_streams",
                    "a divisor of lanes = " + std::to_string(m.lanes), install);
  }
  if (m.queueBytes < m.fetchBytes()) {
    return relation("icu.queue_bytes",
                    "at least what a fetch brings, fetch_vectors * lanes = " +
                        std::to_string(m.fetchBytes()),
                    m.queueBytes);
  }
  if (m.sramBytes() > kMaxSramBytes) {
    return relation("sram",
                    "at most " + std::to_string(kMaxSramBytes) +
                        " bytes in all slices",
                    m.sramBytes());
  }
  return Success{};
}

std::string numberText(double value) {
  std::array<char, 32> text;
  char *last = text.data() + text.size();
  bool isWhole = std::fabs(value) < 1e15 && value == std::trunc(value);
  auto end = isWhole ? std::to_chars(text.data(), last, int64_t(value)).ptr
                     : std::to_chars(text.data(), last, value).ptr;
  return {text.data(), end};
}

} // namespace orrery

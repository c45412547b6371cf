#include "compiler/schedule/GangBuilder.h"

#include <algorithm>

namespace orrery::schedule {

Direction GangBuilder::towards(uint32_t slice, Position unit) const {
  return g.ofSlice(int32_t(slice)) < unit ? Direction::East : Direction::West;
}

void GangBuilder::extend(StreamUse &use, Position position) {
  use.stop = use.direction == Direction::East ? std::max(use.stop, position)
                                              : std::min(use.stop, position);
}

uint8_t GangBuilder::read(const Home &home, AddressPattern address,
                          BurstShape shape, Direction direction, Position unit,
                          Position stop, Tick at) {
  Tick diag = diagonal(direction, at, unit);
  Position first = g.ofSlice(int32_t(home.slice));
  auto group = uint8_t(gang.streams.size());
  gang.streams.push_back(
      {direction, uint8_t(home.width), diag, shape, first, 1, unit});
  extend(gang.streams.back(), stop);
  ReadOp op;
  op.slice = uint16_t(home.slice);
  op.width = uint8_t(home.width);
  op.bank = uint8_t(home.bank);
  op.address = address;
  op.out = out(group);
  op.shape = shape;
  gang.members.push_back({passes(direction, diag, first) - m.timing.read, op,
                          home.memory, 0, home.region});
  return group;
}

uint8_t GangBuilder::drive(Direction direction, uint32_t width, Tick start,
                           BurstShape shape, Position unit) {
  auto group = uint8_t(gang.streams.size());
  gang.streams.push_back({direction, uint8_t(width),
                          diagonal(direction, start, unit), shape, unit, 0,
                          unit});
  return group;
}

Tick GangBuilder::passing(uint8_t group, Position position) const {
  const StreamUse &use = gang.streams[group];
  return passes(use.direction, use.diagonal, position);
}

void GangBuilder::write(uint8_t group, const Home &home, AddressPattern address,
                        WriteOp form) {
  writeStreams(group, 0, home, address, std::move(form));
}

// A block of 32 codes has its scale in four bytes of the second stream.
void GangBuilder::write(uint8_t group, const Home &home, AddressPattern address,
                        WriteOp form, StreamType type) {
  if (type != StreamType::A8 || form.mask != LaneMask::Range) {
    write(group, home, address, std::move(form));
    return;
  }
  Home codes = home, scales = home;
  codes.width = scales.width = 1;
  scales.slice += 1;
  writeStreams(group, 0, codes, address, form);
  form.high = form.high == m.lanes ? form.high : uint16_t(form.high / 8);
  form.low = uint16_t(form.low / 8);
  writeStreams(group, 1, scales, address, form);
}

void GangBuilder::writeStreams(uint8_t group, uint8_t offset, const Home &home,
                               AddressPattern address, WriteOp form) {
  Position first = g.ofSlice(int32_t(home.slice));
  Position last = g.ofSlice(int32_t(home.slice + home.width - 1));
  extend(gang.streams[group], first);
  extend(gang.streams[group], last);
  form.slice = uint16_t(home.slice);
  form.width = uint8_t(home.width);
  form.bank = uint8_t(home.bank);
  form.address = address;
  form.in = in(group);
  form.shape = gang.streams[group].shape;
  gang.members.push_back(
      {passing(group, first), form, home.memory, offset, home.region});
}

void GangBuilder::writeRuns(uint8_t group, const Home &home,
                            AddressPattern address, WriteOp form) {
  BurstShape whole = gang.streams[group].shape;
  size_t first = gang.members.size();
  write(group, home, address, form);
  Tick run = Tick(whole.length - 1) * whole.stride + 1;
  if (whole.runs == 1 || Tick(whole.period) <= run ||
      address.extent[0] != whole.length) {
    return;
  }
  Member all = gang.members[first];
  gang.members.pop_back();
  for (uint32_t r = 0; r < whole.runs; ++r) {
    Member one = all;
    one.offset += Tick(r) * whole.period;
    auto &op = std::get<WriteOp>(one.operation);
    op.shape = {whole.length, whole.stride, 1, 0};
    op.address.base = uint32_t(address.at(uint64_t(r) * whole.length));
    op.address.extent = {whole.length, 1, 1};
    gang.members.push_back(std::move(one));
  }
}

} // namespace orrery::schedule

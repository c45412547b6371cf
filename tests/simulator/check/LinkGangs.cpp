// Gangs that send to other chips and receive from them.
#include "tests/simulator/check/Builder.h"

#include <algorithm>
#include <numeric>

namespace orrery::test {

static int widthOf(const Message &m) {
  return std::accumulate(m.types.begin(), m.types.end(), 0,
                         [](int w, StreamType t) { return w + streamsOf(t); });
}

Message anyMessage(Random &r) {
  Message m{{}, uint32_t(r.between(1, 9))};
  for (int i = int(r.between(1, 2)); i > 0; --i) {
    m.types.push_back(r.of<StreamType>(
        {StreamType::F32, StreamType::F16, StreamType::I8, StreamType::A8}));
  }
  return m;
}

void Builder::linkSend(Gang &gang, const Message &message, int link) {
  int width = widthOf(message);
  uint8_t first = stream(width), next = first;
  BurstShape shape = anyShape(message.count);
  for (StreamType type : message.types) {
    Flow flow = read(gang, anyValue({type}), g.ofHost(), 0, shape);
    auto &op = std::get<ReadOp>(gang.instructions[flow.producer].operation);
    op.out.ref.stream = next;
    next += op.width;
  }
  gang.add(0, SendOp{first, shape, LinkNumber(link), uint8_t(width)});
  gang.require(0, linkStates[link].lastSend + 1);
}

void Builder::linkReceive(Gang &gang, const Message &message, int link,
                          const std::vector<Tick> &arrivals) {
  int width = widthOf(message);
  BurstShape shape = anyShape(message.count);
  ReceiveOp op{stream(width), 0, shape, LinkNumber(link), uint8_t(width)};
  size_t index = gang.add(0, op);
  gang.require(0, linkStates[link].lastReceive + 1);
  for (size_t i = 0; i < arrivals.size(); ++i) {
    gang.require(shape.at(i), arrivals[i]);
  }
  StreamOut out{{Direction::West, op.stream}, 0};
  stopOf(gang.instructions[index].operation, 0) = g.ofHost();
  for (StreamType type : message.types) {
    Flow flow =
        flowOf(gang, index, 0, out, streamsOf(type), g.ofHost(), 0, shape);
    store(gang, flow, type);
    out.ref.stream += streamsOf(type);
  }
}

bool Builder::sendOver(const Message &message, int link, bool must) {
  std::string name = "send link " + std::to_string(link);
  if (!attempt(
          name.c_str(), [&](Gang &gang) { linkSend(gang, message, link); },
          must)) {
    return false;
  }
  const Instruction &sent = program.instructions.back();
  linkStates[link].lastSend =
      sent.tick + std::get<SendOp>(sent.operation).shape.span();
  return true;
}

void Builder::receiveOver(const Message &message, int link,
                          const std::vector<Tick> &arrivals) {
  size_t before = program.instructions.size();
  std::string name = "receive link " + std::to_string(link);
  attempt(
      name.c_str(),
      [&](Gang &gang) { linkReceive(gang, message, link, arrivals); }, true);
  const Instruction &received = program.instructions[before];
  linkStates[link].lastReceive =
      received.tick + std::get<ReceiveOp>(received.operation).shape.span();
}

/// With a rank of the same part, which does the same at the same time: what
/// this part sends is what it receives.
void Builder::exchange() {
  if (links.exchanges == 0 || r.chance(40)) {
    return;
  }
  auto link = int(r.between(1, links.exchanges));
  Message message = anyMessage(r);
  if (!sendOver(message, link, false)) {
    return;
  }
  const Instruction &sent = program.instructions.back();
  const auto &op = std::get<SendOp>(sent.operation);
  LinkCrossing crossing =
      crossLink(m, sent.tick, op.shape, op.width, linkStates[link].free);
  linkStates[link].free = crossing.linkFree;
  receiveOver(message, link, crossing.arrived);
}

void Builder::sendAll(const std::vector<Message> &messages, int link) {
  for (const Message &message : messages) {
    sendOver(message, link, true);
  }
}

void Builder::receiveAll(const std::vector<Message> &messages, int link) {
  for (const Message &message : messages) {
    receiveOver(message, link, {});
  }
}

} // namespace orrery::test

// One negative test for each thing that validateProgram asks of an instruction.
#include "tests/machine/ValidProgram.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

using testing::errorAfter;
using testing::errorOf;

TEST(Validate, OrderAndLocation) {
  EXPECT_EQ(errorAfter([](Program &p) { p.instructions[4].tick = 102; }),
            "instruction 4 (matmul, tick 102, layer 3 attn_q): tick (sorted): "
            "expected 103 to 281474976710656, found 102");
  EXPECT_EQ(errorAfter([](Program &p) { p.instructions[0].tick = -1; }),
            "instruction 0 (read, tick -1, layer 3 attn_q): tick (sorted): "
            "expected 0 to 281474976710656, found -1");
  EXPECT_EQ(errorAfter([](Program &p) { p.instructions[4].location = 1; }),
            "instruction 4 (matmul, tick 104): location: expected 0, found 1");
}

TEST(Validate, Shapes) {
  auto error = [](BurstShape shape) {
    return errorOf<SendOp>([=](SendOp &op) { op.shape = shape; });
  };
  EXPECT_EQ(error({0, 1, 1, 0}),
            "shape.length: expected 1 to 4294967295, found 0");
  EXPECT_EQ(error({1, 0, 1, 0}),
            "shape.stride: expected 1 to 4294967295, found 0");
  EXPECT_EQ(error({1, 1, 0, 0}),
            "shape.runs: expected 1 to 4294967295, found 0");
  EXPECT_EQ(error({1 << 16, 1, 1 << 16, 1 << 17}),
            "shape: vectors: expected 1 to 4294967295, found 4294967296");
  EXPECT_EQ(error({5, 2, 2, 8}),
            "shape.period: expected 9 to 4294967295, found 8");
  EXPECT_EQ(error({5, 2, 2, 9}), "no error");
  EXPECT_EQ(error({1 << 20, 1 << 30, 1, 0}),
            "shape: expected a burst within 2^48 ticks, found a longer one");
}

TEST(Validate, SlicesOfReads) {
  auto error = errorOf<ReadOp>;
  EXPECT_EQ(error([](auto &op) { op.slice = 56; }),
            "slice: expected 0 to 55, found 56");
  EXPECT_EQ(error([](auto &op) { op.width = 0; }),
            "width: expected 1 to 46, found 0");
  EXPECT_EQ(error([](auto &op) { op.width = 47; }),
            "width: expected 1 to 46, found 47");
  EXPECT_EQ(error([](auto &op) { op.out.ref.direction = Direction(2); }),
            "direction: expected 0 to 1, found 2");
  EXPECT_EQ(error([](auto &op) { op.out.ref.stream = 29; }),
            "stream: expected 0 to 28, found 29");
  // Slice 10 is at position 13; slices 10 to 13 drive.
  EXPECT_EQ(error([](auto &op) { op.out.stop = 13; }),
            "stop: expected 0 to 12, found 13");
  auto east = [&](Position stop) {
    return error([=](auto &op) { op.out = {{Direction::East, 2}, stop}; });
  };
  EXPECT_EQ(east(16), "stop: expected 17 to 63, found 16");
  EXPECT_EQ(east(17), "no error");
  EXPECT_EQ(east(64), "stop: expected 17 to 63, found 64");
}

TEST(Validate, WideBurstsIssueAfterTheStart) {
  auto error = [](Tick tick, Direction direction) {
    return errorAfter([=](Program &p) {
      auto &read = std::get<ReadOp>(p.instructions[0].operation);
      read.out = {{direction, 2}, direction == Direction::East ? 40 : 3};
      p.instructions[0].tick = tick;
    });
  };
  EXPECT_EQ(error(3, Direction::West), "no error");
  EXPECT_EQ(error(2, Direction::West),
            "instruction 0 (read, tick 2, layer 3 attn_q): tick at the last "
            "slice: expected 0 to 281474976710656, found -1");
  EXPECT_EQ(error(0, Direction::East), "no error");
}

TEST(Validate, Addresses) {
  auto error = [](const std::function<void(AddressPattern &)> &edit) {
    return errorOf<ReadOp>([&](ReadOp &op) { edit(op.address); });
  };
  EXPECT_EQ(error([](auto &a) { a.extent[2] = 0; }),
            "address.extent: expected 1 to 4294967295, found 0");
  EXPECT_EQ(error([](auto &a) { a.extent[2] = 2; }),
            "address: vectors: expected 12, found 24");
  EXPECT_EQ(error([](auto &a) { a.extent[1] = 3; }),
            "address: vectors: expected 12, found 9");
  // The greatest of the pattern is base + 2 + 30.
  EXPECT_EQ(error([](auto &a) { a.base = 4095 - 32; }), "no error");
  EXPECT_EQ(error([](auto &a) { a.base = 4096 - 32; }),
            "greatest address: expected 0 to 4095, found 4096");
  EXPECT_EQ(error([](auto &a) { a.step[0] = -50; }), "no error");
  EXPECT_EQ(error([](auto &a) { a.step[0] = -51; }),
            "least address: expected 0 to 4095, found -2");
  EXPECT_EQ(error([](auto &a) { a.step[1] = INT32_MIN; }),
            "address.step * (extent - 1): expected -4096 to 4096, found "
            "-6442450944");
  EXPECT_EQ(error([](auto &a) { a.dynamic = Dynamic(3); }),
            "address.dynamic: expected 0 to 2, found 3");
  EXPECT_EQ(error([](auto &a) { a.dynamicStep = 1; }),
            "address.dynamicStep: expected 0, found 1");
}

TEST(Validate, AddressesAtTheLastPosition) {
  auto error = [](Dynamic dynamic, uint32_t step) {
    return errorOf<ReadOp>([=](ReadOp &op) {
      op.address.base = 4000;
      op.address.dynamic = dynamic;
      op.address.dynamicStep = step;
    });
  };
  // 4000 + 32 + 127 * 1; 4000 + 32 + 127 / 64 * step.
  EXPECT_EQ(error(Dynamic::Position, 1),
            "greatest address: expected 0 to 4095, found 4159");
  EXPECT_EQ(error(Dynamic::Chunk, 63), "no error");
  EXPECT_EQ(error(Dynamic::Chunk, 64),
            "greatest address: expected 0 to 4095, found 4096");
  EXPECT_EQ(error(Dynamic::Position, UINT32_MAX),
            "greatest address: expected 0 to 4095, found 545460850497");
}

TEST(Validate, Writes) {
  auto error = errorOf<WriteOp>;
  EXPECT_EQ(error([](auto &op) { op.in.stream = 32; }),
            "stream: expected 0 to 31, found 32");
  EXPECT_EQ(error([](auto &op) { op.mask = LaneMask(4); }),
            "mask: expected 0 to 3, found 4");
  EXPECT_EQ(error([](auto &op) { op.high = 1; }), "high: expected 0, found 1");
  EXPECT_EQ(error([](auto &op) { op.mask = LaneMask::Range; }),
            "high: expected 1 to 64, found 0");
  EXPECT_EQ(error([](auto &op) {
              op.mask = LaneMask::Range;
              op.low = 64;
            }),
            "low: expected 0 to 63, found 64");
  EXPECT_EQ(error([](auto &op) { op.tokenDimension = 3; }),
            "tokenDimension: expected 0 to 2, found 3");
  EXPECT_EQ(error([](auto &op) { op.stripeStep = 3; }),
            "stripeStep: expected 0 without stripes, found 3");
}

TEST(Validate, StripedWrites) {
  auto error = [](const std::function<void(WriteOp &)> &edit) {
    return errorOf<WriteOp>([&](WriteOp &op) {
      op.width = 16;
      op.stripeBytes = 2;
      op.stripeStep = 10;
      edit(op);
    });
  };
  // The greatest: base + 127 / 64 * 10 + (64 * 2 - 1) / 16.
  EXPECT_EQ(error([](auto &op) { op.address.base = 4095 - 17; }), "no error");
  EXPECT_EQ(error([](auto &op) { op.address.base = 4096 - 17; }),
            "greatest address: expected 0 to 4095, found 4096");
  EXPECT_EQ(error([](auto &op) { op.in.stream = 30; }), "no error");
  EXPECT_EQ(error([](auto &op) { op.in.stream = 31; }),
            "stream: expected 0 to 30, found 31");
  EXPECT_EQ(error([](auto &op) { op.stripeBytes = 5; }),
            "stripeBytes: expected 0 to 4, found 5");
  EXPECT_EQ(error([](auto &op) { op.mask = LaneMask::TokenLane; }),
            "mask: expected all or range with stripes, found 2");
}

TEST(Validate, Loads) {
  auto error = errorOf<LoadOp>;
  EXPECT_EQ(error([](auto &op) { op.plane = 4; }),
            "plane: expected 0 to 3, found 4");
  EXPECT_EQ(error([](auto &op) { op.stream = 31; }),
            "stream: expected 0 to 30, found 31");
  EXPECT_EQ(error([](auto &op) { op.base = 1023; }), "no error");
  EXPECT_EQ(error([](auto &op) { op.base = 1024; }),
            "base + vectors: expected 1 to 1024, found 1025");
}

TEST(Validate, Installs) {
  auto error = errorOf<InstallOp>;
  EXPECT_EQ(error([](auto &op) { op.plane = 4; }),
            "plane: expected 0 to 3, found 4");
  EXPECT_EQ(error([](auto &op) { op.format = WeightFormat(4); }),
            "format: expected 0 to 3, found 4");
  EXPECT_EQ(error([](auto &op) {
              op.format = WeightFormat::F16;
              op.plane = 1;
            }),
            "plane: expected the first of its hemisphere for f16, found 1");
  EXPECT_EQ(error([](auto &op) { op.low = 64; }),
            "low: expected 0 to 63, found 64");
  EXPECT_EQ(error([](auto &op) { op.high = 0; }),
            "high: expected 1 to 64, found 0");
  EXPECT_EQ(error([](auto &op) { op.high = 65; }),
            "high: expected 1 to 64, found 65");
  EXPECT_EQ(error([](auto &op) { op.high = 40; }),
            "high - low: expected a multiple of 16 for q8 and q4, found 40");
  EXPECT_EQ(error([](auto &op) {
              op.format = WeightFormat::I8;
              op.high = 41;
            }),
            "no error");
  EXPECT_EQ(error([](auto &op) { op.width = 17; }),
            "width: expected 1 to 16, found 17");
  EXPECT_EQ(error([](auto &op) { op.stream = 17; }),
            "stream: expected 0 to 16, found 17");
  EXPECT_EQ(error([](auto &op) { op.shape.length = 4; }),
            "shape.length: expected 5 to 4294967295, found 4");
}

TEST(Validate, Matmuls) {
  auto error = errorOf<MatmulOp>;
  EXPECT_EQ(error([](auto &op) { op.tiles = 0; }),
            "tiles: expected 1 to 4294967295, found 0");
  EXPECT_EQ(error([](auto &op) { op.inner = 0; }),
            "inner: expected 1 to 4294967295, found 0");
  EXPECT_EQ(error([](auto &op) { op.rows = 0; }),
            "rows: expected 1 to 1024, found 0");
  EXPECT_EQ(error([](auto &op) { op.base = 1024; }),
            "base + inner * rows: expected 1 to 1024, found 1025");
  EXPECT_EQ(error([](auto &op) { op.inner = UINT32_MAX; }),
            "base + inner * rows: expected 1 to 1024, found 4294967295");
  EXPECT_EQ(error([](auto &op) { op.rows = 6; }),
            "period: expected 6 to 4294967295, found 5");
  EXPECT_EQ(error([](auto &op) {
              op.format = WeightFormat::F16;
              op.rows = 3; // two ticks each
            }),
            "period: expected 6 to 4294967295, found 5");
  EXPECT_EQ(error([](auto &op) {
              op.inner = 2;
              op.period = UINT32_MAX;
            }),
            "inner * period: expected 0 to 4294967295, found 8589934590");
  EXPECT_EQ(error([](auto &op) {
              op.tiles = UINT32_MAX;
              op.rows = 2;
            }),
            "tiles * rows: expected 1 to 4294967295, found 8589934590");
  EXPECT_EQ(error([](auto &op) { op.tiles = op.period = UINT32_MAX; }),
            "tiles * inner * period: expected at most 2^48 ticks, found "
            "4294967295");
  EXPECT_EQ(error([](auto &op) { op.stream = 29; }),
            "stream: expected 0 to 28, found 29");
  EXPECT_EQ(error([](auto &op) {
              op.sums = true;
              op.stream = 25;
            }),
            "stream: expected 0 to 24, found 25");
  EXPECT_EQ(error([](auto &op) { op.stop = 0; }),
            "stop: expected 1 to 63, found 0");
  EXPECT_EQ(error([](auto &op) { op.plane = 2; }), // inward is westward
            "no error");
}

TEST(Validate, Vectors) {
  auto error = errorOf<VectorOp>;
  EXPECT_EQ(error([](auto &op) { op.program = 1; }),
            "program: expected 0, found 1");
  EXPECT_EQ(error([](auto &op) { op.count = 0; }),
            "count: expected 1 to 4294967295, found 0");
  EXPECT_EQ(error([](auto &op) { op.count = 9; }),
            "count modulo group: expected 0, found 4");
  EXPECT_EQ(error([](auto &op) { op.inputs = 1; }),
            "inputs: expected 2, found 1");
  EXPECT_EQ(error([](auto &op) { op.outputs = 2; }),
            "outputs: expected 1, found 2");
  EXPECT_EQ(error([](auto &op) { op.in[0].stream = 29; }), // f32
            "stream: expected 0 to 28, found 29");
  EXPECT_EQ(error([](auto &op) { op.in[1].stream = 30; }), // f16
            "no error");
  EXPECT_EQ(error([](auto &op) { op.in[2].stream = 1; }),
            "in: expected the default in unused entries, found 2");
  EXPECT_EQ(error([](auto &op) { op.out[1].stop = 1; }),
            "out: expected the default in unused entries, found 1");
  EXPECT_EQ(error([](auto &op) { op.out[0].stop = 31; }), // the VXM's own
            "stop: expected 32 to 63, found 31");
}

TEST(Validate, SplatOfALaneBeyondTheLast) {
  auto error = [](uint32_t width, uint32_t count) {
    return errorAfter([=](Program &p) {
      p.vectorPrograms[0].steps[1].width = width;
      std::get<VectorOp>(p.instructions[5].operation).count = count;
      p.vectorPrograms[0].group = 1;
    });
  };
  EXPECT_EQ(error(21, 10), "no error"); // lane 63 of the fourth
  EXPECT_EQ(error(22, 10),
            "instruction 5 (vector, tick 105, layer 3 attn_q): lane of splat: "
            "expected 0 to 63, found 66");
  EXPECT_EQ(error(22, 3), "no error"); // there is no fourth
}

TEST(Validate, LaneMapPermutes) {
  auto error = errorOf<PermuteOp>;
  EXPECT_EQ(error([](auto &op) { op.sxm = 2; }),
            "sxm: expected 0 to 1, found 2");
  EXPECT_EQ(error([](auto &op) { op.kind = PermuteKind(2); }),
            "kind: expected 0 to 1, found 2");
  EXPECT_EQ(error([](auto &op) { op.width = 0; }),
            "width: expected 1 to 32, found 0");
  EXPECT_EQ(error([](auto &op) { op.in.stream = 32; }),
            "stream: expected 0 to 31, found 32");
  EXPECT_EQ(error([](auto &op) { op.map = 1; }), "map: expected 0, found 1");
  EXPECT_EQ(error([](auto &op) { op.rows = 1; }), "rows: expected 0, found 1");
  EXPECT_EQ(error([](auto &op) { op.count = 0; }),
            "count: expected 1 to 4294967295, found 0");
  EXPECT_EQ(error([](auto &op) { op.outWidth = 2; }),
            "outWidth: expected 1 or the width of a lane map, found 2");
  EXPECT_EQ(error([](auto &op) { op.out.stop = 2; }),
            "stop: expected 3 to 63, found 2");
}

TEST(Validate, Transposes) {
  auto error = [](const std::function<void(PermuteOp &)> &edit) {
    return errorOf<PermuteOp>([&](PermuteOp &op) {
      op.kind = PermuteKind::Transpose;
      op.rows = op.count = 64;
      op.outWidth = 16;
      edit(op);
    });
  };
  EXPECT_EQ(error([](auto &) {}), "no error");
  EXPECT_EQ(error([](auto &op) { op.map = 1; }), "map: expected 0, found 1");
  EXPECT_EQ(error([](auto &op) { op.width = 5; }),
            "width: expected 1 to 4, found 5");
  EXPECT_EQ(error([](auto &op) { op.rows = 65; }),
            "rows: expected 1 to 64, found 65");
  EXPECT_EQ(error([](auto &op) { op.count = 65; }),
            "count: expected 1 to 64, found 65");
  EXPECT_EQ(error([](auto &op) { op.outWidth = 0; }),
            "outWidth: expected 1 to 32, found 0");
  EXPECT_EQ(error([](auto &op) { op.out.ref.stream = 17; }),
            "stream: expected 0 to 16, found 17");
}

TEST(Validate, Links) {
  auto receive = [](const std::function<void(ReceiveOp &)> &edit) {
    return errorOf<ReceiveOp>([&](ReceiveOp &op) {
      op.link = 7;
      op.width = 2;
      edit(op);
    });
  };
  EXPECT_EQ(receive([](auto &) {}), "no error");
  EXPECT_EQ(receive([](auto &op) { op.link = 8; }),
            "link: expected 0 to 7, found 8");
  EXPECT_EQ(receive([](auto &op) { op.width = 0; }),
            "streams of a link: expected 1 to 32, found 0");
  EXPECT_EQ(receive([](auto &op) { op.width = 33; }),
            "streams of a link: expected 1 to 32, found 33");
  EXPECT_EQ(receive([](auto &op) { op.link = kHostLink; }),
            "streams of the host link: expected 4, found 2");
  EXPECT_EQ(receive([](auto &op) { op.stream = 31; }),
            "stream: expected 0 to 30, found 31");
  EXPECT_EQ(receive([](auto &op) { op.stop = 63; }),
            "stop: expected 0 to 62, found 63");
  // The buffer holds 256 vectors of a stream.
  EXPECT_EQ(receive([](auto &op) { op.shape.length = 128; }), "no error");
  EXPECT_EQ(receive([](auto &op) { op.shape.length = 129; }),
            "vectors: expected 1 to 128, found 129");
  auto send = [](const std::function<void(SendOp &)> &edit) {
    return errorOf<SendOp>([&](SendOp &op) {
      op.link = 1;
      op.width = 32;
      edit(op);
    });
  };
  EXPECT_EQ(send([](auto &op) { op.shape.length = 8; }), "no error");
  EXPECT_EQ(send([](auto &op) { op.shape.length = 9; }),
            "vectors: expected 1 to 8, found 9");
  EXPECT_EQ(send([](auto &op) { op.stream = 1; }),
            "stream: expected 0, found 1");
  EXPECT_EQ(send([](auto &op) { op.link = 8; }),
            "link: expected 0 to 7, found 8");
  EXPECT_EQ(send([](auto &op) { op.width = 0; }),
            "streams of a link: expected 1 to 32, found 0");
}

TEST(Validate, AProgramWithoutInputTakesNoneFromTheHost) {
  auto error = [](LinkNumber link) {
    return errorAfter([=](Program &p) {
      p.inputVectors = 0;
      std::get<ReceiveOp>(p.instructions[7].operation).link = link;
    });
  };
  EXPECT_EQ(error(1), "no error");
  EXPECT_EQ(error(kHostLink),
            "instruction 7 (receive, tick 107, layer 3 attn_q): vectors: "
            "expected nothing, as nothing is in range, found 1");
}

TEST(Validate, Host) {
  EXPECT_EQ(errorOf<ReceiveOp>([](auto &op) { op.stream = 29; }),
            "stream: expected 0 to 28, found 29");
  EXPECT_EQ(errorOf<ReceiveOp>([](auto &op) { op.stop = 63; }),
            "stop: expected 0 to 62, found 63");
  EXPECT_EQ(errorOf<ReceiveOp>([](auto &op) { op.shape.length = 7; }),
            "vectors: expected 1 to 6, found 7");
  EXPECT_EQ(errorOf<SendOp>([](auto &op) { op.stream = 29; }),
            "stream: expected 0 to 28, found 29");
}

TEST(Validate, Fetch) {
  using Kind = QueueId::Kind;
  auto target = [](Kind kind, uint16_t index) {
    return errorOf<FetchOp>([=](auto &op) { op.target = {kind, index}; });
  };
  EXPECT_EQ(target(Kind::Read, 55), "no error");
  EXPECT_EQ(target(Kind::Read, 56),
            "target: index: expected 0 to 55, found 56");
  EXPECT_EQ(target(Kind::Install, 4),
            "target: index: expected 0 to 3, found 4");
  EXPECT_EQ(target(Kind::Permute, 2),
            "target: index: expected 0 to 1, found 2");
  EXPECT_EQ(target(Kind::Send, 8), "target: index: expected 0 to 7, found 8");
  EXPECT_EQ(target(Kind::Fetch, 1), "target: index: expected 0, found 1");
  EXPECT_EQ(target(Kind(10), 0), "target: kind: expected 0 to 9, found 10");
  EXPECT_EQ(errorOf<FetchOp>([](auto &op) { op.slice = 56; }),
            "slice: expected 0 to 55, found 56");
  EXPECT_EQ(errorOf<FetchOp>([](auto &op) { op.bank = 2; }),
            "bank: expected 0 to 1, found 2");
  // Two vectors.
  EXPECT_EQ(errorOf<FetchOp>([](auto &op) { op.address = 4094; }), "no error");
  EXPECT_EQ(errorOf<FetchOp>([](auto &op) { op.address = 4095; }),
            "address: expected 0 to 4094, found 4095");
}

} // namespace
} // namespace orrery

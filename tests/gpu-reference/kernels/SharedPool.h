// Several sequences in one pool of pages, for tests: each beside what attention
// alone over its rows must give. Bytes that nobody wrote are NaN or noise.
#pragma once

#include "gpu-reference/PageTables.h"
#include "tests/gpu-reference/kernels/AttentionPair.h"

#include <memory>

namespace orrery::gpu::ORRERY_GPU {

class SharedPool {
public:
  using Sequence = models::KvPages::Sequence;

  /// A sequence as it is alone.
  struct Alone {
    Sequence sequence;
    int32_t length = 0;
    std::unique_ptr<ExpectedAttention> expected;
  };

  /// `positions` of a sequence at most.
  SharedPool(const AttentionShape &shape, int32_t pagePositions, int64_t count,
             int32_t positions, std::mt19937 &random)
      : shape(shape), room(positions), random(random),
        pages(*models::KvPages::create(
            {2, shape.kvHeads, shape.headDim, shape.format, pagePositions},
            count)),
        pool(must(Buffer<uint8_t>::copyOf(poison(), "pages"))),
        tables(
            must(PageTables::allocate(kMostRows, pages.pagesFor(positions)))),
        position(must(Buffer<int32_t>::allocate(kMostRows, "positions"))) {}

  Alone &open() {
    alone.push_back(
        {pages.open(), 0, std::make_unique<ExpectedAttention>(shape)});
    return alone.back();
  }
  /// Its pages keep rows that are NaN, as far as they reach.
  void close(size_t index) {
    Alone &one = alone[index];
    const auto held = int32_t(pages.table(one.sequence).size());
    const std::vector<float> bad(
        size_t(held * pages.layout().pagePositions) * keyWidth(), NAN);
    append(one, 0, bad, bad);
    pages.close(one.sequence);
    alone.erase(alone.begin() + int64_t(index));
  }

  /// The next `tokens` rows of a sequence, on both sides.
  void grow(Alone &one, int32_t tokens) {
    const auto k = randomValues(size_t(tokens) * keyWidth(), random);
    const auto v = randomValues(size_t(tokens) * keyWidth(), random);
    check(pages.reserve(one.sequence, one.length + tokens));
    append(one, one.length, k, v);
    one.expected->append(k, v, one.length);
    one.length += tokens;
  }

  /// One token of each: what the kernels give, and what each alone.
  struct Step {
    Outcome found;
    std::vector<float> expected;
  };
  /// `order` says which sequence's table and position each row is given.
  Step step(int32_t splitPositions, int32_t sliceRows,
            const std::vector<size_t> &order) {
    const auto rows = int32_t(alone.size());
    const size_t width = size_t(shape.heads * shape.headDim);
    const auto q = randomValues(alone.size() * width, random);
    auto k = randomValues(alone.size() * keyWidth(), random);
    auto v = randomValues(alone.size() * keyWidth(), random);
    if (spoiltRow >= 0) {
      v[size_t(spoiltRow) * keyWidth()] = INFINITY;
    }
    Step step;
    std::vector<Sequence> shown;
    std::vector<int32_t> positions;
    for (size_t i = 0; i < alone.size(); ++i) {
      Alone &one = alone[i];
      check(pages.reserve(one.sequence, one.length + 1));
      const auto of = [i](const std::vector<float> &x, size_t size) {
        const auto first = x.begin() + int64_t(i * size);
        return std::vector<float>(first, first + int64_t(size));
      };
      const auto row = one.expected->attend(of(q, width), of(k, keyWidth()),
                                            of(v, keyWidth()), one.length);
      step.expected.insert(step.expected.end(), row.begin(), row.end());
    }
    for (size_t from : order) {
      shown.push_back(alone[from].sequence);
      positions.push_back(alone[from].length);
    }
    for (Alone &one : alone) {
      ++one.length;
    }
    AttentionPlan plan = must(planAttention(pages.layout(), shape.heads, rows,
                                            room, splitPositions, true));
    plan.sliceRows = std::min(sliceRows, rows);
    check(tables.show(pages, shown));
    check(position.upload(positions));
    step.found = run(q, k, v, plan);
    return step;
  }
  Step step(int32_t splitPositions, int32_t sliceRows) {
    std::vector<size_t> order(alone.size());
    std::iota(order.begin(), order.end(), size_t(0));
    return step(splitPositions, sliceRows, order);
  }

  static constexpr int32_t kLayer = 1, kMostRows = 128;
  AttentionShape shape;
  int32_t room;
  int32_t spoiltRow = -1; ///< whose next V has an infinity
  std::mt19937 &random;
  models::KvPages pages;
  std::vector<Alone> alone;

private:
  size_t keyWidth() const { return size_t(shape.kvHeads * shape.headDim); }
  std::vector<uint8_t> poison() {
    std::vector<uint8_t> bytes(size_t(pages.poolBytes()));
    const bool noise = random() % 2 == 0;
    for (uint8_t &byte : bytes) {
      byte = noise ? uint8_t(random()) : uint8_t(0xff); // 0xffff is a NaN
    }
    return bytes;
  }
  KvCacheView view(bool batched) const {
    return {const_cast<uint8_t *>(pool.data()), tables.data(),
            batched ? tables.stride() : 0, pages.layout(), kLayer};
  }
  void append(const Alone &one, int32_t at, const std::vector<float> &k,
              const std::vector<float> &v) {
    const auto tokens = int32_t(k.size() / keyWidth());
    std::vector<int32_t> positions(static_cast<size_t>(tokens));
    std::iota(positions.begin(), positions.end(), at);
    check(position.upload(positions));
    check(tables.show(pages, std::span(&one.sequence, 1)));
    const Buffer<float> keys = must(Buffer<float>::copyOf(k, "k"));
    const Buffer<float> values = must(Buffer<float>::copyOf(v, "v"));
    kvAppend(keys.data(), values.data(), tokens, position.data(), view(false),
             nullptr);
    check(launchStatus("kvAppend"));
  }
  Outcome run(const std::vector<float> &q, const std::vector<float> &k,
              const std::vector<float> &v, const AttentionPlan &plan) {
    const auto rows = int32_t(alone.size());
    const Buffer<float> queries = must(Buffer<float>::copyOf(q, "q"));
    const Buffer<float> keys = must(Buffer<float>::copyOf(k, "k"));
    const Buffer<float> values = must(Buffer<float>::copyOf(v, "v"));
    Buffer<float> out = must(Buffer<float>::allocate(q.size(), "out"));
    Buffer<uint8_t> scratch = must(Buffer<uint8_t>::allocate(
        attentionScratchBytes(plan, pages.layout()), "scratch"));
    Buffer<Fault> fault =
        must(Buffer<Fault>::copyOf(std::vector<Fault>{{kNoFault}}, "fault"));
    // A step of one row is no batch, and need not know.
    kvAppend(keys.data(), values.data(), rows, position.data(), view(rows > 1),
             nullptr);
    attention(queries.data(), out.data(), rows, position.data(), view(rows > 1),
              plan, scratch.data(), {fault.data(), AttentionPair::kOp},
              nullptr);
    check(launchStatus("attention"));
    return {must(out.read()), faultPlace(must(fault.read())[0])};
  }

  Buffer<uint8_t> pool;
  PageTables tables;
  Buffer<int32_t> position;
};

} // namespace orrery::gpu::ORRERY_GPU

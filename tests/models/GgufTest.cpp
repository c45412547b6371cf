#include "models/Gguf.h"
#include "tests/models/GgufBuilder.h"
#include "tests/models/SharedData.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

using namespace orrery;
using namespace orrery::models;

namespace {

/// The message with which `bytes` are refused, or "" when they are not.
std::string refusal(const std::vector<std::byte> &bytes) {
  Expected<GgufFile> file = GgufFile::parse(bytes);
  return file ? "" : file.error().message;
}

void expectRefused(const GgufBuilder &builder, const std::string &part) {
  std::string message = refusal(builder.build());
  EXPECT_NE(message.find(part), std::string::npos)
      << "message: " << message << "\nexpected part: " << part;
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

std::vector<float> ramp(size_t count) {
  std::vector<float> values(count);
  for (size_t index = 0; index < count; ++index) {
    values[index] = static_cast<float>(index);
  }
  return values;
}

TEST(Gguf, ReadsEveryValueType) {
  GgufBuilder builder;
  builder.entry("u8", GgufType::U8, Bytes().number<uint8_t>(200).content);
  builder.entry("i8", GgufType::I8, Bytes().number<int8_t>(-3).content);
  builder.entry("u16", GgufType::U16, Bytes().number<uint16_t>(65535).content);
  builder.entry("i16", GgufType::I16, Bytes().number<int16_t>(-300).content);
  builder.u32("u32", 4000000000u);
  builder.entry("i32", GgufType::I32, Bytes().number(-70000).content);
  builder.f32("f32", 0.5f);
  builder.boolean("bool", true);
  builder.entry("bool2", GgufType::Bool, Bytes().number<uint8_t>(2).content);
  builder.string("string", "h\xC3\xA9");
  builder.entry("u64", GgufType::U64, Bytes().number(~uint64_t(0)).content);
  builder.entry("i64", GgufType::I64, Bytes().number(int64_t(-5)).content);
  builder.entry("f64", GgufType::F64, Bytes().number(0.1).content);
  builder.strings("strings", {"a", "", "ccc"});
  std::vector<std::byte> bytes = builder.build();
  Expected<GgufFile> file = GgufFile::parse(bytes);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->metadata().size(), 14u);
  EXPECT_EQ(file->find("u8")->asUnsigned(), 200u);
  EXPECT_EQ(file->find("i8")->asSigned(), -3);
  EXPECT_EQ(file->find("i8")->asUnsigned(), std::nullopt);
  EXPECT_EQ(file->find("u16")->asSigned(), 65535);
  EXPECT_EQ(file->find("i16")->asSigned(), -300);
  EXPECT_EQ(file->find("u32")->asUnsigned(), 4000000000u);
  EXPECT_EQ(file->find("i32")->asSigned(), -70000);
  EXPECT_EQ(file->find("f32")->asFloat(), 0.5);
  EXPECT_EQ(file->find("f32")->asUnsigned(), std::nullopt);
  EXPECT_EQ(file->find("bool")->asBool(), true);
  EXPECT_EQ(file->find("bool2")->asBool(), true);
  EXPECT_EQ(file->find("string")->asString(), "h\xC3\xA9");
  EXPECT_EQ(file->find("u64")->asUnsigned(), ~uint64_t(0));
  EXPECT_EQ(file->find("u64")->asSigned(), std::nullopt);
  EXPECT_EQ(file->find("i64")->asSigned(), -5);
  EXPECT_EQ(file->find("f64")->asFloat(), 0.1);
  std::vector<GgufValue> strings = file->find("strings")->elements();
  ASSERT_EQ(strings.size(), 3u);
  EXPECT_EQ(strings[2].asString(), "ccc");
}

/// `depth` arrays in each other; the innermost holds the u8 7.
std::vector<std::byte> nestedArray(unsigned depth) {
  Bytes payload;
  for (unsigned level = 1; level < depth; ++level) {
    payload.number(static_cast<uint32_t>(GgufType::Array)).number(uint64_t(1));
  }
  payload.number(static_cast<uint32_t>(GgufType::U8)).number(uint64_t(1));
  return payload.number<uint8_t>(7).content;
}

TEST(Gguf, ReadsNestedArraysToTheBound) {
  GgufBuilder builder;
  builder.entry("a", GgufType::Array, nestedArray(kMaxArrayDepth));
  std::vector<std::byte> bytes = builder.build();
  Expected<GgufFile> file = GgufFile::parse(bytes);
  ASSERT_TRUE(file) << file.error().message;
  GgufValue value = *file->find("a");
  for (unsigned level = 0; level < kMaxArrayDepth; ++level) {
    std::vector<GgufValue> elements = value.elements();
    ASSERT_EQ(elements.size(), 1u);
    value = elements[0];
  }
  EXPECT_EQ(value.asUnsigned(), 7u);

  GgufBuilder deeper;
  deeper.entry("a", GgufType::Array, nestedArray(kMaxArrayDepth + 1));
  expectRefused(deeper, "expected at most 4 arrays in each other");
}

TEST(Gguf, ReadsTensorsInAnyOrderOfData) {
  std::vector<float> values = ramp(24);
  Bytes data;
  data.append(std::as_bytes(std::span(values))).padTo(32);
  GgufBuilder builder;
  builder.tensorAt("second", {8}, 0, 64);
  builder.tensorAt("first", {8, 2}, 0, 0);
  std::vector<std::byte> bytes = builder.build();
  bytes.insert(bytes.end(), data.content.begin(), data.content.end());
  Expected<GgufFile> file = GgufFile::parse(bytes);
  ASSERT_TRUE(file) << file.error().message;
  auto second = file->data(*file->findTensor("second"));
  ASSERT_TRUE(second) << second.error().message;
  float first = 0;
  std::memcpy(&first, second->data(), sizeof(first));
  EXPECT_EQ(first, 16.0f);
  EXPECT_EQ(file->findTensor("first")->shapeText(), "[8, 2]");
  EXPECT_FALSE(file->isHeaderOnly());
}

TEST(Gguf, ReadsVersion2AndScalars) {
  GgufBuilder builder;
  builder.version = 2;
  builder.tensorF32("scalar", {}, {3.0f});
  std::vector<std::byte> bytes = builder.build();
  Expected<GgufFile> file = GgufFile::parse(bytes);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->version(), 2u);
  EXPECT_EQ(file->findTensor("scalar")->elements, 1u);
  EXPECT_EQ(file->findTensor("absent"), nullptr);
  EXPECT_EQ(file->find("absent"), nullptr);
}

TEST(Gguf, RefusesHeaders) {
  EXPECT_NE(refusal({}).find("byte 0: magic: expected 4 bytes, found 0"),
            std::string::npos);
  for (uint32_t version : {0u, 1u, 4u}) {
    GgufBuilder builder;
    builder.version = version;
    expectRefused(builder, "byte 4: version: expected 2 or 3, found " +
                               std::to_string(version));
  }
  GgufBuilder bigEndian;
  bigEndian.version = 0x03000000;
  expectRefused(bigEndian, "expected a little-endian file, found a big-endian "
                           "one (version 3)");
}

TEST(Gguf, RefusesBadValues) {
  GgufBuilder elementType;
  elementType.array<uint8_t>("b", static_cast<GgufType>(13), {});
  expectRefused(elementType, "array element type: expected 0 to 12, found 13");

  GgufBuilder count;
  count.entry("c", GgufType::Array,
              Bytes()
                  .number(static_cast<uint32_t>(GgufType::String))
                  .number(~uint64_t(0) / 4)
                  .content);
  expectRefused(count, "array count: expected at most");

  GgufBuilder type;
  type.entry("t", static_cast<GgufType>(13), Bytes().number(0).content);
  expectRefused(type, "type of \"t\": expected 0 to 12, found 13");

  GgufBuilder text;
  text.entry("s", GgufType::String, Bytes().number(~uint64_t(0)).content);
  expectRefused(text, "expected 18446744073709551615 bytes");

  GgufBuilder control;
  control.string("new\nline\"", "").string("new\nline\"", "");
  expectRefused(control, "found \"new\\x0aline\\x22\" again");
}

TEST(Gguf, RefusesBadTensors) {
  GgufBuilder dimensions;
  dimensions.tensorAt("t", {1, 1, 1, 1, 1}, 0, 0);
  expectRefused(dimensions, "dimension count: expected at most 4, found 5");

  GgufBuilder removedType;
  removedType.tensorAt("t", {32}, 4, 0);
  expectRefused(removedType, "type: expected a known type, found 4");

  GgufBuilder partialBlock;
  partialBlock.tensorAt("t", {48}, 8, 0);
  expectRefused(partialBlock, "multiple of 32 elements for Q8_0, found 48");

  GgufBuilder elements;
  elements.tensorAt("t", {1ull << 32, 1ull << 31}, 24, 0);
  expectRefused(elements, "shape: expected fewer than 2^63 elements");

  GgufBuilder size;
  size.tensorAt("t", {1ull << 62}, 0, 0);
  expectRefused(size, "size: expected fewer than 2^63 bytes");

  GgufBuilder overlap;
  overlap.tensorF32("a", {16}, ramp(16)).tensorF32("b", {16}, ramp(16));
  overlap.tensorAt("c", {8}, 0, 32);
  expectRefused(overlap, "tensor \"c\": data offset: expected at least 64 (the "
                         "end of \"a\"), found 32");

  GgufBuilder unnamed;
  unnamed.tensorAt("", {8}, 0, 0);
  expectRefused(unnamed, "name: expected 1 to 63 bytes, found 0");
}

TEST(Gguf, AcceptsZeroElementsWithoutOverlap) {
  GgufBuilder builder;
  builder.tensorF32("a", {16}, ramp(16));
  builder.tensorAt("empty", {0, 7}, 0, 0).tensorAt("empty2", {32, 0}, 8, 32);
  std::vector<std::byte> bytes = builder.build();
  Expected<GgufFile> file = GgufFile::parse(bytes);
  ASSERT_TRUE(file) << file.error().message;
  auto data = file->data(*file->findTensor("empty"));
  ASSERT_TRUE(data);
  EXPECT_TRUE(data->empty());
}

TEST(Gguf, HeaderOnlyFileCanBeListedButNotLoaded) {
  GgufBuilder builder;
  builder.tensorAt("t", {32}, 0, 0);
  std::vector<std::byte> bytes = builder.build();
  Expected<GgufFile> file = GgufFile::parse(bytes);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_TRUE(file->isHeaderOnly());
  auto data = file->data(*file->findTensor("t"));
  ASSERT_FALSE(data);
  EXPECT_NE(data.error().message.find("ends with its header"),
            std::string::npos);
}

TEST(Gguf, UnloadableTypeIsNamedWithTheSupportedOnes) {
  GgufBuilder builder;
  std::vector<std::byte> block(144);
  builder.tensor("t", {256}, TensorType::Q4_K, block);
  std::vector<std::byte> bytes = builder.build();
  Expected<GgufFile> file = GgufFile::parse(bytes);
  ASSERT_TRUE(file) << file.error().message;
  auto data = file->data(*file->findTensor("t"));
  ASSERT_FALSE(data);
  EXPECT_NE(data.error().message.find(
                "tensor \"t\": type Q4_K cannot be loaded (supported: F32, "
                "F16, BF16, Q8_0, Q4_0)"),
            std::string::npos)
      << data.error().message;
}

TEST(Gguf, EveryTruncationIsRefusedOrHeaderOnly) {
  GgufBuilder builder;
  builder.string("k", "value").strings("s", {"a", "bb"});
  builder.tensorF32("t", {8, 2}, ramp(16)).tensorF32("u", {3}, ramp(3));
  std::vector<std::byte> bytes = builder.build();
  uint64_t dataStart = GgufFile::parse(bytes)->dataStart();
  for (size_t size = 0; size < bytes.size(); ++size) {
    // A copy of its own, so that ASan sees a read beyond the end.
    std::vector<std::byte> part(bytes.begin(), bytes.begin() + size);
    Expected<GgufFile> file = GgufFile::parse(part);
    if (file) {
      EXPECT_TRUE(file->isHeaderOnly()) << size;
      EXPECT_LE(size, dataStart);
    }
  }
}

TEST(Gguf, FindsTypesOfKnownSizes) {
  SKIP_WITHOUT_SHARED("quant-vectors/index.tsv");
  std::ifstream index(sharedFile("quant-vectors/index.tsv"));
  std::string line;
  std::getline(index, line);
  int checked = 0;
  while (std::getline(index, line)) {
    std::istringstream fields(line);
    uint32_t number = 0;
    uint32_t block = 0;
    uint32_t bytes = 0;
    std::string name;
    fields >> number >> name >> block >> bytes;
    const TensorTypeLayout *layout = findTensorType(number);
    ASSERT_NE(layout, nullptr) << line;
    EXPECT_EQ(layout->blockElements, block) << line;
    EXPECT_EQ(layout->blockBytes, bytes) << line;
    ++checked;
  }
  EXPECT_EQ(checked, 27);
}

TEST(Gguf, OpenNamesThePath) {
  Expected<GgufFile> file = GgufFile::open("no-such-file.gguf");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().message,
            "no-such-file.gguf: cannot open: No such file or directory");
  EXPECT_FALSE(GgufFile::open("."));
}

//===-- Files that ggml's own test makes ----------------------------------===//

struct Malformed {
  const char *name;
  const char *reason;
};

constexpr Malformed kRejected[] = {
    {"DATA_BAD_ALIGN", "general.alignment: expected a power of two, found 13"},
    {"DATA_INCONSISTENT_ALIGN", "data offset: expected a multiple of 32"},
    {"DATA_MEM_SIZE_OVERFLOW", "data: expected an end below byte 2^63"},
    {"DATA_NOT_ENOUGH_DATA", "data: expected an end (padded to 32)"},
    {"HEADER_BAD_MAGIC", "magic: expected \"GGUF\", found \"FUGG\""},
    {"HEADER_BAD_N_KV", "metadata count: expected at most"},
    {"HEADER_BAD_N_TENSORS", "tensor count: expected at most"},
    {"HEADER_BAD_VERSION_0", "version: expected 2 or 3, found 0"},
    {"HEADER_BAD_VERSION_1", "version: expected 2 or 3, found 1"},
    {"HEADER_BAD_VERSION_FUTURE", "version: expected 2 or 3, found 4"},
    {"KV_BAD_ALIGN", "general.alignment: expected a power of two, found 13"},
    {"KV_BAD_KEY_SIZE", "metadata key: expected"},
    {"KV_BAD_TYPE", ": expected 0 to 12, found"},
    {"KV_DUPLICATE_KEY", "expected every key once, found \"my_key_0\" again"},
    {"KV_EMPTY_KEY", "metadata key: expected 1 to 65535 bytes, found 0"},
    {"KV_WRONG_TYPE_ALIGN", "general.alignment: expected type u32, found i32"},
    {"TENSORS_BAD_ALIGN", "general.alignment: expected a power of two"},
    {"TENSORS_BAD_NAME_SIZE", "name: expected 1 to 63 bytes"},
    {"TENSORS_BAD_N_DIMS", "dimension count: expected at most 4, found 5"},
    {"TENSORS_BAD_OFFSET", "data offset: expected a multiple of 32"},
    {"TENSORS_BAD_SHAPE", "shape: expected fewer than 2^63 elements"},
    {"TENSORS_BAD_TYPE", "type: expected a known type, found 43"},
    {"TENSORS_DUPLICATE_NAME", "name: expected every name once"},
    {"TENSORS_INCONSISTENT_ALIGN", "data offset: expected a multiple of 32"},
    {"TENSORS_NBYTES_TOO_BIG", "size: expected fewer than 2^63 bytes"},
    {"TENSORS_NE_TOO_BIG", "shape: expected fewer than 2^63 elements"},
};

TEST(GgufMalformed, RejectsForTheReasonInTheName) {
  SKIP_WITHOUT_SHARED("gguf-malformed");
  for (const Malformed &kind : kRejected) {
    std::string path = sharedFile(std::string("gguf-malformed/reject-") +
                                  kind.name + "-seed1.gguf");
    Expected<GgufFile> file = GgufFile::open(path);
    ASSERT_FALSE(file) << path;
    EXPECT_NE(file.error().message.find(kind.reason), std::string::npos)
        << file.error().message << "\nexpected part: " << kind.reason;
  }
}

TEST(GgufMalformed, VerdictIsInEveryName) {
  SKIP_WITHOUT_SHARED("gguf-malformed");
  int accepted = 0;
  int rejected = 0;
  for (const auto &entry :
       std::filesystem::directory_iterator(sharedFile("gguf-malformed"))) {
    std::string name = entry.path().filename().string();
    Expected<GgufFile> file = GgufFile::open(entry.path().string());
    bool accept = name.starts_with("accept");
    EXPECT_EQ(static_cast<bool>(file), accept)
        << name << ": " << (file ? "accepted" : file.error().message);
    (accept ? accepted : rejected) += 1;
  }
  EXPECT_EQ(accepted, 7);
  EXPECT_EQ(rejected, static_cast<int>(std::size(kRejected)));
}

} // namespace

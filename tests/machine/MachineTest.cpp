#include "machine/Machine.h"

#include "machine/MachineFields.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

Json v1Json() { return Json::parse(formatMachine(*loadMachine("lpu-v1"))); }

/// The JSON value that a path with dots names.
Json &valueAt(Json &root, const std::string &path) {
  Json *value = &root;
  std::stringstream parts(path);
  for (std::string part; std::getline(parts, part, '.');) {
    value = &(*value)[part];
  }
  return *value;
}

/// The error of the v1 description after an edit, without "machine `t`: ".
std::string errorAfter(const std::function<void(Json &)> &edit) {
  Json root = v1Json();
  edit(root);
  auto machine = parseMachine(root.dump(), "t");
  if (machine) {
    return "no error";
  }
  const std::string prefix = "machine `t`: ";
  EXPECT_TRUE(machine.error().message.starts_with(prefix));
  return machine.error().message.substr(prefix.size());
}
std::string errorWith(const std::string &path, const Json &value) {
  return errorAfter([&](Json &root) { valueAt(root, path) = value; });
}
std::string errorOfText(const std::string &text) {
  auto machine = parseMachine(text, "t");
  return machine ? "no error" : machine.error().message;
}

//===-- What loads --------------------------------------------------------===//

TEST(Machine, PresetsAreTheFilesOfTheFolder) {
  std::vector<std::string> names;
  std::filesystem::path folder = ORRERY_SOURCE_DIR "/machine/presets";
  for (const auto &entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().stem().string());
    auto fromFile = loadMachine(entry.path().string());
    auto builtIn = loadMachine(names.back());
    ASSERT_TRUE(fromFile) << fromFile.error().message;
    ASSERT_TRUE(builtIn) << builtIn.error().message;
    EXPECT_EQ(*fromFile, *builtIn);
    EXPECT_EQ(builtIn->name, names.back());
  }
  std::ranges::sort(names);
  EXPECT_FALSE(names.empty());
  EXPECT_EQ(names, presetNames());
}

TEST(Machine, FormatRoundTrips) {
  for (const std::string &name : presetNames()) {
    Machine machine = *loadMachine(name);
    auto again = parseMachine(formatMachine(machine), name);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*again, machine);
  }
}

TEST(Machine, FormatWritesChangedFields) {
  Machine machine = *loadMachine("lpu-v1");
  machine.clockMhz = 1249.75;
  machine.timing.read = 8;
  auto again = parseMachine(formatMachine(machine), "t");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->clockMhz, 1249.75);
  EXPECT_EQ(again->timing, machine.timing);
  EXPECT_EQ(again->numbers.front().value, 1249.75);
}

TEST(Machine, EachFieldReachesAMemberOfItsOwn) {
  for (const NumberField &changed : numberFields()) {
    Machine before = *loadMachine("lpu-v1");
    Machine after = before;
    changed.set(after, changed.get(before) + 1);
    for (const NumberField &field : numberFields()) {
      double expected = field.get(before) + (&field == &changed ? 1 : 0);
      EXPECT_EQ(field.get(after), expected) << field.path();
    }
  }
}

TEST(Machine, EachFieldReachesTheMemberOfItsName) {
  Machine m{};
  double number = 0;
  for (const NumberField &field : numberFields()) {
    field.set(m, ++number);
  }
  const TimingParameters &t = m.timing;
  const EnergyParameters &e = m.energy;
  std::vector<double> members = {m.clockMhz,
                                 double(m.lanes),
                                 double(m.streamsPerDirection),
                                 double(m.sram.slicesPerHemisphere),
                                 double(m.sram.banks),
                                 double(m.sram.vectorsPerBank),
                                 double(m.matrix.planesPerHemisphere),
                                 double(m.matrix.installStreams),
                                 double(m.matrix.activationVectors),
                                 double(m.matrix.f16TicksPerRow),
                                 double(m.alusPerLane),
                                 double(m.instructionBytes),
                                 double(m.queueBytes),
                                 double(m.fetchVectors)};
  for (Tick ticks :
       {t.read, t.write, t.load, t.install, t.matmul, t.alu, t.special, t.cross,
        t.reduce, t.permute, t.transpose, t.host, t.hostVector, t.fetch}) {
    members.push_back(double(ticks));
  }
  members.insert(members.end(),
                 {double(m.link.ports), double(m.link.latency),
                  double(m.link.vectorTicks), double(m.link.bufferVectors)});
  members.insert(members.end(),
                 {e.sramReadPjPerByte, e.sramWritePjPerByte,
                  e.streamHopPjPerByte, e.int8MacPj, e.f16MacPj, e.aluPj,
                  e.hostPjPerByte, e.linkPjPerByte, e.staticWatts});
  ASSERT_EQ(members.size(), numberFields().size());
  for (size_t i = 0; i < members.size(); ++i) {
    EXPECT_EQ(members[i], double(i + 1)) << numberFields()[i].path();
  }
}

TEST(Machine, EveryNumberSaysItsSource) {
  for (const std::string &name : presetNames()) {
    Machine machine = *loadMachine(name);
    size_t fields = numberFields().size();
    bool isSystem = !machine.system.json.empty();
    ASSERT_EQ(machine.numbers.size(), fields + (isSystem ? 3 : 0));
    for (size_t i = 0; i < fields; ++i) {
      EXPECT_EQ(machine.numbers[i].path, numberFields()[i].path());
      EXPECT_EQ(machine.numbers[i].value, numberFields()[i].get(machine));
    }
    for (const SourcedNumber &each : machine.numbers) {
      EXPECT_FALSE(each.source.empty()) << each.path;
    }
  }
}

TEST(Machine, V1IsThePublishedChip) {
  Machine m = *loadMachine("lpu-v1");
  EXPECT_EQ(m.clockMhz, 900);
  EXPECT_EQ(m.lanes, 320);
  EXPECT_EQ(m.streamsPerDirection, 32);
  EXPECT_EQ(m.geometry().slices(), 88);
  EXPECT_EQ(m.geometry().planes(), 4);
  EXPECT_EQ(m.microseconds(900), 1.0);
}

//===-- Numbers out of range ----------------------------------------------===//

TEST(MachineErrors, ReadLikeThis) {
  Json root = v1Json();
  root["sram"]["banks"] = 3;
  EXPECT_EQ(parseMachine(root.dump(), "x.json").error().message,
            "machine `x.json`: sram.banks: expected 2, found 3");
  EXPECT_EQ(errorWith("lanes", 100),
            "lanes: expected a whole number from 32 to 1024, a multiple of "
            "32, found 100");
}

TEST(MachineErrors, EachNumberBelowAndAboveItsRange) {
  for (const NumberField &field : numberFields()) {
    std::string path = field.path();
    double step = field.whole() ? field.multiple : 0.5;
    for (double wrong : {field.low - step, field.high + step}) {
      Json value = field.whole() ? Json(int64_t(wrong)) : Json(wrong);
      EXPECT_EQ(errorWith(path, value), path + ": expected " + field.range() +
                                            ", found " + value.dump());
    }
  }
}

TEST(MachineErrors, EachNumberOfTheWrongType) {
  for (const NumberField &field : numberFields()) {
    std::string path = field.path();
    std::string start = path + ": expected " + field.range() + ", found ";
    EXPECT_EQ(errorWith(path, "900"), start + "\"900\"");
    EXPECT_EQ(errorWith(path, nullptr), start + "null");
    EXPECT_EQ(errorWith(path, true), start + "true");
    EXPECT_EQ(errorWith(path, Json::array({1})), start + "an array");
    EXPECT_EQ(errorWith(path, Json::object()), start + "an object");
    if (field.whole()) {
      EXPECT_EQ(errorWith(path, field.low + 0.5),
                start + numberText(field.low + 0.5));
      // A float that happens to be whole is not a whole number.
      EXPECT_NE(errorWith(path, double(field.low)), "no error");
    }
    if (field.multiple > 1) {
      EXPECT_NE(errorWith(path, int64_t(field.low) + 1), "no error");
    }
  }
}

TEST(MachineErrors, EachNumberAndSourceMissing) {
  for (const NumberField &field : numberFields()) {
    std::string key(field.key);
    std::string object(field.object);
    std::string prefix = object.empty() ? "" : object + ".";
    auto erase = [&](bool source) {
      return errorAfter([&](Json &root) {
        Json &holder = object.empty() ? root : root[object];
        (source ? holder["source"] : holder).erase(key);
      });
    };
    EXPECT_EQ(erase(false), field.path() + ": expected a value, found nothing");
    EXPECT_EQ(erase(true),
              prefix + "source." + key + ": expected a value, found nothing");
    for (const Json &wrong : {Json(""), Json(7), Json(nullptr)}) {
      EXPECT_EQ(errorWith(prefix + "source." + key, wrong),
                prefix + "source." + key +
                    ": expected a text that says where the number comes "
                    "from, found " +
                    wrong.dump());
    }
  }
}

TEST(MachineErrors, HugeAndNonFiniteNumbers) {
  EXPECT_NE(errorWith("lanes", uint64_t(1) << 63), "no error");
  EXPECT_NE(errorWith("lanes", (int64_t(1) << 32) + 320), "no error");
  std::string text = v1Json().dump();
  auto with = [&](const std::string &number) {
    std::string edited = text;
    const std::string key = "\"clock_mhz\":";
    size_t at = edited.find(key) + key.size();
    edited.replace(at, edited.find(',', at) - at, number);
    return errorOfText(edited);
  };
  EXPECT_EQ(with("900"), "no error");
  for (const char *wrong : {"1e999", "-1e999", "NaN", "Infinity", "nan", "0x9",
                            "-0.0", "0", "1e-300"}) {
    EXPECT_NE(with(wrong), "no error") << wrong;
  }
}

//===-- Relations ---------------------------------------------------------===//

TEST(MachineErrors, MoreInstallStreamsThanStreams) {
  EXPECT_EQ(errorWith("streams_per_direction", 8),
            "mxm.install_streams: expected at most streams_per_direction = 8, "
            "found 16");
}

TEST(MachineErrors, InstallStreamsThatDoNotDivideTheLanes) {
  EXPECT_EQ(errorWith("mxm.install_streams", 12),
            "mxm.install_streams: expected a divisor of lanes = 320, found 12");
}

TEST(MachineErrors, AQueueThatTakesNoFetch) {
  EXPECT_EQ(errorWith("icu.queue_bytes", 640), "no error");
  EXPECT_EQ(errorWith("icu.queue_bytes", 639),
            "icu.queue_bytes: expected at least what a fetch brings, "
            "fetch_vectors * lanes = 640, found 639");
  EXPECT_EQ(errorWith("icu.fetch_vectors", 9),
            "icu.queue_bytes: expected at least what a fetch brings, "
            "fetch_vectors * lanes = 2880, found 2560");
}

TEST(MachineErrors, MoreSramThanASimulationCanHold) {
  EXPECT_EQ(errorAfter([](Json &root) {
              root["sram"]["vectors_per_bank"] = 65'536;
              root["sram"]["slices_per_hemisphere"] = 256;
            }),
            "sram: expected at most 4294967296 bytes in all slices, found "
            "21474836480");
}

//===-- Names, kinds, structure -------------------------------------------===//

TEST(MachineErrors, Kind) {
  EXPECT_EQ(errorWith("kind", "wafer"),
            "kind: expected \"lpu\", found \"wafer\"");
  EXPECT_EQ(errorWith("kind", 1), "kind: expected \"lpu\", found 1");
}

TEST(MachineErrors, Name) {
  for (const Json &wrong : {Json(""), Json("a b"), Json("a\n"), Json(1),
                            Json(std::string(65, 'x')), Json("ä")}) {
    EXPECT_TRUE(errorWith("name", wrong)
                    .starts_with("name: expected 1 to 64 letters, digits"))
        << wrong;
  }
}

TEST(MachineErrors, UnknownKeys) {
  EXPECT_EQ(errorWith("sram.bonks", 2),
            "sram: expected only the keys banks, slices_per_hemisphere, "
            "source, vectors_per_bank, found \"bonks\"");
  EXPECT_EQ(errorWith("vxm.source.lanes", "x"),
            "vxm.source: expected only the keys alus_per_lane, found "
            "\"lanes\"");
  EXPECT_NE(errorWith("extra", 1), "no error");
}

TEST(MachineErrors, ObjectsMissingOrOfAnotherType) {
  for (std::string_view object : numberObjects()) {
    if (object.empty()) {
      continue;
    }
    std::string name(object);
    EXPECT_EQ(errorAfter([&](Json &root) { root.erase(name); }),
              name + ": expected a value, found nothing");
    EXPECT_EQ(errorWith(name, 5), name + ": expected an object, found 5");
    EXPECT_EQ(errorWith(name + ".source", "assumed"),
              name + ".source: expected an object, found \"assumed\"");
  }
  EXPECT_EQ(errorOfText("[]"),
            "machine `t`: description: expected an object, found an array");
}

TEST(MachineErrors, KeysGivenTwice) {
  std::string text = v1Json().dump();
  auto twice = [&](const std::string &where, const std::string &what) {
    std::string edited = text;
    edited.insert(edited.find(where) + where.size(), what);
    return errorOfText(edited);
  };
  EXPECT_EQ(twice("{", "\"lanes\":320,"),
            "machine `t`: lanes: expected every key once, found it twice");
  EXPECT_EQ(twice("\"sram\":{", "\"banks\":2,"),
            "machine `t`: sram.banks: expected every key once, found it twice");
  EXPECT_EQ(twice("{", "\"sram\":{},"),
            "machine `t`: sram: expected every key once, found it twice");
}

TEST(MachineErrors, TextThatIsNotJson) {
  std::string text = formatMachine(*loadMachine("lpu-v1"));
  EXPECT_EQ(errorOfText(text), "no error");
  for (const std::string &wrong :
       {std::string(), std::string("{"), text + "x", text + text,
        text.substr(0, text.size() / 2), std::string("\xff\xfe"),
        std::string("{\"a\":\"\xc3\"}"), std::string(100'000, '['),
        std::string(1, '\0')}) {
    EXPECT_TRUE(errorOfText(wrong).starts_with("machine `t`: parse error"))
        << errorOfText(wrong);
    EXPECT_LT(errorOfText(wrong).size(), 200u);
  }
}

TEST(MachineErrors, TextThatIsTooLong) {
  std::string text = formatMachine(*loadMachine("lpu-v1"));
  EXPECT_EQ(errorOfText(text + std::string((1 << 20) - text.size(), ' ')),
            "no error");
  EXPECT_EQ(errorOfText(text + std::string((1 << 20) - text.size() + 1, ' ')),
            "machine `t`: expected at most 1048576 bytes, found 1048577");
}

TEST(MachineErrors, NeitherPresetNorFile) {
  std::string message = loadMachine("lpu-v9").error().message;
  EXPECT_TRUE(message.starts_with("machine `lpu-v9`: neither a preset ("));
  EXPECT_NE(message.find(" lpu-v1,"), std::string::npos);
  EXPECT_TRUE(message.ends_with(
      ") nor a readable file: cannot open: No such file or directory"));
  EXPECT_FALSE(loadMachine(ORRERY_SOURCE_DIR));
  EXPECT_FALSE(loadMachine(""));
}

} // namespace
} // namespace orrery

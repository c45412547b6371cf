// A command line that is refused: by one line on stderr and a code, and with
// nothing on stdout or in the folder.
#pragma once

#include "tests/runtime/Command.h"

#include <algorithm>

namespace orrery::command {

struct BadLine {
  const char *name, *line;
  int code;
  const char *message; ///< part of the line
};

inline void PrintTo(const BadLine &c, std::ostream *out) { *out << c.line; }

inline void expectRefused(const CommandFolder &folder, const BadLine &c) {
  size_t before = folder.files();
  CommandResult result = folder.run(c.line);
  EXPECT_EQ(result.code, c.code) << result.err;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1)
      << result.err;
  EXPECT_NE(result.err.find(c.message), std::string::npos) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(folder.files(), before);
}

} // namespace orrery::command

// What all commands share towards the user: one line for what is wrong,
// progress while something takes long, files written whole.
#pragma once

#include "machine/Result.h"
#include "runtime/command/Arguments.h"

#include <string>

namespace orrery::command {

/// Prints `orrery: message` as one line on stderr; gives `code` back.
ExitCode fail(ExitCode code, const Error &error);

/// Replaces `path` by `text`, whole or not at all.
Status writeText(const std::string &path, const std::string &text);

/// Whether writeText could work: before long work, not after. An empty path is
/// no file and fine.
Status checkWritable(const std::string &path);

/// A line on stderr that is overwritten, when stderr is a terminal; else
/// nothing. Gone when the object is.
class Progress {
public:
  /// `enabled` false: nothing is shown even on a terminal.
  explicit Progress(bool enabled);
  ~Progress() { clear(); }
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  void show(const std::string &what);
  void clear();

private:
  bool visible, dirty = false;
};

} // namespace orrery::command

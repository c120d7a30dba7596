// A program that this one starts and that ends with it, however this one ends.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "base/time.h"

namespace presetbridge::app {

// Of one thread, in a process that has no others when it starts one; that thread outlives the programs.
class ChildProgram {
 public:
  struct Command {
    std::string name;  // what people call it
    std::filesystem::path binary;
    std::vector<std::string> arguments;
    // Instead of this process's own of that name; else it has this process's, without settings of ours.
    std::vector<std::pair<std::string, std::string>> environment = {};
    std::filesystem::path log;  // what it writes to standard error; made anew
  };
  // In a process group of its own: Ctrl-C is for the one that started it. PROGRAM_MISSING, PROGRAM_FAILED.
  static Expected<ChildProgram> start(Command command);
  ChildProgram(ChildProgram&& other) noexcept;
  ChildProgram& operator=(ChildProgram&&) = delete;
  // Kills it, if it still runs.
  ~ChildProgram();

  const std::string& name() const { return command_.name; }
  // Its standard output: to be waited for; read with next_line().
  int output() const { return output_.get(); }
  // Readable when it has ended.
  int end() const { return end_.get(); }
  // The next line that is whole by now, or will be within that time; nothing: none came, or it ended.
  std::optional<std::string> next_line(Millis wait);
  // The address in its line {"listening": …}. PROGRAM_FAILED, with the last line of its log: it ended, or
  // said nothing in time.
  Expected<std::string> listening(Millis wait);
  // Whether it has ended.
  bool ended();
  // Of one that has ended: that a signal killed it, else the last line that it wrote to standard error.
  std::string how_it_ended() const;
  // SIGTERM, and SIGKILL where it has not ended in that time: false then.
  bool stop(Millis wait);

 private:
  ChildProgram(Command command, pid_t pid, FileDescriptor output, FileDescriptor end)
      : command_(std::move(command)), pid_(pid), output_(std::move(output)), end_(std::move(end)) {}
  bool wait_for_end(Millis wait);
  std::string last_words() const;

  Command command_;
  pid_t pid_ = -1;     // -1: ended and reaped
  int killed_by_ = 0;  // a signal's number; 0: none
  FileDescriptor output_;
  FileDescriptor end_;  // a pidfd: readable when it has ended
  std::string read_;    // of its output, not yet asked for
};

}  // namespace presetbridge::app

// SQLite's files in the memory of a process with one thread: a history writes thousands of times, and each call of the
// kernel costs more than the rows that it writes. Locks and the shared index of the write-ahead log work as those of
// files do, so that connections behave as on a disk.
#pragma once

#include <string>

namespace presetbridge::simulation {

// From now on SQLite opens all files here. A database that exists on the disk is read from there once, and never
// written back. The log's file exists on the disk too, and stays empty there: the driver opens it to sync it.
void use_memory_files();

// A database and its log, of which no connection is under way in a transaction.
struct DatabaseContent {
  std::string file;
  std::string log;
};
DatabaseContent content_of(const std::string& path);
// No connection may be open.
void replace_content(const std::string& path, DatabaseContent content);

}  // namespace presetbridge::simulation

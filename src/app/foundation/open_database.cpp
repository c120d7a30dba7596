#include "app/foundation/open_database.h"

#include "net/runtime.h"
#include "storage/postgres/postgres_database.h"
#include "storage/sqlite/sqlite_database.h"

namespace presetbridge::app {

Expected<OpenDatabase> open_database(const Config& config, const DataDirectory& directory, Log* log) {
  const auto opened = [](auto clock, auto database) -> Expected<OpenDatabase> {
    if (!database) return std::unexpected(database.error());
    return OpenDatabase{std::move(clock), std::move(*database)};
  };
  if (config.database_url.empty()) {
    auto clock = std::make_unique<net::SystemClock>();
    const Clock& time = *clock;
    return opened(std::move(clock),
                  storage::open_sqlite({.path = directory.database.string(),
                                        .readers = static_cast<int>(config.storage_readers),
                                        .checkpoint_pages = static_cast<int>(config.storage_checkpoint_pages),
                                        .cache_mib = static_cast<int>(config.storage_cache_mib),
                                        .lock_file = {},
                                        .log = log},
                                       time));
  }
  auto clock = std::make_unique<storage::ServerClock>(net::SystemClock().now());
  auto* const server_clock = clock.get();
  return opened(std::move(clock), storage::open_postgres({.url = config.database_url,
                                                          .writers = static_cast<int>(config.storage_writers),
                                                          .readers = static_cast<int>(config.storage_readers),
                                                          .server_clock = server_clock}));
}

}  // namespace presetbridge::app

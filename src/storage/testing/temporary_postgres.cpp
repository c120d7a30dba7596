#include "storage/testing/temporary_postgres.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include "storage/postgres/session.h"

namespace presetbridge::storage::testing {
namespace {

constexpr int kStartTimeoutMs = 120'000;

class Cluster {
 public:
  explicit Cluster(const std::vector<std::string>& settings) {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    if (pipe2(in.data(), O_CLOEXEC) != 0 || pipe2(out.data(), O_CLOEXEC) != 0)
      throw std::runtime_error("no pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    std::string script = POSTGRES_CLUSTER;
    std::vector<std::string> words{script};
    words.insert(words.end(), settings.begin(), settings.end());
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    std::string path = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
    std::string folder = "TMPDIR=" + std::filesystem::temp_directory_path().string();
    const std::array<char*, 3> environment{path.data(), folder.data(), nullptr};
    const int code =
        posix_spawn(&pid_, script.c_str(), &actions, nullptr, arguments.data(), environment.data());
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    alive_ = in[1];
    try {
      if (code != 0) throw std::runtime_error("tools/postgres_cluster.sh cannot be run");
      socket_url_ = read_line(out[0]);
      tcp_url_ = read_line(out[0]);
    } catch (...) {
      close(out[0]);
      end(code == 0);
      throw;
    }
    close(out[0]);
  }
  ~Cluster() { end(true); }
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // Connection strings of the cluster's database `database`.
  std::string socket_url(std::string_view database) const { return with_database(socket_url_, database); }
  std::string tcp_url(std::string_view database) const { return with_database(tcp_url_, database); }

 private:
  void end(bool started) const {
    close(alive_);
    if (started) waitpid(pid_, nullptr, 0);
  }

  static std::string read_line(int from) {
    std::string text;
    for (char c = 0; text.size() < 4'096;) {
      pollfd ready{from, POLLIN, 0};
      if (poll(&ready, 1, kStartTimeoutMs) != 1 || read(from, &c, 1) != 1)
        throw std::runtime_error("PostgreSQL did not start; its messages are above");
      if (c == '\n') return text;
      text += c;
    }
    throw std::runtime_error("tools/postgres_cluster.sh did not print how to connect");
  }

  static std::string with_database(const std::string& url, std::string_view database) {
    constexpr std::string_view maintenance = "/postgres";
    const auto at = url.rfind(maintenance);
    return url.substr(0, at + 1).append(database).append(url.substr(at + maintenance.size()));
  }

  pid_t pid_ = 0;
  int alive_ = -1;  // the script's standard input: the cluster ends when this is closed
  std::string socket_url_;
  std::string tcp_url_;
};

const Cluster& cluster(TemporaryPostgres::Kind kind) {
  if (kind == TemporaryPostgres::Kind::quick) {
    static const Cluster quick({"fsync=off", "full_page_writes=off"});
    return quick;
  }
  if (kind == TemporaryPostgres::Kind::sized) {
    static const Cluster sized({"shared_buffers=1GB", "max_wal_size=4GB"});
    return sized;
  }
  static const Cluster real({});
  return real;
}

constexpr Millis kUsualPatience{60'000};

std::string run_in(TemporaryPostgres::Kind kind, const std::string& database, const std::string& text,
                   Millis patience = kUsualPatience) {
  postgres::Session session(cluster(kind).socket_url(database), postgres::Access::read_write,
                            {kUsualPatience, patience, patience, patience});
  session.run("SET synchronous_commit=local");
  const postgres::Result result = session.run(text);
  const int rows = PQntuples(result.get());
  return rows == 0 ? std::string() : PQgetvalue(result.get(), rows - 1, 0);
}

}  // namespace

TemporaryPostgres::TemporaryPostgres(Kind kind) : TemporaryPostgres(kind, "template1") {}

TemporaryPostgres::TemporaryPostgres(Kind kind, std::string_view template_database) : kind_(kind) {
  static std::atomic<int> made = 0;
  name_ = fmt::format("test_{}", ++made);
  run_in(kind_, "postgres", fmt::format("CREATE DATABASE {} TEMPLATE {}", name_, template_database));
}

std::unique_ptr<TemporaryPostgres> TemporaryPostgres::copy_of(const TemporaryPostgres& original) {
  return std::unique_ptr<TemporaryPostgres>(new TemporaryPostgres(original.kind_, original.name_));
}

TemporaryPostgres::~TemporaryPostgres() {
  try {
    run_in(kind_, "postgres", "DROP DATABASE " + name_ + " WITH (FORCE)");
  } catch (const DbError&) {  // NOLINT(bugprone-empty-catch)
    // The database ends with the cluster.
  }
}

std::string TemporaryPostgres::url() const {
  return cluster(kind_).socket_url(name_);
}
std::string TemporaryPostgres::tcp_url() const {
  return cluster(kind_).tcp_url(name_);
}
std::string TemporaryPostgres::run(const std::string& text, Millis patience) const {
  return run_in(kind_, name_, text, patience);
}

}  // namespace presetbridge::storage::testing

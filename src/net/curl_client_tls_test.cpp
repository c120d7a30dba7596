// TLS against a real server: the openssl program, with a certificate that it makes for this run.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <filesystem>
#include <future>
#include <string>
#include <vector>

#include "net/curl_client.h"
#include "net/loopback_testing.h"

namespace presetbridge::net {
namespace {

using Kind = HttpFailure::Kind;

class Program {
 public:
  // Started with its standard output to be read here.
  explicit Program(std::vector<std::string> arguments) {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, ends[1], 1);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    std::vector<char*> argv;
    for (auto& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    EXPECT_EQ(posix_spawnp(&pid_, argv[0], &files, nullptr, argv.data(), environ), 0) << argv[0];
    posix_spawn_file_actions_destroy(&files);
    ::close(ends[1]);
    output_ = ends[0];
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      wait();
    }
    ::close(output_);
  }
  int wait() {
    int status = -1;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return status;
  }
  std::string read_line() const {
    std::string line;
    for (char c; ::read(output_, &c, 1) == 1 && c != '\n';) line += c;
    return line;
  }

 private:
  pid_t pid_ = -1;
  int output_ = -1;
};

class FixedResolver final : public Resolver {
 public:
  void resolve(std::string, std::string, std::function<void(Addresses)> done) override {
    done({IpAddress::v4({127, 0, 0, 1})});
  }
};

class CurlClientTlsTest : public ::testing::Test {
 protected:
  CurlClientTlsTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "net_tls_XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    Program make({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                  "-nodes", "-keyout", file("key"), "-out", file("certificate"), "-days", "2", "-subj",
                  "/CN=tls.test", "-addext", "subjectAltName=DNS:tls.test"});
    EXPECT_EQ(make.wait(), 0);
    server_.emplace(std::vector<std::string>{"openssl", "s_server", "-accept", "127.0.0.1:0", "-cert",
                                             file("certificate"), "-key", file("key"), "-www"});
    std::string line = server_->read_line();
    while (!line.empty() && !line.starts_with("ACCEPT ")) line = server_->read_line();
    port_ = line.substr(line.rfind(':') + 1);
    runtime_.start();
  }
  ~CurlClientTlsTest() override {
    runtime_.stop();
    std::filesystem::remove_all(directory_);
  }
  std::string file(const char* name) const { return (directory_ / name).string(); }
  HttpResult get(const std::string& url, CurlClientOptions options) {
    CurlClient client(runtime_, 0, resolver_, std::move(options));
    auto& executor = runtime_.scheduler(0);
    std::promise<HttpResult> promise;
    executor.post([&] {
      spawn(client.send(executor, {.method = "GET", .url = url, .policy = AddressPolicy::sandbox_receivers}),
            [&](Outcome<HttpResult> outcome) { promise.set_value(std::move(*outcome.value)); });
    });
    auto result = promise.get_future().get();
    client.stop();
    return result;
  }

  std::filesystem::path directory_;
  std::optional<Program> server_;
  std::string port_;
  Runtime runtime_{1};
  FixedResolver resolver_;
};

TEST_F(CurlClientTlsTest, ACertificateOfATrustedAuthorityForTheNameIsAccepted) {
  const auto result = get("https://tls.test:" + port_ + "/", {.ca_file = file("certificate")});
  ASSERT_NE(result.answer(), nullptr) << result.failure()->message;
  EXPECT_EQ(result.answer()->status, 200);
}

TEST_F(CurlClientTlsTest, ACertificateOfAnUnknownAuthorityIsRefusedBeforeAnythingIsSent) {
  const auto result = get("https://tls.test:" + port_ + "/", {});
  ASSERT_NE(result.failure(), nullptr);
  EXPECT_EQ(result.failure()->kind, Kind::tls) << result.failure()->message;
}

TEST_F(CurlClientTlsTest, ACertificateForAnotherNameIsRefused) {
  const auto result = get("https://other.test:" + port_ + "/", {.ca_file = file("certificate")});
  ASSERT_NE(result.failure(), nullptr);
  EXPECT_EQ(result.failure()->kind, Kind::tls) << result.failure()->message;
}

TEST_F(CurlClientTlsTest, AServerThatDoesNotSpeakTlsIsRefused) {
  const net::testing::TestListener listener;
  std::thread server([&] {
    const auto socket = listener.accept();
    socket.read_some();
    socket.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    socket.finish_sending();
    socket.read_to_end();
  });
  const auto result =
      get("https://tls.test:" + std::to_string(listener.port()) + "/", {.ca_file = file("certificate")});
  server.join();
  ASSERT_NE(result.failure(), nullptr);
  EXPECT_EQ(result.failure()->kind, Kind::tls) << result.failure()->message;
}

}  // namespace
}  // namespace presetbridge::net

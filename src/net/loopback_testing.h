// For the tests of net/: blocking sockets on loopback, written by hand so that they can be as malformed as a
// test likes. Every read has a deadline, after which the test fails instead of hanging.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace presetbridge::net::testing {

class TestSocket {
 public:
  explicit TestSocket(int fd) : fd_(fd) {}
  TestSocket(TestSocket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  TestSocket& operator=(TestSocket&&) = delete;
  ~TestSocket() { close(); }

  static TestSocket unconnected() { return TestSocket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); }
  void connect_to(std::uint16_t port) const {
    const auto to = loopback(port);
    EXPECT_EQ(::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  }
  static TestSocket connect(std::uint16_t port) {
    auto socket = unconnected();
    socket.connect_to(port);
    return socket;
  }
  // From 127.0.0.`host`.
  static TestSocket connect_from(std::uint8_t host, std::uint16_t port) {
    auto socket = unconnected();
    auto from = loopback(0);
    from.sin_addr.s_addr = htonl((127U << 24) | host);
    EXPECT_EQ(::bind(socket.fd_, reinterpret_cast<const sockaddr*>(&from), sizeof from), 0);
    socket.connect_to(port);
    return socket;
  }
  int descriptor() const { return fd_; }
  static sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
  }

  void send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const auto sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;  // the other side hung up: the test sees it by what it reads
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  // Some bytes; nothing at the end of the stream.
  std::string read_some() const {
    pollfd waiting{fd_, POLLIN, 0};
    if (::poll(&waiting, 1, 10'000) != 1) {
      ADD_FAILURE() << "nothing came within ten seconds";
      return {};
    }
    char bytes[65536];
    const auto got = ::recv(fd_, bytes, sizeof bytes, 0);
    return got > 0 ? std::string(bytes, static_cast<std::size_t>(got)) : std::string();
  }
  std::string read_to_end() const {
    std::string all;
    for (std::string some; !(some = read_some()).empty();) all += some;
    return all;
  }
  std::string read_until(std::string_view mark) const {
    std::string all;
    while (!all.contains(mark)) {
      const std::string some = read_some();
      if (some.empty()) {
        ADD_FAILURE() << "the stream ended before '" << mark << "': " << all;
        break;
      }
      all += some;
    }
    return all;
  }
  void finish_sending() const { ::shutdown(fd_, SHUT_WR); }
  // With a reset instead of an orderly end.
  void reset() {
    const linger now{1, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close();
  }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_;
};

// Listens on a free port of loopback and does with connections what the test says.
class TestListener {
 public:
  TestListener() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    auto address = TestSocket::loopback(0);
    EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(fd_, 128), 0);
    socklen_t size = sizeof address;
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  TestListener(const TestListener&) = delete;
  TestListener& operator=(const TestListener&) = delete;
  ~TestListener() { close(); }

  std::uint16_t port() const { return port_; }
  TestSocket accept() const {
    pollfd waiting{fd_, POLLIN, 0};
    if (::poll(&waiting, 1, 10'000) != 1) ADD_FAILURE() << "nobody connected within ten seconds";
    return TestSocket(::accept(fd_, nullptr, nullptr));
  }
  bool anyone_waits() const {
    pollfd waiting{fd_, POLLIN, 0};
    return ::poll(&waiting, 1, 0) == 1;
  }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_;
  std::uint16_t port_ = 0;
};

}  // namespace presetbridge::net::testing

#include "app/admin/admin_channel.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/json/object.hpp>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "app/config/data_directory.h"
#include "base/testing.h"

namespace presetbridge::app {
namespace {

namespace json = boost::json;

// A data directory without a database, whose admin.channel leads to a service that reads one request and says
// `answer`; or, once hang_up() was called, to nobody.
class AdminChannelTest : public ::testing::Test {
 protected:
  AdminChannelTest() {
    config_.data_dir = folder_;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const plain = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_, plain, size) != 0 || ::listen(listener_, 8) != 0 ||
        ::getsockname(listener_, plain, &size) != 0)
      throw std::runtime_error("no listener");
    presetbridge::testing::SeededRandom random;
    const auto url = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    channel_.emplace(AdminChannel::open(data_directory(config_).admin_channel, url, random).value());
  }
  ~AdminChannelTest() override {
    hang_up();
    channel_.reset();
    std::filesystem::remove_all(folder_);
  }
  void serve(std::string answer) {
    serving_ = std::thread([this, answer = std::move(answer)] {
      const int peer = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (peer < 0) return;
      std::string request(65'536, '\0');
      while (!asked_.contains("\"command\"")) {
        const auto got = ::recv(peer, request.data(), request.size(), 0);
        if (got <= 0) break;
        asked_.append(request, 0, static_cast<std::size_t>(got));
      }
      ::send(peer, answer.data(), answer.size(), MSG_NOSIGNAL);
      ::close(peer);
    });
  }
  void hang_up() {
    if (listener_ < 0) return;
    ::shutdown(listener_, SHUT_RDWR);
    if (serving_.joinable()) serving_.join();
    ::close(listener_);
    listener_ = -1;
  }
  std::string code_of(std::string_view command) const {
    const auto done = administrate(config_, {{"command", command}, {"account", "acc_1"}, {"credits", 5}});
    return done ? "done" : done.error().code;
  }

  static std::string make_folder() {
    std::string folder = (std::filesystem::temp_directory_path() / "presetbridge-admin-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no folder");
    return folder;
  }

  const std::string folder_ = make_folder();
  int listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  Config config_;
  std::optional<AdminChannel> channel_;
  std::thread serving_;
  std::string asked_;
};

// NO_DATABASE: the command was begun here.
TEST_F(AdminChannelTest, AGrantWhoseAnswerIsLostIsNotMadeAgain) {
  serve("");
  EXPECT_EQ(code_of("grant-credits"), "OUTCOME_UNKNOWN");
  hang_up();
  EXPECT_TRUE(asked_.contains("\"grant-credits\"")) << asked_;
}

TEST_F(AdminChannelTest, AGrantWhoseAnswerMakesNoSenseIsNotMadeAgain) {
  serve("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
  EXPECT_EQ(code_of("grant-credits"), "OUTCOME_UNKNOWN");
}

TEST_F(AdminChannelTest, AGrantThatReachedNobodyIsMadeHere) {
  hang_up();
  EXPECT_EQ(code_of("grant-credits"), "NO_DATABASE");
}

TEST_F(AdminChannelTest, ACommandThatMayBeRepeatedIsMadeHereWhereTheAnswerIsLost) {
  serve("");
  EXPECT_EQ(code_of("list-accounts"), "NO_DATABASE");
}

}  // namespace
}  // namespace presetbridge::app

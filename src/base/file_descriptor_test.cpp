#include "base/file_descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <stdexcept>

namespace presetbridge {
namespace {

bool is_closed(int fd) {
  return ::fcntl(fd, F_GETFD) < 0 && errno == EBADF;
}

class FileDescriptors : public ::testing::Test {
 protected:
  FileDescriptors() {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) throw std::runtime_error("no pipe");
    first_.reset(ends[0]);
    second_.reset(ends[1]);
  }
  FileDescriptor first_, second_;
};

TEST_F(FileDescriptors, AreClosedWithTheirHolder) {
  const int fd = first_.get();
  {
    const FileDescriptor moved(std::move(first_));
    EXPECT_FALSE(first_.is_open());
    EXPECT_EQ(moved.get(), fd);
    EXPECT_FALSE(is_closed(fd));
  }
  EXPECT_TRUE(is_closed(fd));
}

TEST_F(FileDescriptors, AreClosedWhenAnotherTakesTheirPlace) {
  const int old = first_.get();
  const int fresh = second_.get();
  first_ = std::move(second_);
  EXPECT_TRUE(is_closed(old));
  EXPECT_EQ(first_.get(), fresh);
  auto& same = first_;
  first_ = std::move(same);
  EXPECT_EQ(first_.get(), fresh);
  EXPECT_FALSE(is_closed(fresh));
}

TEST_F(FileDescriptors, AreTheCallersOnceReleased) {
  const int fd = first_.release();
  EXPECT_FALSE(first_.is_open());
  EXPECT_FALSE(is_closed(fd));
  first_.reset(fd);
  first_.reset();
  EXPECT_TRUE(is_closed(fd));
}

TEST(FileDescriptorsOfNothing, HaveNothingToClose) {
  FileDescriptor none(-1);
  EXPECT_FALSE(none.is_open());
  none.reset();
  EXPECT_EQ(none.release(), -1);
}

}  // namespace
}  // namespace presetbridge

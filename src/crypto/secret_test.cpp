#include "crypto/secret.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <set>
#include <thread>
#include <type_traits>

#include "base/log.h"
#include "crypto/random.h"

namespace presetbridge::crypto {
namespace {

template <class T>
concept Streamable = requires(std::ostream& out, const T& value) { out << value; };

template <class T>
constexpr bool is_sealed_off =
    !std::is_copy_constructible_v<T> && !std::is_copy_assignable_v<T> &&
    std::is_nothrow_move_constructible_v<T> && !Streamable<T> && !fmt::is_formattable<T>::value &&
    !std::is_convertible_v<T, std::string_view> && !std::is_convertible_v<T, std::string> &&
    !std::is_convertible_v<T, ByteView> && !std::is_constructible_v<LogField, std::string_view, const T&>;
static_assert(is_sealed_off<SecretBytes>);
static_assert(is_sealed_off<SecretString>);
static_assert(Streamable<std::string>, "the probe itself works");

TEST(Secret, GivesBackWhatItHoldsAndLeavesNothingInWhatItWasMovedFrom) {
  SecretString first("pass\0word");
  SecretString second = std::move(first);
  EXPECT_TRUE(first.empty());
  EXPECT_EQ(first.reveal(), "");
  EXPECT_EQ(second.reveal(), "pass");
  SecretString third("other");
  third = std::move(second);
  EXPECT_EQ(third.reveal(), "pass");
}

TEST(Secret, BytesStartAsZerosAndCanBeWritten) {
  SecretBytes bytes(3);
  EXPECT_TRUE(std::ranges::all_of(bytes.reveal(), [](std::byte b) { return b == std::byte{0}; }));
  bytes.writable()[1] = std::byte{7};
  EXPECT_EQ(bytes.reveal()[1], std::byte{7});
  EXPECT_TRUE(SecretBytes(0).empty());
}

TEST(SecretDeathTest, ReadingBehindTheEndKillsTheProcess) {
  const SecretBytes bytes(16);
  const auto* end = bytes.reveal().data() + bytes.size();
  EXPECT_DEATH({ [[maybe_unused]] volatile auto stolen = *reinterpret_cast<const volatile char*>(end); }, "");
}

TEST(Secret, WipingAStringClearsAlsoWhatALongerValueLeftBehindItsEnd) {
  std::string text(100, 's');
  text.resize(3);
  const char* memory = text.data();
  const auto capacity = text.capacity();
  wipe(text);
  EXPECT_TRUE(text.empty());
  ASSERT_EQ(text.data(), memory);
  EXPECT_TRUE(std::all_of(memory, memory + capacity, [](char c) { return c == 0; }));
}

TEST(Random, FillsWithBytesThatDifferAndCanBeReadiedFromManyThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([] { initialise(); });
  for (auto& thread : threads) thread.join();
  SystemRandom random;
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(random.u64());
  EXPECT_EQ(seen.size(), 1000u);
  random.fill({});
  wipe(std::span<std::byte>());
}

}  // namespace
}  // namespace presetbridge::crypto

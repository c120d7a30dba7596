#include "net/ip_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace presetbridge::net {

namespace {

struct Range {
  std::array<std::uint8_t, 16> base;
  int bits;
};

bool within(const std::array<std::uint8_t, 16>& address, const Range& range) {
  const auto bytes = static_cast<std::size_t>(range.bits / 8);
  if (!std::equal(address.begin(), address.begin() + bytes, range.base.begin())) return false;
  const int more_bits = range.bits % 8;
  if (more_bits == 0) return true;
  const auto mask = static_cast<std::uint8_t>(0xff << (8 - more_bits));
  return (address[bytes] & mask) == (range.base[bytes] & mask);
}

constexpr Range kMappedV4 = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96};
constexpr Range kSpecialV4[] = {
    {{0}, 8},              // this network
    {{10}, 8},             // private
    {{100, 64}, 10},       // shared address space of carriers
    {{127}, 8},            // loopback
    {{169, 254}, 16},      // link-local, and with it the metadata services of clouds
    {{172, 16}, 12},       // private
    {{192, 0, 0}, 24},     // protocol assignments
    {{192, 0, 2}, 24},     // documentation
    {{192, 31, 196}, 24},  // AS112
    {{192, 52, 193}, 24},  // AMT
    {{192, 88, 99}, 24},   // 6to4 relays, withdrawn
    {{192, 168}, 16},      // private
    {{192, 175, 48}, 24},  // AS112
    {{198, 18}, 15},       // benchmarking
    {{198, 51, 100}, 24},  // documentation
    {{203, 0, 113}, 24},   // documentation
    {{224}, 4},            // multicast
    {{240}, 4},            // reserved, broadcast
};

// Hosts of the public internet have addresses in 2000::/3 only.
constexpr Range kGlobalV6 = {{0x20}, 3};
constexpr Range kSpecialV6[] = {
    {{0x20, 0x01, 0x00}, 23},                    // protocol assignments: Teredo, benchmarking, ORCHID
    {{0x20, 0x01, 0x0d, 0xb8}, 32},              // documentation
    {{0x20, 0x02}, 16},                          // 6to4
    {{0x26, 0x20, 0x00, 0x4f, 0x80, 0x00}, 48},  // AS112
    {{0x3f, 0xff, 0x00}, 20},                    // documentation
};

}  // namespace

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
  if (text.size() > 45 || text.find('\0') != text.npos) return std::nullopt;
  const std::string terminated(text);
  IpAddress out;
  if (inet_pton(AF_INET, terminated.c_str(), out.bytes_.data()) == 1) return out;
  out.v4_ = false;
  if (inet_pton(AF_INET6, terminated.c_str(), out.bytes_.data()) == 1) return out;
  return std::nullopt;
}

std::optional<IpAddress> IpAddress::from_sockaddr(const sockaddr& address) {
  IpAddress out;
  if (address.sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &address, sizeof v4);
    std::memcpy(out.bytes_.data(), &v4.sin_addr, 4);
    return out;
  }
  if (address.sa_family != AF_INET6) return std::nullopt;
  sockaddr_in6 v6{};
  std::memcpy(&v6, &address, sizeof v6);
  std::memcpy(out.bytes_.data(), &v6.sin6_addr, 16);
  out.v4_ = false;
  return out;
}

IpAddress IpAddress::v4(std::array<std::uint8_t, 4> bytes) {
  IpAddress out;
  std::ranges::copy(bytes, out.bytes_.begin());
  return out;
}

IpAddress IpAddress::v6(std::array<std::uint8_t, 16> bytes) {
  IpAddress out;
  out.v4_ = false;
  out.bytes_ = bytes;
  return out;
}

bool IpAddress::is_public() const {
  const auto inside = [this](const Range& range) { return within(bytes_, range); };
  if (v4_) return std::ranges::none_of(kSpecialV4, inside);
  return inside(kGlobalV6) && std::ranges::none_of(kSpecialV6, inside);
}

bool IpAddress::is_loopback() const {
  if (v4_) return bytes_[0] == 127;
  return std::all_of(bytes_.begin(), bytes_.end() - 1, [](auto b) { return b == 0; }) && bytes_[15] == 1;
}

IpAddress IpAddress::unmapped() const {
  if (v4_ || !within(bytes_, kMappedV4)) return *this;
  return v4({bytes_[12], bytes_[13], bytes_[14], bytes_[15]});
}

IpAddress IpAddress::network(int bits) const {
  IpAddress out = *this;
  for (std::size_t i = 0; i < out.bytes_.size(); ++i) {
    const int bits_here = std::clamp(bits - static_cast<int>(i) * 8, 0, 8);
    out.bytes_[i] &= static_cast<std::uint8_t>(0xff << (8 - bits_here));
  }
  return out;
}

std::string IpAddress::to_string() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(v4_ ? AF_INET : AF_INET6, bytes_.data(), text.data(), text.size());
  return text.data();
}

std::optional<IpNetwork> IpNetwork::parse(std::string_view text) {
  const auto slash = text.find('/');
  const auto base = IpAddress::parse(text.substr(0, slash));
  if (!base) return std::nullopt;
  const int max_bits = base->is_v4() ? 32 : 128;
  if (slash == text.npos) return IpNetwork(*base, max_bits);
  const auto digits = text.substr(slash + 1);
  int bits = -1;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
  if (problem != std::errc{} || end != digits.data() + digits.size() || bits < 0 || bits > max_bits)
    return std::nullopt;
  if (base->network(bits) != *base) return std::nullopt;
  return IpNetwork(*base, bits);
}

bool IpNetwork::contains(const IpAddress& address) const {
  return address.is_v4() == base_.is_v4() && address.network(bits_) == base_;
}

}  // namespace presetbridge::net

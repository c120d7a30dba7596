// An IPv4 or IPv6 address and what sort of address it is. Pure.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace presetbridge::net {

class IpAddress {
 public:
  // Only the plain forms, "192.0.2.1" and "2001:db8::1": no octal, no hexadecimal, no zone.
  static std::optional<IpAddress> parse(std::string_view text);
  // Nothing for any other family than AF_INET and AF_INET6.
  static std::optional<IpAddress> from_sockaddr(const sockaddr& address);
  static IpAddress v4(std::array<std::uint8_t, 4> bytes);
  static IpAddress v6(std::array<std::uint8_t, 16> bytes);

  bool is_v4() const { return v4_; }
  // True for a host of the public internet: in none of the ranges of the IANA special-purpose registries (RFC
  // 6890), not multicast, not reserved, and not an IPv6 form that carries an IPv4 address inside (mapped,
  // compatible, translated, 6to4, Teredo).
  bool is_public() const;
  // 127.0.0.0/8 and ::1, and nothing else.
  bool is_loopback() const;
  // The IPv4 address that an IPv6 socket shows as ::ffff:192.0.2.1; any other address is itself.
  IpAddress unmapped() const;
  // Of its bits only the first `bits` (0 to 32, or to 128); the rest 0.
  IpAddress network(int bits) const;
  std::string to_string() const;
  bool operator==(const IpAddress&) const = default;
  auto operator<=>(const IpAddress&) const = default;

 private:
  std::array<std::uint8_t, 16> bytes_{};  // an IPv4 address takes the first four
  bool v4_ = true;
};

// "10.0.0.0/8", "2001:db8::/32", or one address.
class IpNetwork {
 public:
  // Nothing if bits are set behind the prefix: whoever wrote that meant another network.
  static std::optional<IpNetwork> parse(std::string_view text);
  bool contains(const IpAddress& address) const;

 private:
  IpNetwork(IpAddress base, int bits) : base_(base), bits_(bits) {}
  IpAddress base_;
  int bits_;
};

}  // namespace presetbridge::net

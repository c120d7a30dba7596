#include "net/client_address.h"

#include <algorithm>
#include <ranges>
#include <string_view>

namespace presetbridge::net {
namespace {

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// "192.0.2.1", "2001:db8::1", and both with a port as some proxies write them: "192.0.2.1:1234",
// "[2001:db8::1]:1234".
std::optional<IpAddress> parse_entry(std::string_view text) {
  if (text.starts_with('[')) {
    text = text.substr(1, text.find(']') - 1);
  } else if (std::ranges::count(text, ':') == 1) {
    text = text.substr(0, text.find(':'));
  }
  auto address = IpAddress::parse(text);
  return address ? std::optional(address->unmapped()) : std::nullopt;
}

bool is_one_of(const std::vector<IpNetwork>& proxies, const IpAddress& address) {
  return std::ranges::any_of(proxies, [&](const IpNetwork& one) { return one.contains(address); });
}

}  // namespace

std::optional<IpAddress> client_address(const HttpRequest& request, const std::vector<IpNetwork>& proxies) {
  const auto peer = IpAddress::parse(request.remote_address);
  if (!peer) return std::nullopt;
  auto known = peer->unmapped();
  const auto fields = request.headers.all("X-Forwarded-For");
  for (std::string_view rest : fields | std::views::reverse) {
    while (true) {
      if (!is_one_of(proxies, known)) return known;
      const auto comma = rest.rfind(',');
      const auto entry = parse_entry(trim(comma == rest.npos ? rest : rest.substr(comma + 1)));
      if (!entry) return known;
      known = *entry;
      if (comma == rest.npos) break;
      rest = rest.substr(0, comma);
    }
  }
  return known;
}

IpAddress client_network(const IpAddress& address) {
  return address.is_v4() ? address : address.network(64);
}

Caller caller_of(const HttpRequest& request, const std::vector<IpNetwork>& proxies) {
  const auto address = client_address(request, proxies);
  if (!address) return {};
  return {client_network(*address).to_string(), address->is_loopback() || is_one_of(proxies, *address)};
}

}  // namespace presetbridge::net

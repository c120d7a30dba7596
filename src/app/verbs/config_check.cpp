// The checks of a configuration (spec 12.1).
#include "app/config/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <charconv>

#include "app/config/external_issuers.h"
#include "app/config/mail_options.h"
#include "base/split.h"
#include "base/utf8.h"
#include "domain/credit_pack.h"
#include "net/ip_address.h"
#include "storage/postgres/postgres_database.h"

namespace presetbridge::app {
namespace {

bool is_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc{} && end == text.data() + text.size() && port > 0;
}

bool is_base_url(std::string_view url) {
  const auto rest = url.starts_with("https://")  ? url.substr(8)
                    : url.starts_with("http://") ? url.substr(7)
                                                 : std::string_view();
  auto host = rest.substr(0, rest.find('/'));
  const auto colon = host.find(':', host.starts_with('[') ? std::min(host.find(']'), host.size()) : 0);
  if (colon != std::string_view::npos) {
    if (!is_port(host.substr(colon + 1))) return false;
    host = host.substr(0, colon);
  }
  if (host.starts_with('[') != host.ends_with(']')) return false;
  return !host.empty() && url.size() <= 1'000 && !rest.ends_with('/') &&
         std::ranges::all_of(
             rest, [](char c) { return c > ' ' && c < '\x7f' && c != '@' && c != '?' && c != '#'; });
}

constexpr std::array<std::string_view, 3> kRoles = {"api", "worker", "dispatcher"};

void check_database_url(const Config& config, const auto& wrong) {
  const auto& url = config.database_url;
  if (!url.starts_with("postgresql://") && !url.starts_with("postgres://"))
    return wrong("database_url", "must begin with postgresql://");
  if (const auto problem = storage::problem_of_postgres_url(url); !problem.empty())
    wrong("database_url", problem);
  if (config.base_url.empty() && config.identity_issuer.empty())
    wrong("base_url", "is needed with database_url: people are known by it, the same on all nodes");
}

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size()))
    ++count;
  return count;
}

// Whether listening there lets others in: a public address, or all of the machine's.
bool others_reach(const std::string& address) {
  const auto ip = net::IpAddress::parse(address);
  return !ip || ip->is_public() || address == "0.0.0.0" || address == "::";
}

// The problem of an endpoint's path at the cloud platform (spec 4.1); empty: none.
std::string problem_of_path(std::string_view path, std::string_view placeholders) {
  if (!path.starts_with('/')) return "must begin with a slash";
  const auto needed = split(placeholders, ' ');
  const bool each_once = std::ranges::all_of(needed, [&](const auto& p) { return count_of(path, p) == 1; });
  if (each_once && count_of(path, "{") == needed.size() && count_of(path, "}") == needed.size()) return {};
  if (needed.empty()) return "must have no placeholder";
  return fmt::format("must have {} once, and no other placeholder", fmt::join(needed, " and "));
}

// Plain HTTP is for this machine alone.
bool is_processor_url(std::string_view url) {
  if (url.starts_with("https://")) return is_base_url(url);
  const auto rest = url.starts_with("http://") ? url.substr(7) : std::string_view();
  const bool here = std::ranges::any_of(
      std::array<std::string_view, 3>{"127.0.0.1", "[::1]", "localhost"},
      [&](std::string_view host) { return rest == host || rest.starts_with(std::string(host) + ":"); });
  return here && is_base_url(url);
}

constexpr std::size_t kMostPacks = 20;

void check_packs(const Config& config, const auto& wrong) {
  if (config.credits_packs.size() > kMostPacks)
    wrong("credits.packs", fmt::format("must be {} at most", kMostPacks));
  std::vector<std::string> ids;
  for (const auto& text : config.credits_packs) {
    const auto pack = domain::parse_credit_pack(text);
    if (!pack) {
      wrong("credits.packs", fmt::format("{}: {:?}", pack.error(), text.substr(0, 60)));
    } else if (std::ranges::find(ids, pack->id) != ids.end()) {
      wrong("credits.packs", fmt::format("must have each id once; not {}", pack->id));
    } else {
      ids.push_back(pack->id);
    }
  }
}

}  // namespace

std::vector<FieldProblem> check_config(const Config& config) {
  std::vector<FieldProblem> problems;
  const auto wrong = [&](std::string_view key, std::string what) {
    problems.push_back({std::string(key), std::move(what)});
  };
  for (const auto& setting : settings()) {
    bool writable = true;  // to a TOML file, which holds UTF-8 only
    if (const auto* text = std::get_if<std::string Config::*>(&setting.member))
      writable = is_utf8(config.*(*text));
    if (const auto* list = std::get_if<std::vector<std::string> Config::*>(&setting.member))
      writable = std::ranges::all_of(config.*(*list), is_utf8);
    if (!writable) wrong(setting.key, "must be UTF-8");
    if (writable && setting.key.starts_with("cloud.") && setting.key.ends_with("_path")) {
      const auto& path = config.*std::get<std::string Config::*>(setting.member);
      if (auto problem = problem_of_path(path, setting.placeholders); !problem.empty())
        wrong(setting.key, std::move(problem));
    }
    if (setting.choices.empty()) continue;
    const auto allowed = split(setting.choices, ' ');
    const auto& value = config.*std::get<std::string Config::*>(setting.member);
    if (std::ranges::find(allowed, value) == allowed.end())
      wrong(setting.key, fmt::format("must be one of: {}", setting.choices));
  }
  constexpr std::string_view kUrl =
      "must be http:// or https:// and a host, without password, query or slash at its end";
  const auto listen = parse_listen(config.listen);
  if (!listen) wrong("listen", "must be a numeric address and a port, as in 127.0.0.1:8080");
  if (config.sandbox && listen && others_reach(listen->address))
    wrong("sandbox", "is not for a public address: listen on 127.0.0.1 or a private one");
  if (!config.base_url.empty() && !is_base_url(config.base_url)) wrong("base_url", std::string(kUrl));
  if (config.cloud_url.empty()) {
    wrong("cloud.url",
          "is needed: the address of the cloud platform; for a trial, --sandbox takes cloudsim's usual "
          "address");
  } else if (!is_base_url(config.cloud_url)) {
    wrong("cloud.url", std::string(kUrl));
  }
  for (const auto& [key, url] :
       {std::pair{"cloud.friend_requests_url", &config.cloud_friend_requests_url},
        std::pair{"cloud.app_url", &config.cloud_app_url}, std::pair{"support_url", &config.support_url}}) {
    if (!url->empty() && !is_base_url(*url)) wrong(key, std::string(kUrl));
  }
  if (config.cloud_name.empty() || config.cloud_name.size() > 100)
    wrong("cloud.name", "must be 1 to 100 bytes long");
  if (!config.identity_issuer.empty() && !is_base_url(config.identity_issuer))
    wrong("identity.issuer", std::string(kUrl));
  for (const auto& trusted : config.identity_trusted) {
    const auto words = split(trusted, ' ');
    if (words.size() != 2 ||
        !is_base_url(words[0].ends_with('/') ? words[0].substr(0, words[0].size() - 1) : words[0]))
      wrong("identity.trusted",
            "must be an issuer's URL and, after a space, the audience that its tokens are for");
  }
  std::vector<std::string> names;
  for (const auto& external : config.identity_external) {
    const auto issuer = parse_external_issuer(external);
    if (!issuer) {
      wrong("identity.external", issuer.error());
      continue;
    }
    const auto& iss = issuer->iss;
    if (!is_base_url(iss.ends_with('/') ? iss.substr(0, iss.size() - 1) : iss))
      wrong("identity.external", "must have the issuer's URL as third word");
    if (std::ranges::find(names, issuer->id) != names.end())
      wrong("identity.external", "must name each issuer otherwise");
    names.push_back(issuer->id);
  }
  if (!config.identity_passwords && config.identity_external.empty() && config.identity_trusted.empty())
    wrong("identity.passwords", "must be true, as there is no other issuer to sign in with");
  for (const auto& proxy : config.http_trusted_proxies) {
    if (!net::IpNetwork::parse(proxy))
      wrong("http.trusted_proxies", "must be numeric addresses, or networks like 10.0.0.0/8");
  }
  if (!is_processor_url(config.payments_url))
    wrong("payments.url",
          "must be https:// and a host, or http:// and this machine, without a slash at its end");
  check_packs(config, wrong);
  for (auto& problem : check_mail(config)) problems.push_back(std::move(problem));
  if (config.data_dir.empty()) wrong("data_dir", "is needed");
  if (!config.database_url.empty()) check_database_url(config, wrong);
  constexpr std::string_view kNeedsRoles = "must be one or more of: api, worker, dispatcher";
  const auto unknown = std::ranges::find_if_not(
      config.roles, [](const auto& role) { return std::ranges::find(kRoles, role) != kRoles.end(); });
  if (config.roles.empty()) wrong("roles", std::string(kNeedsRoles));
  if (unknown != config.roles.end()) wrong("roles", fmt::format("{}; not {}", kNeedsRoles, *unknown));
  if (config.delivery_lease_seconds < config.cloud_timeout_seconds + 10)
    wrong("delivery.lease_seconds", "must be at least 10 more than cloud.timeout_seconds");
  return problems;
}

}  // namespace presetbridge::app

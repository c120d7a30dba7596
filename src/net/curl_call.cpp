#include "net/curl_call.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <tuple>

#include "base/ascii.h"
#include "net/http.h"

namespace presetbridge::net {

namespace {

constexpr std::size_t kLongestAnswerHeader = 64 * 1024;
constexpr std::size_t kMostAddresses = 8;
constexpr long kLongestIdleS = 20;  // seconds; shorter than servers wait, so that few die under a request

bool short_token(std::string_view text) {
  return text.size() <= 256 && is_token(text);
}

bool breaks_lines(char c) {
  return c == '\r' || c == '\n' || c == '\0';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && std::string_view(" \t\r\n").contains(text.back())) text.remove_suffix(1);
  return text;
}

bool is_tls_failure(CURLcode code) {
  switch (code) {
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_ENGINE_NOTFOUND:
    case CURLE_SSL_ENGINE_INITFAILED:
      return true;
    default:
      return false;
  }
}

void append(CurlList& list, const std::string& line) {
  curl_slist* longer = curl_slist_append(list.get(), line.c_str());
  if (longer == nullptr) throw std::bad_alloc();
  std::ignore = list.release();  // `longer` owns its entries now
  list.reset(longer);
}

template <class Value>
void set(CURL* easy, CURLoption option, Value value) {
  // Every option used here exists in the libcurl that is linked, so what remains is a lack of memory.
  if (curl_easy_setopt(easy, option, value) != CURLE_OK) throw std::bad_alloc();
}

}  // namespace

std::optional<HttpFailure> CurlCall::check() {
  auto checked = check_url(request.url, request.policy);
  if (!checked) return checked.error();
  url = std::move(*checked);
  host_key = url.host + ':' + std::to_string(url.port);
  const auto invalid = [](const char* why) { return HttpFailure{HttpFailure::Kind::invalid, why}; };
  if (!short_token(request.method)) return invalid("the method is not a token");
  if (request.method == "HEAD" && !request.body.empty()) return invalid("HEAD has no body");
  for (const auto& [name, value] : request.headers) {
    if (!short_token(name)) return invalid("a header field's name is not a token");
    if (std::ranges::any_of(value, breaks_lines))
      return invalid("a header field's value holds CR, LF or NUL");
    if (same_field_name(name, "content-length") || same_field_name(name, "transfer-encoding")) {
      return invalid("a header field would change the framing of the request");
    }
  }
  return std::nullopt;
}

void CurlCall::prepare(CurlEasy handle, const Addresses& pinned, Millis remaining,
                       const CurlClientOptions& options) {
  easy = std::move(handle);
  CURL* curl = easy.get();
  set(curl, CURLOPT_PRIVATE, static_cast<void*>(this));
  set(curl, CURLOPT_ERRORBUFFER, error_.data());
  set(curl, CURLOPT_NOSIGNAL, 1L);
  set(curl, CURLOPT_URL, request.url.c_str());
  set(curl, CURLOPT_PROTOCOLS_STR, url.https ? "https" : "http");
  set(curl, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
  set(curl, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(curl, CURLOPT_FOLLOWLOCATION, 0L);
  set(curl, CURLOPT_PROXY, "");  // the empty string also keeps http_proxy of the environment out
  set(curl, CURLOPT_USERAGENT, options.user_agent.c_str());
  set(curl, CURLOPT_TIMEOUT_MS, std::max<long>(1, static_cast<long>(remaining.count())));
  set(curl, CURLOPT_MAXAGE_CONN, kLongestIdleS);
  set(curl, CURLOPT_QUICK_EXIT, 1L);
  set(curl, CURLOPT_SSL_VERIFYPEER, 1L);
  set(curl, CURLOPT_SSL_VERIFYHOST, 2L);
  set(curl, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  // Without a directory of authorities libcurl parses their file once, not at each connection.
  set(curl, CURLOPT_CAPATH, static_cast<const char*>(nullptr));
  if (!options.ca_file.empty()) set(curl, CURLOPT_CAINFO, options.ca_file.c_str());

  set(curl, CURLOPT_OPENSOCKETFUNCTION, &CurlCall::on_open_socket);
  set(curl, CURLOPT_OPENSOCKETDATA, static_cast<void*>(this));
  set(curl, CURLOPT_PREREQFUNCTION, &CurlCall::on_request);
  set(curl, CURLOPT_PREREQDATA, static_cast<void*>(this));
  set(curl, CURLOPT_HEADERFUNCTION, &CurlCall::on_header);
  set(curl, CURLOPT_HEADERDATA, static_cast<void*>(this));
  set(curl, CURLOPT_WRITEFUNCTION, &CurlCall::on_body);
  set(curl, CURLOPT_WRITEDATA, static_cast<void*>(this));

  if (!pinned.empty()) {
    std::string pin = '+' + host_key + ':';
    for (std::size_t i = 0; i < std::min(pinned.size(), kMostAddresses); ++i) {
      if (i > 0) pin += ',';
      pin += pinned[i].is_v4() ? pinned[i].to_string() : '[' + pinned[i].to_string() + ']';
    }
    append(pins_, pin);
    set(curl, CURLOPT_RESOLVE, pins_.get());
  }

  const bool has_body = !request.body.empty() || request.method == "POST" || request.method == "PUT" ||
                        request.method == "PATCH";
  if (has_body) {
    set(curl, CURLOPT_POST, 1L);
    set(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    set(curl, CURLOPT_POSTFIELDS, request.body.data());
  } else if (request.method == "HEAD") {
    set(curl, CURLOPT_NOBODY, 1L);
  } else {
    set(curl, CURLOPT_HTTPGET, 1L);
  }
  set(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());

  bool typed = false;
  for (const auto& [name, value] : request.headers) {
    typed = typed || same_field_name(name, "content-type");
    const bool blank = value.find_first_not_of(" \t") == std::string::npos;
    append(headers_,
           blank ? name + ';' : fmt::format("{}: {}", name, value));  // "name:" would remove a field
  }
  append(headers_, "Expect:");                                // no waiting for 100 Continue
  if (has_body && !typed) append(headers_, "Content-Type:");  // libcurl would claim a form
  set(curl, CURLOPT_HTTPHEADER, headers_.get());
}

void CurlCall::conclude(CURLcode code) {
  using enum HttpFailure::Kind;
  const bool cut = code == CURLE_WRITE_ERROR && answer_.truncated;  // by on_body()
  if (code == CURLE_OK || cut) {
    long status = 0;
    curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &status);
    if (status > 0) {
      answer_.status = static_cast<int>(status);
      result.outcome = std::move(answer_);
      return;
    }
  }
  const std::string why = error_[0] != '\0' ? error_.data() : curl_easy_strerror(code);
  if (sent_) {
    if (code == CURLE_OPERATION_TIMEDOUT) return fail(timeout, why);
    if (code == CURLE_ABORTED_BY_CALLBACK) return fail(lost, "the reused connection broke before an answer");
    return fail(lost, why);
  }
  if (denied_) return fail(denied, "the host has an address that may not be called");
  if (code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL) return fail(invalid, why);
  if (code == CURLE_COULDNT_RESOLVE_HOST) return fail(unresolved, why);
  fail(is_tls_failure(code) ? tls : connect, why);
}

std::size_t CurlCall::on_header(char* data, std::size_t, std::size_t size, void* self) {
  auto& call = *static_cast<CurlCall*>(self);
  call.header_bytes_ += size;
  if (call.header_bytes_ > kLongestAnswerHeader) return 0;
  const std::string_view line(data, size);
  if (line.starts_with("HTTP/")) {
    call.answer_.headers.clear();  // those before were an interim answer's
    return size;
  }
  const std::size_t colon = line.find(':');
  if (colon == line.npos) return size;
  call.answer_.headers.emplace_back(lowered(trimmed(line.substr(0, colon))), trimmed(line.substr(colon + 1)));
  return size;
}

std::size_t CurlCall::on_body(char* data, std::size_t, std::size_t size, void* self) {
  auto& call = *static_cast<CurlCall*>(self);
  std::string& body = call.answer_.body;
  const std::size_t room = call.request.max_answer_bytes - body.size();
  body.append(data, std::min(room, size));
  if (size <= room) return size;
  call.answer_.truncated = true;
  return CURL_WRITEFUNC_ERROR;
}

int CurlCall::on_request(void* self, char*, char*, int, int) {
  auto& call = *static_cast<CurlCall*>(self);
  // libcurl would repeat the request on a new connection, though the first one may have had its effect.
  if (call.sent_) return CURL_PREREQFUNC_ABORT;
  call.sent_ = true;
  return CURL_PREREQFUNC_OK;
}

curl_socket_t CurlCall::on_open_socket(void* self, curlsocktype, curl_sockaddr* address) {
  auto& call = *static_cast<CurlCall*>(self);
  const auto ip = IpAddress::from_sockaddr(address->addr);
  if (!ip || !address_allowed(call.request.policy, call.url.https, *ip)) {
    call.denied_ = true;
    return CURL_SOCKET_BAD;
  }
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, address->protocol);
}

}  // namespace presetbridge::net

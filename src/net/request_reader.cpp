#include "net/request_reader.h"

#include <algorithm>
#include <string>

namespace presetbridge::net {

namespace http = boost::beast::http;

namespace {

constexpr Refusal kMalformed{400, "BAD_REQUEST", "The request is not well-formed HTTP/1.1."};
constexpr Refusal kAmbiguousLength{400, "BAD_REQUEST", "The length of the request's body is ambiguous."};
constexpr Refusal kBadHost{400, "BAD_REQUEST", "The request must have one Host field."};
constexpr Refusal kBadTarget{400, "BAD_REQUEST", "The request's target is not a path."};
constexpr Refusal kBadExpectation{417, "EXPECTATION_FAILED",
                                  "The server meets no expectation but 100-continue."};
constexpr Refusal kBadEncoding{501, "NOT_IMPLEMENTED", "The only transfer coding is chunked."};
constexpr Refusal kFoldedField{400, "BAD_REQUEST", "A header field must not go on in another line."};
constexpr Refusal kBadVersion{505, "HTTP_VERSION_NOT_SUPPORTED", "The server speaks HTTP/1.1."};
constexpr Refusal kLargeHeader{431, "HEADERS_TOO_LARGE", "The request's header is too large."};

constexpr int kMaxEmptyLines = 4;
constexpr std::size_t kShortestChunkedEnd = std::string_view("0\r\n\r\n").size();

// Beast joins the lines of a folded field; RFC 9112, 5.2 has a server refuse it.
bool has_folded_field(std::string_view fields) {
  return fields.contains("\r\n ") || fields.contains("\r\n\t");
}

// The version at the end of a request line: "HTTP/", a digit, a point, a digit and the line's end.
struct Version {
  char major;
  char minor;
};
std::optional<Version> version_of(std::string_view line) {
  constexpr std::string_view form = " HTTP/1.1\r\n";
  constexpr std::size_t major = 6, minor = 8;
  if (line.size() < form.size()) return std::nullopt;
  const auto end = line.substr(line.size() - form.size());
  for (std::size_t i = 0; i < form.size(); ++i) {
    const bool digit = i == major || i == minor;
    if (digit ? end[i] < '0' || end[i] > '9' : end[i] != form[i]) return std::nullopt;
  }
  return Version{end[major], end[minor]};
}

}  // namespace

RequestReader::RequestReader(const RequestLimits& limits) : limits_(limits) {
  header_limit(static_cast<std::uint32_t>(limits.header_bytes));
  body_limit(boost::none);  // a body over our limit is the handler's to answer, not an error of parsing
}

RequestReader::Progress RequestReader::read_line(std::string_view bytes) {
  Progress progress;
  for (; bytes.starts_with("\r\n") && empty_lines_ < kMaxEmptyLines; ++empty_lines_) {
    bytes.remove_prefix(2);
    progress.consumed += 2;
  }
  if (bytes.empty() || bytes == "\r") return progress;
  const auto end = bytes.find('\n', line_bytes_);
  if (end == bytes.npos) {
    line_bytes_ = bytes.size();
    if (bytes.front() <= ' ' || bytes.front() >= 0x7f) progress.refusal = kMalformed;
    if (bytes.size() >= limits_.header_bytes) progress.refusal = kLargeHeader;
    return progress;
  }
  std::string_view line = bytes.substr(0, end + 1);
  std::string as_own;
  if (const auto version = version_of(line)) {
    if (version->major != '1') {
      progress.refusal = kBadVersion;
      return progress;
    }
    if (version->minor > '1') {
      as_own = line;
      as_own[as_own.size() - 3] = '1';
      line = as_own;
    }
  }
  error_code error;
  const std::size_t used = put(boost::asio::const_buffer(line.data(), line.size()), error);
  progress.consumed += used;
  header_bytes_ = used;
  if (error == http::error::header_limit || used > limits_.header_bytes) {
    progress.refusal = kLargeHeader;
  } else if (used < line.size() || error != http::error::need_more) {
    progress.refusal = kMalformed;
  }
  return progress;
}

RequestReader::Progress RequestReader::read(std::string_view bytes) {
  Progress progress;
  if (!begun()) {
    progress = read_line(bytes);
    if (progress.refusal || !begun()) return progress;
  }
  while (!complete() && progress.consumed < bytes.size()) {
    const bool in_header = !header_done_;
    const std::string_view rest = bytes.substr(progress.consumed);
    // Beast 1.81 aborts on fewer bytes once it has seen that a chunk is the last one (boostorg/beast#2861).
    if (!in_header && chunked() && rest.starts_with('0') && rest.size() < kShortestChunkedEnd)
      return progress;
    error_code error;
    const std::size_t used = put(boost::asio::const_buffer(rest.data(), rest.size()), error);
    progress.consumed += used;
    if (in_header) header_bytes_ += used;
    const bool fields = in_header || (chunked() && is_done());  // the trailer comes in the last piece, whole
    if (fields && has_folded_field(rest.substr(0, used))) {
      progress.refusal = kFoldedField;
    } else if (refusal_) {
      progress.refusal = refusal_;
    } else if (request_.body_too_large) {
      return progress;
    } else if (error == http::error::need_more) {
      const std::size_t waiting = rest.size() - used;
      // In a body, only the line of a chunk and the trailer wait for more; they have the header's limit.
      if (waiting + (in_header ? header_bytes_ : 0) >= limits_.header_bytes) progress.refusal = kLargeHeader;
    } else if (error == http::error::header_limit ||
               (!error && in_header && header_bytes_ > limits_.header_bytes)) {
      progress.refusal = kLargeHeader;
    } else if (error == http::error::bad_transfer_encoding || error == http::error::bad_content_length ||
               error == http::error::multiple_content_length) {
      progress.refusal = kAmbiguousLength;
    } else if (error) {
      progress.refusal = kMalformed;
    }
    if (progress.refusal || error) return progress;
    if (in_header && header_done_) return progress;
  }
  return progress;
}

std::size_t RequestReader::body_left() const {
  const auto left = content_length_remaining();
  return left ? static_cast<std::size_t>(*left) : 0;
}

void RequestReader::refuse(error_code& error, Refusal why) {
  refusal_ = why;
  error = http::error::bad_value;  // any error: it only has to end the parsing
}

void RequestReader::on_request_impl(http::verb, text method, text target, int version, error_code&) {
  request_.method = method;
  request_.target = target;
  http11_ = version == 11;
}

void RequestReader::on_field_impl(http::field, text name, text value, error_code& error) {
  if (++fields_ > limits_.header_fields) return refuse(error, kLargeHeader);
  if (!header_done_) request_.headers.add(name, value);  // else a trailer, of which nothing is used
}

void RequestReader::on_header_impl(error_code& error) {
  header_done_ = true;
  if (const auto refusal = judge_header()) return refuse(error, *refusal);
  const auto length = content_length();
  if (length && *length > limits_.body_bytes) too_large();
}

std::optional<Refusal> RequestReader::judge_header() {
  const Headers& headers = request_.headers;
  const std::size_t lengths = headers.count("content-length");
  const std::size_t encodings = headers.count("transfer-encoding");
  if (lengths + encodings > 1) return kAmbiguousLength;
  if (lengths == 1 &&
      !std::ranges::all_of(*headers.get("content-length"), [](char c) { return c >= '0' && c <= '9'; })) {
    return kAmbiguousLength;
  }
  if (encodings == 1) {
    if (!http11_) return kAmbiguousLength;
    if (!same_field_name(*headers.get("transfer-encoding"), "chunked")) return kBadEncoding;
  }
  const std::size_t hosts = headers.count("host");
  if (hosts > 1 || (http11_ && hosts == 0)) return kBadHost;
  if (const auto expected = headers.get("expect"); expected && http11_) {
    if (!same_field_name(*expected, "100-continue")) return kBadExpectation;
    expects_continue_ = encodings == 1 || content_length().value_or(0) > 0;
  }
  return read_target();
}

std::optional<Refusal> RequestReader::read_target() {
  std::string_view target = request_.target;
  const bool options = request_.method == "OPTIONS";
  // The absolute form, which a server must accept and only proxies send.
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (target.size() > scheme.size() && same_field_name(target.substr(0, scheme.size()), scheme)) {
      const std::size_t slash = target.find_first_of("/?", scheme.size());
      // Without a path, OPTIONS asks of the whole server (RFC 9112, 3.2.4).
      target = slash != target.npos ? target.substr(slash) : std::string_view(options ? "*" : "/");
      break;
    }
  }
  const std::size_t mark = target.find('?');
  request_.path = target.substr(0, mark);
  if (mark != target.npos) request_.query = target.substr(mark + 1);
  const bool whole_server = options && target == "*";
  if (!whole_server && !request_.path.starts_with('/')) return kBadTarget;
  return std::nullopt;
}

void RequestReader::too_large() {
  request_.body_too_large = true;
  request_.body_limit = limits_.body_bytes;
}

void RequestReader::on_body_init_impl(const boost::optional<std::uint64_t>& length, error_code&) {
  if (length) request_.body.reserve(static_cast<std::size_t>(*length));
}

std::size_t RequestReader::on_body_impl(text body, error_code& error) {
  if (body.size() > limits_.body_bytes - request_.body.size()) {
    too_large();
    request_.body = {};
    error = http::error::body_limit;
    return 0;
  }
  request_.body.append(body.data(), body.size());
  return body.size();
}

std::size_t RequestReader::on_chunk_body_impl(std::uint64_t, text body, error_code& error) {
  return on_body_impl(body, error);
}

}  // namespace presetbridge::net

#include "net/request_reader.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "require.h"

namespace {

using namespace presetbridge::net;

// Small, so that inputs of a few hundred bytes reach every limit.
constexpr RequestLimits kLimits{.header_bytes = 512, .header_fields = 8, .body_bytes = 64};

struct Outcome {
  std::vector<HttpRequest> requests;
  std::optional<Refusal> refusal;
};

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return c > 0x20 && c < 0x7f && !std::string_view("()<>@,;:\\\"/[]?={}").contains(static_cast<char>(c));
  });
}

// `head` is what was read for it up to the end of its header.
void require_head(std::string_view head, const HttpRequest& request) {
  for (int i = 0; i < 4 && head.starts_with("\r\n"); ++i) head.remove_prefix(2);
  REQUIRE(head.starts_with(request.method + ' ' + request.target + " HTTP/1."));
  REQUIRE(!head.contains("\r\n ") && !head.contains("\r\n\t"));
}

void require_request(const HttpRequest& request, bool http11) {
  REQUIRE(is_token(request.method));
  REQUIRE(std::ranges::all_of(request.target, [](unsigned char c) { return c > 0x20 && c != 0x7f; }));
  REQUIRE(request.path.starts_with('/') || (request.path == "*" && request.method == "OPTIONS"));
  REQUIRE(!request.path.contains('?'));
  if (request.target.starts_with('/')) {
    REQUIRE(request.target == request.path + (request.target.contains('?') ? "?" : "") + request.query);
  }
  std::size_t fields = 0;
  for (const auto& [name, value] : request.headers) {
    ++fields;
    REQUIRE(is_token(name));
    REQUIRE(value.find_first_of(std::string_view("\r\n\0", 3)) == value.npos);
  }
  REQUIRE(fields <= kLimits.header_fields);
  const auto& headers = request.headers;
  REQUIRE(headers.count("host") <= 1 && (headers.has("host") || !http11));
  // Only one of the two, and only once, may tell where the body ends.
  REQUIRE(headers.count("content-length") + headers.count("transfer-encoding") <= 1);
  REQUIRE(request.body.size() <= kLimits.body_bytes);
  if (request.body_too_large) {
    REQUIRE(request.body.empty());
  } else if (const auto length = headers.get("content-length")) {
    REQUIRE(std::stoull(std::string(*length)) == request.body.size());
  } else if (!headers.has("transfer-encoding")) {
    REQUIRE(request.body.empty());
  }
}

// The result of a connection that reads `bytes` in chunks of that size.
Outcome read_in_chunks(std::string_view bytes, std::size_t chunk) {
  Outcome out;
  auto reader = std::make_unique<RequestReader>(kLimits);
  std::string waiting;
  std::string head;
  while (true) {
    while (!waiting.empty()) {
      const bool in_header = !reader->header_read();
      const auto progress = reader->read(waiting);
      REQUIRE(progress.consumed <= waiting.size());
      if (in_header) head += waiting.substr(0, progress.consumed);
      waiting.erase(0, progress.consumed);
      if (progress.refusal) {
        out.refusal = progress.refusal;
        return out;
      }
      if (reader->complete()) {
        require_head(std::exchange(head, {}), reader->request());
        require_request(reader->request(), reader->http11());
        const bool more = reader->keep_alive();
        out.requests.push_back(std::move(reader->request()));
        if (!more) return out;
        reader = std::make_unique<RequestReader>(kLimits);
      } else if (!in_header || !reader->header_read()) {
        // What a peer can make us keep is bounded.
        REQUIRE(waiting.size() < kLimits.header_bytes);
        break;
      }
    }
    if (bytes.empty()) return out;
    waiting += bytes.substr(0, chunk);
    bytes.remove_prefix(std::min(chunk, bytes.size()));
  }
}

bool same(const HttpRequest& a, const HttpRequest& b) {
  return a.method == b.method && a.target == b.target && a.path == b.path && a.query == b.query &&
         a.body == b.body && a.body_too_large == b.body_too_large && std::ranges::equal(a.headers, b.headers);
}

bool large_header(const Outcome& outcome) {
  return outcome.refusal && outcome.refusal->status == 431;
}

auto whole_requests(const Outcome& outcome) {
  return std::ranges::count(outcome.requests, false, &HttpRequest::body_too_large);
}

}  // namespace

// Where a request ends, and what it says, is a matter of its bytes and not of how they arrived.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  const auto whole = read_in_chunks(bytes, std::max<std::size_t>(size, 1));
  for (const std::size_t chunk : {1, 7}) {
    const auto chunks = read_in_chunks(bytes, chunk);
    for (std::size_t i = 0; i < std::min(whole.requests.size(), chunks.requests.size()); ++i) {
      REQUIRE(same(whole.requests[i], chunks.requests[i]));
    }
    // The lines between chunks have a limit only while they wait for their end. Else only what was never
    // a whole request may be refused, or found too large, by one and still be waited for by the other.
    if (large_header(whole) || large_header(chunks)) continue;
    REQUIRE(whole_requests(whole) == whole_requests(chunks));
  }
  return 0;
}

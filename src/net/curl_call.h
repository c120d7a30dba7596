// Private to net/: one outgoing call as libcurl sees it: from an OutgoingRequest to a prepared handle, and
// from what libcurl said at the end to an HttpResult.
#pragma once

#include <curl/curl.h>

#include <array>
#include <chrono>
#include <coroutine>
#include <memory>
#include <optional>
#include <string>

#include "net/address_guard.h"
#include "net/call_queue.h"
#include "net/curl_client.h"
#include "net/http_client.h"
#include "net/resolver.h"

namespace presetbridge::net {

struct EasyDeleter {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct ListDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using CurlEasy = std::unique_ptr<CURL, EasyDeleter>;
using CurlList = std::unique_ptr<curl_slist, ListDeleter>;

// Lives in the coroutine that waits for it, from submission to completion; touched by the client's core alone
// in between.
class CurlCall {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;
  enum class Stage { resolving, queued, running };

  CurlCall(Executor& on, OutgoingRequest r) : executor(on), request(std::move(r)) {}
  CurlCall(const CurlCall&) = delete;
  CurlCall& operator=(const CurlCall&) = delete;

  // Reads the URL, method and header fields. Nothing, or why the call cannot be made.
  std::optional<HttpFailure> check();
  // Prepares `handle` to make the call within `remaining`, to one of `pinned` (which the policy allows).
  void prepare(CurlEasy handle, const Addresses& pinned, Millis remaining, const CurlClientOptions& options);
  // The result, from what libcurl ended with.
  void conclude(CURLcode code);
  void fail(HttpFailure::Kind kind, std::string message) {
    result.outcome = HttpFailure{kind, std::move(message)};
  }

  Executor& executor;
  OutgoingRequest request;
  std::coroutine_handle<> waiter;
  HttpResult result;
  SteadyTime begun;
  SteadyTime deadline;
  CallId id = 0;
  Stage stage = Stage::resolving;
  OutgoingUrl url;       // after check()
  std::string host_key;  // "host:port"
  Addresses addresses;   // where it may go, if the URL's host is a name
  CurlEasy easy;         // after prepare()

 private:
  static std::size_t on_header(char* data, std::size_t, std::size_t size, void* self);
  static std::size_t on_body(char* data, std::size_t, std::size_t size, void* self);
  static int on_request(void* self, char*, char*, int, int);
  static curl_socket_t on_open_socket(void* self, curlsocktype, curl_sockaddr* address);

  CurlList headers_;
  CurlList pins_;
  HttpAnswer answer_;
  std::size_t header_bytes_ = 0;
  bool sent_ = false;    // the first byte of the request may have left
  bool denied_ = false;  // the guard refused a socket; libcurl calls that a failed connection
  std::array<char, CURL_ERROR_SIZE> error_{};
};

}  // namespace presetbridge::net

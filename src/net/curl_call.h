// Private to net/. One outgoing call: it makes a handle of libcurl from an OutgoingRequest, and an HttpResult
// from the code with which libcurl ended the transfer.
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

// Lives in the coroutine that waits for it. From its submission to its completion only the client's core uses
// it.
class CurlCall {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;
  enum class Stage { resolving, queued, running };

  CurlCall(Executor& on, OutgoingRequest r) : executor(on), request(std::move(r)) {}
  CurlCall(const CurlCall&) = delete;
  CurlCall& operator=(const CurlCall&) = delete;

  // Reads the URL, method and header fields, and sets `url` and `host_key`. Returns why the call cannot be made;
  // nothing: it can.
  std::optional<HttpFailure> check();
  // Sets the options of `handle`, a fresh or reset one, to make the call within `remaining`, to one of `pinned`:
  // addresses that the policy allows; none if the URL's host is an address. After check(). The handle refers to
  // this call until it is reset.
  void prepare(CurlEasy handle, const Addresses& pinned, Millis remaining, const CurlClientOptions& options);
  // Sets the result from the code with which libcurl ended.
  void conclude(CURLcode code);
  // Sets the result to a failure.
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
  bool sent_ = false;    // libcurl may have written a byte of the request
  bool denied_ = false;  // the address guard refused a socket, which libcurl reports as a failed connection
  std::array<char, CURL_ERROR_SIZE> error_{};
};

}  // namespace presetbridge::net

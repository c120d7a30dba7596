// Private to net/: bytes of a connection to an HttpRequest, over Beast's parser, with the refusals that
// HTTP/1.1 asks of a server which must never disagree with a proxy before it about where a request ends. A
// later version 1 is read as 1.1 (RFC 9110, 2.5); a few empty lines before the request are skipped (RFC
// 9112, 2.2).
#pragma once

#include <boost/beast/http/basic_parser.hpp>
#include <cstddef>
#include <optional>
#include <string_view>

#include "net/http.h"

namespace presetbridge::net {

// An answer that the server gives by itself.
struct Refusal {
  int status;
  const char* code;
  const char* message;
};

struct RequestLimits {
  std::size_t header_bytes;
  std::size_t header_fields;
  std::size_t body_bytes;
};

// One request.
class RequestReader final : private boost::beast::http::basic_parser<true> {
 public:
  explicit RequestReader(const RequestLimits& limits);

  // Reads what it can; consumed is how much of `bytes` is done with (the rest comes again, with more behind
  // it). Reads no further than the header in the call that ends the header.
  struct Progress {
    std::size_t consumed = 0;
    std::optional<Refusal> refusal;  // nothing more can be read from this connection
  };
  Progress read(std::string_view bytes);

  // Whether anything of the request was taken: empty lines before it are nothing.
  bool begun() const { return header_bytes_ > 0; }
  bool header_read() const { return header_done_; }
  // The whole request, or as much of it as will be read (HttpRequest::body_too_large).
  bool complete() const { return is_done() || request_.body_too_large; }
  // After header_read():
  bool keep_alive() const { return basic_parser::keep_alive() && !request_.body_too_large; }
  bool http11() const { return http11_; }
  bool expects_continue() const { return expects_continue_; }
  // How many bytes of body are announced and not read; 0 if chunked.
  std::size_t body_left() const;

  HttpRequest& request() { return request_; }

 private:
  using error_code = boost::system::error_code;
  using text = boost::beast::string_view;
  void on_request_impl(boost::beast::http::verb, text method, text target, int version, error_code&) override;
  void on_field_impl(boost::beast::http::field, text name, text value, error_code&) override;
  void on_header_impl(error_code&) override;
  void too_large();
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override;
  std::size_t on_body_impl(text body, error_code&) override;
  void on_chunk_header_impl(std::uint64_t, text, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, text body, error_code&) override;
  void on_finish_impl(error_code&) override {}
  // Compatibility of Beast's base with classes that answer responses.
  void on_response_impl(int, text, int, error_code&) override {}

  Progress read_line(std::string_view bytes);
  void refuse(error_code& error, Refusal why);
  std::optional<Refusal> judge_header();
  std::optional<Refusal> read_target();

  const RequestLimits limits_;
  HttpRequest request_;
  std::optional<Refusal> refusal_;
  int empty_lines_ = 0;
  std::size_t line_bytes_ = 0;  // of the request line, that came and held no end of it
  std::size_t header_bytes_ = 0;
  std::size_t fields_ = 0;
  bool header_done_ = false;
  bool http11_ = true;
  bool expects_continue_ = false;
};

}  // namespace presetbridge::net

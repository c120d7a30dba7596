// HTTP calls of a verb: one after the other, each waited for.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <string>
#include <string_view>

#include "base/error.h"
#include "net/curl_client.h"
#include "net/http_client.h"
#include "net/resolver.h"
#include "net/runtime.h"
#include "net/smtp_client.h"

namespace presetbridge::app {

// Used by one thread. It starts a thread of its own, so a process makes it after its last fork.
class Calls {
 public:
  explicit Calls(std::string user_agent);
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;
  ~Calls();

  // The request's deadline bounds the wait.
  net::HttpResult send(net::OutgoingRequest request);
  // Signs in at an SMTP server. The options' deadline bounds the wait.
  net::MailResult check_mail(net::SmtpOptions options);

 private:
  net::Runtime runtime_{1};
  net::SystemResolver resolver_;
  net::CurlClient client_;
};

// The API of a service, as a merchant calls it.
class ServiceApi {
 public:
  // `url`: without a slash at its end. Both outlive this.
  ServiceApi(Calls& calls, std::string url) : calls_(calls), url_(std::move(url)) {}

  const std::string& url() const { return url_; }
  // Each later call sends this header: {"x-api-key", …} or {"Authorization", "Bearer …"}.
  void sign_in_as(std::string header, std::string value) { who_ = {std::move(header), std::move(value)}; }

  // The answer's JSON; an empty object where it has none. A null `body` is not sent. SERVICE_UNREACHABLE;
  // else the code and message of the answer's error, with its details.
  Expected<boost::json::object> call(std::string_view method, std::string_view path,
                                     const boost::json::value& body = nullptr);

 private:
  Calls& calls_;
  const std::string url_;
  std::pair<std::string, std::string> who_;
};

// Returns `text` with '?' for each control character, so that it is safe on a terminal. `lines`: keeps line
// ends and tabs.
std::string printable(std::string text, bool lines = false);

}  // namespace presetbridge::app

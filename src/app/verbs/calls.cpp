#include "app/verbs/calls.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <future>
#include <utility>

namespace presetbridge::app {
namespace {

namespace json = boost::json;

constexpr std::size_t kLongestAnswer = 4 * 1024 * 1024;

Task<net::HttpResult> post(net::HttpClient& client, Executor& executor, net::OutgoingRequest request) {
  co_return co_await client.send(executor, std::move(request));
}

std::string text_at(const json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value && value->is_string() ? std::string(value->get_string()) : std::string();
}

Error refusal_of(const json::value& body, int status) {
  Error error{"REFUSED", "The service answered " + std::to_string(status) + ".", {}};
  const auto* object = body.if_object();
  const auto* inner = object ? object->if_contains("error") : nullptr;
  if (!inner || !inner->is_object()) return error;
  error.code = text_at(inner->get_object(), "code");
  error.message = text_at(inner->get_object(), "message");
  const auto* details = inner->get_object().if_contains("details");
  if (!details || !details->is_array()) return error;
  for (const auto& detail : details->get_array()) {
    if (const auto* one = detail.if_object())
      error.details.push_back({text_at(*one, "field"), text_at(*one, "problem")});
  }
  return error;
}

}  // namespace

Calls::Calls(std::string user_agent)
    : client_(runtime_, 0, resolver_, {.user_agent = std::move(user_agent)}) {
  runtime_.start();
}

Calls::~Calls() {
  client_.stop();
  runtime_.stop();
}

net::HttpResult Calls::send(net::OutgoingRequest request) {
  std::promise<net::HttpResult> answered;
  auto& core = runtime_.scheduler(0);
  core.post([&] {
    spawn(post(client_, core, std::move(request)), [&answered](Outcome<net::HttpResult> outcome) {
      if (outcome.exception) {
        answered.set_exception(outcome.exception);
      } else {
        answered.set_value(std::move(*outcome.value));
      }
    });
  });
  return answered.get_future().get();
}

net::MailResult Calls::check_mail(net::SmtpOptions options) {
  net::SmtpClient client(std::move(options));
  std::promise<net::MailResult> answered;
  auto& core = runtime_.scheduler(0);
  core.post([&] {
    spawn(client.check(core), [&answered](Outcome<net::MailResult> outcome) {
      answered.set_value(outcome.value ? std::move(*outcome.value)
                                       : net::MailFailure{.message = "it could not be asked"});
    });
  });
  return answered.get_future().get();
}

Expected<json::object> ServiceApi::call(std::string_view method, std::string_view path,
                                        const json::value& body) {
  net::OutgoingRequest request;
  request.method = method;
  request.url = url_ + std::string(path);
  if (!who_.first.empty()) request.headers.push_back(who_);
  if (!body.is_null()) {
    request.headers.emplace_back("Content-Type", "application/json");
    request.body = json::serialize(body);
  }
  request.policy = net::AddressPolicy::configured;
  request.max_answer_bytes = kLongestAnswer;
  const auto result = calls_.send(std::move(request));
  const auto* answer = result.answer();
  if (!answer) {
    return fail("SERVICE_UNREACHABLE",
                "The service at " + url_ + " does not answer: " + result.failure()->message);
  }
  boost::system::error_code error;
  auto parsed = json::parse(answer->body, error);
  if (error) parsed = nullptr;
  if (answer->status < 200 || answer->status > 299)
    return std::unexpected(refusal_of(parsed, answer->status));
  return parsed.is_object() ? std::move(parsed.get_object()) : json::object();
}

std::string printable(std::string text, bool lines) {
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool of_lines = lines && (c == '\n' || c == '\t');
    if ((byte < 0x20 && !of_lines) || byte == 0x7F) c = '?';
  }
  return text;
}

}  // namespace presetbridge::app

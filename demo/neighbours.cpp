#include "neighbours.h"

#include <utility>

#include "cloud/cloud_login.h"

namespace presetbridge::demo {

Task<net::HttpResult> InProcess::send(Executor&, net::OutgoingRequest request) {
  if (instead) {
    if (auto other = instead(request)) co_return std::move(*other);
  }
  net::HttpRequest call;
  call.method = request.method;
  const auto host = request.url.find("://");
  const auto path = request.url.find('/', host + 3);
  call.target = path == std::string::npos ? "/" : request.url.substr(path);
  const auto query = call.target.find('?');
  call.path = call.target.substr(0, query);
  if (query != std::string::npos) call.query = call.target.substr(query + 1);
  for (auto& [name, value] : request.headers) call.headers.add(name, value);
  call.body = std::move(request.body);
  call.remote_address = "127.0.0.1";
  call.executor = &scheduler_;
  auto response = co_await handler_->handle(std::move(call));
  net::HttpAnswer answer{.status = response.status, .headers = {}, .body = std::move(response.body)};
  answer.headers.emplace_back("content-type", response.content_type);
  for (const auto& [name, value] : response.headers) answer.headers.emplace_back(name, value);
  co_return net::HttpResult{std::move(answer), Millis{35}};
}

Task<net::HttpResult> Receivers::send(Executor& executor, net::OutgoingRequest request) {
  const auto found = answers.find(request.url);
  const Answer answer = found == answers.end() ? Answer{} : found->second;
  co_await suspend<int>(executor, [](auto resume) { resume(0); });
  if (answer.lost) {
    co_return net::HttpResult{
        net::HttpFailure{net::HttpFailure::Kind::timeout, "no whole answer within 15 s"}, Millis{15'000}};
  }
  co_return net::HttpResult{
      net::HttpAnswer{
          .status = answer.status, .headers = {{"content-type", answer.content_type}}, .body = answer.body},
      answer.duration};
}

Task<cloud::CloudResult<cloud::Session>> PastAgent::login(Executor& executor, AccountId account,
                                                          std::int64_t version, crypto::Bytes sealed) {
  const auto text = keys_.open({account, version}, sealed);
  auto login = text ? cloud::decode_cloud_login(text->reveal()) : std::nullopt;
  if (!login) {
    co_return std::unexpected(cloud::CloudError{
        cloud::CloudError::Kind::credentials_unreadable, "It cannot be opened.", false, {}});
  }
  co_return co_await login_with(executor, std::move(login->email), std::move(login->password));
}

Task<cloud::CloudResult<cloud::Session>> PastAgent::login_with(Executor& executor, std::string email,
                                                               crypto::SecretString password) {
  co_return co_await cloud_.log_in(executor, {std::move(email), std::move(password)});
}

}  // namespace presetbridge::demo

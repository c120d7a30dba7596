// The cloud platform over its HTTP contract (api/cloud-platform.openapi.yaml, spec 4.1).
//
// Everything that comes from the platform is checked: an answer that is not of the contract is `malformed`. A
// call that changes something and ends in a timeout, a lost connection, a 5xx or a broken answer is reported
// as `effect_unknown`.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "cloud/cloud.h"
#include "net/http_client.h"

namespace presetbridge::cloud {

// Paths below the base URL; {username}, {userId} and {fileId} are replaced, percent-encoded.
struct CloudPaths {
  std::string login = "/sessions";
  std::string user_by_name = "/users/by-name/{username}";
  std::string friendships = "/friendships";
  std::string friendship = "/friendships/{userId}";
  std::string files = "/files";
  std::string share = "/files/{fileId}/shares/{userId}";
};

struct HttpCloudOptions {
  std::string base_url;  // "https://cloud.example.com/v1", without a slash at the end
  CloudPaths paths;
  Millis timeout{15'000};
  int max_page = 500;  // the largest `limit` that is asked for
};

class HttpCloud final : public Cloud, public CloudLogIn {
 public:
  // All but `options` must outlive this.
  HttpCloud(net::HttpClient& http, const Clock& clock, HttpCloudOptions options);

  Millis call_timeout() const override { return options_.timeout; }
  Task<CloudResult<CloudUser>> find_user(Executor& executor, Session session, std::string username) override;
  Task<CloudResult<FriendshipState>> friendship(Executor& executor, Session session,
                                                std::string user_id) override;
  Task<CloudResult<FriendshipState>> request_friendship(Executor& executor, Session session,
                                                        std::string user_id,
                                                        std::string idempotency_key) override;
  Task<CloudResult<void>> withdraw_friendship(Executor& executor, Session session,
                                              std::string user_id) override;
  Task<CloudResult<FriendshipPage>> friendships_since(Executor& executor, Session session, std::string cursor,
                                                      int limit) override;
  Task<CloudResult<FilePage>> list_files(Executor& executor, Session session, std::string cursor,
                                         int limit) override;
  Task<CloudResult<Share>> share(Executor& executor, Session session, std::string file_id,
                                 std::string user_id, std::string idempotency_key) override;
  Task<CloudResult<std::optional<Share>>> find_share(Executor& executor, Session session, std::string file_id,
                                                     std::string user_id) override;
  Task<CloudResult<void>> revoke_share(Executor& executor, Session session, std::string file_id,
                                       std::string user_id) override;
  Task<CloudResult<Session>> log_in(Executor& executor, CloudLogin login) override;

 private:
  struct Call;
  Task<CloudResult<net::HttpAnswer>> send(Executor& executor, Call call);

  net::HttpClient& http_;
  const Clock& clock_;
  const HttpCloudOptions options_;
};

}  // namespace presetbridge::cloud

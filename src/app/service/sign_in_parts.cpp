#include "app/service/sign_in_parts.h"

#include <utility>

#include "api/handlers/external_handlers.h"
#include "api/handlers/sessions_handlers.h"
#include "app/config/client_networks.h"

namespace presetbridge::app {

void SignInParts::add_routes(api::Router& router, const std::string& base_url) {
  const auto& config = ports_.config;
  auto& sessions = ports_.issuer.sessions();
  const api::SessionCookie cookie(base_url);
  external_.emplace(identity::ExternalSignIn::Deps{ports_.async_db, sessions, ports_.issuer.sign_ups(),
                                                   ports_.http, ports_.cipher, ports_.ids, ports_.random,
                                                   ports_.clock, ports_.log, config.credits_signup_credits},
                    base_url, std::move(issuers_));
  api::add_auth_routes(router, {.issuer = ports_.issuer,
                                .proxies = trusted_proxies(config),
                                .sign_ins = ports_.failed_sign_ins,
                                .requests = ports_.failed_requests,
                                .cookie = cookie,
                                .keys = ports_.keys,
                                .disabled = ports_.disabled,
                                .passwords = config.identity_passwords,
                                .mail = mail_});
  api::add_sessions_routes(router, {sessions});
  api::add_external_routes(router, {*external_, sessions, trusted_proxies(config), ports_.failed_sign_ins,
                                    cookie, ports_.disabled});
  api::add_auth_config_route(router, {.signup = config.identity_signup,
                                      .passwords = config.identity_passwords,
                                      .mail = mail_.has_value(),
                                      .sandbox = config.sandbox,
                                      .base_url = base_url,
                                      .cloud_name = config.cloud_name,
                                      .cloud_friend_requests_url = config.cloud_friend_requests_url,
                                      .cloud_app_url = config.cloud_app_url,
                                      .support_url = config.support_url,
                                      .issuers = external_->issuers()});
}

}  // namespace presetbridge::app

#include "net/curl_client.h"

#include "net/curl_engine.h"

namespace presetbridge::net {

namespace {

struct Submission {
  CurlEngine& engine;
  CurlCall& call;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> caller) {
    call.waiter = caller;
    engine.submit(call);
  }
  void await_resume() const noexcept {}
};

}  // namespace

CurlClient::CurlClient(Runtime& runtime, int core, Resolver& resolver, CurlClientOptions options)
    : runtime_(runtime),
      core_(core),
      engine_(std::make_shared<CurlEngine>(runtime.core(core), resolver, std::move(options))) {
  engine_->start();
}

CurlClient::~CurlClient() {
  stop();
}

Task<HttpResult> CurlClient::send(Executor& executor, OutgoingRequest request) {
  CurlCall call(executor, std::move(request));
  co_await Submission{*engine_, call};
  co_return std::move(call.result);
}

void CurlClient::stop() {
  runtime_.run_on(core_, [this] { engine_->shut_down(); });
}

}  // namespace presetbridge::net

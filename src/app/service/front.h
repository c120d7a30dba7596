// The front answers 503 until the service behind it is whole.
#pragma once

#include <atomic>
#include <utility>

#include "api/errors.h"
#include "base/task.h"
#include "net/http.h"

namespace presetbridge::app {

// Takes connections from the first moment on; until the service behind it is whole it asks to come again.
class Front final : public net::HttpHandler {
 public:
  void open(net::HttpHandler& handler) { handler_ = &handler; }
  Task<net::HttpResponse> handle(net::HttpRequest request) override {
    if (auto* handler = handler_.load()) return handler->handle(std::move(request));
    return not_yet();
  }

 private:
  static Task<net::HttpResponse> not_yet() {
    co_return api::error_response({"OVERLOADED", "The service is starting.", {}});
  }
  std::atomic<net::HttpHandler*> handler_{nullptr};
};

}  // namespace presetbridge::app

#include "services/operation/node_number.h"

#include <utility>

#include "storage/stores/node_store.h"

namespace presetbridge::services {

void NodeNumber::start() {
  tasks_.start_loop(loop(), "node number loop", [this](const std::exception_ptr& fault) {
    if (fault) lost_();
  });
}

void NodeNumber::stop(Callback stopped) {
  tasks_.stop(std::move(stopped));
}

Task<void> NodeNumber::loop() {
  bool logged = false;
  while (!tasks_.stopping()) {
    const auto renewed = co_await async_db_.write(scheduler_, [this](storage::Tx& tx) {
      return storage::keep_node_number(tx, number_, owner_, tx.now() + kNodeNumberLife, roles_);
    });
    if (!renewed) log_.warn("the node's number could not be renewed", {{"error", renewed.error().message}});
    if (renewed && !*renewed && !std::exchange(logged, true)) {
      log_.error("another node has this one's number: this one ends", {{"number", std::int64_t{number_}}});
      lost_();
    }
    co_await tasks_.wait(kNodeNumberRenewal);
  }
}

}  // namespace presetbridge::services

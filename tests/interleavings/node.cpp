#include "node.h"

namespace presetbridge::interleavings {

Node::Node(storage::Database& its_database, Surroundings& its_world, int number,
           services::WorkerOptions options)
    : database(its_database),
      world(its_world),
      random(static_cast<std::uint64_t>(number)),
      ids(world.clock, number),
      options_(std::move(options)) {}

Node::~Node() {
  if (worker) stop_worker();
  if (!lost_) return;
  world.cloud.release();
  pass(Millis{1});
}

void Node::start_worker() {
  worker = std::make_unique<services::DeliveryWorker>(
      services::WorkerPorts{scheduler, world.clock, random, log, metrics, async_db, world.cloud, sessions,
                            changes},
      options_);
  worker->start();
  pass(Millis{1});
}

bool Node::stop_worker() {
  bool stopped = false;
  worker->stop([&] { stopped = true; });
  for (int i = 0; i < 100 && !stopped; ++i) {
    world.cloud.release();
    pass(Millis{1});
  }
  worker.reset();
  return stopped;
}

void Node::lose_worker() {
  worker->stop([] {});
  lost_ = std::move(worker);
}

void Node::work(Millis time) {
  if (worker) {
    worker->wake();
  } else {
    start_worker();
  }
  pass(time);
}

void Node::pass(Millis time) {
  scheduler.run();
  for (Millis passed{0}; passed < time; ++passed) {
    world.clock.advance(Millis{1});
    scheduler.run();
  }
}

services::Accepted Node::accept(IntegrationId store, domain::OrderEvent event) {
  event.received_at = world.clock.now();
  for (int i = 0; i < 5; ++i) {
    auto snapshot = await(directory.find(scheduler, store)).value();
    auto accepted = await(intake.accept(scheduler, {snapshot, event, {}, {}})).value();
    if (!accepted.stale_integration) return accepted;
    directory.forget(store);
  }
  throw std::runtime_error("the integration is stale for ever");
}

}  // namespace presetbridge::interleavings

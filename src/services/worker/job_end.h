// The beginning and the end of a job on a customer: which deliveries it takes, and what becomes of each of
// them, of the lease and of the customer's place in the queue when it lets go.
#pragma once

#include "domain/delivery_outcome.h"
#include "services/delivery/change.h"
#include "services/worker/job.h"
#include "storage/customer_store.h"

namespace presetbridge::services {

// Brings the customer's queued deliveries, and with a friendship the waiting ones, to processing. Returns all
// in processing.
std::vector<storage::DeliveryRow> take_deliveries(storage::Tx& tx, DeliveryChanges& changes,
                                                  const storage::CustomerRow& customer);

// Concludes every delivery in processing with `finding` (one whose items failed for good fails with their
// code), releases the lease and queues the customer again where work is left. The customer's row is locked by
// this transaction and written here.
void end_job(storage::Tx& tx, DeliveryChanges& changes, const Job& job, storage::CustomerRow& customer,
             domain::Finding finding);

// Obeys the delivery's pending action, or concludes it: for a delivery in processing of a customer whose row
// is locked by this transaction and written by the caller. Returns whether it left processing.
bool conclude(storage::Tx& tx, DeliveryChanges& changes, const Job& job, storage::CustomerRow& customer,
              storage::DeliveryRow& row, domain::Finding finding, domain::ResolutionCode code);

// After an item of a delivery that no job has was settled: completes, invalidates or leaves it.
void conclude_settled(storage::Tx& tx, DeliveryChanges& changes, DeliveryId delivery);

}  // namespace presetbridge::services

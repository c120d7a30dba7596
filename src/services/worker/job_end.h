// The beginning and the end of a job on a customer: which deliveries it takes, and what becomes of each of
// them, of the lease and of the customer's place in the queue when it lets go.
#pragma once

#include "domain/delivery_outcome.h"
#include "services/delivery/change.h"
#include "services/delivery/delivery_set.h"
#include "services/worker/job.h"
#include "storage/stores/customer_store.h"

namespace presetbridge::services {

// Brings the customer's queued deliveries, and with a friendship the waiting ones, to processing, as many as
// a job may have. Returns those in processing.
std::vector<DeliveryId> take_deliveries(DeliverySet& set, const storage::CustomerRow& customer);

// Concludes every delivery in processing with `finding` (one whose items failed for good fails with their
// code), releases the lease and queues the customer again where work is left. The customer's row is put back
// into the set.
void end_job(DeliverySet& set, const Job& job, storage::CustomerRow& customer, domain::Finding finding);

// Obeys the delivery's pending action, or concludes it: for a delivery in processing of a customer whose row
// the caller puts back. Returns whether it left processing.
bool conclude(DeliverySet& set, const Job& job, storage::CustomerRow& customer, DeliveryId delivery,
              domain::Finding finding, domain::ResolutionCode code);

// After an item of a delivery that no job has was settled: completes or invalidates it, queues it for what is
// owed again, or brings it to review for that, or leaves it. `settled`: that item, where it may be a former
// customer's, which ends no review.
void conclude_settled(DeliverySet& set, DeliveryId delivery, ItemId settled = {});

// After the store's event made an item owed again: where the store's orders are held, what is under way goes
// to review.
void hold_owed_again(DeliverySet& set, DeliveryId delivery);

}  // namespace presetbridge::services

// The beginning and the end of a job: which of the customer's deliveries it takes, and at its end the next
// status of each, the lease and the customer's position in the queue. Each function changes rows of the
// caller's set, and the rows of customers that it is given; the rows are locked.
#pragma once

#include "domain/delivery_outcome.h"
#include "services/delivery/change.h"
#include "services/delivery/delivery_set.h"
#include "services/worker/job.h"
#include "storage/stores/customer_store.h"

namespace presetbridge::services {

// Brings a queued delivery to processing, and a waiting one unless the friend request is still unanswered.
// Returns whether it is in processing.
bool take_delivery(DeliverySet& set, storage::DeliveryRow& row, const storage::CustomerRow& customer);
// Takes deliveries of the customer: those with the earliest next attempt first, until kMostDeliveriesOfJob are
// in processing; none of an account whose login the job has lost. Returns all in processing, by rising id.
std::vector<DeliveryId> take_deliveries(DeliverySet& set, const Job& job,
                                        const storage::CustomerRow& customer);

// Concludes every delivery in processing with `finding`, or with what the job knows of it alone: that it is
// postponed, or that an item failed for good. Releases the lease, queues the customer again where work is
// left, and puts the customer's row back into the set.
void end_job(DeliverySet& set, const Job& job, storage::CustomerRow& customer, domain::Finding finding);

// Obeys the delivery's pending action, or concludes the delivery with `finding`, and for a permanent failure
// with `code`. The caller puts the customer's row back. Returns true if the delivery is not in processing any
// more, also for a probed one, which never was.
bool conclude(DeliverySet& set, const Job& job, storage::CustomerRow& customer, DeliveryId delivery,
              domain::Finding finding, domain::ResolutionCode code);

// For a delivery that no job works on, after one of its items was settled: completes or invalidates it,
// queues it or brings it to review for files that are owed again, or leaves it. `settled` is that item where
// it may be a former customer's, which ends no review.
void conclude_settled(DeliverySet& set, DeliveryId delivery, ItemId settled = {});

// After a store's event made an item of the delivery owed again: where the store's orders are held, an open
// delivery goes to review.
void hold_owed_again(DeliverySet& set, DeliveryId delivery);

}  // namespace presetbridge::services

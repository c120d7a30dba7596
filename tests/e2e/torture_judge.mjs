// Rules for the state after a torture run (torture.mjs), whatever was killed when (spec 2.5, 2.6, 3.1, 3.2, 3.9-3.11, 10.1, 11.1).
import { judgeHistories } from './torture_histories_judge.mjs';
import { judgeMoney } from './torture_money_judge.mjs';

const END_STATES = ['completed', 'failed', 'invalidated', 'in_review'];
// Nothing else in a run makes a delivery fail for good.
const FAILURES = ['friend_request_declined', 'username_missing'];
const STANDS = ['shared', 'already_shared', 'revoke_failed']; // the customer has it
const REACHED = [...STANDS, 'revoked'];

function groupedBy(list, key) {
  const groups = new Map();
  for (const one of list) {
    const name = key(one);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(one);
  }
  return groups;
}
const sum = (list, value) => list.reduce((total, one) => total + value(one), 0);

// `facts`: {accepted: [{store, orderId, deliveryId}] of every 202 (deliveryId absent: ignored), changes: [{kind: edit, cancel, invalidate or job,
// deliveryId, file: added by an edit}] of what came later and was answered with success, everOwed: [{store, orderId, files}] of every
// order, jobs: on many, {merchant, store, action, ids: that an invalidation names, attempts, result: as it ended}, histories: as History.facts() has them, merchants: [{cloudId, deliveries, balance, ledger}], money: as Money.facts() has it, shares and friendships as the
// simulator's /sim/effects has them, events: [{id, body}] as they came}. Returns sentences; none: all is well.
export function judge(facts) {
  const { accepted, changes: later, everOwed, histories, merchants, friendships, events } = facts;
  const problems = [];
  const wrong = (text) => problems.push(text);
  const deliveries = merchants.flatMap((merchant) => merchant.deliveries);
  const byId = new Map(deliveries.map((row) => [row.id, row]));

  for (const [order, answers] of groupedBy(accepted, ({ store, orderId }) => `${store} ${orderId}`)) {
    const ids = new Set(answers.map(({ deliveryId }) => deliveryId).filter(Boolean));
    if (ids.size > 1) wrong(`order ${order} was answered with ${ids.size} deliveries: ${[...ids]}`);
    for (const id of ids) {
      const row = byId.get(id);
      if (!row) wrong(`order ${order} was accepted as ${id}, and there is no such delivery`);
      else if (`${row.integrationId} ${row.orderId}` !== order)
        wrong(`${id} was to be order ${order}, and is ${row.integrationId} ${row.orderId}`);
    }
  }
  for (const [order, rows] of groupedBy(deliveries, ({ integrationId, orderId }) => `${integrationId} ${orderId}`)) {
    if (rows.length > 1) wrong(`order ${order} has ${rows.length} deliveries`);
  }
  const unpaid = new Set(
    histories.filter(({ payment, risk }) => payment === 'awaiting' || risk).map(({ deliveryId }) => deliveryId),
  );
  for (const row of deliveries) {
    if (!END_STATES.includes(row.status)) wrong(`${row.id} is still ${row.status}: ${row.message}`);
    if (row.pendingAction)
      wrong(`${row.id} still has a pending action: ${row.pendingAction}\n  ${JSON.stringify(row)}`);
    for (const item of row.items) {
      if (['sharing', 'revoking'].includes(item.status))
        wrong(`item ${item.id} of ${row.id} is still ${item.status}\n  ${JSON.stringify(row)}`);
      // An item that came to an order which is unpaid by then is owed once the order is paid.
      if (row.status === 'completed' && item.status === 'owed' && !item.former && !unpaid.has(row.id))
        wrong(`${row.id} is completed, and owes ${item.fileId}`);
    }
    if (row.status === 'failed' && !FAILURES.includes(row.resolutionCode))
      wrong(`${row.id} failed as ${row.resolutionCode}, which nothing here causes`);
    if (row.status === 'failed' && !row.items.some(({ status, former }) => status === 'owed' && !former))
      wrong(`${row.id} failed, and owes nothing`);
    leavesReview(row, wrong);
    timeGoesOn(row, wrong);
  }
  const files = new Map(everOwed.map((order) => [`${order.store} ${order.orderId}`, order.files]));
  for (const { id, integrationId, orderId, items } of deliveries) {
    for (const { fileId } of items) {
      if (!files.get(`${integrationId} ${orderId}`)?.includes(fileId))
        wrong(`${id} has an item of ${fileId}, which no line of its order ever owed`);
    }
  }

  for (const [id, all] of groupedBy(later, ({ deliveryId }) => deliveryId)) {
    const row = byId.get(id);
    const of = (kind) => all.filter((one) => one.kind === kind);
    if (!row) wrong(`${id} was to be changed, and there is no such delivery`);
    else if (of('invalidate').length > 0 && row.status !== 'invalidated')
      wrong(`${id} was invalidated, and is ${row.status}`);
    else if (of('cancel').length > 0 && !['invalidated', 'completed'].includes(row.status))
      wrong(`the order of ${id} was cancelled, and it is ${row.status}`);
    // Of several, or after a cancellation, it depends on which came first.
    else if (all.length === 1 && all[0].kind === 'edit' && !row.items.some(({ fileId }) => fileId === all[0].file))
      wrong(`${id} has no item of ${all[0].file}, which came later`);
  }

  judgeJobs(facts, byId, wrong);
  const asks = groupedBy([...histories.flatMap(asksOf), ...merchants.flatMap(retriedOf)], (name) => name);
  for (const { merchant, customer, username, requests, withdrawn, state } of friendships) {
    // A request that was taken back may be made again, and one that was declined where the merchant asks for it.
    const most = 1 + withdrawn + (asks.get(`${merchant} ${username.toLowerCase()}`)?.length ?? 0);
    if (requests > most) {
      const theirs = merchants
        .find(({ cloudId }) => cloudId === merchant)
        .deliveries.filter(({ targetUsername }) => targetUsername?.toLowerCase() === username.toLowerCase());
      wrong(
        `${merchant} sent ${requests} friend requests to ${username} (${customer}), now ${state}, ${withdrawn} taken back\n  ${JSON.stringify(theirs)}`,
      );
    }
  }
  for (const merchant of merchants) judgeMerchant(merchant, facts, wrong);
  judgeMoney(facts.money, merchants, wrong);
  judgeHistories(facts, byId, wrong);

  const reviewed = new Set(
    histories
      .filter(({ hold, log }) => hold || log.some(({ kind }) => kind === 'risk'))
      .map(({ deliveryId }) => deliveryId),
  );
  const renamed = new Set(histories.filter(({ names }) => names.length > 1).map(({ deliveryId }) => deliveryId));
  for (const [id, copies] of groupedBy(events, (event) => event.id)) {
    if (new Set(copies.map(({ body }) => body)).size > 1) wrong(`event ${id} came with different bytes`);
    const own = JSON.parse(copies[0].body).id;
    if (own !== id) wrong(`event ${id} calls itself ${own}`);
  }
  const ofDeliveries = events.map(({ body }) => JSON.parse(body)).filter(({ type }) => type.startsWith('delivery.'));
  const sent = groupedBy(
    [...new Map(ofDeliveries.map((event) => [event.id, event])).values()],
    ({ deliveryId }) => deliveryId,
  );
  for (const id of sent.keys()) if (!byId.has(id)) wrong(`there are events of ${id}, and there is no such delivery`);
  for (const row of deliveries) {
    const its = (sent.get(row.id) ?? []).sort((left, right) => left.delivery.sequence - right.delivery.sequence);
    const numbers = its.map(({ delivery }) => delivery.sequence);
    if (numbers.join() !== Array.from({ length: row.sequence }, (_, i) => i + 1).join()) {
      wrong(`the events of ${row.id} have the numbers ${numbers.join() || 'none'}, and the newest is ${row.sequence}`);
      continue;
    }
    const last = its.at(-1);
    if (last && ['completed', 'failed', 'invalidated'].includes(row.status) && last.delivery.status !== row.status) {
      wrong(`${row.id} is ${row.status}, and its last event said ${last.delivery.status}`);
    }
    for (let i = 1; i < its.length; ++i) {
      // Without an event a store's order can only come to review, and another customer of one that is queued be asked.
      const asked = its[i].type === 'delivery.waiting_for_friendship' && renamed.has(row.id);
      const again = its[i].type === 'delivery.queued' || reviewed.has(row.id) || asked;
      if (its[i].type === its[i - 1].type && !again)
        wrong(`${row.id} sent ${its[i].type} twice in a row\n  ${JSON.stringify(row)}`);
    }
  }
  return problems;
}

// Only a person takes a delivery out of review, except for a stop, and for the payment whose loss began the review (spec 3.1). Entries of
// two nodes within a moment may be listed the wrong way round.
const NEAR_MS = 100;
const mayLeave = ({ status, actor, message }) =>
  /^(usr|key)_/.test(actor) || (actor === 'order' && status === 'queued' && message.includes('paid again'));
function leavesReview({ id, timeline }, wrong) {
  const entries = timeline.toReversed(); // the newest comes first
  for (let i = 1; i < entries.length; ++i) {
    const [before, review, { at, status, actor, message }] = [entries[i - 2], entries[i - 1], entries[i]];
    if (review.status !== 'in_review' || status === 'in_review' || status === 'invalidated' || mayLeave(entries[i]))
      continue;
    const near = (one) => Math.abs(Date.parse(one) - Date.parse(review.at)) <= NEAR_MS;
    const leftBefore = before && near(before.at) && mayLeave(before) && before.status !== 'in_review';
    const toldLate = before && near(at) && before.status === status;
    if (leftBefore || toldLate) continue;
    wrong(`${id} left its review for ${status} by ${actor}: ${message}\n  ${JSON.stringify(entries)}`);
  }
}

// Whichever node writes: what is newer has no earlier time.
function timeGoesOn({ id, updatedAt, timeline, events = [] }, wrong) {
  for (const [what, entries] of [
    ['timeline', timeline.map(({ at }) => at)],
    ['events', events.map(({ createdAt }) => createdAt)],
  ]) {
    for (let i = 1; i < entries.length; ++i)
      if (entries[i - 1] < entries[i]) wrong(`the ${what} of ${id} goes back from ${entries[i]} to ${entries[i - 1]}`);
    if (updatedAt < entries[0] && what === 'events')
      wrong(`${id} was updated at ${updatedAt}, and tells of an event at ${entries[0]}`);
  }
}

// Each name that a merchant's retry may have asked again, once for each request that was sent.
function asksOf({ merchant, names, log }) {
  const attempts = log
    .filter(({ kind }) => ['retry', 'buyerName', 'buyerRetry'].includes(kind))
    .reduce((total, { attempts }) => total + attempts, 0);
  const all = new Set(names.map(({ name }) => `${merchant} ${name.toLowerCase()}`));
  return Array.from({ length: attempts }, () => [...all]).flat();
}

// Likewise for jobs on many, which are in each delivery's timeline.
const RETRIED = ['The merchant asked for a new attempt.', 'The merchant asked for a new friend request.'];
const retries = ({ timeline }) =>
  timeline.filter(({ message, actor }) => RETRIED.includes(message) && actor.startsWith('usr_')).length;
function retriedOf({ cloudId, deliveries }) {
  return deliveries.flatMap((row) =>
    Array.from({ length: retries(row) }, () => `${cloudId} ${(row.targetUsername ?? '').toLowerCase()}`),
  );
}

// Jobs on many (spec 9.4): each ends, says what it did, and does it once.
function judgeJobs({ jobs, merchants, histories }, byId, wrong) {
  const eventful = new Set(histories.map(({ store }) => store));
  for (const { merchant, action, ids, result } of jobs) {
    const name = `the job ${result?.id} of ${merchant} (${action})`;
    if (!result?.finishedAt) wrong(`${name} has not ended`);
    else if (result.fault) wrong(`${name} ended for a fault: ${result.fault}`);
    // A filter may find more by the time that the job is done.
    else if (ids.length > 0 && result.done + result.failedCount > result.total)
      wrong(`${name} did ${result.done} and was refused ${result.failedCount} of ${result.total}`);
    else if (action === 'invalidate') {
      const refused = result.failed.map(({ id }) => id);
      // One that its order had ended was left out, and may have come again.
      const byOrder = ({ timeline }) =>
        timeline.some(({ status, actor }) => status === 'invalidated' && !actor.startsWith('usr_'));
      const left = ids.filter(
        (id) =>
          !refused.includes(id) && byId.get(id)?.status !== 'invalidated' && !(byId.has(id) && byOrder(byId.get(id))),
      );
      if (left.length > 0)
        wrong(`${name} was to invalidate ${left}, and they are ${left.map((id) => byId.get(id)?.status)}`);
    }
  }
  for (const { cloudId, deliveries } of merchants) {
    for (const row of deliveries.filter(({ integrationId }) => !eventful.has(integrationId))) {
      const most = jobs
        .filter((job) => job.merchant === cloudId && job.store === row.integrationId && job.action === 'retry')
        .reduce((total, { attempts }) => total + attempts, 0);
      if (retries(row) > most)
        wrong(
          `${row.id} was retried ${retries(row)} times, by ${most} jobs on many\n  ${JSON.stringify(row.timeline)}`,
        );
    }
  }
}

// Whether the delivery has that file, and had to do with that customer.
function meets({ targetUsername, items }, key) {
  const [file, name] = key.split(' ');
  const names = [targetUsername, ...items.map(({ username }) => username)].map((one) => one?.toLowerCase());
  return names.includes(name) && items.some(({ fileId }) => fileId === file);
}

// Files, as the bridge and as the platform have them, and the credits that they cost.
function judgeMerchant({ cloudId, deliveries, balance, ledger }, { shares, friendships }, wrong) {
  const names = new Map(
    friendships
      .filter(({ merchant }) => merchant === cloudId)
      .map(({ customer, username }) => [customer, username.toLowerCase()]),
  );
  const items = deliveries
    .filter(({ dryRun }) => !dryRun)
    .flatMap((row) =>
      row.items.map((item) => ({
        ...item,
        row,
        key: `${item.fileId} ${(item.username ?? row.targetUsername ?? '').toLowerCase()}`,
      })),
    );
  const ours = groupedBy(items, ({ key }) => key);
  const theirs = new Map(
    shares
      .filter(({ merchant }) => merchant === cloudId)
      .map((share) => [`${share.file} ${names.get(share.customer)}`, share]),
  );
  const spends = ledger.filter(({ kind }) => kind === 'spend').map(({ itemId }) => itemId);
  const charged = new Set(spends);
  if (charged.size !== spends.length) wrong(`${cloudId}: an item was charged twice`);

  for (const item of items) {
    if (REACHED.includes(item.status) && !item.username)
      wrong(`${cloudId}: item ${item.id} of ${item.row.id} is ${item.status}, and does not say to whom`);
  }
  for (const [key, those] of ours) {
    const share = theirs.get(key);
    const standing = those.filter(({ status }) => STANDS.includes(status));
    if (standing.length > 0 && !share?.standing) {
      const state = share?.made > 0 ? 'has it no more' : 'knows nothing of it';
      wrong(
        `${cloudId}: ${key} counts as shared (${standing[0].row.id}), and the platform ${state}\n  ${JSON.stringify(share)} ${JSON.stringify(deliveries.filter((row) => meets(row, key)))}`,
      );
    }
    const paid = those.filter(({ id }) => charged.has(id));
    for (const [id, each] of groupedBy(paid, ({ row }) => row.id))
      if (each.length > 1) wrong(`${cloudId}: ${key} of ${id} was charged ${each.length} times`);
    if (paid.length > (share?.made ?? 0))
      wrong(
        `${cloudId}: ${paid.length} credits were spent on ${key}, which was shared ${share?.made ?? 0} times\n  ${JSON.stringify(deliveries.filter((row) => meets(row, key)))}`,
      );
  }
  for (const [key, { made, revoked, standing }] of theirs) {
    const those = ours.get(key) ?? [];
    if (made > 0 && !those.some(({ id, status }) => REACHED.includes(status) || charged.has(id)))
      wrong(
        `${cloudId}: the platform has ${key}, and no item says so\n  ${JSON.stringify(deliveries.filter((row) => meets(row, key)))}`,
      );
    else if (standing && !those.some(({ status }) => STANDS.includes(status)))
      wrong(
        `${cloudId}: the platform has ${key} still, and all items say that it was taken back\n  ${JSON.stringify(deliveries.filter((row) => meets(row, key)))}`,
      );
    if (made > 0 && !those.some(({ id }) => charged.has(id)))
      wrong(
        `${cloudId}: ${key} was shared, and nobody paid for it\n  ${JSON.stringify(deliveries.filter((row) => meets(row, key)))}`,
      );
    if (made > 1 + revoked) wrong(`${cloudId}: ${key} was shared ${made} times, and taken back ${revoked} times`);
  }
  const known = new Set(deliveries.flatMap((row) => row.items.map(({ id }) => id)));
  for (const id of charged)
    if (!known.has(id)) wrong(`${cloudId}: a credit was spent on ${id}, and there is no such item`);

  if (balance.held !== 0) wrong(`${cloudId}: ${balance.held} credits are still on hold`);
  if (balance.debt !== 0) wrong(`${cloudId}: ${balance.debt} credits are owed`);
  const entries = (kind) =>
    sum(
      ledger.filter((entry) => entry.kind === kind),
      ({ credits }) => credits,
    );
  if (entries('spend') !== balance.spent || entries('grant') !== balance.granted || spends.length !== balance.spent) {
    wrong(
      `${cloudId}: the ledger has ${entries('grant')} granted and ${entries('spend')} spent, the balance ${balance.granted} and ${balance.spent}`,
    );
  }
  if (balance.available !== balance.granted + balance.purchased - balance.reversed - balance.spent - balance.held) {
    wrong(`${cloudId}: the balance does not add up: ${JSON.stringify(balance)}`);
  }
}

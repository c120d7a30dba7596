// What must be true after a torture run (torture.mjs), whatever was killed when (spec 2.5, 2.6, 3.2, 3.9, 10.1, 11.1).

const END_STATES = ['completed', 'failed', 'invalidated', 'in_review'];

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

// `facts`: {accepted: [{store, orderId, deliveryId}] of every 202 (deliveryId absent: ignored), told: [{kind: edit, cancel or invalidate,
// deliveryId, file: added by an edit}] of what came later and was answered with success, merchants: [{cloudId, deliveries, balance,
// ledger}], shares and friendships as the simulator's /sim/effects has them, events: [{id, body}] as they came}. Returns sentences; none: all is well.
export function judge({ accepted, told: later, merchants, shares, friendships, events }) {
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
      else if (`${row.integrationId} ${row.orderId}` !== order) wrong(`${id} was to be order ${order}, and is ${row.integrationId} ${row.orderId}`);
    }
  }
  for (const [order, rows] of groupedBy(deliveries, ({ integrationId, orderId }) => `${integrationId} ${orderId}`)) {
    if (rows.length > 1) wrong(`order ${order} has ${rows.length} deliveries`);
  }
  for (const row of deliveries) {
    if (!END_STATES.includes(row.status)) wrong(`${row.id} is still ${row.status}: ${row.message}`);
    if (row.pendingAction) wrong(`${row.id} still has a pending action: ${row.pendingAction}`);
    for (const item of row.items) {
      if (['sharing', 'revoking'].includes(item.status)) wrong(`item ${item.id} of ${row.id} is still ${item.status}`);
      if (row.status === 'completed' && item.status === 'owed') wrong(`${row.id} is completed, and owes ${item.fileId}`);
    }
  }

  for (const [id, all] of groupedBy(later, ({ deliveryId }) => deliveryId)) {
    const row = byId.get(id);
    const of = (kind) => all.filter((one) => one.kind === kind);
    if (!row) wrong(`${id} was to be changed, and there is no such delivery`);
    else if (of('invalidate').length > 0 && row.status !== 'invalidated') wrong(`${id} was invalidated, and is ${row.status}`);
    else if (of('cancel').length > 0 && !['invalidated', 'completed'].includes(row.status)) wrong(`the order of ${id} was cancelled, and it is ${row.status}`);
    // Of several, or after a cancellation, it depends on which came first.
    else if (all.length === 1 && all[0].kind === 'edit' && !row.items.some(({ fileId }) => fileId === all[0].file)) wrong(`${id} has no item of ${all[0].file}, which came later`);
  }

  const names = new Map(friendships.map(({ merchant, customer, username }) => [`${merchant} ${customer}`, username]));
  for (const { merchant, customer, username, requests } of friendships) {
    if (requests > 1) wrong(`${merchant} sent ${requests} friend requests to ${username} (${customer})`);
  }
  for (const { merchant, file, customer, made } of shares) {
    if (made > 1) wrong(`${file} was shared ${made} times with ${names.get(`${merchant} ${customer}`)}`);
  }

  for (const { cloudId, deliveries: rows, balance, ledger } of merchants) {
    // Files that were shared, as the bridge and as the platform count them.
    const ours = groupedBy(
      rows.flatMap((row) => row.items.filter(({ status }) => status === 'shared').map((item) => ({ key: `${item.fileId} ${row.targetUsername}`, item }))),
      ({ key }) => key,
    );
    const theirs = new Set(shares.filter(({ merchant, made }) => merchant === cloudId && made > 0).map(({ file, customer }) => `${file} ${names.get(`${cloudId} ${customer}`)}`));
    for (const [key, items] of ours) {
      if (items.length > 1) wrong(`${cloudId}: ${key} counts as shared by ${items.length} items`);
      if (!theirs.has(key)) wrong(`${cloudId}: ${key} counts as shared, and the platform knows nothing of it`);
    }
    for (const key of theirs) if (!ours.has(key)) wrong(`${cloudId}: the platform has ${key}, and no item says so`);

    if (balance.held !== 0) wrong(`${cloudId}: ${balance.held} credits are still on hold`);
    if (balance.spent !== theirs.size) wrong(`${cloudId}: ${balance.spent} credits were spent on ${theirs.size} files`);
    const entries = (kind) => sum(ledger.filter((entry) => entry.kind === kind), ({ credits }) => credits);
    if (entries('spend') !== balance.spent || entries('grant') !== balance.granted) {
      wrong(`${cloudId}: the ledger has ${entries('grant')} granted and ${entries('spend')} spent, the balance ${balance.granted} and ${balance.spent}`);
    }
    if (balance.available !== balance.granted + balance.purchased - balance.reversed - balance.spent - balance.held) {
      wrong(`${cloudId}: the balance does not add up: ${JSON.stringify(balance)}`);
    }
    const charged = ledger.filter(({ kind }) => kind === 'spend').map(({ itemId }) => itemId);
    if (new Set(charged).size !== charged.length) wrong(`${cloudId}: an item was charged twice`);
  }

  for (const [id, copies] of groupedBy(events, (event) => event.id)) {
    if (new Set(copies.map(({ body }) => body)).size > 1) wrong(`event ${id} came with different bytes`);
  }
  const told = groupedBy([...new Map(events.map(({ body }) => JSON.parse(body)).map((event) => [event.id, event])).values()], ({ deliveryId }) => deliveryId);
  for (const id of told.keys()) if (!byId.has(id)) wrong(`events tell of ${id}, and there is no such delivery`);
  for (const row of deliveries) {
    const its = (told.get(row.id) ?? []).sort((left, right) => left.delivery.sequence - right.delivery.sequence);
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
      if (its[i].type === its[i - 1].type && its[i].type !== 'delivery.queued') wrong(`${row.id} told ${its[i].type} twice in a row`);
    }
  }
  return problems;
}

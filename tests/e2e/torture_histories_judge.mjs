// Rules for the deliveries whose histories a torture run knows (torture_history.mjs), whatever was killed when: the store's last event and
// the merchant's actions decide (spec 2.6, 2.11, 3.1, 3.10, 3.11).

const HAS = ['shared', 'already_shared', 'revoke_failed']; // the customer has it
const GOT = [...HAS, 'revoked', 'delivered_by_hand'];
const STOPS = ['cancel', 'refundWhole']; // what autoRevoke follows; the trash is none of it
const lower = (name) => name?.toLowerCase();

// `facts`, `wrong`: as judge() has them; `byId`: the deliveries.
export function judgeHistories(facts, byId, wrong) {
  const { histories, friendships, merchants } = facts;
  const declined = new Set(
    friendships
      .filter(({ state }) => state === 'declined')
      .map(({ merchant, username }) => `${merchant} ${lower(username)}`),
  );
  const had = merchants
    .flatMap(({ cloudId, deliveries }) =>
      deliveries
        .filter(({ dryRun }) => !dryRun)
        .flatMap((row) => row.items.map((item) => ({ ...item, of: row.id, key: keyOf(cloudId, item) }))),
    )
    .filter(({ status }) => HAS.includes(status));
  for (const history of histories) {
    const row = byId.get(history.deliveryId);
    const report = (text) =>
      wrong(`${history.deliveryId} (order ${history.orderId}): ${text}\n  ${storyOf(history, row)}`);
    for (const { kind, duplicate } of history.log)
      if (duplicate === false) report(`a ${kind} event was taken for news`);
    if (row) for (const rule of RULES) rule(history, row, report, { declined, had });
    else if (paid(history) && history.owed.length > 0) report('it is paid, and has no delivery');
  }
}

const keyOf = (merchant, { fileId, username }) => `${merchant} ${fileId} ${lower(username)}`;
const paid = ({ payment, trashed }) => payment === 'paid' && !trashed;
const ended = ({ payment }) => payment === 'cancelled' || payment === 'refunded';
const did = (log, ...kinds) => log.some(({ kind }) => kinds.includes(kind));
// The steps after the last one of these kinds; all, if there was none.
const after = (log, ...kinds) => log.slice(log.findLastIndex(({ kind }) => kinds.includes(kind)) + 1);
const ofMerchant = (log) => log.filter(({ by }) => by === 'merchant');
const storyOf = ({ log, names, payment, trashed, autoRevoke, hold, owed, refunded }, row) =>
  JSON.stringify({
    log: log.map(({ kind, sure }) => (sure ? kind : `${kind}?`)).join(' '),
    names: names.map(({ name }) => name),
    payment,
    trashed,
    autoRevoke,
    hold,
    owed,
    refunded,
    row,
  });

const RULES = [
  function flags({ payment, trashed, refunds, dryRun }, row, report) {
    if (row.cancelled !== (payment === 'cancelled' || trashed))
      report(`it is ${row.cancelled ? '' : 'not '}flagged as cancelled`);
    if (row.refunded !== (refunds || payment === 'refunded'))
      report(`it is ${row.refunded ? '' : 'not '}flagged as refunded`);
    if (row.dryRun !== dryRun) report(`it is ${row.dryRun ? '' : 'not '}a dry run`);
  },

  function stopped(history, row, report) {
    const { log } = history;
    if (paid(history) || history.payment === 'awaiting') return;
    if (
      ofMerchant(after(log, 'cancel', 'refundWhole', 'trash', 'delete')).some(
        ({ kind }) => !['revoke', 'reprocess'].includes(kind),
      )
    )
      return;
    // In review stays what reached the customer before.
    const may = row.items.some(({ status }) => GOT.includes(status))
      ? ['completed', 'invalidated', 'in_review']
      : ['invalidated'];
    if (!may.includes(row.status)) report(`its order was stopped, and it is ${row.status}`);
  },

  function notEndedByItself(history, row, report) {
    const { log, owed, risk } = history;
    if (row.status !== 'invalidated' || !paid(history) || risk || owed.length === 0) return;
    if (!did(log, 'invalidate')) report('it is paid and owes files, and it is invalidated');
  },

  function review({ log, hold, payment, trashed, risk }, row, report) {
    if (row.status !== 'in_review') return;
    const why = {
      held: hold,
      high_risk: risk,
      payment_withdrawn: payment === 'awaiting' || trashed,
      reopened: did(log, 'reopen'),
    };
    if (!why[row.reviewReason]) report(`it is in review as ${row.reviewReason}`);
  },

  // The last word of the merchant stands, whatever the store sends; a stop ends a review.
  function lastWord({ log }, row, report) {
    const last = ofMerchant(log).findLast(({ kind }) => !['revoke', 'retry', 'reprocess'].includes(kind));
    if (
      !last?.sure ||
      after(log, last.kind).some(({ kind, by }) => by === 'merchant' && ['retry', 'reprocess'].includes(kind))
    )
      return;
    const later = after(log, last.kind);
    if (last.kind === 'invalidate' && row.status !== 'invalidated')
      report(`the merchant invalidated it, and it is ${row.status}`);
    if (
      last.kind === 'reopen' &&
      !did(later, ...STOPS, 'trash', 'delete', 'refundLine', 'less') &&
      row.status !== 'in_review'
    ) {
      report(`the merchant reopened it, and it is ${row.status}`);
    }
  },

  function held({ log, hold, dryRun }, row, report) {
    // An order that a person has processed again is not held.
    if (!hold || dryRun || did(log, 'approve', 'complete', 'reprocess')) return;
    if (!['in_review', 'invalidated'].includes(row.status)) report(`nobody approved it, and it is ${row.status}`);
    if (row.items.some(({ status }) => GOT.includes(status))) report('nobody approved it, and files of it are shared');
  },

  function present(history, row, report) {
    const { owed, log, dryRun } = history;
    if (row.status !== 'completed' || !paid(history)) return;
    for (const file of owed) {
      const item = row.items.find(({ fileId, former }) => fileId === file && !former);
      const back = item?.status === 'revoked' && did(log, 'revoke');
      if (!item) report(`it is completed, and has no item of ${file}`);
      else if (!back && ![...HAS, 'delivered_by_hand'].includes(item.status))
        report(`it is completed, and ${file} is ${item.status}`);
      else if (!dryRun && HAS.includes(item.status) && lower(item.username) !== lower(row.targetUsername)) {
        report(`it is completed for ${row.targetUsername}, and ${file} is with ${item.username}`);
      }
    }
  },

  // A paid order whose files nobody keeps back is done, or its customer declined.
  function failed({ merchant, names }, row, report, { declined }) {
    if (row.resolutionCode === 'username_missing' && names.length > 0)
      report('it failed for want of a username that is known');
    if (
      row.resolutionCode === 'friend_request_declined' &&
      !names.some(({ name }) => declined.has(`${merchant} ${lower(name)}`))
    ) {
      report('it failed as declined, and nobody declined');
    }
  },

  function name({ names }, row, report) {
    const known = new Set(names.map((one) => lower(one.name)));
    for (const one of [row.targetUsername, ...row.items.map(({ username }) => username)]) {
      if (one !== null && !known.has(lower(one))) report(`nobody named ${one}`);
    }
    const last = names.at(-1);
    if (!last || last.sure === false || lower(row.targetUsername) === lower(last.name)) return;
    // The store's, or the buyer's, that came during a job is too late where that job shared something.
    const late =
      last.by !== 'merchant' && row.items.some(({ status, sharedAt }) => sharedAt !== null || GOT.includes(status));
    if (!late) report(`the ${last.by} named ${last.name} last, and it is for ${row.targetUsername}`);
  },

  function former({ log, names }, row, report) {
    for (const item of row.items.filter(({ former }) => former)) {
      if (names.length < 2) report(`item ${item.id} is a former customer's, and nobody corrected the name`);
      if (item.status === 'owed') report(`item ${item.id} is owed to a former customer`);
      if (lower(item.username) === lower(row.targetUsername) && HAS.includes(item.status) && !did(log, 'revoke')) {
        const now = row.items.find((other) => !other.former && other.fileId === item.fileId);
        if (now && HAS.includes(now.status)) report(`${item.fileId} counts twice for ${item.username}`);
      }
    }
  },

  function takenBack({ log, autoRevoke }, row, report) {
    const may = did(log, 'revoke') || (autoRevoke && did(log, ...STOPS, 'refundLine', 'less'));
    for (const { status, fileId } of row.items) {
      if (!may && ['revoking', 'revoked', 'revoke_failed'].includes(status))
        report(`${fileId} is ${status}, and nobody wanted it back`);
    }
    // A file that a person took back comes again by an approval alone; one that the store took back, by a payment.
    const last = log.findLast(({ kind }) => kind === 'revoke');
    const later = after(log, 'revoke');
    if (
      !last?.sure ||
      !last.items ||
      did(later, 'approve') ||
      did(log, 'retry', 'buyerName', 'buyerRetry') ||
      (autoRevoke && did(log, ...STOPS, 'refundLine', 'less'))
    )
      return;
    for (const { id, status, fileId } of row.items) {
      if (last.items.includes(id) && !['revoked', 'revoke_failed'].includes(status))
        report(`the merchant took ${fileId} back, and it is ${status}`);
    }
  },

  // Nobody has a file that autoRevoke takes back, unless another delivery still needs it (spec 3.10).
  function autoRevoked(history, row, report, { had }) {
    const { merchant, autoRevoke, dryRun, log, refunded } = history;
    if (!autoRevoke || dryRun) return;
    const given = ofMerchant(after(log, ...STOPS)).some(({ kind }) => kind !== 'revoke' && kind !== 'invalidate');
    for (const item of row.items) {
      const gone = (ended(history) && !given) || refunded.includes(item.fileId);
      if (!gone || !item.username || !HAS.includes(item.status)) continue;
      const others = had.some(({ key, of }) => key === keyOf(merchant, item) && of !== row.id);
      if (!others) report(`${item.fileId} of ${item.username} was to be taken back, and is ${item.status}`);
    }
  },
];

// The judge of the tortures on facts made by hand: nothing wrong with sound ones, and each planted fault is found.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { judge } from './torture_judge.mjs';

const PERSON = 'usr_1';
const event = (id, type, deliveryId, status, sequence) => ({
  id,
  body: JSON.stringify({ id, type: `delivery.${type}`, deliveryId, delivery: { status, sequence } }),
});

function item(id, status, fields = {}) {
  const got = !['owed', 'dropped'].includes(status);
  return {
    id,
    fileId: 'f-1',
    status,
    sharedAt: got ? '2026-01-01T10:00:00.000Z' : null,
    username: got ? 'ann' : null,
    former: false,
    ...fields,
  };
}
function delivery(id, orderId, status, items, fields = {}) {
  return {
    id,
    integrationId: 'int_1',
    orderId,
    targetUsername: 'ann',
    status,
    resolutionCode: null,
    reviewReason: null,
    message: '',
    pendingAction: null,
    refunded: false,
    cancelled: false,
    dryRun: false,
    sequence: 0,
    timeline: [],
    items,
    ...fields,
  };
}

const grant = () => ({ kind: 'grant', credits: 10, itemId: null, purchaseId: null });
const spend = (itemId) => ({ kind: 'spend', credits: 1, itemId, purchaseId: null });
const line = (kind, credits, purchaseId) => ({ kind, credits, itemId: null, purchaseId });
// A purchase that was refunded in part, and one whose dispute was won.
const bought = () => [
  line('purchase', 100, 'pur_1'),
  line('reversal', 27, 'pur_1'),
  line('purchase', 7, 'pur_2'),
  line('reversal', 7, 'pur_2'),
  line('reversal_undone', 7, 'pur_2'),
];
const purchase = (id, fields) => ({
  id,
  merchant: 'm-1',
  state: 'pending',
  credits: 100,
  amount: 1900,
  currency: 'eur',
  creditsGranted: 0,
  creditsReversed: 0,
  amountRefunded: 0,
  amountDisputed: 0,
  ...fields,
});
const payment = (clientReferenceId, fields) => ({
  session: `cs_test_${clientReferenceId}`,
  clientReferenceId,
  amount: 1900,
  currency: 'eur',
  paid: false,
  refunded: 0,
  withdrawn: 0,
  reinstated: 0,
  ...fields,
});

const job = (fields) => ({
  id: 'blk_1',
  finishedAt: '2026-01-01T10:00:00.000Z',
  fault: null,
  total: 0,
  totalIsExact: true,
  done: 0,
  failedCount: 0,
  failed: [],
  ...fields,
});

function soundFacts() {
  return {
    accepted: [
      { store: 'int_1', orderId: '1', deliveryId: 'del_1' },
      { store: 'int_1', orderId: '1', deliveryId: 'del_1' },
      { store: 'int_1', orderId: '2', deliveryId: 'del_2' },
      { store: 'int_1', orderId: '3' },
    ],
    changes: [
      { kind: 'edit', deliveryId: 'del_1', file: 'f-1' },
      { kind: 'cancel', deliveryId: 'del_2' },
    ],
    everOwed: [
      { store: 'int_1', orderId: '1', files: ['f-1'] },
      { store: 'int_1', orderId: '2', files: ['f-1'] },
    ],
    jobs: [
      {
        merchant: 'm-1',
        store: 'int_1',
        action: 'retry',
        ids: [],
        attempts: 1,
        result: job({ total: 2, done: 1, failedCount: 1 }),
      },
      {
        merchant: 'm-1',
        store: 'int_1',
        action: 'invalidate',
        ids: ['del_1', 'del_2'],
        attempts: 1,
        result: job({ total: 2, failedCount: 2, failed: [{ id: 'del_1' }, { id: 'del_2' }] }),
      },
    ],
    histories: [],
    merchants: [
      {
        cloudId: 'm-1',
        deliveries: [
          delivery('del_1', '1', 'completed', [item('itm_1', 'shared')], { sequence: 2 }),
          delivery('del_2', '2', 'completed', [item('itm_2', 'already_shared')], { sequence: 2 }),
        ],
        balance: { granted: 10, purchased: 107, reversed: 27, spent: 1, held: 0, available: 89, debt: 0 },
        ledger: [grant(), ...bought(), spend('itm_1')],
      },
    ],
    money: {
      purchases: [
        purchase('pur_1', { state: 'paid', creditsGranted: 100, creditsReversed: 27, amountRefunded: 500 }),
        purchase('pur_2', { state: 'paid', credits: 7, amount: 333, creditsGranted: 7 }),
        purchase('pur_3', { state: 'pending' }),
      ],
      payments: [
        payment('pur_1', { paid: true, refunded: 500 }),
        payment('pur_2', { paid: true, amount: 333, withdrawn: 333, reinstated: 333 }),
        payment('pur_3'),
      ],
      books: { eur: { taken: 2233, refunded: 500, withdrawn: 333, reinstated: 333, net: 1733 } },
    },
    shares: [{ merchant: 'm-1', file: 'f-1', customer: 'u-1', made: 1, revoked: 0, standing: true }],
    friendships: [{ merchant: 'm-1', customer: 'u-1', username: 'ann', state: 'friends', requests: 1, withdrawn: 0 }],
    events: [
      event('e1', 'queued', 'del_1', 'queued', 1),
      event('e2', 'completed', 'del_1', 'completed', 2),
      event('e2', 'completed', 'del_1', 'completed', 2),
      event('e3', 'queued', 'del_2', 'queued', 1),
      event('e4', 'completed', 'del_2', 'completed', 2),
    ],
  };
}
const timeline = (...entries) =>
  entries.map(([status, actor, ms]) => ({ at: new Date(ms).toISOString(), status, actor, message: '' }));
const merchant = (facts) => facts.merchants[0];
const rows = (facts) => merchant(facts).deliveries;
const credits = (facts, ...items) => {
  const { balance } = merchant(facts);
  merchant(facts).ledger = [grant(), ...bought(), ...items.map(spend)];
  Object.assign(balance, { spent: items.length, available: 90 - items.length });
};

const bought1 = (facts) => facts.money.purchases[0];
const reckon = (facts, kind, credits, purchaseId, balance) => {
  merchant(facts).ledger.push(line(kind, credits, purchaseId));
  Object.assign(merchant(facts).balance, balance);
};

describe('the judge', () => {
  test('finds nothing where nothing is wrong', () => assert.deepEqual(judge(soundFacts()), []));
  const planted = {
    'an accepted order that is lost': [(f) => rows(f).pop(), /no such delivery/],
    'an order answered with two deliveries': [(f) => (f.accepted[1].deliveryId = 'del_2'), /2 deliveries/],
    'an order with two deliveries': [(f) => (rows(f)[1].orderId = '1'), /has 2 deliveries/],
    'an edit that is lost': [(f) => (f.changes[0].file = 'f-2'), /no item of f-2/],
    'a cancellation that is lost': [(f) => (rows(f)[1].status = 'failed'), /was cancelled, and it is failed/],
    'an invalidation that is lost': [(f) => (f.changes[1].kind = 'invalidate'), /was invalidated, and is completed/],
    'a change of nothing': [(f) => (f.changes[0].deliveryId = 'del_9'), /del_9 was to be changed/],
    'a delivery that never ends': [(f) => (rows(f)[0].status = 'queued'), /still queued/],
    'a failure without a cause': [
      (f) => Object.assign(rows(f)[0], { status: 'failed', resolutionCode: 'internal_error' }),
      /failed as internal_error, which nothing here causes/,
    ],
    'a failure that owes nothing': [
      (f) => Object.assign(rows(f)[0], { status: 'failed', resolutionCode: 'friend_request_declined' }),
      /del_1 failed, and owes nothing/,
    ],
    'a job that has not ended': [(f) => (f.jobs[0].result.finishedAt = null), /has not ended/],
    'a job that could not go on': [(f) => (f.jobs[0].result.fault = 'unreadable'), /ended for a fault: unreadable/],
    'a job that did one twice': [(f) => (f.jobs[1].result.done = 1), /did 1 and was refused 2 of 2/],
    'an invalidation of many that left one': [
      (f) => f.jobs[1].result.failed.pop(),
      /was to invalidate del_2, and they are completed/,
    ],
    'a retry of many that was done twice': [
      (f) =>
        (rows(f)[0].timeline = [1, 2].map((at) => ({
          at: `2026-01-01T10:00:0${at}.000Z`,
          status: 'queued',
          actor: PERSON,
          message: 'The merchant asked for a new friend request.',
        }))),
      /del_1 was retried 2 times, by 1 jobs on many/,
    ],
    'a pending action that is left': [(f) => (rows(f)[0].pendingAction = 'stop'), /still has a pending action: stop/],
    'an item whose share was never settled': [(f) => (rows(f)[0].items[0].status = 'sharing'), /still sharing/],
    'a revocation that never ends': [(f) => (rows(f)[0].items[0].status = 'revoking'), /still revoking/],
    'a completed delivery that owes': [(f) => (rows(f)[1].items[0].status = 'owed'), /owes/],
    'a file that no line owed': [
      (f) => f.everOwed[0].files.splice(0, 1, 'f-2'),
      /item of f-1, which no line of its order ever owed/,
    ],
    'a review that ended by itself': [
      (f) =>
        (rows(f)[0].timeline = [
          { status: 'queued', actor: 'system', message: 'on' },
          { status: 'in_review', actor: PERSON, message: 'wait' },
        ]),
      /left its review for queued by system/,
    ],
    'a review that the store ended': [
      (f) =>
        (rows(f)[0].timeline = [
          { status: 'queued', actor: 'order', message: 'The order changed.' },
          { status: 'in_review', actor: PERSON, message: 'wait' },
        ]),
      /left its review for queued by order/,
    ],
    'a review that ended by itself after it was approved once': [
      (f) =>
        (rows(f)[0].timeline = timeline(
          ['completed', 'system', 5_300],
          ['in_review', PERSON, 5_000],
          ['queued', PERSON, 20],
        )),
      /left its review for completed by system/,
    ],
    'a review that ended by itself in the state of before': [
      (f) =>
        (rows(f)[0].timeline = timeline(
          ['completed', 'system', 5_000],
          ['in_review', PERSON, 20],
          ['completed', 'system', 0],
        )),
      /left its review for completed by system/,
    ],
    'a file shared twice': [(f) => (f.shares[0].made = 2), /shared 2 times/],
    'a share that nobody knows of': [(f) => f.shares.push({ ...f.shares[0], file: 'f-2' }), /no item says so/],
    'a share that was forgotten': [
      (f) => rows(f).forEach(({ items }) => (items[0].status = 'revoked')),
      /the platform has f-1 ann still/,
    ],
    'a share that never happened': [(f) => (f.shares = []), /knows nothing/],
    'a share that is gone': [
      (f) => Object.assign(f.shares[0], { revoked: 1, standing: false }),
      /the platform has it no more/,
    ],
    'a share without a name': [(f) => (rows(f)[0].items[0].username = null), /does not say to whom/],
    'a share that nobody paid for': [(f) => credits(f), /was shared, and nobody paid for it/],
    'two credits for one share': [
      (f) => credits(f, 'itm_1', 'itm_2'),
      /2 credits were spent on f-1 ann, which was shared 1 times/,
    ],
    'two credits for a file of one delivery': [
      (f) => {
        rows(f)[0].items.push(item('itm_3', 'revoked'));
        Object.assign(f.shares[0], { made: 2, revoked: 1 });
        credits(f, 'itm_1', 'itm_3');
      },
      /f-1 ann of del_1 was charged 2 times/,
    ],
    'a credit for nothing that is known': [
      (f) => credits(f, 'itm_1', 'itm_9'),
      /spent on itm_9, and there is no such item/,
    ],
    'a second friend request': [(f) => (f.friendships[0].requests = 2), /2 friend requests/],
    'a hold that is left': [(f) => Object.assign(merchant(f).balance, { held: 1, available: 8 }), /on hold/],
    'a debt': [(f) => (merchant(f).balance.debt = 1), /1 credits are owed/],
    'a timeline that goes back': [
      (f) => (rows(f)[0].timeline = timeline(['failed', 'system', 5_000], ['queued', PERSON, 5_028])),
      /the timeline of del_1 goes back from 1970-01-01T00:00:05.028Z/,
    ],
    'events that go back': [
      (f) => (rows(f)[0].events = [5_000, 5_028].map((ms) => ({ createdAt: new Date(ms).toISOString() }))),
      /the events of del_1 goes back/,
    ],
    'a delivery that is older than its newest event': [
      (f) =>
        Object.assign(rows(f)[0], {
          updatedAt: new Date(5_000).toISOString(),
          events: [{ createdAt: new Date(5_028).toISOString() }],
        }),
      /del_1 was updated at 1970-01-01T00:00:05.000Z, and tells of an event at/,
    ],
    'a purchase that was granted twice': [
      (f) => reckon(f, 'purchase', 100, 'pur_1', { purchased: 207, available: 189 }),
      /pur_1 was granted 2 times/,
    ],
    'a purchase that was granted twice, and the books with it': [
      (f) => {
        bought1(f).creditsGranted = 200;
        reckon(f, 'purchase', 100, 'pur_1', { purchased: 207, available: 189 });
      },
      /pur_1 is paid, and granted 200 of 100 credits/,
    ],
    'a purchase that was paid and never granted': [
      (f) => {
        Object.assign(f.money.payments[2], { paid: true });
        Object.assign(f.money.books.eur, { taken: 4133, net: 3633 });
      },
      /pur_3 is paid, and granted 0 of 100 credits/,
    ],
    'a grant for nothing': [
      (f) => {
        f.money.purchases[2].creditsGranted = 100;
        reckon(f, 'purchase', 100, 'pur_3', { purchased: 207, available: 189 });
      },
      /pur_3 is not paid, and granted 100/,
    ],
    'a refund that is lost': [
      (f) => Object.assign(bought1(f), { creditsReversed: 0, amountRefunded: 0 }),
      /pur_1 says 0 refunded and 0 disputed, and the processor 500 and 0/,
    ],
    'a refund that reversed nothing': [
      (f) => (bought1(f).creditsReversed = 0),
      /pur_1 reversed 0 credits, and 27 went back/,
    ],
    'a refund that the ledger does not have': [
      (f) => merchant(f).ledger.splice(2, 1),
      /pur_1 reversed 27 credits, and the ledger says 0/,
    ],
    'a dispute that was reversed twice': [
      (f) => {
        Object.assign(f.money.payments[1], { reinstated: 0 });
        Object.assign(f.money.purchases[1], { amountDisputed: 333, creditsReversed: 14 });
      },
      /pur_2 reversed 14 credits, and 7 went back/,
    ],
    'a dispute that the ledger has twice': [
      (f) => reckon(f, 'reversal', 7, 'pur_2', { reversed: 34, available: 82 }),
      /pur_2 reversed 0 credits, and the ledger says 7/,
    ],
    'a won dispute that was not undone': [
      (f) => (f.money.purchases[1].amountDisputed = 333),
      /pur_2 says 0 refunded and 333 disputed, and the processor 0 and 0/,
    ],
    'credits of a purchase that the balance does not have': [
      (f) => Object.assign(merchant(f).balance, { purchased: 100, available: 82 }),
      /100 credits are purchased, and their purchases granted 107/,
    ],
    'a reversal that the balance does not have': [
      (f) => Object.assign(merchant(f).balance, { reversed: 20, available: 96 }),
      /20 credits are reversed and 0 owed, and 27 went back/,
    ],
    'a ledger that leaves something else': [
      (f) => merchant(f).ledger.push(line('reversal_undone', 1, 'pur_9')),
      /the ledger leaves 90 credits/,
    ],
    "an entry of nobody's purchase": [
      (f) => merchant(f).ledger.push(line('debt_paid', 1, 'pur_9')),
      /tells of pur_9, which is no purchase of theirs/,
    ],
    'a spending of a purchase': [
      (f) => (merchant(f).ledger[6].purchaseId = 'pur_1'),
      /an entry of kind spend names pur_1/,
    ],
    'a kind of entry that is unknown': [(f) => merchant(f).ledger.push(line('gift', 1, null)), /an entry of kind gift/],
    'another price': [(f) => (f.money.payments[0].amount = 1), /pur_1 costs 1900 eur, and the processor took 1 eur/],
    'two pages of one purchase': [
      (f) => f.money.payments.push(payment('pur_3', { session: 'cs_test_other' })),
      /pur_3 has two payment pages/,
    ],
    'a purchase that is lost': [
      (f) => f.money.purchases.shift(),
      /a page of pur_1, which is paid, and there is no such purchase/,
    ],
    'money that nobody was sold for': [(f) => (f.money.books.eur.taken = 9), /took 9 eur, and 2233 was sold/],
    'money that went back to nobody': [
      (f) => (f.money.books.eur.net = 9),
      /has 9 eur left, and the purchases say 1733/,
    ],
    'a ledger that differs': [(f) => merchant(f).ledger.pop(), /the ledger has/],
    'a balance that does not add up': [(f) => (merchant(f).balance.available = 10), /does not add up/],
    'an item charged twice': [(f) => credits(f, 'itm_1', 'itm_1'), /charged twice/],
    'an event that is missing': [(f) => f.events.splice(0, 1), /have the numbers 2/],
    'two events of one number': [
      (f) => f.events.push({ id: 'e9', body: f.events[0].body.replace('e1', 'e9') }),
      /have the numbers 1,1,2/,
    ],
    'an event with other bytes': [(f) => (f.events[2].body += ' '), /different bytes/],
    'an event of another id than its header': [(f) => (f.events[0].id = 'e9'), /event e9 calls itself e1/],
    'an event of no delivery': [
      (f) => (f.events[3].body = f.events[3].body.replace('del_2', 'del_9')),
      /no such delivery/,
    ],
    'a last event of another state': [
      (f) => (f.events[4].body = f.events[4].body.replaceAll('completed', 'failed')),
      /its last event said failed/,
    ],
    'an event that is sent again': [
      (f) => {
        rows(f)[0].sequence = 3;
        f.events.push(event('e9', 'completed', 'del_1', 'completed', 3));
      },
      /sent delivery.completed twice in a row/,
    ],
  };
  for (const [name, [plant, expected]] of Object.entries(planted)) {
    test(`finds ${name}`, () => {
      const facts = soundFacts();
      plant(facts);
      assert.match(judge(facts).join('\n'), expected);
    });
  }
  test('lets a request be made again that was taken back, or that a merchant asked for again', () => {
    const facts = soundFacts();
    Object.assign(facts.friendships[0], { requests: 2, withdrawn: 1 });
    assert.deepEqual(judge(facts), []);
    Object.assign(facts.friendships[0], { requests: 2, withdrawn: 0 });
    const asked = historyOf(facts, 'del_1', { log: steps('born', 'retry+') });
    assert.deepEqual(judge(facts), []);
    asked.names = [{ name: 'bob', by: 'store' }];
    assert.match(judge(facts).join('\n'), /2 friend requests/);
  });
  test('lets a payment end the review that its loss began, and a stop any', () => {
    const facts = soundFacts();
    rows(facts)[0].timeline = [
      { status: 'invalidated', actor: 'order', message: 'over' },
      { status: 'in_review', actor: 'order', message: 'wait' },
      { status: 'queued', actor: 'order', message: 'The order was paid again; the delivery goes on.' },
      { status: 'in_review', actor: 'order', message: 'wait' },
      { status: 'queued', actor: PERSON, message: 'go on' },
      { status: 'in_review', actor: PERSON, message: 'wait' },
    ];
    assert.deepEqual(judge(facts), []);
  });
  test('lets banks take back more than was paid', () => {
    const facts = soundFacts();
    Object.assign(facts.money.payments[1], { withdrawn: 400, reinstated: 0 });
    Object.assign(facts.money.purchases[1], { amountDisputed: 333, creditsReversed: 7 });
    Object.assign(facts.money.books.eur, { withdrawn: 400, reinstated: 0, net: 1333 });
    merchant(facts).ledger.splice(5, 1);
    Object.assign(merchant(facts).balance, { reversed: 34, available: 82 });
    assert.deepEqual(judge(facts), []);
  });
  test('lets two nodes list one moment the wrong way round', () => {
    const facts = soundFacts();
    rows(facts)[0].timeline = timeline(
      ['completed', 'system', 90],
      ['in_review', PERSON, 14],
      ['queued', PERSON, 14],
      ['in_review', PERSON, 8],
    );
    rows(facts)[1].timeline = timeline(
      ['queued', PERSON, 900],
      ['completed', 'system', 10],
      ['in_review', PERSON, 10],
      ['completed', 'system', 0],
    );
    assert.deepEqual(judge(facts), []);
  });
  test('lets an order of high risk, or one that is held, come to review without an event', () => {
    for (const why of [{ log: steps('born', 'risk') }, { hold: true, log: steps('born', 'approve+') }]) {
      const facts = soundFacts();
      rows(facts)[0].sequence = 3;
      facts.events.push(event('e9', 'completed', 'del_1', 'completed', 3));
      assert.match(judge(facts).join('\n'), /sent delivery.completed twice in a row/);
      historyOf(facts, 'del_1', why);
      assert.deepEqual(judge(facts), []);
    }
  });
  test('lets another customer be asked, of a delivery that is queued', () => {
    const facts = soundFacts();
    rows(facts)[0].sequence = 4;
    facts.events.splice(
      1,
      2,
      ...[2, 3].map((number) =>
        event(`w${number}`, 'waiting_for_friendship', 'del_1', 'waiting_for_friendship', number),
      ),
      event('e9', 'completed', 'del_1', 'completed', 4),
    );
    assert.match(judge(facts).join('\n'), /sent delivery.waiting_for_friendship twice in a row/);
    historyOf(facts, 'del_1', {
      names: [
        { name: 'bob', by: 'store' },
        { name: 'ann', by: 'merchant', sure: true },
      ],
    });
    assert.deepEqual(judge(facts), []);
  });
});

// 'born', 'cancel': events of the store; 'retry+', 'approve+': done by the merchant; 'reopen?': perhaps done.
function steps(...kinds) {
  return kinds.map((text) => {
    const by = /[+?]$/.test(text) ? 'merchant' : 'store';
    return { kind: text.replace(/[+?]$/, ''), by, sure: !text.endsWith('?'), attempts: 1 };
  });
}
// Gives a delivery of the facts a history.
function historyOf(facts, deliveryId, fields) {
  const { orderId } = rows(facts).find(({ id }) => id === deliveryId);
  const history = {
    merchant: 'm-1',
    store: 'int_1',
    orderId,
    deliveryId,
    autoRevoke: false,
    hold: false,
    dryRun: false,
    payment: 'paid',
    trashed: false,
    risk: false,
    refunds: false,
    owed: ['f-1'],
    refunded: [],
    names: [{ name: 'ann', by: 'store' }],
    log: steps('born'),
    ...fields,
  };
  facts.histories.push(history);
  return history;
}
// One order, whose file is shared with ann.
function oneOrder(row = {}, history = {}, itemFields = {}) {
  const facts = soundFacts();
  rows(facts).pop();
  Object.assign(facts, { changes: [], accepted: facts.accepted.slice(0, 2), events: facts.events.slice(0, 3) });
  Object.assign(rows(facts)[0], row);
  if (['failed', 'invalidated'].includes(row.status)) {
    rows(facts)[0].sequence = 3;
    facts.events.push(event('e3', row.status, 'del_1', row.status, 3));
  }
  Object.assign(rows(facts)[0].items[0], itemFields);
  historyOf(facts, 'del_1', history);
  return facts;
}
// The platform does not have it any more.
function takenBack(facts) {
  Object.assign(facts.shares[0], { revoked: 1, standing: false });
  rows(facts)[0].items[0].status = 'revoked';
  return facts;
}
// Nothing was ever shared.
function unshared(facts, status = 'owed') {
  facts.shares = [];
  credits(facts);
  Object.assign(rows(facts)[0].items[0], item('itm_1', status));
  return facts;
}
const inReview = (reviewReason) => ({ status: 'in_review', reviewReason });
const over = { payment: 'cancelled', log: steps('born', 'cancel') };

describe('the judge of histories', () => {
  const sound = {
    'a paid order that is completed': () => oneOrder(),
    'a cancelled order that stays completed': () => oneOrder({ cancelled: true }, over),
    'a cancelled order that was taken back': () =>
      takenBack(oneOrder({ cancelled: true }, { ...over, autoRevoke: true })),
    'a refunded order in the trash': () =>
      unshared(
        oneOrder(
          { status: 'invalidated', refunded: true, cancelled: true },
          { payment: 'refunded', trashed: true, log: steps('born', 'refundWhole', 'trash') },
        ),
      ),
    'an order in the trash, which takes nothing back': () =>
      oneOrder({ cancelled: true }, { trashed: true, autoRevoke: true, log: steps('born', 'trash') }),
    'a cancelled order of which nothing was shared': () =>
      unshared(oneOrder({ status: 'invalidated', cancelled: true }, over)),
    'what a merchant invalidated': () => oneOrder({ status: 'invalidated' }, { log: steps('born', 'invalidate+') }),
    'what a merchant reopened': () => oneOrder({ ...inReview('reopened') }, { log: steps('born', 'reopen+', 'pay') }),
    'a held order': () => unshared(oneOrder({ ...inReview('held') }, { hold: true })),
    'what a merchant took back': () =>
      takenBack(oneOrder({}, { log: [...steps('born'), { ...steps('revoke+')[0], items: ['itm_1'] }] })),
    'a file that another delivery stands on': () => {
      const facts = soundFacts();
      Object.assign(rows(facts)[1], { cancelled: true });
      historyOf(facts, 'del_2', { ...over, autoRevoke: true });
      return facts;
    },
    'a refunded file that was taken back': () =>
      takenBack(
        oneOrder(
          { refunded: true },
          { autoRevoke: true, refunds: true, owed: [], refunded: ['f-1'], log: steps('born', 'refundLine') },
        ),
      ),
    'an order that waits for a payment': () =>
      unshared(oneOrder({ ...inReview('payment_withdrawn') }, { payment: 'awaiting', log: steps('born', 'withdraw') })),
    'a correction by the merchant': () => {
      const facts = oneOrder(
        { targetUsername: 'bob' },
        {
          names: [
            { name: 'ann', by: 'store' },
            { name: 'bob', by: 'merchant', sure: true },
          ],
        },
        { former: true },
      );
      rows(facts)[0].items.push(item('itm_2', 'shared', { username: 'bob' }));
      facts.friendships.push({ ...facts.friendships[0], customer: 'u-2', username: 'bob' });
      facts.shares.push({ ...facts.shares[0], customer: 'u-2' });
      credits(facts, 'itm_1', 'itm_2');
      return facts;
    },
    'a store that names another too late': () =>
      oneOrder(
        {},
        {
          names: [
            { name: 'ann', by: 'store' },
            { name: 'bob', by: 'store' },
          ],
        },
      ),
    'a test order': () => unshared(oneOrder({ dryRun: true }, { dryRun: true }), 'shared'),
  };
  for (const [name, made] of Object.entries(sound))
    test(`finds nothing in ${name}`, () => assert.deepEqual(judge(made()), []));

  const planted = {
    'a flag that is missing': [() => oneOrder({}, over), /not flagged as cancelled/],
    'a flag of nothing': [() => oneOrder({ refunded: true }), /flagged as refunded/],
    'a test order that is shared': [() => oneOrder({}, { dryRun: true }), /not a dry run/],
    'a paid order without a delivery': [
      () => oneOrder(),
      /paid, and has no delivery/,
      (f) => (f.histories[0].deliveryId = undefined),
    ],
    'a repeat that is news': [
      () => oneOrder({}, { log: [...steps('born'), { kind: 'repeat', by: 'store', sure: true, duplicate: false }] }),
      /repeat event was taken for news/,
    ],
    'a stopped order that goes on': [
      () => unshared(oneOrder({ cancelled: true, ...inReview('held') }, { ...over, hold: true })),
      /was stopped, and it is in_review/,
    ],
    'a paid order that ended': [
      () => unshared(oneOrder({ status: 'invalidated' })),
      /paid and owes files, and it is invalidated/,
    ],
    'a review without its reason': [() => oneOrder({ ...inReview('held') }), /in review as held/],
    'a review for a payment that is there': [
      () => oneOrder({ ...inReview('payment_withdrawn') }, { log: steps('born', 'withdraw', 'pay') }),
      /in review as payment_withdrawn/,
    ],
    'an invalidation that is undone': [
      () => oneOrder({}, { log: steps('born', 'invalidate+', 'pay') }),
      /merchant invalidated it, and it is completed/,
    ],
    'a reopening that is undone': [
      () => oneOrder({}, { log: steps('born', 'reopen+', 'pay') }),
      /merchant reopened it, and it is completed/,
    ],
    'a held order that is shared': [
      () => oneOrder({ ...inReview('held') }, { hold: true }),
      /nobody approved it, and files of it are shared/,
    ],
    'a held order that went on': [
      () => unshared(oneOrder({ status: 'failed', resolutionCode: 'friend_request_declined' }, { hold: true })),
      /nobody approved it, and it is failed/,
    ],
    'a file that is missing': [() => oneOrder({}, { owed: ['f-1', 'f-2'] }), /has no item of f-2/],
    'a file that was dropped': [() => unshared(oneOrder(), 'dropped'), /completed, and f-1 is dropped/],
    'a file that was taken back though it is paid': [
      () => takenBack(oneOrder({}, { autoRevoke: true, log: steps('born', 'cancel', 'pay') })),
      /completed, and f-1 is revoked/,
    ],
    'a file that only the former customer has': [
      () =>
        oneOrder(
          { targetUsername: 'bob' },
          {
            names: [
              { name: 'ann', by: 'store' },
              { name: 'bob', by: 'merchant', sure: true },
            ],
          },
          { former: true },
        ),
      /has no item of f-1/,
    ],
    'a file that is with another customer': [
      () =>
        oneOrder(
          { targetUsername: 'bob' },
          {
            names: [
              { name: 'ann', by: 'store' },
              { name: 'bob', by: 'merchant', sure: true },
            ],
          },
        ),
      /completed for bob, and f-1 is with ann/,
    ],
    'a known name that is missing': [
      () => unshared(oneOrder({ status: 'failed', resolutionCode: 'username_missing' })),
      /want of a username that is known/,
    ],
    'a refusal by nobody': [
      () => unshared(oneOrder({ status: 'failed', resolutionCode: 'friend_request_declined' })),
      /declined, and nobody declined/,
    ],
    'a name from nowhere': [() => oneOrder({ targetUsername: 'eve' }), /nobody named eve/],
    'a correction that is lost': [
      () =>
        oneOrder(
          {},
          {
            names: [
              { name: 'ann', by: 'store' },
              { name: 'bob', by: 'merchant', sure: true },
            ],
          },
        ),
      /merchant named bob last, and it is for ann/,
    ],
    "a store's correction that is lost": [
      () =>
        unshared(
          oneOrder(
            { ...inReview('held') },
            {
              hold: true,
              names: [
                { name: 'ann', by: 'store' },
                { name: 'bob', by: 'store' },
              ],
            },
          ),
        ),
      /store named bob last, and it is for ann/,
    ],
    'a former customer of no correction': [() => oneOrder({}, {}, { former: true }), /nobody corrected the name/],
    'a file that is owed to a former customer': [
      () => unshared(oneOrder({ status: 'invalidated' }, { log: steps('born', 'invalidate+') })),
      /owed to a former customer/,
      (f) => (rows(f)[0].items[0].former = true),
    ],
    'a customer who has it twice': [
      () =>
        oneOrder(
          {},
          {
            names: [
              { name: 'ann', by: 'store' },
              { name: 'ANN', by: 'merchant', sure: true },
            ],
          },
        ),
      /counts twice for ann/,
      (f) =>
        (rows(f)[0].items = [
          item('itm_1', 'shared', { former: true }),
          item('itm_2', 'already_shared', { username: 'ANN' }),
        ]),
    ],
    'a file taken back for nothing': [() => takenBack(oneOrder()), /is revoked, and nobody wanted it back/],
    'a file taken back by the trash': [
      () => takenBack(oneOrder({ cancelled: true }, { trashed: true, autoRevoke: true, log: steps('born', 'trash') })),
      /is revoked, and nobody wanted it back/,
    ],
    'a file that a person took back and the store gave again': [
      () =>
        oneOrder(
          {},
          { log: [...steps('born'), { ...steps('revoke+')[0], items: ['itm_1'] }, ...steps('cancel', 'pay')] },
        ),
      /merchant took f-1 back, and it is shared/,
    ],
    'a cancelled order that is not taken back': [
      () => oneOrder({ cancelled: true }, { ...over, autoRevoke: true }),
      /f-1 of ann was to be taken back/,
    ],
    'a refunded file that is not taken back': [
      () =>
        oneOrder(
          { refunded: true },
          { autoRevoke: true, refunds: true, owed: [], refunded: ['f-1'], log: steps('born', 'refundLine') },
        ),
      /f-1 of ann was to be taken back/,
    ],
    "a former customer's file that is not taken back": [
      () =>
        oneOrder(
          { cancelled: true, targetUsername: 'bob' },
          {
            ...over,
            autoRevoke: true,
            names: [
              { name: 'ann', by: 'store' },
              { name: 'bob', by: 'merchant', sure: true },
            ],
          },
          { former: true },
        ),
      /f-1 of ann was to be taken back/,
    ],
  };
  for (const [name, [made, expected, plant = () => {}]] of Object.entries(planted)) {
    test(`finds ${name}`, () => {
      const facts = made();
      plant(facts);
      assert.match(judge(facts).join('\n'), expected);
    });
  }
});

// The short form of `./dev torture`, and the judge itself on planted faults.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ENGINE } from './harness.mjs';
import { torture } from './torture.mjs';
import { judge } from './torture_judge.mjs';
import { kills } from './torture_troubles.mjs';

function soundFacts() {
  const delivery = (id, orderId, username, status, items, sequence) => ({ id, integrationId: 'int_1', orderId, targetUsername: username, status, message: '', pendingAction: null, items, sequence });
  const item = (id, status) => ({ id, fileId: 'f-1', status });
  const event = (id, type, deliveryId, status, sequence) => ({ id, body: JSON.stringify({ id, type: `delivery.${type}`, deliveryId, delivery: { status, sequence } }) });
  return {
    accepted: [
      { store: 'int_1', orderId: '1', deliveryId: 'del_1' },
      { store: 'int_1', orderId: '1', deliveryId: 'del_1' },
      { store: 'int_1', orderId: '2', deliveryId: 'del_2' },
      { store: 'int_1', orderId: '3' },
    ],
    told: [
      { kind: 'edit', deliveryId: 'del_1', file: 'f-1' },
      { kind: 'cancel', deliveryId: 'del_2' },
    ],
    merchants: [
      {
        cloudId: 'm-1',
        deliveries: [delivery('del_1', '1', 'ann', 'completed', [item('itm_1', 'shared')], 2), delivery('del_2', '2', 'ann', 'completed', [item('itm_2', 'already_shared')], 2)],
        balance: { granted: 10, purchased: 0, reversed: 0, spent: 1, held: 0, available: 9, debt: 0 },
        ledger: [{ kind: 'grant', credits: 10, itemId: null }, { kind: 'spend', credits: 1, itemId: 'itm_1' }],
      },
    ],
    shares: [{ merchant: 'm-1', file: 'f-1', customer: 'u-1', made: 1 }],
    friendships: [{ merchant: 'm-1', customer: 'u-1', username: 'ann', requests: 1 }],
    events: [
      event('e1', 'queued', 'del_1', 'queued', 1),
      event('e2', 'completed', 'del_1', 'completed', 2),
      event('e2', 'completed', 'del_1', 'completed', 2),
      event('e3', 'queued', 'del_2', 'queued', 1),
      event('e4', 'completed', 'del_2', 'completed', 2),
    ],
  };
}

describe('the judge', () => {
  test('finds nothing where nothing is wrong', () => assert.deepEqual(judge(soundFacts()), []));
  const planted = {
    'an accepted order that is lost': [(f) => f.merchants[0].deliveries.pop(), /no such delivery/],
    'an order answered with two deliveries': [(f) => (f.accepted[1].deliveryId = 'del_2'), /2 deliveries/],
    'an order with two deliveries': [(f) => (f.merchants[0].deliveries[1].orderId = '1'), /has 2 deliveries/],
    'an edit that is lost': [(f) => (f.told[0].file = 'f-2'), /no item of f-2/],
    'a cancellation that is lost': [(f) => (f.merchants[0].deliveries[1].status = 'failed'), /was cancelled, and it is failed/],
    'an invalidation that is lost': [(f) => (f.told[1].kind = 'invalidate'), /was invalidated, and is completed/],
    'a change of nothing': [(f) => (f.told[0].deliveryId = 'del_9'), /del_9 was to be changed/],
    'a delivery that never ends': [(f) => (f.merchants[0].deliveries[0].status = 'queued'), /still queued/],
    'an item whose share was never settled': [(f) => (f.merchants[0].deliveries[0].items[0].status = 'sharing'), /still sharing/],
    'a completed delivery that owes': [(f) => (f.merchants[0].deliveries[1].items[0].status = 'owed'), /owes/],
    'a file shared twice': [(f) => (f.shares[0].made = 2), /shared 2 times/],
    'a share that nobody knows of': [(f) => f.shares.push({ merchant: 'm-1', file: 'f-2', customer: 'u-1', made: 1 }), /no item says so/],
    'a share that never happened': [(f) => (f.shares = []), /knows nothing/],
    'a second friend request': [(f) => (f.friendships[0].requests = 2), /2 friend requests/],
    'a hold that is left': [(f) => Object.assign(f.merchants[0].balance, { held: 1, available: 8 }), /on hold/],
    'a credit too many': [(f) => Object.assign(f.merchants[0].balance, { spent: 2, available: 8 }), /2 credits were spent on 1 files/],
    'a ledger that differs': [(f) => f.merchants[0].ledger.pop(), /the ledger has/],
    'a balance that does not add up': [(f) => (f.merchants[0].balance.available = 10), /does not add up/],
    'an item charged twice': [(f) => f.merchants[0].ledger.push({ kind: 'spend', credits: 1, itemId: 'itm_1' }), /charged twice/],
    'an event that is missing': [(f) => f.events.splice(0, 1), /have the numbers 2/],
    'two events of one number': [(f) => f.events.push({ id: 'e9', body: f.events[0].body.replace('e1', 'e9') }), /have the numbers 1,1,2/],
    'an event with other bytes': [(f) => (f.events[2].body += ' '), /different bytes/],
    'an event of no delivery': [(f) => (f.events[3].body = f.events[3].body.replace('del_2', 'del_9')), /no such delivery/],
    'a last event of another state': [(f) => (f.events[4].body = f.events[4].body.replaceAll('completed', 'failed')), /its last event said failed/],
  };
  for (const [name, [plant, expected]] of Object.entries(planted)) {
    test(`finds ${name}`, () => {
      const facts = soundFacts();
      plant(facts);
      assert.match(judge(facts).join('\n'), expected);
    });
  }
});

if (ENGINE === 'postgres') {
  test('three nodes over one database, killed in turn, and the database too: the same', async () => {
    const summary = await torture({ seed: 20261122, trouble: kills(6), nodes: 3, orders: 5_000, senders: 32 });
    assert.deepEqual(summary.problems, [], `seed ${summary.seed}: ${JSON.stringify(summary, null, 2)}`);
    assert.deepEqual([summary.kills, summary.databaseRestarts], [6, 2]);
    assert.ok(summary.orders >= 5_000 && summary.deliveries >= 3_000 && summary.filesShared >= 3_000, JSON.stringify(summary));
  });
} else {
  test('eight kills among faults of the platform lose nothing and do nothing twice', async () => {
    const summary = await torture({ seed: 20261121, trouble: kills(8) });
    assert.deepEqual(summary.problems, [], `seed ${summary.seed}: ${JSON.stringify(summary, null, 2)}`);
    assert.equal(summary.kills, 8);
    assert.ok(summary.deliveries >= 50 && summary.filesShared >= 50, JSON.stringify(summary));
  });
}

// The short form of `./dev torture`.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENGINE } from './harness.mjs';
import { torture } from './torture.mjs';
import { kills } from './torture_troubles.mjs';

// The first problems last and cut, so the end of a log has them.
function expectNoProblems({ problems, ...summary }) {
  const shown = problems.slice(0, 5).map((problem) => problem.slice(0, 1_500));
  assert.ok(problems.length === 0, [JSON.stringify(summary), `${problems.length} problems:`, ...shown].join('\n'));
}

// The sums that were paid, granted and taken back agree (torture_money_judge.mjs), and there was some.
function expectMoney({ money, creditsPurchased, creditsReversed, books }) {
  const all = JSON.stringify({ money, creditsPurchased, creditsReversed, books });
  assert.ok(money.pages >= 10 && creditsPurchased > 100_000 && creditsReversed > 0, all);
  assert.ok(books.eur.refunded > 0 && books.eur.withdrawn > 0, all);
}

if (ENGINE === 'postgres') {
  test('three nodes over one database, killed in turn, and the database too: the same', async () => {
    const summary = await torture({ seed: 20261122, trouble: kills(6), nodes: 3, orders: 5_000, senders: 32 });
    expectNoProblems(summary);
    assert.deepEqual([summary.kills, summary.databaseRestarts], [6, 2]);
    assert.ok(
      summary.orders >= 5_000 && summary.deliveries >= 3_000 && summary.filesShared >= 3_000,
      JSON.stringify(summary),
    );
    expectMoney(summary);
  });
} else {
  test('eight kills among faults of the platform lose nothing and do nothing twice', async () => {
    const summary = await torture({ seed: 20261121, trouble: kills(8) });
    expectNoProblems(summary);
    assert.equal(summary.kills, 8);
    assert.ok(summary.deliveries >= 50 && summary.filesShared >= 50, JSON.stringify(summary));
    expectMoney(summary);
  });
}

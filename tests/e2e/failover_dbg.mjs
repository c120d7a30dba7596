// The primary dies, and its synchronous standby takes its place (docs/operations.md).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { torture } from './torture_dbg.mjs';
import { failOver } from './torture_troubles.mjs';

test('a fail-over to the standby loses nothing that was answered, and the nodes follow', async () => {
  const summary = await torture({ seed: 20261124, trouble: failOver(8), nodes: 2 });
  assert.deepEqual(summary.problems, [], `seed ${summary.seed}: ${JSON.stringify(summary, null, 2)}`);
  assert.equal(summary.failOvers, 1);
  assert.ok(summary.deliveries >= 50 && summary.filesShared >= 50, JSON.stringify(summary));
});

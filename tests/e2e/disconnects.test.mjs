// PostgreSQL ends connections of the service at random (`./dev torture --disconnects SECONDS` does it for longer).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { torture } from './torture.mjs';
import { disconnects } from './torture_troubles.mjs';

test('connections that the server ends cost 503 at most, and nothing seconds later', async () => {
  const summary = await torture({ seed: 20261123, trouble: disconnects(15), nodes: 2 });
  assert.deepEqual(summary.problems, [], `seed ${summary.seed}: ${JSON.stringify(summary, null, 2)}`);
  assert.ok(summary.disconnects >= 40 && summary.deliveries >= 50 && summary.filesShared >= 50, JSON.stringify(summary));
});

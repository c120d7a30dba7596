// The troubles of the service in a torture run (torture.mjs), while stores and merchants go on. A trouble: {name, counts that it
// starts from, happen(torture), and the faults that it excuses: takesNodes (connections that break off), takesDatabase (errors in the log)}.
import { setTimeout as delay } from 'node:timers/promises';
import { ENGINE } from './harness.mjs';
import { cluster } from './postgres.mjs';
import { childrenOf } from './process_memory.mjs';
import { Random } from './random.mjs';

const RECOVERY_MS = 5_000; // then nothing fails any more
const BATCH = 20;

// Kills the nodes in turn, so often, spread evenly over the orders; on PostgreSQL that too, a third and two thirds of the way.
export function kills(count) {
  return {
    name: `${count} kills`,
    counts: { kills: 0, agentKills: 0, databaseRestarts: 0 },
    takesNodes: true,
    takesDatabase: ENGINE === 'postgres',
    async happen(torture) {
      const moments = new Random(torture.seed, 'kills');
      for (let i = 1; i <= count; ++i) {
        await torture.reached(i / (count + 1));
        await killOne(torture, torture.nodes[i % torture.nodes.length], moments);
        if (ENGINE === 'postgres' && [Math.ceil(count / 3), Math.ceil((2 * count) / 3)].includes(i)) {
          await (await cluster()).restart();
          torture.counts.databaseRestarts += 1;
          await torture.ready();
        }
        if (i % 10 === 0 || i === count) torture.say(`${i} of ${count} kills, ${torture.counts.orders} orders`);
      }
    },
  };
}

async function killOne(torture, node, moments) {
  await torture.enoughCustomers();
  // Answers that come too late: the effect is there, and the bridge does not know.
  const steps = Array.from({ length: moments.whole(0, 3) }, () => ({ answerLatencyMs: moments.whole(800, 1600) }));
  if (steps.length > 0)
    await torture.sim.post('/sim/faults/script', { endpoint: moments.pick(['share', 'requestFriendship']), steps });
  if (moments.chance(0.3)) await torture.sim.post('/sim/sessions/revoke', {});
  const { bridge } = node;
  if (moments.chance(0.2)) {
    for (const agent of childrenOf(bridge.pid)) process.kill(agent, 'SIGKILL');
    torture.counts.agentKills += 1;
  }
  await delay(moments.whole(200, 1500));
  if (!bridge.running) {
    torture.problems.push(`the service ended by itself:\n${bridge.tail(60)}`);
  } else if (moments.chance(0.2)) {
    // In the middle of a stop.
    bridge.child.kill('SIGTERM');
    await delay(moments.whole(0, 60));
  }
  await bridge.kill();
  torture.readLog(bridge);
  torture.counts.kills += 1;
  node.program = undefined; // from now on the newest
  await torture.start(node);
}

// The server ends connections of the service at random, for so many seconds, and then until it has ended `atLeast`, two minutes at most.
export function disconnects(seconds, { atLeast = 0 } = {}) {
  const one = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'presetbridge' ORDER BY random() LIMIT 1`;
  return {
    name: `${seconds} seconds of lost connections`,
    counts: { disconnects: 0 },
    takesDatabase: true,
    async happen(torture) {
      const moments = new Random(torture.seed, 'disconnects');
      const database = await cluster();
      const url = torture.nodes[0].bridge.databaseUrl;
      const began = performance.now();
      const goesOn = () =>
        performance.now() - began < (torture.counts.disconnects < atLeast ? Math.max(seconds, 120) : seconds) * 1000;
      while (goesOn()) {
        await torture.enoughCustomers();
        if ((await database.sql(one, url)) === 't') torture.counts.disconnects += 1;
        await delay(moments.whole(0, 100));
      }
      torture.say(`${torture.counts.disconnects} connections were ended, ${torture.counts.orders} orders`);
      await recovered(torture);
    },
  };
}

// The database's server is gone for good, under load of so many seconds before; its standby takes its place.
export function failOver(seconds) {
  return {
    name: 'a fail-over',
    counts: { failOvers: 0 },
    takesDatabase: true,
    standby: true,
    async happen(torture) {
      await delay(seconds * 1000);
      await (await cluster()).failOver();
      torture.counts.failOvers += 1;
      torture.say(`failed over, ${torture.counts.orders} orders`);
      await torture.ready();
      await recovered(torture);
    },
  };
}

// Some seconds later nothing fails any more, and what comes at one moment is accepted at one moment.
async function recovered(torture) {
  await delay(RECOVERY_MS);
  torture.calmFrom = performance.now();
  await torture.enoughCustomers();
  await torture.batch(BATCH);
  await delay(1000);
}

// A page of the dashboard that is left open while a hundred things change each second: what of the browser's memory it holds after each
// minute, how many nodes and listeners, and its tasks over 50 ms. Fails where it holds more at the end than after the first minutes.
//   ./dev bench live_page [minutes=60] [path=/deliveries] [changes=100]
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { Browser } from '../tests/e2e/chromium.mjs';
import { Client, Scope } from '../tests/e2e/harness.mjs';
import { Merchant, PASSWORD, startStack } from '../tests/e2e/merchant.mjs';

const {
  minutes = '60',
  path = '/deliveries',
  changes: wanted = '100',
} = Object.fromEntries(process.argv.slice(2).map((word) => word.split('=')));
const CHANGES_OF_AN_ORDER = 3; // the order, its delivery and the steps of it, the credits
const BUYERS = 40;
const ROWS = 60; // more than a list shows at first: an empty list would grow once it is read anew
const MIB = 2 ** 20;
const MINUTE = 60_000;
const MOST_GROWTH = 0.1; // of what is held once the page has all that it keeps
const SLACK_MIB = 1;

const scope = new Scope();
try {
  const stack = await startStack(scope, { args: ['--delivery-poll-ms', '50'] });
  const merchant = await Merchant.signUp(stack.bridge, 1, { credits: 10_000_000 });
  const store = await merchant.store('generic');
  for (let i = 0; i < ROWS; ++i) await merchant.order(store, { orderId: `A-${i}`, username: `fan-${i % BUYERS}` });
  const browser = await Browser.start(scope);
  const page = await browser.page(`${stack.bridge.url}${path}`, { expected: /status of 401/ });
  await page.locator('input[type=email]').fill(merchant.email);
  await page.locator('input[type=password]').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByText('Live', { exact: true }).waitFor();
  await page.evaluate(() => {
    window.longTasks = [];
    new PerformanceObserver((list) =>
      window.longTasks.push(...list.getEntries().map(({ duration }) => Math.round(duration))),
    ).observe({ entryTypes: ['longtask'] });
  });
  const debug = await page.context().newCDPSession(page);
  const metrics = new Client(stack.bridge.url);
  const told = async () =>
    Number(
      (await metrics.get('/metrics')).text
        .split('\n')
        .find((line) => line.startsWith('presetbridge_live_changes_total '))
        .split(' ')[1],
    );

  let sent = 0;
  let failed = 0;
  let ends = false;
  const began = performance.now();
  // Orders as they come, and no more at a time than a shop has.
  const flood = (async () => {
    const going = new Set();
    while (!ends) {
      for (
        const due = ((performance.now() - began) / 1000) * (Number(wanted) / CHANGES_OF_AN_ORDER);
        sent < due && going.size < 64;
        ++sent
      ) {
        const one = merchant
          .order(store, { orderId: `B-${sent}`, username: `fan-${sent % BUYERS}` })
          .catch(() => ++failed)
          .finally(() => going.delete(one));
        going.add(one);
      }
      await delay(10);
    }
    await Promise.all(going);
  })();

  console.log('minute   changes/s   heap MiB   nodes   listeners   tasks over 50 ms');
  const rows = [];
  for (let minute = 1; minute <= Number(minutes); ++minute) {
    const [at, before] = [performance.now(), await told()];
    await delay(Math.max(0, began + minute * MINUTE - performance.now()));
    const rate = ((await told()) - before) / ((performance.now() - at) / 1000);
    const longTasks = await page.evaluate(() => window.longTasks.splice(0)); // the measurement's own tasks are not the page's
    await debug.send('HeapProfiler.collectGarbage');
    const { usedSize } = await debug.send('Runtime.getHeapUsage');
    const { nodes, jsEventListeners } = await debug.send('Memory.getDOMCounters');
    await page.evaluate(() => void window.longTasks.splice(0));
    rows.push({ heap: usedSize / MIB, nodes, longTasks, rate });
    console.log(
      [
        String(minute).padStart(6),
        rate.toFixed(0).padStart(9),
        (usedSize / MIB).toFixed(1).padStart(10),
        String(nodes).padStart(7),
        String(jsEventListeners).padStart(9),
        `  ${longTasks.length ? longTasks.join(' ') : 'none'}`,
      ].join('  '),
    );
  }
  ends = true;
  await flood;
  browser.isClean();
  assert.equal(failed, 0, `${failed} orders were not taken`);

  // A page keeps the newest states of so many deliveries (live/apply.ts): it has them after a minute or two.
  const settled = rows.slice(Math.min(2, Math.floor(rows.length / 3)));
  const middle = (all) => [...all].sort((a, b) => a - b)[Math.floor(all.length / 2)];
  const third = Math.max(1, Math.floor(settled.length / 3));
  const [first, last] = [settled.slice(0, third), settled.slice(-third)].map((part) => ({
    heap: middle(part.map(({ heap }) => heap)),
    nodes: middle(part.map(({ nodes }) => nodes)),
  }));
  const tasks = rows.flatMap(({ longTasks }) => longTasks);
  console.log(
    `${path}: ${first.heap.toFixed(1)} MiB, then ${last.heap.toFixed(1)} MiB; ${first.nodes} nodes, then ${last.nodes}; ${tasks.length} tasks over 50 ms in ${minutes} minutes${tasks.length ? `, the longest ${Math.max(...tasks)} ms` : ''}`,
  );
  assert.ok(last.heap <= first.heap * (1 + MOST_GROWTH) + SLACK_MIB, 'the page holds ever more memory');
  assert.ok(last.nodes <= first.nodes * (1 + MOST_GROWTH) + 500, 'the page holds ever more nodes');
} finally {
  await scope.close();
}
process.exit(0);

// How long a page of the dashboard takes until a person can use it: opened by somebody who is signed in, in a browser that has nothing of it
// stored, on the demonstration's month. Usable: its heading and the first control of its first list stand on the screen, and the browser
// is free to obey. Fails where half of the openings take longer than `most` milliseconds. All programs share the processors.
//   ./dev bench interactive [rounds=10] [path=/] [most=1000] [--json]
import assert from 'node:assert/strict';
import { loadavg } from 'node:os';
import { Browser } from '../tests/e2e/chromium.mjs';
import { Scope } from '../tests/e2e/harness.mjs';
import { demonstration } from '../web/tools/demonstration.mjs';

const words = process.argv.slice(2);
const json = words.includes('--json');
const {
  rounds = '10',
  path = '/',
  most = '1000',
} = Object.fromEntries(words.filter((word) => word !== '--json').map((word) => word.split('=')));
const KIB = 1024;
const SESSION_COOKIE = /^(__Host-)?pdb_session=/;

// Runs in the page from its beginning on: notes when it is usable.
function watch() {
  const FIRST = 'main :is(section ul, table) :is(a[href], button:not(:disabled, [aria-disabled=true]))';
  const isSeen = (found) => found?.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const check = () => {
    if (!isSeen(document.querySelector('main h1')) || !isSeen(document.querySelector(FIRST)))
      return requestAnimationFrame(check);
    // Behind the drawing, and all else that the browser has to do then.
    return requestAnimationFrame(() => setTimeout(() => (window.usableAt = performance.now())));
  };
  requestAnimationFrame(check);
}

const scope = new Scope();
let failed = false;
try {
  const place = await demonstration();
  scope.after(() => place.close());
  const browser = await Browser.start(scope);
  const opened = [];
  // The first one warms the programs up and does not count.
  for (let round = 0; round <= Number(rounds); ++round) {
    const signedIn = await fetch(`${place.url}/api/auth/sign-in`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: place.url, 'sec-fetch-site': 'same-origin' },
      body: JSON.stringify({ ...place.signs.sam, session: 'cookie' }),
    });
    assert.equal(signedIn.status, 200, await signedIn.text());
    const [cookie, value] = signedIn.headers
      .getSetCookie()
      .find((one) => SESSION_COOKIE.test(one))
      .split(';')[0]
      .split('=');
    // A context of its own: its cache and its compiled scripts are empty.
    const context = await browser.chromium.newContext({ viewport: { width: 1440, height: 900 } });
    await context.addCookies([{ name: cookie, value, url: place.url, httpOnly: true, sameSite: 'Lax' }]);
    const page = await browser.follow(await context.newPage(), place.url, /^$/);
    await page.addInitScript(watch);
    const debug = await context.newCDPSession(page);
    await debug.send('Performance.enable', { timeDomain: 'threadTicks' }); // processor time, which others do not lengthen
    let bytes = 0;
    let requests = 0;
    page.on('requestfinished', async (request) => {
      requests += 1;
      const { responseBodySize, responseHeadersSize } = await request.sizes().catch(() => ({}));
      bytes += (responseBodySize ?? 0) + (responseHeadersSize ?? 0);
    });
    await page.goto(`${place.url}${path}`, { waitUntil: 'commit' });
    await page.waitForFunction(() => window.usableAt !== undefined);
    const [usable, painted] = await page.evaluate(() => [
      window.usableAt,
      performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? window.usableAt,
    ]);
    const { metrics } = await debug.send('Performance.getMetrics');
    const worked = metrics.find(({ name }) => name === 'TaskDuration').value * 1000;
    if (round > 0) opened.push({ usable, painted, worked, requests, bytes });
    await context.close();
  }
  browser.isClean();
  const of = (name, at) => {
    const sorted = opened.map((one) => one[name]).sort((a, b) => a - b);
    return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * at))]);
  };
  const result = {
    path,
    rounds: opened.length,
    interactiveMs: { median: of('usable', 0.5), p90: of('usable', 0.9), slowest: of('usable', 1) },
    firstPaintMs: { median: of('painted', 0.5) },
    mainThreadMs: { median: of('worked', 0.5) },
    requests: of('requests', 0.5),
    kib: Math.round(of('bytes', 0.5) / KIB),
    loadAverage: Number(loadavg()[0].toFixed(1)),
  };
  failed = result.interactiveMs.median > Number(most);
  if (json) console.log(JSON.stringify(result));
  else
    console.log(
      `${path}: usable after ${result.interactiveMs.median} ms in the middle of ${result.rounds}, ${result.interactiveMs.p90} ms in nine of ten, ` +
        `${result.interactiveMs.slowest} ms at most; first paint after ${result.firstPaintMs.median} ms, ${result.mainThreadMs.median} ms of the processor for the page's own thread, ${result.requests} requests, ${result.kib} KiB; load average ${result.loadAverage}`,
    );
  if (failed) console.error(`half of the openings took longer than ${most} ms`);
} finally {
  await scope.close();
}
process.exit(failed ? 1 : 0);

// Credits are bought of the sandbox's processor, `paysim`, as a merchant does: on its page, by its webhooks, with the faults of a processor
// and of the way between.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { Client, Scope, runBridge, scratch, startBridge, startCloudsim, until } from './harness.mjs';
import { Merchant, PASSWORD, isError, isOk } from './merchant.mjs';
import { Sandbox, sessionOf } from './sandbox.mjs';
import { purchaseProblem } from './torture_money_judge.mjs';

const scope = new Scope({ after });
let cloud, sandbox, bridge, merchant;
before(async () => {
  cloud = await startCloudsim(scope, { args: ['--users', '2', '--files', '10', '--create-unknown-users'] });
  sandbox = await Sandbox.start(scope, { packs: 'small 100 1900 eur 100 credits,large 500 7900 usd 500 credits' });
  const dataDir = await scratch(scope);
  await sandbox.sellIn(dataDir);
  await start(dataDir);
  merchant = await Merchant.signUp(bridge, 1, { credits: 0 });
});
beforeEach(async () => {
  await sandbox.done('DELETE', '/sim/faults');
  await sandbox.done('PUT', '/sim/webhooks/faults', {});
});

async function start(dataDir) {
  bridge = await startBridge(scope, {
    cloudUrl: cloud.url,
    dataDir,
    args: ['--delivery-jobs-per-minute', '0', '--delivery-first-sweep-seconds', '1', ...sandbox.args],
  });
  await sandbox.tellTo(bridge);
}
const buy = async (packId = 'small') => {
  const opened = isOk(await merchant.api.post('/api/credits/checkout', { packId }), 201);
  return { ...opened, session: sessionOf(opened.url) };
};
const did = async (what, body) => (await sandbox.done('POST', `/sim/${what}`, body)).json;
const purchase = async (id) => isOk(await merchant.api.get(`/api/credits/purchases/${id}`));
const becomes = (id, state, deadlineMs) =>
  until(
    `${id} is ${state}`,
    async () => {
      const found = await purchase(id);
      if (found.state !== state) throw new Error(JSON.stringify(found));
      return found;
    },
    deadlineMs,
  );
// All purchases are what the processor says, and so are the credits.
async function expectBooks() {
  const byId = new Map((await sandbox.payments()).map((payment) => [payment.clientReferenceId, payment]));
  const purchases = await merchant.all('/api/credits/purchases');
  for (const one of purchases) assert.equal(purchaseProblem(one, byId.get(one.id)), undefined);
  const total = (name) => purchases.reduce((sum, one) => sum + one[name], 0);
  const { purchased, reversed, debt } = await merchant.balance();
  assert.deepEqual([purchased, reversed + debt], [total('creditsGranted'), total('creditsReversed')]);
}

test('who has run out buys a pack on the page, comes back, and the stopped delivery completes', async () => {
  const store = await merchant.store('generic');
  const { deliveryId } = await merchant.order(store, { orderId: 'stopped', username: 'ann' });
  assert.equal((await merchant.reaches(deliveryId, 'failed')).resolutionCode, 'insufficient_credits');
  const opened = await buy();
  assert.equal(new URL(opened.url).origin, sandbox.url);
  const page = await fetch(opened.url);
  const html = await page.text();
  assert.match(html, /Pay EUR 19\.00|Pay .*19\.00/);
  const [, action] = html.match(/<form method="post" action="([^"]+)">/);
  const pressed = await fetch(new URL(action, opened.url), {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'act=pay',
  });
  assert.equal(pressed.status, 303);
  const back = new URL(pressed.headers.get('location'));
  assert.equal(back.pathname, '/credits/return');
  const told = back.searchParams.get('purchase');
  const paid = await until(
    'it is known to be paid',
    async () => {
      const now = isOk(await merchant.api.post(`/api/credits/purchases/${told}/refresh`));
      return now.state === 'paid' && now;
    },
    15_000,
  );
  assert.equal(paid.credits, 100);
  await merchant.reaches(deliveryId, 'completed');
  const { state, creditsGranted, receiptUrl } = await purchase(opened.id);
  assert.deepEqual([state, creditsGranted], ['paid', 100]);
  assert.match(await (await fetch(receiptUrl)).text(), /Receipt[^]*100 credits/);
  await expectBooks();
});

test('webhooks that come twice, overtake each other and are not heard grant once', async () => {
  await sandbox.done('PUT', '/sim/webhooks/faults', { duplicate: 0.5, reorder: 0.5, loseAnswer: 0.5, delayMaxMs: 200 });
  const [first, second, third] = [await buy(), await buy('large'), await buy()];
  await did('pay', { session: first.session });
  await did('pay', { session: second.session, later: true });
  await did('pay', { session: third.session, later: true });
  await did('settle', { session: second.session });
  await did('settle', { session: third.session, succeeds: false });
  await becomes(first.id, 'paid');
  await becomes(second.id, 'paid');
  await becomes(third.id, 'failed');
  await did('webhooks/resend', {});
  await until(
    'all webhooks are through',
    async () => (await sandbox.done('GET', '/sim/webhooks')).json.pending === 0,
    30_000,
  );
  const grants = (await merchant.all('/api/credits/ledger'))
    .filter(({ kind }) => kind === 'purchase')
    .map(({ purchaseId }) => purchaseId);
  assert.equal(new Set(grants).size, grants.length);
  await expectBooks();
});

test('refunds and disputes reverse once, and a won dispute undoes it', async () => {
  const { id, session } = await buy();
  await did('pay', { session });
  await becomes(id, 'paid');
  const pending = await did('refund', { payment: session, amount: 950, pending: true });
  await until('half is reversed', async () => (await purchase(id)).creditsReversed === 50);
  await did('refund/settle', { refund: pending.id, succeeds: false });
  await until('it is not any more', async () => (await purchase(id)).creditsReversed === 0);
  const inquiry = await did('dispute', { payment: session, inquiry: true });
  await did('dispute/escalate', { dispute: inquiry.id });
  await until('all is reversed', async () => (await purchase(id)).creditsReversed === 100);
  assert.equal((await purchase(id)).state, 'disputed');
  await did('dispute/win', { dispute: inquiry.id });
  await until('nothing is', async () => (await purchase(id)).creditsReversed === 0);
  await did('refund', { payment: session });
  await becomes(id, 'refunded');
  await expectBooks();
});

test('the operator gives money back: what failed or was refused is tried again, and what was not answered goes back once', async () => {
  const { id, session } = await buy();
  await did('pay', { session });
  await becomes(id, 'paid');
  const refund = async (...args) => {
    const done = await runBridge(['admin', 'refund', id, ...args, '--data-dir', bridge.dataDir]);
    return {
      code: done.code,
      text: done.stdout + done.stderr,
      json: done.code === 0 ? JSON.parse(done.stdout) : undefined,
    };
  };
  const back = async () => (await sandbox.payments()).find((payment) => payment.session === session).refunded;
  const first = await refund('--total', '500');
  assert.deepEqual(
    [first.code, first.json?.amountRefunded, first.json?.refund?.status],
    [0, 500, 'succeeded'],
    first.text,
  );
  await did('refund/settle', { refund: (await sandbox.refunds(session))[0].id, succeeds: false });
  await until('the failure is known', async () => (await purchase(id)).amountRefunded === 0);
  const again = await refund('--total', '500');
  assert.deepEqual([again.code, again.json?.amountRefunded, await back()], [0, 500, 500], again.text);

  const dispute = await did('dispute', { payment: session });
  const refused = await refund('--total', '900');
  assert.deepEqual([refused.code, await back()], [1, 500]);
  assert.match(refused.text, /is disputed/);
  await did('dispute/win', { dispute: dispute.id });
  const taken = await refund('--total', '900');
  assert.deepEqual([taken.code, taken.json?.amountRefunded, await back()], [0, 900, 900], taken.text);

  for (const fault of ['drop_after', 'server_error_after', 'malformed', 'drop_before', 'server_error']) {
    const before = await back();
    await sandbox.done('POST', '/sim/faults/script', { endpoint: 'createRefund', steps: [{ fault }] });
    const total = String(before + 100);
    const unanswered = await refund('--total', total);
    assert.equal(unanswered.code, 1, `${fault}: ${unanswered.text}`);
    const repeated = await refund('--total', total);
    assert.deepEqual(
      [repeated.code, repeated.json?.amountRefunded, await back()],
      [0, before + 100, before + 100],
      `${fault}: ${repeated.text}`,
    );
  }
  const log = (await merchant.all('/api/account/audit'))
    .filter(({ target }) => target === id)
    .reverse()
    .map(({ action, detail }) => `${action.split('.')[1]} ${detail}`);
  const asked = (amount) => [`refund_asked ${amount} eur`, `refunded ${amount} eur`];
  assert.deepEqual(
    log.filter((line) => !line.startsWith('opened')),
    [
      ...asked(500),
      ...asked(500),
      'refund_asked 400 eur',
      'refund_failed 400 eur: refused',
      ...asked(400),
      ...Array(5).fill(asked(100)).flat(),
    ],
  );
  await expectBooks();
});

test(
  'a processor that is away, slow, answers nonsense or twice: a clear error, and nothing is lost',
  { timeout: 120_000 },
  async () => {
    const already = await buy();
    for (const faults of [
      { drop_before: 1 },
      { drop_after: 1 },
      { latencyMinMs: 3_000, latencyMaxMs: 3_001 },
      { malformed: 1 },
      { wrong: 1 },
      { server_error: 1 },
      { too_many_requests: 1 },
    ]) {
      await sandbox.done('PUT', '/sim/faults', faults);
      const began = performance.now();
      const answer = await merchant.api.post('/api/credits/checkout', { packId: 'small' });
      isError(answer, 502, 'PAYMENTS_UNAVAILABLE');
      assert.ok(
        answer.json.error.message.length > 10 && performance.now() - began < 3_000,
        `${JSON.stringify(faults)}: ${answer.text}`,
      );
    }
    // Paid while the processor does not answer us, and its webhook is lost: it is asked.
    await sandbox.done('PUT', '/sim/webhooks/faults', { drop: 1 });
    await did('pay', { session: already.session });
    assert.equal((await purchase(already.id)).state, 'pending');
    await sandbox.done('PUT', '/sim/faults', { repeated: 1 });
    const opened = await buy();
    assert.equal(
      (await sandbox.payments()).filter(({ clientReferenceId }) => clientReferenceId === opened.id).length,
      1,
      'a page that was made twice is one',
    );
    await did('pay', { session: opened.session });
    await becomes(already.id, 'paid', 70_000);
    await becomes(opened.id, 'paid', 70_000);
    await expectBooks();
  },
);

test(
  'what was paid, refunded and disputed while the bridge was away is in the books within a minute of its return',
  { timeout: 120_000 },
  async () => {
    const [paid, refunded, disputed] = [await buy(), await buy(), await buy('large')];
    for (const { id, session } of [refunded, disputed]) {
      await did('pay', { session });
      await becomes(id, 'paid');
    }
    const { dataDir } = bridge;
    await bridge.kill();
    await sandbox.done('PUT', '/sim/webhooks/faults', { drop: 1 });
    await did('pay', { session: paid.session });
    await did('refund', { payment: refunded.session, amount: 19 });
    await did('dispute', { payment: disputed.session });
    await start(dataDir);
    merchant.tokens = (
      await new Client(bridge.url).post('/api/auth/sign-in', { email: merchant.email, password: PASSWORD })
    ).json;
    merchant.moveTo(bridge);
    const returned = performance.now();
    await becomes(paid.id, 'paid', 60_000);
    await becomes(refunded.id, 'refunded', 60_000);
    await becomes(disputed.id, 'disputed', 60_000);
    assert.ok(performance.now() - returned < 60_000);
    await expectBooks();
  },
);

// Credits are bought, with the real programs: payment pages, webhooks that Stripe's own library signs, the address at which people come back,
// reconciliation, refunds and disputes, the operator's verbs, and a processor that is away, slow or answers nonsense.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readFile } from 'node:fs/promises';
import { Client, Scope, runBridge, scratch, startBridge, until } from './harness.mjs';
import { Merchant, isError, isOk, startStack } from './merchant.mjs';
import { Processor } from './processor.mjs';

const scope = new Scope({ after });
let stack, bridge, processor, merchant;
before(async () => {
  stack = await startStack(scope, { args: ['--credits-signup-credits', '2'] });
  ({ bridge, processor } = stack);
  merchant = await Merchant.signUp(bridge, 1, { credits: 0 });
});

const buy = async (packId = 'small', by = merchant) => {
  const purchase = isOk(await by.api.post('/api/credits/checkout', { packId }), 201);
  return { purchase, session: purchase.url.split('/').at(-1) };
};
const webhook = (event, options) =>
  merchant.open.request('POST', '/api/payments/webhook', processor.signed(event, options));
const purchase = async (id) => isOk(await merchant.api.get(`/api/credits/purchases/${id}`));
const admin = async (...args) => {
  const done = await runBridge(['admin', ...args, '--data-dir', bridge.dataDir]);
  return {
    code: done.code,
    text: done.stdout + done.stderr,
    json: done.code === 0 ? JSON.parse(done.stdout) : undefined,
  };
};

test('a new account is greeted with credits, and packs are shown', async () => {
  assert.equal((await merchant.balance()).available, 2);
  const [entry] = await merchant.all('/api/credits/ledger');
  assert.deepEqual([entry.kind, entry.credits, entry.balanceAfter], ['grant', 2, 2]);
  const { data } = isOk(await merchant.api.get('/api/credits/packs'));
  assert.deepEqual(data, [
    { id: 'small', name: '100 credits', credits: 100, amount: 1900, currency: 'eur' },
    { id: 'large', name: '500 credits', credits: 500, amount: 7900, currency: 'eur' },
  ]);
  isError(await merchant.api.post('/api/credits/checkout', { packId: 'huge' }), 422, 'VALIDATION_FAILED');
});

test('a webhook that Stripe signed grants the credits once, and the stopped delivery completes', async () => {
  const store = await merchant.store('generic');
  const orders = [];
  for (let i = 0; i < 5; ++i)
    orders.push(await merchant.order(store, { orderId: `wait-${i}`, username: `buyer-${i}` }));
  // Which two the credits serve is open: their jobs run at once.
  const found = await until('two are served, and three stopped', async () => {
    const all = await Promise.all(orders.map(({ deliveryId }) => merchant.delivery(deliveryId)));
    const of = (status) => all.filter((one) => one.status === status);
    return of('completed').length === 2 && of('failed').length === 3 && of('failed');
  });
  assert.deepEqual(new Set(found.map(({ resolutionCode }) => resolutionCode)), new Set(['insufficient_credits']));

  const { purchase: opened, session } = await buy();
  assert.deepEqual([opened.state, opened.credits, opened.amount, opened.live], ['pending', 100, 1900, false]);
  const asked = processor.requests.find(({ form }) => form.get('client_reference_id') === opened.id);
  assert.equal(asked.headers['idempotency-key'], opened.id);
  const event = processor.pay(session);
  const answers = await Promise.all(Array.from({ length: 50 }, () => webhook(event)));
  for (const answer of answers) assert.deepEqual(isOk(answer), { received: true });
  const paid = await purchase(opened.id);
  assert.deepEqual(
    [paid.state, paid.creditsGranted, paid.url, paid.receiptUrl],
    ['paid', 100, null, `${processor.url}/receipts/${session}`],
  );
  const grants = (await merchant.all('/api/credits/ledger')).filter(({ purchaseId }) => purchaseId === opened.id);
  assert.deepEqual(
    grants.map(({ kind, credits }) => [kind, credits]),
    [['purchase', 100]],
  );
  for (const { deliveryId } of orders) await merchant.reaches(deliveryId, 'completed');
  const balance = await merchant.balance();
  assert.deepEqual([balance.purchased, balance.spent, balance.available], [100, 5, 97]);
  assert.ok(balance.perDay === 5 && balance.runsOutAt !== null, JSON.stringify(balance));
});

test('what nobody signed, or signed at another time, is refused', async () => {
  const { purchase: opened, session } = await buy();
  const event = processor.pay(session);
  const now = Math.floor(Date.now() / 1000);
  isError(await webhook(event, { secret: 'whsec_SomebodyElses' }), 401, 'INVALID_SIGNATURE');
  isError(await webhook(event, { timestamp: now - 400 }), 401, 'INVALID_SIGNATURE');
  isError(await webhook(event, { timestamp: now + 400 }), 401, 'INVALID_SIGNATURE');
  const { body, headers } = processor.signed(event);
  isError(
    await merchant.open.request('POST', '/api/payments/webhook', { body: body.replace('paid', 'paid '), headers }),
    401,
    'INVALID_SIGNATURE',
  );
  isError(await merchant.open.request('POST', '/api/payments/webhook', { body }), 401, 'INVALID_SIGNATURE');
  isError(await webhook({ ...event, livemode: true }), 400, 'INVALID_PAYLOAD');
  isError(await webhook({ hello: 1 }), 400, 'INVALID_PAYLOAD');
  assert.equal((await purchase(opened.id)).state, 'pending');
  // The content of an event is not believed either: the processor is asked.
  const other = await buy();
  const forged = {
    ...event,
    data: { object: { ...event.data.object, id: other.session, client_reference_id: other.purchase.id } },
  };
  isOk(await webhook(forged));
  assert.equal((await purchase(other.purchase.id)).state, 'pending');
  isOk(await webhook(event));
  assert.equal((await purchase(opened.id)).state, 'paid');
});

test('people come back to where the dashboard asks the processor', async () => {
  const { purchase: opened, session } = await buy('large');
  const form = processor.requests.find((one) => one.form.get('client_reference_id') === opened.id).form;
  for (const back of ['success_url', 'cancel_url'])
    assert.equal(form.get(back), `${bridge.url}/credits/return?purchase=${opened.id}`);
  const come = async () => isOk(await merchant.api.post(`/api/credits/purchases/${opened.id}/refresh`));
  assert.equal((await come()).url, opened.url, 'left without paying: the page is still open');
  processor.payLater(session);
  const waiting = await until('the page is closed', async () => ((it) => it.url === null && it)(await come()), 15_000);
  assert.deepEqual([waiting.state, waiting.creditsGranted], ['pending', 0]);
  processor.pay(session);
  await until('it was paid', async () => (await come()).state === 'paid', 15_000);
});

test('refunds and disputes reverse, and a won dispute undoes it', async () => {
  const { purchase: opened, session } = await buy();
  isOk(await webhook(processor.pay(session)));
  const before = await merchant.balance();
  isOk(await webhook(processor.refund(session, 19)));
  isOk(await webhook(processor.dispute(session, 'needs_response', 1881)));
  const disputed = await purchase(opened.id);
  assert.deepEqual(
    [disputed.state, disputed.creditsReversed, disputed.amountRefunded, disputed.amountDisputed],
    ['disputed', 100, 19, 1881],
  );
  assert.equal((await merchant.balance()).available, before.available - 100);
  isOk(await webhook(processor.dispute(session, 'won')));
  assert.deepEqual(
    [(await purchase(opened.id)).state, (await merchant.balance()).available],
    ['refunded', before.available - 1],
  );
  const told = isOk(await merchant.api.get('/api/credits/ledger')).data.filter(
    ({ purchaseId }) => purchaseId === opened.id,
  );
  assert.deepEqual(
    told.map(({ kind, credits, cause }) => [kind, credits, cause]),
    [
      ['reversal_undone', 99, 'dispute'],
      ['reversal', 99, 'dispute'],
      ['reversal', 1, 'refund'],
      ['purchase', 100, null],
    ],
  );
});

test('the ledger has a running balance, filters and a table', async () => {
  const entries = await merchant.all('/api/credits/ledger');
  let balance = 0;
  for (const entry of entries.toReversed()) {
    if (entry.kind !== 'debt_paid')
      balance += ['spend', 'reversal'].includes(entry.kind) ? -entry.credits : entry.credits;
    assert.equal(entry.balanceAfter, balance, JSON.stringify(entry));
  }
  assert.equal(balance, (await merchant.balance()).available);
  const bought = isOk(await merchant.api.get('/api/credits/ledger?kind=purchase')).data;
  assert.deepEqual(
    bought,
    entries.filter(({ kind }) => kind === 'purchase'),
  );
  // Between two that are well apart: an entry's time and that of its id differ by some milliseconds.
  const times = entries.map((entry) => Date.parse(entry.at));
  const widest = times
    .slice(1)
    .reduce((best, time, i) => (times[i] - time > times[best - 1] - times[best] ? i + 1 : best), 1);
  assert.ok(times[widest - 1] - times[widest] > 20, `${times}`);
  const at = new Date((times[widest - 1] + times[widest]) / 2).toISOString();
  const older = isOk(await merchant.api.get(`/api/credits/ledger?limit=100&createdTo=${at}`)).data;
  assert.deepEqual(
    older,
    entries.filter((entry) => entry.at < at),
  );
  const newer = isOk(await merchant.api.get(`/api/credits/ledger?limit=100&createdFrom=${at}`)).data;
  assert.deepEqual(
    newer,
    entries.filter((entry) => entry.at >= at),
  );
  const table = await merchant.api.get('/api/credits/ledger.csv?kind=purchase');
  assert.match(table.headers['content-type'], /text\/csv/);
  const lines = table.text.trimEnd().split('\r\n');
  assert.equal(lines[0], 'id,at,kind,credits,itemId,purchaseId,note,balanceAfter,cause,deliveryId,orderId,orderNumber');
  assert.deepEqual(
    lines.slice(1).map((line) => line.split(',')[0]),
    bought.map(({ id }) => id),
  );
});

test('a processor that is away, slow, or answers nonsense loses nothing', async (t) => {
  const { bridge, processor } = await startStack(new Scope(t), { args: ['--payments-timeout-seconds', '3'] });
  const other = await Merchant.signUp(bridge, 1, { credits: 0, connected: false });
  const state = async (id) => isOk(await other.api.get(`/api/credits/purchases/${id}`)).state;
  const tell = (event) => other.open.request('POST', '/api/payments/webhook', processor.signed(event));
  for (const fate of ['away', 'hang', 'nonsense', 'lost']) {
    processor.fate = () => fate;
    isError(await other.api.post('/api/credits/checkout', { packId: 'small' }), 502, 'PAYMENTS_UNAVAILABLE');
  }
  processor.fate = () => 'answer';
  const { purchase: opened, session } = await buy('small', other);
  const event = processor.pay(session);
  for (const fate of ['away', 'hang', 'nonsense', 'lost']) {
    processor.fate = () => fate;
    isError(await tell(event), 502, 'PAYMENTS_UNAVAILABLE');
  }
  assert.equal(await state(opened.id), 'pending');
  processor.fate = () => 'answer';
  // No further webhook comes: the bridge asks by itself.
  await until('the purchase is paid', async () => (await state(opened.id)) === 'paid', 70_000);
  isOk(await tell(event));
  const failed = isOk(await other.api.get('/api/credits/purchases?state=failed&limit=100')).data;
  assert.equal(failed.length, 4);
});

test(
  'what was paid and refunded while the bridge was away is found within a minute of its return',
  { timeout: 100_000 },
  async () => {
    const own = new Scope();
    const there = await startStack(own);
    try {
      const other = await Merchant.signUp(there.bridge, 2, { credits: 0 });
      const [first, second] = [await buy('small', other), await buy('large', other)];
      isOk(
        await other.open.request(
          'POST',
          '/api/payments/webhook',
          there.processor.signed(there.processor.pay(first.session)),
        ),
      );
      await there.bridge.kill();
      there.processor.pay(second.session);
      there.processor.refund(first.session, 950);
      const again = await startBridge(own, {
        cloudUrl: there.cloud.url,
        dataDir: there.bridge.dataDir,
        args: there.processor.args,
      });
      const returned = Date.now();
      const [{ json: tokens }] = [
        await new Client(again.url).post('/api/auth/sign-in', { email: other.email, password: 'a long pass phrase' }),
      ];
      const api = new Client(again.url).with({ authorization: `Bearer ${tokens.idToken}` });
      await until(
        'both are in the ledger',
        async () => {
          const { purchased, reversed } = (await api.get('/api/credits')).json;
          return purchased === 600 && reversed === 50;
        },
        60_000,
      );
      assert.ok(Date.now() - returned < 60_000);
    } finally {
      await own.close();
    }
  },
);

test('the operator looks at purchases, asks again and gives money back', async () => {
  const { purchase: opened, session } = await buy();
  processor.pay(session);
  const asked = await admin('reconcile', '--purchase', opened.id);
  assert.equal(asked.json?.state, 'paid', asked.text);
  const listed = await admin('purchases', '--account', merchant.accountId, '--state', 'paid');
  assert.equal(listed.json.purchases[0].id, opened.id);
  const partly = await admin('refund', opened.id, '--total', '190');
  assert.deepEqual(
    [partly.json?.state, partly.json?.creditsReversed, partly.json?.amountRefunded],
    ['refunded', 10, 190],
    partly.text,
  );
  const repeated = await admin('refund', opened.id, '--total', '190');
  assert.deepEqual(
    [repeated.code, repeated.json?.amountRefunded, repeated.json?.refund],
    [0, 190, null],
    repeated.text,
  );
  const rest = await admin('refund', opened.id);
  assert.deepEqual([rest.json?.creditsReversed, rest.json?.amountRefunded], [100, 1900], rest.text);
  const again = await admin('refund', opened.id);
  assert.deepEqual(
    [again.code, again.json?.amountRefunded, again.json?.refund, again.json?.lastRefund?.detail],
    [0, 1900, null, '1710 eur'],
    again.text,
  );
  assert.ok(again.json.lastRefund.by && Date.parse(again.json.lastRefund.at), again.text);
  for (const [words, says] of [
    [['--total', '1901'], /Between 1 and what was paid can go back in all: 1900 in the smallest unit of eur/],
    [['--total', '190'], /More than that has gone back already: 1900 in/],
  ]) {
    const more = await admin('refund', opened.id, ...words);
    assert.equal(more.code, 1, more.text);
    assert.match(more.text, says);
  }
  const { purchase: unpaid } = await buy();
  assert.match((await admin('refund', unpaid.id)).text, /was not paid: nothing can go back/);
  assert.match((await admin('refund', 'pur_0a1b2c3d4e5f6')).text, /no such purchase/);
  const due = await admin('reconcile', '--days', '3');
  assert.ok(due.json.due >= 0, due.text);
});

test(
  'a withdrawn pack can still be paid, a rolled secret still verifies, and a live key is refused beside a sandbox',
  { timeout: 60_000 },
  async () => {
    const own = new Scope();
    const there = await startStack(own);
    try {
      const other = await Merchant.signUp(there.bridge, 3, { credits: 0 });
      const { session } = await buy('small', other);
      await there.bridge.stop();
      await there.processor.sellIn(there.bridge.dataDir, ['whsec_TheNextSecretOfTheEndpoint', there.processor.secret]);
      const again = await startBridge(own, {
        cloudUrl: there.cloud.url,
        dataDir: there.bridge.dataDir,
        args: ['--payments-url', there.processor.url, '--credits-packs', 'tiny 1 50 usd 1 credit'],
      });
      const event = there.processor.pay(session);
      const open = new Client(again.url);
      for (const secret of [there.processor.secret, 'whsec_TheNextSecretOfTheEndpoint'])
        assert.equal(
          (await open.request('POST', '/api/payments/webhook', there.processor.signed(event, { secret }))).status,
          200,
        );
      const listed = await runBridge(['admin', 'purchases', '--data-dir', again.dataDir]);
      assert.deepEqual(
        JSON.parse(listed.stdout).purchases.map(({ state, credits, pack }) => [state, credits, pack]),
        [['paid', 100, 'small']],
      );
      await again.stop();
      there.processor.key = 'sk_live_PlantedLiveKey1234';
      await there.processor.sellIn(again.dataDir);
      for (const args of [
        ['--sandbox'],
        ['--payments-url', there.processor.url],
        ['--sandbox', '--payments-url', 'https://api.stripe.com'],
      ]) {
        const refused = await runBridge([
          'serve',
          '--data-dir',
          again.dataDir,
          '--listen',
          '127.0.0.1:0',
          '--cloud-url',
          there.cloud.url,
          ...args,
        ]);
        assert.equal(refused.code, 1);
        assert.match(refused.stdout + refused.stderr, /real money/);
        assert.doesNotMatch(refused.stdout + refused.stderr, /PlantedLiveKey/);
      }
    } finally {
      await own.close();
    }
  },
);

test('without a key nothing is sold', async () => {
  const own = new Scope();
  const alone = await startBridge(own, { cloudUrl: stack.cloud.url, dataDir: await scratch(own) });
  try {
    const other = await Merchant.signUp(alone, 4, { credits: 0, connected: false });
    assert.deepEqual(isOk(await other.api.get('/api/credits/packs')).data, []);
    isError(await other.api.post('/api/credits/checkout', { packId: 'small' }), 409, 'PAYMENTS_OFF');
    isError(
      await other.open.request('POST', '/api/payments/webhook', processor.signed(processor.events[0])),
      401,
      'INVALID_SIGNATURE',
    );
    const refused = await runBridge(['admin', 'refund', 'pur_0a1b2c3d4e5f6', '--data-dir', alone.dataDir]);
    assert.match(refused.stdout + refused.stderr, /start the service with its key/);
  } finally {
    await own.close();
  }
});

test('no secret is in a log, an answer or the database', async () => {
  const metrics = (await merchant.open.get('/metrics')).text;
  assert.match(metrics, /presetbridge_payments_money_total\{currency="eur",kind="paid"\} [1-9]/);
  assert.match(metrics, /presetbridge_payment_webhooks_refused_total\{reason="signature"\} [1-9]/);
  assert.match(metrics, /presetbridge_purchases_total\{state="paid"\} [1-9]/);
  const log = bridge.log.join('\n');
  for (const secret of [processor.key, processor.secret]) {
    assert.ok(!log.includes(secret), 'the log');
    assert.ok(!metrics.includes(secret), 'the metrics');
    if (bridge.databaseUrl === undefined)
      assert.ok(!(await readFile(`${bridge.dataDir}/presetbridge.db`)).includes(secret), 'the database');
  }
});

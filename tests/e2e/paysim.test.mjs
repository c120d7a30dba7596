// The simulated payment processor, judged by Stripe's own client for Node: its calls, its classes of errors, its types and
// its verifier of signatures.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import Stripe from 'stripe';
import ts from 'typescript';
import { Client, Program, Scope, startPaysim, until } from './harness.mjs';
import { startReceiver } from './receiver.mjs';

const scope = new Scope({ after });
let paysim, receiver, sim, stripe, secret;
const clientOf = (key = 'sk_test_paysim', options = {}) => {
  const { protocol, hostname: host, port } = new URL(paysim.url);
  return new Stripe(key, {
    protocol: protocol.slice(0, -1),
    host,
    port,
    maxNetworkRetries: 0,
    telemetry: false,
    ...options,
  });
};
before(async () => {
  receiver = await startReceiver(scope, { answer: (request, number) => receiver.answer?.(request, number) ?? {} });
  paysim = await startPaysim(scope, { args: ['--webhook-url', receiver.url] });
  secret = paysim.ready.webhookSecret;
  sim = new Client(paysim.url);
  stripe = clientOf();
});
beforeEach(async () => {
  assert.equal((await sim.post('/sim/reset', {})).status, 200);
  receiver.requests.length = 0;
  receiver.answer = undefined;
});

// The parameters of a session for one pack of credits at 19.90 EUR.
const pack = (more = {}) => ({
  mode: 'payment',
  success_url: 'http://127.0.0.1:1/done?session={CHECKOUT_SESSION_ID}',
  cancel_url: 'http://127.0.0.1:1/back',
  client_reference_id: 'pur_1',
  metadata: { purchase: 'pur_1', account: 'acc_1' },
  payment_intent_data: { metadata: { purchase: 'pur_1' } },
  adaptive_pricing: { enabled: false },
  line_items: [
    { quantity: 1, price_data: { currency: 'eur', unit_amount: 1990, product_data: { name: '100 credits' } } },
  ],
  ...more,
});
// Calls a control route of the simulator, which has to succeed; returns its answer.
async function did(route, body) {
  const answer = await sim.post(`/sim/${route}`, body);
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}
// The events that the endpoint received, in the order of arrival, each verified by Stripe's code.
const received = () =>
  receiver.requests.map(({ body, headers }) =>
    stripe.webhooks.constructEvent(body, headers['stripe-signature'], secret),
  );
const types = () => received().map(({ type }) => type);
const webhooks = async () => (await sim.get('/sim/webhooks')).json;
const idle = () => until('all webhooks are through', async () => (await webhooks()).pending === 0);
// Makes a session and pays it: with the members `more` of /sim/pay, and the session's `params`.
async function paid(more, params) {
  const session = await stripe.checkout.sessions.create(pack(params));
  return did('pay', { session: session.id, ...more });
}

test('a session is made, read and paid, and an event reports it', async () => {
  const made = await stripe.checkout.sessions.create(pack());
  assert.match(made.id, /^cs_test_\w{58}$/);
  assert.deepEqual(
    [made.object, made.status, made.payment_status, made.livemode],
    ['checkout.session', 'open', 'unpaid', false],
  );
  assert.deepEqual(
    [made.amount_total, made.currency, made.payment_intent, made.client_reference_id],
    [1990, 'eur', null, 'pur_1'],
  );
  assert.deepEqual(made.metadata, { purchase: 'pur_1', account: 'acc_1' });
  assert.ok(made.url.startsWith(`${paysim.url}/`), made.url);
  assert.equal(made.expires_at - made.created, 24 * 3600);
  assert.equal(made.lastResponse.apiVersion, Stripe.API_VERSION);
  await did('pay', { session: made.id });
  const read = await stripe.checkout.sessions.retrieve(made.id, {
    expand: ['payment_intent.latest_charge', 'line_items'],
  });
  assert.deepEqual([read.status, read.payment_status, read.url], ['complete', 'paid', null]);
  assert.deepEqual(
    read.line_items.data.map((item) => [item.description, item.amount_total, item.quantity]),
    [['100 credits', 1990, 1]],
  );
  const intent = read.payment_intent;
  assert.match(intent.id, /^pi_/);
  assert.deepEqual(
    [intent.status, intent.amount_received, intent.metadata],
    ['succeeded', 1990, { purchase: 'pur_1' }],
  );
  const charge = intent.latest_charge;
  assert.match(charge.id, /^ch_/);
  assert.deepEqual(
    [charge.status, charge.paid, charge.amount, charge.amount_refunded, charge.disputed],
    ['succeeded', true, 1990, 0, false],
  );
  assert.match((await sim.get(new URL(charge.receipt_url).pathname)).text, /100 credits/);
  await idle();
  const [event] = received();
  assert.deepEqual(
    [event.type, event.livemode, event.api_version, event.data.object.id],
    ['checkout.session.completed', false, Stripe.API_VERSION, made.id],
  );
  assert.deepEqual(event.data.object, JSON.parse(JSON.stringify(await stripe.checkout.sessions.retrieve(made.id))));
});

test('a later payment is completed but unpaid until it comes, or does not', async () => {
  const [good, bad] = [await paid({ later: true }), await paid({ later: true })];
  for (const session of [good, bad]) {
    assert.deepEqual([session.status, session.payment_status], ['complete', 'unpaid']);
    assert.equal((await stripe.paymentIntents.retrieve(session.payment_intent)).status, 'processing');
  }
  await did('settle', { session: good.id });
  await did('settle', { session: bad.id, succeeds: false });
  assert.equal((await stripe.checkout.sessions.retrieve(good.id)).payment_status, 'paid');
  assert.equal((await stripe.checkout.sessions.retrieve(bad.id)).payment_status, 'unpaid');
  const failed = await stripe.paymentIntents.retrieve(bad.payment_intent, { expand: ['latest_charge'] });
  assert.deepEqual(
    [failed.status, failed.latest_charge.status, failed.latest_charge.paid],
    ['requires_payment_method', 'failed', false],
  );
  assert.equal((await sim.post('/sim/settle', { session: good.id })).status, 409);
  await idle();
  assert.deepEqual(types().sort(), [
    'checkout.session.async_payment_failed',
    'checkout.session.async_payment_succeeded',
    'checkout.session.completed',
    'checkout.session.completed',
  ]);
  const later = received().find(({ type }) => type.endsWith('succeeded')).data.object;
  assert.deepEqual([later.id, later.payment_status], [good.id, 'paid']);
  assert.deepEqual((await sim.get('/sim/books')).json.books, {
    eur: { taken: 1990, refunded: 0, withdrawn: 0, reinstated: 0, net: 1990 },
  });
});

test('a session expires by hand and by the clock, and then only a payment that was under way still pays it', async () => {
  const byHand = await stripe.checkout.sessions.create(pack());
  assert.equal((await stripe.checkout.sessions.expire(byHand.id)).status, 'expired');
  await assert.rejects(stripe.checkout.sessions.expire(byHand.id), Stripe.errors.StripeInvalidRequestError);
  const byClock = await stripe.checkout.sessions.create(pack({ expires_at: Math.floor(Date.now() / 1000) + 1800 }));
  assert.equal((await did('clock', { advanceMs: 1_799_000 - 5_000 })).shiftedMs, 1_794_000);
  assert.equal((await stripe.checkout.sessions.retrieve(byClock.id)).status, 'open');
  await did('clock', { advanceMs: 10_000 });
  const read = await stripe.checkout.sessions.retrieve(byClock.id);
  assert.deepEqual([read.status, read.payment_status, read.url], ['expired', 'unpaid', null]);
  assert.equal((await sim.post('/sim/pay', { session: byClock.id })).status, 409);
  assert.equal((await did('pay', { session: byClock.id, afterExpiry: true })).payment_status, 'paid');
  await idle();
  assert.deepEqual(types(), ['checkout.session.expired', 'checkout.session.expired', 'checkout.session.completed']);
  assert.ok(received().every(({ data }) => [byHand.id, byClock.id].includes(data.object.id)));
});

test('refunds add up, are reported by events, and may fail', async () => {
  const { payment_intent } = await paid();
  const intent = await stripe.paymentIntents.retrieve(payment_intent);
  const charge = () => stripe.charges.retrieve(intent.latest_charge, { expand: ['refunds'] });
  const first = await stripe.refunds.create({
    payment_intent,
    amount: 500,
    reason: 'requested_by_customer',
    metadata: { why: 'half' },
  });
  assert.match(first.id, /^re_/);
  assert.deepEqual(
    [first.amount, first.status, first.charge, first.currency, first.reason, first.metadata.why],
    [500, 'succeeded', intent.latest_charge, 'eur', 'requested_by_customer', 'half'],
  );
  await assert.rejects(stripe.refunds.create({ payment_intent, amount: 1491 }), {
    type: 'StripeInvalidRequestError',
    param: 'amount',
  });
  const pending = await did('refund', { payment: payment_intent, pending: true });
  assert.deepEqual([pending.amount, pending.status, (await charge()).refunded], [1490, 'pending', true]);
  await assert.rejects(stripe.refunds.create({ charge: intent.latest_charge }), { code: 'charge_already_refunded' });
  await did('refund/settle', { refund: pending.id, succeeds: false });
  const left = await charge();
  assert.deepEqual(
    [left.amount_refunded, left.refunded, left.refunds.data.map(({ id, status }) => [id, status])],
    [
      500,
      false,
      [
        [pending.id, 'failed'],
        [first.id, 'succeeded'],
      ],
    ],
  );
  assert.deepEqual(
    (await stripe.refunds.list({ charge: left.id })).data.map(({ id }) => id),
    [pending.id, first.id],
  );
  assert.equal((await stripe.refunds.retrieve(first.id)).amount, 500);
  await stripe.refunds.create({ charge: left.id });
  assert.deepEqual((await sim.get('/sim/books')).json.books.eur, {
    taken: 1990,
    refunded: 1990,
    withdrawn: 0,
    reinstated: 0,
    net: 0,
  });
  await idle();
  const reported = received()
    .filter(({ type }) => type === 'charge.refunded')
    .map(({ data }) => data.object.amount_refunded);
  assert.deepEqual(
    reported.sort((a, b) => a - b),
    [500, 1990, 1990],
  );
  assert.deepEqual(
    types()
      .filter((type) => type.startsWith('refund.'))
      .sort(),
    ['refund.created', 'refund.created', 'refund.created', 'refund.failed', 'refund.updated'],
  );
});

test('disputes take the money, and bring it back when they are won', async () => {
  const [won, lost, asked] = [await paid(), await paid(), await paid()];
  const dispute = await did('dispute', { payment: won.id, reason: 'product_not_received' });
  assert.match(dispute.id, /^dp_/);
  const { latest_charge } = await stripe.paymentIntents.retrieve(won.payment_intent);
  const read = async () => (await stripe.disputes.list({ payment_intent: won.payment_intent })).data[0];
  assert.deepEqual(
    [(await read()).status, (await read()).charge, (await read()).amount],
    ['needs_response', latest_charge, 1990],
  );
  assert.equal((await stripe.charges.retrieve(latest_charge)).disputed, true);
  assert.equal((await stripe.disputes.list({ charge: 'ch_none' })).data.length, 0);
  await assert.rejects(stripe.refunds.create({ charge: latest_charge }), { code: 'charge_disputed' });
  assert.equal((await sim.post('/sim/dispute', { payment: won.id })).status, 409);
  await did('dispute/respond', { dispute: dispute.id });
  await did('dispute/win', { dispute: dispute.id });
  assert.equal((await sim.post('/sim/dispute/lose', { dispute: dispute.id })).status, 409);
  assert.deepEqual(
    [(await read()).status, (await read()).balance_transactions.map(({ net }) => net)],
    ['won', [-1990, 1990]],
  );
  const partial = await did('dispute', { payment: lost.payment_intent, amount: 700 });
  await did('dispute/lose', { dispute: partial.id });
  const inquiry = await did('dispute', { payment: asked.id, inquiry: true });
  assert.deepEqual([inquiry.status, inquiry.balance_transactions], ['warning_needs_response', []]);
  await did('dispute/win', { dispute: inquiry.id });
  assert.equal((await stripe.disputes.retrieve(inquiry.id)).status, 'warning_closed');
  assert.deepEqual((await sim.get('/sim/books')).json.books.eur, {
    taken: 5970,
    refunded: 0,
    withdrawn: 2690,
    reinstated: 1990,
    net: 5270,
  });
  await idle();
  const of = ({ id }) =>
    received()
      .filter(({ data }) => data.object.id === id)
      .map(({ type, data }) => `${type.replace('charge.dispute.', '')} ${data.object.status}`)
      .sort();
  assert.deepEqual(of(dispute), [
    'closed won',
    'created needs_response',
    'funds_reinstated won',
    'funds_withdrawn needs_response',
    'updated under_review',
  ]);
  assert.deepEqual(of(partial), ['closed lost', 'created needs_response', 'funds_withdrawn needs_response']);
  assert.deepEqual(of(inquiry), ['closed warning_closed', 'created warning_needs_response']);
});

test('lists are paged and filtered, newest first, as the client walks them', async () => {
  const made = [];
  for (let i = 0; i < 7; ++i)
    made.unshift(await stripe.checkout.sessions.create(pack({ client_reference_id: `pur_${i}` })));
  const walked = [];
  for await (const session of stripe.checkout.sessions.list({ limit: 3 })) walked.push(session.id);
  assert.deepEqual(
    walked,
    made.map(({ id }) => id),
  );
  const one = await did('pay', { session: made[2].id });
  assert.deepEqual(
    (await stripe.checkout.sessions.list({ payment_intent: one.payment_intent })).data.map(({ id }) => id),
    [made[2].id],
  );
  assert.deepEqual(
    (await stripe.checkout.sessions.list({ status: 'complete', expand: ['data.payment_intent'] })).data.map(
      (session) => session.payment_intent.status,
    ),
    ['succeeded'],
  );
  await did('clock', { advanceMs: 100_000 });
  const late = await stripe.checkout.sessions.create(pack());
  const ids = async (created) =>
    (await stripe.checkout.sessions.list({ created, limit: 100 })).data.map(({ id }) => id);
  assert.deepEqual(await ids({ gte: late.created }), [late.id]);
  assert.deepEqual(await ids({ gt: late.created }), []);
  assert.deepEqual(
    await ids({ lt: late.created }),
    made.map(({ id }) => id),
  );
  assert.deepEqual(await ids(late.created), [late.id]);
  const events = await stripe.events.list({
    types: ['checkout.session.completed', 'charge.refunded'],
    created: { gte: made[6].created },
  });
  assert.deepEqual(
    events.data.map(({ type, data }) => [type, data.object.id]),
    [['checkout.session.completed', made[2].id]],
  );
  assert.equal((await stripe.events.retrieve(events.data[0].id)).id, events.data[0].id);
  assert.deepEqual((await stripe.events.list({ type: 'charge.refunded' })).data, []);
  assert.equal((await stripe.charges.list({ payment_intent: one.payment_intent })).data.length, 1);
  assert.deepEqual(
    (await stripe.checkout.sessions.listLineItems(one.id)).data.map(({ description }) => description),
    ['100 credits'],
  );
  await assert.rejects(stripe.checkout.sessions.list({ starting_after: 'cs_test_none' }), {
    code: 'resource_missing',
    param: 'starting_after',
  });
});

test('an idempotency key makes once, whatever is repeated, and refuses another body', async () => {
  const idempotencyKey = 'pur_1';
  const first = await stripe.checkout.sessions.create(pack(), { idempotencyKey });
  const again = await stripe.checkout.sessions.create(pack(), { idempotencyKey });
  assert.equal(again.id, first.id);
  assert.equal(again.lastResponse.headers['idempotent-replayed'], 'true');
  assert.equal(again.lastResponse.headers['idempotency-key'], idempotencyKey);
  await assert.rejects(
    stripe.checkout.sessions.create(pack({ client_reference_id: 'pur_2' }), { idempotencyKey }),
    Stripe.errors.StripeIdempotencyError,
  );
  // Stripe's own client repeats a request whose answer is lost.
  await did('faults/script', { endpoint: 'createSession', steps: [{ fault: 'drop_after' }, { fault: 'repeated' }] });
  const patient = await clientOf('sk_test_x', { maxNetworkRetries: 2 }).checkout.sessions.create(pack(), {
    idempotencyKey: 'pur_3',
  });
  const { charges, sessions, calls } = (await sim.get('/sim/counts')).json;
  assert.deepEqual([charges, sessions, calls.createSession.byStatus], [0, 2, { 200: 3, 400: 1, dropped: 1 }]);
  await did('faults/script', { endpoint: 'createSession', steps: [{ fault: 'repeated' }] });
  const form = {
    body: 'mode=payment&success_url=http://127.0.0.1/&line_items[][quantity]=1&line_items[0][price_data][currency]=usd&line_items[0][price_data][unit_amount]=50&line_items[0][price_data][product_data][name]=x',
    headers: { authorization: 'Bearer sk_test_x' },
  };
  assert.equal((await sim.request('POST', '/v1/checkout/sessions', form)).status, 200);
  assert.equal((await sim.get('/sim/counts')).json.sessions, 4, 'without a key the repetition makes another');
  assert.notEqual(patient.id, first.id);
  // A repetition comes while the first request is under way.
  await did('faults/script', { endpoint: 'createSession', steps: [{ latencyMs: 60_000 }] });
  const both = await Promise.all(
    [1, 2].map(() =>
      stripe.checkout.sessions.create(pack(), { idempotencyKey: 'pur_4', timeout: 2_000 }).catch((error) => error),
    ),
  );
  assert.deepEqual(both.map(({ statusCode, code, type }) => `${type} ${statusCode} ${code}`).sort(), [
    'StripeAPIError 409 idempotency_key_in_use',
    'StripeConnectionError undefined undefined',
  ]);
});

test("errors are of the classes that Stripe's client knows", async () => {
  const { errors } = Stripe;
  await assert.rejects(clientOf('sk_live_4eC39HqLyjWDarjtT1zdp7dc').checkout.sessions.create(pack()), (error) => {
    assert.ok(error instanceof errors.StripeAuthenticationError);
    assert.match(error.message, /takes no live key/);
    return !JSON.stringify(error.raw).includes('4eC39HqLyjWDarjtT1zdp7dc');
  });
  for (const key of ['nonsense', 'sk_test_', `sk_test_${'x'.repeat(300)}`])
    await assert.rejects(clientOf(key).events.list(), errors.StripeAuthenticationError);
  assert.equal((await sim.get('/v1/events')).json.error.type, 'invalid_request_error');
  const basic = (user) =>
    sim.get('/v1/events', { headers: { authorization: `Basic ${Buffer.from(`${user}:`).toString('base64')}` } });
  assert.deepEqual([(await basic('sk_test_x')).status, (await basic('sk_live_x')).status], [200, 401]);
  await assert.rejects(stripe.checkout.sessions.retrieve('cs_test_none'), {
    type: 'StripeInvalidRequestError',
    statusCode: 404,
    code: 'resource_missing',
    param: 'session',
  });
  await assert.rejects(stripe.paymentIntents.retrieve('pi_none'), { code: 'resource_missing', param: 'intent' });
  const refused = [
    [{ line_items: [] }, 'parameter_missing', 'line_items'],
    [{ mode: 'subscription' }, undefined, 'mode'],
    [{ success_url: 'not a url' }, 'url_invalid', 'success_url'],
    [{ success_url: 'javascript:alert(1)' }, 'url_invalid', 'success_url'],
    [{ expires_at: Math.floor(Date.now() / 1000) + 60 }, undefined, 'expires_at'],
    [{ client_reference_id: 'x'.repeat(201) }, undefined, 'client_reference_id'],
    [{ metadata: { key: 'x'.repeat(501) } }, undefined, 'metadata[key]'],
    [{ sucess_url: 'http://127.0.0.1/' }, 'parameter_unknown', 'sucess_url'],
    [{ expand: ['nothing'] }, undefined, 'expand'],
  ];
  for (const [more, code, param] of refused)
    await assert.rejects(
      stripe.checkout.sessions.create(pack(more)),
      { type: 'StripeInvalidRequestError', code, param },
      JSON.stringify(more),
    );
  const item = (price, quantity = 1) =>
    pack({
      line_items: [
        { quantity, price_data: { currency: 'eur', unit_amount: 1990, product_data: { name: 'x' }, ...price } },
      ],
    });
  await assert.rejects(stripe.checkout.sessions.create(item({ currency: 'eux' })), {
    param: 'line_items[0][price_data][currency]',
  });
  await assert.rejects(stripe.checkout.sessions.create(item({ unit_amount: -5 })), {
    code: 'parameter_invalid_integer',
  });
  await assert.rejects(stripe.checkout.sessions.create(item({ unit_amount: 1.5 })), {
    code: 'parameter_invalid_integer',
  });
  await assert.rejects(stripe.checkout.sessions.create(item({ unit_amount: 49 })), { code: 'amount_too_small' });
  await assert.rejects(stripe.checkout.sessions.create(item({}, 999_999)), { code: 'amount_too_large' });
  await assert.rejects(stripe.customers.list(), { statusCode: 404 });
  const faults = {
    too_many_requests: errors.StripeRateLimitError,
    server_error: errors.StripeAPIError,
    server_error_after: errors.StripeAPIError,
    drop_before: errors.StripeConnectionError,
    malformed: errors.StripeAPIError,
    refused: errors.StripeInvalidRequestError,
  };
  for (const [fault, kind] of Object.entries(faults)) {
    await did('faults/script', { endpoint: 'listEvents', steps: [{ fault }] });
    // Stripe's client repeats a request once when the connection is lost, even without retries.
    if (fault === 'drop_before') await did('faults/script', { endpoint: 'listEvents', steps: [{ fault }] });
    await assert.rejects(stripe.events.list(), kind, fault);
  }
  await sim.put('/sim/faults', { endpoint: 'listEvents', wrong: 1 });
  assert.equal((await stripe.events.list()).id, 17);
  await sim.delete('/sim/faults');
  assert.deepEqual((await stripe.events.list()).data, []);
});

test("signatures are what Stripe's client verifies, with each secret of a rotation, and nothing altered", async () => {
  await sim.put('/sim/webhooks', { secrets: ['whsec_new', 'whsec_old'] });
  await paid();
  await idle();
  const [{ body, headers }] = receiver.requests;
  const signature = headers['stripe-signature'];
  for (const each of ['whsec_new', 'whsec_old'])
    assert.equal(stripe.webhooks.constructEvent(body, signature, each).type, 'checkout.session.completed');
  const { StripeSignatureVerificationError } = Stripe.errors;
  const refuses = (...args) =>
    assert.throws(() => stripe.webhooks.constructEvent(...args), StripeSignatureVerificationError);
  refuses(body, signature, 'whsec_other');
  refuses(body.replace('1990', '1991'), signature, 'whsec_new');
  refuses(body, signature.replace(/^t=\d/, 't=9'), 'whsec_new');
  refuses(body, signature.replaceAll('v1=', 'v0='), 'whsec_new');
  assert.equal(headers['content-type'], 'application/json; charset=utf-8');
});

test('a webhook that the endpoint refuses is sent again, signed anew, and given up at last', async () => {
  await sim.put('/sim/webhooks', { retryAfterMs: [1, 1, 1] });
  receiver.answer = (request, number) => ({ status: number < 3 ? 500 : 200 });
  await paid();
  await idle();
  assert.deepEqual([new Set(received().map(({ id }) => id)).size, receiver.requests.length], [1, 3]);
  receiver.answer = () => ({ status: 302, headers: { location: receiver.url } });
  await paid();
  await idle();
  assert.equal(receiver.requests.length, 3 + 4);
  const { attempts, taken, refused, givenUp } = await webhooks();
  assert.deepEqual({ attempts, taken, refused, givenUp }, { attempts: 7, taken: 1, refused: 6, givenUp: 1 });
  receiver.answer = undefined;
  const [event] = (await stripe.events.list({ limit: 1 })).data;
  assert.deepEqual([event.pending_webhooks, (await did('webhooks/resend', { event: event.id })).sent], [0, 1]);
  await idle();
  assert.equal(received().at(-1).id, event.id);
});

test('webhooks are dropped, doubled, overtaken, and repeated when their answer is lost', async () => {
  const faults = (json) => sim.put('/sim/webhooks/faults', json);
  await faults({ drop: 1 });
  await paid();
  await idle();
  assert.deepEqual(types(), []);
  assert.equal((await webhooks()).dropped, 1);
  await faults({ duplicate: 1 });
  await paid();
  await idle();
  assert.deepEqual([new Set(received().map(({ id }) => id)).size, receiver.requests.length], [1, 2]);
  await faults({ reorder: 1 });
  const first = await stripe.checkout.sessions.create(pack());
  await did('pay', { session: first.id, later: true });
  await faults({});
  await did('settle', { session: first.id });
  await idle();
  assert.deepEqual(types().slice(2), ['checkout.session.async_payment_succeeded', 'checkout.session.completed']);
  await sim.put('/sim/webhooks', { retryAfterMs: [1], types: ['checkout.session.expired'] });
  await faults({ loseAnswer: 1, delayMinMs: 1, delayMaxMs: 5 });
  await paid();
  const { id } = await stripe.checkout.sessions.create(pack());
  await stripe.checkout.sessions.expire(id);
  await idle();
  assert.deepEqual(types().slice(4), ['checkout.session.expired', 'checkout.session.expired']);
  assert.equal((await sim.put('/sim/webhooks', { url: 'https://example.com/hook' })).status, 400);
  assert.equal((await sim.put('/sim/webhooks', { url: 'http://192.0.2.1/hook' })).status, 400);
});

test('the page shows hostile text as text, and its buttons do what they say', async () => {
  const hostile = '</td><script>alert("1")</script>&amp;';
  const made = async (params) => {
    const session = await stripe.checkout.sessions.create(
      pack({
        line_items: [
          {
            quantity: 2,
            price_data: { currency: 'jpy', unit_amount: 1990, product_data: { name: hostile, description: hostile } },
          },
        ],
        ...params,
      }),
    );
    return { id: session.id, page: new URL(session.url).pathname };
  };
  const act = (page, name) =>
    sim.request('POST', page, {
      body: `act=${name}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  const { id, page } = await made({ cancel_url: 'http://127.0.0.1:1/back?a=1&b="<' });
  const shown = await sim.get(page);
  assert.equal(shown.status, 200);
  assert.match(
    shown.headers['content-security-policy'],
    /^default-src 'none'; style-src 'self';.* form-action 'self' http:\/\/127\.0\.0\.1:1$/,
  );
  assert.doesNotMatch(shown.text, /<script/);
  assert.equal(shown.text.split('&lt;/td&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;amp;').length, 3);
  assert.match(shown.text, /3980 JPY/);
  assert.match(shown.text, /href="http:\/\/127\.0\.0\.1:1\/back\?a=1&amp;b=&quot;&lt;"/);
  assert.equal((await act(page, 'nonsense')).status, 400);
  assert.equal((await act(page, 'fail')).status, 402);
  const declined = await stripe.checkout.sessions.retrieve(id, { expand: ['payment_intent'] });
  assert.deepEqual(
    [declined.status, declined.payment_status, declined.payment_intent.last_payment_error.code],
    ['open', 'unpaid', 'card_declined'],
  );
  const both = await Promise.all([act(page, 'pay'), act(page, 'pay')]);
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 303]);
  assert.equal(both.find(({ status }) => status === 303).headers.location, `http://127.0.0.1:1/done?session=${id}`);
  assert.deepEqual((await sim.get('/sim/books')).json.books.jpy.taken, 3980);
  const later = await made();
  assert.equal((await act(later.page, 'later')).status, 303);
  assert.match((await sim.get(later.page)).text, /under way/);
  const cards = await made({ payment_method_types: ['card'] });
  assert.doesNotMatch((await sim.get(cards.page)).text, /Pay later/);
  assert.equal((await act(cards.page, 'later')).status, 400);
  await did('expire', { session: cards.id });
  assert.equal((await sim.get(cards.page)).status, 410);
  assert.equal((await sim.get('/c/pay/cs_test_none')).status, 404);
  const { payments } = (await sim.get('/sim/payments')).json;
  assert.deepEqual(
    payments.map(({ status, paid: isPaid, amount }) => [status, isPaid, amount]),
    [
      ['complete', true, 3980],
      ['complete', false, 3980],
      ['expired', false, 3980],
    ],
  );
});

test('it ends at once, whatever is under way, and takes nothing but loopback and test keys', async (context) => {
  const own = new Scope(context);
  const silent = await startReceiver(own, { answer: () => new Promise(() => {}) });
  const program = await startPaysim(own, { args: ['--webhook-url', silent.url, '--webhook-secret', 'whsec_given'] });
  assert.deepEqual(Object.keys(program.ready), ['listening'], 'a secret that was given is not printed');
  const api = new Client(program.url);
  const form = {
    body: 'mode=payment&success_url=http://127.0.0.1/&line_items[0][quantity]=1&line_items[0][price_data][currency]=usd&line_items[0][price_data][unit_amount]=50&line_items[0][price_data][product_data][name]=x',
    headers: { authorization: 'Bearer sk_test_x' },
  };
  const { json: session } = await api.request('POST', '/v1/checkout/sessions', form);
  assert.equal((await api.post('/sim/pay', { session: session.id })).status, 200);
  await until('the webhook is under way', () => silent.requests.length === 1);
  assert.equal(
    (await api.post('/sim/faults/script', { endpoint: 'listEvents', steps: [{ latencyMs: 600_000 }] })).status,
    200,
  );
  const waiting = api.get('/v1/events', { headers: form.headers }).catch(({ code }) => code);
  await until('the call has come', async () => (await api.get('/sim/counts')).json.delayed === 1);
  const begun = performance.now();
  await program.stop();
  assert.ok(performance.now() - begun < 5_000);
  assert.equal(await waiting, 'ECONNRESET');
  const refuses = async (args, message) => {
    const refused = new Program('paysim', process.env.PAYSIM_BIN, ['--port', '0', ...args]);
    assert.deepEqual(await refused.ended, { code: 2, signal: null });
    assert.match(refused.log.join(), message);
  };
  await refuses(['--address', '0.0.0.0'], /loopback/);
  await refuses(['--secret-key', 'sk_live_x'], /no live key/);
  await refuses(['--webhook-url', 'http://192.0.2.1/'], /webhook-url/);
  await refuses(['--nonsense'], /nonsense/);
});

// Checks `answers`, [type, JSON] pairs, with TypeScript, as literals of the types that Stripe's client declares. A fault is a required
// member that is missing, an unknown one, or one of another type. Returns the faults as pairs: index of the answer, message.
function faultsOfTypes(answers) {
  const name = new URL('paysim_answers.ts', import.meta.url).pathname;
  const source = `import Stripe from 'stripe';\n${answers.map(([type, json], i) => `export const answer${i}: ${type} = ${JSON.stringify(json)};`).join('\n')}\n`;
  const options = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: [],
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  host.getSourceFile = (file, ...rest) =>
    file === name ? ts.createSourceFile(file, source, options.target) : getSourceFile.call(host, file, ...rest);
  host.fileExists = (file) => file === name || fileExists.call(host, file);
  host.readFile = (file) => (file === name ? source : readFile.call(host, file));
  const program = ts.createProgram([name], options, host);
  return ts
    .getPreEmitDiagnostics(program, program.getSourceFile(name))
    .map(({ file, start, messageText }) => [
      file.getLineAndCharacterOfPosition(start).line - 1,
      ts.flattenDiagnosticMessageText(messageText, ' '),
    ]);
}

test("every object has the members that Stripe's client declares, and no other", async () => {
  const get = async (path) => (await sim.get(path, { headers: { authorization: 'Bearer sk_test_x' } })).json;
  const later = await paid({ later: true });
  const open = await stripe.checkout.sessions.create(pack());
  await did('decline', { session: open.id });
  const refunded = await paid();
  const refund = await did('refund', { payment: refunded.id, amount: 1, pending: true });
  const failing = await did('refund', { payment: refunded.id, amount: 2 });
  await did('refund/settle', { refund: failing.id, succeeds: false });
  const dispute = await did('dispute', { payment: refunded.id });
  const expired = await stripe.checkout.sessions.create(pack());
  await stripe.checkout.sessions.expire(expired.id);
  const answers = [];
  for (const { id } of [later, open, refunded, expired])
    answers.push(['Stripe.Checkout.Session', await get(`/v1/checkout/sessions/${id}`)]);
  const intents = (await stripe.checkout.sessions.list()).data
    .map(({ payment_intent }) => payment_intent)
    .filter(Boolean);
  assert.equal(intents.length, 3);
  for (const id of intents)
    answers.push(['Stripe.PaymentIntent', await get(`/v1/payment_intents/${id}?expand[]=latest_charge.refunds`)]);
  for (const charge of (await get('/v1/charges')).data) answers.push(['Stripe.Charge', charge]);
  for (const { id } of [refund, failing]) answers.push(['Stripe.Refund', await get(`/v1/refunds/${id}`)]);
  answers.push(['Stripe.Dispute', await get(`/v1/disputes/${dispute.id}`)]);
  await did('dispute/win', { dispute: dispute.id });
  answers.push(['Stripe.Dispute', await get(`/v1/disputes/${dispute.id}`)]);
  const items = await get(`/v1/checkout/sessions/${open.id}/line_items`);
  // The client makes an object of this text, and its type declares that object.
  assert.equal(items.data[0].price.unit_amount_decimal, '1990');
  items.data[0].price.unit_amount_decimal = null;
  answers.push(['Stripe.ApiList<Stripe.LineItem>', items]);
  const events = await get('/v1/events?limit=100');
  for (const event of events.data) answers.push(['Stripe.Event', event]);
  assert.equal(new Set(events.data.map(({ type }) => type)).size, 10);
  // Altered answers too, each with one fault: the check has to find these.
  const [, session] = answers[0];
  const altered = [
    { ...session, currency: undefined },
    { ...session, amount_total: '1990' },
    { ...session, amount: 1990 },
  ];
  const faults = faultsOfTypes([...answers, ...altered.map((one) => ['Stripe.Checkout.Session', one])]);
  assert.deepEqual(
    faults.map(([index]) => index - answers.length),
    [0, 1, 2],
    JSON.stringify(faults),
  );
  [/'currency' is missing/, /Type 'string' is not assignable to type 'number'/, /'"amount"' does not exist/].forEach(
    (message, i) => assert.match(faults[i][1], message),
  );
});

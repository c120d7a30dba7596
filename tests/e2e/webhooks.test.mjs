// The stores' way in, POST /api/webhooks/{provider}/{integrationId} (spec 2), against the running programs: what it answers, and what
// the account holds afterwards.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Scope, until } from './harness.mjs';
import { Merchant, isError, startStack } from './merchant.mjs';
import { sampleOrder, sendOrder, signatureHeaders } from './orders.mjs';

const scope = new Scope({ after });
let stack, sim, merchant, other;
const stores = {};
let lastOrder = 5000;
const newOrderId = () => String(++lastOrder);

before(async () => {
  stack = await startStack(scope);
  sim = stack.sim;
  merchant = await Merchant.signUp(stack.bridge, 1);
  other = await Merchant.signUp(stack.bridge, 2, { credits: 0, connected: false });
  for (const provider of ['provider_a', 'provider_b', 'generic']) stores[provider] = await merchant.store(provider);
  // A buyer who never accepts: their deliveries stay where a later event of the order finds them.
  await sim.post('/sim/customers', { username: 'patient', answer: 'never' });
});

// Nothing of that order is stored: no delivery, and the order itself, sent as it should be, is no duplicate.
async function nothingStored(store, orderId) {
  assert.deepEqual(await merchant.deliveriesOf(store, orderId), []);
  const accepted = await merchant.order(store, { orderId, username: 'buyer' });
  assert.equal(accepted.duplicate, false);
}

// How many orders the service has stored since it started.
async function ordersStored() {
  const { text } = await merchant.open.get('/metrics');
  const counts = [...text.matchAll(/^presetbridge_orders_accepted_total\{[^}]*\} (\d+)/gm)].map(([, count]) =>
    Number(count),
  );
  assert.ok(counts.length > 0, 'the metric is there');
  return counts.reduce((sum, count) => sum + count, 0);
}

const base64 = (provider) => provider !== 'generic';
const aliases = {
  provider_a: 'x-shopify-hmac-sha256',
  provider_b: 'x-wc-webhook-signature',
  generic: 'x-vendor-signature',
};

for (const provider of ['provider_a', 'provider_b', 'generic']) {
  describe(`${provider}: signature`, () => {
    const body = (orderId) => JSON.stringify(sampleOrder(provider, { orderId, username: 'buyer', sku: 'A-1' }));
    // `spoil(headers, body, name)` gives the headers to send, or [headers, body].
    const refused = (name, spoil) =>
      test(name, async () => {
        const orderId = newOrderId();
        const sent = body(orderId);
        const good = signatureHeaders(provider, stores[provider].secret, sent);
        const [header] = Object.keys(good);
        const spoilt = [await spoil(good[header], sent, header)].flat();
        isError(await sendRaw(spoilt[1] ?? sent, spoilt[0]), 401, 'INVALID_SIGNATURE');
        await nothingStored(stores[provider], orderId);
      });
    const sendRaw = (sent, headers) =>
      merchant.open.request('POST', `/api/webhooks/${provider}/${stores[provider].id}`, { body: sent, headers });

    refused('of a wrong secret is 401', (_, sent) => signatureHeaders(provider, 'not the secret of it', sent));
    refused('of another integration is 401', async (_, sent) =>
      signatureHeaders(provider, (await merchant.store(provider)).secret, sent),
    );
    refused('of other bytes is 401', (value, sent, header) => [{ [header]: value }, sent.replace('A-1', 'A-2')]);
    refused('of the body before white space was added is 401', (value, sent, header) => [
      { [header]: value },
      `${sent}\n`,
    ]);
    refused('missing is 401', () => ({}));
    refused('empty is 401', (_, __, header) => ({ [header]: '' }));
    refused('cut short is 401', (value, _, header) => ({ [header]: value.slice(0, -2) }));
    refused('with one character too many is 401', (value, _, header) => ({ [header]: `${value}0` }));
    refused('of no bytes is 401', (_, __, header) => ({ [header]: base64(provider) ? '====' : 'sha256=' }));
    refused('in the other encoding is 401', (value, _, header) => ({
      [header]: base64(provider)
        ? `sha256=${Buffer.from(value, 'base64').toString('hex')}`
        : Buffer.from(value.slice(7), 'hex').toString('base64'),
    }));
    refused("under another provider's header is 401", (value) => ({
      [base64(provider) ? 'x-webhook-signature' : 'x-hosted-hmac-sha256']: value,
    }));
    refused('right under one name and wrong under the other is 401', (value, _, header) => ({
      [header]: value,
      [aliases[provider]]: Object.values(signatureHeaders(provider, 'not the secret of it', ''))[0],
    }));
    refused('right and wrong under one name is 401', (value, _, header) => ({
      [header]: [value, Object.values(signatureHeaders(provider, 'not the secret of it', ''))[0]],
    }));
    if (provider === 'generic') {
      refused('without sha256= is 401', (value, _, header) => ({ [header]: value.slice(7) }));
      refused('after SHA256= is 401', (value, _, header) => ({ [header]: value.replace('sha256', 'SHA256') }));
      test('in upper-case digits is accepted', async () => {
        const orderId = newOrderId();
        const sent = body(orderId);
        const value = signatureHeaders(provider, stores[provider].secret, sent)['x-webhook-signature'];
        const answer = await sendRaw(sent, { 'x-webhook-signature': `sha256=${value.slice(7).toUpperCase()}` });
        assert.deepEqual([answer.status, answer.json?.duplicate], [202, false], answer.text);
      });
    } else {
      refused('in the alphabet for URLs is 401', (_, sent, header) => {
        let text = sent;
        let value;
        do {
          text += ' '; // until the signature has a character that tells the alphabets apart
          value = Object.values(signatureHeaders(provider, stores[provider].secret, text))[0];
        } while (!/[+/]/.test(value));
        return [{ [header]: value.replaceAll('+', '-').replaceAll('/', '_') }, text];
      });
      refused('without its padding is 401', (value, _, header) => ({ [header]: value.replace(/=+$/, '') }));
    }

    test('right under both names is accepted, and the order is delivered', async () => {
      const orderId = newOrderId();
      const sent = body(orderId);
      const good = signatureHeaders(provider, stores[provider].secret, sent);
      const answer = await sendRaw(sent, { ...good, [aliases[provider]]: Object.values(good)[0] });
      assert.equal(answer.status, 202, answer.text);
      assert.deepEqual(answer.json, {
        status: 'queued',
        orderId,
        eventId: answer.json.eventId,
        deliveryId: answer.json.deliveryId,
        duplicate: false,
      });
      const delivery = await merchant.reaches(answer.json.deliveryId, 'completed');
      assert.deepEqual(
        [delivery.orderId, delivery.eventId, delivery.targetUsername],
        [orderId, answer.json.eventId, 'buyer'],
      );
    });
  });
}

test("a real store's own path and header names work unchanged", async () => {
  for (const [provider, path] of [
    ['provider_a', 'shopify'],
    ['provider_b', 'woocommerce'],
  ]) {
    const orderId = newOrderId();
    const sent = JSON.stringify(sampleOrder(provider, { orderId, username: 'buyer', sku: 'A-1' }));
    const signature = Object.values(signatureHeaders(provider, stores[provider].secret, sent))[0];
    const answer = await merchant.open.request('POST', `/api/webhooks/${path}/${stores[provider].id}`, {
      body: sent,
      headers: { [aliases[provider]]: signature },
    });
    assert.deepEqual([answer.status, answer.json?.orderId], [202, orderId], answer.text);
  }
});

describe('payload', () => {
  // A store that is only ever sent what is refused.
  const silent = {};
  before(async () => {
    for (const provider of ['provider_a', 'provider_b', 'generic']) silent[provider] = await merchant.store(provider);
  });
  const nested = (levels, provider = 'generic') => {
    const order = sampleOrder(provider, { orderId: newOrderId(), username: 'buyer', sku: 'A-1' });
    // The order itself is the first level.
    return JSON.stringify(order).replace(/\}$/, `,"more":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`);
  };
  const refused = (
    name,
    payload,
    { providers = ['provider_a', 'provider_b', 'generic'], status = 400, code = 'INVALID_PAYLOAD', fields } = {},
  ) => {
    for (const provider of providers) {
      test(`${name} is ${status} (${provider})`, async () => {
        const before = await ordersStored();
        const answer = await merchant.send(
          silent[provider],
          typeof payload === 'function' ? payload(provider) : payload,
        );
        isError(answer, status, code);
        if (fields) assert.deepEqual(answer.json.error.details.map(({ field }) => field).sort(), fields);
        assert.deepEqual(await merchant.deliveriesOf(silent[provider]), []);
        assert.equal(await ordersStored(), before);
      });
    }
  };
  const text = (provider) =>
    JSON.stringify(sampleOrder(provider, { orderId: newOrderId(), username: 'buyer', sku: 'A-1' }));
  const withField = (field, value) => (provider) => ({
    ...sampleOrder(provider, { orderId: newOrderId(), username: 'buyer', sku: 'A-1' }),
    [field]: value,
  });

  refused('an empty body', '');
  refused('white space alone', ' \n');
  refused('what is no JSON', '{"id":1');
  refused('an array', '[]');
  refused('a text', '"order"');
  refused('something after the object', (provider) => `${text(provider)}{}`);
  refused('an object without an order id', '{}');
  refused('bytes that are no UTF-8', (provider) =>
    Buffer.concat([
      Buffer.from(text(provider).replace(/\}$/, ',"note2":"')),
      Buffer.from([0xc3, 0x28]),
      Buffer.from('"}'),
    ]),
  );
  refused('nesting of 65 levels', (provider) => nested(65, provider));
  refused('a body of 1 MiB and a byte', (provider) => text(provider).padEnd(1024 * 1024 + 1), {
    status: 413,
    code: 'PAYLOAD_TOO_LARGE',
  });

  const generic = { providers: ['generic'] };
  refused('all that is missing, told at once,', '{}', { ...generic, fields: ['items', 'orderId', 'targetUsername'] });
  refused('no items', withField('items', []), { ...generic, fields: ['items'] });
  refused('items that are no list', withField('items', {}), { ...generic, fields: ['items'] });
  refused('251 items', withField('items', Array(251).fill({ sku: 'A-1' })), { ...generic, fields: ['items'] });
  refused('an item that is no object', withField('items', ['A-1']), { ...generic, fields: ['items[0]'] });
  refused('a quantity of 0', withField('items', [{ sku: 'A-1', quantity: 0 }]), {
    ...generic,
    fields: ['items[0].quantity'],
  });
  refused('half a quantity', withField('items', [{ sku: 'A-1' }, { sku: 'A-1', quantity: 1.5 }]), {
    ...generic,
    fields: ['items[1].quantity'],
  });
  refused('an empty order id', withField('orderId', ''), { ...generic, fields: ['orderId'] });
  refused('an order id that is a fraction', (p) => text(p).replace(/"orderId":"\d+"/, '"orderId":1.5'), {
    ...generic,
    fields: ['orderId'],
  });
  refused('a username of white space', withField('targetUsername', ' \u200b '), {
    ...generic,
    fields: ['targetUsername'],
  });
  refused('a username of 201 characters', withField('targetUsername', 'x'.repeat(201)), {
    ...generic,
    fields: ['targetUsername'],
  });
  refused('a field given twice', (provider) => text(provider).replace(/\}$/, ',"orderId":"another"}'), {
    ...generic,
    fields: ['orderId'],
  });

  test('nesting of 64 levels is accepted', async () => {
    const answer = await merchant.send(stores.generic, nested(64));
    assert.equal(answer.status, 202, answer.text);
  });
  test('a body of exactly 1 MiB is accepted', async () => {
    const answer = await merchant.send(stores.generic, text('generic').padEnd(1024 * 1024));
    assert.equal(answer.status, 202, answer.text);
  });
  test('of a field that a store gives twice the last one counts', async () => {
    const [first, last] = [newOrderId(), newOrderId()];
    const sent = JSON.stringify(sampleOrder('provider_a', { orderId: first, username: 'buyer', sku: 'A-1' })).replace(
      /\}$/,
      `,"id":${last}}`,
    );
    const answer = await merchant.send(stores.provider_a, sent);
    assert.deepEqual([answer.status, answer.json?.orderId], [202, last], answer.text);
  });
  test('an order id that is a number stays exact, also beyond 2^53', async () => {
    const sent = `{"orderId":9007199254740993,"targetUsername":"buyer","items":[{"sku":"A-1"}]}`;
    const answer = await merchant.send(stores.generic, sent);
    assert.deepEqual(
      [answer.status, answer.json?.orderId, answer.json?.duplicate],
      [202, '9007199254740993', false],
      answer.text,
    );
    const again = await merchant.send(stores.generic, sent.replace('9007199254740993', '"9007199254740993"'));
    assert.deepEqual([again.json.deliveryId, again.json.duplicate], [answer.json.deliveryId, true]);
    const [row] = await merchant.deliveriesOf(stores.generic, '9007199254740993');
    assert.equal(row.id, answer.json.deliveryId);
  });
  test('an order whose items have no key is stored, and answered as ignored', async () => {
    const orderId = newOrderId();
    const order = { orderId, targetUsername: 'buyer', items: [{ quantity: 2 }, {}] };
    const answer = await merchant.send(stores.generic, order);
    assert.deepEqual(
      [answer.status, answer.json],
      [202, { status: 'ignored', reason: 'no_mapped_items', orderId, eventId: answer.json.eventId }],
    );
    assert.deepEqual(await merchant.deliveriesOf(stores.generic, orderId), []);
  });
  test('mapped and unmapped items may be mixed', async () => {
    const orderId = newOrderId();
    const answer = await merchant.send(stores.generic, {
      orderId,
      targetUsername: 'buyer',
      items: [{}, { sku: 'no such' }, { sku: 'A-3', quantity: 2 }],
    });
    assert.equal(answer.status, 202, answer.text);
    const { items } = await merchant.delivery(answer.json.deliveryId);
    assert.deepEqual(
      items.map(({ fileId, quantity }) => [fileId, quantity]),
      [[merchant.file(3), 2]],
    );
  });
  test('the quantity of a generic item is 1 unless told', async () => {
    const { deliveryId } = await merchant.order(stores.generic, {
      orderId: newOrderId(),
      username: 'buyer',
      quantity: undefined,
    });
    assert.equal((await merchant.delivery(deliveryId)).items[0].quantity, 1);
  });
  for (const provider of ['provider_a', 'provider_b']) {
    test(`251 lines of a store's order are stored for review (${provider})`, async () => {
      const orderId = newOrderId();
      const order = sampleOrder(provider, { orderId, username: 'buyer', sku: 'A-1' });
      order.line_items = Array.from({ length: 251 }, (_, i) => ({ ...order.line_items[0], id: i + 1 }));
      const answer = await merchant.send(stores[provider], order);
      assert.deepEqual(
        [answer.status, answer.json?.status, answer.json?.resolutionCode],
        [202, 'in_review', 'order_too_large'],
        answer.text,
      );
      const delivery = await merchant.delivery(answer.json.deliveryId);
      assert.deepEqual([delivery.status, delivery.resolutionCode], ['in_review', 'order_too_large']);
    });
    test(`a store's order without a username is stored and says so (${provider})`, async () => {
      const answer = await merchant.order(stores[provider], { orderId: newOrderId() });
      assert.deepEqual([answer.status, answer.resolutionCode], ['failed', 'username_missing']);
    });
    test(`a store's order without lines is stored (${provider})`, async () => {
      const order = sampleOrder(provider, { orderId: newOrderId(), username: 'buyer', sku: 'A-1' });
      delete order.line_items;
      const answer = await merchant.send(stores[provider], order);
      assert.deepEqual([answer.status, answer.json?.reason], [202, 'no_mapped_items'], answer.text);
    });
  }
  test('the username is read from every place that the seed names', async () => {
    const read = async (provider, change) => {
      const order = sampleOrder(provider, { orderId: newOrderId(), sku: 'A-1' });
      Object.assign(order, change);
      const answer = await merchant.send(stores[provider], order);
      assert.equal(answer.status, 202, answer.text);
      return (await merchant.delivery(answer.json.deliveryId)).targetUsername;
    };
    const attribute = (name, value) => ({
      note_attributes: [
        { name: 'gift', value: 'yes' },
        { name, value },
      ],
      note: 'vendor username: of-the-note',
    });
    assert.equal(await read('provider_a', attribute('vendor_username', 'u1')), 'u1');
    assert.equal(await read('provider_a', attribute('cloud_username', ' @u2 ')), 'u2');
    assert.equal(await read('provider_a', attribute('dsp_username', 'u3')), 'u3');
    assert.equal(await read('provider_a', attribute('vendor_username', '')), 'of-the-note');
    assert.equal(await read('provider_a', { note: 'Please ship soon.\nCloud username = u4\nThanks' }), 'u4');
    assert.equal(
      await read('provider_b', {
        meta_data: [
          { key: '_x', value: { a: 1 } },
          { key: 'vendor_username', value: 'u5' },
        ],
      }),
      'u5',
    );
    assert.equal(await read('generic', { targetUsername: 'https://cloud.example/u/u6/' }), 'u6');
    // A buy-now checkout skips the cart, and product add-ons write into the line.
    const line = { id: 1, sku: 'A-1', quantity: 1 };
    assert.equal(
      await read('provider_a', { line_items: [{ ...line, properties: [{ name: 'Cloud Username', value: '@u7' }] }] }),
      'u7',
    );
    assert.equal(
      await read('provider_b', { line_items: [{ ...line, meta_data: [{ key: 'vendor_username', value: 'u8' }] }] }),
      'u8',
    );
  });
});

describe('what real shops send', () => {
  // The bytes as they are: JSON.stringify would write them in another way.
  const raw = async (store, body, headers = {}) => {
    const answer = await sendOrder(merchant.open, store, body, headers);
    assert.equal(answer.status, 202, answer.text);
    return answer.json;
  };
  const text = (provider, change) =>
    JSON.stringify({ ...sampleOrder(provider, { orderId: newOrderId(), username: 'buyer', sku: 'A-1' }), ...change });

  for (const provider of ['provider_a', 'provider_b', 'generic']) {
    test(`half an emoji in a signed order loses no order (${provider})`, async () => {
      const body = text(provider, { gift: 'GIFT' })
        .replace('GIFT', 'gift \\ud83c')
        .replace('"buyer@', '"\\udfb8buyer@');
      const { deliveryId } = await raw(stores[provider], body);
      assert.equal((await merchant.delivery(deliveryId)).customerEmail, '\ufffdbuyer@example.com');
    });
    test(`a whole number with a fraction of nothing is the whole number (${provider})`, async () => {
      const id = newOrderId();
      const member = provider === 'generic' ? 'orderId' : 'id';
      const body = text(provider, { [member]: 'ID' }).replace('"ID"', `${id}.0`);
      assert.equal((await raw(stores[provider], body)).orderId, id);
      assert.equal(
        (await raw(stores[provider], body.replace(`${id}.0`, id))).duplicate,
        true,
        'and the same order without it',
      );
    });
  }
  test('a title matches as people read it, however often the shop encoded it', async () => {
    const store = await merchant.store('provider_b');
    const mapping = {
      matchType: 'title',
      matchValue: 'Rock & Roll <Live>',
      fileId: merchant.file(2),
      kind: 'preset',
      fileName: 'Live',
    };
    const saved = await merchant.api.put(`/api/integrations/${store.id}/mappings`, { mappings: [mapping] });
    assert.equal(saved.status, 200, saved.text);
    for (const name of ['Rock &amp; Roll &lt;Live&gt;', 'rock &amp;amp; roll &#60;LIVE&#x3e;', 'Rock & Roll <Live>']) {
      const { deliveryId } = await raw(store, text('provider_b', { line_items: [{ id: 1, name, quantity: 1 }] }));
      assert.deepEqual(
        (await merchant.delivery(deliveryId)).items.map(({ fileId }) => fileId),
        [merchant.file(2)],
        name,
      );
    }
  });
  test('the order number is what people see', async () => {
    const shown = async (provider, change) =>
      (await merchant.delivery((await raw(stores[provider], text(provider, change))).deliveryId)).orderNumber;
    assert.equal(await shown('provider_a', { name: '#1001', order_number: 1001 }), '#1001');
    assert.equal(await shown('provider_a', { order_number: 1001 }), '1001');
    assert.equal(await shown('provider_b', { number: '727' }), '727');
    assert.equal(await shown('provider_b', {}), null, 'never the order key, which opens the buyer’s page');
  });
  test('a sample of a risk assessment, which names no order, is accepted and ignored', async () => {
    const answer = await raw(stores.provider_a, JSON.stringify({ order_id: null, risk_level: 'HIGH' }), {
      'x-hosted-topic': 'orders/risk_assessment_changed',
    });
    assert.deepEqual([answer.status, answer.reason], ['ignored', 'ignored_topic']);
  });
});

describe('one order, many events', () => {
  test('ten copies at once make one delivery', async () => {
    for (const provider of ['provider_a', 'provider_b', 'generic']) {
      const orderId = newOrderId();
      const order = sampleOrder(provider, { orderId, username: `ten-${provider}`, sku: 'A-1' });
      const answers = await Promise.all(Array.from({ length: 10 }, () => merchant.send(stores[provider], order)));
      assert.deepEqual(
        answers.map(({ status }) => status),
        Array(10).fill(202),
      );
      assert.equal(new Set(answers.map(({ json }) => json.deliveryId)).size, 1);
      assert.equal(new Set(answers.map(({ json }) => json.eventId)).size, 1);
      assert.equal(answers.filter(({ json }) => !json.duplicate).length, 1);
      assert.equal((await merchant.deliveriesOf(stores[provider], orderId)).length, 1);
      await merchant.reaches(answers[0].json.deliveryId, 'completed');
      const { shares, friendships } = await merchant.effects(sim);
      const [buyer] = friendships.filter(({ username }) => username === `ten-${provider}`);
      assert.equal(buyer.requests, 1);
      assert.deepEqual(
        shares.filter(({ customer }) => customer === buyer.customer).map(({ file, made }) => [file, made]),
        [[merchant.file(1), 1]],
      );
    }
  });
  test('the same order id in two stores makes two deliveries', async () => {
    const orderId = newOrderId();
    const first = await merchant.order(stores.generic, { orderId, username: 'buyer' });
    const second = await merchant.order(stores.provider_b, { orderId, username: 'buyer' });
    assert.notEqual(first.deliveryId, second.deliveryId);
    assert.notEqual(first.eventId, second.eventId);
  });
  test('a repeat of a generic order changes nothing', async () => {
    const orderId = newOrderId();
    const { deliveryId } = await merchant.order(stores.generic, { orderId, username: 'patient' });
    const again = await merchant.order(stores.generic, { orderId, username: 'another', sku: 'A-2' });
    assert.deepEqual([again.deliveryId, again.duplicate], [deliveryId, true]);
    const delivery = await merchant.delivery(deliveryId);
    assert.deepEqual([delivery.targetUsername, delivery.items.length], ['patient', 1]);
  });
  for (const provider of ['provider_a', 'provider_b']) {
    test(`a username that comes later resumes the delivery (${provider})`, async () => {
      const orderId = newOrderId();
      const first = await merchant.order(stores[provider], { orderId });
      assert.deepEqual([first.status, first.resolutionCode], ['failed', 'username_missing']);
      const later = await merchant.order(stores[provider], { orderId, username: `late-${provider}` });
      assert.deepEqual([later.deliveryId, later.eventId, later.duplicate], [first.deliveryId, first.eventId, false]);
      const delivery = await merchant.reaches(first.deliveryId, 'completed');
      assert.equal(delivery.targetUsername, `late-${provider}`);
    });
    test(`an edit that adds a line after completion delivers the new file alone (${provider})`, async () => {
      const orderId = newOrderId();
      const username = `edited-${provider}`;
      const order = sampleOrder(provider, { orderId, username, sku: 'A-1' });
      const { json } = await merchant.send(stores[provider], order);
      await merchant.reaches(json.deliveryId, 'completed');
      const { spent } = await merchant.balance();
      order.line_items.push({ ...order.line_items[0], id: 2, sku: 'A-2' });
      const edited = await merchant.send(stores[provider], order);
      assert.deepEqual(
        [edited.status, edited.json?.deliveryId, edited.json?.duplicate],
        [202, json.deliveryId, false],
        edited.text,
      );
      assert.equal((await merchant.send(stores[provider], order)).json?.duplicate, true);
      const delivery = await merchant.reaches(json.deliveryId, 'completed');
      assert.deepEqual(delivery.items.map(({ fileId, status }) => [fileId, status]).sort(), [
        [merchant.file(1), 'shared'],
        [merchant.file(2), 'shared'],
      ]);
      assert.equal((await merchant.balance()).spent, spent + 1);
      const { shares, friendships } = await merchant.effects(sim);
      const [buyer] = friendships.filter((row) => row.username === username);
      assert.equal(buyer.requests, 1);
      assert.deepEqual(
        shares.filter(({ customer }) => customer === buyer.customer).map(({ made }) => made),
        [1, 1],
      );
    });
  }
  test('a refund before its order is remembered, and the late order delivers nothing', async () => {
    const orderId = newOrderId();
    const refund = { id: 77, order_id: Number(orderId), refund_line_items: [{ line_item_id: 1, quantity: 1 }] };
    const early = await merchant.send(stores.provider_a, refund, { 'x-hosted-topic': 'refunds/create' });
    assert.deepEqual([early.status, early.json?.status, early.json?.orderId], [202, 'ignored', orderId], early.text);
    const late = await merchant.order(stores.provider_a, { orderId, username: 'refunded-early' });
    assert.deepEqual([late.status, late.eventId], ['ignored', early.json.eventId]);
    assert.deepEqual(await merchant.deliveriesOf(stores.provider_a, orderId), []);
  });
  test('a refund of one of two lines before the order drops that file alone', async () => {
    const orderId = newOrderId();
    await merchant.send(
      stores.provider_a,
      { id: 78, order_id: Number(orderId), refund_line_items: [{ line_item_id: 2, quantity: 1 }] },
      { 'x-hosted-topic': 'refunds/create' },
    );
    const order = sampleOrder('provider_a', { orderId, username: 'half-refunded', sku: 'A-1' });
    order.line_items.push({ ...order.line_items[0], id: 2, sku: 'A-2' });
    const { json } = await merchant.send(stores.provider_a, order);
    const delivery = await merchant.reaches(json.deliveryId, 'completed');
    assert.deepEqual(
      delivery.items.map(({ fileId, status }) => [fileId, status]),
      [
        [merchant.file(1), 'shared'],
        [merchant.file(2), 'dropped'],
      ],
    );
    assert.equal(delivery.refunded, true);
  });
  test('a cancelled order is not delivered, and a newer payment takes the stop back', async () => {
    const orderId = newOrderId();
    const order = (minute, change = {}) => ({
      ...sampleOrder('provider_a', { orderId, username: 'patient', sku: 'A-1' }),
      updated_at: `2026-01-01T10:${minute}:00Z`,
      ...change,
    });
    const topic = (name) => ({ 'x-hosted-topic': name });
    const { json } = await merchant.send(stores.provider_a, order('00'), topic('orders/paid'));
    await merchant.reaches(json.deliveryId, 'waiting_for_friendship');
    const cancelled = await merchant.send(
      stores.provider_a,
      order('10', { cancelled_at: '2026-01-01T10:10:00Z' }),
      topic('orders/cancelled'),
    );
    assert.deepEqual([cancelled.status, cancelled.json?.deliveryId], [202, json.deliveryId], cancelled.text);
    const stopped = await merchant.reaches(json.deliveryId, 'invalidated');
    assert.deepEqual([stopped.reason, stopped.cancelled], ['order_cancelled', true]);

    const old = await merchant.send(stores.provider_a, order('05'), topic('orders/paid'));
    assert.deepEqual([old.status, old.json?.status], [202, 'invalidated'], old.text);
    const tied = await merchant.send(stores.provider_a, order('10'), topic('orders/paid'));
    assert.deepEqual([tied.status, tied.json?.status], [202, 'invalidated'], tied.text);

    const paid = await merchant.send(stores.provider_a, order('20'), topic('orders/paid'));
    assert.deepEqual([paid.status, paid.json?.deliveryId], [202, json.deliveryId], paid.text);
    const again = await merchant.reaches(json.deliveryId, 'waiting_for_friendship');
    assert.deepEqual([again.cancelled, again.reason], [false, null]);
  });
  test('an order that was invalidated by the merchant stays so when it is paid again', async () => {
    const orderId = newOrderId();
    const { deliveryId } = await merchant.order(stores.provider_a, { orderId, username: 'patient' });
    await merchant.reaches(deliveryId, 'waiting_for_friendship');
    const done = await merchant.api.post(`/api/deliveries/${deliveryId}/invalidate`, { reason: 'fraud' });
    assert.deepEqual([done.status, done.json?.status, done.json?.reason], [200, 'invalidated', 'fraud'], done.text);
    const paid = await merchant.order(stores.provider_a, { orderId, username: 'patient', sku: 'A-2' });
    assert.equal(paid.status, 'invalidated');
  });
  test('a completed order that is refunded stays completed, and says so', async () => {
    const orderId = newOrderId();
    const { deliveryId } = await merchant.order(stores.provider_b, { orderId, username: 'content' });
    await merchant.reaches(deliveryId, 'completed');
    const order = { ...sampleOrder('provider_b', { orderId, username: 'content', sku: 'A-1' }), status: 'refunded' };
    const answer = await merchant.send(stores.provider_b, order);
    assert.deepEqual([answer.status, answer.json?.status], [202, 'completed'], answer.text);
    assert.equal((await merchant.delivery(deliveryId)).refunded, true);
  });
  test('where the store wants it, a cancellation takes the files back', async () => {
    const store = await merchant.store('provider_a', { settings: { autoRevoke: true } });
    const orderId = newOrderId();
    const { deliveryId } = await merchant.order(store, { orderId, username: 'taken-back' });
    await merchant.reaches(deliveryId, 'completed');
    const order = sampleOrder('provider_a', { orderId, username: 'taken-back', sku: 'A-1' });
    await merchant.send(store, order, { 'x-hosted-topic': 'orders/cancelled' });
    const delivery = await until('the file is taken back', async () => {
      const row = await merchant.delivery(deliveryId);
      return row.items[0].status === 'revoked' && row;
    });
    assert.deepEqual([delivery.status, delivery.cancelled], ['completed', true]);
    const { shares, friendships } = await merchant.effects(sim);
    const { customer } = friendships.find(({ username }) => username === 'taken-back');
    assert.deepEqual(
      shares.filter((row) => row.customer === customer).map(({ made, standing }) => [made, standing]),
      [[1, false]],
    );
  });
  test('a high risk puts what is not shared to review', async () => {
    const orderId = newOrderId();
    const { deliveryId } = await merchant.order(stores.provider_a, { orderId, username: 'patient' });
    await merchant.reaches(deliveryId, 'waiting_for_friendship');
    const answer = await merchant.send(
      stores.provider_a,
      { order_id: Number(orderId), risk_level: 'high' },
      { 'x-hosted-topic': 'orders/risk_assessment_changed' },
    );
    assert.equal(answer.status, 202, answer.text);
    assert.equal((await merchant.delivery(deliveryId)).status, 'in_review');
  });
  test('a buyer who is to be forgotten is, and is delivered nothing more', async () => {
    const orderId = newOrderId();
    const email = 'forget-me@example.com';
    await sim.post('/sim/customers', { username: 'forget-me', answer: 'never' });
    const { deliveryId, eventId } = await merchant.order(stores.provider_a, { orderId, username: 'forget-me', email });
    await merchant.reaches(deliveryId, 'waiting_for_friendship');
    const answer = await merchant.send(
      stores.provider_a,
      { customer: { email }, orders_to_redact: [Number(orderId)] },
      { 'x-hosted-topic': 'customers/redact' },
    );
    assert.equal(answer.status, 202, answer.text);
    const { text, json } = await merchant.api.get(`/api/deliveries/${deliveryId}`);
    assert.deepEqual([json.status, json.reason, json.eventId], ['invalidated', 'erased', eventId]);
    assert.deepEqual(
      ['forget-me', email].filter((personal) => text.includes(personal)),
      [],
    );
    const again = await merchant.order(stores.provider_a, { orderId, username: 'forget-me', email });
    assert.deepEqual([again.deliveryId, again.status], [deliveryId, 'invalidated']);
    assert.equal((await merchant.api.get(`/api/deliveries/${deliveryId}`)).text.includes('forget-me'), false);
  });
  test('an unpaid order waits, and its payment delivers it', async () => {
    const orderId = newOrderId();
    const order = { ...sampleOrder('provider_b', { orderId, username: 'buyer', sku: 'A-1' }), status: 'pending' };
    const unpaid = await merchant.send(stores.provider_b, order);
    assert.deepEqual(
      [unpaid.status, unpaid.json?.status, unpaid.json?.reason],
      [202, 'ignored', 'awaiting_payment'],
      unpaid.text,
    );
    const paid = await merchant.send(stores.provider_b, { ...order, status: 'completed' });
    assert.equal(paid.status, 202, paid.text);
    await merchant.reaches(paid.json.deliveryId, 'completed');
  });
  test('a topic that nobody knows is accepted and ignored', async () => {
    const answer = await merchant.send(stores.provider_a, { id: 1 }, { 'x-hosted-topic': 'products/update' });
    assert.deepEqual(
      [answer.status, answer.json?.status, answer.json?.reason],
      [202, 'ignored', 'ignored_topic'],
      answer.text,
    );
    assert.deepEqual(Object.keys(answer.json), ['status', 'reason'], 'it is of no order');
  });
});

describe('path', () => {
  const path = (text, order = { orderId: newOrderId(), username: 'buyer', sku: 'A-1' }) => {
    const body = JSON.stringify(sampleOrder('generic', order));
    return merchant.open.request('POST', text, {
      body,
      headers: signatureHeaders('generic', stores.generic.secret, body),
    });
  };
  test('an unknown provider is 404', async () => {
    for (const name of ['provider_c', 'Generic', 'generic%20', '..']) {
      const answer = await path(`/api/webhooks/${name}/${stores.generic.id}`);
      assert.equal(answer.status, 404, answer.text);
    }
    isError(await path(`/api/webhooks/provider_c/${stores.generic.id}`), 404, 'INTEGRATION_NOT_FOUND');
  });
  test('an unknown integration is 404', async () => {
    const last = stores.generic.id.at(-1) === '0' ? '1' : '0';
    for (const id of [
      stores.generic.id.slice(0, -1) + last,
      'int_',
      'x',
      stores.generic.id.toUpperCase(),
      `${stores.generic.id}0`,
    ]) {
      isError(await path(`/api/webhooks/generic/${id}`), 404, 'INTEGRATION_NOT_FOUND');
    }
  });
  test("an integration under another provider's path is 404", async () => {
    isError(await path(`/api/webhooks/generic/${stores.provider_a.id}`), 404, 'INTEGRATION_NOT_FOUND');
  });
  test('an archived integration is 404', async () => {
    const store = await merchant.store('generic');
    const { deliveryId } = await merchant.order(store, { orderId: newOrderId(), username: 'patient' });
    assert.equal((await merchant.api.delete(`/api/integrations/${store.id}`)).status, 204);
    const answer = await merchant.send(
      store,
      sampleOrder('generic', { orderId: newOrderId(), username: 'buyer', sku: 'A-1' }),
    );
    isError(answer, 404, 'INTEGRATION_NOT_FOUND');
    assert.equal((await merchant.delivery(deliveryId)).integrationId, store.id);
  });
  test('404 comes before 413, 413 before 401, and 401 before 400', async () => {
    const large = Buffer.alloc(1024 * 1024 + 1, ' ');
    const post = (target, body) => merchant.open.request('POST', target, { body });
    isError(await post('/api/webhooks/generic/int_0', large), 404, 'INTEGRATION_NOT_FOUND');
    isError(await post(`/api/webhooks/generic/${stores.generic.id}`, large), 413, 'PAYLOAD_TOO_LARGE');
    isError(await post(`/api/webhooks/generic/${stores.generic.id}`, 'no JSON'), 401, 'INVALID_SIGNATURE');
  });
  test('another method is 405', async () => {
    isError(await merchant.open.get(`/api/webhooks/generic/${stores.generic.id}`), 405, 'METHOD_NOT_ALLOWED');
  });
  test('an inactive integration stores and answers', async () => {
    const store = await merchant.store('generic');
    assert.equal((await merchant.api.patch(`/api/integrations/${store.id}`, { active: false })).status, 200);
    const answer = await merchant.order(store, { orderId: newOrderId(), username: 'buyer' });
    assert.deepEqual([answer.status, answer.reason], ['ignored', 'inactive']);
  });
  test('an integration that holds all puts every delivery to review until it is approved', async () => {
    const store = await merchant.store('generic', { settings: { hold: 'all' } });
    const { status, deliveryId } = await merchant.order(store, { orderId: newOrderId(), username: 'held' });
    assert.equal(status, 'in_review');
    assert.equal((await merchant.api.post(`/api/deliveries/${deliveryId}/approve`)).status, 200);
    await merchant.reaches(deliveryId, 'completed');
  });
  test('a secret in its overlap verifies beside the new one, and not after', async () => {
    const store = await merchant.store('generic');
    const rotated = await merchant.api.post(`/api/integrations/${store.id}/rotate-secret`, { overlapSeconds: 600 });
    assert.equal(rotated.status, 200, rotated.text);
    await merchant.order(store, { orderId: newOrderId(), username: 'buyer' });
    const renewed = { ...store, secret: rotated.json.secret };
    await merchant.order(renewed, { orderId: newOrderId(), username: 'buyer' });
    const again = await merchant.api.post(`/api/integrations/${store.id}/rotate-secret`, { overlapSeconds: 0 });
    for (const old of [store, renewed]) {
      isError(
        await merchant.send(old, sampleOrder('generic', { orderId: newOrderId(), username: 'buyer', sku: 'A-1' })),
        401,
        'INVALID_SIGNATURE',
      );
    }
    await merchant.order({ ...store, secret: again.json.secret }, { orderId: newOrderId(), username: 'buyer' });
  });
});

describe("provider_b's ping", () => {
  const ping = (body, provider = 'provider_b') =>
    merchant.open.request('POST', `/api/webhooks/${provider}/${stores[provider].id}`, {
      body,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  test('is answered with 200, unsigned, and changes nothing', async () => {
    const store = await merchant.store('provider_b');
    const before = await ordersStored();
    const answer = await merchant.open.request('POST', `/api/webhooks/provider_b/${store.id}`, {
      body: 'webhook_id=12345678901234567890',
    });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(await ordersStored(), before);
  });
  test('of any other form, or to another provider, is 401', async () => {
    for (const body of [
      'webhook_id=',
      'webhook_id=1&a=b',
      'webhook_id=x',
      `webhook_id=${'1'.repeat(21)}`,
      'webhook_id=1\n',
    ]) {
      isError(await ping(body), 401, 'INVALID_SIGNATURE');
    }
    isError(await ping('webhook_id=1', 'provider_a'), 401, 'INVALID_SIGNATURE');
    isError(await ping('webhook_id=1', 'generic'), 401, 'INVALID_SIGNATURE');
  });
});

describe('API key', () => {
  const send = (store, key, { spoil } = {}) => {
    const order = sampleOrder('generic', { orderId: newOrderId(), username: 'buyer', sku: 'A-1' });
    return sendOrder(merchant.open, spoil ? { ...store, secret: 'not the secret of it' } : store, order, {
      'x-api-key': key,
    });
  };
  test('is optional; a good one is counted and not rate limited here', async () => {
    const key = await merchant.key();
    const answer = await send(stores.generic, key.secret);
    assert.equal(answer.status, 202, answer.text);
    assert.equal(answer.headers['ratelimit-limit'], undefined);
    const { json } = await merchant.api.get(`/api/keys/${key.id}`);
    assert.deepEqual([json.requests, json.deliveries], [1, 1]);
    assert.notEqual(json.lastActiveAt, null);
  });
  test('that is not valid is 401, inactive 403', async () => {
    const key = await merchant.key();
    for (const text of [
      '',
      'x',
      `${key.secret}0`,
      key.secret.slice(0, -1),
      `${key.secret.slice(0, -1)}${key.secret.at(-1) === 'a' ? 'b' : 'a'}`,
    ]) {
      isError(await send(stores.generic, text), 401, 'UNAUTHORIZED');
    }
    assert.equal((await merchant.api.patch(`/api/keys/${key.id}`, { active: false })).status, 200);
    isError(await send(stores.generic, key.secret), 403, 'FORBIDDEN');
  });
  test('of another account is 403', async () => {
    isError(await send(stores.generic, (await other.key()).secret), 403, 'FORBIDDEN');
  });
  test('that is scoped to another store is 403', async () => {
    const key = await merchant.key({ integrationIds: [stores.provider_a.id] });
    isError(await send(stores.generic, key.secret), 403, 'FORBIDDEN');
    const inside = await merchant.key({ integrationIds: [stores.generic.id] });
    assert.equal((await send(stores.generic, inside.secret)).status, 202);
  });
  test('is looked at only after the signature', async () => {
    isError(await send(stores.generic, 'x', { spoil: true }), 401, 'INVALID_SIGNATURE');
  });
  test('is needed where the integration requires one', async () => {
    const store = await merchant.store('generic', { settings: { requireApiKey: true } });
    isError(await send(store, undefined), 401, 'UNAUTHORIZED');
    isError(await send(store, 'pdb_live_0'), 401, 'UNAUTHORIZED');
    assert.equal((await send(store, (await merchant.key()).secret)).status, 202);
  });
  test('that owns an integration counts its webhooks', async () => {
    const key = await merchant.key();
    const store = await merchant.store('generic');
    assert.equal((await merchant.api.patch(`/api/integrations/${store.id}`, { owningKeyId: key.id })).status, 200);
    await merchant.order(store, { orderId: newOrderId(), username: 'buyer' });
    const { json } = await merchant.api.get(`/api/keys/${key.id}`);
    assert.deepEqual([json.requests, json.deliveries], [1, 1]);
  });
});

test("another account's store is as good as none", async () => {
  const store = await merchant.store('generic');
  isError(await other.api.get(`/api/integrations/${store.id}`), 404, 'NOT_FOUND');
  const { deliveryId } = await merchant.order(store, { orderId: newOrderId(), username: 'buyer' });
  isError(await other.api.get(`/api/deliveries/${deliveryId}`), 404, 'NOT_FOUND');
});

test('what the account was charged is what its customers were given', async () => {
  await Promise.all(
    (await merchant.all('/api/deliveries'))
      .filter(({ status }) => ['queued', 'processing'].includes(status))
      .map(({ id }) => merchant.reaches(id, 'completed')),
  );
  const { shares } = await merchant.effects(sim);
  assert.ok(
    shares.every(({ made }) => made === 1),
    JSON.stringify(shares),
  );
  const { spent, held } = await merchant.balance();
  assert.deepEqual([spent, held], [shares.length, 0]);
});

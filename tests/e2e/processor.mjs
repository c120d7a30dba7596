// A payment processor in memory, of the shape of Stripe's API as far as the bridge uses it. Its methods act for people and banks;
// webhooks are signed by Stripe's own library, and sent when a test says so.
import { createServer } from 'node:http';
import { once } from 'node:events';
import { chmod, writeFile } from 'node:fs/promises';
import path from 'node:path';
import Stripe from 'stripe';

export const PACKS = 'small 100 1900 eur 100 credits,large 500 7900 eur 500 credits';
const signer = new Stripe('sk_test_of_the_tests_alone');

export class Processor {
  key = 'sk_test_PlantedPaymentKey17';
  secret = 'whsec_PlantedEndpointSecret23';
  sessions = new Map();
  events = []; // oldest first
  refunds = []; // newest first, those that the bridge asked for
  requests = []; // {method, path, form, headers}
  fate = () => 'answer'; // of a request: answer, away (503), hang, nonsense, lost (done, and the connection is closed)
  #byKey = new Map();
  #hanging = new Set();

  static async start(scope) {
    const it = new Processor();
    it.server = createServer((request, response) => it.#serve(request, response));
    it.server.listen(0, '127.0.0.1');
    await once(it.server, 'listening');
    it.url = `http://127.0.0.1:${it.server.address().port}`;
    scope.after(() => {
      it.server.closeAllConnections();
      return new Promise((resolve) => it.server.close(resolve));
    });
    return it;
  }

  // The secrets' files in a data directory, and the arguments of a bridge that sells by this processor.
  async sellIn(dataDir, secrets = [this.secret]) {
    for (const [name, lines] of [
      ['payments.key', [this.key]],
      ['payments.webhook', secrets],
    ]) {
      const file = path.join(dataDir, name);
      await writeFile(file, `${lines.join('\n')}\n`);
      await chmod(file, 0o600);
    }
  }
  get args() {
    return ['--payments-url', this.url, '--credits-packs', PACKS];
  }

  // ---- what people and banks do

  pay(session) {
    const it = this.sessions.get(session);
    Object.assign(it, { status: 'complete', payment_status: 'paid', url: null });
    it.intent.status = 'succeeded';
    return this.addEvent('checkout.session.completed', it);
  }
  payLater(session) {
    const it = this.sessions.get(session);
    Object.assign(it, { status: 'complete', url: null });
    it.intent.status = 'processing';
    return this.addEvent('checkout.session.completed', it);
  }
  expire(session) {
    const it = this.sessions.get(session);
    Object.assign(it, { status: 'expired', url: null });
    return this.addEvent('checkout.session.expired', it);
  }
  refund(session, amount) {
    const it = this.sessions.get(session);
    it.charge.amount_refunded += amount;
    return this.addEvent('charge.refunded', it.charge);
  }
  dispute(session, status, amount) {
    const it = this.sessions.get(session);
    it.charge.disputed = true;
    it.dispute = {
      id: `dp_${session}`,
      object: 'dispute',
      payment_intent: it.intent.id,
      status,
      amount: amount ?? it.amount_total,
      currency: it.currency,
    };
    return this.addEvent('charge.dispute.created', it.dispute);
  }
  addEvent(type, object) {
    const event = {
      id: `evt_${this.events.length + 1}`,
      object: 'event',
      type,
      created: Math.floor(Date.now() / 1000),
      livemode: false,
      data: { object: shown(object) },
    };
    this.events.push(event);
    return event;
  }

  // The headers and the body of a webhook.
  signed(event, { secret = this.secret, timestamp } = {}) {
    const payload = JSON.stringify(event, null, 2);
    return {
      body: payload,
      headers: {
        'content-type': 'application/json',
        'stripe-signature': signer.webhooks.generateTestHeaderString({ payload, secret, timestamp }),
      },
    };
  }

  // ---- its API

  async #serve(request, response) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const url = new URL(request.url, this.url);
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    this.requests.push({ method: request.method, path: url.pathname, form, headers: request.headers });
    const fate = this.fate(`${request.method} ${url.pathname}`);
    const answer = (status, body) =>
      response
        .writeHead(status, { 'content-type': 'application/json' })
        .end(typeof body === 'string' ? body : JSON.stringify(body));
    if (fate === 'away') return answer(503, { error: { message: 'away' } });
    if (fate === 'hang') return void this.#hanging.add(response);
    if (request.headers.authorization !== `Bearer ${this.key}`)
      return answer(401, { error: { message: 'Invalid API Key provided' } });
    const [status, body] = this.#answer(request.method, url, form, request.headers['idempotency-key']);
    if (fate === 'lost') return response.destroy();
    answer(status, fate === 'nonsense' ? '{"object":"checkout.session","id":7' : body);
  }

  #answer(method, url, form, key) {
    const [, , kind, ...rest] = url.pathname.split('/');
    const missing = [404, { error: { message: 'No such object' } }];
    const list = (data, more = false) => [200, { object: 'list', url: url.pathname, has_more: more, data }];
    const of = (match) => [...this.sessions.values()].find(match);
    if (method === 'POST' && url.pathname === '/v1/checkout/sessions')
      return [200, this.#once(key, () => shown(this.#open(form)))];
    if (method === 'POST' && url.pathname === '/v1/refunds') {
      const session = of(({ intent }) => intent.id === form.get('payment_intent'));
      if (!session) return missing;
      return [
        200,
        this.#once(key, () => {
          this.refund(session.id, Number(form.get('amount')));
          const refund = {
            id: `re_${this.events.length}`,
            object: 'refund',
            payment_intent: session.intent.id,
            status: 'succeeded',
            amount: Number(form.get('amount')),
            metadata: { key: form.get('metadata[key]') },
          };
          this.refunds.unshift(refund);
          return refund;
        }),
      ];
    }
    if (kind === 'refunds')
      return list(
        this.refunds.filter(({ payment_intent }) => payment_intent === url.searchParams.get('payment_intent')),
      );
    const session = kind === 'checkout' ? this.sessions.get(rest[1]) : undefined;
    if (session) return [200, shown(session)];
    const payment = of(({ intent, charge }) => intent.id === rest[0] || charge.id === rest[0]);
    if (kind === 'payment_intents' && payment) return [200, payment.intent];
    if (kind === 'charges' && payment) return [200, payment.charge];
    if (kind === 'disputes')
      return list([of(({ intent }) => intent.id === url.searchParams.get('payment_intent'))?.dispute].filter(Boolean));
    if (kind === 'events') {
      const between = ({ created }) =>
        created >= Number(url.searchParams.get('created[gte]')) &&
        created < Number(url.searchParams.get('created[lt]'));
      const all = this.events.filter(between).reverse();
      const after = url.searchParams.get('starting_after');
      const from = after ? all.findIndex(({ id }) => id === after) + 1 : 0;
      const limit = Number(url.searchParams.get('limit'));
      return list(all.slice(from, from + limit), from + limit < all.length);
    }
    return missing;
  }

  #once(key, make) {
    if (!this.#byKey.has(key)) this.#byKey.set(key, make());
    return this.#byKey.get(key);
  }

  #open(form) {
    const id = `cs_test_${this.sessions.size + 1}`;
    const amount = Number(form.get('line_items[0][price_data][unit_amount]'));
    const currency = form.get('line_items[0][price_data][currency]');
    const intent = {
      id: `pi_${id}`,
      object: 'payment_intent',
      status: 'requires_payment_method',
      latest_charge: `ch_${id}`,
    };
    const session = {
      id,
      object: 'checkout.session',
      mode: form.get('mode'),
      status: 'open',
      payment_status: 'unpaid',
      url: `${this.url}/pay/${id}`,
      amount_total: amount,
      currency,
      livemode: false,
      client_reference_id: form.get('client_reference_id'),
      metadata: { purchase: form.get('metadata[purchase]'), account: form.get('metadata[account]') },
      success_url: form.get('success_url').replace('{CHECKOUT_SESSION_ID}', id),
      intent,
      charge: {
        id: `ch_${id}`,
        object: 'charge',
        payment_intent: intent.id,
        amount_captured: amount,
        amount_refunded: 0,
        currency,
        disputed: false,
        receipt_url: `${this.url}/receipts/${id}`,
      },
    };
    this.sessions.set(id, session);
    return session;
  }
}

// As the API shows it.
function shown(object) {
  if (object.object !== 'checkout.session') return structuredClone(object);
  const { intent, charge, dispute, ...session } = object;
  return { ...session, payment_intent: session.status === 'complete' ? intent.id : null };
}

// Money in a torture run (torture.mjs): merchants buy credits on the simulated processor's pages, and people and banks do what they do,
// drawn from the seed: pay, pay late, pay not at all, take money back, dispute it. Calls of the processor fail, and its webhooks are lost,
// doubled, overtaken and forged.
import { setTimeout as delay } from 'node:timers/promises';
import { until } from './harness.mjs';
import { Random } from './random.mjs';
import { Sandbox, sessionOf } from './sandbox.mjs';
import { purchaseProblem } from './torture_money_judge.mjs';

const STEP_MS = 20;
// The service answers 429 to the 31st checkout of an account in ten minutes (spec 8.6). Random steps leave the rest to `end()`
// and to requests that are repeated.
const CHECKOUTS = { most: 20, windowMs: 10 * 60_000 };
const SETTLED_MS = 150_000; // notices are read each 20 seconds, and what was not answered is asked again a minute later
const PACKS =
  'small 100 1900 eur 100 credits,odd 7 333 eur 7 credits,large 500 7900 usd 500 credits,huge 100000 900000 eur 100000 credits';
const FAULTS = {
  latencyMaxMs: 30,
  too_many_requests: 0.02,
  server_error: 0.03,
  server_error_after: 0.03,
  drop_before: 0.02,
  drop_after: 0.03,
  malformed: 0.02,
  repeated: 0.05,
  retryAfterS: 1,
};
const WEBHOOK_FAULTS = { drop: 0.1, duplicate: 0.2, reorder: 0.2, loseAnswer: 0.1, delayMaxMs: 300 };

export class Money {
  #random;
  #pages = []; // {merchant, session} that somebody was given
  #disputes = [];
  #refunds = []; // that are pending
  #checkouts = new Map(); // merchant → times of its checkouts in the last window
  counts = { pages: 0, unavailable: 0, forged: 0, steps: {} };

  constructor(torture) {
    this.torture = torture;
    this.#random = new Random(torture.seed, 'money');
  }

  async setUp(scope) {
    this.sandbox = await Sandbox.start(scope, { packs: PACKS, seed: this.torture.seed % 2 ** 31 });
  }
  async beginTrouble() {
    await this.sandbox.done('PUT', '/sim/faults', FAULTS);
    await this.sandbox.done('PUT', '/sim/webhooks/faults', WEBHOOK_FAULTS);
  }

  async run() {
    while (this.torture.sending) {
      await this.#step();
      await delay(STEP_MS);
    }
  }

  async #step() {
    const random = this.#random;
    if (this.#pages.length === 0 || random.chance(0.2)) {
      const merchant = random.pick(this.torture.merchants);
      const pack = random.pick(['small', 'odd', 'large']);
      if (this.#recentCheckouts(merchant).length < CHECKOUTS.most) await this.#buy(merchant, pack);
      return;
    }
    const { session } = random.pick(this.#pages);
    const payment = session;
    const steps = {
      pay: [24, () => this.#ask('pay', { session })],
      payLater: [6, () => this.#ask('pay', { session, later: true })],
      payTooLate: [3, () => this.#ask('pay', { session, afterExpiry: true })],
      settle: [8, () => this.#ask('settle', { session, succeeds: random.chance(0.7) })],
      decline: [3, () => this.#ask('decline', { session })],
      expire: [3, () => this.#ask('expire', { session })],
      refund: [6, () => this.#ask('refund', { payment, amount: random.whole(1, 900) })],
      refundAll: [3, () => this.#ask('refund', { payment })],
      refundLater: [
        3,
        () => this.#ask('refund', { payment, amount: random.whole(1, 300), pending: true }, this.#refunds),
      ],
      settleRefund: [
        3,
        () => this.#ofOne(this.#refunds, 'refund/settle', (refund) => ({ refund, succeeds: random.chance(0.5) })),
      ],
      dispute: [
        5,
        () =>
          this.#ask(
            'dispute',
            random.chance(0.5) ? { payment } : { payment, amount: random.whole(1, 1900) },
            this.#disputes,
          ),
      ],
      inquire: [2, () => this.#ask('dispute', { payment, inquiry: true }, this.#disputes)],
      escalate: [2, () => this.#ofOne(this.#disputes, 'dispute/escalate', (dispute) => ({ dispute }), true)],
      win: [4, () => this.#ofOne(this.#disputes, 'dispute/win', (dispute) => ({ dispute }))],
      lose: [3, () => this.#ofOne(this.#disputes, 'dispute/lose', (dispute) => ({ dispute }))],
      land: [8, () => this.#land(random.pick(this.#pages))],
      resend: [4, () => this.sandbox.done('POST', '/sim/webhooks/resend', {})],
      forge: [4, () => this.#forge(random.pick(this.#pages))],
    };
    const weights = Object.entries(steps);
    let draw = random.whole(
      1,
      weights.reduce((total, [, [weight]]) => total + weight, 0),
    );
    const [name, [, act]] = weights.find(([, [weight]]) => (draw -= weight) <= 0);
    this.counts.steps[name] = (this.counts.steps[name] ?? 0) + 1;
    return act();
  }

  #recentCheckouts(merchant) {
    const recent = (this.#checkouts.get(merchant) ?? []).filter((time) => time > Date.now() - CHECKOUTS.windowMs);
    this.#checkouts.set(merchant, recent);
    return recent;
  }
  async #buy(merchant, packId) {
    this.#recentCheckouts(merchant).push(Date.now());
    const answer = await this.torture.insist(
      () => merchant.api.post('/api/credits/checkout', { packId }),
      undefined,
      [502],
    );
    if (answer?.status === 502) this.counts.unavailable += 1;
    if (answer?.status !== 201) return undefined;
    this.counts.pages += 1;
    const session = sessionOf(answer.json.url);
    this.#pages.push({ merchant, session, purchase: answer.json.id });
    return session;
  }
  // An act that the page or the bank refuses (409) does not happen. `made` gets the id of a new object.
  async #ask(what, body, made) {
    const answer = await this.sandbox.done('POST', `/sim/${what}`, body, [409, 404]);
    if (made && answer.status === 200) made.push(answer.json.id);
  }
  // Something of one of them, which is over then.
  async #ofOne(list, what, body, stays = false) {
    if (list.length === 0) return;
    const index = this.#random.whole(0, list.length - 1);
    await this.#ask(what, body(list[index]));
    if (!stays) list.splice(index, 1);
  }
  // The person comes back to the dashboard, which has the processor asked.
  async #land({ merchant, purchase }) {
    await this.torture.insist(
      () => merchant.api.post(`/api/credits/purchases/${purchase}/refresh`),
      undefined,
      [429, 502],
    );
  }
  async #forge({ merchant, session }) {
    const body = JSON.stringify({
      id: 'evt_forged',
      object: 'event',
      type: 'checkout.session.completed',
      livemode: false,
      data: { object: { id: session, object: 'checkout.session', payment_status: 'paid' } },
    });
    const signature = `t=${Math.floor(Date.now() / 1000)},v1=${'0'.repeat(64)}`;
    const answer = await this.torture.insist(
      () =>
        merchant.open.request('POST', '/api/payments/webhook', {
          headers: { 'content-type': 'application/json', 'stripe-signature': signature },
          body,
        }),
      undefined,
      [400, 401, 429],
    );
    this.counts.forged += 1;
    if (answer && answer.status < 300) this.torture.problems.push(`a forged webhook was taken: ${answer.text}`);
  }
  // No more faults; who has run out of credits buys more than all that is owed; and the bridge knows what the processor knows.
  async end() {
    await this.sandbox.done('DELETE', '/sim/faults');
    await this.sandbox.done('PUT', '/sim/webhooks/faults', {});
    for (const merchant of this.torture.poor) {
      let session;
      await until(
        `merchant ${merchant.number} has a payment page`,
        async () => (session = await this.#buy(merchant, 'huge')),
        60_000,
      );
      await this.sandbox.done('POST', '/sim/pay', { session });
    }
    await until(
      'all purchases are what the processor says',
      async () => {
        const { payments, purchases } = await this.facts();
        const byId = new Map(payments.map((payment) => [payment.clientReferenceId, payment]));
        const wrong = purchases.map((purchase) => purchaseProblem(purchase, byId.get(purchase.id))).find(Boolean);
        if (wrong) throw new Error(wrong);
        return true;
      },
      SETTLED_MS,
    );
  }

  // {payments: of the processor, its books, purchases: of all merchants, each with its `merchant`}
  async facts() {
    const [payments, books] = [await this.sandbox.payments(), await this.sandbox.books()];
    const purchases = [];
    for (const merchant of this.torture.merchants) {
      for (const purchase of await merchant.all('/api/credits/purchases'))
        purchases.push({ ...purchase, merchant: `m-${merchant.number}` });
    }
    return { payments, books, purchases };
  }
}

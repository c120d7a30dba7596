// The history of one order in a torture run (torture.mjs): its store's events, one after the other, and the merchant's actions
// on its delivery meanwhile. Drawn from the seed at its birth; each step waits for the answer to the one before. It knows the
// result that is due, for the judge (torture_histories_judge.mjs).
import { setTimeout as delay } from 'node:timers/promises';
import { sampleOrder } from './orders.mjs';

// Steps that follow each other, by whose they are.
const COMMON = [
  ['add'],
  ['add'],
  ['other'],
  ['rename'],
  ['rename'],
  ['cancel'],
  ['cancel', 'pay'],
  ['cancel', 'pay'],
  ['refundWhole'],
  ['refundWhole', 'pay'],
  ['refundAmount'],
  ['withdraw', 'pay'],
  ['withdraw', 'approve'],
  ['withdraw', 'add', 'pay'],
  ['rename', 'cancel', 'pay'],
];
const STORES = {
  provider_a: [
    ...COMMON,
    ['refundLine'],
    ['refundLine', 'refundLine'],
    ['less'],
    ['less', 'more'],
    ['risk'],
    ['risk', 'approve'],
    ['risk', 'add', 'approve'],
  ],
  provider_b: [
    ...COMMON,
    ['trash'],
    ['trash', 'restore'],
    ['trash', 'pay'],
    ['delete'],
    ['delete', 'restore'],
    ['cancel', 'trash', 'restore', 'pay'],
  ],
  generic: [['repeat'], ['repeat', 'repeat']],
};
const MERCHANTS = [
  ['retry'],
  ['retryName'],
  ['retryName'],
  ['retryName', 'retryAlias'],
  ['reopen'],
  ['reopen', 'approve'],
  ['reopen', 'complete'],
  ['complete'],
  ['invalidate'],
  ['invalidate', 'reopen', 'approve'],
  ['revoke'],
  ['revoke', 'reopen', 'approve'],
  ['revokeItems'],
  ['reopen', 'retryName', 'approve'],
  ['reopen', 'retryName', 'approve', 'revokeFormer'],
  ['reprocess'],
  ['reprocess'],
  ['reopen', 'reprocess', 'approve'],
];
// The buyer's actions by the delivery's link: one a minute is allowed, so one in a run.
const BUYERS = [['buyerName'], ['buyerRetry']];

const ENDS = ['refunded', 'cancelled'];
const reached = ({ status }) => ['shared', 'already_shared', 'revoked', 'revoke_failed'].includes(status);

export class History {
  #random;
  #busy = Promise.resolve();
  #begun = 0; // steps that were asked for
  #at = 0; // the store's time of the newest event, ms
  #newest; // the event that was sent last: {body, headers}
  #sent = []; // full events, oldest first
  #payment = 'paid';
  #trashed = false;
  #risk = false;
  #name;
  #note = 0;
  #refunds = 0;
  #lines = [];
  #remapped = -Infinity; // a retry maps the whole order: until then, ms of performance.now()
  #log = []; // {kind, by, sure}: what was answered with success, or (not sure) may have been done before an answer was lost

  // `shop`: {merchant, store, settings, epochs}; `buyers`: names of customers, the first is the first buyer; `random`: of this history.
  constructor({ shop, orderId, buyers, random }) {
    Object.assign(this, { shop, orderId, buyers });
    this.#random = random;
    this.names = [];
    const { provider } = shop.store;
    this.test = provider === 'provider_a' && random.chance(0.06);
    for (let i = random.whole(1, 3); i > 0; --i) this.#lines.push(this.#line());
    this.steps = [this.#birth(provider), ...this.#drawn(provider)];
  }

  #birth(provider) {
    const draw = this.#random.real();
    if (provider === 'generic' || draw < 0.75) {
      this.#rename(this.buyers[0]);
      return 'born';
    }
    if (draw < 0.82) return 'born'; // without a username
    this.#rename(this.buyers[0]);
    if (draw < 0.9) return 'bornUnpaid';
    // Of some the end comes before the order itself.
    if (draw < 0.95) return provider === 'provider_a' ? 'refundLine' : 'delete';
    return 'cancel';
  }
  #drawn(provider) {
    const random = this.#random;
    const held = this.shop.settings.hold === 'all';
    const steps = held && random.chance(0.7) ? ['approve'] : [];
    for (let i = random.whole(1, 3); i > 0; --i) {
      steps.push(...random.pick(random.chance(0.6) ? STORES[provider] : MERCHANTS));
      if (held && random.chance(0.5)) steps.push('approve');
      if (random.chance(0.25)) steps.push(random.pick(['repeat', 'stale']));
    }
    if (random.chance(0.3)) steps.splice(random.whole(0, steps.length), 0, ...random.pick(BUYERS));
    // A history without a username, or of which only the end was sent, gets the missing event in the end.
    if (this.names.length === 0) steps.splice(random.whole(0, steps.length), 0, 'rename');
    steps.splice(random.whole(0, steps.length), 0, 'pay');
    return steps;
  }

  get over() {
    return this.#begun === this.steps.length;
  }
  // One step, once those before it were answered. `torture` insists on an answer.
  step(torture) {
    const kind = this.steps[this.#begun];
    if (this.#begun++ === 0) torture.counts.orders += 1;
    return (this.#busy = this.#busy.then(() => this.#perform(kind, torture)));
  }

  async #perform(kind, torture) {
    torture.counts.steps[kind] = (torture.counts.steps[kind] ?? 0) + 1;
    if (kind in this.#events) return this.#event(kind, torture);
    const action = this.#actions[kind];
    if (!action || !this.deliveryId) return undefined;
    return action(torture);
  }

  // ---- the store

  #line() {
    const id = this.#lines.length + 1;
    return {
      id,
      sku: `A-${this.#random.whole(1, 5)}`,
      quantity: this.#random.whole(1, 2),
      refunded: 0,
      current: undefined,
      seen: Infinity,
      mapped: Infinity,
    };
  }
  #rename(name) {
    this.#name = name;
    this.names.push({ name, by: 'store' });
  }

  // The change of the order by each event. Returns undefined: the whole order is sent; {body, topic}: that is; null: nothing is sent.
  #events = {
    born: () => {},
    bornUnpaid: () => void (this.#payment = 'awaiting'),
    add: () => void this.#lines.push(this.#line()),
    other: () => {
      this.#note += 1;
      this.#lines[0].quantity += 1;
    },
    less: () => void (this.#lines[0].current = 0),
    more: () => void (this.#lines[0].current = this.#lines[0].quantity),
    rename: () =>
      this.#rename(
        this.#name === undefined
          ? this.buyers[0]
          : this.#random.pick(this.buyers.filter((name) => name !== this.#name)),
      ),
    cancel: () => void (this.#payment = 'cancelled'),
    refundWhole: () => {
      this.#payment = 'refunded';
    },
    withdraw: () => void (this.#payment = 'awaiting'),
    pay: () => void (this.#payment = 'paid'),
    refundLine: () => {
      const line = this.#lines.find(({ refunded }) => refunded === 0);
      if (!line) return null;
      line.refunded = line.quantity;
      return this.#refund([{ line_item_id: line.id, quantity: line.quantity }]);
    },
    refundAmount: () => {
      if (this.shop.store.provider === 'provider_a') return this.#refund([]);
      this.#refunds += 1;
      return undefined;
    },
    risk: () => {
      this.#risk = true;
      return {
        topic: 'orders/risk_assessment_changed',
        body: { order_id: Number(this.orderId), risk_level: 'HIGH', created_at: new Date(this.#at).toISOString() },
      };
    },
    trash: () => void (this.#trashed = true),
    delete: () => {
      this.#trashed = true;
      return { topic: 'order.deleted', body: { id: Number(this.orderId) } };
    },
    restore: () => {
      this.#trashed = false;
      return { topic: 'order.restored', body: this.#whole() };
    },
    repeat: () => ({ again: this.#newest }),
    stale: () => ({ again: this.#random.pick(this.#sent) }),
  };
  #refund(lines) {
    this.#refunds += 1;
    return {
      topic: 'refunds/create',
      body: {
        id: Number(this.orderId) * 100 + this.#refunds,
        order_id: Number(this.orderId),
        refund_line_items: lines,
      },
    };
  }

  // The order as it stands, with the store's time.
  #whole() {
    const { provider } = this.shop.store;
    const order = sampleOrder(provider, { orderId: this.orderId, username: this.#name, sku: 'A-1' });
    const lines = this.#lines.map(({ id, sku, quantity, current }) => ({
      ...(order.line_items ?? order.items)[0],
      id,
      product_id: 10 + id,
      variant_id: 100 + id,
      sku,
      quantity,
      ...(current === undefined ? {} : { current_quantity: current }),
    }));
    if (provider === 'generic') return { ...order, items: lines.map(({ sku, quantity }) => ({ sku, quantity })) };
    if (provider === 'provider_b') {
      const status = { paid: 'processing', awaiting: 'on-hold', cancelled: 'failed', refunded: 'refunded' }[
        this.#payment
      ];
      return {
        ...order,
        line_items: lines,
        status: this.#trashed ? 'trash' : status,
        customer_note: `note ${this.#note}`,
        refunds: Array.from({ length: this.#refunds }, (_, i) => ({ id: i + 1 })),
        date_modified_gmt: new Date(this.#at).toISOString().slice(0, 19),
      };
    }
    return {
      ...order,
      line_items: lines,
      note: `note ${this.#note}`,
      updated_at: new Date(this.#at).toISOString(),
      test: this.test,
      financial_status: { paid: 'paid', awaiting: 'pending', cancelled: 'paid', refunded: 'refunded' }[this.#payment],
      cancelled_at: this.#payment === 'cancelled' ? new Date(this.#at).toISOString() : null,
    };
  }

  async #event(kind, torture) {
    const again = kind === 'repeat' || kind === 'stale';
    if (again && this.#sent.length === 0) return undefined;
    const whole = !['restore', 'trash', 'delete'].includes(kind) && !again;
    // The deletion of an order counts as of its arrival: times are of the real clock, and of whole seconds, as a store's are.
    if (kind === 'delete') await delay(Math.max(this.#at - Date.now(), 0));
    else if (!again) this.#at = Math.max(this.#at + 1000, Math.ceil(Date.now() / 1000) * 1000);
    const change = this.#events[kind]();
    if (change === null) return undefined;
    // A full event that does not say so lifts what the trash stopped.
    if (whole && change === undefined) this.#trashed = false;
    const { provider } = this.shop.store;
    const topic = change?.topic ?? (kind === 'cancel' && provider === 'provider_a' ? 'orders/cancelled' : undefined);
    const event = change?.again ?? {
      body: change?.body ?? this.#whole(),
      headers: topic ? { [provider === 'provider_a' ? 'x-hosted-topic' : 'x-plugin-webhook-topic']: topic } : {},
      full: change === undefined || kind === 'restore',
    };
    if (!again) {
      this.#newest = event;
      if (event.full && kind !== 'restore') this.#sent.push(event);
    }
    const began = performance.now();
    if (event.full && !again) for (const line of this.#lines) line.seen = Math.min(line.seen, began);
    const answer = await torture.insist(
      () => this.shop.merchant.send(this.shop.store, event.body, event.headers),
      this,
    );
    if (answer?.status !== 202) return undefined;
    this.deliveryId ??= answer.json.deliveryId;
    this.#log.push({
      kind,
      by: 'store',
      sure: true,
      payment: this.#payment,
      ...(again ? { duplicate: answer.json.duplicate, only: answer.attempts === 1 } : {}),
    });
    // Where it has a delivery and is not over, what was not mapped has been by now.
    if (this.deliveryId && event.full && !again && !this.#stopped) {
      for (const line of this.#lines) line.mapped = Math.min(line.mapped, performance.now());
    }
    return undefined;
  }
  get #stopped() {
    return this.#trashed || ENDS.includes(this.#payment);
  }

  // ---- the merchant

  #actions = {
    reprocess: (torture) => this.#reprocess(torture),
    buyerName: (torture) => this.#buyer(torture, 'username', this.#random.pick(this.buyers)),
    buyerRetry: (torture) => this.#buyer(torture, 'retry'),
    retry: (torture) => this.#retry(torture),
    retryName: (torture) => this.#retry(torture, this.#random.pick(this.buyers)),
    // The same user of the platform, by another name.
    retryAlias: (torture) => this.#retry(torture, (this.names.at(-1)?.name ?? this.buyers[0]).toUpperCase()),
    reopen: (torture) => this.#act(torture, 'reopen'),
    approve: (torture) => this.#act(torture, 'approve'),
    complete: (torture) => this.#act(torture, 'complete'),
    invalidate: (torture) => this.#act(torture, 'invalidate', { reason: 'torture' }),
    revoke: (torture) => this.#revoke(torture),
    revokeItems: (torture) =>
      this.#revoke(torture, (items) => ({
        itemIds: items
          .filter(reached)
          .slice(0, 1)
          .map(({ id }) => id),
      })),
    revokeFormer: (torture) =>
      this.#revoke(torture, (items) => ({
        username: items.find((item) => item.former && reached(item) && item.username)?.username,
      })),
  };

  async #act(torture, kind, body, note = {}) {
    const answer = await torture.insist(() =>
      this.shop.merchant.api.post(`/api/deliveries/${this.deliveryId}/${kind}`, body),
    );
    if (!answer || (answer.status === 409 && answer.attempts === 1)) return undefined;
    // While a worker has the delivery, something stronger may have been asked before.
    const waits = answer.json.pendingAction ?? kind;
    this.#log.push({
      kind,
      by: 'merchant',
      sure: answer.status !== 409 && waits === kind,
      attempts: answer.attempts,
      ...note,
    });
    return answer;
  }
  async #reprocess(torture) {
    const answer = await torture.insist(() =>
      this.shop.merchant.api.post(`/api/orders/${this.deliveryId.replace('del_', 'ord_')}/reprocess`),
    );
    if (!answer || (answer.status === 409 && answer.attempts === 1)) return;
    this.#log.push({ kind: 'reprocess', by: 'merchant', sure: answer.status === 200 });
    this.#remapped = answer.status === 200 ? Math.max(this.#remapped, performance.now()) : Infinity;
  }
  // A second act within a minute is refused: so is one that was done, and whose answer was lost.
  async #buyer(torture, what, name) {
    const { merchant } = this.shop;
    const delivery = await torture.insist(() => merchant.api.get(`/api/deliveries/${this.deliveryId}`));
    if (delivery?.status !== 200) return;
    const token = delivery.json.buyerUrl.split('#')[1];
    const act = () =>
      merchant.open.with({ 'x-buyer-token': token }).post(`/api/buyer/${what}`, name && { username: name });
    const answer = await torture.insist(act, undefined, [429]);
    if (!answer || (answer.status !== 200 && answer.attempts === 1)) return;
    const sure = answer.status === 200;
    this.#log.push({ kind: name ? 'buyerName' : 'buyerRetry', by: 'buyer', sure, attempts: answer.attempts });
    this.#remapped = sure ? Math.max(this.#remapped, performance.now()) : Infinity;
    if (name) this.names.push({ name, by: 'buyer', sure });
  }
  async #retry(torture, name) {
    const done = await this.#act(torture, 'retry', name && { targetUsername: name }, name && { name });
    if (!done) return;
    this.#remapped = done.status === 200 ? Math.max(this.#remapped, performance.now()) : Infinity;
    if (name) this.names.push({ name, by: 'merchant', sure: done.status !== 409 });
  }
  async #revoke(torture, which) {
    const before = await torture.insist(() => this.shop.merchant.api.get(`/api/deliveries/${this.deliveryId}`));
    if (before?.status !== 200) return;
    const body = which?.(before.json.items);
    if (body && (body.itemIds?.length ?? body.username?.length ?? 0) === 0) return;
    const done = await this.#act(torture, 'revoke', body);
    if (done?.status === 202)
      this.#log.at(-1).items = done.json.items
        .filter(({ status }) => ['revoking', 'revoked'].includes(status))
        .map(({ id }) => id);
  }

  // ---- what it comes to

  // The files that one of its lines may owe, and those that it must: mappings were added meanwhile, and only what is mapped later owes them.
  #filesOf({ sku, seen, mapped }) {
    const base = this.shop.merchant.file(Number(sku.slice(2)));
    const added = this.shop.epochs.filter((epoch) => epoch.sku === sku);
    const until = Math.max(mapped, this.#remapped);
    return {
      may: [base, ...added.filter(({ began }) => began < until).map(({ file }) => file)],
      must: [base, ...added.filter(({ done }) => done < seen).map(({ file }) => file)],
    };
  }
  facts() {
    const { merchant, store, settings } = this.shop;
    const paid = ({ quantity, refunded, current }) => Math.min(quantity - refunded, current ?? quantity) > 0;
    const sent = this.#lines.filter(({ seen }) => seen < Infinity);
    const files = (lines, which) => [...new Set(lines.flatMap((line) => this.#filesOf(line)[which]))];
    const mayBePaid = files(sent.filter(paid), 'may');
    return {
      merchant: `m-${merchant.number}`,
      store: store.id,
      orderId: this.orderId,
      deliveryId: this.deliveryId,
      autoRevoke: settings.autoRevoke ?? false,
      hold: settings.hold === 'all',
      dryRun: this.test && !settings.deliverTestOrders,
      payment: this.#payment,
      trashed: this.#trashed,
      risk: this.#risk,
      refunds: this.#refunds > 0,
      owed: files(sent.filter(paid), 'must'),
      refunded: files(
        sent.filter((line) => !paid(line)),
        'may',
      ).filter((file) => !mayBePaid.includes(file)),
      names: this.names,
      log: this.#log,
    };
  }
  // Every file that any of its lines owed at any time.
  get everOwed() {
    return this.#lines.flatMap((line) => this.#filesOf(line).may);
  }
}

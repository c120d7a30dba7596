// The operations of stores and merchants in a torture run (torture.mjs), one after the other, decided by the seed alone. Most are
// the bulk: orders, their repeats, direct deliveries, one change of them, and jobs on many. The rest is histories (torture_history.mjs), in stores of their own.
import { sampleOrder } from './orders.mjs';
import { Random } from './random.mjs';
import { History } from './torture_history.mjs';

const LIVE = 16; // histories that go on beside each other

export const BULK_STORES = ['provider_a', 'provider_a', 'provider_b', 'generic'].map((provider) => ({ provider }));
export const HISTORY_STORES = [
  { provider: 'provider_a', settings: { deliverTestOrders: true } },
  { provider: 'provider_a', settings: { autoRevoke: true } },
  { provider: 'provider_a', settings: { autoRevoke: true } },
  { provider: 'provider_a', settings: { hold: 'all' } },
  { provider: 'provider_b' },
  { provider: 'provider_b', settings: { autoRevoke: true } },
  { provider: 'provider_b', settings: { autoRevoke: true, hold: 'all' } },
  { provider: 'generic' },
  { provider: 'generic', settings: { hold: 'all' } },
];

export class Stores {
  #seed;
  #random;
  #orders = [];
  #count = 0;
  #live = [];

  // `bulk`, `eventful`: shops, {merchant, store, settings, epochs}; `eventful` are those of the histories, which are so many percent of
  // the operations.
  constructor(seed, bulk, eventful, percent) {
    this.#seed = seed;
    this.#random = new Random(seed, 'orders');
    Object.assign(this, { bulk, eventful, percent, histories: [] });
  }

  // Buyers are numbered from 1; none has a higher number yet.
  get buyers() {
    return Math.floor(this.#count / 12) * 4 + 4;
  }
  // Some three orders of each buyer, close together.
  #buyer(number) {
    return `buyer-${Math.floor(this.#count / 12) * 4 + number}`;
  }

  next() {
    const random = this.#random;
    if (this.#orders.length < 10) return this.newOrder();
    if (random.chance(this.percent / 100)) return this.#ofHistory();
    const draw = random.real();
    if (draw < 0.63) return this.newOrder();
    if (draw < 0.66)
      return {
        kind: 'bulk',
        order: random.pick(this.#orders),
        action: random.pick(['retry', 'invalidate', 'reprocess']),
        orders: Array.from({ length: random.whole(2, 8) }, () => random.pick(this.#orders)),
      };
    if (draw > 0.996) return { kind: 'login', order: random.pick(this.#orders) };
    if (draw > 0.986) return this.#mapping();
    const order = random.pick(this.#orders);
    if (draw < 0.8) return { kind: 'order', order, copies: random.whole(1, 3) };
    if (draw < 0.82) return { kind: 'reprocess', order };
    if (draw < 0.85) return { kind: 'invalidate', order };
    if (order.shop.store.provider !== 'provider_a') return this.newOrder();
    if (draw < 0.9) return { kind: 'refund', order };
    if (draw < 0.95) return { kind: 'cancel', order };
    return { kind: 'edit', order: this.#edited(order) };
  }

  newOrder() {
    const random = this.#random;
    const shop = random.pick(this.bulk);
    const orderId = String(100_000 + ++this.#count);
    const username = this.#buyer(random.whole(1, 4));
    const order = sampleOrder(shop.store.provider, { orderId, username, sku: `A-${random.whole(1, 5)}` });
    const lines = order.line_items ?? order.items;
    if (random.chance(0.4)) lines.push({ ...lines[0], id: 2, sku: `A-${random.whole(1, 5)}` });
    if (shop.store.provider === 'provider_a') order.updated_at = '2026-01-01T10:00:00Z';
    // A direct delivery of the merchant's own program may name files.
    const direct = shop.store.provider === 'generic' && random.chance(0.5);
    if (direct && random.chance(0.5)) lines.push({ fileId: shop.merchant.file(random.whole(1, 10)) });
    const made = { shop, orderId, body: order, direct, everOwed: lines.map((line) => this.#fileOf(shop, line)) };
    this.#orders.push(made);
    return { kind: 'order', order: made, copies: random.chance(0.2) ? 2 : 1 };
  }
  #fileOf({ merchant }, { sku, fileId }) {
    return fileId ?? merchant.file(Number(sku.slice(2)));
  }

  #edited(order) {
    const { shop, orderId, body } = order;
    const line = { ...body.line_items[0], id: 9, sku: `A-${this.#random.whole(1, 5)}` };
    order.everOwed.push(this.#fileOf(shop, line));
    return {
      shop,
      orderId,
      body: { ...body, line_items: [...body.line_items, line], updated_at: '2026-01-01T11:00:00Z' },
    };
  }

  #ofHistory() {
    const random = this.#random;
    this.#live = this.#live.filter(({ over }) => !over);
    if (this.#live.length < LIVE && random.chance(0.35)) {
      const orderId = String(100_000 + ++this.#count);
      const first = random.whole(1, 4);
      const buyers = [0, 1, 2].map((i) => this.#buyer(((first + i - 1) % 4) + 1));
      const history = new History({
        shop: random.pick(this.eventful),
        orderId,
        buyers,
        random: new Random(this.#seed, `history ${orderId}`),
      });
      this.#live.push(history);
      this.histories.push(history);
      return { kind: 'history', order: history };
    }
    return this.#live.length === 0 ? this.newOrder() : { kind: 'history', order: random.pick(this.#live) };
  }

  // One of the products of a store becomes a bundle.
  #mapping() {
    const shop = this.#random.pick(this.eventful);
    const number = shop.epochs.length + 1;
    if (number > 5) return this.newOrder();
    shop.epochs.push({ sku: `A-${number}`, file: shop.merchant.file(5 + number), began: Infinity, done: Infinity });
    return { kind: 'mapping', order: { shop }, number };
  }

  // The files that any line of each order ever owed.
  get everOwed() {
    return [...this.#orders, ...this.histories].map(({ shop, orderId, everOwed }) => ({
      store: shop.store.id,
      orderId,
      files: everOwed,
    }));
  }
}

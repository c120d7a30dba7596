// The month before a demonstration begins: three shops, their orders and buyers, the merchant's actions, and failures. It is
// carried out by demo_past (past.mjs) in the order of time; a seed always gives one month.
import { Random } from '../tests/e2e/random.mjs';
import { BUYERS, FILES, MERCHANT, SELLING, mappings, order, sent } from './catalogue.mjs';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
export const DAYS = 30;
export const PACKS = [
  'small 100 1900 eur 100 credits',
  'studio 500 7900 eur 500 credits',
  'label 2000 24900 eur 2000 credits',
];
// When the shops sell: the weight of each hour in a day's orders.
const HOUR_WEIGHTS = [1, 1, 0, 0, 0, 0, 1, 2, 3, 4, 4, 5, 5, 4, 4, 5, 6, 7, 9, 10, 10, 8, 6, 3];

export class Story {
  #todo = [];
  #lastNumber = 4080;
  #buyers = [...BUYERS];
  #trouble = [];
  made = {}; // ids by name, for other files

  // `receivers`: URLs of receivers by name: good, ill (fails at times), gone (answers 410 later), off (404 later). `sign`: {email,
  // password} of the merchant.
  constructor(past, { sign, receivers, seed = 1, ends }) {
    Object.assign(this, { past, sign, receivers, ends, begins: ends - DAYS * DAY, random: new Random(seed, 'story') });
  }

  // ---- time

  at(time, act) {
    this.#todo.push({ time, position: this.#todo.length, act });
  }
  // Days are counted from the beginning; `hour` is the hour of that day.
  on(day, hour, act) {
    this.at(this.begins + day * DAY + hour * HOUR, act);
  }
  // At `ms` before the end.
  before(ms, act) {
    this.at(this.ends - ms, act);
  }
  async run() {
    await this.past.until(this.begins);
    await this.#open();
    this.#plan();
    while (this.#todo.length > 0) {
      this.#todo.sort((a, b) => a.time - b.time || a.position - b.position);
      const { time, act } = this.#todo.shift();
      await this.past.until(time);
      await act();
    }
    await this.past.until(this.ends);
    return this.made;
  }

  // ---- the merchant

  #api(tokens) {
    return (method, path, body) =>
      this.past.must('bridge', method, path, body, { authorization: `Bearer ${tokens.idToken}` });
  }
  // Calls `act` in a new session and ends the session, so that requests that need a recent sign-in succeed.
  async person(act, { email, password } = this.sign) {
    const tokens = await this.past.must('bridge', 'POST', '/api/auth/sign-in', { email, password });
    const result = await act(this.#api(tokens));
    await this.past.must('bridge', 'POST', '/api/auth/sign-out', { refreshToken: tokens.refreshToken });
    return result;
  }
  // Calls `act` in the merchant's session, which stays open, or in a new one where a visitor has ended it.
  async merchant(act) {
    const { email, password } = this.sign;
    const refreshed = this.session
      ? await this.past.ask('bridge', 'POST', '/api/auth/refresh', { refreshToken: this.session.refreshToken })
      : {};
    this.session =
      refreshed.json?.idToken === undefined
        ? await this.past.must('bridge', 'POST', '/api/auth/sign-in', { email, password })
        : refreshed.json;
    return act(this.#api(this.session));
  }
  async #signUp({ email, password }, accountName) {
    const tokens = await this.past.must('bridge', 'POST', '/api/auth/sign-up', { email, password, accountName });
    await this.past.must('bridge', 'POST', '/api/auth/sign-out', { refreshToken: tokens.refreshToken });
    return tokens.accountId;
  }
  async #store(api, provider, name, skus) {
    const store = await api('POST', '/api/integrations', { provider, name });
    if (skus) await api('PUT', `/api/integrations/${store.id}/mappings`, { mappings: mappings(skus) });
    return { id: store.id, provider, secret: store.secret, name };
  }
  async #key(api, name, body = {}) {
    const { id, secret } = await api('POST', '/api/keys', { name, ...body });
    return { id, secret };
  }

  async #open() {
    const { past, receivers } = this;
    await past.must('cloud', 'POST', '/sim/merchants', { ...MERCHANT.cloud, files: FILES });
    this.account = await this.#signUp(this.sign, MERCHANT.account);
    await past.grant(this.account, 60, 'Welcome credits');
    await this.person(async (api) => {
      await api('PATCH', '/api/account', { supportEmail: MERCHANT.support });
      await api('PUT', '/api/credentials', { email: MERCHANT.cloud.email, password: MERCHANT.cloud.password });
      this.shop = await this.#store(
        api,
        'provider_a',
        'marlowtones.com',
        SELLING.concat('LOFI-DI', 'SEALED-01', 'TSHIRT-M'),
      );
      this.eu = await this.#store(api, 'provider_b', 'Marlow EU', SELLING.concat('LOFI-DI', 'TSHIRT-M'));
      this.club = await this.#store(api, 'generic', 'Tone Club', ['CLUB-NOV', 'BASS-DI', 'TWEED-59']);
      for (const [name, body] of [
        ['good', { name: 'Marlow back office' }],
        ['ill', { name: 'Order tracker', eventTypes: ['delivery.completed', 'delivery.failed'] }],
        ['off', { name: 'Chat bot', eventTypes: ['delivery.completed'] }],
        ['gone', { name: 'Old inventory', eventTypes: ['delivery.completed'] }],
      ]) {
        this[name] = await api('POST', '/api/webhook-subscriptions', { url: receivers[name], ...body });
      }
      this.keys = {
        site: await this.#key(api, 'Tone Club website', {
          permissions: ['deliveries:read', 'deliveries:write', 'deliveries:any_file'],
          integrationIds: [this.club.id],
        }),
        reports: await this.#key(api, 'Monthly report', { permissions: ['deliveries:read'] }),
        phone: await this.#key(api, 'Phone widget', { permissions: ['deliveries:read', 'presets:read'] }),
        old: await this.#key(api, 'Old website'),
      };
    });
    Object.assign(this.made, {
      account: this.account,
      stores: { shop: this.shop, eu: this.eu, club: this.club },
      subscriptions: { good: this.good.id, ill: this.ill.id, off: this.off.id, gone: this.gone.id },
      keys: Object.fromEntries(Object.entries(this.keys).map(([name, { id }]) => [name, id])),
    });
  }

  // ---- orders

  #buyer() {
    return this.#buyers.shift() ?? this.random.pick(BUYERS);
  }
  #policy() {
    const draw = this.random.real();
    const minutes =
      draw < 0.45 ? this.random.whole(1, 12) : draw < 0.8 ? this.random.whole(12, 240) : this.random.whole(240, 2_600);
    return { answer: 'accept', delayMs: minutes * MINUTE + this.random.whole(0, 59_999) };
  }
  customer(username, policy) {
    return this.past.must('cloud', 'POST', '/sim/customers', { username, userId: `u-${username}`, ...policy });
  }
  // Sends an order, and returns the service's answer. `policy`: the behaviour of a buyer whom the platform knows; null: it knows no such buyer.
  async order(store, { username, email, policy = this.#policy(), topic, expected = 202, secret, ...fields } = {}) {
    const buyer =
      username === undefined
        ? this.#buyer()
        : {
            username,
            email: email ?? `${(username ?? 'somebody').toLowerCase().replace(/[^a-z0-9]/g, '')}@posteo.example`,
          };
    if (policy && buyer.username) await this.customer(buyer.username, policy);
    const number = ++this.#lastNumber;
    const payload = order(store, { number, skus: [this.random.pick(SELLING)], at: this.past.now, ...buyer, ...fields });
    const { path, body, headers } = sent(secret ? { ...store, secret } : store, payload, topic ?? 'orders/paid');
    const answer = await this.past.ask('bridge', 'POST', path, body, headers);
    if (answer.status !== expected)
      throw new Error(`an order of ${store.name} was answered ${answer.status}: ${answer.text}`);
    return { number, payload, username: buyer.username, ...answer.json };
  }
  // Sends an order once more, with changes.
  async again(store, { payload }, changes, topic) {
    const { path, body, headers } = sent(
      store,
      {
        ...payload,
        updated_at: new Date(this.past.now).toISOString(),
        date_modified_gmt: new Date(this.past.now).toISOString().slice(0, 19),
        ...changes,
      },
      topic,
    );
    return this.past.must('bridge', 'POST', path, body, headers);
  }
  // Sends one more order: now and then without a username, with a wrong one, or with a product that nobody matched.
  async nextOrder() {
    const store = this.random.pick([this.shop, this.shop, this.shop, this.eu, this.club]);
    if (store === this.club)
      return this.order(store, {
        skus: [this.random.pick(['CLUB-NOV', 'BASS-DI', 'TWEED-59'])],
        policy: this.#quick(),
      });
    const draw = this.random.real();
    if (draw < 0.05) return this.order(store, { username: null, email: 'who.is.it@posteo.example' });
    if (draw < 0.09) return this.order(store, { username: `mistyped ${this.random.whole(10, 99)}`, policy: null });
    return this.order(store, {
      skus: [draw < 0.15 ? 'FUZZ-BUNDLE' : this.random.pick(SELLING)],
      policy: this.random.chance(0.1) ? { answer: 'never' } : this.#quick(),
    });
  }
  #quick() {
    return { answer: 'accept', delayMs: this.random.whole(3, 90) * 1_000 };
  }
  async topic(topic, payload) {
    const { path, body, headers } = sent(this.shop, payload, topic);
    return this.past.must('bridge', 'POST', path, body, headers);
  }
  act(id, name, body) {
    return this.merchant((api) => api('POST', `/api/deliveries/${id}/${name}`, body));
  }
  // Makes more calls of the platform fail from now on.
  async failing(...calls) {
    this.#trouble.push(...calls);
    await this.past.trouble(this.#trouble);
  }
  async mended(...calls) {
    this.#trouble = this.#trouble.filter((call) => !calls.includes(call));
    await this.past.trouble(this.#trouble);
  }

  #plan() {
    this.#planSales();
    this.#planRush();
    this.#planMerchant();
    this.#planFailures();
    this.#planEdges();
    this.#planReceivers();
    this.#planPrograms();
    this.#planOtherAccounts();
    this.#planPeople();
  }

  // Six to sixteen orders a day, more at weekends and towards the end.
  #planSales() {
    const total = HOUR_WEIGHTS.reduce((a, b) => a + b);
    for (let day = 0; day < DAYS; ++day) {
      const weekend = day % 7 >= 5; // by the day of the story, not the calendar's: the month does not depend on the day of the run
      const count = this.random.whole(6, 10) + (weekend ? 4 : 0) + Math.floor(day / 10);
      for (let i = 0; i < count; ++i) {
        let left = this.random.real() * total;
        const hour = HOUR_WEIGHTS.findIndex((weight) => (left -= weight) < 0);
        const time = this.begins + day * DAY + hour * HOUR + this.random.whole(0, HOUR - 1);
        if (time < this.begins + HOUR || time > this.ends - 10 * MINUTE) continue;
        const draw = this.random.real();
        this.at(time, () => {
          const store = draw < 0.62 ? this.shop : draw < 0.84 ? this.eu : this.club;
          if (store === this.club)
            return this.order(store, { skus: [this.random.pick(['CLUB-NOV', 'CLUB-NOV', 'BASS-DI', 'TWEED-59'])] });
          const skus = [this.random.pick(SELLING)];
          if (this.random.chance(0.18)) skus.push(this.random.pick(SELLING.filter((sku) => sku !== skus[0])));
          if (this.random.chance(0.12)) skus.push('TSHIRT-M');
          if (day > 18 && this.random.chance(0.1)) skus.push('FUZZ-BUNDLE');
          return this.order(store, { skus });
        });
      }
    }
  }

  // A rush at the very end: more orders than the platform's limit lets begin at once.
  #planRush() {
    for (let i = 0; i < 24; ++i)
      this.before((24 - i) * 2_500, () =>
        this.order(this.shop, { policy: { answer: 'accept', delayMs: this.random.whole(1, 20) * MINUTE } }),
      );
  }

  // If fewer than `least` credits are left, buys a pack and pays it on the bank's page.
  async refill(least, packId) {
    if ((await this.merchant((api) => api('GET', '/api/credits'))).available >= least) return undefined;
    const bought = await this.person((api) => api('POST', '/api/credits/checkout', { packId }));
    await this.past.must('bank', 'POST', '/sim/pay', { session: bought.url.split('/').at(-1) });
    return bought;
  }

  // Sam's purchases and changes.
  #planMerchant() {
    const { past } = this;
    const buy = (day, hour, packId, then) =>
      this.on(day, hour, async () => {
        const purchase = await this.person((api) => api('POST', '/api/credits/checkout', { packId }));
        const session = purchase.url.split('/').at(-1);
        await then?.(session, purchase);
      });
    const pay = (session) => past.must('bank', 'POST', '/sim/pay', { session });
    buy(0, 2, 'small', pay);
    buy(3, 9, 'studio', pay);
    buy(11, 14, 'small'); // and leaves the bank's page without paying
    buy(15, 20, 'small', async (session) => {
      await pay(session);
      const { payments } = await past.must('bank', 'GET', '/sim/payments');
      const { paymentIntent: payment } = payments.find((one) => one.session === session);
      this.on(16, 10, () => past.must('bank', 'POST', '/sim/refund', { payment }));
    });
    buy(20, 8, 'small', pay);
    this.on(22, 11, () => past.grant(this.account, 25, 'Sorry for the outage of 12 days ago'));
    // The password at the platform changes. The bridge notices once its session is revoked.
    this.on(12, 6, () =>
      past.must('cloud', 'POST', '/sim/merchants', { ...MERCHANT.cloud, password: 'another password' }),
    );
    this.on(12, 6.1, () => past.must('cloud', 'POST', '/sim/sessions/revoke', { merchant: MERCHANT.cloud.userId }));
    this.on(12, 18.5, () =>
      this.person((api) =>
        api('PUT', '/api/credentials', { email: MERCHANT.cloud.email, password: 'another password' }),
      ),
    );
    this.on(9, 12, () => this.merchant((api) => api('PATCH', `/api/keys/${this.keys.old.id}`, { active: false })));
    this.on(21, 9, () =>
      this.person((api) => api('POST', `/api/integrations/${this.shop.id}/rotate-secret`, {})).then(
        ({ secret }) => (this.shop.secret = secret),
      ),
    );
    this.on(28, 17, () =>
      this.merchant((api) => api('PATCH', `/api/integrations/${this.eu.id}`, { settings: { hold: 'all' } })),
    );
    this.before(30 * HOUR, () =>
      this.merchant((api) => api('POST', `/api/integrations/${this.shop.id}/test-order`, {})),
    );
  }

  // Failures with each resolution code, most of them more than once. One delivery of each stays failed; the others are resumed.
  #planFailures() {
    const later = (hours, act) => this.at(this.past.now + hours * HOUR, act);
    // Usernames that are missing or wrong. The merchant corrects some, the buyer others.
    const missing = async (store, skus, name) => {
      const { deliveryId } = await this.order(store, {
        username: null,
        email: name ? `${name}@posteo.example` : 'who.is.it@posteo.example',
        skus,
      });
      if (name)
        later(this.random.whole(1, 9), () =>
          this.customer(name, this.#policy()).then(() => this.act(deliveryId, 'retry', { targetUsername: name })),
        );
      return deliveryId;
    };
    for (const [day, name] of [
      [2, 'ghostnote'],
      [6, 'p90pete'],
      [13, 'sixstringsue'],
      [19, 'delaytrails'],
      [25, 'twang_tina'],
    ])
      this.on(day, 10, () => missing(this.shop, ['TWEED-59'], name));
    this.before(31 * HOUR, async () => (this.made.username_missing = await missing(this.shop, ['PLEXI-PACK'])));
    this.before(5 * HOUR, () => missing(this.shop, ['AC-CHIME']));
    const wrong = async (typed, right) => {
      const { deliveryId } = await this.order(this.shop, {
        username: typed,
        email: 'jonas.ek@posteo.example',
        policy: null,
        skus: ['PLEXI-PACK'],
        note: `Cloud Username: ${typed}`,
      });
      if (right)
        later(this.random.whole(1, 6), () =>
          this.customer(right, this.#policy()).then(() => this.act(deliveryId, 'retry', { targetUsername: right })),
        );
      return deliveryId;
    };
    for (const [day, typed, right] of [
      [4, 'bluesdad-64', 'bluesdad64'],
      [10, '@riff collector', 'R1ffCollector'],
      [17, 'kaztrem', 'kaz_trem_official'],
      [23, 'octaveotto', 'octave.otto'],
    ])
      this.on(day, 15, () => wrong(typed, right));
    this.before(7 * HOUR, async () => (this.made.username_not_found = await wrong('Jonasek_ ')));
    this.before(28 * HOUR, () => wrong('slow hand'));

    // Buyers who do not answer, decline, block.
    for (const [day, username] of [
      [1, 'fuzzy_pete'],
      [5, 'midnight.mo'],
      [12.2, 'silent_sid'],
    ]) {
      this.on(
        day,
        19,
        async () =>
          (this.made.friendship_timeout = (
            await this.order(this.shop, { username, policy: { answer: 'never' }, skus: ['TWEED-59'] })
          ).deliveryId),
      );
    }
    for (const [hours, username] of [
      [30, 'tommy_rook'],
      [52, 'slowhand'],
      [100, 'lazy.luke'],
      [170, 'vacation_vic'],
      [9, 'mailbox_max'],
      [2, 'just_now_jen'],
    ]) {
      this.before(
        hours * HOUR,
        async () =>
          (this.made.waiting = (
            await this.order(this.shop, { username, policy: { answer: 'never' }, skus: [this.random.pick(SELLING)] })
          ).deliveryId),
      );
    }
    const declines = async (username, asksAgain) => {
      const { deliveryId } = await this.order(this.shop, {
        username,
        policy: { answer: 'decline', delayMs: 3 * HOUR },
        skus: ['BROWN-01'],
      });
      if (asksAgain)
        later(20, () =>
          this.customer(username, { answer: 'accept', delayMs: HOUR }).then(() => this.act(deliveryId, 'retry', {})),
        );
      return deliveryId;
    };
    this.on(7, 18, () => declines('second_thoughts', true));
    this.before(40 * HOUR, async () => (this.made.friend_request_declined = await declines('declines_all')));
    this.before(
      16 * HOUR,
      async () =>
        (this.made.blocked_by_customer = (
          await this.order(this.shop, { username: 'blocks_you', policy: { answer: 'block' }, skus: ['BASS-DI'] })
        ).deliveryId),
    );

    // Files: one is deleted at the platform, one can never be shared.
    this.on(24, 8, () =>
      this.past.must('cloud', 'POST', '/sim/files', { merchant: MERCHANT.cloud.userId, remove: 'lofi-bedroom-di' }),
    );
    for (const [hours, username] of [
      [60, 'tape_theo'],
      [33, 'lofi_lou'],
      [11, 'cassette.cat'],
    ])
      this.before(
        hours * HOUR,
        async () =>
          (this.made.preset_not_found = (
            await this.order(this.shop, { username, policy: { answer: 'accept' }, skus: ['LOFI-DI'] })
          ).deliveryId),
      );
    this.before(
      20 * HOUR,
      async () =>
        (this.made.preset_not_shareable = (
          await this.order(this.shop, {
            username: 'early_bird',
            policy: { answer: 'accept' },
            skus: ['SEALED-01', 'PLEXI-CLEAN'],
          })
        ).deliveryId),
    );

    // The platform refuses shares, is away for an afternoon, and fails to share one file for three days.
    const refuses = (username) => ({
      method: 'PUT',
      path: `/files/modern-rectified/shares/u-${username}`,
      status: 422,
    });
    this.on(14, 12, async () => {
      const call = refuses('metal_mia');
      await this.failing(call);
      const { deliveryId } = await this.order(this.shop, {
        username: 'metal_mia',
        policy: { answer: 'accept' },
        skus: ['MODERN-RECT'],
      });
      later(3, () => this.mended(call).then(() => this.act(deliveryId, 'retry', {})));
    });
    this.before(13 * HOUR, () => this.failing(refuses('R1ff_kid')));
    this.before(
      13 * HOUR - MINUTE,
      async () =>
        (this.made.cloud_rejected = (
          await this.order(this.shop, { username: 'R1ff_kid', policy: { answer: 'accept' }, skus: ['MODERN-RECT'] })
        ).deliveryId),
    );
    const outage = ['GET', 'POST', 'PUT', 'DELETE'].map((method) => ({ method, path: '/', status: 503 }));
    this.on(10, 13, () => this.failing(...outage));
    this.on(10, 16.5, () => this.mended(...outage));
    this.before(80 * HOUR, () =>
      this.failing({ method: 'PUT', path: '/files/brown-sound-cab/shares/u-stubborn_stu', status: 500 }),
    );
    this.before(
      79 * HOUR,
      async () =>
        (this.made.cloud_unavailable = (
          await this.order(this.shop, { username: 'stubborn_stu', policy: { answer: 'accept' }, skus: ['BROWN-01'] })
        ).deliveryId),
    );

    // An order that is too large to be delivered automatically, and one that needs more credits than there are.
    this.before(
      25 * HOUR,
      async () =>
        (this.made.order_too_large = (
          await this.order(this.shop, { username: 'bulk_barry', skus: Array(251).fill('TWEED-59') })
        ).deliveryId),
    );
  }

  // Reviews, stopped deliveries, later changes by the shop, and events that are no orders.
  #planEdges() {
    const { past } = this;
    const later = (hours, act) => this.at(past.now + hours * HOUR, act);
    this.on(5, 11, async () => {
      const placed = await this.order(this.shop, {
        username: 'twice_bought',
        policy: { answer: 'never' },
        skus: ['PLEXI-CLEAN'],
      });
      later(2, () =>
        this.act(placed.deliveryId, 'invalidate', { reason: 'Bought twice by mistake; the other order stays.' }),
      );
    });
    this.on(8, 11, async () => {
      const placed = await this.order(this.shop, {
        username: 'changed.mind',
        policy: { answer: 'never' },
        skus: ['AC-CHIME'],
      });
      later(5, () => this.act(placed.deliveryId, 'invalidate', { reason: 'The buyer asked for their money back.' }));
      this.made.invalidated = placed.deliveryId;
    });
    this.on(18, 10, async () => {
      const placed = await this.order(this.shop, {
        username: 'stopped_stan',
        policy: { answer: 'never' },
        skus: ['PLEXI-PACK'],
      });
      later(1, () =>
        this.again(this.shop, placed, { cancelled_at: new Date(past.now).toISOString() }, 'orders/cancelled'),
      );
    });
    this.on(20, 10, async () => {
      const placed = await this.order(this.shop, {
        username: 'hand.made',
        policy: { answer: 'never' },
        skus: ['SWELLS-12'],
      });
      later(30, () => this.act(placed.deliveryId, 'complete'));
    });
    this.on(16, 9, async () => {
      const placed = await this.order(this.shop, {
        username: 'refund_rita',
        policy: { answer: 'accept' },
        skus: ['PLEXI-PACK', 'TWEED-59'],
      });
      later(20, () =>
        this.topic('refunds/create', {
          id: placed.number * 10,
          order_id: placed.payload.id,
          created_at: new Date(past.now).toISOString(),
          refund_line_items: [{ line_item_id: placed.payload.line_items[1].id, quantity: 1 }],
        }),
      );
      this.made.refunded = placed.deliveryId;
    });
    this.on(26, 9, async () => {
      const placed = await this.order(this.shop, {
        username: 'took_back',
        policy: { answer: 'accept' },
        skus: ['PLEXI-PACK'],
      });
      later(5, () => this.act(placed.deliveryId, 'revoke'));
    });
    this.before(50 * HOUR, async () => {
      const placed = await this.order(this.shop, {
        username: 'reopened_rob',
        policy: { answer: 'accept' },
        skus: ['BROWN-01'],
      });
      later(30, () => this.act(placed.deliveryId, 'reopen', {}));
      this.made.reopened = placed.deliveryId;
    });
    this.before(21 * HOUR, async () => {
      const placed = await this.order(this.shop, {
        username: 'too_good',
        policy: { answer: 'never' },
        skus: ['PLEXI-PACK', 'BROWN-01', 'AC-CHIME'],
      });
      later(1, () =>
        this.topic('orders/risk_assessment_changed', {
          order_id: placed.payload.id,
          risk_level: 'HIGH',
          created_at: new Date(past.now).toISOString(),
        }),
      );
      this.made.high_risk = placed.deliveryId;
    });
    this.before(45 * HOUR, async () => {
      const placed = await this.order(this.shop, {
        username: 'charged.back',
        policy: { answer: 'never' },
        skus: ['AC-CHIME'],
      });
      later(4, () => this.again(this.shop, placed, { financial_status: 'pending' }, 'orders/updated'));
    });
    this.before(
      4 * HOUR,
      async () =>
        (this.made.in_review = (await this.order(this.eu, { username: 'noor.held', skus: ['AC-CHIME'] })).deliveryId),
    );
    this.before(3 * HOUR, () => this.order(this.eu, { username: 'dstrand', skus: ['PLEXI-PACK', 'TWEED-59'] }));

    // Orders that deliver nothing.
    for (const [day, skus] of [
      [6.3, ['STICKERS']],
      [14.4, ['STICKERS']],
      [22, ['FUZZ-BUNDLE']],
      [24, ['FUZZ-BUNDLE', 'STICKERS']],
      [26.5, ['FUZZ-BUNDLE']],
      [28.4, ['FUZZ-BUNDLE', 'TSHIRT-M']],
      [29.2, ['FUZZ-BUNDLE']],
    ])
      this.on(day, 5, () => this.order(this.shop, { skus }));
    this.on(11, 17, async () => {
      const placed = await this.order(this.shop, { skus: ['PLEXI-CLEAN'], payment: 'pending', topic: 'orders/create' });
      later(26, () => this.again(this.shop, placed, { financial_status: 'paid' }, 'orders/paid'));
    });
    this.before(15 * HOUR, () =>
      this.order(this.shop, { skus: ['SWELLS-12'], payment: 'pending', topic: 'orders/create' }),
    );
    this.on(18.5, 7, () =>
      this.order(this.shop, { skus: ['PLEXI-CLEAN'], payment: 'cancelled', topic: 'orders/cancelled' }),
    );
    this.on(13.1, 8, async () => {
      await this.merchant((api) => api('PATCH', `/api/integrations/${this.eu.id}`, { active: false }));
      await this.order(this.eu, { skus: ['TWEED-59'] });
      later(1, () => this.merchant((api) => api('PATCH', `/api/integrations/${this.eu.id}`, { active: true })));
    });
    this.on(3.3, 3, () => this.topic('products/update', { id: 1, title: 'Plexi ’68 Pack' }));
    for (const day of [9, 21.4, 29.3])
      this.on(day, 4, () => this.order(this.shop, { secret: 'the secret of before', expected: 401 }));
    this.on(20.7, 2, async () => {
      const placed = await this.order(this.shop, {
        username: 'forget.me',
        policy: { answer: 'accept' },
        skus: ['TWEED-59'],
      });
      later(90, () =>
        this.topic('customers/redact', {
          shop_id: 1,
          shop_domain: 'marlowtones.com',
          customer: { id: 1, email: 'forgetme@posteo.example' },
          orders_to_redact: [placed.payload.id],
        }),
      );
    });
    this.before(70 * HOUR, () =>
      this.topic('customers/data_request', {
        shop_id: 1,
        shop_domain: 'marlowtones.com',
        orders_requested: [5_400_004_100],
        customer: { id: 7, email: 'curious@posteo.example' },
        data_request: { id: 9 },
      }),
    );
  }

  #planReceivers() {
    const { past, receivers } = this;
    const page = '<html><body>upstream connect error or disconnect/reset before headers</body></html>';
    this.on(6.2, 4, () =>
      past.receiver({
        url: receivers.good,
        status: 500,
        contentType: 'application/json',
        body: '{"error":"deadlock"}',
      }),
    );
    this.on(6.2, 5.5, () =>
      past.receiver({ url: receivers.good, contentType: 'application/json', body: '{"ok":true}' }),
    );
    this.on(15.5, 2, () => past.receiver({ url: receivers.ill, lost: true }));
    this.on(15.5, 3, () => past.receiver({ url: receivers.ill }));
    this.before(5.2 * HOUR, () =>
      past.receiver({ url: receivers.ill, status: 503, contentType: 'text/html', body: page }),
    );
    this.on(21, 0, () =>
      past.receiver({ url: receivers.off, status: 404, contentType: 'text/html', body: '<h1>Not found</h1>' }),
    );
    this.on(19, 0, () => past.receiver({ url: receivers.gone, status: 410, body: 'This receiver has moved.' }));
    this.on(0, 3, () => this.merchant((api) => api('POST', `/api/webhook-subscriptions/${this.good.id}/test`)));
  }

  // Requests and deliveries of the merchant's own programs, without a shop.
  #planPrograms() {
    const { past } = this;
    const request = (key, path) => past.ask('bridge', 'GET', path, undefined, { 'x-api-key': key.secret });
    for (let day = 0; day < DAYS; ++day) {
      for (const hour of [7, 12, 18, 21]) {
        this.on(day, hour + 0.2, async () => {
          const times = (low, high, key, path) =>
            Array.from({ length: this.random.whole(low, high) }, () => [key, path]);
          const calls = [
            ...times(2, 14, this.keys.site, '/api/deliveries?limit=5'),
            ...times(0, 9, this.keys.phone, '/api/deliveries?limit=1&status=failed'),
          ];
          if (day < 9) calls.push(...times(0, 5, this.keys.old, '/api/deliveries?limit=1'));
          for (const [key, path] of calls) await request(key, path);
        });
      }
      if (day % 7 === 3)
        this.on(day, 3, async () => {
          for (let i = 0; i < 118; ++i) await request(this.keys.reports, '/api/deliveries?limit=1');
        });
    }
    const deliver = async (orderId, username, items) => {
      await this.customer(username, { answer: 'accept', delayMs: 9 * MINUTE });
      return past.must(
        'bridge',
        'POST',
        '/api/deliveries',
        { integrationId: this.club.id, orderId, targetUsername: username, items },
        { 'x-api-key': this.keys.site.secret },
      );
    };
    for (const [day, username] of [
      [4, 'gift_gina'],
      [11, 'gift_gus'],
      [17, 'gift_greta'],
      [23, 'gift_gil'],
    ])
      this.on(day, 16, () =>
        deliver(`gift-${day}`, username, [{ fileId: 'tone-club-october', title: 'Tone Club, October (gift)' }]),
      );
  }

  // A member, an invited person, and sign-ins with a wrong password.
  #planPeople() {
    const invite = (note) => this.person((api) => api('POST', '/api/invitations', { role: 'member', note }));
    const member = { email: this.sign.email.replace(/^[^@]+/, 'ann'), password: this.sign.password };
    this.on(2, 5, async () => {
      const { url } = await invite('Ann, support');
      await this.past.must('bridge', 'POST', '/api/auth/sign-up', {
        ...member,
        invitation: new URL(url).hash.slice(1),
      });
    });
    this.before(
      21 * HOUR,
      async () => (this.made.invitation = new URL((await invite('Jo, packing')).url).hash.slice(1)),
    );
    this.before(50 * HOUR, () =>
      this.past.ask('bridge', 'POST', '/api/auth/sign-in', { email: this.sign.email, password: 'not the password' }),
    );
    this.made.member = member;
  }

  // Three more accounts: one whose login is refused, one that has none yet, one without credits.
  #planOtherAccounts() {
    const other = (name) => ({ email: this.sign.email.replace(/^[^@]+/, name), password: this.sign.password });
    const begin = async (sign, account, cloud) => {
      const id = await this.#signUp(sign, account);
      const store = await this.person(async (api) => {
        if (cloud) await api('PUT', '/api/credentials', cloud);
        return this.#store(api, 'provider_a', `${sign.email.split('@')[0]}.example`, ['TWEED-59', 'PLEXI-PACK']);
      }, sign);
      return { ...store, account: id };
    };
    const refused = other('riley');
    const cloud = {
      userId: 'm-riley',
      username: 'riley_rigs',
      email: 'riley@cloud.example',
      password: 'riley at the cloud',
    };
    this.on(20, 1, async () => {
      await this.past.must('cloud', 'POST', '/sim/merchants', {
        ...cloud,
        files: FILES.filter(({ id }) => id === 'tweed-59-clean'),
      });
      this.riley = await begin(refused, 'Riley’s Rigs', { email: cloud.email, password: cloud.password });
      await this.past.grant(this.riley.account, 25, 'Welcome credits');
    });
    this.before(26 * HOUR, () => this.past.must('cloud', 'POST', '/sim/merchants', { ...cloud, password: 'changed' }));
    this.before(26 * HOUR, () => this.past.must('cloud', 'POST', '/sim/sessions/revoke', { merchant: cloud.userId }));
    for (const hours of [25, 20, 6])
      this.before(
        hours * HOUR,
        async () => (this.made.credentials_invalid = (await this.order(this.riley, { skus: ['TWEED-59'] })).deliveryId),
      );
    const newcomer = other('nova');
    this.before(28 * HOUR, async () => (this.nova = await begin(newcomer, 'Nova Noise')));
    this.before(
      27 * HOUR,
      async () => (this.made.credentials_missing = (await this.order(this.nova, { skus: ['TWEED-59'] })).deliveryId),
    );
    const poor = other('pat');
    const login = {
      userId: 'm-pat',
      username: 'pats_pedals',
      email: 'pat@cloud.example',
      password: 'pat at the cloud',
    };
    this.before(32 * HOUR, async () => {
      await this.past.must('cloud', 'POST', '/sim/merchants', { ...login, files: FILES });
      this.pat = await begin(poor, 'Pat’s Pedals', { email: login.email, password: login.password });
      await this.past.grant(this.pat.account, 2, 'To try it out');
    });
    for (const [hours, skus] of [
      [31, ['TWEED-59']],
      [10, ['PLEXI-PACK']],
      [3, ['PLEXI-PACK', 'TWEED-59']],
    ])
      this.before(
        hours * HOUR,
        async () =>
          (this.made.insufficient_credits = (
            await this.order(this.pat, { skus, policy: { answer: 'accept' } })
          ).deliveryId),
      );
    this.made.others = { refused, newcomer, poor };
  }
}

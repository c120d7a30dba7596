// The sandbox's payment processor, `paysim`, and what a bridge needs to sell by it.
import { chmod, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Client, startPaysim } from './harness.mjs';

const KEY = 'sk_test_PlantedSandboxKey31';
const RETRY_MS = [50, 200, 500, 1_000, 2_000, 4_000]; // of a webhook

export class Sandbox {
  // `packs`: as --credits-packs takes them.
  static async start(scope, { packs, seed = 1 }) {
    const it = new Sandbox();
    const paysim = await startPaysim(scope, { args: ['--seed', String(seed), '--secret-key', KEY] });
    it.url = paysim.url;
    it.sim = new Client(paysim.url);
    it.secret = paysim.ready.webhookSecret;
    it.args = ['--payments-url', paysim.url, '--payments-timeout-seconds', '1', '--credits-packs', packs];
    await it.done('PUT', '/sim/webhooks', { retryAfterMs: RETRY_MS });
    return it;
  }

  // The secrets' files in a data directory.
  async sellIn(dataDir) {
    for (const [name, line] of [
      ['payments.key', KEY],
      ['payments.webhook', this.secret],
    ]) {
      await writeFile(path.join(dataDir, name), `${line}\n`);
      await chmod(path.join(dataDir, name), 0o600);
    }
  }
  // Where webhooks are sent from now on.
  tellTo(bridge) {
    return this.done('PUT', '/sim/webhooks', { url: `${bridge.url}/api/payments/webhook` });
  }

  // A call that the simulator takes, or refuses with one of `also`.
  async done(method, target, json, also = []) {
    const answer = await this.sim.request(method, target, { json });
    if (answer.status !== 200 && !also.includes(answer.status))
      throw new Error(`${method} ${target} of the payment simulator: ${answer.status} ${answer.text}`);
    return answer;
  }
  async payments() {
    const all = [];
    for (let after = 0, more = true; more;) {
      const { json } = await this.done('GET', `/sim/payments?after=${after}`);
      all.push(...json.payments);
      ({ next: after, more } = json);
    }
    return all;
  }
  // The refunds of a payment, as Stripe's API lists them: the newest first.
  async refunds(session) {
    const { json } = await this.sim.request('GET', `/v1/checkout/sessions/${session}`, {
      headers: { authorization: `Bearer ${KEY}` },
    });
    return (
      await this.sim.request('GET', `/v1/refunds?payment_intent=${json.payment_intent}`, {
        headers: { authorization: `Bearer ${KEY}` },
      })
    ).json.data;
  }
  async books() {
    return (await this.done('GET', '/sim/books')).json.books;
  }
}
export const sessionOf = (url) => url.match(/cs_test_\w+/)[0];

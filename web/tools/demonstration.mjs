// Starts the demonstration in a folder of its own, for programs that open its pages (pages.mjs).
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { stopAll } from '../../demo/programs.mjs';
import { startReceivers } from '../../demo/receivers.mjs';
import { fill, serve } from '../../demo/show.mjs';
import { beginners } from './beginners.mjs';

// {url, dataDir, story, made, signs by account, close}. `pace`: serve()'s.
export async function demonstration({ pace } = {}) {
  const { PRESETBRIDGE_BIN: bridge, CLOUDSIM_BIN: cloudsim, PAYSIM_BIN: paysim, DEMO_PAST_BIN: past } = process.env;
  if (!past) throw new Error('run it as ./dev screenshots, or give --url');
  const folder = await mkdtemp(path.join(tmpdir(), 'presetbridge-look-'));
  process.on('exit', () => receivers.close());
  const receivers = await startReceivers();
  const dataDir = path.join(folder, 'data');
  const filled = await fill(past, dataDir, { receivers: receivers.urls });
  const urls = await serve({ bridge, cloudsim, paysim }, dataDir, filled, pace);
  const { story } = filled;
  const { member, others } = story.made;
  const { refused, newcomer, poor } = others;
  const begun = await beginners(story);
  await nameMore(story);
  story.made.begun = begun.stores;
  const close = async () => {
    await stopAll();
    receivers.close();
    await rm(folder, { recursive: true, force: true });
  };
  const signs = { sam: story.sign, riley: refused, nova: newcomer, pat: poor, ann: member, ...begun.signs };
  return { url: urls.bridge, dataDir, story, made: story.made, signs, close };
}

// Names that are read from the service after the month: an order of each outcome, a preset, the links of the buyers, the purchases.
// Deliveries whose buyer's pages differ.
const BUYERS = [
  'in_review',
  'username_missing',
  'username_not_found',
  'waiting',
  'friend_request_declined',
  'friendship_timeout',
  'blocked_by_customer',
  'refunded',
  'preset_not_found',
  'invalidated',
];
const OUTCOMES = ['delivery', 'no_mapped_items', 'awaiting_payment', 'stopped', 'inactive'];
async function nameMore(story) {
  const { made } = story;
  await story.merchant(async (api) => {
    const first = async (path) => (await api('GET', path)).data[0].id;
    made.orders = { unmapped: await first('/api/orders?limit=1&unmapped=true') };
    for (const outcome of OUTCOMES) made.orders[outcome] = await first(`/api/orders?limit=1&outcome=${outcome}`);
    made.preset = await first('/api/presets?search=tweed');
    made.buyerLinks = {};
    for (const name of BUYERS) {
      const { buyerUrl } = await api('GET', `/api/deliveries/${made[name]}`);
      made.buyerLinks[name] = new URL(buyerUrl).hash;
    }
    const { data: purchases } = await api('GET', '/api/credits/purchases?limit=100');
    made.purchases = Object.fromEntries(purchases.map(({ state, id }) => [state, id]));
  });
  made.purchases.pending = await story.person(
    async (api) => (await api('POST', '/api/credits/checkout', { packId: 'small' })).id,
    made.others.poor,
  );
}

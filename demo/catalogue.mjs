// The files, products and stores of the demonstration's merchant, and orders in the form of their shops.
import { signatureHeaders } from '../tests/e2e/orders.mjs';

export const MERCHANT = {
  account: 'Marlow Tone Co.',
  support: 'hello@marlowtones.example',
  cloud: {
    userId: 'm-marlow',
    username: 'marlow_tones',
    email: 'sam@cloud.example',
    password: 'a password at the cloud',
  },
};

const presets = [
  'Plexi ’68 Lead',
  'Plexi ’68 Rhythm',
  'Plexi ’68 Crunch',
  'Plexi ’72 Clean',
  'Tweed ’59 Clean',
  'Ambient Swells Vol. 1',
  'Ambient Swells Vol. 2',
  'Brown Sound',
  'AC Chime',
  'Bass DI Warm',
  'Bass DI Grit',
  'Modern Rectified',
  'Tone Club October',
  'Tone Club November',
  'Lofi Bedroom DI',
  'Sealed Stack',
];
const captures = ['Plexi ’68 Cab', 'Brown Sound Cab', 'AC30 Top Boost Capture'];
const slug = (name) =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
export const FILES = [
  ...presets.map((name) => ({ id: slug(name), kind: 'preset', name })),
  ...captures.map((name) => ({ id: slug(name), kind: 'capture', name })),
].map((file) => ({ ...file, shareable: file.name !== 'Sealed Stack' }));

// By SKU: the shop's title, and the files that the buyer gets. `null`: not matched yet; []: matched to nothing.
export const PRODUCTS = {
  'PLEXI-PACK': ['Plexi ’68 Pack', ['Plexi ’68 Lead', 'Plexi ’68 Rhythm', 'Plexi ’68 Cab']],
  'PLEXI-CLEAN': ['Plexi ’72 Clean', ['Plexi ’72 Clean']],
  'TWEED-59': ['Tweed ’59 Clean', ['Tweed ’59 Clean']],
  'SWELLS-12': ['Ambient Swells, both volumes', ['Ambient Swells Vol. 1', 'Ambient Swells Vol. 2']],
  'BROWN-01': ['Brown Sound', ['Brown Sound', 'Brown Sound Cab']],
  'AC-CHIME': ['AC Chime', ['AC Chime', 'AC30 Top Boost Capture']],
  'BASS-DI': ['Bass DI, warm and grit', ['Bass DI Warm', 'Bass DI Grit']],
  'MODERN-RECT': ['Modern Rectified', ['Modern Rectified']],
  'LOFI-DI': ['Lofi Bedroom DI', ['Lofi Bedroom DI']],
  'SEALED-01': ['Sealed Stack (early access)', ['Sealed Stack']],
  'CLUB-NOV': ['Tone Club, November', ['Tone Club November', 'AC Chime']],
  'TSHIRT-M': ['Marlow T-shirt, M', []],
  STICKERS: ['Sticker set', null],
  'FUZZ-BUNDLE': ['Fuzz Bundle (new)', null],
};
export const SELLING = Object.keys(PRODUCTS).filter(
  (sku) => PRODUCTS[sku][1]?.length > 0 && !['LOFI-DI', 'SEALED-01', 'CLUB-NOV'].includes(sku),
);

export const mappings = (skus = Object.keys(PRODUCTS)) =>
  skus.flatMap((sku) => {
    const names = PRODUCTS[sku][1];
    if (names === null) return [];
    if (names.length === 0) return [{ matchType: 'sku', matchValue: sku, action: 'ignore' }];
    return names
      .map((name) => FILES.find((file) => file.name === name))
      .map(({ id, kind, name }) => ({ matchType: 'sku', matchValue: sku, fileId: id, kind, fileName: name }));
  });

// An order as the store's platform writes it. `payment`: paid, pending or cancelled; `topic` overrides the topic that follows from it.
export function order(store, { number, username, email, skus, at, payment = 'paid', note, test }) {
  const numbered = (sku) => Object.keys(PRODUCTS).indexOf(sku) + 1;
  const time = new Date(at).toISOString();
  if (store.provider === 'generic') {
    return {
      orderId: `TC-${number}`,
      orderNumber: `TC-${number}`,
      customerEmail: email,
      targetUsername: username,
      items: skus.map((sku) => ({ sku, title: PRODUCTS[sku][0], quantity: 1 })),
    };
  }
  const lines = skus.map((sku, i) => ({
    id: number * 1000 + i + 1,
    sku,
    quantity: 1,
    product_id: 7_310_000 + numbered(sku),
  }));
  if (store.provider === 'provider_b') {
    return {
      id: number,
      number: String(number),
      status: { paid: 'processing', pending: 'on-hold', cancelled: 'cancelled' }[payment],
      billing: { email },
      customer_note: note ?? '',
      date_modified_gmt: time.slice(0, 19),
      meta_data: username ? [{ key: 'vendor_username', value: username }] : [],
      line_items: lines.map((line, i) => ({ ...line, variation_id: 0, name: PRODUCTS[skus[i]][0] })),
    };
  }
  return {
    id: 5_400_000_000 + number,
    name: `#${number}`,
    order_number: number,
    email,
    note,
    test: test ?? false,
    updated_at: time,
    financial_status: payment === 'pending' ? 'pending' : 'paid',
    cancelled_at: payment === 'cancelled' ? time : null,
    note_attributes: username ? [{ name: 'vendor_username', value: username }] : [],
    line_items: lines.map((line, i) => ({
      ...line,
      variant_id: 41_200_000 + numbered(skus[i]),
      title: PRODUCTS[skus[i]][0],
    })),
  };
}

// The shop's signed request: {path, body, headers}.
export function sent(store, payload, topic) {
  const body = typeof payload === 'string' ? payload : JSON.stringify(payload);
  const headers = { 'content-type': 'application/json', ...signatureHeaders(store.provider, store.secret, body) };
  if (topic && store.provider === 'provider_a') headers['x-hosted-topic'] = topic;
  return { path: `/api/webhooks/${store.provider}/${store.id}`, body, headers };
}

const firsts = [
  'lena',
  'mira',
  'noor',
  'kaz',
  'tina',
  'pete',
  'ruth',
  'otto',
  'jo',
  'ole',
  'sue',
  'dave',
  'marcus',
  'ines',
  'yuki',
  'tom',
  'ada',
  'bjorn',
  'carla',
  'emil',
];
const seconds = [
  'hartvig',
  'sol',
  '64',
  'strand',
  'trem',
  'strings',
  'veld',
  'trails',
  'k',
  'note',
  'twang',
  'p90',
  'reverb',
  'octave',
  'jcm',
  'offset',
  'blues',
  'fuzz',
  'tape',
  'chorus',
];
// Different buyers, in an order that seems random.
export const BUYERS = firsts
  .flatMap((first, i) =>
    seconds.map((second, j) => ({
      place: (i * 37 + j * 91 + i * j * 13) % 997,
      username: `${first}${/^\d/.test(second) ? '' : (i + j) % 3 ? '_' : '.'}${second}`,
    })),
  )
  .sort((a, b) => a.place - b.place || a.username.localeCompare(b.username))
  .map(({ username }) => ({ username, email: `${username.replace(/[^a-z0-9]/g, '')}@posteo.example` }));

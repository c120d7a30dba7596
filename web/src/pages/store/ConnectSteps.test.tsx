// The screen and the guide of a shop name the same webhooks.
import { readFileSync } from 'node:fs';
import { cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { show } from '@/testing/render';
import { serve } from '@/testing/service';
import { t } from '@/i18n/text';
import type { Store } from '@/vocabulary/store';
import { ConnectSteps } from './ConnectSteps';
import './kinds/OwnOrder'; // loaded before they are shown
import './kinds/ShopSecret';
import { kindFor } from './kinds/kinds';
import { UsernameField } from './UsernameField';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

// The first column of the table in the guide's second part.
function guided(shop: string): string[] {
  const guide = readFileSync(`../docs/guides/${shop}.md`, 'utf8');
  const part = guide.split(/^## /m).find((text) => text.startsWith('2.')) ?? '';
  return [...part.matchAll(/^\| ([^|]+) \|/gm)].slice(1).map(([, event = '']) => event);
}

const aStore = (provider: Store['provider'], more: Partial<Store> = {}) =>
  ({
    id: 'int_0a1b2c3d4e5f6',
    provider,
    webhookUrl: 'https://bridge.example/api/webhooks/x',
    secretPreview: 'whsec_…abcd',
    secretSetBy: 'service',
    lastOrderAt: null,
    topicsSeen: [],
    settings: { requireApiKey: false },
    intake: { accepted24h: 0, lastAcceptedAt: null, refused: [] },
    ...more,
  }) as Store;

test.each([
  ['shopify', 'provider_a'],
  ['woocommerce', 'provider_b'],
] as const)('the webhooks of %s', async (shop, provider) => {
  const events = guided(shop);
  expect(events.length).toBeGreaterThan(1);
  const { webhooks } = kindFor(aStore(provider));
  expect(webhooks).not.toBeNull();
  const names = webhooks ? [webhooks.first, ...webhooks.others.map(([name]) => name)] : [];
  expect(names.map((name) => t(name))).toEqual(events);
  expect(kindFor(aStore(provider)).topics.map(([, name]) => t(name))).toEqual(events);
  await show(<ConnectSteps it={aStore(provider)} secret={null} />);
  for (const event of events) expect(screen.getByText(event, { selector: 'strong' })).toBeTruthy();
});

test('the secret is at hand in each step of WooCommerce that needs it, and a lost one can be replaced', async () => {
  const secret = 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
  await show(<ConnectSteps it={aStore('provider_b')} secret={secret} onSecret={() => undefined} />);
  await screen.findByRole('button', { name: 'Done' });
  expect(screen.getAllByText(secret)).toHaveLength(2);
  screen.getByText(/^Paste this into/);
  const others = screen.getByText(/with the same delivery URL and the same/).closest('li');
  expect(others?.textContent).toContain(secret);
  cleanup();
  await show(<ConnectSteps it={aStore('provider_b')} secret={null} onSecret={() => undefined} />);
  await screen.findByText(/^Paste the store’s secret into/);
  screen.getByText(/If you have not stored it, rotate it, and enter the new one in each webhook that you have made/);
  await screen.findByRole('button', { name: 'Rotate…' });
  expect(screen.queryByText(/^Paste this into/)).toBeNull();
});

test('a secret is said to be shown once, and afterwards a new one can be made', async () => {
  const secret = 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
  await show(<ConnectSteps it={aStore('generic')} secret={secret} onSecret={() => undefined} />);
  await screen.findByText(secret);
  expect(document.body.textContent).toContain('This is the only time it is shown.');
  expect(screen.queryByText('Rotate…')).toBeNull();
  cleanup();

  // It goes once the person says that it is stored.
  const gone = vi.fn();
  await show(<ConnectSteps it={aStore('provider_b')} secret={secret} onSecret={gone} />);
  const done = await screen.findByRole<HTMLButtonElement>('button', { name: 'Done' });
  expect(done.disabled).toBe(true);
  const hands = userEvent.setup();
  await hands.click(screen.getByLabelText('I have stored it in a safe place'));
  await hands.click(done);
  expect(gone).toHaveBeenCalledExactlyOnceWith(null);
  cleanup();

  const sent: unknown[] = [];
  vi.stubGlobal('fetch', async (request: Request | string) => {
    if (typeof request === 'string') {
      const tokens = { idToken: 't', idTokenExpiresAt: '2999-01-01T00:00:00.000Z', user: { id: 'usr_1', email: 'x' } };
      return Response.json({ ...tokens, accountId: 'acc_1' });
    }
    sent.push([new URL(request.url).pathname, await request.json()]);
    return Response.json({ secret });
  });
  const onSecret = vi.fn();
  await show(<ConnectSteps it={aStore('generic')} secret={null} onSecret={onSecret} />);
  expect(document.body.textContent).toContain('Current secret: whsec_…abcd');
  const user = userEvent.setup();
  await user.click(await screen.findByRole('button', { name: 'Rotate…' }));
  await user.click(await screen.findByRole('button', { name: 'Rotate' }));
  await vi.waitFor(() => expect(onSecret).toHaveBeenCalledWith(secret));
  expect(sent).toEqual([['/api/integrations/int_0a1b2c3d4e5f6/rotate-secret', { overlapSeconds: 0 }]]);
  cleanup();

  await show(<ConnectSteps it={aStore('generic')} secret={null} />); // where it is rotated beside
  expect(screen.queryByText('Rotate…')).toBeNull();
});

test.each(['provider_a', 'provider_b', 'generic'] as const)(
  'a step that needs a secret that is not shown leads to the place where one is made or entered: %s',
  async (provider) => {
    await show(<ConnectSteps it={aStore(provider)} secret={null} beside />);
    const link = await screen.findByRole('link', { name: /“Signing secret”/ });
    expect(link.getAttribute('href')).toBe('/integrations/stores/int_0a1b2c3d4e5f6/connection?do=secret');
  },
);

test('a secret of the shop is said to be stored, where it was entered or has proved right', async () => {
  const stored = () => screen.queryByText(/^Saved, ends in/)?.textContent;
  const shopify = (more: Partial<Store> = {}) => aStore('provider_a', { secretPreview: '…ours', ...more });
  const entered = shopify({ secretPreview: '…3b89', secretSetBy: 'merchant' });
  serve(() => Response.json({ ...entered, secret: 'x' }));
  await show(<ConnectSteps it={shopify()} secret={null} />);
  const user = userEvent.setup();
  const field = await screen.findByLabelText('Secret of the shop');
  expect(stored()).toBeUndefined();
  await user.type(field, '0123456789abcdef3b89');
  await user.click(screen.getByRole('button', { name: 'Save' }));
  await vi.waitFor(() => expect(stored()).toBe('Saved, ends in …3b89'));
  expect((field as HTMLInputElement).value).toBe('');
  cleanup();

  // The page was loaded anew, and no order came yet.
  await show(<ConnectSteps it={entered} secret={null} />);
  await screen.findByLabelText('Secret of the shop');
  expect(stored()).toBe('Saved, ends in …3b89');
  cleanup();

  const seen = { secretPreview: '…3b89', topicsSeen: ['orders/paid'] };
  await show(<ConnectSteps it={shopify(seen)} secret={null} />);
  await screen.findByLabelText('Secret of the shop');
  expect(stored()).toBe('Saved, ends in …3b89');
  cleanup();

  const refused = [{ code: 'INVALID_SIGNATURE', count: 1, lastAt: '2026-11-22T08:15:30.000Z', mendedUntil: null }];
  await show(
    <ConnectSteps it={shopify({ ...seen, intake: { accepted24h: 1, lastAcceptedAt: null, refused } })} secret={null} />,
  );
  await screen.findByLabelText('Secret of the shop');
  expect(stored()).toBeUndefined();
});

test('a secret of a shop that is too short is said to be, once its field was left or sent', async () => {
  const sent: unknown[] = [];
  serve((request) => {
    sent.push(request.url);
    return Response.json({ ...aStore('provider_a'), secret: 'x' });
  });
  await show(<ConnectSteps it={aStore('provider_a')} secret={null} />);
  const user = userEvent.setup();
  const field = await screen.findByLabelText<HTMLInputElement>('Secret of the shop');
  const save = screen.getByRole<HTMLButtonElement>('button', { name: 'Save' });
  const reason = () => screen.queryByText('The secret of a shop has at least 16 characters. Copy the whole of it.');
  expect(save.disabled).toBe(true); // nothing is entered
  await user.type(field, 'half-copied');
  expect(reason()).toBeNull();
  await user.tab();
  expect(reason()).not.toBeNull();
  expect(field.getAttribute('aria-describedby')).toBe(reason()?.id);
  await user.clear(field);
  await user.type(field, 'half-copied{Enter}');
  expect(reason()).not.toBeNull();
  await user.click(save);
  expect(sent).toEqual([]);
  await user.type(field, ', and the rest');
  expect(reason()).toBeNull();
  await user.click(save);
  await vi.waitFor(() => expect(sent).toHaveLength(1));
});

test('the last characters of a secret stay on one line', async () => {
  await show(<ConnectSteps it={aStore('generic', { secretPreview: '…9wND' })} secret={null} />);
  expect((await screen.findByText('…9wND')).className).toContain('whole');
});

test.each([
  ['provider_a', 'properties[Cloud username]', 'choose Send test notification beside “Order payment” alone.'],
  ['provider_b', 'presets/vendor_username', 'The other webhooks need no test.'],
  ['generic', '"targetUsername": "jane"', null],
] as const)('the field for the username is a step before the first order: %s', async (provider, code, last) => {
  const it = aStore(provider);
  const text = (of: Element | undefined) => of?.textContent ?? '';
  await show(<ConnectSteps it={it} secret={null} />);
  await screen.findByText('Ask buyers for their username');
  const steps = [...document.querySelectorAll('ol > li')];
  const at = steps.findIndex((step) => text(step).includes('Ask buyers for their username'));
  expect(text(steps[at])).toContain(code);
  expect(at).toBe(steps.length - (last ? 2 : 1));
  if (last) expect(text(steps.at(-1))).toContain(last);
  const guided = screen.getByLabelText('The field').textContent;
  cleanup();

  // The store's own page shows the field beside the steps, in the same words.
  await show(
    <>
      <ConnectSteps it={it} secret={null} username={false} />
      <UsernameField it={it} />
    </>,
  );
  expect((await screen.findAllByLabelText('The field')).map((one) => one.textContent)).toEqual([guided]);
  screen.getByText('Without it the bridge does not know whom to deliver to.');
});

test('a website that has to send a token is told the header, before the body', async () => {
  const steps = () => screen.getAllByRole('listitem').map(({ textContent }) => textContent);
  await show(<ConnectSteps it={aStore('generic')} secret={null} username={false} />);
  expect((await screen.findAllByRole('listitem')).length).toBe(4);
  expect(steps().join()).not.toContain('X-API-Key');
  cleanup();
  const settings = { requireApiKey: true } as Store['settings'];
  await show(<ConnectSteps it={aStore('generic', { settings })} secret={null} username={false} />);
  await screen.findByText('X-API-Key: pdb_live_…');
  expect(steps()[2]).toContain('Send an API token with each order, in the header X-API-Key: pdb_live_…');
  expect(screen.getByRole('link', { name: 'API Tokens' }).getAttribute('href')).toBe('/keys');
  expect(steps()).toHaveLength(5);
});

test('a website is told each field that is read, what is refused, and what it cannot send', async () => {
  await show(<ConnectSteps it={aStore('generic')} secret={null} username={false} />);
  const body = await screen.findByLabelText('The body, at least:');
  expect(body.textContent?.split('\n').length).toBeGreaterThan(3);
  expect(JSON.parse(body.textContent ?? '')).toEqual({
    orderId: 'A-1001',
    targetUsername: 'jane',
    items: [{ sku: 'TONE-1' }],
  });
  expect((await screen.findAllByRole('term')).map(({ textContent }) => textContent)).toEqual([
    'orderId',
    'targetUsername',
    'items',
    'sku, productId, title',
    'quantity',
    'customerEmail',
  ]);
  const last = screen.getAllByRole('listitem').at(-1)?.textContent;
  expect(last).toContain('400 means that it is refused and not stored');
  // One truth about the username: here, or in one of the extra fields.
  const says = screen.getAllByRole('definition')[1]?.textContent;
  expect(says).toBe(
    'The buyer’s username on the cloud platform. Required, here or in one of the extra username fields of the store’s settings.',
  );
  expect(last).toContain('for example without a username: the answer names each faulty field');
  expect(last).not.toContain('targetUsername');
  expect(last).toContain('Refunds, cancellations and test marks cannot be sent');
});

test('where the secret is entered beside the steps, they have no field for it', async () => {
  await show(<ConnectSteps it={aStore('provider_a')} secret={null} beside />);
  const link = await screen.findByRole('link', { name: '“Signing secret”' });
  expect(link.parentElement?.textContent).toMatch(/Enter it under “Signing secret” on this page\.$/);
  expect(screen.queryByLabelText('Secret of the shop')).toBeNull();
});

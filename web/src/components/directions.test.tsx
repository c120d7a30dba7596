// Order numbers, titles and names that steer the direction of text: they turn nothing that stands around them.
import { act, cleanup, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { steering } from '@/i18n/outside';
import '@/i18n/en/delivery';
import '@/i18n/en/orders';
import '@/i18n/en/questions';
import { t, T } from '@/i18n/text';
import { DeliveryRows } from '@/pages/deliveries/DeliveryRows';
import { OrderRows } from '@/pages/orders/OrderRows';
import { aDelivery } from '@/testing/delivery';
import { show } from '@/testing/render';
import { ApiError, sentence } from '@/api/errors';
import { pageOf } from '@/buyer/view';
import { titleOf } from '@/buyer/texts';
import { Bdi } from './Bdi';
import { Buyer } from './Buyer';
import { ConfirmDialog } from './Dialogs';
import { PageHeader } from './PageHeader';
import { Tabs } from './Tabs';
import { clearToasts, toast, Toasts } from './toasts';

afterEach(() => {
  cleanup();
  act(clearToasts);
});

// Ends the isolate that it stands in, and then turns the rest of the line.
const TURNS = '\u2069\u202e';
const HOSTILE = `#${TURNS}4214`;
const SHOWN = '#U+2069U+202E4214';
const IN_SENTENCE = '#[U+2069][U+202E]4214';

// All texts that are on the screen, and those that are read aloud.
function texts(): string[] {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found: string[] = [document.title];
  while (walker.nextNode()) found.push(walker.currentNode.textContent ?? '');
  for (const one of document.querySelectorAll('[aria-label]')) found.push(one.getAttribute('aria-label') ?? '');
  return found;
}
const turning = () => texts().filter((text) => steering(text).length > 0);

test('an isolate of an element shows what would end it, and keeps isolates that are whole', async () => {
  await show(
    <p>
      <Bdi className="strong">{HOSTILE}</Bdi> <Bdi>{'a \u2067b\u2069'}</Bdi> <Buyer username={`x${TURNS}`} />
    </p>,
  );
  expect(document.querySelector('bdi.strong')?.textContent).toBe(SHOWN);
  expect(document.body.textContent).toContain(`${SHOWN} a \u2067b\u2069 @xU+2069U+202E`);
  expect(turning()).toEqual([]);
});

test('rows of deliveries and orders', async () => {
  const it = aDelivery({
    orderNumber: HOSTILE,
    integrationName: HOSTILE,
    firstItemName: HOSTILE,
    targetUsername: HOSTILE,
  });
  const order = { ...it, receivedAt: it.createdAt, outcome: 'delivered', lineCount: 1, unmappedCount: 0 };
  const stores = [{ id: it.integrationId, name: HOSTILE }];
  await show(
    <>
      <DeliveryRows rows={[it]} list="" />
      <OrderRows rows={[order as never]} stores={stores} list="" busy={false} />
    </>,
  );
  await vi.waitFor(() => expect(document.body.textContent?.split(SHOWN).length).toBeGreaterThan(6));
  expect(turning()).toEqual([]);
});

test('headings, the title of the tab, tabs, dialogs, toasts, sentences and errors', async () => {
  await show(
    <>
      <PageHeader title={HOSTILE} crumbs={[{ label: 'Orders', to: '/orders' }, { label: HOSTILE }]} />
      <Tabs label="Views" tabs={[{ label: HOSTILE, active: true, link: { to: '/', search: {} } }]} />
      <p>
        <T k="orderPage.title" values={{ order: HOSTILE }} />
      </p>
      <p>{sentence(new ApiError(409, 'CONFLICT', `${HOSTILE} is there.`))}</p>
      <ConfirmDialog
        opened
        onClose={() => undefined}
        title={t('confirm.reopen.title', { order: HOSTILE })}
        body=""
        button="Reopen"
        onConfirm={async () => undefined}
      />
      <Toasts />
    </>,
  );
  act(() => void toast(t('orderPage.title', { order: HOSTILE })));
  await screen.findByRole('dialog', { name: `Put order ${IN_SENTENCE} back in review?` });
  expect(document.querySelector('h1')?.textContent).toBe(SHOWN);
  expect(document.title).toContain(IN_SENTENCE);
  expect(document.querySelector('[role="status"]')?.textContent).toBe(`Order ${IN_SENTENCE}`);
  expect(turning()).toEqual([]);
});

test('the buyer’s page', () => {
  const it = {
    state: 'delayed',
    merchantName: HOSTILE,
    orderNumber: HOSTILE,
    username: HOSTILE,
    senderUsername: HOSTILE,
    items: [{ name: HOSTILE, kind: 'preset', status: 'delivered' }],
    cloud: { name: HOSTILE, friendRequestsUrl: null, appUrl: null },
    supportUrl: null,
    supportEmail: null,
    canActAt: null,
  } as never as Parameters<typeof titleOf>[0];
  const local = { draft: null, changing: false, confirming: null, busy: false, problem: null, offline: false };
  document.title = titleOf(it);
  expect(document.title).toBe(`Order ${IN_SENTENCE} · ${IN_SENTENCE}`);
  for (const state of ['delayed', 'declined', 'accept_request', 'on_its_way', 'username_not_found'] as const) {
    document.body.replaceChildren(pageOf({ ...it, state }, local, {} as never, new Date()));
    expect(document.body.textContent).toContain(IN_SENTENCE);
    expect(turning()).toEqual([]);
  }
});

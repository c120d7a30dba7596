import { act, cleanup, screen, within } from '@testing-library/react';
import { QueryClient } from '@tanstack/react-query';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import type { Schemas } from '@/api/client';
import { queries } from '@/api/queries';
import { hoursMinutes } from '@/i18n/format';
import { clearToasts, Toasts } from '@/components/toasts';
import { t } from '@/i18n/text';
import { show } from '@/testing/render';
import { serve } from '@/testing/service';
import type { Subscription } from '@/vocabulary/webhook';
import { Events } from './Events';
import { EventView } from './EventView';
import { WebhookPage } from './Webhook';

const ID = 'sub_0a1b2c3d4e5f6';
vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<typeof import('@tanstack/react-router')>()),
  getRouteApi: () => ({ useParams: () => ({ id: 'sub_0a1b2c3d4e5f6' }), useSearch: () => ({}) }),
}));
afterEach(cleanup);

const aSubscription = (active: boolean) =>
  ({
    id: ID,
    name: 'Website',
    url: 'https://shop.example',
    active,
    health: active ? 'healthy' : 'deactivated',
    eventTypes: [],
    integrationIds: [],
    recent: [],
    waitingCount: 0,
    waitingCountIsExact: true,
  }) as unknown as Subscription;
const anEvent = (id: string) =>
  ({
    id,
    type: 'delivery.queued',
    status: 'succeeded',
    attemptCount: 1,
    lastOutcome: 'succeeded',
    lastStatusCode: 200,
    lastAttemptAt: null,
    createdAt: '2026-11-22T08:15:30.000Z',
    orderNumber: id,
    orderId: id,
    deliveryId: null,
  }) as unknown as Schemas['WebhookEvent'];

test('the event that is read stays when newer ones come', async () => {
  const { client } = await show(<Events it={aSubscription(true)} />);
  const come = (...ids: string[]) =>
    act(() =>
      client.setQueryData(queries.events(ID, { limit: 30 }).queryKey, { data: ids.map(anEvent), nextCursor: null }),
    );
  const chosen = () =>
    screen.getAllByRole('link').map((link) => [link.textContent?.includes('#1'), link.getAttribute('aria-current')]);
  come('#1');
  await vi.waitFor(() => expect(chosen()).toEqual([[true, 'true']]));
  come('#2', '#1');
  await vi.waitFor(() =>
    expect(chosen()).toEqual([
      [false, null],
      [true, 'true'],
    ]),
  );
});

test('a test waits for its answer, and says how it was answered', async () => {
  const attempt = (outcome: string) => ({ id: outcome, at: '2026-11-22T08:15:31.000Z', durationMs: 40, outcome, statusCode: 200, contentType: null, answer: '' }); // prettier-ignore
  const event = { ...anEvent('evt_1'), type: 'webhook.test', attempts: [] as unknown[], nextAttemptAt: null, body: '{}', headers: {} }; // prettier-ignore
  const { client } = await show(<EventView subscription={aSubscription(true)} id="evt_1" />);
  const come = (...attempts: unknown[]) =>
    act(() => client.setQueryData(queries.event(ID, 'evt_1').queryKey, { ...event, attempts } as never));
  come();
  await screen.findByText('Waiting for your receiver to answer the test');
  come(attempt('http_error'));
  await screen.findByText('Your receiver did not accept the test.');
  come(attempt('http_error'), attempt('succeeded'));
  await screen.findByText('Your receiver accepted the test.');
});

test('an answer that has come is in the head and the list too', async () => {
  const { client } = await show(<EventView subscription={aSubscription(true)} id="evt_1" />);
  const keys = [queries.subscription(ID), queries.subscriptions(), queries.events(ID, { limit: 30 })].map(({ queryKey }) => queryKey); // prettier-ignore
  const fresh = () => keys.map((queryKey) => !client.getQueryState(queryKey)?.isInvalidated);
  const attempt = { id: '1', at: '2026-11-22T08:15:31.000Z', durationMs: 40, outcome: 'succeeded', statusCode: 204, contentType: null, answer: '' }; // prettier-ignore
  const event = { ...anEvent('evt_1'), type: 'webhook.test', nextAttemptAt: null, body: '{}', headers: {} };
  act(() => {
    for (const key of keys) client.setQueryData(key, {} as never);
    client.setQueryData(queries.event(ID, 'evt_1').queryKey, { ...event, attempts: [] } as never);
  });
  await screen.findByText('Waiting for your receiver to answer the test');
  expect(fresh()).toEqual([true, true, true]);
  act(() => void client.setQueryData(queries.event(ID, 'evt_1').queryKey, { ...event, attempts: [attempt] } as never));
  await screen.findByText('Your receiver accepted the test.');
  expect(fresh()).toEqual([false, false, false]);
  expect(client.getQueryState(queries.event(ID, 'evt_1').queryKey)?.isInvalidated).toBe(false);
});

test('a test that was answered before it was shown is in the head', async () => {
  const unused = { ...aSubscription(true), health: 'unused' as const };
  const { client } = await show(<EventView subscription={unused} id="evt_1" />);
  const attempt = { id: '1', at: '2026-11-22T08:15:31.000Z', durationMs: 40, outcome: 'succeeded', statusCode: 204, contentType: null, answer: '' }; // prettier-ignore
  act(() => {
    client.setQueryData(queries.subscription(ID).queryKey, unused);
    client.setQueryData(queries.event(ID, 'evt_1').queryKey, { ...anEvent('evt_1'), type: 'webhook.test', nextAttemptAt: null, body: '{}', headers: {}, attempts: [attempt] } as never); // prettier-ignore
  });
  await screen.findByText('Your receiver accepted the test.');
  expect(client.getQueryState(queries.subscription(ID).queryKey)?.isInvalidated).toBe(true);
});

test('what is lost with a webhook is said before it is deleted', async () => {
  const user = userEvent.setup();
  const { client } = await show(<WebhookPage />);
  const waits = (waitingCount: number, waitingCountIsExact: boolean) =>
    act(() =>
      client.setQueryData(queries.subscription(ID).queryKey, {
        ...aSubscription(true),
        waitingCount,
        waitingCountIsExact,
      }),
    );
  waits(3, true);
  await user.click(await screen.findByRole('button', { name: 'More' }));
  await user.click(await screen.findByRole('menuitem', { name: 'Delete…' }));
  await screen.findByText(/ 3 events that it has not accepted yet are lost\.$/);
  waits(1000, false);
  await screen.findByText(/ More than 1,000 events that it has not accepted yet are lost\.$/);
});

test('nothing is sent again to a webhook that is off', async () => {
  const shown = { ...anEvent('evt_1'), attempts: [], nextAttemptAt: null, body: '{}', headers: {} };
  const user = userEvent.setup();
  for (const active of [true, false]) {
    const { client } = await show(
      <>
        <WebhookPage />
        <EventView subscription={aSubscription(active)} id="evt_1" />
      </>,
    );
    client.setQueryData(queries.event(ID, 'evt_1').queryKey, shown as never);
    client.setQueryData(queries.subscription(ID).queryKey, aSubscription(active));
    expect((await screen.findByRole<HTMLButtonElement>('button', { name: 'Resend' })).disabled).toBe(!active);
    await user.click(await screen.findByRole('button', { name: 'More' }));
    await screen.findByRole('menuitem', { name: 'Delete…' });
    expect(screen.queryAllByRole('menuitem', { name: 'Send failed events again…' })).toHaveLength(active ? 1 : 0);
    cleanup();
  }
});

test('the secret from before a rotation counts down to its end, and is then no longer spoken of', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] });
  try {
    const { client } = await show(<WebhookPage />);
    const previousSecretExpiresAt = new Date(Date.now() + 62_000).toISOString();
    act(() => void client.setQueryData(queries.subscription(ID).queryKey, { ...aSubscription(true), previousSecretExpiresAt })); // prettier-ignore
    await screen.findByText(/^The former secret signs too until .*, 1 min 2 s left$/);
    act(() => void vi.advanceTimersByTime(3_000));
    screen.getByText(/, 59 s left$/);
    act(() => void vi.advanceTimersByTime(60_000));
    expect(screen.queryByText(/former secret/)).toBeNull();
  } finally {
    vi.useRealTimers();
  }
});

test('how many events would be sent again is counted before they are', async () => {
  const user = userEvent.setup();
  const { client } = await show(<WebhookPage />);
  act(() => {
    client.setQueryData(queries.subscription(ID).queryKey, aSubscription(true));
    client.setQueryData(queries.recovery(ID, 1).queryKey, { total: 212, totalIsExact: true });
    client.setQueryData(queries.recovery(ID, 7).queryKey, { total: 10_000, totalIsExact: false });
  });
  await user.click(await screen.findByRole('button', { name: 'More' }));
  await user.click(await screen.findByRole('menuitem', { name: 'Send failed events again…' }));
  await screen.findByText('212 events failed since then.');
  await user.selectOptions(screen.getByLabelText('Since'), '7 days ago');
  await screen.findByText('More than 10,000 events failed since then.');
});

test('the count asks the service for a plan alone', async () => {
  const bodies: unknown[] = [];
  serve(async (request) => {
    bodies.push(await request.json());
    return Response.json({ total: 0, totalIsExact: true });
  });
  await new QueryClient().fetchQuery(queries.recovery(ID, 3));
  expect(bodies).toEqual([expect.objectContaining({ dryRun: true })]);
  vi.unstubAllGlobals();
});

test('where no event failed, there is nothing to send again', async () => {
  const user = userEvent.setup();
  const { client } = await show(<WebhookPage />);
  act(() => {
    client.setQueryData(queries.subscription(ID).queryKey, aSubscription(true));
    client.setQueryData(queries.recovery(ID, 1).queryKey, { total: 0, totalIsExact: true });
  });
  await user.click(await screen.findByRole('button', { name: 'More' }));
  await user.click(await screen.findByRole('menuitem', { name: 'Send failed events again…' }));
  await screen.findByText('0 events failed since then.');
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Send again' }).disabled).toBe(true);
});

test('a failed receiver to which nothing was sent since it was turned on again says so, with the ways on', async () => {
  const user = userEvent.setup();
  const { client } = await show(<WebhookPage />);
  const is = (failingSince: string | null) =>
    act(() => {
      const failing = { health: 'failing', failingSince, failuresInARow: 40, lastStatusCode: 404, waitingCount: 2 };
      client.setQueryData(queries.subscription(ID).queryKey, { ...aSubscription(true), ...failing } as never);
    });
  is(null);
  await screen.findByRole('heading', { name: 'Nothing was sent since you turned it on again or changed its address' });
  screen.getByText('Not tried again yet');
  expect(screen.queryByText(/Your receiver answers|attempts failed$/)).toBeNull();
  screen.getByText(/^The last 40 attempts before that failed\. 2 events are waiting and/);
  expect(screen.getAllByRole('button', { name: 'Send test' })).toHaveLength(1);
  await user.click(screen.getByRole('button', { name: 'Send failed events again…' }));
  await screen.findByRole('dialog', { name: 'Send failed events again?' });
  await user.click(screen.getByRole('button', { name: 'Cancel' }));
  is(new Date(Date.now() - 60_000).toISOString());
  await screen.findByText('Failing for less than an hour');
  screen.getByText('The last 40 attempts failed');
  const panel = screen.getByRole('region', { name: /^Your receiver answers “404 Not Found” since .+/ });
  expect(within(panel).getByRole('button', { name: 'Send test' }).dataset.variant).toBe('filled');
  within(panel).getByRole('button', { name: 'Send failed events again…' });
  expect(screen.getAllByRole('button', { name: 'Send test' })).toHaveLength(1);
});

test('an event leads to its delivery, and to its order where it has none', async () => {
  const { client } = await show(<EventView subscription={aSubscription(true)} id="evt_1" />);
  const is = (deliveryId: string | null) =>
    act(() => void client.setQueryData(queries.event(ID, 'evt_1').queryKey, { ...anEvent('#1001'), deliveryId, attempts: [], nextAttemptAt: null, body: '{}', headers: {} } as never)); // prettier-ignore
  is(null);
  const link = await screen.findByRole('link', { name: 'order #1001' });
  expect(link.getAttribute('href')).toBe('/orders?q=%231001');
  is('del_0a1b2c3d4e5f6');
  await vi.waitFor(() =>
    expect(screen.getByRole('link', { name: 'order #1001' }).getAttribute('href')).toBe(
      '/deliveries/del_0a1b2c3d4e5f6',
    ),
  );
});

test('each event of the list has its own time, in the order of the list', async () => {
  const { client } = await show(<Events it={aSubscription(true)} />);
  const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  const events = [{ ...anEvent('#2'), createdAt: minutesAgo(20) }, { ...anEvent('#1'), createdAt: minutesAgo(30), lastAttemptAt: minutesAgo(1) }]; // prettier-ignore
  act(() => void client.setQueryData(queries.events(ID, { limit: 30 }).queryKey, { data: events, nextCursor: null } as never)); // prettier-ignore
  const [newer, older] = await screen.findAllByRole('link');
  expect([newer?.textContent, older?.textContent]).toEqual(events.map(({ createdAt }) => expect.stringContaining(hoursMinutes(createdAt)))); // prettier-ignore
});

test('the events that happen while a webhook is off are said to be lost, before it is turned off and while it is', async () => {
  const user = userEvent.setup();
  const { client } = await show(<WebhookPage />);
  const is = (more: Partial<Subscription>) =>
    act(() => void client.setQueryData(queries.subscription(ID).queryKey, { ...aSubscription(false), ...more }));
  is({ active: true, health: 'healthy' });
  await user.click(await screen.findByRole('button', { name: 'More' }));
  await user.click(await screen.findByRole('menuitem', { name: 'Turn off…' }));
  await screen.findByText(
    /^Events that happen while it is off are never sent to it, also not after you turn it on again\./,
  );
  await user.click(screen.getByRole('button', { name: 'Cancel' }));
  for (const health of ['deactivated', 'off', 'gone'] as const) {
    is({ health });
    await screen.findByRole('heading', { name: t(`banner.${health}`) });
    screen.getByText(/events that happen until .+ are never sent to it\.$/i);
  }
});

test.each([
  [0, 'Turned on. No event that happened meanwhile is sent.'],
  [3, 'Turned on. Events that waited before are sent now, and none that happened meanwhile.'],
])('a webhook for which %i events wait is turned on', async (waitingCount, says) => {
  serve(() => Response.json({ ...aSubscription(true), waitingCount }));
  const { client } = await show(
    <>
      <WebhookPage />
      <Toasts />
    </>,
  );
  act(() => void client.setQueryData(queries.subscription(ID).queryKey, { ...aSubscription(false), waitingCount: 0 }));
  await userEvent.setup().click(await screen.findByRole('button', { name: 'Turn on again' }));
  await screen.findByText(says);
  act(clearToasts);
  vi.unstubAllGlobals();
});

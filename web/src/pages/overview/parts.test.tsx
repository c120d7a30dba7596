import { act, cleanup, fireEvent, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { BY_HAND } from '@/vocabulary/delivery_line';
import type { Schemas } from '@/api/client';
import { queries } from '@/api/queries';
import { aDelivery, failedFor } from '@/testing/delivery';
import { fails, show } from '@/testing/render';
import { DeliveriesChart } from './DeliveriesChart';
import { Figures } from './Figures';
import { Needs } from './Needs';
import { OverviewPage } from './Overview';
import { Recent } from './Recent';

vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<typeof import('@tanstack/react-router')>()),
  getRouteApi: () => ({ useSearch: () => search }),
}));
let search = {};
afterEach(() => {
  cleanup();
  search = {};
  vi.restoreAllMocks();
});

test('the figure of one store leads to the deliveries of that store', async () => {
  const seen = {
    today: { completed: 1, failed: 0, usualCompleted: null, usualFailed: null },
    now: { waiting: 3, oldestWaitingAt: null },
  } as Schemas['Overview'];
  const durations = { data: undefined } as Parameters<typeof Figures>[0]['durations'];
  const address = async () => (await screen.findByRole('link', { name: '3' })).getAttribute('href');
  await show(<Figures seen={seen} store={undefined} durations={durations} />);
  expect(await address()).not.toContain('store=');
  cleanup();
  await show(<Figures seen={seen} store="int_0a1b2c3d4e5f6" durations={durations} />);
  expect(await address()).toContain('store=int_0a1b2c3d4e5f6');
});

test('where all that is left is calm, nothing needs anybody, and no button is the first to press', async () => {
  const off = { kind: 'receiver_off', code: 'deactivated', count: 1, oldestAt: null, integrationId: null };
  const seen = {
    needs: [{ ...off, subscriptionId: 'sub_1', detail: 'Old bot' }],
    credits: { perDay: 1 },
    now: { queued: 0, processing: 0, waiting: 0 },
  } as unknown as Schemas['Overview'];
  await show(<Needs seen={seen} store={undefined} />);
  await screen.findByText('All good. Nothing needs you.');
  screen.getByText('Old bot is turned off');
  expect(screen.getByRole('link', { name: 'See the answers' }).dataset.variant).toBe('default');
});

test('a time without deliveries is not the first day', async () => {
  const it = { data: [], totals: { made: 0, completed: 0, failed: 0, invalidated: 0, open: 0 } };
  const chart = (first: boolean) =>
    show(
      <DeliveriesChart it={it as unknown as Schemas['DeliveryStatistics']} period="7d" first={first} busy={false} />,
    );
  await chart(true);
  await screen.findByText('Your first deliveries show up here.');
  cleanup();
  await chart(false);
  await screen.findByText('No deliveries in this time.');
});

test('an overview whose account cannot be read says so', async () => {
  const { client } = await show(<OverviewPage />);
  act(() => void client.setQueryData(queries.overview().queryKey, { needs: [] } as never));
  fails(client, queries.account().queryKey, new Error('boom'));
  expect((await screen.findByRole('alert')).textContent).toContain('The overview could not be loaded.');
  screen.getByRole('button', { name: 'Try again' });
});

test('the statistics are asked for beside the overview', async () => {
  const { client } = await show(<OverviewPage />);
  const asked = client.getQueryCache().findAll();
  expect(asked.map(({ queryKey }) => queryKey.slice(0, 2))).toEqual(
    expect.arrayContaining([
      ['overview', ''],
      ['stats', 'deliveries'],
      ['stats', 'durations'],
    ]),
  );
});

test('the numbers of the chart are a file too', async () => {
  const saved: Blob[] = [];
  vi.spyOn(URL, 'createObjectURL').mockImplementation((blob) => (saved.push(blob as Blob), 'blob:x'));
  vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(() => undefined);
  const counts = { made: 6, completed: 3, failed: 2, invalidated: 1, open: 0 };
  const it = { data: [{ at: '2026-11-22T00:00:00.000Z', ...counts }], totals: counts };
  await show(
    <DeliveriesChart it={it as unknown as Schemas['DeliveryStatistics']} period="7d" first={false} busy={false} />,
  );
  fireEvent.click(await screen.findByRole('button', { name: 'Download CSV' }));
  expect(await saved[0]?.text()).toBe(
    'Day,Completed,Still open,Failed,Stopped\r\n2026-11-22T00:00:00.000Z,3,0,2,1\r\n',
  );
});

test.each([
  ['All files were shared with the customer.', '2 presets, completed in 3 min for @jonasek_'],
  [BY_HAND, 'Delivered by hand for @jonasek_'],
])(
  'a completed delivery does not say that its files were shared, as the buyer may have had them: %s',
  async (message, says) => {
    const done = aDelivery({ status: 'completed', message, sharedCount: 2, completedAt: '2026-11-22T13:24:05.000Z' });
    await show(<Recent rows={[done]} store={undefined} />);
    expect((await screen.findByRole('link', { name: /jonasek/ })).textContent).toContain(says);
  },
);

test('a completed delivery has the time of its completion, also after a later change', async () => {
  const times = { completedAt: '2026-11-20T10:00:10.000Z', updatedAt: '2026-11-22T10:00:00.000Z' };
  const rows = [aDelivery({ id: 'del_1', status: 'completed', ...times }), aDelivery({ id: 'del_2', ...times })];
  const { container } = await show(<Recent rows={rows} store={undefined} />);
  await screen.findAllByRole('link', { name: /jonasek/ });
  const shown = [...container.querySelectorAll('time')].map(({ dateTime }) => dateTime);
  expect(shown).toEqual([times.updatedAt, times.completedAt]);
});

test('the newest deliveries are in the order of the times that they show', async () => {
  const at = (minute: number) => `2026-11-20T10:0${minute}:00.000Z`;
  const rows = [
    aDelivery({ id: 'del_1', status: 'completed', completedAt: at(1), updatedAt: at(9) }),
    aDelivery({ id: 'del_2', updatedAt: at(3) }),
    aDelivery({ id: 'del_3', updatedAt: at(2) }),
  ];
  const { container } = await show(<Recent rows={rows} store={undefined} />);
  await screen.findAllByRole('link', { name: /jonasek/ });
  expect([...container.querySelectorAll('time')].map(({ dateTime }) => dateTime)).toEqual([at(3), at(2), at(1)]);
});

test('a delivery without a username is for nobody', async () => {
  await show(<Recent rows={[failedFor('username_missing', { targetUsername: null })]} store={undefined} />);
  const link = await screen.findByRole('link', { name: /Username missing/ });
  expect(link.textContent).not.toMatch(/for|No username/);
});

test('stopped deliveries are in the chart as in its table', async () => {
  const counts = { made: 10, completed: 5, failed: 1, invalidated: 1, open: 3 };
  const it = { data: [{ at: '2026-11-22T00:00:00.000Z', ...counts }], totals: counts };
  await show(
    <DeliveriesChart it={it as unknown as Schemas['DeliveryStatistics']} period="7d" first={false} busy={false} />,
  );
  const chart = await screen.findByRole('img', { name: /5 completed, 1 failed, 3 still open, 1 stopped\.$/ });
  expect([...chart.querySelectorAll('rect[data-look]')].map((part) => part.getAttribute('data-look'))).toEqual(['full', 'hatched', 'hollow', 'failed']); // prettier-ignore
  expect(screen.getAllByRole('listitem').map(({ textContent }) => textContent)).toEqual(['Completed 5', 'Still open 3', 'Stopped 1', 'Failed 1']); // prettier-ignore
});

// One delivery on each of 30 days.
const aMonth = () => {
  const counts = { made: 1, completed: 1, failed: 0, invalidated: 0, open: 0 };
  const data = Array.from({ length: 30 }, (_, n) => ({ at: new Date(Date.UTC(2026, 10, n + 1)).toISOString(), ...counts })); // prettier-ignore
  return { data, totals: { ...counts, made: 30, completed: 30 } } as Schemas['DeliveryStatistics'];
};

test('a narrow chart has fewer bars, and the sums of the whole period', async () => {
  const narrow = { matches: true, addEventListener: () => undefined, removeEventListener: () => undefined };
  vi.spyOn(window, 'matchMedia').mockReturnValue(narrow as unknown as MediaQueryList);
  await show(<DeliveriesChart it={aMonth()} period="30d" first={false} busy={false} />);
  const chart = await screen.findByRole('img', { name: /last 30 days\. 30 completed/ });
  expect(chart.querySelectorAll('rect[data-look]')).toHaveLength(14);
  expect(screen.getAllByRole('listitem')[0]?.textContent).toBe('Completed 30');
  screen.getByText(/bars of the last 14 of 30 days$/);
});

test('the table ends with the sums of all its days, which stay in view', async () => {
  search = { table: '1' };
  await show(<DeliveriesChart it={aMonth()} period="30d" first={false} busy={false} />);
  const rows = (await screen.findAllByRole('row')).map(({ textContent }) => textContent);
  expect(rows).toHaveLength(32);
  expect(rows.at(-1)).toBe('All 30 days30000');
});

test.each([
  ['today', {}, true],
  ['30d', { table: '1' }, true],
  ['30d', {}, false],
] as const)('figures of today that the chart does not have are named beside it: %s, %o', async (period, at, is) => {
  search = at;
  const counts = { made: 9, completed: 6, failed: 2, invalidated: 0, open: 1 };
  const it = { data: [{ at: '2026-11-22T00:00:00.000Z', ...counts }], totals: counts } as Schemas['DeliveryStatistics'];
  const chart = (today: { completed: number; failed: number }) =>
    show(<DeliveriesChart it={it} period={period} first={false} busy={false} today={today} />);
  const says = /Of earlier orders, 5 more were completed today, and 1 more failed\./;
  await chart({ completed: 11, failed: 3 });
  await screen.findByRole('button', { name: 'Download CSV' });
  expect(screen.queryAllByText(says)).toHaveLength(is ? 1 : 0);
  cleanup();
  await chart({ completed: 6, failed: 2 });
  await screen.findByRole('button', { name: 'Download CSV' });
  expect(screen.queryByText(/earlier orders/)).toBeNull();
});

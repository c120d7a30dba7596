import { act, cleanup, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import type { Schemas } from '@/api/client';
import { ApiError } from '@/api/errors';
import { queries } from '@/api/queries';
import { Rows } from '@/components/Rows';
import { fails, show } from '@/testing/render';
import { serve } from '@/testing/service';
import { BulkBar } from './BulkBar';
import { BulkDialog } from './BulkDialog';
import { BulkFailures } from './BulkFailures';
import { BulkProgress } from './BulkProgress';
import { causesOf } from './causes';
import { Plan } from './Plan';
import { meantBy, useSelection } from './selection';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});
const nothing = () => undefined;
const HOSTILE = '<img src=x onerror=alert(1)>';
const job: Schemas['BulkJob'] = {
  id: 'blk_0a1b2c3d4e5f6',
  action: 'deliveries.retry',
  total: 5,
  totalIsExact: true,
  eligible: 5,
  excluded: [],
  done: 2,
  failedCount: 3,
  failed: [
    { id: 'del_0a1b2c3d4e5f6', code: 'INVALID_TRANSITION', message: 'It is completed.' },
    { id: 'del_0a1b2c3d4e5f7', code: 'INVALID_TRANSITION', message: HOSTILE },
  ],
  createdAt: '2026-11-21T10:06:23.000Z',
  finishedAt: '2026-11-21T10:06:24.000Z',
  fault: null,
};

test('those that were refused are named, each with why, and how many more there are', async () => {
  await show(<BulkFailures job={job} onClose={() => undefined} />);
  const dialog = await screen.findByRole('dialog', { name: 'What was refused' });
  const [first] = within(dialog).getAllByRole('link');
  expect(first?.getAttribute('href')).toBe('/deliveries/del_0a1b2c3d4e5f6');
  expect(dialog.textContent).toContain('It is completed.');
  expect(dialog.textContent).toContain(HOSTILE);
  expect(dialog.querySelector('img')).toBeNull();
  expect(dialog.textContent).toContain('1 more is not listed.');
});

test('of a job that is not there it is said so, and not that it goes on', async () => {
  const { client } = await show(<BulkProgress id="blk_none" onEnd={() => undefined} />);
  const gone = () => Promise.reject(new ApiError(404, 'NOT_FOUND', 'x'));
  await client.fetchQuery({ ...queries.bulkJob('blk_none'), queryFn: gone }).catch(() => undefined);
  await screen.findByText('There is no such job in this account.');
});

test('who is left out is said by why, also by a code that is newer than this page', async () => {
  const plan = {
    total: 30,
    totalIsExact: false,
    eligible: 10,
    excluded: [
      { code: 'username_missing', count: 18 },
      { code: 'INVALID_TRANSITION', count: 1 },
      { code: 'levitating', count: 2 },
    ],
    credits: 0,
    creditsIsExact: true,
  };
  const { container } = await show(<Plan action="retry" plan={plan} />);
  await screen.findByText('18 that need a username first');
  const left = [...container.querySelectorAll('li')].map(({ textContent }) => textContent);
  expect(left).toEqual(['18 that need a username first', '1 that has not failed', '2: levitating']);
  expect(container.textContent).toContain('They cost no credits.');
  expect(container.textContent).toContain('More match than were counted');
});

test('of an approval it is said what stands against those that are left out', async () => {
  const excluded = ['high_risk', 'payment_withdrawn', 'too_large'].map((code) => ({ code, count: 1 }));
  const plan = { total: 3, totalIsExact: true, eligible: 0, excluded, credits: 0, creditsIsExact: true };
  const { container } = await show(<Plan action="approve" plan={plan} />);
  await screen.findByText('1 whose payment was withdrawn: open it and approve it there');
  expect(container.querySelectorAll('li').length).toBe(3);
  expect(container.textContent).not.toMatch(/high_risk|payment_withdrawn|too_large/);
});

const planned = (more: Partial<Schemas['BulkPlan']>): Schemas['BulkPlan'] => ({
  total: 20,
  totalIsExact: true,
  eligible: 8,
  excluded: [],
  credits: 8,
  creditsIsExact: true,
  ...more,
});
const rows = ['a', 'b', 'c', 'd'].map((id) => ({ id }));
function List({ scope }: { scope: string }) {
  const ids = rows.map(({ id }) => id);
  const { chosen, selection, chooseAll } = useSelection(scope, ids, (id) => id);
  return (
    <>
      <output>{chosen.kind === 'all' ? 'all' : [...chosen.ids].join('')}</output>
      <button onClick={() => chooseAll({})}>All</button>
      <Rows
        label="x"
        columns={[{ key: 'k', header: 'K', cell: ({ id }) => id }]}
        rows={rows}
        idOf={({ id }) => id}
        selection={selection}
      />
    </>
  );
}

test('rows are chosen one by one, by Shift all between, all of the page, and all that match', async () => {
  const user = userEvent.setup();
  await show(<List scope="one" />);
  const box = (name: string) => screen.getByRole('checkbox', { name }) as HTMLInputElement;
  const chosen = () => screen.getByRole('status').textContent;
  await user.click(box('Select a'));
  await user.keyboard('{Shift>}');
  await user.click(box('Select c'));
  await user.keyboard('{/Shift}');
  expect(chosen()).toBe('abc');
  expect(box('Select all rows of this page').indeterminate).toBe(true);
  await user.click(box('Select all rows of this page'));
  expect(chosen()).toBe('abcd');
  await user.click(screen.getByRole('button', { name: 'All' }));
  expect(chosen()).toBe('all');
  expect(box('Select d').checked).toBe(true);
  // To leave one out of all that match is to choose the others of the page.
  await user.click(box('Select b'));
  expect(chosen()).toBe('acd');
});

test('what could not be counted is said, and counted again', async () => {
  const chosen = { kind: 'some', ids: new Set(['del_1']) } as const;
  const bar = (
    <BulkBar chosen={chosen} rows={[]} count={1} exact pageChosen={false} onAll={nothing} onClear={nothing} />
  );
  const { client } = await show(bar);
  const plan = (action: 'retry' | 'approve') => queries.bulkPlan({ action, ...meantBy(chosen) }).queryKey;
  fails(client, plan('retry'), new ApiError(500, 'INTERNAL_ERROR', 'x'));
  await screen.findByText('Retries could not be counted. Something went wrong on our side.');
  fails(client, plan('approve'), new ApiError(500, 'INTERNAL_ERROR', 'x'));
  await screen.findByText(/^Retries and approvals could not be counted/);
  const counted = { total: 1, totalIsExact: true, eligible: 1, excluded: [], credits: 0, creditsIsExact: true };
  serve(() => Response.json(counted));
  await userEvent.setup().click(screen.getByRole('button', { name: 'Try again' }));
  await screen.findByRole('button', { name: 'Retry 1' });
  await vi.waitFor(() => expect(screen.queryByRole('alert')).toBeNull());
});

test('of a retry it is said that it seldom helps, in numbers where all that are chosen are on the page', async () => {
  const user = userEvent.setup();
  const row = (id: string, resolutionCode: 'username_not_found' | 'cloud_rejected') => ({ id, status: 'failed' as const, resolutionCode, reviewReason: null, itemCount: 1 }); // prettier-ignore
  const rows = [row('del_1', 'username_not_found'), row('del_2', 'cloud_rejected'), row('del_3', 'username_not_found')];
  const said = async (chosen: Parameters<typeof BulkBar>[0]['chosen']) => {
    const { client } = await show(
      <BulkBar chosen={chosen} rows={rows} count={9} exact pageChosen={false} onAll={nothing} onClear={nothing} />,
    );
    const counted = { total: 2, totalIsExact: true, eligible: 2, excluded: [], credits: 2, creditsIsExact: true };
    for (const action of ['retry', 'approve'] as const)
      client.setQueryData(queries.bulkPlan({ action, ...meantBy(chosen) }).queryKey, counted as never);
    client.setQueryData(queries.credits().queryKey, { available: 9 } as never);
    await user.click(await screen.findByRole('button', { name: 'Retry 2' }));
    const dialog = await screen.findByRole('dialog', { name: 'Retry 2 deliveries?' });
    await within(dialog).findByText('They cost at most 2 credits; you have 9.');
    const says = within(dialog).queryByText(/seldom/)?.textContent;
    cleanup();
    return says;
  };
  const some = (...ids: string[]) => ({ kind: 'some', ids: new Set(ids) }) as const;
  const every = 'A retry alone seldom helps where the username was not found, a preset is missing or cannot be shared, or the buyer blocks you. It asks buyers who declined again.'; // prettier-ignore
  const asOf = '2026-11-22T10:00:00.000Z';
  expect(await said(some('del_1', 'del_2'))).toBe('A retry alone seldom helps:');
  expect(await said(some('del_2'))).toBeUndefined();
  expect(await said(some('del_1', 'del_9'))).toBe(every); // of another page
  expect(await said({ kind: 'all', query: {}, asOf })).toBe(every);
  expect(await said({ kind: 'all', query: { resolutionCode: 'cloud_rejected' }, asOf })).toBeUndefined();
});

test('a retry names by their cause those whom it seldom helps, and those whom it asks again', async () => {
  const codes = ['username_not_found', 'preset_not_found', 'preset_not_found', 'blocked_by_customer', 'friend_request_declined', 'cloud_rejected'] as const; // prettier-ignore
  const rows = codes.map((resolutionCode, n) => ({
    id: `del_${n}`,
    status: 'failed' as const,
    resolutionCode,
    reviewReason: null,
    itemCount: 1,
  }));
  const chosen = { kind: 'some', ids: new Set(rows.map(({ id }) => id)) } as const;
  const causes = causesOf(chosen, rows);
  const { container } = await show(<Plan action="retry" plan={planned({})} causes={causes} />);
  await screen.findByText('It asks 1 buyer who declined again.');
  expect([...container.querySelectorAll('li')].map(({ textContent }) => textContent)).toEqual([
    '1 whose username was not found: correct it first',
    '2 whose presets are missing: pick other files first',
    '1 whose buyer blocks you: ask the buyer first',
  ]);
  cleanup();

  const { client } = await show(
    <BulkBar chosen={chosen} rows={rows} count={9} exact pageChosen={false} onAll={nothing} onClear={nothing} />,
  );
  for (const action of ['retry', 'approve'] as const)
    act(
      () => void client.setQueryData(queries.bulkPlan({ action, ...meantBy(chosen) }).queryKey, planned({}) as never),
    );
  await screen.findByText('a retry alone seldom helps 4');
});

const excluded = (counts: Record<string, number>) => Object.entries(counts).map(([code, count]) => ({ code, count }));

test.each([
  [
    true,
    { high_risk: 2, INVALID_TRANSITION: 10 },
    ['1 needs a fix first', '2 to be approved on their own pages', '1 can be neither retried nor approved'],
  ],
  [true, { high_risk: 3, INVALID_TRANSITION: 9 }, ['1 needs a fix first', '3 to be approved on their own pages']],
  [true, { INVALID_TRANSITION: 12 }, ['1 needs a fix first', '3 can be neither retried nor approved']],
  [false, { INVALID_TRANSITION: 12 }, ['1 needs a fix first']], // more match than were counted
] as const)('what is said of those that are chosen adds up: %s, %j', async (totalIsExact, of, says) => {
  const chosen = { kind: 'some', ids: new Set(Array.from({ length: 20 }, (_, n) => `del_${n}`)) } as const;
  const { client } = await show(
    <BulkBar chosen={chosen} rows={[]} count={20} exact pageChosen={false} onAll={nothing} onClear={nothing} />,
  );
  const plans = {
    retry: planned({ totalIsExact, excluded: excluded({ username_missing: 1, INVALID_TRANSITION: 11 }) }),
    approve: planned({ totalIsExact, excluded: excluded(of) }),
  };
  act(() => {
    for (const action of ['retry', 'approve'] as const)
      client.setQueryData(queries.bulkPlan({ action, ...meantBy(chosen) }).queryKey, plans[action] as never);
  });
  await screen.findByRole('button', { name: 'Retry 8' });
  const words = screen.getByText('20 selected').parentElement;
  await vi.waitFor(() =>
    expect([...(words?.querySelectorAll('span') ?? [])].map((one) => one.textContent)).toEqual(says),
  );
});

test('an approval asks about those that it is for, and sends nobody to deliver failed ones by hand', async () => {
  const meant = { ids: ['del_1'] };
  const { client } = await show(<BulkDialog action="approve" meant={meant} onClose={nothing} />);
  await screen.findByRole('dialog');
  act(() => {
    const plan = planned({ excluded: excluded({ INVALID_TRANSITION: 10, high_risk: 2 }) });
    client.setQueryData(queries.bulkPlan({ action: 'approve', ...meant }).queryKey, plan as never);
    client.setQueryData(queries.cloudLimit().queryKey, { perMinute: 4 } as never);
  });
  const dialog = await screen.findByRole('dialog', { name: 'Approve 8 deliveries?' });
  within(dialog).getByText('10 that are not in review, or too large to be shared');
  within(dialog).getByText('The cloud limit is 4 a minute, so they take about 2 min once it is their turn.');
});

test('those in review that are too large are named as such, where all that are chosen are on the page', async () => {
  const row = (n: number, reviewReason: 'held' | 'too_large') =>
    ({
      id: `del_${n}`,
      status: 'in_review',
      resolutionCode: null,
      reviewReason,
      itemCount: reviewReason === 'held' ? 1 : 0,
    }) as const;
  const rows = [row(1, 'held'), row(2, 'too_large')];
  const chosen = { kind: 'some', ids: new Set(['del_1', 'del_2']) } as const;
  const { client } = await show(
    <BulkBar chosen={chosen} rows={rows} count={2} exact pageChosen={false} onAll={nothing} onClear={nothing} />,
  );
  const plan = (eligible: number) =>
    planned({ total: 2, eligible, excluded: excluded({ INVALID_TRANSITION: 2 - eligible }) });
  act(() => {
    client.setQueryData(queries.bulkPlan({ action: 'retry', ...meantBy(chosen) }).queryKey, plan(0) as never);
    client.setQueryData(queries.bulkPlan({ action: 'approve', ...meantBy(chosen) }).queryKey, plan(1) as never);
  });
  await screen.findByText('1 too large to deliver by itself');
  await userEvent.setup().click(screen.getByRole('button', { name: 'Approve 1' }));
  await screen.findByText('1 that is too large to deliver by itself: open it and mark it there');
});

test('the reason of a stop has the focus once it is asked for', async () => {
  const meant = { ids: ['del_1'] };
  const { client } = await show(<BulkDialog action="invalidate" meant={meant} onClose={nothing} />);
  await screen.findByRole('dialog');
  const key = queries.bulkPlan({ action: 'invalidate', ...meant, reason: 'What this would do' }).queryKey;
  act(() => void client.setQueryData(key, planned({}) as never));
  const field = await screen.findByRole('textbox');
  await vi.waitFor(() => expect(document.activeElement).toBe(field));
});

test('where an action is for none of them, the question counts all', async () => {
  const meant = { ids: ['del_1'] };
  const { client } = await show(<BulkDialog action="approve" meant={meant} onClose={nothing} />);
  await screen.findByRole('dialog');
  const plan = planned({ eligible: 0, excluded: excluded({ INVALID_TRANSITION: 20 }) });
  act(() => client.setQueryData(queries.bulkPlan({ action: 'approve', ...meant }).queryKey, plan as never));
  await screen.findByRole('dialog', { name: 'Approve 20 deliveries?' });
});

import { act, cleanup, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { queries } from '@/api/queries';
import { show } from '@/testing/render';
import { Balance } from './Balance';

afterEach(cleanup);

const balance = { available: 1, held: 0, debt: 0, granted: 1, purchased: 0, spent: 0, reversed: 0, perDay: 0, runsOutAt: null, lowThreshold: 1 }; // prettier-ignore

test.each([
  [[], false],
  [[{ active: false, eventTypes: ['credits.low'], integrationIds: [] }], false],
  [[{ active: true, eventTypes: ['delivery.failed'], integrationIds: [] }], false],
  [[{ active: true, eventTypes: ['delivery.failed', 'credits.low'], integrationIds: [] }], true],
  [[{ active: true, eventTypes: [], integrationIds: [] }], true],
  [[{ active: true, eventTypes: ['credits.low'], integrationIds: ['int_0a1b2c3d4e5f6'] }], false],
])('a warning of few credits names the receiver that hears it, or says that there is none', async (rows, heard) => {
  const { client } = await show(<Balance it={balance as never} />);
  act(() => client.setQueryData(queries.subscriptions().queryKey, { data: rows, nextCursor: null } as never));
  const field = await screen.findByLabelText('Warn me at this many credits');
  const hint = field.closest('form')?.textContent;
  if (heard) expect(hint).toContain('Shown on your overview, and sent as credits.low to your outbound webhooks.');
  else expect(hint).toContain('Shown on your overview alone: no outbound webhook is told when few are left.');
  const links = screen.queryAllByRole('link', { name: 'outbound webhook' }).map((link) => link.getAttribute('href'));
  expect(links).toEqual(heard ? [] : ['/integrations/webhooks']);
});

test.each([
  ['2026-11-01T00:00:00.000Z', 'About 7 a day in the last week: they run out'],
  [new Date().toISOString(), null],
])('an account made at %s', async (createdAt, says) => {
  const runsOutAt = new Date(Date.now() + 13 * 86_400_000).toISOString();
  const it = { ...balance, available: 93, lowThreshold: 95, perDay: 7, runsOutAt };
  const { client } = await show(<Balance it={it as never} />);
  act(() => client.setQueryData(queries.account().queryKey, { createdAt, caller: { role: 'owner' } } as never));
  await screen.findByText('Below your limit of 95.');
  if (says) await screen.findByText(new RegExp(says));
  else expect(screen.queryByText(/a day/)).toBeNull();
});

test.each([
  [196, 4, '200 4 of them are debt'],
  [199, 1, '200 1 of them is debt'],
  [200, 0, '200'],
])('what was taken back counts the debt in, as the ledger does: %s and %s', async (reversed, debt, says) => {
  await show(<Balance it={{ ...balance, available: 0, purchased: 200, spent: 4, reversed, debt } as never} />);
  const taken = await screen.findByText('Taken back after refunds');
  expect([...(taken.nextSibling?.childNodes ?? [])].map(({ textContent }) => textContent).join(' ')).toBe(says);
});

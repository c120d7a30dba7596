import { readFileSync } from 'node:fs';
import { act, cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { queries } from '@/api/queries';
import { session } from '@/session';
import { show } from '@/testing/render';
import { serve } from '@/testing/service';
import { Nav } from './Nav';
import './PersonMenu'; // loaded before it is opened

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

test('the page of stores and webhooks together is the heading above both', async () => {
  await show(<Nav onHelp={() => undefined} onSearch={() => undefined} />);
  const link = await screen.findByRole('link', { name: 'Integrations' });
  expect([link.getAttribute('href'), link.parentElement?.tagName]).toEqual(['/integrations', 'H2']);
});

test('the whole row of the person opens the menu', async () => {
  serve(() => Response.json({ data: [], nextCursor: null }));
  await act(() => session.restore());
  await show(<Nav onHelp={() => undefined} onSearch={() => undefined} />);
  const focus = vi.spyOn(HTMLElement.prototype, 'focus');
  const user = userEvent.setup();
  await user.click(await screen.findByText('x')); // the e-mail
  await screen.findByRole('menuitem', { name: 'Sign out' });
  const row = screen.getByRole('button', { name: 'x' });
  expect([row.textContent, row.getAttribute('aria-expanded')]).toEqual(['Xx', 'true']);
  // The page is not scrolled to a button that was pressed.
  const focused = focus.mock.calls.filter((_, call) => focus.mock.contexts[call] === row);
  expect(focused).toEqual([[{ preventScroll: true }]]);
});

test('a webhook is counted once the overview says that it needs you', async () => {
  const { client } = await show(<Nav onHelp={() => undefined} onSearch={() => undefined} />);
  const link = await screen.findByRole('link', { name: /^Outbound webhooks/ });
  const are = (...data: [health: string, minutes: number | null][]) =>
    act(() => {
      const since = (minutes: number | null) => minutes && new Date(Date.now() - minutes * 60_000).toISOString();
      const rows = data.map(([health, minutes]) => ({ health, failingSince: since(minutes) }));
      client.setQueryData(queries.subscriptions().queryKey, { data: rows, nextCursor: null } as never);
    });
  are(['failing', 61], ['off', 9000], ['gone', null]);
  await vi.waitFor(() => expect(link.textContent).toBe('Outbound webhooks33 are failing'));
  are(['failing', 59], ['failing', null], ['off', 9000], ['healthy', null], ['deactivated', null]);
  await vi.waitFor(() => expect(link.textContent).toBe('Outbound webhooks11 is failing'));
});

test('the magnifier of the search field keeps its size, and the words give way', () => {
  const css = readFileSync(`${import.meta.dirname}/Nav.module.css`, 'utf8');
  expect(css).toMatch(/\.search svg,\s*\.search kbd \{\s*flex: none;/);
  expect(css).toMatch(/\.search span \{[^}]*text-overflow: ellipsis;/);
});

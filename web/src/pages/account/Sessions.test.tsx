import { act, cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { queries } from '@/api/queries';
import { show } from '@/testing/render';
import { serve } from '@/testing/service';
import { Sessions } from './Sessions';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const aSession = (id: string, current: boolean) => ({
  id,
  kind: 'browser',
  current,
  createdAt: '2026-11-22T08:00:00.000Z',
  lastUsedAt: '2026-11-22T08:00:00.000Z',
  expiresAt: '2026-12-22T08:00:00.000Z',
  network: '127.0.0.1',
  userAgent: null,
});

// The list shows the newest hundred alone.
test('all other sessions are ended by the service at once, also those that the list does not show', async () => {
  const asked: string[] = [];
  const listed = { data: [aSession('ses_1', true), aSession('ses_2', false)], nextCursor: 'more' };
  serve(({ method, url }) => {
    if (method === 'DELETE') asked.push(new URL(url).pathname + new URL(url).search);
    return method === 'DELETE' ? new Response(null, { status: 204 }) : Response.json(listed);
  });
  const { client } = await show(<Sessions />);
  act(() => void client.setQueryData(queries.sessions().queryKey, listed as never));
  const user = userEvent.setup();
  await user.click(await screen.findByRole('button', { name: 'Sign out all others' }));
  await user.click(await screen.findByRole('button', { name: 'Sign out the others' }));
  await vi.waitFor(() => expect(asked).toEqual(['/api/account/sessions?others=true']));
});

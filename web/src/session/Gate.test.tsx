import { cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { show } from '@/testing/render';
import { session } from '.';
import { Gate } from './Gate';

let refresh: () => Response;
beforeEach(() => {
  vi.stubGlobal('fetch', async (target: string | Request) => {
    if (target === '/api/auth/refresh') return refresh();
    throw new TypeError('no network');
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test('a page that is opened while the service restarts says so, and goes on once the service is there', async () => {
  refresh = () => Response.json({ error: { code: 'OVERLOADED', message: 'x' } }, { status: 503 });
  await show(<Gate />);
  const alert = await screen.findByRole('alert');
  expect(alert.textContent).toContain('The dashboard could not be loaded.');
  expect(session.get().name).toBe('unknown');
  refresh = () => Response.json({ error: { code: 'UNAUTHORIZED', message: 'x' } }, { status: 401 });
  await userEvent.setup().click(screen.getByRole('button', { name: 'Try again' }));
  await vi.waitFor(() => expect(session.get()).toEqual({ name: 'out' }));
  await vi.waitFor(() => expect(screen.queryByRole('alert')).toBeNull());
});

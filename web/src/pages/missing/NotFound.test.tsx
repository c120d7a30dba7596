import { act, cleanup, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { session } from '@/session';
import { show } from '@/testing/render';
import { serve } from '@/testing/service';
import { NotFound } from './NotFound';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test('an address without a page has the navigation for who is signed in, and none for others', async () => {
  serve(() => new Response(null, { status: 204 }));
  await session.signIn('sam@shop.example', 'secret');
  const { client } = await show(<NotFound />);
  act(() => client.setQueryData(['sign-in config'], { cloud: {} } as never));
  await screen.findByRole('heading', { level: 1, name: 'Page not found' });
  screen.getByRole('navigation', { name: 'Main' });
  expect(document.querySelectorAll('main')).toHaveLength(1);
  await act(() => session.signOut());
  await screen.findByRole('heading', { level: 1, name: 'Page not found' });
  expect(screen.queryByRole('navigation')).toBeNull();
});

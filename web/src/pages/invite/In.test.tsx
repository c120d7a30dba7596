import { act, cleanup, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { show } from '@/testing/render';
import { In } from './In';

afterEach(cleanup);

const filled = () => document.querySelector('[data-variant="filled"]')?.textContent;

test('who is in the account of an invitation is led to it, and who is in another one reads the way out', async () => {
  const { client } = await show(<In account="Marlow <b>Tone</b>" email="sam@marlow.example" />);
  await screen.findByText('You are signed in already');
  expect(filled()).toBe('Sign out and join');
  act(() => void client.setQueryData(['account'], { name: 'Marlow <b>Tone</b>', caller: { role: 'member' } }));
  const title = await screen.findByText(/^You are in .*Marlow <b>Tone<\/b>.* already$/);
  expect(title.tagName).toBe('H1');
  expect(filled()).toBe('Go to overview');
  expect(screen.getByRole('link', { name: 'Go to overview' }).getAttribute('href')).toBe('/');
  expect(screen.getByRole('button', { name: 'Sign out and join' }).dataset.variant).toBe('default');
});

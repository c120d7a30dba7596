import { readFileSync } from 'node:fs';
import { act, cleanup, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { show } from '@/testing/render';
import { clearToasts, toast, Toasts } from './toasts';

afterEach(cleanup);

test('toasts are cleared for the next person, those that stay too', async () => {
  await show(<Toasts />);
  let leave: () => void = () => undefined;
  act(() => {
    leave = toast('Retrying 12 deliveries', { stay: true });
    toast('Saved');
  });
  await screen.findByText('Retrying 12 deliveries');
  act(clearToasts);
  act(leave); // the job of a toast that is gone
  expect(screen.getByRole('status').textContent).toBe('');
});

test('on a narrow screen toasts have a space of their own below the page, whose last rows can be read', () => {
  const narrow = readFileSync(`${import.meta.dirname}/toasts.module.css`, 'utf8').split('@media (max-width: 820px)')[1];
  expect(narrow).toMatch(/\.place \{\s+position: sticky;/);
});

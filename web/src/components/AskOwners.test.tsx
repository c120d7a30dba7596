import { act, cleanup, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { queries } from '@/api/queries';
import { show } from '@/testing/render';
import { ForOwners } from './ForOwners';

afterEach(cleanup);

test('who may not do something reads whom to ask', async () => {
  const { client } = await show(<ForOwners>Only an owner can buy credits.</ForOwners>, { role: 'member' });
  await screen.findByText('Ask an owner of this account.');
  const people = (...rows: [string, string | null][]) => {
    const data = rows.map(([role, email]) => ({ role, email }));
    act(() => client.setQueryData(queries.people().queryKey, { data, nextCursor: null } as never));
  };
  people(['owner', 'sam@shop.example'], ['member', 'ann@shop.example'], ['owner', null]);
  expect((await screen.findByText(/^Ask .*sam/)).textContent?.replace(/[\u2066-\u2069]/g, '')).toBe(
    'Ask sam@shop.example.',
  );
  people(['owner', null]);
  await screen.findByText('Ask an owner of this account.');
});

import { cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { afterEach, expect, test, vi } from 'vitest';
import { show } from '@/testing/render';
import type { Match } from './draft';
import { MatchRow } from './MatchRow';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const byTitle: Match = {
  matchType: 'title',
  matchValue: 'Warm',
  ignored: false,
  files: [{ fileId: 'a', kind: 'preset', fileName: 'Warm Clean', stale: false }],
};

function Row({ told }: { told: (match: Match) => void }) {
  const [match, setMatch] = useState(byTitle);
  const instead: Match | null = match === byTitle ? { ...byTitle, matchType: 'sku', matchValue: 'W-1' } : null;
  return (
    <ul>
      <MatchRow
        name="Warm"
        detail="W-1"
        match={match}
        changed={!instead}
        instead={instead}
        onChange={(next) => {
          told(next);
          setMatch(next);
        }}
      />
    </ul>
  );
}

test('a product that its title matches is matched by its SKU, and the focus stays in its row', async () => {
  vi.stubGlobal('fetch', async () => Response.json({ data: [], nextCursor: null }));
  const told = vi.fn();
  await show(<Row told={told} />);
  await screen.findByText('Matched by its title: a new title in your shop would deliver nothing.');
  await userEvent.setup().click(screen.getByRole('button', { name: 'Match by SKU instead Warm' }));
  expect(told).toHaveBeenCalledExactlyOnceWith({ ...byTitle, matchType: 'sku', matchValue: 'W-1' });
  expect(screen.queryByText(/Matched by its title/)).toBeNull();
  expect(document.activeElement).toBe(screen.getByRole('button', { name: /Presets for Warm/ }));
});

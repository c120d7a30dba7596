import { cleanup, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { show } from '@/testing/render';
import { needsYou } from '@/vocabulary/health';
import type { Subscription } from '@/vocabulary/webhook';
import { SubscriptionRows } from './SubscriptionRows';

afterEach(cleanup);

test('the list calls those failing that the navigation counts', async () => {
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  const rows = (
    [
      ['failing', ago(90), 'Failing'],
      ['failing', ago(30), 'Failing for less than an hour'],
      ['failing', null, 'Not tried again yet'],
      ['gone', ago(900), 'Gone'],
      ['healthy', null, 'Healthy'],
    ] as const
  ).map(([health, failingSince, word], index) => ({
    word,
    it: { id: `sub_${index}`, name: word, url: '', health, failingSince, eventTypes: [], integrationIds: [], recent: [] } as unknown as Subscription, // prettier-ignore
  }));
  await show(<SubscriptionRows rows={rows.map(({ it }) => it)} />);
  const shown = screen.getAllByTitle(/^(failing|gone|healthy)$/).map((one) => one.textContent);
  expect(shown).toEqual(rows.map(({ word }) => word));
  expect(rows.filter(({ it }) => needsYou(it, Date.now())).map(({ word }) => word)).toEqual(['Failing', 'Gone']);
});

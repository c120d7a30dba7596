import { expect, test } from 'vitest';
import type { Schemas } from '@/api/client';
import { problemsOf, searchOf } from './problems';

const need = (kind: Schemas['Need']['kind'], count: number, code: string | null = null): Schemas['Need'] => ({
  kind,
  code,
  count,
  oldestAt: '2026-11-23T10:00:00.000Z',
  integrationId: null,
  subscriptionId: null,
  detail: null,
});

test('each problem that stops deliveries is a row, the one of most first, approvals last', () => {
  const rows = problemsOf([
    need('credits_out', 3),
    need('login_missing', 0), // stops none yet
    need('review', 9),
    need('failed', 2, 'username_missing'),
    need('failed', 5, 'preset_not_found'),
    need('unmapped', 4),
  ]);
  expect(rows.map(({ title, count }) => [title, count])).toEqual([
    ['Preset missing', 5],
    ['No credits', 3],
    ['Username missing', 2],
    ['In review', 9],
  ]);
  expect(rows.map(searchOf)).toEqual([
    { status: 'failed', code: 'preset_not_found' },
    { status: 'failed', code: 'insufficient_credits' },
    { status: 'failed', code: 'username_missing' },
    { status: 'in_review' },
  ]);
});

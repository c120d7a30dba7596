import { act, cleanup, screen } from '@testing-library/react';
import { afterEach, test } from 'vitest';
import { queries } from '@/api/queries';
import { show } from '@/testing/render';
import { ProcessAgain } from './ProcessAgain';
import { filterOf } from './filters';

afterEach(cleanup);

const idOf = (n: number) => `int_${n}a1b2c3d4e5f6`;
const EACH = 'Each additional preset costs 1 credit. You have 539.';

test.each([
  ['all stores', {}, [7, 3], true, 'Delivering costs 10 credits at most. You have 539.'],
  ['one store', { store: idOf(2) }, [7, 3], true, 'Delivering costs 3 credits at most. You have 539.'],
  ['too few credits', {}, [700, 3], true, 'Delivering needs 703 credits at most, and you have 539.'],
  ['no preset since', {}, [0, 0], true, EACH],
  ['not all counted', {}, [7, 3], false, EACH],
  ['too many stores', {}, [1, 1, 1, 1, 1, 1], true, EACH],
] as const)('the credits that it costs at most are named: %s', async (_, more, credits, exact, says) => {
  const search: Record<string, string> = { view: 'unmapped', ...more };
  const { client } = await show(<ProcessAgain search={search} onClose={() => undefined} onStarted={() => undefined} />);
  await screen.findByText('Counting…');
  act(() => {
    const data = credits.map((_, n) => ({ id: idOf(n + 1), mappingCount: 1, lastOrderAt: 'x', archivedAt: null }));
    client.setQueryData(queries.stores().queryKey, { data, nextCursor: null } as never);
    client.setQueryData(queries.credits().queryKey, { available: 539 } as never);
    client.setQueryData(['orders', 'toProcess', filterOf(search, 0)], { total: 8, totalIsExact: true });
    for (const [n, reprocessableCredits] of credits.entries())
      client.setQueryData(['stores', 'reprocessable', idOf(n + 1), 'saved'], {
        reprocessableOrders: 4,
        reprocessableOrdersExact: exact,
        reprocessableCredits,
      });
  });
  await screen.findByText(says);
});

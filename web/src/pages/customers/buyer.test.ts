import { afterEach, expect, test, vi } from 'vitest';
import { buyerQuery, ordersOf, type CustomerOrder } from './buyer';

const by = { name: 'username', value: 'jonasek' } as const;
const order = (id: string) => ({ order: { id } }) as unknown as CustomerOrder;

// A service whose pages of the export are these, and whose count is theirs.
function serve(pages: CustomerOrder[][]) {
  const asked: [string, Record<string, unknown>][] = [];
  vi.stubGlobal('fetch', async (request: Request | string) => {
    if (typeof request === 'string') {
      const user = { id: 'usr_1', email: 'x' };
      return Response.json({ idToken: 't', idTokenExpiresAt: '2999-01-01T00:00:00.000Z', user, accountId: 'acc_1' });
    }
    const body = (await request.json()) as Record<string, unknown>;
    asked.push([new URL(request.url).pathname, body]);
    if (body.dryRun) return Response.json({ total: pages.flat().length, totalIsExact: true });
    const at = Number(body.cursor ?? 0);
    return Response.json({ data: pages[at], nextCursor: at + 1 < pages.length ? String(at + 1) : null });
  });
  return asked;
}
afterEach(() => vi.unstubAllGlobals());

test('an export goes on to the last page, also over one that is empty', async () => {
  const asked = serve([[order('ord_1')], [], [order('ord_2'), order('ord_3')]]);
  const ids: string[] = [];
  for await (const { order: one } of ordersOf(by)) ids.push(one.id);
  expect(ids).toEqual(['ord_1', 'ord_2', 'ord_3']);
  expect(asked.map(([path, body]) => [path, body.username, body.cursor])).toEqual([
    ['/api/customers/export', 'jonasek', undefined],
    ['/api/customers/export', 'jonasek', '1'],
    ['/api/customers/export', 'jonasek', '2'],
  ]);
});

test('looking for a buyer erases nothing', async () => {
  const asked = serve([[order('ord_1')]]);
  const { queryFn } = buyerQuery(by);
  const found = await (queryFn as (context: unknown) => unknown)({ signal: undefined });
  expect(found).toEqual({ total: 1, totalIsExact: true, first: [{ id: 'ord_1' }] });
  expect(asked.filter(([path]) => path.endsWith('/erase')).map(([, body]) => body.dryRun)).toEqual([true]);
});

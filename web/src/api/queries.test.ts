import { QueryClient } from '@tanstack/react-query';
import { afterEach, expect, test, vi } from 'vitest';
import { serve } from '@/testing/service';
import { queries } from './queries';

afterEach(() => vi.unstubAllGlobals());

test('files that are gone are read to the last page', async () => {
  const FILES = Array.from({ length: 250 }, (_, n) => ({ id: `file-${n}`, kind: 'preset', name: `File ${n}` }));
  vi.stubGlobal('fetch', async (request: Request | string) => {
    if (typeof request === 'string') {
      const tokens = { idToken: 't', idTokenExpiresAt: '2999-01-01T00:00:00.000Z', user: { id: 'usr_1', email: 'x' } };
      return Response.json({ ...tokens, accountId: 'acc_1' });
    }
    const { pathname, searchParams } = new URL(request.url);
    expect([pathname, searchParams.get('gone')]).toEqual(['/api/presets', 'true']);
    const from = Number(searchParams.get('cursor') ?? 0);
    const to = from + Number(searchParams.get('limit'));
    return Response.json({ data: FILES.slice(from, to), nextCursor: to < FILES.length ? String(to) : null });
  });
  expect(await new QueryClient().fetchQuery(queries.gonePresets())).toEqual(FILES.map(({ id }) => id));
});

test.each([
  ['/api/integrations', 'stores', queries.stores()],
  ['/api/keys', 'tokens', queries.keys()],
] as const)('%s is read to the last page, so that no name is missing among many %s', async (path, _, query) => {
  serve((request) => {
    const { pathname, searchParams } = new URL(request.url);
    expect([pathname, searchParams.get('limit')]).toEqual([path, '100']);
    const from = Number(searchParams.get('cursor') ?? 0);
    const data = Array.from({ length: 100 }, (__, n) => ({ id: `${from + n}` }));
    return Response.json({ data, nextCursor: from < 400 ? String(from + 100) : null });
  });
  const { data } = (await new QueryClient().fetchQuery(query as never)) as { data: { id: string }[] };
  expect(data.map(({ id }) => id)).toEqual(Array.from({ length: 500 }, (__, n) => `${n}`));
});

test('buyers are counted anew once a minute, also without live changes', () => {
  expect(queries.cloudFriends().refetchInterval).toBe(60_000);
});

test('a job that is not there is not asked for again and again', async () => {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const interval = (id: string) => {
    const query = client.getQueryCache().find({ queryKey: ['bulk', id] })!;
    return (queries.bulkJob(id).refetchInterval as (of: unknown) => unknown)(query);
  };
  const cases = [[404, false], [422, false], [503, 1_000]] as const; // prettier-ignore
  for (const [status, expected] of cases) {
    serve(() => Response.json({ error: { code: 'X', message: 'x' } }, { status }));
    await expect(client.fetchQuery(queries.bulkJob(`blk_${status}`))).rejects.toThrow();
    expect(interval(`blk_${status}`)).toBe(expected);
  }
});

test('tokens are read for their names up to a bound', async () => {
  let requests = 0;
  serve(() => Response.json({ data: [{ id: `key_${(requests += 1)}` }], nextCursor: 'more' }));
  const { data } = await new QueryClient().fetchQuery(queries.keys());
  expect([data.length, requests]).toEqual([20, 20]);
});

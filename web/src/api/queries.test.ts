import { QueryClient } from '@tanstack/react-query';
import { afterEach, expect, test, vi } from 'vitest';
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

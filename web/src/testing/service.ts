// The service in the place of `fetch`, for tests: everybody is signed in, and all other requests get `answer`.
import { vi } from 'vitest';

export function serve(answer: (request: Request) => Response | Promise<Response>) {
  vi.stubGlobal('fetch', async (request: Request | string) => {
    if (typeof request !== 'string') return answer(request);
    const tokens = { idToken: 't', idTokenExpiresAt: '2999-01-01T00:00:00.000Z', user: { id: 'usr_1', email: 'x' } };
    return Response.json({ ...tokens, accountId: 'acc_1' });
  });
}

import { cleanup, screen } from '@testing-library/react';
import { afterEach, test } from 'vitest';
import { queries } from '@/api/queries';
import { show } from '@/testing/render';
import type { Store } from '@/vocabulary/store';
import { Listening } from './Listening';
import { Refused } from './Refused';

afterEach(cleanup);

const refused = (code: string) =>
  ({
    id: 'int_0a1b2c3d4e5f6',
    lastOrderAt: null,
    intake: { accepted24h: 0, refused: [{ code, count: 2, lastAt: '2026-11-22T08:15:30.000Z' }] },
  }) as unknown as Store;

test.each([
  ['INVALID_SIGNATURE', 'Check the secret', 'Copy the secret again, then send another.'],
  ['UNAUTHORIZED', 'Check the store', 'It came with no valid token. Check the store, then send another.'],
])('the advice for orders with %s', async (code, button, text) => {
  const it = refused(code);
  const { client } = await show(
    <>
      <Refused it={it} />
      <Listening id={it.id} />
    </>,
  );
  client.setQueryData(queries.store(it.id).queryKey, it);
  await screen.findByRole('link', { name: button });
  await screen.findByText(text);
});

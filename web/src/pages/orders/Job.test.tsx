import { cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { ApiError } from '@/api/errors';
import { queries } from '@/api/queries';
import { show } from '@/testing/render';
import { Erasure } from '../customers/Erasure';
import { Job } from './Job';

afterEach(cleanup);

test.each([
  ['of orders', Job],
  ['of an erasure', Erasure],
])('an address with a job %s that is not there says so, and can be cleaned', async (_, Progress) => {
  const close = vi.fn();
  const { client } = await show(<Progress id="blk_none" onClose={close} />);
  const gone = () => Promise.reject(new ApiError(404, 'NOT_FOUND', 'x'));
  await client.fetchQuery({ ...queries.bulkJob('blk_none'), queryFn: gone }).catch(() => undefined);
  expect((await screen.findByRole('alert')).textContent).toBe('There is no such job in this account.');
  await userEvent.setup().click(screen.getByRole('button', { name: 'Close' }));
  expect(close).toHaveBeenCalledOnce();
});

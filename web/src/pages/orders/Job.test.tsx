import { act, cleanup, screen } from '@testing-library/react';
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
  const { client } = await show(<Progress id="blk_none" orders={[]} onClose={close} />);
  const gone = () => Promise.reject(new ApiError(404, 'NOT_FOUND', 'x'));
  await client.fetchQuery({ ...queries.bulkJob('blk_none'), queryFn: gone }).catch(() => undefined);
  expect((await screen.findByRole('alert')).textContent).toBe('There is no such job in this account.');
  await userEvent.setup().click(screen.getByRole('button', { name: 'Close' }));
  expect(close).toHaveBeenCalledOnce();
});

test('an order that could not be processed is named by its number, where the page knows it', async () => {
  const { client } = await show(
    <Job id="blk_1" orders={[{ id: 'ord_1', orderNumber: '#4711', orderId: '1' }]} onClose={vi.fn()} />,
  );
  const failed = ['ord_1', 'ord_2'].map((id) => ({ id, code: 'X', message: `Why ${id}` }));
  const job = { id: 'blk_1', done: 2, total: 2, totalIsExact: true, failedCount: 2, failed, fault: null };
  act(() => void client.setQueryData(queries.bulkJob('blk_1').queryKey, { ...job, finishedAt: '2026-11-22' } as never));
  const links = (await screen.findAllByRole('link')).map((link) => [link.textContent, link.getAttribute('href')]);
  expect(links).toEqual([
    ['#4711', '/orders/ord_1'],
    ['An order', '/orders/ord_2'],
  ]);
});

import { act, cleanup, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { queries } from '@/api/queries';
import { show } from '@/testing/render';
import { WaitForCredits } from './WaitForCredits';

afterEach(cleanup);

test.each([
  [1, '1 delivery needs credits', 'Show it'],
  [2, '2 deliveries need credits', 'Show them'],
])('deliveries that wait for credits are led to: %s', async (count, title, link) => {
  const { client } = await show(<WaitForCredits />);
  const { queryKey } = queries.deliveryCount({ status: 'failed', resolutionCode: 'insufficient_credits' });
  act(() => void client.setQueryData(queryKey, { count, countIsExact: true } as never));
  await screen.findByRole('heading', { name: title });
  const way = screen.getByRole('link', { name: link });
  expect(way.getAttribute('href')).toBe('/deliveries?status=failed&code=insufficient_credits');
});

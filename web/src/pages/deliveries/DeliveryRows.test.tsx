import { cleanup } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { failedFor } from '@/testing/delivery';
import { show } from '@/testing/render';
import { DeliveryRows } from './DeliveryRows';

afterEach(cleanup);

test('the first line of a row has the marks, which a narrow screen shows there', async () => {
  const it = { ...failedFor('internal_error'), dryRun: true, refunded: true, cancelled: true };
  await show(<DeliveryRows rows={[it]} list="" />);
  const first = document.querySelector('td[data-narrow="first"]')?.textContent;
  for (const mark of ['Test', 'Refunded', 'Cancelled']) expect(first).toContain(mark);
  expect(document.querySelector('tbody')?.textContent?.match(/Test|Refunded|Cancelled/g)).toHaveLength(3);
});

test('a row has the time by which the list is sorted', async () => {
  const it = { ...failedFor('internal_error'), createdAt: '2020-01-01T00:00:00.000Z' };
  await show(<DeliveryRows rows={[it]} list="" />);
  expect(document.querySelector('th:last-child')?.textContent).toBe('Created');
  expect(document.querySelector('td:last-child time')?.getAttribute('datetime')).toBe(it.createdAt);
});

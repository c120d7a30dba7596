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
});

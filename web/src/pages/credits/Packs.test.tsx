import { cleanup, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { queries } from '@/api/queries';
import { show } from '@/testing/render';
import { Packs } from './Packs';

afterEach(cleanup);

test('the name of a pack turns nothing around it', async () => {
  const { client } = await show(<Packs debt={0} />);
  const pack = { id: 'pack_1', name: 'Summer\u202e sale', credits: 40, amount: 900, currency: 'EUR' };
  client.setQueryData(queries.packs().queryKey, { data: [pack] } as never);
  const label = (await screen.findByRole('radio')).closest('label');
  expect(label?.textContent).toMatch(/^40 credits SummerU\+202E sale/);
  expect(label?.querySelector('bdi')?.textContent).toBe('SummerU+202E sale');
});

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

test('the price of one credit times the credits is the price of the pack, or is said to be about so much', async () => {
  const { client } = await show(<Packs debt={0} />);
  const pack = (credits: number, amount: number) => ({ id: `${credits}`, name: '', credits, amount, currency: 'EUR' });
  client.setQueryData(queries.packs().queryKey, { data: [pack(2000, 24900), pack(300, 4900)] } as never);
  const texts = (await screen.findAllByRole('radio')).map((one) => one.closest('label')?.textContent);
  expect(texts).toEqual([expect.stringMatching(/€0\.1245 each€249\.00$/), expect.stringMatching(/about €0\.163 each€49\.00$/)]);
}); // prettier-ignore

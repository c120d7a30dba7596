import { act, cleanup, screen, within } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { queries } from '@/api/queries';
import { show } from '@/testing/render';
import { AuditFilters } from './AuditFilters';

afterEach(cleanup);

test('tokens of one name are told apart by their last characters', async () => {
  const { client } = await show(<AuditFilters search={{}} onChange={() => undefined} />);
  const key = (id: string, name: string, preview: string) => ({ id, name, preview });
  act(() => {
    const data = [key('key_1', 'Trial', 'pdb_live_…7m9B'), key('key_2', 'Trial', 'pdb_live_…x4Qa'), key('key_3', 'Shop', 'pdb_live_…0000')]; // prettier-ignore
    client.setQueryData(queries.keys().queryKey, { data, nextCursor: null } as never);
  });
  await screen.findByRole('option', { name: /Shop/ });
  const names = within(screen.getByLabelText('Who')).getAllByRole('option').map(({ textContent }) => textContent?.replace(/[\u2066-\u2069]/g, '')); // prettier-ignore
  expect(names.filter((name) => name?.startsWith('Token'))).toEqual([
    'Token Trial, …7m9B',
    'Token Trial, …x4Qa',
    'Token Shop',
  ]);
});

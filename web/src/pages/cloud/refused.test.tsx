import { act, cleanup, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { queries } from '@/api/queries';
import { show } from '@/testing/render';
import { Cloud } from './Cloud';

afterEach(cleanup);

test.each([
  ['invalid', 'subtle'],
  ['valid', 'default'],
])('a check of a login that is %s is offered %s', async (status, variant) => {
  const { client } = await show(<Cloud />);
  act(() => void client.setQueryData(queries.cloud().queryKey, { status, cloudUsername: 'marlow' } as never));
  expect((await screen.findByRole('button', { name: 'Check now' })).dataset.variant).toBe(variant);
});

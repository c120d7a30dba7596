import { act, cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useEffect, useState } from 'react';
import { afterEach, expect, test, vi } from 'vitest';
import { queries } from '@/api/queries';
import { show } from '@/testing/render';
import { StorePage } from './Store';

const at = vi.hoisted(() => ({ id: 'int_0a1b2c3d4e5f6' }));
vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<typeof import('@tanstack/react-router')>()),
  Outlet: () => null, // the tab
  getRouteApi: () => ({ useParams: () => ({ id: at.id }), useSearch: () => ({}), useNavigate: () => () => undefined }),
}));
afterEach(cleanup);

const aStore = (id: string, name: string) =>
  ({ id, name, provider: 'generic', counts: { unmappedProducts: 0 }, intake: { refused: [] }, settings: { hold: 'none' }, lastOrderAt: null, archivedAt: null }) as never; // prettier-ignore

test('another store has none of the words that were typed for this one', async () => {
  let turn: () => void = () => undefined;
  const Page = () => {
    const [, again] = useState(0);
    useEffect(() => {
      turn = () => again(1);
    }, []);
    return <StorePage />;
  };
  const { client } = await show(<Page />);
  const other = 'int_7a1b2c3d4e5f6';
  act(() => {
    client.setQueryData(queries.store(at.id).queryKey, aStore(at.id, 'Marlow'));
    client.setQueryData(queries.store(other).queryKey, aStore(other, 'Tone Club'));
  });
  const user = userEvent.setup();
  await user.click(await screen.findByRole('button', { name: 'Send a test order' }));
  await user.type(await screen.findByRole('textbox'), 'jonasek');
  at.id = other;
  act(() => turn());
  await screen.findByRole('heading', { name: 'Tone Club' });
  expect(screen.queryByRole('textbox')).toBeNull();
});

test('the tab of products counts those without a preset and those whose file is gone', async () => {
  const { client } = await show(<StorePage />);
  const mapping = (id: string, fileId: string) => ({ id, matchType: 'sku', matchValue: id, action: 'deliver', fileId });
  act(() => {
    client.setQueryData(queries.store(at.id).queryKey, {
      ...(aStore(at.id, 'Marlow') as object),
      counts: { unmappedProducts: 2 },
    } as never);
    client.setQueryData(queries.gonePresets().queryKey, ['file-2']);
    client.setQueryData(queries.mappings(at.id).queryKey, {
      version: 1,
      mappings: [mapping('A', 'file-1'), mapping('B', 'file-2')],
    } as never);
  });
  await screen.findByRole('link', { name: 'Products 3 to match' });
});

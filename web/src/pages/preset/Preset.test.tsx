import { act, cleanup, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { queries } from '@/api/queries';
import { show } from '@/testing/render';
import { PresetPage } from './Preset';

vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<typeof import('@tanstack/react-router')>()),
  getRouteApi: () => ({ useParams: () => ({ id: 'file-1' }), useSearch: () => ({}) }),
}));
afterEach(cleanup);

test('the kind and the id of a preset stand in its head once, and leave the tables their width', async () => {
  const { client, container } = await show(<PresetPage />);
  const it = { id: 'file-1', kind: 'preset', name: 'Big Amp', gone: false, usedBy: 0, deliveredCount: 0, uses: [] };
  act(() => void client.setQueryData(queries.preset('file-1').queryKey, it as never));
  await screen.findByRole('heading', { name: 'Big Amp' });
  expect(screen.getAllByText('file-1')).toHaveLength(1);
  expect(screen.getAllByText('Preset')).toHaveLength(1);
  expect(container.querySelector('aside')).toBeNull();
});

import { cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { afterEach, expect, test, vi } from 'vitest';
import { queries } from '@/api/queries';
import { show } from '@/testing/render';
import { serve } from '@/testing/service';
import type { Match } from './draft';
import './FilePicker'; // loaded before it is opened
import { MatchRow } from './MatchRow';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const byTitle: Match = {
  matchType: 'title',
  matchValue: 'Warm',
  ignored: false,
  files: [{ fileId: 'a', kind: 'preset', fileName: 'Warm Clean', stale: false }],
};

function Row({ told }: { told: (match: Match) => void }) {
  const [match, setMatch] = useState(byTitle);
  const instead: Match | null = match === byTitle ? { ...byTitle, matchType: 'sku', matchValue: 'W-1' } : null;
  return (
    <ul>
      <MatchRow
        name="Warm"
        detail="W-1"
        match={match}
        changed={!instead}
        instead={instead}
        onChange={(next) => {
          told(next);
          setMatch(next);
        }}
      />
    </ul>
  );
}

test('a product that its title matches is matched by its SKU, and the focus stays in its row', async () => {
  vi.stubGlobal('fetch', async () => Response.json({ data: [], nextCursor: null }));
  const told = vi.fn();
  await show(<Row told={told} />);
  await screen.findByText('Matched by its title: a new title in your shop would deliver nothing.');
  await userEvent.setup().click(screen.getByRole('button', { name: 'Match by SKU instead Warm' }));
  expect(told).toHaveBeenCalledExactlyOnceWith({ ...byTitle, matchType: 'sku', matchValue: 'W-1' });
  expect(screen.queryByText(/Matched by its title/)).toBeNull();
  expect(document.activeElement).toBe(screen.getByRole('button', { name: /Presets for Warm/ }));
});

test('a row keeps its height as its field is left, so that what is beneath stays under the pointer', async () => {
  vi.stubGlobal('fetch', async () => Response.json({ data: [], nextCursor: null }));
  vi.spyOn(HTMLElement.prototype, 'getBoundingClientRect').mockReturnValue({ height: 58.4 } as DOMRect);
  await show(<Row told={() => undefined} />);
  const user = userEvent.setup();
  const chips = () => screen.findByRole('button', { name: /Presets for Warm/ });
  await user.click(await chips());
  const field = await screen.findByLabelText('Presets for Warm', { selector: 'input' });
  const place = field.closest<HTMLElement>('[class*=gets]');
  expect(place?.style.minHeight).toBe('');
  await user.keyboard('{Escape}');
  await user.tab();
  await chips();
  expect(place?.style.minHeight).toBe('58.4px');
});

test('a search that finds no preset offers nothing to choose', async () => {
  const told = vi.fn();
  const names: Record<string, string[]> = { '': ['Plexi ’68 Crunch', 'Tweed'], "plexi '68": ['Plexi ’68 Crunch'] };
  serve(({ url }) => {
    const found = names[new URL(url).searchParams.get('search') ?? ''] ?? [];
    return Response.json({ data: found.map((name) => ({ id: name, name, kind: 'preset' })), nextCursor: null });
  });
  const { client } = await show(<Row told={told} />);
  client.setDefaultOptions({ queries: { retry: false } });
  const user = userEvent.setup();
  await user.click(await screen.findByRole('button', { name: /Presets for Warm/ }));
  const field = await screen.findByLabelText('Presets for Warm', { selector: 'input' });
  await screen.findByText('Not a preset, ignore this product');
  await user.type(field, 'plexi 69');
  await screen.findByText('No preset matches ‘plexi 69’');
  expect(screen.queryByText('Not a preset, ignore this product')).toBeNull();
  await user.keyboard('{ArrowDown}{Enter}');
  expect(told).not.toHaveBeenCalled();
  await user.type(field, "{Backspace}{Backspace}'68");
  await screen.findByText('Plexi ’68 Crunch');
  await user.keyboard('{ArrowDown}{Enter}');
  expect(told.mock.calls[0]?.[0]).toMatchObject({
    ignored: false,
    files: [{ fileId: 'a' }, { fileId: 'Plexi ’68 Crunch' }],
  });
});

test('that a product is no preset is the first choice, above however many presets', async () => {
  const names = Array.from({ length: 50 }, (_, at) => `Preset ${at}`);
  serve(() => Response.json({ data: names.map((name) => ({ id: name, name, kind: 'preset' })), nextCursor: null }));
  const { client } = await show(<Row told={() => undefined} />);
  client.setDefaultOptions({ queries: { retry: false } });
  await userEvent.setup().click(await screen.findByRole('button', { name: /Presets for Warm/ }));
  await screen.findByText('Preset 49');
  expect(screen.getAllByRole('option', { hidden: true })[0]?.textContent).toBe('Not a preset, ignore this product');
});

test('a product that only tests have ordered is ignored with one press', async () => {
  vi.stubGlobal('fetch', async () => Response.json({ data: [], nextCursor: null }));
  const told = vi.fn();
  const bare = { ...byTitle, files: [] };
  const row = (unsold: boolean) => (
    <MatchRow name="Sample" detail="" match={bare} changed={false} unsold={unsold} onChange={told} />
  );
  await show(row(false));
  await screen.findByText('Choose presets');
  expect(screen.queryByText(/sample of a test/)).toBeNull();
  cleanup();
  await show(row(true));
  await screen.findByText(/^Not sold yet\. If it is a sample of a test order, you need no preset for it\./);
  await userEvent.setup().click(screen.getByRole('button', { name: 'Ignore Sample' }));
  expect(told).toHaveBeenCalledExactlyOnceWith({ ...bare, ignored: true });
});

test('Enter takes the first preset that was found, and no other than was typed', async () => {
  const found = ['Plexi One', 'Plexi Two'].map((name) => ({ id: name, name, kind: 'preset' }));
  serve(({ url }) =>
    Response.json({ data: new URL(url).searchParams.get('search') === 'plexi' ? found : [], nextCursor: null }),
  );
  const told = vi.fn();
  const { client } = await show(<Row told={told} />);
  client.setDefaultOptions({ queries: { retry: false } });
  const user = userEvent.setup();
  await user.click(await screen.findByRole('button', { name: /Presets for Warm/ }));
  const field = await screen.findByRole('combobox');
  const chosen = () => (told.mock.lastCall?.[0] as Match | undefined)?.files.map(({ fileId }) => fileId);
  await user.type(field, 'plexi{Enter}'); // not found yet
  expect(told).not.toHaveBeenCalled();
  await screen.findByText('Plexi One');
  await user.keyboard('{Enter}');
  expect(chosen()).toEqual(['a', 'Plexi One']);
  await user.type(field, 'plexi');
  await screen.findByText('Plexi Two');
  await user.keyboard('{Enter}');
  expect(chosen()).toEqual(['a', 'Plexi One', 'Plexi Two']);
});

test('a file that is gone gives way to the one that is chosen', async () => {
  serve(({ url }) => {
    const found = new URL(url).searchParams.has('gone') ? { id: 'a', name: '' } : { id: 'b', name: 'Tweed' };
    return Response.json({ data: [{ ...found, kind: 'preset' }], nextCursor: null });
  });
  const told = vi.fn();
  const { client } = await show(<Row told={told} />);
  client.setQueryData(queries.gonePresets().queryKey, ['a']);
  client.setDefaultOptions({ queries: { retry: false } });
  const user = userEvent.setup();
  await user.click(await screen.findByRole('button', { name: 'Choose another Warm' }));
  await user.click(await screen.findByText('Tweed'));
  expect(told.mock.calls[0]?.[0].files.map(({ fileId }: { fileId: string }) => fileId)).toEqual(['b']);
});

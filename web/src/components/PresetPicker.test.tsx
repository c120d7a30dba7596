import { act, cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { queries } from '@/api/queries';
import { show } from '@/testing/render';
import { serve } from '@/testing/service';
import { PresetPicker } from './PresetPicker';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test('a preset is found by words of its name, and where there is none the text is named', async () => {
  const told = vi.fn();
  const { client } = await show(<PresetPicker label="Preset" value={null} onChange={told} />);
  const found = { data: [{ id: 'p', name: 'Plexi ’68 Crunch', kind: 'preset' }], nextCursor: null } as never;
  act(() => {
    client.setQueryData(queries.presets('').queryKey, found);
    client.setQueryData(queries.allPresets().queryKey, found);
  });
  const user = userEvent.setup();
  const field = screen.getByLabelText('Preset', { selector: 'input' });
  await user.type(field, 'plexi 69');
  await screen.findByText('No preset matches ‘plexi 69’');
  await user.clear(field);
  await user.type(field, 'crunch plexi 68');
  await user.click(await screen.findByText('Plexi ’68 Crunch'));
  expect(told).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ id: 'p' }));
});

test('where not all presets are read, the service is asked for the text too', async () => {
  const asked: string[] = [];
  serve(({ url }) => {
    const search = new URL(url).searchParams.get('search');
    asked.push(search ?? '');
    return Response.json({
      data: search === 'zebra' ? [{ id: 'z', name: 'Zebra lead', kind: 'preset' }] : [],
      nextCursor: null,
    });
  });
  const { client } = await show(<PresetPicker label="Preset" value={null} onChange={() => undefined} />);
  client.setDefaultOptions({ queries: { retry: false } });
  act(() => {
    client.setQueryData(queries.allPresets().queryKey, { data: [], nextCursor: 'more' } as never);
  });
  await userEvent.setup().type(screen.getByLabelText('Preset', { selector: 'input' }), 'zebra');
  await screen.findByText('Zebra lead');
  expect(asked).toContain('zebra');
});

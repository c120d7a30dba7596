import { cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { show } from '@/testing/render';
import { serve } from '@/testing/service';
import { PresetPicker } from './PresetPicker';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test('the service finds presets by what was typed, and where it finds none the text is named', async () => {
  const told = vi.fn();
  serve(({ url }) => {
    const found = new URL(url).searchParams.get('search') === 'plexi 68';
    return Response.json({
      data: found ? [{ id: 'p', name: 'Plexi ’68 Crunch', kind: 'preset' }] : [],
      nextCursor: null,
    });
  });
  const { client } = await show(<PresetPicker label="Preset" value={null} onChange={told} />);
  client.setDefaultOptions({ queries: { retry: false } });
  const user = userEvent.setup();
  const field = screen.getByLabelText('Preset', { selector: 'input' });
  await user.type(field, 'plexi 69');
  await screen.findByText('No preset matches ‘plexi 69’');
  await user.clear(field);
  await user.type(field, 'plexi 68');
  await user.click(await screen.findByText('Plexi ’68 Crunch'));
  expect(told).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ id: 'p' }));
});

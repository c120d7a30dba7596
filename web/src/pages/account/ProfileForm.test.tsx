import { act, cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { show } from '@/testing/render';
import { serve } from '@/testing/service';
import { ProfileForm } from './ProfileForm';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test('what is typed during a save is kept', async () => {
  let answered = (_: Response) => {};
  serve(() => new Promise<Response>((resolve) => (answered = resolve)));
  const it = { name: 'Marlow', displayName: null, supportEmail: null, supportUrl: null };
  await show(<ProfileForm it={it as never} />);
  const user = userEvent.setup({ delay: null });
  const fields = await screen.findAllByRole<HTMLInputElement>('textbox');
  await user.type(fields[0]!, ' Tones ');
  await user.click(screen.getByRole('button', { name: 'Save' }));
  await user.type(fields[1]!, 'Tones');
  await act(async () => answered(Response.json({ ...it, name: 'Marlow Tones' })));
  await screen.findByRole('button', { name: 'Save' });
  expect(fields.map(({ value }) => value)).toEqual(['Marlow Tones', 'Tones', '', '']);
});

import { cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test } from 'vitest';
import { show } from '@/testing/render';
import { EraseBuyer } from './EraseBuyer';

afterEach(cleanup);

test('a username with steering characters is copied as it is shown, in any case', async () => {
  const by = { name: 'username', value: 'Kim\u202e' } as never;
  const none = () => undefined;
  await show(<EraseBuyer by={by} it={{ total: 1, totalIsExact: true } as never} onClose={none} onErasing={none} />);
  const user = userEvent.setup({ delay: null });
  await user.click(await screen.findByLabelText(/^Type/));
  const shown = document.querySelector('label bdi')?.textContent ?? '';
  for (const text of [shown, 'kim']) {
    await user.clear(screen.getByLabelText(/^Type/));
    await user.paste(text);
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Erase buyer' }).disabled).toBe(false);
  }
});

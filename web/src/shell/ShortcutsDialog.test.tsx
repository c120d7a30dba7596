import { cleanup, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { show } from '@/testing/render';
import { ShortcutsDialog } from './ShortcutsDialog';

afterEach(cleanup);

test('the shortcuts have the keys of this system alone', async () => {
  await show(<ShortcutsDialog onClose={() => undefined} />);
  await screen.findByText('Ctrl K');
  expect(screen.getByRole('dialog').textContent).not.toContain('⌘');
});

import { act, cleanup, screen, within } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { show } from '@/testing/render';
import { AuditEntry } from './AuditEntry';

afterEach(cleanup);

const entry = { id: 'aud_1', at: '2026-11-22T13:21:05.000Z', actor: 'usr_1', actorName: 'sam@shop.example', target: '', changes: null, network: null, requestId: null }; // prettier-ignore

test('an entry has the words of the list, and under them the detail as the service wrote it', async () => {
  for (const [action, detail, says] of [
    ['integration.secret_rotated', 'overlap of 86400 s', 'both work for 24 hours'],
    ['integration.archived', 'overlap of 86400 s', 'overlap of 86400 s'],
  ] as const) {
    await show(<AuditEntry it={{ ...entry, action, detail } as never} onClose={() => undefined} />);
    expect(within(await screen.findByRole('dialog')).getByText(says).title).toBe(detail);
    cleanup();
  }
});

test('changed fields, and the own entries, are named', async () => {
  const changes = [{ field: 'settings.autoRevoke', from: 'false', to: 'true' }];
  const it = { ...entry, action: 'integration.changed', detail: '', changes } as never;
  const { client } = await show(<AuditEntry it={it} onClose={() => undefined} />);
  const dialog = within(await screen.findByRole('dialog'));
  expect(dialog.getByRole('rowheader').textContent).toBe('Take presets back on refund');
  expect(dialog.getAllByRole('cell').map((cell) => cell.textContent)).toEqual(['off', 'on']);
  dialog.getByRole('link', { name: 'All entries by them' });
  act(() => void client.setQueryData(['account'], { caller: { userId: 'usr_1', role: 'owner' } }));
  await dialog.findByRole('link', { name: 'All entries by you' });
});

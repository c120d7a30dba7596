import { cleanup, screen, within } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { show } from '@/testing/render';
import { AuditEntry } from './AuditEntry';

afterEach(cleanup);

test('all of an entry has its detail as the service wrote it', async () => {
  const entry = { id: 'aud_1', at: '2026-11-22T13:21:05.000Z', actor: 'usr_1', actorName: 'sam@shop.example', target: '', changes: null, network: null, requestId: null }; // prettier-ignore
  for (const [action, detail] of [
    ['integration.secret_rotated', 'overlap of 86400 s'],
    ['subscription.turned_off', 'failing since 2026-11-20T10:00:00.000Z'],
  ] as const) {
    await show(<AuditEntry it={{ ...entry, action, detail } as never} onClose={() => undefined} />);
    expect(within(await screen.findByRole('dialog')).queryByText(detail)).not.toBeNull();
    cleanup();
  }
});

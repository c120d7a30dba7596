import { cleanup, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import type { Schemas } from '@/api/client';
import { show } from '@/testing/render';
import { Example } from './Example';
import { NewKey } from './NewKey';

afterEach(cleanup);

const issued = (permissions: Schemas['Permission'][]) =>
  ({ secret: 'pdb_live_secret', permissions }) as Schemas['IssuedApiKey'];

test('a new token comes with its header and a command that it may run', async () => {
  await show(<Example it={issued(['presets:read', 'deliveries:read'])} />);
  expect((await screen.findByText(/^Send it/)).textContent).toBe('Send it in the header x-api-key.');
  const group = screen.getByRole('group', { name: 'Example' });
  expect(group.textContent).toBe(`curl -H 'x-api-key: pdb_live_secret' ${location.origin}/api/deliveries`);
  const copied = vi.spyOn(navigator.clipboard, 'writeText').mockResolvedValue();
  screen.getByRole('button', { name: 'Copy the example' }).click();
  expect(copied).toHaveBeenCalledWith(group.textContent);
});

test.each([
  [['integrations'], `curl -H 'x-api-key: pdb_live_secret' ${location.origin}/api/integrations`],
  [['login'], undefined],
] as const)('a token without deliveries reads nothing of them: %s', async (permissions, says) => {
  await show(<Example it={issued([...permissions])} />);
  await screen.findByText(/^Send it/);
  expect(screen.queryByRole('group')?.textContent).toBe(says);
});

test('the choice of rights says that some are for people alone', async () => {
  await show(<NewKey opened onClose={() => undefined} onIssued={() => undefined} />);
  await screen.findByText(/^No token opens credits, people, tokens/);
});

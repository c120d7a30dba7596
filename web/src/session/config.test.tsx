// The settings name the cloud platform, before a page is drawn whose texts have the name.
import '@/i18n/en/account';
import { QueryClient } from '@tanstack/react-query';
import { act, cleanup, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { nameCloud } from '@/i18n/names';
import { t } from '@/i18n/text';
import { show } from '@/testing/render';
import { session } from '.';
import { signInConfig } from './config';
import { Gate } from './Gate';

vi.mock('@/shell/Shell', () => ({ Shell: () => <nav /> }));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  nameCloud('the cloud platform');
});

const CONFIG = { cloud: { name: 'ToneHub', friendRequestsUrl: null, appUrl: null } };

test('texts have the configured name once the settings were read', async () => {
  vi.stubGlobal('fetch', async () => Response.json(CONFIG));
  await new QueryClient().fetchQuery(signInConfig());
  expect(t('cloud.refused')).toMatch(/^ToneHub did not accept/);
});

test('the gate waits for the settings', async () => {
  const tokens = { idToken: 't', idTokenExpiresAt: '2999-01-01T00:00:00.000Z', user: { id: 'usr_1', email: 'x' } };
  vi.stubGlobal('fetch', async () => Response.json({ ...tokens, accountId: 'acc_1' }));
  const { client } = await show(<Gate />);
  await vi.waitFor(() => expect(session.get().name).toBe('in'));
  expect(screen.queryByRole('navigation')).toBeNull();
  act(() => void client.setQueryData(signInConfig().queryKey, CONFIG as never));
  await screen.findByRole('navigation');
});

import { act, cleanup, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { liveState } from '@/live/state';
import { show } from '@/testing/render';
import { LiveSign, OfflineBar } from './LiveSign';

afterEach(() => {
  cleanup();
  liveState.set('connecting');
});

test('the sign and the bar of a page without a network say one thing', async () => {
  await show(
    <>
      <OfflineBar />
      <LiveSign />
    </>,
  );
  act(() => liveState.set('away'));
  expect(screen.getAllByRole('status').map(({ textContent }) => textContent)).toEqual([
    expect.stringMatching(/^Reconnecting, as of /),
  ]);
  act(() => liveState.set('offline'));
  expect(screen.getAllByRole('status').map(({ textContent }) => textContent)).toEqual([
    expect.stringMatching(/^You are offline\./),
    expect.stringMatching(/^Offline, as of /),
  ]);
});

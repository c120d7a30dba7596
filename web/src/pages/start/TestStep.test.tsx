import { useQuery } from '@tanstack/react-query';
import { act, cleanup, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { queries } from '@/api/queries';
import { show } from '@/testing/render';
import { serve } from '@/testing/service';
import type { Store } from '@/vocabulary/store';
import { TestStep } from './TestStep';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const store = { id: 'int_shop', name: 'Shop', provider: 'provider_a' } as Store;
const overview = (testOrder: boolean) => ({ setup: { testOrder } });

test('who sends a test order goes on with the same key, and sends no second one', async () => {
  let sent = 0;
  let told = () => {};
  serve(({ url }) => {
    if (url.endsWith('/test-order')) {
      sent += 1;
      return Response.json({ status: 'accepted', deliveryId: 'del_1' }, { status: 202 });
    }
    if (url.includes('/overview'))
      return new Promise<Response>((resolve) => (told = () => resolve(Response.json(overview(true)))));
    return Response.json({ data: [], nextCursor: null });
  });
  const onDone = vi.fn();
  const Guide = () => {
    const done = useQuery({ ...queries.overview(), enabled: true, staleTime: Infinity }).data?.setup.testOrder ?? false;
    return <TestStep store={store} done={done} onSent={() => undefined} onDone={onDone} />;
  };
  const { client } = await show(<Guide />);
  act(() => void client.setQueryData(queries.overview().queryKey, overview(false) as never));
  const user = userEvent.setup();
  (await screen.findByRole('button', { name: 'Send test order' })).focus();
  await user.keyboard('{Enter}');
  await waitFor(() => expect(sent).toBe(1));
  await user.keyboard('{Enter}'); // the guide does not know of it yet
  await act(async () => told());
  await waitFor(() => expect(document.activeElement?.textContent).toBe('Go on'));
  await user.keyboard('{Enter}');
  expect(onDone).toHaveBeenCalledOnce();
  expect(sent).toBe(1);
});

import { act, cleanup, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { queries } from '@/api/queries';
import { show } from '@/testing/render';
import { serve } from '@/testing/service';
import type { Store } from '@/vocabulary/store';
import { Settings } from './Settings';

vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<typeof import('@tanstack/react-router')>()),
  getRouteApi: () => ({ useParams: () => ({ id: 'int_0a1b2c3d4e5f6' }) }),
}));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const settings = {
  requireApiKey: false,
  hold: 'none',
  deliverTestOrders: false,
  autoRevoke: false,
  usernameFields: [],
};
const aStore = (more: object) =>
  ({ id: 'int_0a1b2c3d4e5f6', provider: 'generic', name: 'Marlow', version: 1, lastOrderAt: null, archivedAt: null, topicsSeen: [], settings, ...more }) as unknown as Store; // prettier-ignore
const name = () => screen.findByLabelText<HTMLInputElement>('Name');
const hold = () => screen.findByRole<HTMLInputElement>('switch', { name: /^Hold orders/ });

test('what was typed stays when the store changes meanwhile, and the rest follows', async () => {
  const sent: unknown[] = [];
  const { client } = await show(<Settings />);
  const comes = (it: Store) => act(() => client.setQueryData(queries.store(it.id).queryKey, it));
  serve(async (request) => {
    sent.push(await request.json());
    return Response.json(aStore({ name: 'Marlow Tones', version: 3, settings: { ...settings, hold: 'all' } }));
  });
  const user = userEvent.setup();
  comes(aStore({}));
  await user.type(await name(), ' Tones');
  comes(aStore({ version: 2, settings: { ...settings, hold: 'all' } }));
  expect([(await name()).value, (await hold()).checked]).toEqual(['Marlow Tones', true]);

  await user.click(await screen.findByRole('button', { name: 'Save' }));
  await vi.waitFor(() => expect(sent).toEqual([{ name: 'Marlow Tones', settings: {} }]));
  await vi.waitFor(async () =>
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Save' }).disabled).toBe(true),
  );
  comes(aStore({ name: 'Renamed', version: 4 }));
  expect([(await name()).value, (await hold()).checked]).toEqual(['Renamed', false]);
});

test('an archive that was called off asks for the name anew', async () => {
  const { client } = await show(<Settings />);
  act(() => client.setQueryData(queries.store('int_0a1b2c3d4e5f6').queryKey, aStore({})));
  const user = userEvent.setup();
  const ask = async () => user.click(await screen.findByRole('button', { name: 'Archive store…' }));
  const typed = () => screen.findByLabelText<HTMLInputElement>('Type Marlow to confirm');
  await ask();
  await user.type(await typed(), 'Marlow');
  await user.click(screen.getByRole('button', { name: 'Cancel' }));
  await vi.waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  await ask();
  expect((await typed()).value).toBe('');
});

test('a refused tag is said beside its field', async () => {
  const { client } = await show(<Settings />);
  const problem = 'must have at most 100 characters';
  const error = {
    code: 'VALIDATION_FAILED',
    message: 'x',
    details: [{ field: 'settings.usernameFields[0]', problem }],
  };
  serve(() => Response.json({ error }, { status: 422 }));
  act(() => void client.setQueryData(queries.store('int_0a1b2c3d4e5f6').queryKey, aStore({})));
  const user = userEvent.setup({ delay: null });
  const tags = await screen.findByLabelText('Extra username fields', { selector: 'input' });
  await user.click(tags);
  await user.paste('x'.repeat(101));
  await user.keyboard('{Enter}');
  await user.click(await screen.findByRole('button', { name: 'Save' }));
  await screen.findByText(problem);
  expect(document.activeElement).toBe(tags);
  expect(screen.queryByText(/need a change/)).toBeNull();
});

test('a field that is set back during a save stays set back', async () => {
  let answered = (_: Response) => {};
  serve(() => new Promise<Response>((resolve) => (answered = resolve)));
  const { client } = await show(<Settings />);
  act(() => void client.setQueryData(queries.store('int_0a1b2c3d4e5f6').queryKey, aStore({})));
  const user = userEvent.setup({ delay: null });
  await user.click(await hold());
  await user.click(await screen.findByRole('button', { name: 'Save' }));
  await user.click(await hold());
  await act(async () => answered(Response.json(aStore({ version: 2, settings: { ...settings, hold: 'all' } }))));
  const save = await screen.findByRole<HTMLButtonElement>('button', { name: 'Save' });
  expect([(await hold()).checked, save.disabled]).toEqual([false, false]);
});

test.each([
  ['provider_a', 'Shopify cannot send a token with its webhooks, so every order would be refused.'],
  ['provider_b', 'WooCommerce cannot send a token with its webhooks, so every order would be refused.'],
  ['generic', 'Orders without a valid API token are refused.'],
])('a token is required of a store of %s with a warning where its webhooks have none', async (provider, says) => {
  const { client } = await show(<Settings />);
  act(() => void client.setQueryData(queries.store('int_0a1b2c3d4e5f6').queryKey, aStore({ provider })));
  await screen.findByText('Orders without a valid API token are refused.');
  await userEvent.setup().click(screen.getByRole('switch', { name: /^Require a token/ }));
  screen.getByText(says);
});

test.each([
  ['provider_b', null, 'WooCommerce cannot send a token with its webhooks. Every order of this store is refused'],
  ['generic', '2026-11-22T10:00:00.000Z', 'Orders that come without a valid API token are refused from now on'],
  ['generic', null, null],
])(
  'a token is required of a store of %s whose last order is of %s after a question',
  async (provider, lastOrderAt, says) => {
    const sent: unknown[] = [];
    const it = aStore({ provider, lastOrderAt });
    serve(async (request) => {
      sent.push(await request.json());
      return Response.json(aStore({ provider, lastOrderAt, settings: { ...settings, requireApiKey: true } }));
    });
    const { client } = await show(<Settings />);
    act(() => void client.setQueryData(queries.store('int_0a1b2c3d4e5f6').queryKey, it));
    const user = userEvent.setup();
    await user.click(await screen.findByRole('switch', { name: /^Require a token/ }));
    const save = () => user.click(screen.getByRole('button', { name: 'Save' }));
    await save();
    if (says !== null) {
      const dialog = await screen.findByRole('dialog');
      expect(dialog.textContent).toContain(says);
      expect(sent).toEqual([]);
      await user.click(within(dialog).getByRole('button', { name: 'Cancel' }));
      await vi.waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
      expect(sent).toEqual([]);
      await save();
      await user.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Require a token' }));
    }
    await vi.waitFor(() => expect(sent).toEqual([{ settings: { requireApiKey: true } }]));
    await vi.waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  },
);

test.each([
  ['provider_a', true, true],
  ['provider_b', false, true],
  ['generic', false, false],
])('a store of %s offers what its orders can say: tests %s, refunds %s', async (provider, tests, refunds) => {
  const { client } = await show(<Settings />);
  const comes = (more: object) =>
    act(
      () =>
        void client.setQueryData(
          queries.store('int_0a1b2c3d4e5f6').queryKey,
          aStore({ provider, settings: { ...settings, ...more } }),
        ),
    );
  const found = () =>
    [/^Deliver test orders/, /^Take presets back on refund/].map((name) => screen.queryByRole('switch', { name }));
  comes({});
  await hold();
  expect(found().map((one) => one !== null)).toEqual([tests, refunds]);
  // A setting that is on can be turned off.
  comes({ deliverTestOrders: true, autoRevoke: true });
  await vi.waitFor(() => expect(found().every((one) => one !== null)).toBe(true));
  const never = screen.queryAllByText(/^Orders of this kind of store cannot/).length;
  expect(never).toBe([tests, refunds].filter((can) => !can).length);
});

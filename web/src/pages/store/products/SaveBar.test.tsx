import { act, cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useEffect, useState } from 'react';
import { afterEach, expect, test, vi } from 'vitest';
import { queries } from '@/api/queries';
import { clearToasts, Toasts } from '@/components/toasts';
import { show } from '@/testing/render';
import { serve } from '@/testing/service';
import { SaveBar } from './SaveBar';

const ID = 'int_0a1b2c3d4e5f6';
const nothing = () => undefined;
const EDITED = { id: ID, version: 7, changes: 1, onBegin: nothing, onDone: nothing, onDiscard: nothing };
const SAVED = { version: 8, mappings: [] };
const mappings = [{ matchType: 'sku' as const, matchValue: 'AMP-01', action: 'ignore' as const }];
const refusal = (status: number, code: string) =>
  Response.json({ error: { code, message: 'Five jobs are under way.' } }, { status });
let sent: unknown[];
let answers: Record<string, Response[]>; // by the end of the path, in turn

afterEach(() => {
  cleanup();
  act(clearToasts);
  vi.unstubAllGlobals();
});

async function bar(reprocessableOrders = 6, reprocessableOrdersExact = true, before = 0, available = 41) {
  sent = [];
  serve(async (request) => {
    const path = request.url.split('/').at(-1) ?? '';
    sent.push([path, await request.json()]);
    return answers[path]?.shift() ?? Response.json(path === 'mappings' ? SAVED : {});
  });
  const Edited = () => {
    const [open, setOpen] = useState(true);
    const done = () => setOpen(false);
    return <SaveBar {...EDITED} mappings={open ? mappings : null} onDone={done} />;
  };
  const { client } = await show(<Edited />);
  client.setQueryData(['stores', 'reprocessable', ID, mappings], {
    reprocessableOrders,
    reprocessableOrdersExact,
    reprocessableCredits: 18,
  });
  client.setQueryData(['stores', 'reprocessable', ID, 'saved'], {
    reprocessableOrders: before,
    reprocessableOrdersExact,
    reprocessableCredits: 9,
  });
  client.setQueryData(queries.credits().queryKey, { available } as never);
  return { client, user: userEvent.setup() };
}
const button = (name: string) => screen.findByRole('button', { name });

test('what a save delivers is said with what it costs', async () => {
  answers = {};
  await bar();
  await button('Save and deliver 6 orders');
  await screen.findByText(
    /^6 skipped orders can be delivered after saving. Delivering costs 18 credits at most. You have 41.$/,
  );
  cleanup();
  await bar(1000, false);
  await button('Save and deliver 1,000+ orders');
  await screen.findByText(/^1,000\+ skipped orders/);
});

test('orders that the saved matches deliver are no reason to deliver after a save, and are named beside others', async () => {
  answers = {};
  await bar(6, true, 6);
  expect((await button('Save')).dataset.variant).toBe('filled');
  expect(screen.queryByRole('button', { name: /deliver/ })).toBeNull();
  expect(screen.queryByText(/skipped/)).toBeNull();
  cleanup();
  await bar(6, true, 4);
  await button('Save and deliver 6 orders');
  await screen.findByText(
    /^6 skipped orders can be delivered after saving\. 4 of them can be delivered without this change\. Delivering costs 18/,
  );
});

test('without the credits for the orders saving comes first', async () => {
  answers = {};
  await bar(6, true, 0, 17);
  expect((await button('Save')).dataset.variant).toBe('filled');
  expect((await button('Save and deliver 6 orders')).dataset.variant).toBe('default');
  await screen.findByText(/after saving\. Delivering needs 18 credits at most, and you have 17\.$/);
  cleanup();
  await bar(6, true, 0, 18);
  expect((await button('Save')).dataset.variant).toBe('default');
  expect((await button('Save and deliver 6 orders')).dataset.variant).toBe('filled');
});

test.each([
  [6, 17, 'Saved. 6 orders are being processed. Orders without enough credits wait for them.'],
  [1, 0, 'Saved. 1 order is being processed. Without enough credits it waits for them.'],
  [1, 18, 'Saved. 1 order is on its way.'],
])('%i orders are on their way after a save where %i credits are enough for them', async (count, credits, says) => {
  answers = { reprocess: [Response.json({ id: 'job_1' })] };
  const { client, user } = await bar(count, true, 0, credits);
  await user.click(await button(`Save and deliver ${count} order${count > 1 ? 's' : ''}`));
  const { container } = await show(<Toasts />);
  await vi.waitFor(() => expect(container.textContent).toContain(says));
  expect(client.getQueryData(['skipped job', ID])).toMatchObject({ id: 'job_1', short: credits < 18 });
});

test('what is saved stays saved where its orders cannot be delivered, and they can be tried again', async () => {
  answers = { reprocess: [refusal(409, 'TOO_MANY_JOBS')] };
  const { client, user } = await bar();
  await user.click(await button('Save and deliver 6 orders'));
  await screen.findByText('Saved, but the orders are not delivered yet. Five jobs are under way.');
  expect(client.getQueryData(queries.mappings(ID).queryKey)).toEqual(SAVED);
  await user.click(await button('Deliver the orders'));
  await vi.waitFor(() => expect(screen.queryByRole('region')).toBeNull());
  const deliver = ['reprocess', { integrationId: ID, unmapped: true }];
  expect(sent).toEqual([['mappings', { mappings, version: 7 }], deliver, deliver]);
});

test('who keeps their changes in a conflict gets what they asked for', async () => {
  const conflict = refusal(409, 'CONFLICT');
  answers = { mappings: [conflict.clone(), Response.json(SAVED), conflict.clone(), Response.json(SAVED)] };
  const first = await bar();
  await first.user.click(await button('Save and deliver 6 orders'));
  await first.user.click(await button('Keep mine'));
  await vi.waitFor(() => expect(sent.slice(1).map((one) => (one as string[])[0])).toEqual(['mappings', 'reprocess']));
  expect(sent[1]).toEqual(['mappings', { mappings }]);
  cleanup();
  const second = await bar();
  await second.user.click(await button('Save'));
  await second.user.click(await button('Keep mine'));
  await vi.waitFor(() => expect(screen.queryByRole('region')).toBeNull());
  expect(sent.slice(1)).toEqual([['mappings', { mappings }]]);
});

test('while another draft is counted, no count is named and nothing is delivered', async () => {
  let counted = (_: Response) => {};
  serve((request) =>
    request.url.endsWith('/preview') ? new Promise<Response>((resolve) => (counted = resolve)) : Response.json({}),
  );
  const other = [{ ...mappings[0], matchValue: 'AMP-02' } as (typeof mappings)[number]];
  let edit = () => {};
  const Edited = () => {
    const [next, setNext] = useState(false);
    useEffect(() => {
      edit = () => setNext(true);
    }, []);
    return <SaveBar {...EDITED} mappings={next ? other : mappings} />;
  };
  const { client } = await show(<Edited />);
  client.setDefaultOptions({ queries: { retry: false, staleTime: Infinity } });
  act(() => {
    for (const [asked, reprocessableOrders] of [
      [mappings, 6],
      ['saved', 0],
    ] as const)
      client.setQueryData(['stores', 'reprocessable', ID, asked], {
        reprocessableOrders,
        reprocessableOrdersExact: true,
      });
  });
  await button('Save and deliver 6 orders');
  act(() => edit());
  const uncounted = () => {
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Counting orders…' }).disabled).toBe(true);
    expect(screen.queryByText(/skipped orders/)).toBeNull();
  };
  uncounted(); // not asked yet
  await new Promise((asked) => setTimeout(asked, 500));
  uncounted(); // not answered yet
  await act(async () => counted(Response.json({ reprocessableOrders: 2, reprocessableOrdersExact: true })));
  await button('Save and deliver 2 orders');
});

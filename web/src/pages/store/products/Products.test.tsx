import { act, cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useEffect, useState } from 'react';
import { afterEach, expect, test, vi } from 'vitest';
import { queries } from '@/api/queries';
import { show } from '@/testing/render';
import './AddProduct'; // the page loads it when it is asked for
import { Products } from './Products';
import { clearToasts, Toasts } from '@/components/toasts';
import { serve } from '@/testing/service';

const ID = 'int_0a1b2c3d4e5f6';
const OTHER = 'int_7a1b2c3d4e5f6';
const at = vi.hoisted(() => ({ id: 'int_0a1b2c3d4e5f6', search: {} as Record<string, string> }));
vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<typeof import('@tanstack/react-router')>()),
  getRouteApi: () => ({ useParams: () => ({ id: at.id }), useSearch: () => at.search }),
}));
afterEach(() => {
  cleanup();
  act(clearToasts);
  at.id = ID;
  at.search = {};
  vi.unstubAllGlobals();
});

test('a search also finds products that were typed by hand', async () => {
  const mapping = (matchValue: string) => ({ id: `map_${matchValue}`, matchType: 'sku', matchValue, action: 'ignore' });
  const { client } = await show(<Products />);
  const sold = (q?: string) =>
    client.setQueryData(['stores', 'products', ID, { limit: 100, ...(q ? { q } : {}) }], {
      pages: [{ data: [], nextCursor: null }],
      pageParams: [null],
    });
  sold();
  sold('tweed');
  client.setQueryData(queries.mappings(ID).queryKey, {
    version: 1,
    mappings: [mapping('TWEED-59'), mapping('BROWN-01')],
  } as never);
  await screen.findByText('BROWN-01');
  await userEvent.setup().type(await screen.findByRole('searchbox'), 'tweed');
  await vi.waitFor(() => expect(screen.queryByText('BROWN-01')).toBeNull());
  await screen.findByText('TWEED-59');
});

test('another store has none of the changes and of the search of this one', async () => {
  let turn = () => {};
  const Page = () => {
    const [, again] = useState(0);
    useEffect(() => {
      turn = () => again(1);
    }, []);
    return <Products />;
  };
  const { client } = await show(<Page />);
  const mapping = { id: 'map_1', matchType: 'sku', matchValue: 'TWEED-59', action: 'ignore' };
  for (const id of [ID, OTHER]) {
    client.setQueryData(queries.mappings(id).queryKey, { version: 1, mappings: [mapping] } as never);
    for (const q of [{}, { q: 'tweed' }])
      client.setQueryData(['stores', 'products', id, { limit: 100, ...q }], {
        pages: [{ data: [], nextCursor: null }],
        pageParams: [null],
      });
  }
  const user = userEvent.setup();
  await user.type(await screen.findByRole('searchbox'), 'tweed');
  await user.click(await screen.findByRole('button', { name: 'Add product' }));
  await user.type(await screen.findByLabelText('SKU'), 'TWEED-60{Enter}');
  await screen.findByText('TWEED-60');
  at.id = OTHER;
  act(() => turn());
  expect(screen.getByRole<HTMLInputElement>('searchbox').value).toBe('');
  expect(screen.queryByText('TWEED-60')).toBeNull();
});

const ignored = (matchValue: string) => ({ id: `map_${matchValue}`, matchType: 'sku', matchValue, action: 'ignore' });

// Saved matches of SKUs that no product uses, and one that is typed by hand and not saved.
async function withTwoMatches(...more: string[]) {
  const { client } = await show(
    <>
      <Products />
      <Toasts />
    </>,
  );
  client.setQueryData(['stores', 'products', ID, { limit: 100 }], {
    pages: [{ data: [], nextCursor: null }],
    pageParams: [null],
  });
  const mappings = ['TWEED-59', ...more].map(ignored);
  client.setQueryData(queries.mappings(ID).queryKey, { version: 1, mappings } as never);
  const user = userEvent.setup({ delay: null });
  const press = async (name: string) => user.click(await screen.findByRole('button', { name }));
  const add = async (sku: string) => {
    await press('Add product');
    await user.click(await screen.findByLabelText('SKU'));
    await user.paste(sku);
    await user.keyboard('{Enter}');
    await screen.findByText(sku);
  };
  await add('TWEED-60');
  const rows = () => screen.queryAllByText(/^TWEED-/, { selector: 'li bdi' }).map(({ textContent }) => textContent);
  const changes = () => screen.queryByText(/products? changed\.$/)?.textContent;
  return { press, add, rows, changes };
}

test('a product to add is named by the words of its match, and is given up by Cancel', async () => {
  const { press, rows } = await withTwoMatches();
  await press('Add product');
  const user = userEvent.setup({ delay: null });
  await user.click(await screen.findByLabelText('Match by', { selector: 'input' }));
  await user.click(await screen.findByRole('option', { name: 'Title', hidden: true }));
  await user.type(await screen.findByLabelText('Title'), 'TWEED-61');
  await press('Cancel');
  await vi.waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect(rows()).toEqual(['TWEED-59', 'TWEED-60']);
});

test.each(['TWEED-59', 'TWEED-60'])('the row of %s can be removed, and comes back by Undo', async (product) => {
  const { press, rows, changes } = await withTwoMatches();
  expect(changes()).toBeUndefined();
  await press(`Remove ${product}`);
  expect(rows()).toEqual(['TWEED-59', 'TWEED-60'].filter((one) => one !== product));
  expect(changes()).toBe(product === 'TWEED-59' ? '1 product changed.' : undefined);
  expect(screen.getByRole('status').textContent).toBe(`The match of “${product}” is removed.Undo`);
  await press('Undo');
  expect(rows()).toEqual(['TWEED-59', 'TWEED-60']);
  expect(changes()).toBeUndefined();
  expect(screen.getByRole('status').textContent).toBe('');
});

test('a removed match is as it was saved when it is added again, and Undo then changes nothing that is newer of others', async () => {
  const { press, add, rows, changes } = await withTwoMatches();
  await press('Remove TWEED-59');
  await add('TWEED-59');
  expect(changes()).toBeUndefined();
  await press('Remove TWEED-60');
  await press('Undo');
  expect(rows()).toEqual(['TWEED-59', 'TWEED-60']);
  expect(screen.getAllByText('Not a preset')).toHaveLength(1);
});

test('changes that were discarded come back by Undo; nothing is offered on another page', async () => {
  const { press, rows, changes } = await withTwoMatches();
  await press('Remove TWEED-59');
  await press('Discard');
  expect(rows()).toEqual(['TWEED-59']);
  expect(screen.getByRole('status').textContent).toBe('1 change is discarded.Undo');
  await press('Undo');
  expect(rows()).toEqual(['TWEED-60']);
  expect(changes()).toBe('1 product changed.');

  await press('Remove TWEED-60');
  cleanup();
  await show(<Toasts />);
  expect((await screen.findByRole('status')).textContent).toBe('');
});

test('what is changed during a save is kept, and its Undo too', async () => {
  let saved = (_: Response) => {};
  const sent: unknown[] = [];
  serve(async (request) => {
    if (request.method !== 'PUT') return Response.json({});
    sent.push(await request.json());
    return new Promise<Response>((resolve) => (saved = resolve));
  });
  const { press, rows, changes } = await withTwoMatches('TWEED-58');
  await press('Remove TWEED-59');
  await press('Save');
  await screen.findByRole('button', { name: 'Saving…' });
  expect(screen.queryByRole('button', { name: 'Undo' })).toBeNull();
  await press('Remove TWEED-58');
  await act(async () => saved(Response.json({ version: 2, mappings: [ignored('TWEED-58')] })));
  await vi.waitFor(() => expect(changes()).toBe('1 product changed.'));
  expect(rows()).toEqual([]);
  await press('Save');
  await vi.waitFor(() => expect(sent.at(-1)).toEqual({ mappings: [], version: 2 }));
  await act(async () => saved(Response.json({ error: { code: 'OVERLOADED', message: 'x' } }, { status: 503 })));
});

test('orders that were skipped are offered while nothing is changed', async () => {
  const { client } = await show(<Products />);
  act(() => {
    client.setQueryData(['stores', 'products', ID, { limit: 100 }], {
      pages: [{ data: [], nextCursor: null }],
      pageParams: [null],
    });
    client.setQueryData(queries.mappings(ID).queryKey, { version: 1, mappings: [ignored('TWEED-59')] } as never);
    client.setQueryData(['stores', 'reprocessable', ID, 'saved'], {
      reprocessableOrders: 2,
      reprocessableOrdersExact: true,
      reprocessableCredits: 4,
    });
  });
  await screen.findByText('2 orders were skipped: their products have presets now.');
  screen.getByRole('button', { name: 'Deliver them' });
  await userEvent.setup().click(screen.getByRole('button', { name: /^Remove TWEED-59/ }));
  expect(screen.queryByText(/were skipped/)).toBeNull();
});

// Two products of the store: one whose file is there, and one whose file is gone. A third has no match.
async function withLost() {
  const { client } = await show(<Products />);
  const product = (sku: string, fileId?: string) => ({
    title: `Preset ${sku}`,
    sku,
    productId: null,
    variantId: null,
    soldCount: 4,
    skippedOrders: 0,
    skippedOrdersExact: true,
    mappedBy: fileId ? { matchType: 'sku', mappingIds: [`map_${sku}`], fileIds: [fileId] } : null,
  });
  const [good, gone, bare] = [product('GOOD', 'file-1'), product('GONE', 'file-2'), product('BARE')];
  const page = (...data: unknown[]) => ({ pages: [{ data, nextCursor: null }], pageParams: [null] });
  const mapping = (matchValue: string, fileId: string) => ({
    ...{ id: `map_${matchValue}`, matchType: 'sku', matchValue, action: 'deliver' },
    ...{ fileId, kind: 'preset', fileName: fileId, stale: false },
  });
  act(() => {
    client.setQueryData(['stores', 'products', ID, { limit: 100 }], page(good, gone, bare));
    client.setQueryData(['stores', 'products', ID, { limit: 100, mapped: false }], page(bare));
    client.setQueryData(['stores', 'products', ID, 'served', ''], [good, gone]);
    client.setQueryData(queries.gonePresets().queryKey, ['file-2', 'file-9']);
    client.setQueryData(queries.store(ID).queryKey, { counts: { unmappedProducts: 1 } } as never);
    client.setQueryData(queries.mappings(ID).queryKey, {
      version: 1,
      mappings: [mapping('GOOD', 'file-1'), mapping('GONE', 'file-2'), mapping('OLD', 'file-9')],
    } as never);
  });
  await screen.findByText('Preset GONE', { selector: 'li bdi' });
  return screen.queryAllByText(/^/, { selector: 'li strong bdi' }).map(({ textContent }) => textContent);
}

test('a product whose file is gone counts and stands among those that need a preset', async () => {
  expect(await withLost()).toEqual(['Preset GONE', 'Preset BARE', 'Preset GOOD', 'OLD']);
  // With the match that no product uses, as its row has the same mark.
  screen.getByText('Needs a preset 3');
  screen.getByRole('button', { name: 'Choose another Preset GONE' });
  expect(screen.queryByRole('button', { name: 'Choose another Preset GOOD' })).toBeNull();
  const arrows = [...document.querySelectorAll('li > svg')].map((arrow) => arrow.hasAttribute('data-needs'));
  expect(arrows).toEqual([true, true, false, true]);
});

test('the list of what needs a preset has the products whose file is gone', async () => {
  at.search = { show: 'needs' };
  expect(await withLost()).toEqual(['Preset BARE', 'Preset GONE', 'OLD']);
});

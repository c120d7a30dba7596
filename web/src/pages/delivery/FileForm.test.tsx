import { act, cleanup, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { queries } from '@/api/queries';
import { clearToasts, Toasts } from '@/components/toasts';
import { failedFor } from '@/testing/delivery';
import { show } from '@/testing/render';
import { serve } from '@/testing/service';
import { FileForm } from './FileForm';

afterEach(() => {
  cleanup();
  act(clearToasts);
  vi.unstubAllGlobals();
});

const it = failedFor('preset_not_found');
const mapping = (matchValue: string, fileId = 'f-Lead') => ({
  id: `map_${matchValue}`,
  matchType: 'sku',
  matchValue,
  action: 'deliver',
  fileId,
  kind: 'preset',
  fileName: 'Lead',
  stale: false,
});

let asked: Record<string, string>[];
async function open({ products = ['LOFI-1'], failed = 3 as number | null, exact = true, retry = false } = {}) {
  asked = [];
  const mappings = [...products.map((sku) => mapping(sku)), mapping('OTHER-1', 'f-other')];
  serve(({ url, method }) => {
    if (url.includes('count=true')) {
      asked.push(Object.fromEntries(new URL(url).searchParams));
      return failed === null
        ? Response.json({ error: { code: 'X', message: 'No.' } }, { status: 400 })
        : Response.json({ data: [], nextCursor: null, count: failed, countIsExact: exact });
    }
    const saves = method === 'PUT' || url.includes('mappings');
    return Response.json(saves ? { version: 1, mappings } : { ...it, status: 'queued' });
  });
  const { client } = await show(
    <>
      <FileForm it={it} retry={retry} />
      <Toasts />
    </>,
  );
  act(() => {
    client.setQueryData(queries.mappings(it.integrationId).queryKey, { version: 1, mappings } as never);
    client.setQueryData(queries.presets('').queryKey, {
      data: [
        { id: 'f-new', name: 'Lead II', kind: 'preset' },
        { id: 'f-Lead', name: 'Lead', kind: 'preset' },
        { id: 'f-Rhythm', name: 'Rhythm', kind: 'preset' },
      ],
      nextCursor: null,
    } as never);
    const lines = [{ title: 'Lofi Bedroom', files: [{ fileId: 'f-Lead' }] }];
    client.setQueryData(queries.order('ord_0a1b2c3d4e5f6').queryKey, { lines } as never);
  });
  return userEvent.setup();
}
async function use(user: ReturnType<typeof userEvent.setup>, name = 'Use this file') {
  await user.click(screen.getByLabelText('Preset to deliver instead', { selector: 'input' }));
  await user.click(await screen.findByText('Lead II'));
  await user.click(screen.getByRole('button', { name }));
}

test.each([
  [1, true, '', 'This order goes on.'],
  [2, true, ' 1 other order that failed for the missing preset goes on too, one credit a preset.', 'This order goes on, and 1 other.'],
  [3, true, ' 2 other orders that failed for the missing preset go on too, one credit a preset.', 'This order goes on, and 2 others.'],
  [1001, false, ' 1,000+ other orders that failed for the missing preset go on too, one credit a preset.', 'This order goes on, and 1,000+ others.'],
  [null, true, ' Orders that failed for the missing preset go on too, one credit a preset.', 'Orders that failed for the missing preset go on.'],
] as const)('another preset counts for all orders of the store, and is said to, before and after: %s', async (failed, exact, also, done) => {
  const user = await open({ failed, exact });
  const says = await screen.findByText(/^The preset that you choose is delivered for/);
  const text = `The preset that you choose is delivered for Lofi Bedroom in all orders of marlowtones.com from now on.${also}`;
  await waitFor(() => expect(says.closest('p')?.textContent.trim()).toBe(text));
  const { integrationId } = it;
  const query = { status: 'failed', resolutionCode: 'preset_not_found', integrationId, fileId: 'f-Lead' };
  expect(asked[0]).toMatchObject(query);
  await use(user);
  await screen.findByText(`Saved for all orders of marlowtones.com. ${done}`);
}); // prettier-ignore

test('a preset that the order has is marked, and choosing it is said to share nothing more', async () => {
  const user = await open();
  await user.click(screen.getByLabelText('Preset to deliver instead', { selector: 'input' }));
  const option = async (name: RegExp) => screen.findByRole('option', { name });
  expect((await option(/^Rhythm/)).textContent).toContain('already in this order');
  expect((await option(/^Lead II/)).textContent).not.toContain('order');
  const missing = await option(/^Lead(?! II)/);
  expect(missing.textContent).toContain('to be replaced');
  expect(missing.getAttribute('data-combobox-disabled')).toBe('true');
  await user.click(await option(/^Rhythm/));
  const says = (_: string, { tagName, textContent }: Element) =>
    tagName === 'P' && textContent === 'This order already has Rhythm, so the buyer gets nothing more.';
  await screen.findByText((text, at) => at !== null && says(text, at));
  await user.click(screen.getByLabelText('Preset to deliver instead', { selector: 'input' }));
  await user.click(await option(/^Lead II/));
  expect(screen.queryByText((text, at) => at !== null && says(text, at))).toBeNull();
});

test('where several products deliver it, their number is said', async () => {
  await open({ products: ['LOFI-1', 'LOFI-2'] });
  await screen.findByText(
    'The preset that you choose is delivered for 2 products in all orders of marlowtones.com from now on.',
  );
});

test('a preset that cannot be shared resumes no other order', async () => {
  const user = await open({ retry: true });
  const says = await screen.findByText(/^The preset that you choose is delivered for/);
  expect(says.closest('p')?.textContent).not.toMatch(/failed/);
  expect(asked).toEqual([]);
  await use(user, 'Use and retry');
  await screen.findByText('Saved for all orders of marlowtones.com. This order goes on.');
});

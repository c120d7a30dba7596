// Enter opens a result of the text that is typed, never one of the text before.
import { cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { show } from '@/testing/render';
import { serve } from '@/testing/service';
import { Palette } from './Palette';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test('a result of the former text is not opened', async () => {
  let answerSecond = () => {};
  const second = new Promise<void>((resolve) => (answerSecond = resolve));
  serve(async (request) => {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname !== '/api/search') return Response.json({ data: [], nextCursor: null });
    const q = searchParams.get('q') ?? '';
    if (q === '41249') await second;
    const item = { id: `del_${q}`, title: `#${q}`, subtitle: null, status: 'failed', deliveryStatus: null };
    return Response.json({ groups: [{ kind: 'delivery', items: [item] }] });
  });
  const user = userEvent.setup();
  const onClose = vi.fn();
  await show(<Palette typed={() => ''} onClose={onClose} onHelp={() => undefined} />);
  await user.type(await screen.findByRole('combobox'), '4124');
  const former = await screen.findByRole('option', { name: /#4124/ });
  expect(former.getAttribute('aria-selected')).toBe('true');
  await user.keyboard('9{Enter}');
  await user.click(former);
  expect([former.getAttribute('aria-selected'), former.getAttribute('aria-disabled')]).toEqual(['false', 'true']);
  // The request for the new text is under way.
  await new Promise((resolve) => setTimeout(resolve, 200));
  await user.keyboard('{ArrowDown}{Enter}');
  expect(onClose).not.toHaveBeenCalled();
  answerSecond();
  const found = await screen.findByRole('option', { name: /#41249/ });
  expect(found.getAttribute('aria-selected')).toBe('true');
  await user.keyboard('{Enter}');
  expect(onClose).toHaveBeenCalledOnce();
});

test('a username is found as pages show it, with its @', async () => {
  const asked: (string | null)[] = [];
  serve((request) => {
    const url = new URL(request.url);
    if (url.pathname !== '/api/search') return Response.json({ data: [], nextCursor: null });
    asked.push(url.searchParams.get('q'));
    const item = { id: 'del_1', title: '#4124', subtitle: 'declines_all', status: 'failed', deliveryStatus: null };
    return Response.json({ groups: [{ kind: 'delivery', items: [item] }] });
  });
  const user = userEvent.setup();
  await show(<Palette typed={() => ''} onClose={() => undefined} onHelp={() => undefined} />);
  await user.type(await screen.findByRole('combobox'), '@');
  await screen.findByText('Nothing found for “@”.');
  await user.type(screen.getByRole('combobox'), 'declines_all');
  await screen.findByRole('option', { name: /#4124/ });
  expect(asked).toEqual(['declines_all']);
  // Where no letter of it is left, nothing that was found before is shown.
  await user.clear(screen.getByRole('combobox'));
  await user.type(screen.getByRole('combobox'), '@');
  await screen.findByText('Nothing found for “@”.');
});

test('before anything is typed there are five pages at most, so that the actions are in view', async () => {
  serve(() => Response.json({ data: [], nextCursor: null }));
  await show(<Palette typed={() => ''} onClose={() => undefined} onHelp={() => undefined} />);
  const pages = await screen.findByRole('group', { name: 'Pages' });
  expect(pages.querySelectorAll('[role=option]')).toHaveLength(5);
  screen.getByRole('group', { name: 'Actions' });
});

test('the palette has a button that closes it, for screens without a keyboard', async () => {
  serve(() => Response.json({ data: [], nextCursor: null }));
  const onClose = vi.fn();
  await show(<Palette typed={() => ''} onClose={onClose} onHelp={() => undefined} />);
  await userEvent.setup().click(await screen.findByRole('button', { name: 'Close', hidden: true }));
  expect(onClose).toHaveBeenCalledOnce();
});

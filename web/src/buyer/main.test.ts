import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => void vi.unstubAllGlobals());

test('the page says that it loads, and that it was asked for too often', async () => {
  document.body.innerHTML = '<div id="page"></div><p id="announcer"></p>';
  location.hash = '#token';
  let answer: (response: Response) => void = () => undefined;
  vi.stubGlobal('fetch', () => new Promise<Response>((resolve) => (answer = resolve)));
  const shown = () => document.getElementById('page')?.textContent;
  await import('./main');
  expect(shown()).toBe('Loading your order');
  answer(new Response('{}', { status: 429, headers: { 'retry-after': '30' } }));
  await vi.waitFor(() => expect(shown()).toBe('Your orderThat was too fast. This page goes on by itself in 30 s.'));
  await vi.waitFor(() => expect(shown()).toMatch(/itself in 2[89] s\.$/), 3_000);
});

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { keepFocus } from './focus';

let stop: () => void;
beforeEach(() => {
  vi.spyOn(Element.prototype, 'getClientRects').mockReturnValue([{}] as unknown as DOMRectList);
  document.body.innerHTML =
    '<nav><a href="/x">Nav</a></nav><main><h1>Page</h1><div id="panel"><button id="one">One</button><div id="bar"><button id="two">Two</button></div></div></main><div role="dialog" id="floating"><button id="in">In</button></div>';
  stop = keepFocus();
});
afterEach(() => {
  stop();
  vi.restoreAllMocks();
});
const at = (id: string) => document.getElementById(id)!;
const soon = () => new Promise((done) => setTimeout(done, 120));

test('what is gone leaves the focus to what is nearest', async () => {
  at('two').focus();
  at('bar').remove();
  await soon();
  expect(document.activeElement).toBe(at('one'));
});

test('where nothing is near, the name of the page has it', async () => {
  at('two').focus();
  at('panel').remove();
  await soon();
  expect(document.activeElement?.tagName).toBe('H1');
});

test('what floats gives it back to what had it before', async () => {
  at('one').focus();
  at('in').focus();
  at('floating').remove();
  await soon();
  expect(document.activeElement).toBe(at('one'));
});

test('who pressed elsewhere keeps nothing', async () => {
  at('two').focus();
  document.dispatchEvent(new Event('pointerdown'));
  at('bar').remove();
  await soon();
  expect(document.activeElement).toBe(document.body);
});

// A list of so many, each with a link and a button.
function list(count: number) {
  const rows = Array.from(
    { length: count },
    (_, i) =>
      `<tr id="row-${i}"><td><a id="link-${i}" href="/${i}">${i}</a></td><td><button id="more-${i}">…</button></td></tr>`,
  );
  at('panel').innerHTML = `<table><tbody id="rows">${rows.join('')}</tbody></table><button id="older">Older</button>`;
}
const id = () => document.activeElement?.id;

test('where a row goes, the one that followed it has the focus', async () => {
  list(50);
  at('more-40').focus();
  at('row-40').remove();
  await soon();
  expect(id()).toBe('link-41');
});
test('so it is where others go with it, and new ones come', async () => {
  list(50);
  at('more-40').focus();
  for (const gone of [39, 40, 41, 38]) at(`row-${gone}`).remove();
  at('rows').prepend(
    Object.assign(document.createElement('tr'), { innerHTML: '<td><a href="/new" id="new">New</a></td>' }),
  );
  await soon();
  expect(id()).toBe('link-42');
});
test('what comes in the place of what has gone has the focus', async () => {
  list(3);
  at('link-1').focus();
  const next = Object.assign(document.createElement('tr'), { innerHTML: '<td><a href="/new" id="new">New</a></td>' });
  at('row-1').remove();
  at('rows').insertBefore(next, at('row-2'));
  await soon();
  expect(id()).toBe('new');
});
test('where the last row goes, the one before it has the focus, and what follows the list where none is left', async () => {
  list(3);
  at('more-2').focus();
  at('row-2').remove();
  await soon();
  expect(id()).toBe('more-1');
  at('row-1').remove();
  at('row-0').remove();
  await soon();
  expect(id()).toBe('older');
});
test('no button that destroys gets the focus by itself', async () => {
  list(4);
  at('row-2').innerHTML = '<td><button data-variant="danger" id="stop">Stop</button></td>';
  at('link-1').focus();
  at('row-1').remove();
  await soon();
  expect(id()).toBe('link-3');
});
test('the page stays where it is for who goes by the pointer', async () => {
  const focus = vi.spyOn(HTMLElement.prototype, 'focus');
  list(4);
  document.dispatchEvent(new Event('pointerdown'));
  at('more-1').focus();
  at('row-1').remove();
  await soon();
  expect(id()).toBe('link-2');
  expect(focus).toHaveBeenLastCalledWith({ preventScroll: true });
  document.dispatchEvent(new Event('keydown'));
  at('row-2').remove();
  await soon();
  expect(id()).toBe('link-3');
  expect(focus).toHaveBeenLastCalledWith({ preventScroll: false });
});

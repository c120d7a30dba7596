import { expect, test } from 'vitest';
import { actionEntries, foundEntries, matching, pageEntries } from './entries';

const titles = (entries: { title: string }[]) => entries.map(({ title }) => title);
const does = { theme: () => {}, shortcuts: () => {}, signOut: () => {} };

test('every word that is typed begins a word of what is offered', () => {
  expect(titles(matching(pageEntries(), 'web'))).toEqual(['Outbound webhooks']);
  expect(titles(matching(pageEntries(), 'need del'))).toEqual(['Deliveries that need you']);
  expect(matching(pageEntries(), 'integ').map(({ link }) => link?.to)).toEqual(['/integrations']);
  for (const text of ['erase', 'customer', 'export'])
    expect(titles(matching(pageEntries(), text))).toContain('Buyers’ data and privacy requests');
  expect(matching(pageEntries(), 'ebhooks')).toEqual([]);
  expect(matching(pageEntries(), '(')).toEqual([]);
});

test('actions of a store are of those that are not archived', () => {
  const stores = [
    { id: 'int_1', name: 'Café Tone', archivedAt: null },
    { id: 'int_2', name: 'Old', archivedAt: '2026-11-23T10:00:00.000Z' },
  ];
  const found = matching(actionEntries(stores, does), 'test cafe');
  expect(found.map(({ link }) => link)).toEqual([
    { to: '/integrations/stores/$id/products', params: { id: 'int_1' }, search: { test: 'order' } },
  ]);
  expect(matching(actionEntries(stores, does), 'old')).toEqual([]);
});

test('all that the platform refused is retried from anywhere', () => {
  const [found] = matching(actionEntries([], does), 'retry refused');
  expect(found?.link).toEqual({ to: '/deliveries', search: { do: 'retry-refused' } });
});

test('what only owners do is offered to them alone', () => {
  const offered = (owner: boolean) => titles(actionEntries([], does, owner)).slice(0, 3);
  expect(offered(true)).toEqual(['Create token', 'Invite somebody', 'Connect a store']);
  expect(offered(false)).toEqual(['Connect a store', 'Add a webhook', 'Retry all that the platform refused']);
  expect(titles(pageEntries(true))).toEqual(expect.arrayContaining(['Overview', 'Profile', 'Audit log']));
  expect(titles(pageEntries())).not.toContain('Audit log');
});

test('who types what they want of the credits is led there, an owner to buy some where they are sold', () => {
  const found = (owner: boolean, sold: boolean) => titles(matching([...pageEntries(owner), ...actionEntries([], does, owner, sold)], 'buy')); // prettier-ignore
  expect(found(true, true)).toEqual(expect.arrayContaining(['Credits', 'Buy credits']));
  expect(found(true, false)).not.toContain('Buy credits');
  expect(found(false, true)).not.toContain('Buy credits');
  expect(titles(matching(pageEntries(), 'receipt'))).toEqual(['Credits']);
});

test('what the search finds leads to its page; of a newer kind there is none', () => {
  const item = (id: string, status: string | null) => ({ id, title: id, subtitle: 'x', status, deliveryStatus: null });
  const found = foundEntries([
    { kind: 'delivery', items: [item('del_1', 'failed')] },
    { kind: 'order', items: [item('ord_1', 'no_mapped_items')] },
    { kind: 'preset', items: [item('a/b', null)] },
    { kind: 'key', items: [item('key_1', 'inactive')] },
    { kind: 'toString' as 'key', items: [item('?', null)] },
  ]);
  expect(found.map(({ link, state }) => [link?.to, link?.params, state])).toEqual([
    ['/deliveries/$id', { id: 'del_1' }, 'Failed'],
    ['/orders/$id', { id: 'ord_1' }, 'No presets'],
    ['/presets/$id', { id: 'a/b' }, undefined],
    ['/keys/$id', { id: 'key_1' }, 'Off'],
  ]);
});

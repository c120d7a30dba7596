import { expect, test } from 'vitest';
import type { Schemas } from '@/api/client';
import {
  changesOf,
  exactInstead,
  keyOf,
  keyOfProduct,
  mappingsWith,
  matchesOf,
  unsent,
  withFormer,
  withMatch,
  withoutMatch,
  type Draft,
  type Match,
} from './draft';

const mapping = (id: string, matchValue: string, fileId: string, more: Partial<Schemas['Mapping']> = {}): Schemas['Mapping'] => ({
  id, matchType: 'sku', matchValue, action: 'deliver', fileId, kind: 'preset', fileName: `File ${fileId}`, stale: false, ...more,
}); // prettier-ignore
const product = (more: Partial<Schemas['Product']>): Schemas['Product'] => ({
  title: null, sku: null, productId: null, variantId: null, soldCount: 1, firstSeenAt: '', lastSeenAt: '', skippedOrders: 0,
  skippedOrdersExact: true, mappedBy: null, ...more,
}); // prettier-ignore
const MAPPINGS = [
  mapping('map_1', 'PACK', 'a'),
  mapping('map_2', 'PACK', 'b'),
  mapping('map_3', 'Shirt', '', { matchType: 'title', action: 'ignore' }),
];
const saved = matchesOf(MAPPINGS);
const none: Draft = new Map();
const file = (fileId: string) => ({ fileId, kind: 'preset', fileName: `File ${fileId}`, stale: false });
const match = (matchValue: string, files: string[], ignored = false): Match => ({
  matchType: 'sku',
  matchValue,
  ignored,
  files: files.map(file),
});

test('mappings of one value are one match', () => {
  expect([...saved.keys()]).toEqual(['sku:PACK', 'title:Shirt']);
  expect(saved.get('sku:PACK')?.files.map(({ fileId }) => fileId)).toEqual(['a', 'b']);
  expect(saved.get('title:Shirt')).toMatchObject({ ignored: true, files: [] });
});

test('a product is keyed by the match that serves it, else by its most exact key from the shop', () => {
  const mappedBy = { matchType: 'title' as const, mappingIds: ['map_3'], fileIds: [] };
  expect(keyOfProduct(product({ sku: 'S-1', mappedBy }), MAPPINGS)).toEqual({
    matchType: 'title',
    matchValue: 'Shirt',
  });
  expect(keyOfProduct(product({ sku: 'S-1', variantId: '2', title: 'x' }), MAPPINGS)).toEqual({
    matchType: 'sku',
    matchValue: 'S-1',
  });
  expect(keyOfProduct(product({ variantId: '2', productId: '3' }), MAPPINGS)).toEqual({
    matchType: 'variant_id',
    matchValue: '2',
  });
  expect(keyOfProduct(product({ productId: '3', title: 'x' }), MAPPINGS)).toEqual({
    matchType: 'product_id',
    matchValue: '3',
  });
  expect(keyOfProduct(product({ title: 'x' }), MAPPINGS)).toEqual({ matchType: 'title', matchValue: 'x' });
  expect(keyOfProduct(product({}), MAPPINGS)).toBeNull();
});

test('a match that equals its saved one is no change', () => {
  const changed = withMatch(none, saved, match('PACK', ['a']));
  expect(changed.size).toBe(1);
  expect(withMatch(changed, saved, match('PACK', ['a', 'b'])).size).toBe(0);
  expect(withMatch(none, saved, match('NEW', [])).size).toBe(0);
  expect(changesOf(new Map([[keyOf(match('NEW', [])), match('NEW', [])]]), saved)).toBe(0);
});

test('a save sends all matches with the changes, and nothing that the service does not take', () => {
  const draft = withMatch(withMatch(none, saved, match('PACK', ['b', 'c'])), saved, match('MUG', [], true));
  expect(mappingsWith(saved, draft)).toEqual([
    { matchType: 'sku', matchValue: 'PACK', action: 'deliver', fileId: 'b', kind: 'preset', fileName: 'File b' },
    { matchType: 'sku', matchValue: 'PACK', action: 'deliver', fileId: 'c', kind: 'preset', fileName: 'File c' },
    { matchType: 'title', matchValue: 'Shirt', action: 'ignore' },
    { matchType: 'sku', matchValue: 'MUG', action: 'ignore' },
  ]);
  expect(mappingsWith(saved, withMatch(none, saved, match('PACK', [])))).toEqual([
    { matchType: 'title', matchValue: 'Shirt', action: 'ignore' },
  ]);
});

const mappedBy = { matchType: 'title' as const, mappingIds: ['map_3'], fileIds: [] };
const shirt = product({ title: 'Shirt', sku: 'S-1', variantId: '2', mappedBy });
const byTitle: Match = { matchType: 'title', matchValue: 'Shirt', ignored: false, files: [file('a'), file('b')] };

test('a match by SKU or id in place of the title’s delivers the same', () => {
  const files = [file('a'), file('b')];
  const by = (one: Schemas['Product']) => exactInstead(one, byTitle, saved, none);
  expect(by(shirt)).toEqual({ matchType: 'sku', matchValue: 'S-1', ignored: false, files });
  expect(by({ ...shirt, sku: null })).toEqual({ matchType: 'variant_id', matchValue: '2', ignored: false, files });
  expect(by(product({ productId: '3', mappedBy }))).toMatchObject({ matchType: 'product_id', matchValue: '3', files });
  expect(exactInstead(shirt, { ...byTitle, ignored: true, files: [] }, saved, none)).toEqual({
    matchType: 'sku',
    matchValue: 'S-1',
    ignored: true,
    files: [],
  });
  const withStale = { ...byTitle, files: [file('a'), { ...file('b'), stale: true }] };
  expect(exactInstead(shirt, withStale, saved, none)?.files).toEqual([file('a')]);
});

test('no match by SKU or id is offered without such a value, without need, or twice', () => {
  expect(exactInstead(product({ title: 'Shirt', mappedBy }), byTitle, saved, none)).toBeNull();
  expect(exactInstead({ ...shirt, mappedBy: null }, byTitle, saved, none)).toBeNull();
  expect(exactInstead({ ...shirt, mappedBy: { ...mappedBy, matchType: 'sku' } }, byTitle, saved, none)).toBeNull();
  expect(exactInstead({ ...shirt, sku: 'PACK' }, byTitle, saved, none)).toBeNull();
  expect(exactInstead(shirt, { ...byTitle, files: [] }, saved, none)).toBeNull();
  expect(exactInstead(shirt, byTitle, saved, new Map([['sku:S-1', match('S-1', ['a'])]]))).toBeNull();
});

test('a product goes by the draft’s match of its SKU or id, and its title’s match stays saved', () => {
  const draft = withMatch(none, saved, match('S-1', ['a']));
  expect(keyOfProduct(shirt, MAPPINGS, draft)).toEqual({ matchType: 'sku', matchValue: 'S-1' });
  expect(keyOfProduct(shirt, MAPPINGS, withMatch(none, saved, match('S-2', ['a'])))).toEqual({
    matchType: 'title',
    matchValue: 'Shirt',
  });
  const bySku = { ...mappedBy, matchType: 'sku' as const, mappingIds: ['map_1'] };
  expect(keyOfProduct({ ...shirt, mappedBy: bySku }, MAPPINGS, draft)).toEqual({
    matchType: 'sku',
    matchValue: 'PACK',
  });
  expect(changesOf(draft, saved)).toBe(1);
  expect(mappingsWith(saved, draft)).toContainEqual({ matchType: 'title', matchValue: 'Shirt', action: 'ignore' });
});

test('a file of another cloud account stays one until it is chosen anew', () => {
  const stale = matchesOf([mapping('map_1', 'A', 'a', { stale: true }), mapping('map_2', 'B', 'b', { stale: true })]);
  const draft = withMatch(none, stale, match('B', ['b']));
  expect(changesOf(draft, stale)).toBe(1);
  expect(mappingsWith(stale, draft)).toEqual([
    expect.objectContaining({ fileId: 'a', stale: true }),
    expect.not.objectContaining({ stale: true }),
  ]);
});

test('after a save the draft has what is not as it was sent', () => {
  const sent = withoutMatch(withMatch(none, saved, match('NEW', ['c'])), saved, match('PACK', []));
  const after = (now: Draft) => unsent(now, sent, saved);
  expect(after(sent).size).toBe(0);
  const served = matchesOf([
    mapping('map_3', 'Shirt', '', { matchType: 'title', action: 'ignore' }),
    mapping('map_4', 'NEW', 'c'),
  ]);
  const kept = after(withMatch(sent, saved, match('MUG', ['a'])));
  expect([...kept.keys()]).toEqual(['sku:MUG']);
  // Undo of a removal, and the removal of what was new
  const undone = after(withFormer(sent, none, match('PACK', [])));
  expect(mappingsWith(served, undone).map(({ fileId }) => fileId)).toEqual([undefined, 'c', 'a', 'b']);
  const removed = after(withoutMatch(sent, saved, match('NEW', ['c'])));
  expect(removed.get('sku:NEW')?.removed).toBe(true);
  expect(mappingsWith(served, removed)).toHaveLength(1);
});

test('a removed match of a product’s SKU leaves the product to its title’s match', () => {
  const stale = matchesOf([mapping('map_4', 'S-1', 'z', { stale: true }), ...MAPPINGS]);
  const own = { ...match('S-1', []), files: [{ ...file('z'), stale: true }] };
  const draft = withoutMatch(none, stale, own);
  expect(keyOfProduct(shirt, MAPPINGS, draft)).toEqual({ matchType: 'title', matchValue: 'Shirt' });
  const instead = exactInstead(shirt, byTitle, stale, draft);
  expect(instead).toMatchObject({ matchValue: 'S-1', files: [file('a'), file('b')] });
  expect(exactInstead(shirt, byTitle, stale, none)).toBeNull();
  // A match that is chosen anew is removed no more
  const removed = draft.get('sku:S-1')!;
  const anew = withMatch(draft, stale, { ...removed, files: [file('a')] });
  expect(anew.get('sku:S-1')).toStrictEqual(match('S-1', ['a']));
});

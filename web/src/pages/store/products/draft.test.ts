import { expect, test } from 'vitest';
import type { Schemas } from '@/api/client';
import { changesOf, keyOf, keyOfProduct, mappingsWith, matchesOf, withMatch, type Draft, type Match } from './draft';

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

test('a product goes by the match that serves it, else by the most exact that the shop tells', () => {
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

test('a match that is again as it is saved is no change', () => {
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

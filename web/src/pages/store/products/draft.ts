// The matches of a store while they are edited: the saved ones, the changes, and the body of a save. A match is a value of the shop
// (a SKU, an id, a title) and the files that it delivers, or the mark that it delivers none.
import type { Schemas } from '@/api/client';
import type { MatchType } from '@/vocabulary/store';

export type File = { fileId: string; kind: string; fileName: string; stale: boolean };
// `removed`: its row is gone, and a save deletes it.
export type Match = { matchType: MatchType; matchValue: string; ignored: boolean; files: File[]; removed?: boolean };
export type Key = string;
export type Draft = ReadonlyMap<Key, Match>;

type Mapping = Schemas['Mapping'];
type Product = Schemas['Product'];

export const keyOf = ({ matchType, matchValue }: Pick<Match, 'matchType' | 'matchValue'>): Key =>
  `${matchType}:${matchValue}`;

// How many matches a save would change: one that was added and has no file yet is none.
export const changesOf = (draft: Draft, saved: ReadonlyMap<Key, Match>) =>
  [...draft].filter(([key, match]) => !same(saved.get(key), match)).length;

export function matchesOf(mappings: Mapping[]): Map<Key, Match> {
  const matches = new Map<Key, Match>();
  for (const { matchType, matchValue, action, fileId, kind, fileName, stale } of mappings) {
    const key = keyOf({ matchType, matchValue });
    const match = matches.get(key) ?? { matchType, matchValue, ignored: false, files: [] };
    if (action === 'ignore') match.ignored = true;
    else match.files.push({ fileId, kind, fileName, stale });
    matches.set(key, match);
  }
  return matches;
}

// The key of a product: that of the match that serves it, else the most exact value that the shop has sent of it. A match in the
// draft by such a value goes before the title's.
export function keyOfProduct(
  product: Product,
  mappings: Mapping[],
  draft: Draft = new Map(),
): Pick<Match, 'matchType' | 'matchValue'> | null {
  const serving = product.mappedBy ? mappings.find(({ id }) => product.mappedBy?.mappingIds.includes(id)) : undefined;
  const exact = exactKeyOf(product);
  if (!serving || (serving.matchType === 'title' && exact && isIn(draft, exact))) return exact;
  return { matchType: serving.matchType, matchValue: serving.matchValue };
}

// For a product that its title's match serves: a match by its SKU or id that delivers the same, or null if there is no such value or
// it has a match already. Files of another cloud account are left out: the title's match does not deliver them either.
export function exactInstead(
  product: Product,
  byTitle: Match,
  saved: ReadonlyMap<Key, Match>,
  draft: Draft,
): Match | null {
  const exact = exactKeyOf(product);
  if (product.mappedBy?.matchType !== 'title' || !exact || exact.matchType === 'title') return null;
  if (isIn(draft.has(keyOf(exact)) ? draft : saved, exact)) return null;
  const files = byTitle.files.filter(({ stale }) => !stale);
  return byTitle.ignored || files.length > 0 ? { ...exact, ignored: byTitle.ignored, files } : null;
}

function isIn(matches: ReadonlyMap<Key, Match>, by: Pick<Match, 'matchType' | 'matchValue'>) {
  const match = matches.get(keyOf(by));
  return match !== undefined && !match.removed;
}

export function exactKeyOf(
  product: Pick<Product, 'sku' | 'variantId' | 'productId' | 'title'>,
): Pick<Match, 'matchType' | 'matchValue'> | null {
  if (product.sku) return { matchType: 'sku', matchValue: product.sku };
  if (product.variantId) return { matchType: 'variant_id', matchValue: product.variantId };
  if (product.productId) return { matchType: 'product_id', matchValue: product.productId };
  if (product.title) return { matchType: 'title', matchValue: product.title };
  return null;
}

// A file of another cloud account that is chosen anew is a change.
const filesOf = (match: Match | undefined) => (match?.files ?? []).map(({ fileId, stale }) => `${stale} ${fileId}`);

const same = (a: Match | undefined, b: Match) =>
  (a?.ignored ?? false) === b.ignored && filesOf(a).join('\n') === filesOf(b).join('\n');

// The draft with one match as it shall be; one that is as it is saved leaves the draft.
export function withMatch(draft: Draft, saved: ReadonlyMap<Key, Match>, { removed: _, ...match }: Match): Draft {
  const next = new Map(draft);
  const key = keyOf(match);
  if (same(saved.get(key), match)) next.delete(key);
  else next.set(key, match);
  return next;
}

// The draft without a match. A saved one is removed by the save.
export function withoutMatch(draft: Draft, saved: ReadonlyMap<Key, Match>, match: Match): Draft {
  const next = new Map(draft);
  const key = keyOf(match);
  if (saved.has(key)) next.set(key, { ...match, ignored: false, files: [], removed: true });
  else next.delete(key);
  return next;
}

// The draft with a match of no files. A saved one, which was removed, comes back as it is saved.
export function withAdded(
  draft: Draft,
  saved: ReadonlyMap<Key, Match>,
  by: Pick<Match, 'matchType' | 'matchValue'>,
): Draft {
  const next = new Map(draft);
  if (saved.has(keyOf(by))) next.delete(keyOf(by));
  else next.set(keyOf(by), { ...by, ignored: false, files: [] });
  return next;
}

// The draft with one match as it was in the draft of before.
export function withFormer(draft: Draft, before: Draft, match: Match): Draft {
  const next = new Map(draft);
  const key = keyOf(match);
  const former = before.get(key);
  if (former) next.set(key, former);
  else next.delete(key);
  return next;
}

// The draft after a save: what was changed since it was sent. `saved`: the matches before the save.
export function unsent(now: Draft, sent: Draft, saved: ReadonlyMap<Key, Match>): Draft {
  const next = new Map<Key, Match>();
  for (const [key, was] of new Map([...now, ...sent])) {
    const is = now.get(key) ?? saved.get(key) ?? { ...was, ignored: false, files: [], removed: true };
    if (!sent.has(key) || !same(was, is) || was.removed !== is.removed) next.set(key, is);
  }
  return next;
}

// All matches of the store with the draft over them, as the service takes them. Files of another cloud account that nobody chose anew
// stay such files.
export function mappingsWith(saved: ReadonlyMap<Key, Match>, draft: Draft): Schemas['NewMapping'][] {
  return [...new Map([...saved, ...draft]).values()].flatMap(
    ({ matchType, matchValue, ignored, files }): Schemas['NewMapping'][] =>
      ignored
        ? [{ matchType, matchValue, action: 'ignore' }]
        : files.map(({ fileId, kind, fileName, stale }) => ({
            matchType,
            matchValue,
            action: 'deliver',
            fileId,
            kind,
            fileName,
            ...(stale ? { stale } : {}),
          })),
  );
}

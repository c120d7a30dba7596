// The address is the state of a page: how its query is read and written. Every value is text; values that a page does not know stay.
export type Search = Record<string, string>;

export function parseSearch(query: string): Search {
  return Object.fromEntries(new URLSearchParams(query));
}

// Commas stay as they are, so that an address can be read.
export function stringifySearch(search: Record<string, unknown>): string {
  const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]))
    .toString()
    .replaceAll('%2C', ',');
  return query ? `?${query}` : '';
}

// The search with some values changed; undefined takes one away. `at` (the page of a list) begins anew with every filter.
export function changed(search: Search, change: Record<string, string | undefined>): Search {
  const { at: _, ...rest } = search;
  const next = { ...rest, ...change };
  return Object.fromEntries(
    Object.entries(next).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== ''),
  );
}

// The cursors of the pages before this one and its own, the newest last: "cur_a.cur_b".
export const cursorsOf = (search: Search) => (search.at ? search.at.split('.') : []);

// Whether a value of the address has the form of a store's id, without which the service would refuse the request.
export const isStoreId = (value: string) => /^int_[0-7][0-9a-hjkmnp-tv-z]{12}$/.test(value);

export const storeOf = ({ store }: Search) => (store && isStoreId(store) ? store : undefined);

// The views of the list that a person saved: a name and the filters of the address, never the search text.
import type { Schemas } from '@/api/client';
import { parseSearch, stringifySearch, type Search } from '../../search';
import { t } from '@/i18n/text';
import { FILTERS, isOldestFirst, valuesOf, viewOf, VIEWS } from '../filters';

export type SavedView = Schemas['View'];

export const MOST_VIEWS = 20;
export const LONGEST_NAME = 60;

// What of the address a view keeps, in one order, so that two addresses that find the same are the same.
export function keptOf(search: Search): Search {
  const kept: Search = {};
  const view = viewOf(search);
  if (view !== 'all') kept['view'] = view;
  for (const filter of FILTERS) {
    const values = valuesOf(filter, search);
    if (values.length > 0) kept[filter] = [...values].sort().join(',');
  }
  if (isOldestFirst(search)) kept['sort'] = 'createdAt';
  return kept;
}

// A tab that everybody has is called so, and one's own would look like it.
export const isTaken = (name: string) =>
  VIEWS.some((one) => t(`deliveries.tab.${one}`).toLowerCase() === name.trim().toLowerCase());

// What the service stores of it.
export const queryTextOf = (search: Search) => stringifySearch(keptOf(search)).slice(1);
export const searchOf = ({ query }: SavedView): Search => keptOf(parseSearch(query));

// The one whose list this is; -1: none.
export function activeOf(views: SavedView[], search: Search): number {
  const text = queryTextOf(search);
  return views.findIndex((view) => queryTextOf(searchOf(view)) === text);
}

// Whether there is something to save that is not saved, and not one of the tabs that everybody has.
export function isWorthSaving(views: SavedView[], search: Search): boolean {
  const { view: _, ...filters } = keptOf(search);
  return Object.keys(filters).length > 0 && views.length < MOST_VIEWS && activeOf(views, search) < 0;
}

export function moved(views: SavedView[], from: number, to: number): SavedView[] {
  const one = views[from];
  if (!one || to < 0 || to >= views.length) return views;
  const rest = views.filter((_, at) => at !== from);
  return [...rest.slice(0, to), one, ...rest.slice(to)];
}

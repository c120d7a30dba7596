// The views of the list that a person saved: a name and the filters of the address, never the search text.
import type { Schemas } from '@/api/client';
import { parseSearch, stringifySearch, type Search } from '../../search';
import { t } from '@/i18n/text';
import { FILTERS, isOldestFirst, valuesOf, viewOf, VIEWS } from '../filters';

export type SavedView = Schemas['View'];

const MOST_VIEWS = 20;
export const LONGEST_NAME = 60;

// The part of the address that a view stores, in a fixed order, so that addresses with equal results are equal.
function storedPartOf(search: Search): Search {
  const part: Search = {};
  const view = viewOf(search);
  if (view !== 'all') part['view'] = view;
  for (const filter of FILTERS) {
    const values = valuesOf(filter, search);
    if (values.length > 0) part[filter] = [...values].sort().join(',');
  }
  if (isOldestFirst(search)) part['sort'] = 'createdAt';
  return part;
}

// Whether a tab that everybody has is named so: a view of that name could not be distinguished from it.
export const isTaken = (name: string) =>
  VIEWS.some((one) => t(`deliveries.tab.${one}`).toLowerCase() === name.trim().toLowerCase());

// The text that the service stores of a view.
export const queryTextOf = (search: Search) => stringifySearch(storedPartOf(search)).slice(1);
export const searchOf = ({ query }: SavedView): Search => storedPartOf(parseSearch(query));

// The index of the view whose list this is; -1: none.
export function activeOf(views: SavedView[], search: Search): number {
  const text = queryTextOf(search);
  return views.findIndex((view) => queryTextOf(searchOf(view)) === text);
}

// Whether the filters can be saved as a view: there are some, no view has them, and there is room for one more.
export function isWorthSaving(views: SavedView[], search: Search): boolean {
  const { view: _, ...filters } = storedPartOf(search);
  return Object.keys(filters).length > 0 && views.length < MOST_VIEWS && activeOf(views, search) < 0;
}

export function moved(views: SavedView[], from: number, to: number): SavedView[] {
  const one = views[from];
  if (!one || to < 0 || to >= views.length) return views;
  const rest = views.filter((_, at) => at !== from);
  return [...rest.slice(0, to), one, ...rest.slice(to)];
}

// The chosen rows of a list, over all its pages, or all rows that match at one time. Another filter begins a new selection.
import { useState } from 'react';
import type { DeliveryQuery } from '@/api/queries';
import type { Selection } from '@/components/Select';
import { t } from '@/i18n/text';
import { toast } from '@/components/toasts';
import { filterOf, MOST_IDS, type Meant } from './wanted';

export type Chosen = { kind: 'some'; ids: ReadonlySet<string> } | { kind: 'all'; query: DeliveryQuery; asOf: string };
const NONE: Chosen = { kind: 'some', ids: new Set() };

export const meantBy = (chosen: Chosen): Meant =>
  chosen.kind === 'some' ? { ids: [...chosen.ids].sort() } : { filter: filterOf(chosen.query), asOf: chosen.asOf };

// `scope`: the filters as the address has them. `shown`: the ids of the page, in their order.
export function useSelection(scope: string, shown: string[], nameOf: (id: string) => string) {
  const [state, setState] = useState({ scope, chosen: NONE });
  const chosen = state.scope === scope ? state.chosen : NONE;
  const become = (next: Chosen) => setState({ scope, chosen: next });
  const selection: Selection = {
    has: (id) => chosen.kind === 'all' || chosen.ids.has(id),
    set: (ids, on) => {
      const next = new Set(chosen.kind === 'all' ? shown : chosen.ids);
      for (const id of ids) {
        if (on) next.add(id);
        else next.delete(id);
      }
      if (next.size > MOST_IDS) toast(t('select.tooMany'), { tone: 'bad' });
      else become({ kind: 'some', ids: next });
    },
    nameOf,
  };
  return {
    chosen,
    selection,
    isEmpty: chosen.kind === 'some' && chosen.ids.size === 0,
    chooseAll: (query: DeliveryQuery) => become({ kind: 'all', query, asOf: new Date().toISOString() }),
    clear: () => become(NONE),
  };
}

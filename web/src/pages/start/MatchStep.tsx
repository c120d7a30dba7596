// Which files each product delivers. Equal names are suggested; nothing is saved before somebody says so.
import '@/i18n/en/guide';
import '@/i18n/en/stores';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Schemas } from '@/api/client';
import { queries } from '@/api/queries';
import { Alert } from '@/components/Alert';
import { Bdi } from '@/components/Bdi';
import { Loaded, SkeletonRows } from '@/components/States';
import { useUndo } from '@/components/useUndo';
import { t, T } from '@/i18n/text';
import type { Store } from '@/vocabulary/store';
import {
  keyOf,
  keyOfProduct,
  mappingsWith,
  matchesOf,
  withFormer,
  withMatch,
  type Draft,
  type Match,
} from '../store/products/draft';
import { MatchRow } from '../store/products/MatchRow';
import { AddByHand } from './AddByHand';
import { useFirstOrder } from './lines';
import { NoPresets } from './NoPresets';
import { SaveMatches } from './SaveMatches';
import { suggestionFor } from './suggestions';
import styles from './start.module.css';

const SHOWN = 20;

export function MatchStep({ store, onDone }: { store: Store | undefined; onDone: () => void }) {
  const mappings = useQuery({ ...queries.mappings(store?.id ?? ''), enabled: store !== undefined });
  const products = useQuery({ ...queries.products(store?.id ?? '', { limit: SHOWN }), enabled: store !== undefined });
  const presets = useQuery(queries.presets(''));
  if (!store) return <p className="muted">{t('guide.store.text')}</p>;
  if (presets.data?.data.length === 0) return <NoPresets />;
  return (
    <Loaded read={mappings} what={t('products.what')} skeleton={<SkeletonRows rows={2} height={60} />}>
      {(set) => (
        <Loaded read={products} what={t('products.what')} skeleton={<SkeletonRows rows={2} height={60} />}>
          {({ data }) => (
            <Matches store={store} set={set} products={data} presets={presets.data?.data ?? []} onDone={onDone} />
          )}
        </Loaded>
      )}
    </Loaded>
  );
}

type Props = {
  store: Store;
  set: Schemas['MappingSet'];
  products: Schemas['Product'][];
  presets: Schemas['Preset'][];
  onDone: () => void;
};

function Matches({ store, set, products, presets, onDone }: Props) {
  const came = useFirstOrder(store) !== undefined;
  const saved = matchesOf(set.mappings);
  const rows = products.flatMap((product) => {
    const by = keyOfProduct(product, set.mappings);
    const unsold = product.soldCount === 0;
    return by ? [{ name: product.title ?? by.matchValue, detail: product.sku ?? by.matchValue, unsold, by }] : [];
  });
  // A suggestion is a draft like any other: it can be changed, and is saved with the rest.
  const [draft, setDraft] = useState<Draft>(new Map());
  const [left, setLeft] = useState(false); // a save was refused for rows without presets
  const suggested = new Map(
    rows.flatMap(({ name, by }): [string, Match][] => {
      const preset = saved.has(keyOf(by)) ? undefined : suggestionFor(name, presets);
      return preset
        ? [
            [
              keyOf(by),
              {
                ...by,
                ignored: false,
                files: [{ fileId: preset.id, kind: preset.kind, fileName: preset.name, stale: false }],
              },
            ],
          ]
        : [];
    }),
  );
  const all: Draft = new Map([...suggested, ...draft]);
  const matchOf = (by: Pick<Match, 'matchType' | 'matchValue'>): Match =>
    all.get(keyOf(by)) ?? saved.get(keyOf(by)) ?? { ...by, ignored: false, files: [] };
  const change = (match: Match) => setDraft((now) => new Map([...withMatch(now, saved, match), [keyOf(match), match]]));
  const typed = [...draft.values()].filter((match) => !rows.some(({ by }) => keyOf(by) === keyOf(match)));
  const { offer } = useUndo();
  const remove = (match: Match) => {
    setDraft((now) => new Map([...now].filter(([key]) => key !== keyOf(match))));
    offer(t('products.removed', { product: match.matchValue }), () => setDraft((now) => withFormer(now, draft, match)));
  };
  const bare = typed.filter(({ ignored, files }) => !ignored && files.length === 0).length;
  const ready = [...all.values()].some(({ ignored, files }) => ignored || files.length > 0);
  const blocked = () => {
    if (bare > 0) setLeft(true);
    return bare > 0;
  };
  return (
    <div className={styles.parts}>
      {rows.length === 0 ? (
        <p className="muted">
          <T
            k={came ? 'guide.mapping.came' : store.lastOrderAt ? 'guide.mapping.sample' : 'guide.mapping.none'}
            values={{
              csv: (
                <Link className="link" to="/integrations/stores/$id/products" params={{ id: store.id }} search={{}}>
                  {t('guide.mapping.csv')}
                </Link>
              ),
            }}
          />
        </p>
      ) : null}
      {rows.length + typed.length > 0 ? (
        <ul className={styles.matches} aria-label={t('products.what')}>
          {rows.map(({ name, detail, unsold, by }) => (
            <MatchRow
              key={keyOf(by)}
              name={name}
              detail={suggested.has(keyOf(by)) && !draft.has(keyOf(by)) ? t('guide.mapping.suggested') : detail}
              match={matchOf(by)}
              changed={all.has(keyOf(by))}
              unsold={unsold}
              onChange={change}
            />
          ))}
          {typed.map((match) => (
            <MatchRow
              key={keyOf(match)}
              name={match.matchValue}
              detail={t(`match.${match.matchType}`)}
              match={match}
              changed
              onChange={change}
              onRemove={() => remove(match)}
            />
          ))}
        </ul>
      ) : null}
      <AddByHand onAdd={change} />
      {left && bare > 0 ? <Alert>{t('guide.mapping.bare', { count: bare })}</Alert> : null}
      <SaveMatches
        id={store.id}
        version={set.version}
        mappings={ready ? mappingsWith(saved, all) : null}
        blocked={blocked}
        onDone={onDone}
      >
        <Link className="link" to="/integrations/stores/$id/products" params={{ id: store.id }} search={{}}>
          <Bdi>{t('guide.mapping.all', { store: store.name })}</Bdi>
        </Link>
      </SaveMatches>
    </div>
  );
}

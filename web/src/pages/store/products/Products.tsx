// The products that the shop has sold at the left, the files that buyers get for them at the right; all are saved at once.
import '@/i18n/en/stores';
import { Button, SegmentedControl, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconBuildingStore, IconPlus, IconSearch } from '@tabler/icons-react';
import { queryOptions, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { api, ok, type Schemas } from '@/api/client';
import { allPages, queries } from '@/api/queries';
import { Bdi } from '@/components/Bdi';
import { Panel } from '@/components/Panel';
import { EmptyState, Loaded, SkeletonRows } from '@/components/States';
import { useUnsaved } from '@/components/unsaved';
import { useUndo } from '@/components/useUndo';
import { t } from '@/i18n/text';
import { changed as changedSearch } from '../../search';
import { Csv } from './ImportCsv';
import {
  changesOf,
  exactInstead,
  keyOf,
  keyOfProduct,
  mappingsWith,
  matchesOf,
  unsent,
  withAdded,
  withFormer,
  withMatch,
  withoutMatch,
  type Draft,
  type Match,
} from './draft';
import { hasLost, useLostMatches } from './lost';
import { MatchRow } from './MatchRow';
import { SaveBar } from './SaveBar';
import { SkippedOrders } from './SkippedOrders';
import { TryIt } from './TryIt';
import styles from './products.module.css';

const AddProduct = lazy(() => import('./AddProduct').then((part) => ({ default: part.AddProduct })));

const route = getRouteApi('/inside/integrations/stores/$id/products');
type Product = Schemas['Product'];

// All products that a match serves.
const servedProducts = (id: string, q: string) =>
  queryOptions({
    queryKey: ['stores', 'products', id, 'served', q],
    queryFn: async ({ signal }) => {
      const { data } = await allPages<Product>((page) =>
        ok(
          api.GET('/api/integrations/{integration}/products', {
            params: { path: { integration: id }, query: { mapped: true, ...(q ? { q } : {}), ...page } },
            signal,
          }),
        ),
      );
      return data;
    },
  });

export function Products() {
  const { id } = route.useParams();
  const mappings = useQuery({ ...queries.mappings(id), refetchOnWindowFocus: false });
  return (
    <Loaded read={mappings} what={t('products.what')} skeleton={<SkeletonRows rows={6} height={60} />}>
      {(set) => <Content key={id} id={id} set={set} />}
    </Loaded>
  );
}

function Content({ id, set }: { id: string; set: Schemas['MappingSet'] }) {
  const search = route.useSearch();
  const navigate = useNavigate();
  const [draft, setDraft] = useState<Draft>(new Map());
  const [adding, setAdding] = useState(false);
  const [text, setText] = useState(search.q ?? '');
  const [asked] = useDebouncedValue(text.trim(), 250);
  const needing = search.show === 'needs';
  const store = useQuery(queries.store(id));
  const query = { limit: 100, ...(asked ? { q: asked } : {}), ...(needing ? { mapped: false } : {}) };
  const read = useInfiniteQuery({
    queryKey: ['stores', 'products', id, query],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      ok(
        api.GET('/api/integrations/{integration}/products', {
          params: { path: { integration: id }, query: { ...query, ...(pageParam ? { cursor: pageParam } : {}) } },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.nextCursor,
  });
  const saved = matchesOf(set.mappings);
  const { lost, count: lostMatches } = useLostMatches(id);
  // A product whose match delivers a file that is gone needs another, too: the service counts and lists it as served.
  const asksServed = needing && lostMatches > 0;
  const served = useQuery({ ...servedProducts(id, asked), ...(asksServed ? {} : { enabled: false }) });
  const broken = asksServed
    ? (served.data?.filter(({ mappedBy }) => mappedBy?.fileIds.some((file) => lost.has(file))) ?? [])
    : [];
  const products = [...(read.data?.pages.flatMap(({ data }) => data) ?? []), ...broken];
  const rows = products.flatMap((product) => {
    const before = keyOfProduct(product, set.mappings);
    const by = keyOfProduct(product, set.mappings, draft);
    return before && by ? [{ product, by, key: keyOf(by), savedKey: keyOf(before) }] : [];
  });
  const named = new Set(rows.flatMap(({ key, savedKey }) => [key, savedKey]));
  const complete = !read.hasNextPage && (!needing || (asksServed && served.isSuccess));
  const others = complete
    ? [...new Map([...saved, ...draft]).values()].filter(
        (match) =>
          !match.removed &&
          !named.has(keyOf(match)) &&
          (!needing || hasLost(saved.get(keyOf(match)) ?? match, lost)) &&
          match.matchValue.toLowerCase().includes(asked.toLowerCase()),
      )
    : [];
  const matchOf = (by: Pick<Match, 'matchType' | 'matchValue'>): Match =>
    draft.get(keyOf(by)) ?? saved.get(keyOf(by)) ?? { ...by, ignored: false, files: [] };
  const guard = useUnsaved(changesOf(draft, saved) > 0);
  const change = (match: Match) => setDraft((now) => withMatch(now, saved, match));
  const { offer, close } = useUndo();
  const remove = (match: Match) => {
    setDraft((now) => withoutMatch(now, saved, match));
    offer(t('products.removed', { product: match.matchValue }), () => setDraft((now) => withFormer(now, draft, match)));
  };
  const discard = () => {
    setDraft(new Map());
    offer(t('products.discarded', { count: changes }), () => setDraft((now) => new Map([...draft, ...now])));
  };
  const done = () => setDraft((now) => unsent(now, draft, saved)); // leaves what was changed since
  const stale = set.mappings.filter((mapping) => mapping.stale).length;
  const changes = changesOf(draft, saved);
  const unsaved = changes > 0 ? mappingsWith(saved, draft) : null;
  // Products without a match, or with one whose file is gone, come first; otherwise in the service's order.
  const needs = ({ savedKey }: (typeof rows)[number]) => {
    const match = saved.get(savedKey);
    return match === undefined || hasLost(match, lost);
  };
  const ordered = [...rows.filter(needs), ...rows.filter((row) => !needs(row))];
  return (
    <div className={styles.columns}>
      <div>
        {changes === 0 ? (
          <div className={styles.skipped}>
            <SkippedOrders id={id} />
          </div>
        ) : null}
        <div className={styles.bar}>
          <TextInput
            className={styles.search}
            type="search"
            aria-label={t('products.search')}
            placeholder={t('products.search')}
            leftSection={<IconSearch size={16} />}
            maxLength={200}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
          <SegmentedControl
            aria-label={t('products.what')}
            value={needing ? 'needs' : 'all'}
            onChange={(show) =>
              void navigate({
                to: '/integrations/stores/$id/products',
                params: { id },
                search: changedSearch(search, { show: show === 'needs' ? 'needs' : undefined }),
              })
            }
            data={[
              {
                value: 'needs',
                label: `${t('products.needs')} ${store.data ? store.data.counts.unmappedProducts + lostMatches : ''}`,
              },
              { value: 'all', label: t('products.all') },
            ]}
          />
          <div className={styles.rest}>
            <Button variant="subtle" leftSection={<IconPlus size={16} />} onClick={() => setAdding(true)}>
              {t('products.add')}
            </Button>
            <Csv id={id} />
          </div>
        </div>
        {stale > 0 ? (
          <div className={styles.banner}>
            <Panel tone="amber">{t('products.staleBanner', { count: stale })}</Panel>
          </div>
        ) : null}
        <Loaded<unknown>
          read={asksServed && read.isSuccess ? served : read}
          what={t('products.what')}
          skeleton={<SkeletonRows rows={6} height={60} />}
        >
          {() => (
            <>
              {rows.length > 0 ? (
                <>
                  <div className={styles.head} aria-hidden="true">
                    <span>{t('products.col.product')}</span>
                    <span>{t('products.col.presets')}</span>
                  </div>
                  <ul aria-label={t('products.what')}>
                    {ordered.map(({ product, by, key }) => (
                      <MatchRow
                        key={identityOf(product)}
                        name={product.title ?? product.sku ?? by.matchValue}
                        detail={<Detail it={product} />}
                        match={matchOf(by)}
                        changed={draft.has(key)}
                        note={skipped(product)}
                        unsold={product.soldCount === 0}
                        instead={exactInstead(product, matchOf(by), saved, draft)}
                        onChange={change}
                      />
                    ))}
                  </ul>
                </>
              ) : others.length === 0 ? (
                <None filtered={asked !== ''} needing={needing} />
              ) : null}
              {others.length > 0 ? (
                <>
                  <h2 className={styles.other}>{t('products.other')}</h2>
                  <ul>
                    {others.map((match) => (
                      <MatchRow
                        key={keyOf(match)}
                        name={match.matchValue}
                        detail={t(`match.${match.matchType}`)}
                        match={matchOf(match)}
                        changed={draft.has(keyOf(match))}
                        onChange={change}
                        onRemove={() => remove(matchOf(match))}
                      />
                    ))}
                  </ul>
                </>
              ) : null}
              {read.hasNextPage ? (
                <Button onClick={() => void read.fetchNextPage()}>{t('products.more')}</Button>
              ) : null}
            </>
          )}
        </Loaded>
        <SaveBar
          id={id}
          version={set.version}
          mappings={unsaved}
          changes={changes}
          onBegin={close}
          onDone={done}
          onDiscard={discard}
        />
      </div>
      <TryIt id={id} mappings={unsaved} />
      <Suspense>
        {adding ? (
          <AddProduct
            opened
            taken={(key) => !draft.get(key)?.removed && (saved.has(key) || draft.has(key) || named.has(key))}
            onClose={() => setAdding(false)}
            onAdd={(matchType, matchValue) => setDraft((now) => withAdded(now, saved, { matchType, matchValue }))}
          />
        ) : null}
      </Suspense>
      {guard}
    </div>
  );
}

function Detail({ it }: { it: Product }) {
  const code = it.sku ?? it.variantId ?? it.productId;
  return (
    <>
      {code ? (
        <>
          <code>
            <Bdi>{code}</Bdi>
          </code>
          {', '}
        </>
      ) : null}
      {t('products.sold', { count: it.soldCount })}
    </>
  );
}

// The same whichever match serves it, so that its row stays when that changes.
const identityOf = ({ sku, variantId, productId, title }: Product) =>
  JSON.stringify([sku, variantId, productId, title]);

const skipped = ({ skippedOrders, skippedOrdersExact }: Product) =>
  skippedOrders === 0
    ? undefined
    : skippedOrdersExact
      ? t('products.skipped', { count: skippedOrders })
      : t('products.skippedMany', { n: skippedOrders });

function None({ filtered, needing }: { filtered: boolean; needing: boolean }) {
  const name = filtered ? 'none' : needing ? 'allMatched' : 'empty';
  return <EmptyState icon={IconBuildingStore} title={t(`products.${name}.title`)} body={t(`products.${name}.body`)} />;
}

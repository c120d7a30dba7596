// A file that is gone: where its products are matched again, and the deliveries that failed for it.
import '@/i18n/en/presets';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Schemas } from '@/api/client';
import { queries } from '@/api/queries';
import { Panel } from '@/components/Panel';
import { t } from '@/i18n/text';

type Use = Schemas['PresetUse'];

// Each store once, with the product to search for where it is the only one.
function storesOf(uses: Use[]) {
  const stores = new Map<string, { id: string; name: string; values: Set<string> }>();
  for (const { integrationId: id, integrationName: name, matchValue } of uses) {
    const store = stores.get(id) ?? { id, name, values: new Set<string>() };
    stores.set(id, store);
    store.values.add(matchValue);
  }
  return [...stores.values()].map(({ id, name, values }) => ({
    id,
    name,
    only: values.size === 1 ? [...values][0] : undefined,
  }));
}

export function Gone({ it: { id, uses = [] } }: { it: Pick<Schemas['PresetWithUses'], 'id' | 'uses'> }) {
  const failed = { status: 'failed', code: 'preset_not_found', file: id };
  const { data } = useQuery(queries.deliveryCount({ status: failed.status, resolutionCode: failed.code, fileId: id }));
  const count = data?.count ?? 0;
  const stores = storesOf(uses);
  return (
    <Panel
      tone="red"
      title={t('preset.gone.title')}
      foot={
        <>
          {stores.map((store, at) => (
            <Button
              key={store.id}
              variant={at === 0 ? 'filled' : 'default'}
              renderRoot={(props) => (
                <Link
                  {...props}
                  to="/integrations/stores/$id/products"
                  params={{ id: store.id }}
                  search={store.only === undefined ? {} : { q: store.only }}
                />
              )}
            >
              {stores.length === 1 ? t('preset.gone.match') : t('preset.gone.matchAt', { store: store.name })}
            </Button>
          ))}
          {count > 0 ? (
            <Button renderRoot={(props) => <Link {...props} to="/deliveries" search={failed} />}>
              {data?.countIsExact === false ? t('preset.gone.fixMany') : t('preset.gone.fix', { count })}
            </Button>
          ) : null}
        </>
      }
    >
      <p className="muted">
        {t(uses.length > 0 ? 'preset.gone.body' : 'preset.gone.unused')}{' '}
        {count > 0 && uses.length > 0 ? t('preset.gone.goOn') : null}
      </p>
    </Panel>
  );
}

// The permissions of a token.
import '@/i18n/en/account';
import { useQuery } from '@tanstack/react-query';
import type { Schemas } from '@/api/client';
import { queries } from '@/api/queries';
import { Bdi } from '@/components/Bdi';
import { Fact, FactList } from '@/components/Facts';
import { date, listed } from '@/i18n/format';
import { isolated } from '@/i18n/outside';
import { t } from '@/i18n/text';
import { Rights } from './Rights';

type Key = Schemas['ApiKey'];

export const expired = ({ expiresAt }: Key) => expiresAt !== null && Date.parse(expiresAt) <= Date.now();

export function About({ it }: { it: Key }) {
  const stores = useQuery(queries.stores());
  const names = it.integrationIds.map((id) => stores.data?.data.find((store) => store.id === id)?.name ?? id);
  return (
    <FactList>
      <Fact name={t('keysPage.fact.name')}>
        <Bdi>{it.name}</Bdi>
      </Fact>
      <Fact name={t('keysPage.col.may')}>
        <Rights of={it.permissions} />
      </Fact>
      <Fact name={t('keysPage.fact.stores')}>
        {names.length > 0 ? listed(names.map(isolated)) : t('keysPage.fact.allStores')}
      </Fact>
      {it.active ? (
        <Fact name={t('keysPage.fact.limit')}>{t('keysPage.fact.limitValue', { n: it.rateLimit })}</Fact>
      ) : null}
      {it.expiresAt ? <Fact name={t('keysPage.fact.expires')}>{date(it.expiresAt)}</Fact> : null}
    </FactList>
  );
}

// The things that need a person, most urgent first, each with the button that solves it. On narrow screens the whole row is the button.
import '@/i18n/en/home';
import { Button } from '@mantine/core';
import { IconChevronRight } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import type { MouseEvent } from 'react';
import type { Schemas } from '@/api/client';
import { queries } from '@/api/queries';
import { AskOwners } from '@/components/AskOwners';
import { Bdi } from '@/components/Bdi';
import { Shape } from '@/components/StatusIcon';
import { useNow } from '@/components/Time';
import { t } from '@/i18n/text';
import { AskForCredits, useSale } from '@/session/sale';
import { useIsOwner } from '@/session/useIsOwner';
import { queryOf } from '../deliveries/filters';
import { stringifySearch, type Search } from '../search';
import { rowsOf, type NeedRow } from './needs';
import styles from './overview.module.css';

export function Needs({ seen, store }: { seen: Schemas['Overview']; store: string | undefined }) {
  const now = useNow(60_000);
  const stores = useQuery(queries.stores()).data?.data;
  const madeAt = useQuery(queries.account()).data?.createdAt;
  const limit = useQuery(queries.credits()).data?.lowThreshold;
  const rows = rowsOf(seen, store, now, stores, {
    ...(madeAt === undefined ? {} : { madeAt }),
    ...(limit === undefined ? {} : { limit }),
  });
  return (
    <section aria-label={t('overview.needs')}>
      <h2 className={styles.h2}>{t('overview.needs')}</h2>
      {rows.every(({ calm }) => calm) ? <Good now={seen.now} /> : null}
      {rows.length > 0 ? (
        <ul className={styles.needs}>
          {rows.map((row, index) => (
            <Row key={row.key} row={row} first={index === 0 && !row.calm} />
          ))}
        </ul>
      ) : null}
    </section>
  );
}

function Row({ row, first }: { row: NeedRow; first: boolean }) {
  const fix = useFirst(row);
  const owner = useIsOwner();
  const sold = useSale();
  const unsold = row.buys && sold === false;
  const barred = row.owners && owner === false && !unsold;
  return (
    <li>
      <Shape icon={row.icon} colour={row.colour} size={18} />
      <div className={styles.words}>
        <strong>
          <Bdi>{row.title}</Bdi>
        </strong>
        <p>
          <Bdi>{row.text}</Bdi>
        </p>
        {barred ? (
          <p>
            {t(row.buys ? 'need.ownersBuy' : 'need.owners')} <AskOwners />
          </p>
        ) : null}
        {unsold ? (
          <p>
            <AskForCredits />
          </p>
        ) : null}
      </div>
      {row.link && row.button && !barred && !unsold && !(row.buys && sold === undefined) ? (
        <>
          <Button
            className={styles.act}
            renderRoot={(props) => <Link {...props} {...row.link} />}
            variant={first ? 'filled' : 'default'}
            onClick={fix}
          >
            {row.button}
          </Button>
          <IconChevronRight className={styles.chevron} size={18} aria-hidden="true" />
        </>
      ) : null}
    </li>
  );
}

// A click opens the first of the deliveries that are fixed one after the other; in a new tab the link opens their list.
function useFirst({ fixes, link }: NeedRow) {
  const client = useQueryClient();
  const navigate = useNavigate();
  if (!fixes || !link) return undefined;
  return (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    const search = link.search as Search;
    void client
      .fetchQuery({ ...queries.deliveries(queryOf(search, Date.now())), staleTime: 0 })
      .then(({ data }) => {
        const id = data[0]?.id;
        const list = stringifySearch(search).slice(1);
        return id ? navigate({ to: '/deliveries/$id', params: { id }, search: { list } }) : navigate(link);
      })
      .catch(() => navigate(link));
  };
}

function Good({ now }: { now: Schemas['Overview']['now'] }) {
  const under = now.queued + now.processing + now.waiting;
  return (
    <div className={styles.good}>
      <Shape icon="check" colour="teal" size={18} />
      <div className={styles.words}>
        <strong>{t('overview.good')}</strong>
        <p>{under > 0 ? t('overview.goodText', { count: under }) : t('overview.goodNone')}</p>
      </div>
    </div>
  );
}

// The deliveries that need a person, by problem: how many each stopped, and a way through them one after the other.
import { Button } from '@mantine/core';
import { IconPackage } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { queries } from '@/api/queries';
import { Rows, type Column } from '@/components/Rows';
import { EmptyState, Loaded, SkeletonRows } from '@/components/States';
import { Shape } from '@/components/StatusIcon';
import { Time } from '@/components/Time';
import { toast } from '@/components/toasts';
import { sentence } from '@/api/errors';
import { t } from '@/i18n/text';
import { stringifySearch, type Search } from '../search';
import { queryOf } from './filters';
import { problemsOf, searchOf, type Problem } from './problems';
import styles from './deliveries.module.css';

export function Problems() {
  const read = useQuery(queries.overview());
  return (
    <Loaded read={read} what={t('deliveries.what')} skeleton={<SkeletonRows rows={6} />}>
      {({ needs }) => {
        const rows = problemsOf(needs);
        return rows.length > 0 ? (
          <Rows
            label={t('problems.label')}
            columns={columns}
            rows={rows}
            idOf={({ key }) => key}
            linkOf={(it) => ({ to: '/deliveries', search: searchOf(it) })}
            icons
          />
        ) : (
          <EmptyState
            icon={IconPackage}
            title={t('deliveries.noneNeeds.title')}
            body={t('deliveries.noneNeeds.body')}
          />
        );
      }}
    </Loaded>
  );
}

const columns: Column<Problem>[] = [
  {
    key: 'problem',
    header: t('problems.col.problem'),
    width: '46%',
    narrow: 'first',
    cell: (it) => (
      <span className={styles.problem}>
        <Shape icon={it.code ? 'octagon' : 'diamond'} colour={it.code ? 'red' : 'violet'} />
        <span className="strong">{it.title}</span>
      </span>
    ),
  },
  {
    key: 'count',
    header: t('problems.col.count'),
    narrow: 'second',
    cell: (it) => t('count.deliveries', { count: it.count }),
  },
  {
    key: 'oldest',
    header: t('problems.col.oldest'),
    width: '150px',
    end: true,
    narrow: 'secondEnd',
    cell: (it) => (it.oldestAt ? <Time at={it.oldestAt} form="lately" /> : null),
  },
  {
    key: 'fix',
    header: '',
    width: '130px',
    end: true,
    narrow: 'firstEnd',
    cell: (it) => <First search={searchOf(it)} it={it} />,
  },
];

// Opens the first of the deliveries; the next ones follow from its page.
function First({ search, it }: { search: Search; it: Problem }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  async function open() {
    try {
      const { data } = await client.fetchQuery({ ...queries.deliveries(queryOf(search, Date.now())), staleTime: 0 });
      const id = data[0]?.id;
      const list = stringifySearch(search).slice(1);
      await (id
        ? navigate({ to: '/deliveries/$id', params: { id }, search: { list } })
        : navigate({ to: '/deliveries', search }));
    } catch (error) {
      toast(sentence(error), { tone: 'bad' });
    }
  }
  return (
    <Button
      size="compact-md"
      aria-label={t(it.code ? 'problems.fixOf' : 'problems.reviewOf', { count: it.count, problem: it.title })}
      onClick={() => void open()}
    >
      {t(it.code ? 'problems.fix' : 'problems.review', { count: it.count })}
    </Button>
  );
}

// Deliveries by the day or hour in which they were created and by their present status, as bars or as a table.
import '@/i18n/en/home';
import { ActionIcon } from '@mantine/core';
import { IconChartBar, IconDownload, IconTable } from '@tabler/icons-react';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import type { Schemas } from '@/api/client';
import { Bars, Legend, type Part } from '@/components/Bars';
import { saveCsv, type Table as Rows } from '@/components/csv';
import { NARROW_DAYS, useNarrow } from '@/components/narrow';
import { date, day, hoursMinutes } from '@/i18n/format';
import { t } from '@/i18n/text';
import { changed } from '../search';
import { daysOf, type Period } from './period';
import styles from './overview.module.css';

const route = getRouteApi('/inside/');
const number = new Intl.NumberFormat('en');
type Statistics = Schemas['DeliveryStatistics'];

// `first`: there has been no delivery ever. `today`: the figures of today, which count earlier orders too.
type Today = Pick<Schemas['Overview']['today'], 'completed' | 'failed'>;
type Props = { it: Statistics; period: Period; first: boolean; busy: boolean; today?: Today };

export function DeliveriesChart({ it, period, first, busy, today }: Props) {
  const search = route.useSearch();
  const navigate = useNavigate();
  const narrow = useNarrow();
  const table = search.table === '1';
  const hours = period === 'today';
  const { made } = it.totals;
  const parts: Part[] = [
    { key: 'completed', name: t('chart.completed'), look: 'full' },
    { key: 'open', name: t('chart.open'), look: 'hatched' },
    { key: 'invalidated', name: t('chart.stopped'), look: 'hollow' },
    { key: 'failed', name: t('chart.failed'), look: 'failed' },
  ];
  const short = narrow && !hours && daysOf(period) > NARROW_DAYS;
  const data = short ? it.data.slice(-NARROW_DAYS) : it.data;
  const { completed, open, invalidated, failed } = it.totals; // of the whole period, also where the bars are of less
  const fewer = short ? t('chart.twoWeeks', { days: NARROW_DAYS, all: daysOf(period) }) : null;
  return (
    <>
      <div className={styles.head}>
        <h2>
          {t('overview.deliveries')}{' '}
          <span className="quiet">
            {t('chart.byOrder')}
            {fewer && !table ? `, ${fewer}` : null}
          </span>
        </h2>
        {made === 0 ? null : (
          <div className={styles.chartEnd}>
            <Legend parts={parts} sums={[completed, open, invalidated, failed]} />
            <ActionIcon
              aria-label={t(table ? 'overview.asChart' : 'overview.asTable')}
              title={t(table ? 'overview.asChart' : 'overview.asTable')}
              onClick={() =>
                void navigate({
                  to: '/',
                  search: changed(search, { table: table ? undefined : '1' }),
                  replace: true,
                  resetScroll: false,
                })
              }
            >
              {table ? <IconChartBar size={17} /> : <IconTable size={17} />}
            </ActionIcon>
            <ActionIcon
              aria-label={t('action.csv')}
              title={t('action.csv')}
              onClick={() =>
                saveCsv(
                  t('overview.file'),
                  tableOf(it.data, hours, ({ at }) => at),
                )
              }
            >
              <IconDownload size={17} />
            </ActionIcon>
          </div>
        )}
      </div>
      {today && !busy && (hours || table) ? <Earlier today={today} ours={hours ? it.totals : it.data.at(-1)} /> : null}
      {made === 0 ? (
        <p className={styles.nothing}>{t(first ? 'overview.firstDay' : 'overview.noDeliveries')}</p>
      ) : table ? (
        <Table
          rows={tableOf(it.data.toReversed(), hours, ({ at }) => (hours ? hoursMinutes(at) : day(at)))}
          sums={[
            hours ? t('chart.allDay') : t('chart.allDays', { days: daysOf(period) }),
            completed,
            open,
            failed,
            invalidated,
          ]}
        />
      ) : (
        <div aria-busy={busy || undefined}>
          <Bars
            name={[
              hours
                ? t('chart.nameHours', { completed, failed, open, invalidated })
                : t('chart.nameDays', { days: daysOf(period), completed, failed, open, invalidated }),
              fewer,
            ]
              .filter(Boolean)
              .join(' ')}
            parts={parts}
            slots={hours ? 24 : undefined}
            bars={data.map((one, index) => ({
              key: one.at,
              label: hours ? hoursMinutes(one.at) : index === data.length - 1 ? t('chart.today') : date(one.at),
              title: hours ? hoursMinutes(one.at) : day(one.at),
              values: [one.completed, one.open, one.invalidated, one.failed],
            }))}
          />
        </div>
      )}
    </>
  );
}

// The difference between the figures of today and the chart, whose part of today is `ours`.
function Earlier({ today, ours = { completed: 0, failed: 0 } }: { today: Today; ours?: Today }) {
  const completed = Math.max(today.completed - ours.completed, 0);
  const failed = Math.max(today.failed - ours.failed, 0);
  return completed + failed > 0 ? (
    <p className={styles.earlier}>{t('overview.earlier', { completed, failed })}</p>
  ) : null;
}

type One = Statistics['data'][number];

const tableOf = (data: One[], hours: boolean, name: (one: One) => string): Rows => [
  [t(hours ? 'chart.hour' : 'chart.day'), t('chart.completed'), t('chart.open'), t('chart.failed'), t('chart.stopped')],
  ...data.map((one) => [name(one), one.completed, one.open, one.failed, one.invalidated]),
];

function Row({ row: [name, ...values] }: { row: Rows[number] }) {
  return (
    <tr>
      <th scope="row">{name}</th>
      {values.map((value, column) => (
        <td key={column}>{typeof value === 'number' ? number.format(value) : value}</td>
      ))}
    </tr>
  );
}

function Table({ rows: [head = [], ...rows], sums }: { rows: Rows; sums: Rows[number] }) {
  return (
    <div className={styles.tableBox} tabIndex={0} role="region" aria-label={t('overview.deliveriesWhat')}>
      <table className={styles.table}>
        <thead>
          <tr>
            {head.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <Row key={at} row={row} />
          ))}
        </tbody>
        <tfoot>
          <Row row={sums} />
        </tfoot>
      </table>
    </div>
  );
}

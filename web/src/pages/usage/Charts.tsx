// Requests and deliveries over time: as bars or as a table.
import '@/i18n/en/usage';
import { Button } from '@mantine/core';
import { IconChartBar, IconDownload, IconTable } from '@tabler/icons-react';
import { Link, useLocation } from '@tanstack/react-router';
import type { Schemas } from '@/api/client';
import { Bars, Legend, type Part } from '@/components/Bars';
import { Bdi } from '@/components/Bdi';
import { saveCsv, type Table as Rows } from '@/components/csv';
import { NARROW_DAYS, useNarrow } from '@/components/narrow';
import { t } from '@/i18n/text';
import { changed, type Search } from '../search';
import { barsOf, bucketOf, daysOf, titleAt, type Period } from './period';
import styles from './usage.module.css';

type Usage = Schemas['Usage'];
type Props = { it: Usage; period: Period; search: Search; file: string };

const requestParts = (): Part[] => [
  { key: 'requests', name: t('usage.requests'), look: 'full' },
  { key: 'limited', name: t('usage.limited'), look: 'failed' },
];
const deliveryParts = (): Part[] => [
  { key: 'completed', name: t('usage.completed'), look: 'full' },
  { key: 'open', name: t('usage.open'), look: 'hatched' },
  { key: 'invalidated', name: t('usage.invalidated'), look: 'hollow' },
  { key: 'failed', name: t('usage.failed'), look: 'failed' },
];

export function Charts({ it, period, search, file }: Props) {
  const path = useLocation({ select: ({ pathname }) => pathname });
  const asTable = search.table === '1';
  const bucket = bucketOf(period);
  const short = useNarrow() && bucket === 'day' && it.data.length > NARROW_DAYS;
  const words = t(`usage.period.words.${period}`);
  const data = short ? it.data.slice(-NARROW_DAYS) : it.data;
  const { requests, limited, deliveries } = it.totals; // of the whole period, also where the bars are of less
  const fewer = short ? t('usage.twoWeeks', { days: NARROW_DAYS, all: daysOf(period) }) : '';
  const note = short ? <span className="quiet">{fewer}</span> : null;
  return (
    <>
      <div className={styles.switch}>
        <Button
          renderRoot={(props) => (
            <Link {...props} to={path} search={changed(search, { table: asTable ? undefined : '1' })} />
          )}
          variant="subtle"
          leftSection={asTable ? <IconChartBar size={16} /> : <IconTable size={16} />}
        >
          {t(asTable ? 'usage.chart' : 'usage.table')}
        </Button>
        <Button
          variant="subtle"
          leftSection={<IconDownload size={16} />}
          onClick={() =>
            saveCsv(
              file,
              tableOf(it, period, ({ at }) => at),
            )
          }
        >
          {t('action.csv')}
        </Button>
      </div>
      {asTable ? (
        <Table rows={tableOf(it, period, ({ at }) => titleAt(at, period))} />
      ) : (
        <>
          <section className={styles.chart}>
            <div className={styles.head}>
              <h2>
                {t('usage.requests')} {note}
              </h2>
              <Legend parts={requestParts()} sums={[requests, limited]} />
            </div>
            {requests + limited > 0 ? (
              <Bars
                name={`${t(`usage.requests.${bucket}`, { period: words, requests, limited })} ${fewer}`.trim()}
                parts={requestParts()}
                bars={barsOf(data, period, (one) => [one.requests, one.limited])}
              />
            ) : (
              <p className={styles.none}>{t('usage.requests.none', { period: words })}</p>
            )}
          </section>
          <section className={styles.chart}>
            <div className={styles.head}>
              <h2>
                {t('usage.deliveries')} {note}
              </h2>
              <Legend parts={deliveryParts()} sums={partsOf(deliveries)} />
            </div>
            {deliveries.made > 0 ? (
              <Bars
                name={`${t(`usage.deliveries.${bucket}`, { period: words, ...countsOf(deliveries) })} ${fewer}`.trim()}
                parts={deliveryParts()}
                bars={barsOf(data, period, (one) => partsOf(one.deliveries))}
              />
            ) : (
              <p className={styles.none}>{t('usage.deliveries.none', { period: words })}</p>
            )}
          </section>
        </>
      )}
    </>
  );
}

const partsOf = ({ completed, open, invalidated, failed }: Schemas['Outcomes']) => [
  completed,
  open,
  invalidated,
  failed,
];

const countsOf = ({ completed, failed, open, invalidated }: Schemas['Outcomes']) => ({
  completed,
  failed,
  open,
  invalidated,
});

function tableOf(it: Usage, period: Period, name: (one: Usage['data'][number]) => string): Rows {
  const head = [
    t(bucketOf(period) === 'hour' ? 'usage.col.hour' : 'usage.col.day'),
    t('usage.requests'),
    t('usage.limited'),
    t('usage.made'),
    t('usage.completed'),
    t('usage.failed'),
    t('usage.open'),
    t('usage.invalidated'),
  ];
  return [
    head,
    ...it.data.map((one) => [
      name(one),
      one.requests,
      one.limited,
      one.deliveries.made,
      one.deliveries.completed,
      one.deliveries.failed,
      one.deliveries.open,
      one.deliveries.invalidated,
    ]),
  ];
}

const number = new Intl.NumberFormat('en');

function Table({ rows: [head = [], ...rows] }: { rows: Rows }) {
  return (
    <div className={styles.scroll} tabIndex={0} role="group" aria-label={t('usage.title')}>
      <table className={styles.table}>
        <thead>
          <tr>
            {head.map((name, at) => (
              <th key={at} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, ...values], at) => (
            <tr key={at}>
              <th scope="row">
                <Bdi>{name}</Bdi>
              </th>
              {values.map((value, column) => (
                <td key={column} data-zero={value === 0 || undefined}>
                  {typeof value === 'number' ? number.format(value) : value}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

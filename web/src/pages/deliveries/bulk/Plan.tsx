// The effect that an action on many would have, in sentences.
import '@/i18n/en/bulk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Schemas } from '@/api/client';
import { queries } from '@/api/queries';
import { duration } from '@/i18n/format';
import { hasText, t } from '@/i18n/text';
import { useIsOwner } from '@/session/useIsOwner';
import { codeWord } from '@/vocabulary/delivery';
import { NO_CAUSES, type Causes } from './causes';
import type { BulkAction } from './wanted';
import styles from './bulk.module.css';

type It = Schemas['BulkPlan'];
type Props = { action: BulkAction; plan: It; causes?: Causes };
type Left = It['excluded'][number];

function leftOut(action: BulkAction, { code, count }: Left, causes: Causes): string {
  if (action === 'approve' && code === 'INVALID_TRANSITION' && causes?.tooLarge === count)
    return t('bulk.out.marked', { count });
  for (const key of [`bulk.out.${code}.${action}`, `bulk.out.${code}`])
    if (hasText(key)) return t(key as 'bulk.out.NOT_FOUND', { count });
  return t('bulk.out.other', { count, code: codeWord(code) });
}

export function Plan({ action, plan, causes = NO_CAUSES }: Props) {
  return (
    <div className={styles.plan}>
      {plan.eligible === 0 ? <p>{t(`bulk.none.${action}`)}</p> : null}
      {plan.eligible > 0 && action !== 'invalidate' ? (
        <>
          <Takes jobs={plan.eligible} />
          <Cost plan={plan} />
        </>
      ) : null}
      {plan.eligible > 0 && action === 'retry' ? <Seldom causes={causes} /> : null}
      {plan.totalIsExact ? null : <p>{t('bulk.more')}</p>}
      {plan.excluded.length > 0 ? (
        <>
          <p>{t('bulk.left')}</p>
          <ul>
            {plan.excluded.map((left) => (
              <li key={left.code}>{leftOut(action, left, causes)}</li>
            ))}
          </ul>
        </>
      ) : null}
    </div>
  );
}

function Seldom({ causes }: { causes: Causes }) {
  if (causes === null) return <p>{t('bulk.seldom.unknown')}</p>;
  const { seldom, declined } = causes;
  return (
    <>
      {seldom.length > 0 ? (
        <>
          <p>{t('bulk.seldom.why')}</p>
          <ul>
            {seldom.map(({ code, count }) => (
              <li key={code}>{t(`bulk.seldom.${code}`, { count })}</li>
            ))}
          </ul>
        </>
      ) : null}
      {declined > 0 ? <p>{t('bulk.declined', { count: declined })}</p> : null}
    </>
  );
}

function Takes({ jobs }: { jobs: number }) {
  const { data } = useQuery(queries.cloudLimit());
  if (!data?.perMinute || jobs <= data.perMinute) return null;
  const time = duration(Math.ceil(jobs / data.perMinute) * 60_000);
  return <p>{t('bulk.time', { perMinute: data.perMinute, time })}</p>;
}

function Cost({ plan: { credits, creditsIsExact } }: { plan: It }) {
  const balance = useQuery(queries.credits());
  const owner = useIsOwner();
  if (credits === 0) return <p>{t('bulk.costNone')}</p>;
  if (!balance.data) return null;
  const have = balance.data.available;
  return (
    <p>
      <strong>
        {creditsIsExact ? t('bulk.cost', { count: credits, have }) : t('bulk.costMany', { count: credits, have })}
      </strong>{' '}
      {credits > have ? (
        <>
          {t('bulk.costShort')}{' '}
          {owner ? (
            <Link className="link" to="/credits" search={{}}>
              {t('bulk.costBuy')}
            </Link>
          ) : null}
        </>
      ) : null}
    </p>
  );
}

import '@/i18n/en/account';
import '@/i18n/en/usage';
import { Link } from '@tanstack/react-router';
import type { Schemas } from '@/api/client';
import { CopyIcon } from '@/components/Copy';
import { Fact, FactList, Facts } from '@/components/Facts';
import { Time } from '@/components/Time';
import { t } from '@/i18n/text';
import { About } from '../keys/About';
import styles from './key.module.css';

const number = new Intl.NumberFormat('en');

export function KeyFacts({ it }: { it: Schemas['ApiKey'] }) {
  return (
    <aside>
      <Facts title={t('keyPage.facts')}>
        <About it={it} />
        <FactList>
          <Fact name={t('keyPage.made')}>
            <Time at={it.createdAt} />
          </Fact>
          <Fact name={t('keysPage.col.active')}>
            {it.lastActiveAt ? <Time at={it.lastActiveAt} form="lately" /> : t('keysPage.never')}
          </Fact>
          {it.rotatedFrom ? (
            <Fact name={t('keyPage.rotated')}>
              <Link className="link" to="/keys/$id" params={{ id: it.rotatedFrom }} search={{}}>
                {t('keyPage.rotatedShow')}
              </Link>
            </Fact>
          ) : null}
          <Fact name={t('keyPage.id')}>
            <span className={styles.id}>
              <code title={it.id}>{it.id}</code>
              <CopyIcon text={it.id} what={it.id} />
            </span>
          </Fact>
        </FactList>
      </Facts>
      <Facts title={t('keyPage.total')}>
        <FactList>
          <Fact name={t('keysPage.col.requests')}>{number.format(it.requests)}</Fact>
          <Fact name={t('keysPage.col.deliveries')}>{number.format(it.deliveries)}</Fact>
        </FactList>
      </Facts>
    </aside>
  );
}

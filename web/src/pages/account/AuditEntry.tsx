// One entry with all that is known of it, in the words of the list, and the way to others like it.
import '@/i18n/en/profile';
import { Link } from '@tanstack/react-router';
import { useQuery } from '@tanstack/react-query';
import type { Schemas } from '@/api/client';
import { queries } from '@/api/queries';
import { Bdi } from '@/components/Bdi';
import { CopyIcon } from '@/components/Copy';
import { Dialog } from '@/components/Dialogs';
import { Fact, FactList } from '@/components/Facts';
import { Time } from '@/components/Time';
import { utc } from '@/i18n/format';
import { t } from '@/i18n/text';
import { Actor, Deed } from './Deed';
import { detailOf, wordsOf } from './detail';
import styles from './audit.module.css';

type Entry = Schemas['AuditEntry'];

export function AuditEntry({ it, onClose }: { it: Entry; onClose: () => void }) {
  const isYou = it.actor === useQuery(queries.account()).data?.caller.userId;
  const all = (search: Record<string, string>, words: string) => (
    <Link className={`link ${styles.all}`} to="/account/audit" search={search} onClick={onClose}>
      {words}
    </Link>
  );
  return (
    <Dialog opened onClose={onClose} title={t('audit.entry')} size={560}>
      <div className={styles.entry}>
        <FactList>
          <Fact name={t('audit.col.who')}>
            <Actor actor={it.actor} name={it.actorName} />{' '}
            {all({ actor: it.actor }, t(isYou ? 'audit.allByYou' : 'audit.allBy'))}
          </Fact>
          <Fact name={t('audit.col.what')}>
            <Deed it={it} /> {it.target ? all({ target: it.target }, t('audit.allOf')) : null}
          </Fact>
          {it.detail ? (
            <Fact name={t('audit.col.detail')}>
              <Bdi title={it.detail}>{detailOf(it)}</Bdi>
            </Fact>
          ) : null}
          <Fact name={t('audit.col.when')}>
            <Time at={it.at} /> <span className="muted">{t('audit.utc', { time: utc(it.at) })}</span>
          </Fact>
          {it.network ? (
            <Fact name={t('audit.network')}>
              <Bdi>{it.network}</Bdi>
            </Fact>
          ) : null}
          {it.requestId ? (
            <Fact name={t('audit.request')}>
              <code>{it.requestId}</code> <CopyIcon text={it.requestId} what={t('audit.request')} />
            </Fact>
          ) : null}
        </FactList>
        {it.changes && it.changes.length > 0 ? (
          <table className={styles.changes}>
            <caption className="unseen">{t('audit.changes')}</caption>
            <thead>
              <tr>
                <th scope="col">{t('audit.field')}</th>
                <th scope="col">{t('audit.from')}</th>
                <th scope="col">{t('audit.to')}</th>
              </tr>
            </thead>
            <tbody>
              {it.changes.map(wordsOf).map(({ field, from, to }, at) => (
                <tr key={at}>
                  <th scope="row">{field}</th>
                  <td>
                    <Bdi>{from}</Bdi>
                  </td>
                  <td>
                    <Bdi>{to}</Bdi>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        ) : null}
      </div>
    </Dialog>
  );
}

// One entry with all that is known of it, as the service wrote it, and the way to others like it.
import '@/i18n/en/profile';
import { Link } from '@tanstack/react-router';
import type { Schemas } from '@/api/client';
import { Bdi } from '@/components/Bdi';
import { CopyIcon } from '@/components/Copy';
import { Dialog } from '@/components/Dialogs';
import { Fact, FactList } from '@/components/Facts';
import { utc } from '@/i18n/format';
import { t } from '@/i18n/text';
import { Actor, Deed } from './Deed';
import styles from './audit.module.css';

type Entry = Schemas['AuditEntry'];

export function AuditEntry({ it, onClose }: { it: Entry; onClose: () => void }) {
  const all = (search: Record<string, string>, words: string) => (
    <Link className="link" to="/account/audit" search={search} onClick={onClose}>
      {words}
    </Link>
  );
  return (
    <Dialog opened onClose={onClose} title={t('audit.entry')} size={560}>
      <div className={styles.entry}>
        <FactList>
          <Fact name={t('audit.col.who')}>
            <Actor actor={it.actor} name={it.actorName} /> {all({ actor: it.actor }, t('audit.allBy'))}
          </Fact>
          <Fact name={t('audit.col.what')}>
            <Deed it={it} /> {it.target ? all({ target: it.target }, t('audit.allOf')) : null}
          </Fact>
          {it.detail ? (
            <Fact name={t('audit.col.detail')}>
              <Bdi>{it.detail}</Bdi>
            </Fact>
          ) : null}
          <Fact name={t('audit.col.when')}>
            <time dateTime={it.at}>{utc(it.at)}</time>
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
              {it.changes.map(({ field, from, to }) => (
                <tr key={field}>
                  <th scope="row">
                    <code>{field}</code>
                  </th>
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

// The merchant's details that buyers see, for members, who cannot change them.
import '@/i18n/en/profile';
import type { Schemas } from '@/api/client';
import { Bdi } from '@/components/Bdi';
import { Fact, FactList } from '@/components/Facts';
import { ForOwners } from '@/components/ForOwners';
import { t } from '@/i18n/text';
import styles from './account.module.css';

const FIELDS = ['name', 'displayName', 'supportEmail', 'supportUrl'] as const;

export function ProfileFacts({ it }: { it: Schemas['Account'] }) {
  return (
    <section className={styles.part}>
      <div>
        <h2>{t('profile.title')}</h2>
        <p className="muted">{t('profile.lead')}</p>
      </div>
      <div className={styles.fields}>
        <FactList>
          {FIELDS.filter((field) => it[field]).map((field) => (
            <Fact key={field} name={t(`profile.${field}`)}>
              <Bdi>{it[field]}</Bdi>
            </Fact>
          ))}
        </FactList>
        <ForOwners>{t('profile.owners')}</ForOwners>
      </div>
    </section>
  );
}

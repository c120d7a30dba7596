// The login at the cloud platform from which presets are shared.
import '@/i18n/en/account';
import '@/i18n/en/guide';
import { useQuery } from '@tanstack/react-query';
import { queries } from '@/api/queries';
import { Alert } from '@/components/Alert';
import { t } from '@/i18n/text';
import { CloudForm } from '../cloud/CloudForm';
import { useCloudLine } from './lines';
import styles from './start.module.css';

export function CloudStep({ onDone }: { onDone: () => void }) {
  const line = useCloudLine();
  const refused = useQuery(queries.cloud()).data?.status === 'invalid';
  return (
    <>
      {line ? <p className={styles.now}>{line}</p> : null}
      {refused ? (
        <div className={styles.now}>
          <Alert>{t('guide.cloud.refused')}</Alert>
        </div>
      ) : null}
      <CloudForm button={t('cloud.connect')} quiet onSaved={onDone} />
      <p className={styles.note}>{t('cloud.sealed')}</p>
    </>
  );
}

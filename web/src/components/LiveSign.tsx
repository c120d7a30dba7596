// A sign beside the page's name, which shows whether the page follows the service; and a bar over every page, while there is no
// connection.
import { IconWifiOff } from '@tabler/icons-react';
import { hoursMinutes } from '@/i18n/format';
import { t } from '@/i18n/text';
import { useLiveState } from '@/live/state';
import styles from './LiveSign.module.css';

const time = (at: number) => hoursMinutes(new Date(at).toISOString());

export function LiveSign() {
  const { link, asOf } = useLiveState();
  if (link === 'connecting') return <span className={styles.sign} />;
  return (
    <span className={styles.sign} data-link={link} role="status">
      {link === 'offline' ? <IconWifiOff size={15} stroke={1.7} aria-hidden="true" /> : <i aria-hidden="true" />}
      {link === 'live'
        ? t('live.live')
        : t(link === 'offline' ? 'live.offlineSign' : 'live.away', { time: time(asOf) })}
    </span>
  );
}

export function OfflineBar() {
  const { link, asOf } = useLiveState();
  if (link !== 'offline') return null;
  return (
    <div className={styles.bar} role="status">
      <i aria-hidden="true" />
      {t('live.offline', { time: time(asOf) })}
    </div>
  );
}

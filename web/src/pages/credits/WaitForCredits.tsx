// How many deliveries have stopped for want of credits. Renders nothing where there are none.
import '@/i18n/en/credits';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { queries } from '@/api/queries';
import { Shape } from '@/components/StatusIcon';
import { t } from '@/i18n/text';
import styles from './credits.module.css';

export function WaitForCredits() {
  const { data } = useQuery(queries.deliveryCount({ status: 'failed', resolutionCode: 'insufficient_credits' }));
  const count = data?.count ?? 0;
  if (count === 0) return null;
  return (
    <section className={styles.wait} role="status">
      <Shape icon="octagon" colour="red" size={18} />
      <div>
        <h2>{t(data?.countIsExact === false ? 'credits.waitMany' : 'credits.wait', { count })}</h2>
        <p className="muted">{t('credits.waitText', { count })}</p>
      </div>
      <Button
        renderRoot={(props) => (
          <Link to="/deliveries" search={{ status: 'failed', code: 'insufficient_credits' }} {...props} />
        )}
      >
        {t('credits.waitShow', { count })}
      </Button>
    </section>
  );
}

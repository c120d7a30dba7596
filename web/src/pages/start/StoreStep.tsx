// The first store: its kind and name, the steps in the shop's own words, its first order heard, and the field for the username.
import '@/i18n/en/guide';
import '@/i18n/en/stores';
import { Button } from '@mantine/core';
import { useState } from 'react';
import { CopyButton } from '@/components/Copy';
import { t } from '@/i18n/text';
import { kindOf, type Store } from '@/vocabulary/store';
import { ConnectSteps } from '../store/ConnectSteps';
import { Listening } from '../store/Listening';
import { USERNAME_FIELDS } from '../store/username_field';
import { StoreForm } from '../stores/NewStore';
import { useFirstOrder, UsernameLine } from './lines';
import styles from './start.module.css';

export function StoreStep({ store, onDone }: { store: Store | undefined; onDone: () => void }) {
  const [secret, setSecret] = useState<{ of: string; text: string } | null>(null);
  if (!store) return <StoreForm onMade={(made) => setSecret({ of: made.id, text: made.secret })} />;
  return (
    <div className={styles.parts}>
      <ConnectSteps
        it={store}
        secret={secret?.of === store.id ? secret.text : null}
        onSecret={(text) => setSecret({ of: store.id, text })}
      />
      <Listening id={store.id} />
      <Username store={store} />
      {store.lastOrderAt ? (
        <div>
          <Button variant="filled" size="md" onClick={onDone}>
            {t('guide.goOn')}
          </Button>
        </div>
      ) : null}
    </div>
  );
}

function Username({ store }: { store: Store }) {
  const order = useFirstOrder(store);
  const [shown, setShown] = useState(false);
  const field = USERNAME_FIELDS[store.provider];
  return (
    <section className={styles.part}>
      <h3>{t('guide.username')}</h3>
      <p className="muted">{t('guide.username.text')}</p>
      {shown ? (
        <>
          <p>{t(`guide.username.field.${kindOf(store)}`)}</p>
          <div className={styles.snippet}>
            <pre tabIndex={0} aria-label={t('guide.username.snippet')}>
              {field}
            </pre>
            <CopyButton text={field} />
          </div>
        </>
      ) : (
        <button type="button" className="link" onClick={() => setShown(true)}>
          {t('guide.username.open')}
        </button>
      )}
      {order ? <UsernameLine order={order} /> : <p className={styles.note}>{t('guide.username.waiting')}</p>}
    </section>
  );
}

// How a receiver verifies a signature, in the language of its maker.
import '@/i18n/en/webhooks';
import { NativeSelect } from '@mantine/core';
import { useState } from 'react';
import { CopyButton } from '@/components/Copy';
import { t } from '@/i18n/text';
import { LANGUAGES, VERIFY } from './verify_code';
import styles from './webhooks.module.css';

type Language = (typeof LANGUAGES)[number];

export function Verify() {
  const [language, setLanguage] = useState<Language>('node');
  return (
    <details>
      <summary>{t('newWebhook.verify')}</summary>
      <NativeSelect
        className={styles.language}
        label={t('newWebhook.language')}
        data={LANGUAGES.map((value) => ({ value, label: t(`newWebhook.language.${value}`) }))}
        value={language}
        onChange={(event) => setLanguage(event.currentTarget.value as Language)}
      />
      <pre className={styles.verify} tabIndex={0} role="group" aria-label={t('newWebhook.verify')}>
        {VERIFY[language]}
      </pre>
      <CopyButton text={VERIFY[language]} />
    </details>
  );
}
